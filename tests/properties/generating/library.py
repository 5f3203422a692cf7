"""The methods of built-in types and of handles, as the standard library declares them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from concerto.diagnostics import Problems
from concerto.resources import resource
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse
from tests.properties.generating.kinds import Kind, from_tree

_FILES = (
    "array", "map", "option", "result", "set", "queue", "stack", "range", "int", "float", "string", "bool",
    "iterator",
)  # fmt: skip

# Their values may grow without end where they are called again and again.
GROWING = frozenset(
    ("concat", "extend", "flat_map", "join", "merge", "replace", "zip", "union", "chars", "map")
)
# Their whole numbers are lengths and positions, best small.
COUNTING = frozenset(
    ("repeat", "pad_left", "pad_right", "step_by", "chunks", "take", "skip", "get", "slice", "remove",
     "insert",
     "swap", "truncate", "pow", "windows", "to_digit", "index_of")
)  # fmt: skip
# Ranges are walked only where they are known to be short.
_LEFT_OUT = frozenset(
    (
        ("Range", "to_array"),
        ("Range", "map"),
        ("Range", "filter"),
        ("String", "parse_json"),
        ("Iterator", "results"),
        ("Iterator", "next"),
    )
)
_OF_OTHER_HANDLES = frozenset(("on_change", "on_any_change", "with_persistence", "query", "scope"))


@dataclass(frozen=True)
class Method:
    """`free` are the names of generics, of the impl's and its own; `bounds` what some must be able to do.
    `owner` is the type before the dot, or before `::` where there is no `self`."""

    owner: Kind
    name: str
    parameters: tuple[tuple[Kind, bool], ...]
    result: Kind
    receiver: str
    free: frozenset[str]
    own: tuple[str, ...]
    bounds: tuple[tuple[str, str], ...]


@cache
def library_methods() -> tuple[Method, ...]:
    found = [method for file in _FILES for method in _methods_in(file)]
    return tuple(method for method in found if (method.owner.name, method.name) not in _LEFT_OUT)


@cache
def handle_methods(owner: str) -> tuple[Method, ...]:
    """Those of a hashmap, ledger or memory that neither make one nor leave the program."""
    return tuple(
        method
        for method in _methods_in("state")
        if method.owner.name == owner and method.receiver and method.name not in _OF_OTHER_HANDLES
    )


def _methods_in(file: str) -> list[Method]:
    source = Source(file, (resource("stdlib") / f"{file}.conc").read_text(encoding="utf-8"))
    return [
        _method(item, declared)
        for item in parse(source, Problems()).items
        if isinstance(item, ast.ImplDecl)
        for declared in item.methods
    ]


def _method(owner: ast.ImplDecl, declared: ast.FnDecl) -> Method:
    generics = (*owner.generics, *declared.generics)
    parameters = list(declared.parameters)
    receiver = ""
    if parameters and parameters[0].name.text == "self":
        receiver = "mut self" if parameters.pop(0).mutable else "self"
    return Method(
        from_tree(owner.target),
        declared.name.text,
        tuple((from_tree(parameter.type), parameter.default is not None) for parameter in parameters),
        from_tree(declared.result),
        receiver,
        frozenset(generic.name.text for generic in generics),
        tuple(generic.name.text for generic in declared.generics),
        tuple(
            (generic.name.text, bound.segments[0].text) for generic in generics for bound in generic.bounds
        ),
    )
