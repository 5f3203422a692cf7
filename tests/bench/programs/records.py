class Item:
    __slots__ = ("name", "price", "tags")

    def __init__(self, name: str, price: float, tags: list[str]) -> None:
        self.name = name
        self.price = price
        self.tags = tags


def work() -> str:
    items: list[Item] = []
    for i in range(8000):
        items.append(Item(f"item {i}", i / 4.0, ["a", "b"]))
    total = 0.0
    longest = ""
    for item in items:
        total += item.price
        if "b" in item.tags and len(item.name) > len(longest):
            longest = item.name
    return f"{longest}: {total}"
