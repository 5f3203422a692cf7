class ImportProblem(Exception):
    pass


class Syntax(ImportProblem):
    def __init__(self, text: str) -> None:
        self.text = text


class Missing(ImportProblem):
    def __init__(self, field: str, line: int) -> None:
        self.field = field
        self.line = line


class Range(ImportProblem):
    def __init__(self, number: int) -> None:
        self.number = number


def number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Syntax(text) from None


def field(record: dict[str, str], name: str, line: int) -> str:
    value = record.get(name)
    if value is None:
        raise Missing(name, line)
    return value


def record(line: str) -> dict[str, str]:
    record = {}
    for part in line.split(";"):
        pair = part.split("=")
        if len(pair) != 2:
            raise Syntax(part)
        record[pair[0]] = pair[1]
    return record


def total(line: str, at: int) -> int:
    fields = record(line)
    count = number(field(fields, "count", at))
    price = number(field(fields, "price", at))
    if count > 80:
        raise Range(count)
    return count * price


def make_line(i: int) -> str:
    match i % 9:
        case 0:
            return f"count={i % 70};price"
        case 1:
            return f"count={i % 70};prices=3"
        case 2:
            return "count=many;price=3"
        case _:
            return f"count={i % 90};price={i % 11}"


def work() -> int:
    lines = [make_line(i) for i in range(6000)]
    result = 0
    for at, line in enumerate(lines):
        try:
            result += total(line, at)
        except Syntax as error:
            result += len(error.text)
        except Missing as error:
            result += len(error.field) + error.line % 2
        except Range as error:
            result -= error.number
    return result + sum(number(text) for text in ["1", "2", "3"])
