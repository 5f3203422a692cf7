from dataclasses import dataclass


@dataclass
class Order:
    id: int
    customer: str
    amount: int
    discount: int


def work() -> int:
    orders = [Order(id, f"customer {id % 17}", id * 37 % 500, 0) for id in range(3000)]
    total = 0
    for round in range(8):
        large = [order for order in orders if order.amount > 100]
        cut = [Order(order.id, order.customer, order.amount, order.amount // 10) for order in large]
        paid = [
            Order(order.id, order.customer, order.amount - order.discount, order.discount) for order in cut
        ]
        total += sum(order.amount for order in paid if order.id % 8 != round)
    return total
