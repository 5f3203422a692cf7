"""Benchmark of ledgers, run by hand: `python -m tests.bench.ledger`.

Each query finds the same few entries among more and more others: the time of a query is to stay what it is.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from concerto.natives.entries import Entries, Entry

SIZES = (1000, 10_000, 100_000)
TIMES = 200
QUERIES: dict[str, Callable[[Entries], list[Entry]]] = {
    "a word": lambda entries: entries.with_words(["needle"]),
    "a part of a word": lambda entries: entries.with_words(["eedl"]),
    "two letters": lambda entries: entries.with_words(["ee"]),
    "a common word and a rare one": lambda entries: entries.with_words(["customer", "needle"]),
    "no such word": lambda entries: entries.with_words(["nothing"]),
    "a key": lambda entries: entries.with_any_key(["rare"]),
    "one of two keys": lambda entries: entries.with_any_key(["rare", "missing"]),
    "a common key and a rare one": lambda entries: entries.with_all_keys(["common", "rare"]),
}


def main() -> None:
    print("µs a query, 10 entries found (ratio to the smallest ledger)")
    print(f"{'entries':>30}" + "".join(f"{size:>16}" for size in SIZES))
    ledgers = [_filled(size) for size in SIZES]
    for name, query in QUERIES.items():
        times = [_timed(query, ledger) for ledger in ledgers]
        print(f"{name:>30}" + "".join(f"{each:>9.1f} ({each / times[0]:.2f})" for each in times))


def _filled(size: int) -> Entries:
    entries = Entries()
    for number in range(size):
        rare = number % (size // 10) == 0
        words = f"customer {number} {'needle' if rare else 'hay'}"
        entries.put(words, ("common", "rare" if rare else f"key{number}"), "value")
    return entries


def _timed(query: Callable[[Entries], list[Entry]], entries: Entries) -> float:
    begun = perf_counter()
    for _ in range(TIMES):
        query(entries)
    return (perf_counter() - begun) / TIMES * 1e6


if __name__ == "__main__":
    main()
