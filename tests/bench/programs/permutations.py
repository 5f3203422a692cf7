def permute(items: list[int], k: int) -> int:
    if k == len(items):
        return items[0] * 3 + items[k - 1]
    total = 0
    xs = list(items)
    for i in range(k, len(xs)):
        xs[k], xs[i] = xs[i], xs[k]
        total += permute(xs, k + 1)
        xs[k], xs[i] = xs[i], xs[k]
    return total


def work() -> int:
    return permute([1, 2, 3, 4, 5, 6, 7], 0)
