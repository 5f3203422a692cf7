from dataclasses import dataclass, field


@dataclass
class Lot:
    day: int
    count: int
    cost: int


@dataclass
class Warehouse:
    lots: dict[str, list[Lot]] = field(default_factory=dict)
    lost: int = 0

    def receive(self, product: str, lot: Lot) -> None:
        self.lots.setdefault(product, []).append(lot)

    def ship(self, product: str, count: int) -> int:
        available = self.available(product)
        if available < count:
            raise ValueError(f"{product}: {count - available} missing")
        lots = self.lots[product]
        left = count
        cost = 0
        while left > 0:
            lot = lots[0]
            taken = min(left, lot.count)
            cost += taken * lot.cost
            left -= taken
            lot.count -= taken
            if lot.count == 0:
                lots.pop(0)
        return cost

    def available(self, product: str) -> int:
        return sum(lot.count for lot in self.lots.get(product, []))

    def discard_older(self, day: int) -> None:
        for product, lots in self.lots.items():
            self.lots[product] = [lot for lot in lots if lot.day >= day]
            self.lost += sum(lot.count * lot.cost for lot in lots if lot.day < day)


def work() -> str:
    products = ["milk", "eggs", "bread", "cheese"]
    warehouse = Warehouse()
    cost = 0
    refused = 0
    for day in range(1000):
        product = products[day % 4]
        warehouse.receive(product, Lot(day, 5 + day * 7 % 20, 3 + day % 5))
        try:
            cost += warehouse.ship(products[(day * 3 + day // 7) % 4], 2 + day * 11 % 23)
        except ValueError as error:
            refused += len(str(error))
        if day % 10 == 9:
            warehouse.discard_older(day - 40)
    rest = [f"{product}={warehouse.available(product)}" for product in products]
    return f"{cost} {refused} {warehouse.lost} {' '.join(rest)}"
