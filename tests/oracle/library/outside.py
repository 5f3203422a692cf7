"""What looks outside, as far as it need not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.oracle import values as v
from tests.oracle.compare import make_map
from tests.oracle.errors import make_error
from tests.oracle.run import Run
from tests.oracle.text import text_of


def _effect(name: str) -> Callable[..., Any]:
    def body(*_: v.Value) -> v.Value:
        raise v.Unsupported(f"the world outside: {name}")

    return body


def _template(text: str, values: v.Map) -> str:
    by_name = dict(values.entries.values())

    def fill(place: re.Match[str]) -> str:
        if place[1] not in by_name:
            raise v.Failure(f"the template asks for `{place[1]}`, which has no value", "KeyError")
        return text_of(by_name[place[1]])

    return re.sub(r"\{\{\s*(\w+)\s*\}\}", fill, text)


def _variable(run: Run, name: str) -> v.Value:
    return v.Some(run.environment[name]) if name in run.environment else v.NONE


def _require(run: Run, name: str) -> v.Value:
    if name in run.environment:
        return v.Ok(run.environment[name])
    error = make_error("EnvError", f"the environment variable `{name}` is not set", "NotSet")
    error.fields["name"] = name
    return v.Err(error)


def _sleep(run: Run, milliseconds: int) -> None:
    """Nobody sees how time passes while nothing runs beside."""
    if milliseconds < 0:
        raise v.Failure(f"a time to sleep cannot be negative, found {milliseconds}", "ValueError")
    if run.switches:
        raise v.Unsupported("the world outside: time")


WITH_RUN: v.Functions = {
    "std::time::sleep": _sleep,
    "std::prelude::env": _variable,
    "std::env::get": _variable,
    "std::env::require": _require,
    "std::env::has": lambda run, name: name in run.environment,
    "std::env::all": lambda run: make_map(run.environment.items()),
}
_OUTSIDE = {
    "chance": ("std::math::random", "std::math::random_int", "std::crypto::uuid"),
    "time": ("std::time::now", "std::time::now_ms", "std::time::measure"),
    "files": ("HashMap::with_persistence",),
}
PURE: v.Functions = {
    "std::prompt::template": _template,
    # Only that there are some can be known.
    "std::prompt::count_tokens": lambda text, model: len(text),
} | {name: _effect(reason) for reason, names in _OUTSIDE.items() for name in names}
