"""`ledger`: texts found by the words of their identifiers and by their keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from concerto.vm.native import native
from concerto.vm.values import Handle, Value, failure

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

_IDENTIFIER_LENGTH = 512
_MOST_KEYS = 32
_KEY_LENGTH = 128
_VALUE_LENGTH = 65_536


@dataclass(frozen=True, slots=True)
class Entry:
    identifier: str
    keys: tuple[str, ...]
    value: str
    folded: frozenset[str]
    """the keys without regard to case"""


class Ledger(Handle):
    """The entries by identifier, shared by the views on them; a view sees those that begin with `prefix`."""

    __slots__ = ("by_identifier", "prefix")
    type_name: ClassVar[str] = "Ledger"

    def __init__(self, by_identifier: dict[str, Entry] | None = None, prefix: str = "") -> None:
        self.by_identifier = {} if by_identifier is None else by_identifier
        self.prefix = prefix

    def visible(self) -> list[Entry]:
        return [entry for entry in self.by_identifier.values() if entry.identifier.startswith(self.prefix)]

    def to_text(self) -> str:
        return f"Ledger({len(self.visible())} entries)"


@native("Ledger::new")
def new() -> Ledger:
    return Ledger()


@native("Ledger::insert")
def insert(ledger: Ledger, identifier: str, keys: list[str], value: str) -> None:
    whole = ledger.prefix + identifier
    _limit("an identifier", whole, _IDENTIFIER_LENGTH)
    _limit("a value", value, _VALUE_LENGTH)
    ledger.by_identifier[whole] = Entry(whole, _checked(keys), value, _folded(keys))


@native("Ledger::query")
def query(ledger: Ledger) -> Ledger:
    return ledger


@native("Ledger::from_identifier", machine=True)
def from_identifier(machine: Machine, ledger: Ledger, text: str) -> list[Value]:
    words = text.casefold().split()
    return _found(machine, ledger, lambda entry: _has_words(entry.identifier.casefold(), words))


@native("Ledger::from_key", machine=True)
def from_key(machine: Machine, ledger: Ledger, key: str) -> list[Value]:
    folded = key.casefold()
    return _found(machine, ledger, lambda entry: folded in entry.folded)


@native("Ledger::from_any_keys", machine=True)
def from_any_keys(machine: Machine, ledger: Ledger, keys: list[str]) -> list[Value]:
    folded = _folded(keys)
    return _found(machine, ledger, lambda entry: not folded.isdisjoint(entry.folded))


@native("Ledger::from_exact_keys", machine=True)
def from_exact_keys(machine: Machine, ledger: Ledger, keys: list[str]) -> list[Value]:
    folded = _folded(keys)
    return _found(machine, ledger, lambda entry: folded <= entry.folded)


@native("Ledger::update")
def update(ledger: Ledger, identifier: str, value: str) -> bool:
    _limit("a value", value, _VALUE_LENGTH)
    return _change(ledger, identifier, lambda entry: replace(entry, value=value))


@native("Ledger::update_keys")
def update_keys(ledger: Ledger, identifier: str, keys: list[str]) -> bool:
    kept, folded = _checked(keys), _folded(keys)
    return _change(ledger, identifier, lambda entry: replace(entry, keys=kept, folded=folded))


@native("Ledger::delete")
def delete(ledger: Ledger, identifier: str) -> bool:
    return ledger.by_identifier.pop(ledger.prefix + identifier, None) is not None


@native("Ledger::entries", machine=True)
def entries(machine: Machine, ledger: Ledger) -> list[Value]:
    return _found(machine, ledger, lambda entry: True)


@native("Ledger::identifiers")
def identifiers(ledger: Ledger) -> list[str]:
    cut = len(ledger.prefix)
    return [entry.identifier[cut:] for entry in ledger.visible()]


@native("Ledger::scope")
def scope(ledger: Ledger, prefix: str) -> Ledger:
    return Ledger(ledger.by_identifier, ledger.prefix + prefix)


@native("Ledger::len")
def length(ledger: Ledger) -> int:
    return len(ledger.visible())


def _found(machine: Machine, ledger: Ledger, fits: Callable[[Entry], bool]) -> list[Value]:
    cut = len(ledger.prefix)
    return [
        machine.struct(
            "LedgerEntry", identifier=entry.identifier[cut:], keys=list(entry.keys), value=entry.value
        )
        for entry in ledger.visible()
        if fits(entry)
    ]


def _change(ledger: Ledger, identifier: str, change: Callable[[Entry], Entry]) -> bool:
    entry = ledger.by_identifier.get(ledger.prefix + identifier)
    if entry is None:
        return False
    ledger.by_identifier[entry.identifier] = change(entry)
    return True


def _has_words(identifier: str, words: list[str]) -> bool:
    return bool(words) and all(word in identifier for word in words)


def _checked(keys: list[str]) -> tuple[str, ...]:
    if len(keys) > _MOST_KEYS:
        raise failure(f"an entry has at most {_MOST_KEYS} keys, not {len(keys)}", "LimitExceeded")
    for key in keys:
        _limit("a key", key, _KEY_LENGTH)
    return tuple(keys)


def _folded(keys: list[str]) -> frozenset[str]:
    return frozenset([key.casefold() for key in keys])


def _limit(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise failure(f"{what} has at most {most} characters, not {len(text)}", "LimitExceeded")
