"""What is known everywhere, and what looks outside, as far as it need not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from concerto.semantics.declare.library import library
from concerto.semantics.model.symbols import StructSymbol
from tests.oracle import values as v
from tests.oracle.numbers import at_least
from tests.oracle.text import shown, text_of

if TYPE_CHECKING:
    from tests.oracle.run import Run


def _len(value: v.Value) -> int:
    items = v.items_of(value)
    v.demand(items is not None, f"`{v.type_name(value)}` has no length", "TypeError")
    return len(items or ())


def _assert(holds: bool, *details: str) -> None:
    v.demand(holds, ": ".join(["assertion failed", *filter(None, details)]), "AssertionError")


def _assert_eq(left: v.Value, right: v.Value, message: str) -> None:
    # The texts are made for a failure alone: a `Display` of the program's own may do anything.
    if not v.equal(left, right):
        _assert(False, message, f"left is `{_told(left)}`, right is `{_told(right)}`")


def _assert_ne(left: v.Value, right: v.Value, message: str) -> None:
    if v.equal(left, right):
        _assert(False, message, f"both are `{_told(left)}`")


def _told(value: v.Value) -> str:
    return text_of(value) if v.is_error(value) else shown(value)


def _template(text: str, values: v.Map) -> str:
    def fill(place: re.Match[str]) -> str:
        found = values.get(place[1])
        there = found is not v.NONE
        v.demand(there, f"the template asks for `{place[1]}`, which has no value", "KeyError")
        return text_of(*found.parts)

    return re.sub(r"\{\{\s*(\w+)\s*\}\}", fill, text)


def of_run(run: Run) -> v.Functions:
    """The functions that know of the run, and what look outside, as far as they need not."""

    def variable(name: str) -> v.Data:
        return v.first([run.environment[name]] if name in run.environment else [])

    def require(name: str) -> v.Data:
        problem = f"the environment variable `{name}` is not set"
        error = v.make_error("EnvError", problem, "NotSet", name=name)
        return v.ok(run.environment[name]) if name in run.environment else v.err(error)

    def sleep(milliseconds: int) -> None:
        """Nobody sees how time passes while nothing runs beside."""
        at_least(0, milliseconds, "a time to sleep cannot be negative")
        if run.switches:
            raise v.Unsupported("the world outside: time")

    return {
        "std::prelude::print": lambda value: run.output.append(text_of(value)),
        "std::prelude::println": lambda value: run.output.append(text_of(value) + "\n"),
        "std::time::sleep": sleep,
        "std::prelude::env": variable,
        "std::env::get": variable,
        "std::env::require": require,
        "std::env::has": lambda name: name in run.environment,
        "std::env::all": lambda: v.Map(run.environment.items()),
    }


_ERRORS = [
    symbol.name
    for symbol in library().prelude.members.values()
    if isinstance(symbol, StructSymbol) and symbol.is_error
]

PURE: v.Functions = {
    "std::prelude::len": _len,
    "std::prelude::typeof": v.type_name,
    "std::prelude::to_string": text_of,
    "std::prelude::compare": v.order,
    "std::prelude::equals": v.equal,
    "std::prelude::hash": v.hash_of,
    "std::prelude::assert": _assert,
    "std::prelude::assert_eq": _assert_eq,
    "std::prelude::assert_ne": _assert_ne,
    **{f"{name}::new": lambda message, name=name: v.make_error(name, message) for name in _ERRORS},
    "std::prompt::template": _template,
    # Only that there are some can be known.
    "std::prompt::count_tokens": lambda text, model: len(text),
}
