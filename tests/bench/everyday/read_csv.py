from dataclasses import dataclass


@dataclass
class Row:
    name: str
    age: int
    score: float


def parse_row(line: str) -> Row:
    cells = line.split(",")
    if len(cells) != 3:
        raise ValueError("expected 3 cells")
    return Row(cells[0].strip(), int(cells[1].strip()), float(cells[2].strip()))


def work() -> float:
    lines = ["name, age, score"]
    for i in range(8000):
        if i % 50 == 0:
            lines.append(f"broken line {i}")
        else:
            lines.append(f"person {i}, {i % 90}, {i % 7}.5")
    text = "\n".join(lines)
    total = 0.0
    failures = 0
    for line in text.splitlines()[1:]:
        try:
            row = parse_row(line)
        except ValueError:
            failures += 1
            continue
        if row.age >= 18 and row.name.startswith("person"):
            total += row.score
    return total + failures
