from dataclasses import dataclass, field, replace


@dataclass(slots=True)
class Opened:
    customer: str


@dataclass(slots=True)
class Added:
    sku: str
    count: int
    price: int


@dataclass(slots=True)
class Removed:
    sku: str


@dataclass(slots=True)
class Discounted:
    percent: int


@dataclass(slots=True)
class Paid:
    amount: int
    at: int


@dataclass(slots=True)
class Shipped:
    pass


@dataclass(slots=True)
class Cancelled:
    reason: str


Event = Opened | Added | Removed | Discounted | Paid | Shipped | Cancelled


class Refusal(Exception):
    pass


@dataclass(slots=True)
class Line:
    count: int
    price: int


@dataclass(slots=True)
class Order:
    status: str = "New"
    customer: str = ""
    lines: dict[str, Line] = field(default_factory=dict)
    discount: int = 0
    version: int = 0

    def total(self) -> int:
        return sum(line.count * line.price for line in self.lines.values()) * (100 - self.discount) // 100

    def apply(self, event: Event) -> "Order":
        version = self.version + 1
        match event:
            case Opened(customer):
                return replace(self, version=version, customer=customer, status="Open")
            case Added(sku, count, price):
                before = self.lines[sku].count if sku in self.lines else 0
                lines = self.lines | {sku: Line(before + count, price)}
                return replace(self, version=version, lines=lines)
            case Removed(sku):
                lines = {other: line for other, line in self.lines.items() if other != sku}
                return replace(self, version=version, lines=lines)
            case Discounted(percent):
                return replace(self, version=version, discount=percent)
            case Paid():
                return replace(self, version=version, status="Paid")
            case Shipped():
                return replace(self, version=version, status="Shipped")
            case Cancelled():
                return replace(self, version=version, status="Cancelled")

    def check(self, event: Event) -> None:
        match self.status, event:
            case "New", Opened():
                return
            case "Open", Added(count=count) if count > 0:
                return
            case "Open", Removed(sku):
                if sku not in self.lines:
                    raise Refusal(f"no {sku}")
            case "Open", Discounted(percent) if 1 <= percent <= 50:
                return
            case "Open", Paid(amount):
                owed = self.total()
                if amount < owed:
                    raise Refusal(f"short by {owed - amount}")
            case "Paid", Shipped():
                return
            case "Open" | "Paid", Cancelled():
                return
            case "Cancelled", _:
                raise Refusal("cancelled")
            case status, _:
                raise Refusal(f"status Status::{status}")


class Store:
    def __init__(self, every: int = 5) -> None:
        self.streams: dict[int, list[Event]] = {}
        self.snapshots: dict[int, Order] = {}
        self.every = every

    def load(self, id: int) -> Order:
        order = self.snapshots.get(id) or Order()
        for event in self.streams.get(id, [])[order.version :]:
            order = order.apply(event)
        return order

    def append(self, id: int, version: int, event: Event) -> Order:
        order = self.load(id)
        if order.version != version:
            raise Refusal(f"conflict by {version - order.version}")
        order.check(event)
        self.streams.setdefault(id, []).append(event)
        changed = order.apply(event)
        if changed.version % self.every == 0:
            self.snapshots[id] = changed
        return changed


def event(order: Order, i: int) -> Event:
    match i % 11:
        case 0:
            return Opened(f"customer {i % 13}")
        case 1 | 2 | 3 | 5:
            return Added(f"sku-{i % 4}", i % 3, 100 + i % 50)
        case 4:
            return Removed(f"sku-{i % 5}")
        case 6:
            return Discounted(i % 60)
        case 7:
            return Added("bulk", 10, 9)
        case 8:
            return Paid(order.total() - i % 2, i)
        case 9:
            return Shipped()
    return Cancelled(f"reason {i % 3}")


def work() -> str:
    store = Store()
    refused: dict[str, int] = {}
    for i in range(700):
        id = i // 11 % 20
        order = store.load(id)
        version = order.version + 1 if i % 29 == 0 else order.version
        try:
            store.append(id, version, event(order, i))
        except Refusal as refusal:
            kind = str(refusal)
            refused[kind] = refused.get(kind, 0) + 1
    orders = [store.load(id) for id in store.streams]
    totals = sum(order.total() for order in orders)
    versions = [order.version for order in orders]
    shown = ", ".join(f'"{kind}": {count}' for kind, count in refused.items())
    return f"{{{shown}}} {totals} {versions} {len(store.snapshots)}"
