from abc import ABC, abstractmethod
from dataclasses import dataclass


class Animal(ABC):
    @abstractmethod
    def called(self) -> str: ...

    @abstractmethod
    def sound(self) -> str: ...

    @abstractmethod
    def age(self) -> int: ...

    def speak(self) -> str:
        return f"{self.called()} says {self.sound()}"


@dataclass
class Dog(Animal):
    name: str
    years: int

    def called(self) -> str:
        return self.name

    def sound(self) -> str:
        return "woof"

    def age(self) -> int:
        self.years += 1
        return self.years


@dataclass
class Cat(Animal):
    lives: int

    def called(self) -> str:
        return "a cat"

    def sound(self) -> str:
        return "meow" if self.lives > 3 else "hiss"

    def age(self) -> int:
        self.lives -= 1
        return self.lives


def loudest(animals: list[Animal]) -> str:
    longest = ""
    for animal in animals:
        said = animal.speak()
        if len(said) > len(longest):
            longest = said
    return longest


def work() -> int:
    farm: list[Animal] = []
    for i in range(10):
        if i % 2 == 0:
            farm.append(Dog(f"Rex {i}", i))
        else:
            farm.append(Cat(2000 + i))
    total = 0
    for round in range(1000):
        for animal in farm:
            total += animal.age()
        total += len(loudest(farm)) + round
    return total
