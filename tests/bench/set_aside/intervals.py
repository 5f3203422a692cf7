from dataclasses import dataclass


@dataclass
class Span:
    start: int
    end: int

    def length(self) -> int:
        return self.end - self.start

    def overlaps(self, other: "Span") -> bool:
        return self.start <= other.end and other.start <= self.end

    def joined(self, other: "Span") -> "Span":
        return Span(min(self.start, other.start), max(self.end, other.end))


def merged(spans: list[Span]) -> list[Span]:
    result: list[Span] = []
    for span in sorted(spans, key=lambda span: span.start):
        if result and result[-1].overlaps(span):
            result[-1] = result[-1].joined(span)
        else:
            result.append(span)
    return result


def gaps(spans: list[Span]) -> list[Span]:
    return [Span(spans[i - 1].end, spans[i].start) for i in range(1, len(spans))]


def work() -> int:
    total = 0
    for turn in range(40):
        spans = []
        for i in range(100):
            start = (i * 73 + turn * 19) % 997
            spans.append(Span(start, start + 1 + (i * turn) % 12))
        busy = merged(spans)
        free = gaps(busy)
        for span in busy:
            total += span.length()
        for span in free:
            total += 1000 * span.length()
    return total
