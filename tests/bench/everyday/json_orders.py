import json

from pydantic import BaseModel, TypeAdapter


class Item(BaseModel):
    name: str
    count: int


class Order(BaseModel):
    id: int
    items: list[Item]
    paid: bool


ORDERS = TypeAdapter(list[Order])


def work() -> int:
    orders = []
    for i in range(400):
        items = [{"name": f"item {k}", "count": i % (k + 2)} for k in range(4)]
        orders.append({"id": i, "items": items, "paid": i % 3 == 0})
    text = json.dumps(orders, separators=(",", ":"))
    total = len(text)
    for _ in range(3):
        for order in ORDERS.validate_json(text):
            if order.paid:
                for item in order.items:
                    total += item.count + len(item.name) + order.id
    return total
