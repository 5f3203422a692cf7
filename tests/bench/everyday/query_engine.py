from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass
class Equals:
    column: str
    value: int | str

    def accepts(self, row: dict[str, object]) -> bool:
        return row.get(self.column) == self.value


@dataclass
class Above:
    column: str
    limit: int

    def accepts(self, row: dict[str, object]) -> bool:
        value = row.get(self.column)
        return isinstance(value, int) and value > self.limit


@dataclass
class And:
    left: Filter
    right: Filter

    def accepts(self, row: dict[str, object]) -> bool:
        return self.left.accepts(row) and self.right.accepts(row)


@dataclass
class Not:
    inner: Filter

    def accepts(self, row: dict[str, object]) -> bool:
        return not self.inner.accepts(row)


Filter = Equals | Above | And | Not


@dataclass
class Count:
    def over(self, rows: list[Row]) -> int:
        return len(rows)


@dataclass
class Sum:
    column: str

    def over(self, rows: list[Row]) -> int:
        return sum(row[self.column] for row in rows)


@dataclass
class Most:
    column: str

    def over(self, rows: list[Row]) -> int:
        return max((row[self.column] for row in rows), default=0)


Aggregate = Count | Sum | Most


def group_rows(rows: list[Row], column: str) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.get(column)].append(row)
    return groups


@dataclass
class Query:
    rows: list[Row]

    def filter(self, condition: Filter) -> Query:
        return Query([row for row in self.rows if condition.accepts(row)])

    def join(self, other: list[Row], on: str) -> Query:
        index = group_rows(other, on)
        return Query([match | row for row in self.rows for match in index.get(row[on], [])])

    def group(self, by: str, aggregates: dict[str, Aggregate]) -> Query:
        rows = []
        for key, members in group_rows(self.rows, by).items():
            rows.append({by: key} | {name: aggregate.over(members) for name, aggregate in aggregates.items()})
        return Query(rows)

    def order(self, by: str, descending: bool = False) -> Query:
        rows = sorted(self.rows, key=lambda row: row[by])
        return Query(rows[::-1] if descending else rows)

    def select(self, columns: list[str]) -> list[str]:
        return ["|".join(shown(row.get(column)) for column in columns) for row in self.rows]


def shown(value: int | str | None) -> str:
    return "-" if value is None else str(value)


def make_people() -> list[Row]:
    cities = ["Ulm", "Bonn", "Jena", "Kiel"]
    return [
        {
            "person": n,
            "name": f"p{n}",
            "city": None if n % 11 == 0 else cities[n * 3 % 4],
            "age": 18 + n * 7 % 50,
        }
        for n in range(80)
    ]


def make_orders() -> list[Row]:
    states = ["paid", "open", "sent"]
    return [
        {"order": n, "person": n * 17 % 90, "total": n * n % 400, "state": states[n % 3]}
        for n in range(18000)
    ]


def work() -> str:
    people = make_people()
    paid = (
        Query(make_orders())
        .filter(And(Above("total", 50), Not(Equals("state", "open"))))
        .join(people, "person")
    )
    by_city = (
        paid.group("city", {"orders": Count(), "sum": Sum("total"), "oldest": Most("age")})
        .order("sum", descending=True)
        .select(["city", "orders", "sum", "oldest"])
    )
    best = (
        paid.group("name", {"sum": Sum("total"), "most": Most("total")})
        .filter(Above("most", 300))
        .order("sum", descending=True)
        .select(["name", "sum"])
    )
    return f"{' '.join(by_city)} / {len(best)} {' '.join(best[:3])}"
