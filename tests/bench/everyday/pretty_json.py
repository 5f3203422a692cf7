from dataclasses import dataclass

Json = None | bool | float | str | list["Json"] | dict[str, "Json"]


class Problem(Exception):
    pass


class Unexpected(Problem):
    def __init__(self, found: str, at: int) -> None:
        super().__init__(f"unexpected `{found}` at {at}")


class End(Problem):
    def __init__(self) -> None:
        super().__init__("unexpected end")


@dataclass
class Reader:
    text: str
    at: int = 0

    def peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        if self.at >= len(self.text):
            raise End
        return self.text[self.at]

    def expect(self, wanted: str) -> None:
        found = self.peek()
        if found != wanted:
            raise Unexpected(found, self.at)
        self.at += 1

    def word(self, word: str, value: Json) -> Json:
        for c in word:
            self.expect(c)
        return value

    def value(self) -> Json:
        match self.peek():
            case "n":
                return self.word("null", None)
            case "t":
                return self.word("true", True)
            case "f":
                return self.word("false", False)
            case '"':
                return self.string()
            case "[":
                items: list[Json] = []
                self.at += 1
                while self.peek() != "]":
                    if items:
                        self.expect(",")
                    items.append(self.value())
                self.at += 1
                return items
            case "{":
                members: dict[str, Json] = {}
                self.at += 1
                while self.peek() != "}":
                    if members:
                        self.expect(",")
                    key = self.string()
                    self.expect(":")
                    members[key] = self.value()
                self.at += 1
                return members
            case c if c == "-" or c.isdigit():
                start = self.at
                while self.at < len(self.text) and self.text[self.at] in "+-.eE0123456789":
                    self.at += 1
                text = self.text[start : self.at]
                try:
                    return float(text)
                except ValueError:
                    raise Unexpected(text, start) from None
            case found:
                raise Unexpected(found, self.at)

    def string(self) -> str:
        self.expect('"')
        parts: list[str] = []
        while True:
            if self.at >= len(self.text):
                raise End
            c = self.text[self.at]
            self.at += 1
            if c == '"':
                return "".join(parts)
            if c == "\\":
                c = self.text[self.at]
                parts.append("\n" if c == "n" else c)
                self.at += 1
            else:
                parts.append(c)


def pretty(value: Json, depth: int) -> str:
    inner = "  " * (depth + 1)
    outer = "  " * depth
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return str(int(value)) if value.is_integer() else str(value)
        case str():
            return '"' + value.replace('"', '\\"').replace("\n", "\\n") + '"'
        case [] if isinstance(value, list):
            return "[]"
        case dict() if not value:
            return "{}"
        case list():
            return "[\n" + ",\n".join(inner + pretty(item, depth + 1) for item in value) + "\n" + outer + "]"
        case dict():
            lines = [f'{inner}"{key}": {pretty(item, depth + 1)}' for key, item in value.items()]
            return "{\n" + ",\n".join(lines) + "\n" + outer + "}"


def in_order(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [in_order(item) for item in value]
    return value


def outcome(text: str) -> str:
    try:
        Reader(text).value()
        return "fine"
    except Problem as problem:
        return str(problem)


def work() -> str:
    rows = [
        f'{{"name": "row \\"{n}\\"", "id": {n}, "score": {n * 3}.25, '
        f'"tags": ["a{n}", true, null], "empty": {{}}}}'
        for n in range(1000)
    ]
    shown = pretty(in_order(Reader("[" + ", ".join(rows) + "]").value()), 0)
    errors = [outcome(text) for text in ["[1, 2", '{"a" 1}', "[1 2]", "[tru]", "[-]"]]
    return f"{len(shown)} {len(shown.splitlines())} {', '.join(errors)}"
