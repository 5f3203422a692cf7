from dataclasses import dataclass


@dataclass
class Item:
    title: str
    count: int
    price: float
    tax: float


@dataclass
class Invoice:
    number: int
    customer: str
    items: list[Item]


def net(item: Item) -> float:
    return item.count * item.price


def print_invoice(invoice: Invoice) -> str:
    lines = [f"Invoice {invoice.number:06} for {invoice.customer:>20}", "=" * 60]
    total = 0.0
    taxes: dict[str, float] = {}
    for item in invoice.items:
        amount = net(item)
        rate = f"{item.tax:.0%}"
        taxes[rate] = taxes.get(rate, 0.0) + amount * item.tax
        total += amount
        lines.append(f"{item.title:<24}{item.count:>5} x{item.price:>10,.2f}{amount:>14,.2f} {rate:>4}")
    lines.append("-" * 60)
    for rate, tax in taxes.items():
        lines.append(f"{f'tax at {rate}':<42}{tax:>14,.2f}")
        total += tax
    lines.append(f"{'TOTAL':*^20}{total:>36,.2f}")
    return "\n".join(lines)


def work() -> str:
    titles = ["Tea, green", "Coffee beans", "Milk", "Sugar cubes", "Espresso machine"]
    length = 0
    last = ""
    for number in range(150):
        items = [
            Item(
                titles[(k + number) % 5],
                1 + k * number % 12,
                1.25 * (k + 1) + number,
                0.07 if k % 3 == 0 else 0.19,
            )
            for k in range(8)
        ]
        last = print_invoice(Invoice(number, f"customer {number % 10}", items))
        length += len(last)
    return f"{length}\n{last}"
