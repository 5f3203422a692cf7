"""Registry of natives (built-in functions): `stdlib/*.conc` declares signatures, `concerto/natives/` holds
bodies.

A name is the declaration's: `String::len` for a method, `std::json::parse` for a module's function,
`std::prelude::print` for a global. `std::string::len` is the method `String::len`, as a function. Bodies get
values by position; a `machine` one gets the `Machine` first (its `.host` is the way out). Function values are
Python callables taking values. A `mut self` method changes its first argument in place. Failures are raised
with `failure(…)`, a Result is returned as Ok or Err.
"""

from __future__ import annotations

from collections.abc import Callable

from concerto.annotating import TYPE_CHECKING, Any
from concerto.records import record

if TYPE_CHECKING:
    from typing import TypeVar

    Body = TypeVar("Body", bound=Callable[..., Any])


@record(frozen=True)
class Native:
    """`inline` is a Python expression over `{0} {1} …` for the Python tier: correct for all arguments that
    the checker lets through, each used once and in order, builtins of Python only. `opens` is one that gives
    the Option in the open (`concerto.vm.python_tier.unboxing`), over `{first} {again}` for the collection and
    `{key}` for the other argument; empty where facts about the arguments decide how it is written. `changes`:
    it changes the collection. `looks_inside`: an Option or Result in the open is as good as one that is made.
    """

    name: str
    body: Callable[..., Any]
    machine: bool
    inline: str | None
    opens: str | None
    changes: bool
    looks_inside: bool

    @property
    def only_reads(self) -> bool:
        """Whether it is a method that neither changes nor keeps the array or map that it is asked of."""
        return self.body.__module__ in _READING and not self.changes and self.name not in _NOT_READING

    @property
    def gives(self) -> str:
        """The kind of the value that it returns, as the tiers know it; "" if it may be any."""
        return _GIVEN.get(self.body.__annotations__.get("return", "").partition("[")[0], "")

    @property
    def arguments(self) -> list[str]:
        """The annotations of the parameters behind the receiver, as far as the body has such ones."""
        told = getattr(self.body, "__annotations__", {})
        names = [name for name in told if name != "return"]
        code = getattr(self.body, "__code__", None)
        if code is None or (code.co_flags & _VARIADIC and "given" in names):
            return []
        return [told[name] for name in names[1 + self.machine :]]

    def accepts(self, count: int) -> bool:
        """Whether the function can be called with that many arguments, as far as Python tells."""
        code = getattr(self.body, "__code__", None)
        if code is None or code.co_flags & _VARIADIC:
            return True
        most = code.co_argcount - self.machine
        defaults = getattr(self.body, "__defaults__", None) or ()
        return bool(most - len(defaults) <= count <= most)


_READING = frozenset({"concerto.natives.array", "concerto.natives.map"})

_NOT_READING = frozenset(
    {"Map::set", "Map::insert", "Map::remove", "Map::delete", "Map::clear", "Map::update", "Map::merge"}
)

_GIVEN = {"int": "int", "float": "float", "str": "str", "bool": "bool", "list": "array", "dict": "map"}
"""By the annotations of bodies, which the type checker holds true."""

_VARIADIC = 0x04
"""CPython's mark of a function with `*args`."""

_NATIVES: dict[str, Native] = {}


def native(
    name: str,
    *,
    machine: bool = False,
    inline: str | None = None,
    opens: str | None = None,
    changes: bool = False,
    looks_inside: bool = False,
) -> Callable[[Body], Body]:
    """Register the body of a library function."""

    def register(body: Body) -> Body:
        if name in _NATIVES:
            raise AssertionError(f"native {name} is registered twice")
        _NATIVES[name] = Native(name, body, machine, inline, opens, changes, looks_inside)
        return body

    return register


def find_native(name: str) -> Native | None:
    """The native of a name; its group's module is imported on first use (`String::len` →
    `concerto.natives.string`, `std::json::parse` → `concerto.natives.json`, all errors →
    `concerto.natives.errors`)."""
    if name not in _NATIVES:
        parts = name.split("::")
        group = (parts[1] if parts[0] == "std" else parts[0]).lower()
        if group.endswith("error"):
            group = "errors"
        try:
            __import__(f"concerto.natives.{group}")  # A start need not load `importlib`.
        except ModuleNotFoundError as error:
            if error.name != f"concerto.natives.{group}":
                raise
        if name not in _NATIVES and parts[0] == "std":
            method = _NATIVES.get(f"{parts[1].capitalize()}::{parts[-1]}")
            if method is not None:
                _NATIVES[name] = method
    return _NATIVES.get(name)


def all_natives() -> dict[str, Native]:
    """Every function of the library by name, the modules of all groups imported; not what others
    registered."""
    from importlib import import_module
    from pkgutil import iter_modules

    package = import_module("concerto.natives")
    for module in iter_modules(package.__path__, "concerto.natives."):
        import_module(module.name)
    return {name: found for name, found in _NATIVES.items() if found.body.__module__.startswith("concerto.")}
