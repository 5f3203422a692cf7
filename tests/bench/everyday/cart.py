from dataclasses import dataclass, field


@dataclass
class Line:
    product: str
    count: int
    price: int


@dataclass
class Cart:
    lines: list[Line] = field(default_factory=list)
    coupons: list[str] = field(default_factory=list)

    def add(self, product: str, count: int, price: int) -> None:
        for line in self.lines:
            if line.product == product:
                line.count += count
                return
        self.lines.append(Line(product, count, price))

    def remove(self, product: str) -> bool:
        for at, line in enumerate(self.lines):
            if line.product == product:
                del self.lines[at]
                return True
        return False

    def total(self) -> int:
        total = 0
        for line in self.lines:
            total += line.count * line.price
        return total // 2 if "HALF" in self.coupons else total


def work() -> int:
    products = ["tea", "milk", "bread", "jam", "salt", "rice"]
    total = 0
    for i in range(2000):
        cart = Cart()
        for k in range(8):
            cart.add(products[(i + k * k) % 6], k + 1, 100 + k)
        if i % 3 == 0:
            cart.coupons.append("HALF")
        before = Cart([*cart.lines], [*cart.coupons])
        if cart.remove(products[i % 6]):
            total += before.total() - cart.total()
        total += cart.total()
    return total
