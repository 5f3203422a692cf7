def work() -> int:
    stock: dict[str, list[tuple[str, int]]] = {}
    shelves = ["north", "south", "east", "west", "cellar"]
    for i in range(30000):
        shelf = shelves[i * 7 % 5]
        if shelf not in stock:
            stock[shelf] = []
        stock[shelf].append((f"item {i % 100}", i % 13))
    total = 0
    for shelf, items in stock.items():
        largest = 0
        for name, count in items:
            total += count * len(name)
            if count > largest:
                largest = count
        total += largest * len(shelf)
    return total
