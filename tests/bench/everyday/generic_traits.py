from collections.abc import Sequence
from dataclasses import dataclass


class Priced:
    def price(self) -> int:
        raise NotImplementedError

    def taxed(self) -> int:
        return self.price() * 119 // 100


@dataclass
class Book(Priced):
    pages: int

    def price(self) -> int:
        return self.pages * 3


@dataclass
class Ticket(Priced):
    row: int
    seat: int

    def price(self) -> int:
        return 500 - self.row * 10 + self.seat


def cheaper(a: Priced, b: Priced) -> int:
    return a.taxed() if a.price() < b.price() else b.taxed()


def total(items: Sequence[Priced]) -> int:
    total = 0
    for item in items:
        total += item.taxed()
    return total


def work() -> int:
    total_price = 0
    for i in range(20000):
        book = Book(i % 200)
        ticket = Ticket(i % 30, i % 12)
        total_price += cheaper(book, ticket)
    books = [Book(i % 90) for i in range(20000)]
    return total_price + total(books)
