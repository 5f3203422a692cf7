from dataclasses import dataclass

NAMES = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year: int, month: int) -> int:
    if month == 2:
        return 29 if is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


@dataclass(slots=True, order=True)
class Date:
    year: int
    month: int
    day: int

    @classmethod
    def parse(cls, text: str) -> "Date":
        parts = text.split("-")
        if len(parts) != 3:
            raise ValueError(f"no date: {text}")
        numbers = []
        for part in parts:
            try:
                numbers.append(int(part))
            except ValueError:
                raise ValueError(f"`{part}` is not an Int") from None
        year, month, day = numbers
        if not 1 <= month <= 12:
            raise ValueError(f"no month: {month}")
        if not 1 <= day <= month_length(year, month):
            raise ValueError(f"no day: {text}")
        return cls(year, month, day)

    def __str__(self) -> str:
        return f"{self.year:04}-{self.month:02}-{self.day:02}"

    def __sub__(self, other: "Date") -> int:
        return self.number() - other.number()

    def __add__(self, days: int) -> "Date":
        return Date.of_number(self.number() + days)

    def number(self) -> int:
        """Days since the first of March of the year 0."""
        year = self.year if self.month > 2 else self.year - 1
        month = (self.month + 9) % 12
        return year * 365 + year // 4 - year // 100 + year // 400 + (month * 306 + 5) // 10 + self.day - 1

    @classmethod
    def of_number(cls, number: int) -> "Date":
        year = (10000 * number + 14780) // 3652425
        rest = number - (365 * year + year // 4 - year // 100 + year // 400)
        if rest < 0:
            year -= 1
            rest = number - (365 * year + year // 4 - year // 100 + year // 400)
        month = (100 * rest + 52) // 3060
        return cls(year + (month + 2) // 12, (month + 2) % 12 + 1, rest - (month * 306 + 5) // 10 + 1)

    def weekday(self) -> int:
        return (self.number() + 2) % 7


@dataclass(slots=True)
class Weekly:
    weekday: int


@dataclass(slots=True)
class Monthly:
    day: int


@dataclass(slots=True)
class LastDay:
    pass


@dataclass(slots=True)
class Nth:
    nth: int
    weekday: int


@dataclass(slots=True)
class Every:
    days: int
    since: Date


Rule = Weekly | Monthly | LastDay | Nth | Every


def fits(rule: Rule, date: Date) -> bool:
    match rule:
        case Weekly(weekday):
            return date.weekday() == weekday
        case Monthly(day):
            return date.day == day
        case LastDay():
            return date.day == month_length(date.year, date.month)
        case Nth(nth, weekday):
            return date.weekday() == weekday and (date.day - 1) // 7 == nth - 1
        case Every(days, since):
            return date >= since and (date - since) % days == 0


def work() -> str:
    start = Date(2024, 2, 20)
    rules: list[tuple[str, Rule]] = [
        ("standup", Weekly(0)),
        ("rent", Monthly(31)),
        ("invoice", LastDay()),
        ("board", Nth(2, 3)),
        ("water", Every(10, Date(2024, 3, 1))),
    ]
    counts: dict[str, int] = {}
    lines = []
    for offset in range(400):
        date = start + offset
        due = [name for name, rule in rules if fits(rule, date)]
        for name in due:
            counts[name] = counts.get(name, 0) + 1
        if len(due) > 1:
            lines.append(f"{NAMES[date.weekday()]} {date} {'+'.join(due)}")
    for text in ["2024-02-29", "2023-02-29", "2024-13-01", "2024-1x-01", "today"]:
        try:
            date = Date.parse(text)
            lines.append(f"{date} is day {date - start}")
        except ValueError as error:
            lines.append(str(error))
    shown = ", ".join(f'"{name}": {count}' for name, count in counts.items())
    return f"{{{shown}}}\n" + "\n".join(lines)
