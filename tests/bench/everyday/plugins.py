from dataclasses import dataclass
from typing import Protocol


class Filter(Protocol):
    def apply(self, text: str) -> str | None: ...

    def seen(self) -> int: ...


@dataclass
class Replacer:
    old: str
    new: str
    count: int = 0

    def apply(self, text: str) -> str | None:
        if self.old in text:
            self.count += 1
        return text.replace(self.old, self.new)

    def seen(self) -> int:
        return self.count


@dataclass
class Blocker:
    words: list[str]
    blocked: int = 0

    def apply(self, text: str) -> str | None:
        for word in self.words:
            if word in text:
                self.blocked += 1
                return None
        return text

    def seen(self) -> int:
        return self.blocked


@dataclass
class Shortener:
    limit: int

    def apply(self, text: str) -> str | None:
        return text[: self.limit] if len(text) > self.limit else text

    def seen(self) -> int:
        return 0


@dataclass
class Pipeline:
    filters: list[Filter]
    passed: int = 0

    def run(self, text: str) -> str | None:
        current = text
        for filter in self.filters:
            changed = filter.apply(current)
            if changed is None:
                return None
            current = changed
        self.passed += 1
        return current


def work() -> int:
    pipeline = Pipeline(
        [
            Replacer("colour", "color"),
            Blocker(["spam", "casino", "13"]),
            Replacer(" 7", " seven"),
            Shortener(24),
        ]
    )
    length = 0
    for i in range(12000):
        text = f"buy spam {i}" if i % 5 == 0 else f"the colour of ticket {i}"
        result = pipeline.run(text)
        length += len(result) if result is not None else 1
    for filter in pipeline.filters:
        length += filter.seen()
    return length + pipeline.passed
