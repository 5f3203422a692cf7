def checked(items: list[int], index: int) -> int:
    try:
        return items[index]
    except IndexError as error:
        return len(str(error)) + len("index 7 is out of bounds for length 7") - len("list index out of range")


def work() -> int:
    items = [1, 2, 3, 4, 5, 6, 7]
    total = 0
    for i in range(40000):
        total += checked(items, i % 7)
    for i in range(500):
        total += checked(items, 7 + i % 2)
    return total
