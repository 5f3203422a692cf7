from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Entry(Generic[K, V]):
    __slots__ = ("after", "before", "key", "value")

    def __init__(self, key: K, value: V) -> None:
        self.key = key
        self.value = value
        self.before: Entry[K, V] | None = None
        self.after: Entry[K, V] | None = None


class LruCache(Generic[K, V]):
    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.entries: dict[K, Entry[K, V]] = {}
        self.newest: Entry[K, V] | None = None
        self.oldest: Entry[K, V] | None = None
        self.hits = 0
        self.misses = 0

    def _unlink(self, entry: Entry[K, V]) -> None:
        if entry.before is not None:
            entry.before.after = entry.after
        else:
            self.newest = entry.after
        if entry.after is not None:
            entry.after.before = entry.before
        else:
            self.oldest = entry.before

    def _put_first(self, entry: Entry[K, V]) -> None:
        entry.before = None
        entry.after = self.newest
        if self.newest is not None:
            self.newest.before = entry
        else:
            self.oldest = entry
        self.newest = entry

    def get(self, key: K) -> V | None:
        entry = self.entries.get(key)
        if entry is None:
            self.misses += 1
            return None
        self.hits += 1
        if entry is not self.newest:
            self._unlink(entry)
            self._put_first(entry)
        return entry.value

    def set(self, key: K, value: V) -> None:
        entry = self.entries.get(key)
        if entry is not None:
            entry.value = value
            self._unlink(entry)
        else:
            if len(self.entries) >= self.capacity:
                oldest = self.oldest
                assert oldest is not None
                self._unlink(oldest)
                del self.entries[oldest.key]
            entry = self.entries[key] = Entry(key, value)
        self._put_first(entry)

    def keys(self) -> list[K]:
        found = []
        entry = self.newest
        while entry is not None:
            found.append(entry.key)
            entry = entry.after
        return found


@dataclass(slots=True)
class Answer:
    text: str
    cost: int


def work() -> str:
    answers: LruCache[str, Answer] = LruCache(24)
    squares: LruCache[tuple[int, int], int] = LruCache(10)
    spent = 0
    for i in range(3000):
        question = f"question {(i * i + i // 3) % 40}"
        answer = answers.get(question)
        if answer is None:
            fresh = Answer(question.upper(), len(question) + i % 5)
            answers.set(question, fresh)
            spent += fresh.cost
        pair = (i % 6, i // 7 % 3)
        known = squares.get(pair)
        if known is not None:
            spent += known
        else:
            squares.set(pair, pair[0] * pair[1])
    first = ", ".join(f'"{key}"' for key in answers.keys()[:4])
    return (
        f"{answers.hits} {answers.misses} {squares.hits} {squares.misses} {spent} [{first}] {squares.keys()}"
    )
