from dataclasses import dataclass


@dataclass
class Well:
    pass


@dataclass
class Ill:
    days: int


@dataclass
class Immune:
    pass


@dataclass
class Person:
    health: Well | Ill | Immune
    careful: bool
    met: int = 0


class Random:
    def __init__(self, state: int) -> None:
        self.state = state

    def below(self, limit: int) -> int:
        self.state = (self.state * 16807) % 2147483647
        return self.state % limit


def is_ill(person: Person) -> bool:
    return isinstance(person.health, Ill)


def work() -> str:
    random = Random(7)
    people = [Person(Ill(6) if i < 3 else Well(), i % 4 == 0) for i in range(200)]
    history = []
    for _ in range(25):
        for person in people:
            other = people[random.below(200)]
            person.met += 1
            other.met += 1
            if is_ill(person) and isinstance(other.health, Well):
                risk = 15 if person.careful or other.careful else 45
                if random.below(100) < risk:
                    other.health = Ill(6)
        for person in people:
            match person.health:
                case Ill(1):
                    person.health = Immune()
                case Ill(days):
                    person.health = Ill(days - 1)
        history.append(sum(map(is_ill, people)))
    immune = sum(isinstance(person.health, Immune) for person in people)
    met = max(person.met for person in people)
    return f"{max(history)} {immune} {met} {history[5:10]}"
