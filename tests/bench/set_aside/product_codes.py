from dataclasses import dataclass


@dataclass
class Code:
    group: str
    number: int
    size: str | None


def size_of(part: str) -> str | None:
    match part:
        case "S":
            return "small"
        case "M":
            return "medium"
        case "L" | "XL":
            return "large"
    return None


def parse_code(text: str) -> Code | None:
    parts = text.split("-")
    group = parts[0]
    if len(group) != 3 or len(parts) < 2:
        return None
    try:
        number = int(parts[1])
    except ValueError:
        return None
    return Code(group, number, size_of(parts[2]) if len(parts) > 2 else None)


def shelf(code: Code, shelves: dict[str, int]) -> int | None:
    base = shelves.get(code.group)
    return None if base is None else base + code.number % 50


def work() -> int:
    groups = ["CAP", "HAT", "SHOE", "BAG", "TIE"]
    sizes = ["S", "M", "L", "XL", "?"]
    shelves = {"CAP": 100, "HAT": 200, "BAG": 300}
    total = 0
    for i in range(5000):
        number = "none" if i % 17 == 0 else f"{i * 13 % 1000}"
        if i % 4 == 0:
            text = f"{groups[i % 5]}-{number}"
        else:
            text = f"{groups[i % 5]}-{number}-{sizes[i // 5 % 5]}"
        code = parse_code(text)
        place = None if code is None else shelf(code, shelves)
        size = None if code is None else code.size
        total += (-1 if place is None else place) + len("any" if size is None else size)
        if code is None:
            total += 7
    return total
