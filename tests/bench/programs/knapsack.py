def best(weights: list[int], values: list[int], capacity: int) -> int:
    table = [0] * (capacity + 1)
    for i in range(len(weights)):
        for w in range(capacity, weights[i] - 1, -1):
            candidate = table[w - weights[i]] + values[i]
            if candidate > table[w]:
                table[w] = candidate
    return table[capacity]


def work() -> int:
    weights = []
    values = []
    for i in range(40):
        weights.append(i * 7 % 23 + 3)
        values.append(i * 11 % 37 + 5)
    return best(weights, values, 500)
