"""`ledger`: texts found by the words of their identifiers and by their keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from concerto.natives.entries import Entries, Entry
from concerto.vm.native import native
from concerto.vm.values import Handle, Value, failure
from concerto.wording import counted

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

_IDENTIFIER_LENGTH = 512
_MOST_KEYS = 32
_KEY_LENGTH = 128
_VALUE_LENGTH = 65_536


class Ledger(Handle):
    """Entries, shared by the views on them; a view sees those whose identifiers begin with `prefix`."""

    __slots__ = ("all", "prefix")
    type_name: ClassVar[str] = "Ledger"

    def __init__(self, entries: Entries | None = None, prefix: str = "") -> None:
        self.all = Entries() if entries is None else entries
        self.prefix = prefix

    def visible(self) -> list[Entry]:
        return [entry for entry in self.all if entry.identifier.startswith(self.prefix)]

    def to_text(self) -> str:
        return f"Ledger({length(self)} entries)"


@native("Ledger::new")
def new() -> Ledger:
    return Ledger()


@native("Ledger::insert")
def insert(ledger: Ledger, identifier: str, keys: list[str], value: str) -> None:
    whole = ledger.prefix + identifier
    _limit("an identifier", whole, _IDENTIFIER_LENGTH)
    _limit("a value", value, _VALUE_LENGTH)
    ledger.all.put(whole, _checked(keys), value)


@native("Ledger::query")
def query(ledger: Ledger) -> Ledger:
    return ledger


@native("Ledger::from_identifier", machine=True)
def from_identifier(machine: Machine, ledger: Ledger, text: str) -> list[Value]:
    words = text.casefold().split()
    found = ledger.all.with_words(words)
    if ledger.prefix:
        # A word may be in the prefix, which this view does not know of.
        cut = len(ledger.prefix)
        found = [entry for entry in found if all(word in entry.identifier[cut:].casefold() for word in words)]
    return _shown(machine, ledger, found)


@native("Ledger::from_key", machine=True)
def from_key(machine: Machine, ledger: Ledger, key: str) -> list[Value]:
    return _shown(machine, ledger, ledger.all.with_any_key([key]))


@native("Ledger::from_any_keys", machine=True)
def from_any_keys(machine: Machine, ledger: Ledger, keys: list[str]) -> list[Value]:
    return _shown(machine, ledger, ledger.all.with_any_key(keys))


@native("Ledger::from_exact_keys", machine=True)
def from_exact_keys(machine: Machine, ledger: Ledger, keys: list[str]) -> list[Value]:
    return _shown(machine, ledger, ledger.all.with_all_keys(keys))


@native("Ledger::update")
def update(ledger: Ledger, identifier: str, value: str) -> bool:
    _limit("a value", value, _VALUE_LENGTH)
    entry = ledger.all.get(ledger.prefix + identifier)
    if entry is None:
        return False
    ledger.all.put(entry.identifier, entry.keys, value)
    return True


@native("Ledger::update_keys")
def update_keys(ledger: Ledger, identifier: str, keys: list[str]) -> bool:
    kept = _checked(keys)
    entry = ledger.all.get(ledger.prefix + identifier)
    if entry is None:
        return False
    ledger.all.put(entry.identifier, kept, entry.value)
    return True


@native("Ledger::delete")
def delete(ledger: Ledger, identifier: str) -> bool:
    return ledger.all.remove(ledger.prefix + identifier)


@native("Ledger::entries", machine=True)
def entries(machine: Machine, ledger: Ledger) -> list[Value]:
    return _shown(machine, ledger, ledger.all)


@native("Ledger::identifiers")
def identifiers(ledger: Ledger) -> list[str]:
    cut = len(ledger.prefix)
    return [entry.identifier[cut:] for entry in ledger.visible()]


@native("Ledger::scope")
def scope(ledger: Ledger, prefix: str) -> Ledger:
    return Ledger(ledger.all, ledger.prefix + prefix)


@native("Ledger::len")
def length(ledger: Ledger) -> int:
    return len(ledger.visible()) if ledger.prefix else len(ledger.all)


@native("Ledger::is_empty")
def is_empty(ledger: Ledger) -> bool:
    return not length(ledger)


@native("Ledger::clear")
def clear(ledger: Ledger) -> None:
    for entry in ledger.visible():
        ledger.all.remove(entry.identifier)


def _shown(machine: Machine, ledger: Ledger, found: Iterable[Entry]) -> list[Value]:
    """The entries that the view sees, as values of the program."""
    cut = len(ledger.prefix)
    return [
        machine.struct(
            "LedgerEntry", identifier=entry.identifier[cut:], keys=list(entry.keys), value=entry.value
        )
        for entry in found
        if entry.identifier.startswith(ledger.prefix)
    ]


def _checked(keys: list[str]) -> tuple[str, ...]:
    if len(keys) > _MOST_KEYS:
        raise failure(f"an entry has at most {_MOST_KEYS} keys, not {len(keys)}", "LimitExceeded")
    for key in keys:
        _limit("a key", key, _KEY_LENGTH)
    return tuple(keys)


def _limit(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise failure(f"{what} has at most {counted(most, 'character')}, not {len(text)}", "LimitExceeded")
