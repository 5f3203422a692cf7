"""Methods found by what a value is: of a value of type Any, and of built-in traits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from concerto.semantics.declare.library import library
from concerto.semantics.model import builtins as bt
from concerto.semantics.model import symbols as sym
from concerto.semantics.typing.unify import substitute
from tests.oracle import values as v
from tests.oracle.fitting import Method, Types, bind, converted, type_of
from tests.oracle.library import CHANGING, LIBRARY
from tests.oracle.library.iterators import through
from tests.oracle.run import Put, Run
from tests.oracle.text import text_of


def call_method(
    run: Run, receiver: v.Value, name: str, arguments: Sequence[v.Value], put: Put | None
) -> v.Value:
    """Those of its type, then what all values have, then those of an iterator."""
    native = _library_methods().get((v.type_name(receiver), name))
    own = _own_method(run, receiver, name) if native is None else None
    if own is not None:
        function, types = own
        given = _given(run, function, types, arguments)
        for parameter, value in zip(function.parameters, given, strict=True):
            bind(parameter.type, type_of(value), function.generics, types)
        return run.invoke(function, types, [receiver, *given], put)
    if native is None and (name, len(arguments)) in _OF_ALL:
        return _OF_ALL[name, len(arguments)](receiver, *arguments)
    if native is None and not isinstance(receiver, str) and through(receiver) is not None:
        native = _library_methods().get(("Iterator", name))
    if native is None:
        raise v.Failure(f"{v.type_name(receiver)} has no method `{name}`", "TypeError")
    given = [receiver, *_given(run, native, {}, arguments), *([bt.ANY] if native.reified else [])]
    if native.native not in CHANGING:
        return run.native(str(native.native))(*given)
    result, changed = CHANGING[native.native](*given)
    if put is not None:
        put(changed)
    return result


_OF_ALL: dict[tuple[str, int], v.Function] = {
    ("to_string", 0): text_of, ("compare", 1): v.order, ("equals", 1): v.equal, ("hash", 0): v.hash_of
}  # fmt: skip


def _given(
    run: Run, function: sym.FunctionSymbol, types: Types, arguments: Sequence[v.Value]
) -> list[v.Value]:
    """The arguments as their parameters want them, defaults for those that were left out."""
    left_out = [parameter.default for parameter in function.parameters[len(arguments) :]]
    if len(arguments) > len(function.parameters) or None in left_out:
        v.same_number(function.name, arguments, function.parameters)
    known = types if isinstance(function.owner, sym.TraitSymbol) else {}
    wanted = [substitute(parameter.type, known) for parameter in function.parameters]
    given = [converted(one, type_) for one, type_ in zip(arguments, wanted, strict=False)]
    return given + list(map(run.default, left_out))


def _own_method(run: Run, receiver: v.Value, name: str) -> Method | None:
    """Inherent methods come before those of traits."""
    type_ = type_of(receiver)
    for impl in run.analysis.impls:
        method = impl.methods.get(name)
        if impl.trait is None and method is not None and method.receiver:
            types = run.traits.served(impl, type_)
            if types is not None:
                return method, types
    traits = [t for t in run.analysis.traits if name in t.methods and t.methods[name].receiver]
    found = (run.traits.method(sym.TraitUse(trait), type_, name) for trait in traits)
    return next(filter(None, found), None)


def own_method(run: Run, value: v.Value, trait: str) -> v.Function | None:
    """What the impl of a built-in trait has for a struct or enum."""
    if not isinstance(value, v.Data) or isinstance(value.kind, str):
        return None
    for impl in run.analysis.impls:
        use = impl.trait
        if use is not None and use.trait in bt.ASKED_OF_VALUES and use.trait.name == trait:
            types: Types = {}
            if bind(impl.target, type_of(value), impl.generics, types):
                (function,) = impl.methods.values()
                return lambda *others, changed=None: run.invoke(function, types, [value, *others], changed)
    return None


@cache
def _library_methods() -> dict[tuple[str, str], sym.FunctionSymbol]:
    """The methods of built-in types, by the type's name and their own."""
    return {
        (impl.name, name): method
        for impl in library().declarations.analysis.impls
        if impl.trait is None
        for name, method in impl.methods.items()
        if method.receiver and (method.native in LIBRARY or method.native in CHANGING)
    }
