from __future__ import annotations


class Num:
    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value


class Add:
    __slots__ = ("a", "b")

    def __init__(self, a: Expr, b: Expr) -> None:
        self.a = a
        self.b = b


class Mul:
    __slots__ = ("a", "b")

    def __init__(self, a: Expr, b: Expr) -> None:
        self.a = a
        self.b = b


class Neg:
    __slots__ = ("a",)

    def __init__(self, a: Expr) -> None:
        self.a = a


Expr = Num | Add | Mul | Neg


def evaluate(e: Expr) -> int:
    if isinstance(e, Num):
        return e.value
    if isinstance(e, Add):
        return evaluate(e.a) + evaluate(e.b)
    if isinstance(e, Mul):
        return evaluate(e.a) * evaluate(e.b)
    v = evaluate(e.a)
    if v == 0:
        raise ValueError("negative zero")
    return -v


def build(depth: int) -> Expr:
    if depth == 0:
        return Num(2)
    if depth % 3 == 0:
        return Mul(Num(1), build(depth - 1))
    if depth % 3 == 1:
        return Add(build(depth - 1), build(depth - 1))
    return Neg(build(depth - 1))


def work() -> int:
    e = build(15)
    total = 0
    for _ in range(40):
        try:
            total += evaluate(e)
        except ValueError:
            total -= 1
    return total
