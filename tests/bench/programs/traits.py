from __future__ import annotations


class Animal:
    __slots__ = ()

    def legs(self) -> int:
        raise NotImplementedError

    def pairs(self) -> int:
        return self.legs() // 2


class Dog(Animal):
    __slots__ = ("tail",)

    def __init__(self, tail: int) -> None:
        self.tail = tail

    def legs(self) -> int:
        return 3 + self.tail


class Bird(Animal):
    __slots__ = ("wings",)

    def __init__(self, wings: int) -> None:
        self.wings = wings

    def legs(self) -> int:
        return self.wings


def count(animal: Animal, times: int) -> int:
    total = 0
    for _ in range(times):
        total += animal.legs() + animal.pairs()
    return total


def work() -> int:
    return count(Dog(1), 40000) + count(Bird(2), 40000)
