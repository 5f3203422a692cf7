from dataclasses import dataclass


@dataclass
class Line:
    title: str
    count: int
    price: float


def show(line: Line) -> str:
    return f"{line.title:<16}{line.count:>6}{line.price:>10.2f}{line.count * line.price:>12,.2f}"


def work() -> int:
    length = 0
    shown = []
    for i in range(12000):
        line = Line(f"article {i}", i % 40, i / 8)
        text = show(line)
        length += len(text)
        if i % 100 == 0:
            shown.append(text.rstrip())
    page = "\n".join(shown)
    return length + len(page)
