class Circle:
    __slots__ = ("r",)

    def __init__(self, r: float) -> None:
        self.r = r


class Rect:
    __slots__ = ("h", "w")

    def __init__(self, w: float, h: float) -> None:
        self.w = w
        self.h = h


class Square:
    __slots__ = ("a",)

    def __init__(self, a: float) -> None:
        self.a = a


class Empty:
    __slots__ = ()


Shape = Circle | Rect | Square | Empty


def area(shape: Shape) -> float:
    match shape:
        case Circle():
            return 3.14 * shape.r * shape.r
        case Rect():
            return shape.w * shape.h
        case Square():
            return shape.a * shape.a
        case Empty():
            return 0.0


def work() -> float:
    shapes: list[Shape] = [Circle(1.0), Rect(2.0, 3.0), Square(4.0), Empty()]
    total = 0.0
    for i in range(100000):
        total += area(shapes[i % 4])
    return total
