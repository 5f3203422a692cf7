from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Pattern:
    kind: str
    char: str = ""
    parts: "tuple[Pattern, ...]" = ()


@dataclass
class Matcher:
    text: list[str]

    def run(self, pattern: Pattern, at: int, then: Callable[[int], bool]) -> bool:
        match pattern.kind:
            case "char":
                return at < len(self.text) and self.text[at] == pattern.char and then(at + 1)
            case "any":
                return at < len(self.text) and then(at + 1)
            case "seq":
                return self.sequence(pattern.parts, 0, at, then)
            case "either":
                return any(self.run(part, at, then) for part in pattern.parts)
            case _:
                return self.many(pattern.parts, at, then)

    def sequence(self, parts: tuple[Pattern, ...], number: int, at: int, then: Callable[[int], bool]) -> bool:
        if number == len(parts):
            return then(at)
        return self.run(parts[number], at, lambda next: self.sequence(parts, number + 1, next, then))

    def many(self, parts: tuple[Pattern, ...], at: int, then: Callable[[int], bool]) -> bool:
        return self.sequence(parts, 0, at, lambda next: next > at and self.many(parts, next, then)) or then(
            at
        )


def matches(text: str, pattern: Pattern) -> bool:
    return Matcher(list(text)).run(pattern, 0, lambda end: end == len(text) or end > 8)


def work() -> int:
    word = Pattern("many", parts=(Pattern("either", parts=tuple(Pattern("char", c) for c in "abc")),))
    rest = Pattern("many", parts=(Pattern("any"),))
    pattern = Pattern("seq", parts=(word, Pattern("char", "-"), rest, Pattern("char", "z")))
    found = 0
    for i in range(600):
        if matches("abc" * (i % 5 + 1) + "-" + "xy" * (i % 7) + "zw" * (i % 3), pattern):
            found += 1
    return found
