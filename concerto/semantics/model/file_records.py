"""What must be known of a file so that its bodies need not be checked again.

Bodies see of other files only the *interface*: everything that stands outside of bodies. So the bodies of a
file mean what they meant before if its text is the same and the interfaces that they can reach are
(`FileRecord.uses` and, from there on, `interface_uses`). Five things go from body to body all the same and
are noted with what was found (`BodyFacts`, `Inputs`): which parameters a function keeps, shares or only calls
and which fields it changes, which functions are used as values or called by name, which may run the
code of tools, which make values of type parameters of an Any, and which methods nobody sees the receiver of
when they fail. `Inputs` says what a file was told of these; if it would be told something else now, it has to
be checked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

from concerto.records import field, frozen, record
from concerto.semantics.model.symbols import FunctionSymbol, TypeSymbol
from concerto.source import Source


class Loading(NamedTuple):
    """A path in a body made the file of a module be loaded; `number` counts the functions of the file."""

    number: int
    module: str
    start: int
    end: int


@frozen
class FunctionFacts:
    """Of one function: parameters that it keeps, those that its result shares, the fields of `mut self` that
    it changes (None for all), parameters that it only calls, those that have not changed where it gives an
    error, the functions that it calls, those of them whose receiver may be looked at after an error
    or goes with its own, and whether it may run code of tools, makes values of its type parameters of an Any,
    or has a `try`, by itself."""

    owned: frozenset[int]
    shares: frozenset[int]
    changes: frozenset[str | None]
    only_called: frozenset[int]
    unchanged: frozenset[int]
    callees: frozenset[FunctionSymbol]
    looks_on_error: frozenset[FunctionSymbol]
    leaves_with_error: frozenset[FunctionSymbol]
    calls_out: bool
    from_any: bool
    catches: bool


Told: TypeAlias = tuple[frozenset[int], frozenset[int], frozenset[str | None], frozenset[int], frozenset[int]]
"""The first five facts of a function, which its callers are told."""


@frozen
class Inputs:
    """What the bodies of a file were told about others, and of what others do with them."""

    kept: dict[FunctionSymbol, Told]
    as_values: frozenset[FunctionSymbol]
    folding: frozenset[FunctionSymbol]
    called_by_name: frozenset[str]
    calling_out: frozenset[FunctionSymbol]
    from_any: frozenset[FunctionSymbol]
    unseen: frozenset[FunctionSymbol]
    dropped: frozenset[FunctionSymbol]


@frozen
class BodyFacts:
    """What the bodies of a file tell others. `needs_all`: what is copied was decided for the whole program at
    once, as it copied values of types that hold themselves or are generic; `immutable` are such types of the
    program."""

    functions: dict[FunctionSymbol, FunctionFacts]
    as_values: frozenset[FunctionSymbol]
    folding: frozenset[FunctionSymbol]
    called_by_name: frozenset[str]
    inputs: Inputs
    needs_all: bool = False
    immutable: frozenset[TypeSymbol] = frozenset()


_NONE: Final = frozenset[FunctionSymbol]()

NO_FACTS: Final = BodyFacts(
    {}, _NONE, _NONE, frozenset(), Inputs({}, _NONE, _NONE, frozenset(), _NONE, _NONE, _NONE, _NONE)
)
"""Of a file without bodies."""


@record(eq=False)
class FileRecord:
    """Of one file, by the end of a check: the files whose interfaces its bodies, and its own interface,
    depend on. `repeatable` is False if something happened in the bodies that is not noted here."""

    uses: set[Source] = field(default_factory=set)
    interface_uses: set[Source] = field(default_factory=set)
    loadings: list[Loading] = field(default_factory=list)
    repeatable: bool = True
    facts: BodyFacts | None = None


def reached(records: Mapping[Source, FileRecord], source: Source) -> set[Source]:
    """The files whose interfaces the bodies of a file depend on."""
    found: set[Source] = set()
    waiting = list(records[source].uses)
    while waiting:
        used = waiting.pop()
        # The library's files change with the compiler only.
        if used not in found and used in records:
            found.add(used)
            waiting.extend(records[used].interface_uses)
    return found - {source}
