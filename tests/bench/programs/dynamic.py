from typing import Any


def total(value: dict[str, Any]) -> int:
    amount = 0
    for item in value["items"]:
        price = item["price"]
        count = item["count"]
        if item["kind"] == "fruit":
            amount += price * count
        else:
            amount -= count
    return amount


def work() -> int:
    items = []
    for i in range(500):
        kind = "fruit" if i % 3 == 0 else "tool"
        items.append({"kind": kind, "price": i, "count": i % 5})
    order = {"items": items}
    amount = 0
    for _ in range(20):
        amount += total(order)
    return amount
