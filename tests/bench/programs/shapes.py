"""Methods of values of several types in one list."""

from __future__ import annotations


class Circle:
    __slots__ = ("radius",)

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def area(self) -> float:
        return 3.0 * self.radius * self.radius

    def moved(self, by: float) -> float:
        return self.radius + by


class Rect:
    __slots__ = ("height", "width")

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height

    def area(self) -> float:
        return self.width * self.height

    def moved(self, by: float) -> float:
        return self.width - by


def work() -> float:
    shapes: list[Circle | Rect] = [Circle(2.0), Rect(3.0, 4.0), Circle(5.0)]
    total = 0.0
    for _ in range(40000):
        for shape in shapes:
            total += shape.area() + shape.moved(0.5)
    return total
