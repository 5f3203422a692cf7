"""The entries of a ledger, found through indices: a query never looks at entries that do not match.

Words are what blanks separate in an identifier, keys are whole; both without regard to case. A query word
may be a part of a word: words are found by the three-letter pieces they are made of. A query word that is
shorter goes through all pieces there are, which soon become no more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from concerto.records import record

_PIECE = 3


@record(frozen=True)
class Entry:
    """`number` is its place among all entries ever made; entries are given in this order."""

    number: int
    identifier: str
    keys: tuple[str, ...]
    value: str


class Entries:
    """Each index maps to the identifiers of its entries. `watcher` is told of every change."""

    def __init__(self) -> None:
        self.watcher: Callable[[], None] | None = None
        self._entries: dict[str, Entry] = {}
        self._made = 0
        self._by_key: defaultdict[str, set[str]] = defaultdict(set)
        self._by_word: defaultdict[str, set[str]] = defaultdict(set)
        self._by_piece: defaultdict[str, set[str]] = defaultdict(set)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, identifier: str) -> Entry | None:
        return self._entries.get(identifier)

    def put(self, identifier: str, keys: tuple[str, ...], value: str) -> None:
        """Add an entry, or put it in the place of the one with the same identifier."""
        old = self._entries.get(identifier)
        if old is None:
            self._made += 1
            number = self._made
            self._add_words(identifier)
        else:
            number = old.number
            self._drop_keys(old)
        self._entries[identifier] = Entry(number, identifier, keys, value)
        for key in keys:
            self._by_key[key.casefold()].add(identifier)
        if self.watcher is not None:
            self.watcher()

    def remove(self, identifier: str) -> bool:
        """Whether there was one."""
        entry = self._entries.pop(identifier, None)
        if entry is None:
            return False
        self._drop_keys(entry)
        self._drop_words(identifier)
        if self.watcher is not None:
            self.watcher()
        return True

    def with_words(self, parts: Sequence[str]) -> list[Entry]:
        """The entries in whose identifiers all query words occur; none for no words."""
        if not parts:
            return []
        found = [
            identifier
            for word in self._rarest(parts)
            for identifier in self._by_word[word]
            if all(part in identifier.casefold() for part in parts)
        ]
        return self._ordered(set(found))

    def with_any_key(self, keys: Iterable[str]) -> list[Entry]:
        return self._ordered(set().union(*[self._by_key.get(key.casefold(), ()) for key in keys]))

    def with_all_keys(self, keys: Sequence[str]) -> list[Entry]:
        """The entries that have all the keys; every entry for no keys."""
        if not keys:
            return list(self)
        found: list[Collection[str]] = sorted(
            [self._by_key.get(key.casefold(), frozenset()) for key in keys], key=len
        )
        return self._ordered(set(found[0]).intersection(*found[1:]))

    def _rarest(self, parts: Sequence[str]) -> list[str]:
        """The words that one query word is a part of: of that one which the fewest entries have."""
        best: list[str] | None = None
        least = 0
        for words, part in sorted(
            [(self._candidates(part), part) for part in parts], key=lambda each: len(each[0])
        ):
            if best is not None and len(words) >= least:
                break
            fitting = [word for word in words if part in word]
            size = sum([len(self._by_word[word]) for word in fitting])
            if best is None or size < least:
                best, least = fitting, size
        assert best is not None
        return best

    def _candidates(self, part: str) -> Collection[str]:
        """Words that may have the part in them."""
        if len(part) < _PIECE:
            return set().union(*[words for piece, words in self._by_piece.items() if part in piece])
        return min((self._by_piece.get(piece, frozenset()) for piece in _pieces(part)), key=len)

    def _ordered(self, identifiers: Iterable[str]) -> list[Entry]:
        return sorted([self._entries[each] for each in identifiers], key=lambda entry: entry.number)

    def _add_words(self, identifier: str) -> None:
        for word in set(identifier.casefold().split()):
            if word not in self._by_word:
                for piece in _pieces(word):
                    self._by_piece[piece].add(word)
            self._by_word[word].add(identifier)

    def _drop_words(self, identifier: str) -> None:
        for word in set(identifier.casefold().split()):
            if _drop(self._by_word, word, identifier):
                for piece in _pieces(word):
                    _drop(self._by_piece, piece, word)

    def _drop_keys(self, entry: Entry) -> None:
        for key in {key.casefold() for key in entry.keys}:
            _drop(self._by_key, key, entry.identifier)


def _pieces(word: str) -> set[str]:
    if len(word) < _PIECE:
        return {word}
    return {word[start : start + _PIECE] for start in range(len(word) - _PIECE + 1)}


def _drop(index: defaultdict[str, set[str]], key: str, item: str) -> bool:
    """Take an item out of an index; whether it was the last one of its key."""
    index[key].discard(item)
    if index[key]:
        return False
    del index[key]
    return True
