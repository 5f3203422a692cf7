from dataclasses import dataclass, replace


@dataclass
class Employee:
    name: str
    team: str
    salary: int
    years: int


def raised(staff: list[Employee], team: str, percent: int) -> list[Employee]:
    return [
        replace(each, salary=each.salary + each.salary * percent // 100) if each.team == team else each
        for each in staff
    ]


def older(staff: list[Employee]) -> list[Employee]:
    return [replace(each, years=each.years + 1) for each in staff]


def work() -> str:
    teams = ["sales", "support", "research", "kitchen"]
    staff = [Employee(f"employee {i}", teams[i % 4], 2000 + i * 37 % 1500, i % 11) for i in range(400)]
    for year in range(8):
        staff = older(raised(staff, teams[year % 4], 3 + year % 2))
    total = sum(each.salary for each in staff)
    loyal = sorted((each for each in staff if each.years > 12), key=lambda each: -each.salary)[:3]
    return f"{total}: {', '.join(f'{each.name} ({each.team}) {each.salary}' for each in loyal)}"
