"""Methods on a value of type Any: found by what the value is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from concerto.semantics.declare.library import library
from concerto.semantics.model.builtins import ANY
from concerto.semantics.model.symbols import FunctionSymbol
from tests.oracle.library import CHANGING, LIBRARY
from tests.oracle.run import Frame, Run
from tests.oracle.text import text_of
from tests.oracle.types import converted, is_of
from tests.oracle.values import Failure, Value, type_name


def call_method(
    run: Run, receiver: Value, name: str, arguments: list[Value], put: Callable[[Value], None]
) -> Value:
    declared = _library_methods().get((type_name(receiver), name))
    if declared is not None:
        return _call_library(run, declared, receiver, arguments, put)
    found = _own_method(run, receiver, name)
    if found is None:
        if name == "to_string" and not arguments:
            return text_of(receiver)
        raise Failure(f"{type_name(receiver)} has no method `{name}`", "TypeError")
    given = _given(run, found, arguments)
    changed = put if found.receiver == "mut self" else None
    return run.invoke(found, [receiver, *given], {}, changed)


def _given(run: Run, function: FunctionSymbol, arguments: list[Value]) -> list[Value]:
    """The arguments as their parameters want them, defaults for those that were left out."""
    parameters = function.parameters
    left_out = parameters[len(arguments) :]
    if len(arguments) > len(parameters) or any(parameter.default is None for parameter in left_out):
        raise Failure(f"`{function.name}` is called with a wrong number of arguments", "TypeError")
    given = [converted(a, p.type) for a, p in zip(arguments, parameters, strict=False)]
    return given + [run.value(p.default, Frame({})) for p in left_out if p.default is not None]


def _own_method(run: Run, receiver: Value, name: str) -> FunctionSymbol | None:
    for impl in sorted(run.analysis.impls, key=lambda impl: impl.trait is not None):
        method = impl.methods.get(name)
        if method is None and impl.trait is not None:
            method = impl.trait.trait.methods.get(name)
        if method is not None and method.receiver and is_of(receiver, impl.target):
            return method
    return None


def _call_library(
    run: Run, declared: FunctionSymbol, receiver: Value, arguments: list[Value], put: Callable[[Value], None]
) -> Value:
    given = _given(run, declared, arguments)
    if declared.reified:
        given.append(ANY)
    name = declared.native or ""
    if name in LIBRARY:
        return LIBRARY[name](receiver, *given)
    result, changed = CHANGING[name](receiver, *given)
    put(changed)
    return result


@cache
def _library_methods() -> dict[tuple[str, str], FunctionSymbol]:
    """The methods of built-in types, by the type's name and their own."""
    return {
        (impl.name, name): method
        for impl in library().world.analysis.impls
        if impl.trait is None
        for name, method in impl.methods.items()
        if method.receiver and (method.native in LIBRARY or method.native in CHANGING)
    }
