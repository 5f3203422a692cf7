from dataclasses import dataclass


class Problem(Exception):
    pass


class Empty(Problem):
    pass


class TooLong(Problem):
    def __init__(self, length: int) -> None:
        self.length = length


class BadAge(Problem):
    def __init__(self, age: int) -> None:
        self.age = age


@dataclass
class Form:
    name: str
    age: int


def check_name(name: str) -> str:
    trimmed = name.strip()
    if not trimmed:
        raise Empty
    if len(trimmed) > 10:
        raise TooLong(len(trimmed))
    return trimmed


def check_age(age: int) -> int:
    if age < 0 or age > 120:
        raise BadAge(age)
    return age


def form(name: str, age: int) -> Form:
    return Form(check_name(name), check_age(age))


def work() -> int:
    names = ["Ada ", " ", "Bob", "a very long name", " Cleo"]
    total = 0
    for i in range(25000):
        try:
            done = form(names[i % 5], i % 130)
            total += done.age + len(done.name)
        except Empty:
            total += 1
        except TooLong as error:
            total += error.length
        except BadAge as error:
            total -= error.age
    return total
