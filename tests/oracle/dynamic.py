"""Methods on a value of type Any: found by what the value is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from concerto.semantics.declare.library import library
from concerto.semantics.model import builtins as bt
from concerto.semantics.model import symbols as sym
from tests.oracle import values as v
from tests.oracle.compare import equal
from tests.oracle.fitting import Types, bind, converted, substitute
from tests.oracle.library import CHANGING, LIBRARY
from tests.oracle.library.arrays import order
from tests.oracle.library.iterators import walked
from tests.oracle.library.prelude import hash_of
from tests.oracle.run import Frame, Run
from tests.oracle.text import text_of


def call_method(
    run: Run, receiver: v.Value, name: str, arguments: list[v.Value], put: Callable[[v.Value], None]
) -> v.Value:
    declared = _library_methods().get((v.type_name(receiver), name))
    if declared is not None:
        return _call_library(run, declared, receiver, arguments, put)
    found = _own_method(run, receiver, name)
    if found is None:
        asked = _OF_ALL.get((name, len(arguments)))
        if asked is not None:
            return asked(receiver, *arguments)
        lazy = _library_methods().get(("Iterator", name)) if walked(receiver) else None
        if lazy is not None:
            return _call_library(run, lazy, receiver, arguments, put)
        raise v.Failure(f"{v.type_name(receiver)} has no method `{name}`", "TypeError")
    function, types = found
    given = _given(run, function, types, arguments)
    for parameter, value in zip(function.parameters, given, strict=True):
        bind(parameter.type, type_of(value), set(function.generics), types)
    changed = put if function.receiver == "mut self" else None
    return run.invoke(function, [receiver, *given], types, changed)


_OF_ALL: dict[tuple[str, int], Callable[..., v.Value]] = {
    ("to_string", 0): text_of,
    ("compare", 1): order,
    ("equals", 1): equal,
    ("hash", 0): hash_of,
}


def _given(run: Run, function: sym.FunctionSymbol, types: Types, arguments: list[v.Value]) -> list[v.Value]:
    """The arguments as their parameters want them, defaults for those that were left out."""
    parameters = function.parameters
    left_out = parameters[len(arguments) :]
    if len(arguments) > len(parameters) or any(parameter.default is None for parameter in left_out):
        raise v.Failure(f"`{function.name}` is called with a wrong number of arguments", "TypeError")
    known = types if isinstance(function.owner, sym.TraitSymbol) else {}
    given = [converted(a, substitute(p.type, known)) for a, p in zip(arguments, parameters, strict=False)]
    return given + [run.value(p.default, Frame({})) for p in left_out if p.default is not None]


def _own_method(run: Run, receiver: v.Value, name: str) -> tuple[sym.FunctionSymbol, Types] | None:
    """Inherent methods come before those of traits."""
    type_ = type_of(receiver)
    for impl in run.analysis.impls:
        types: Types = {}
        method = None if impl.trait is not None else impl.methods.get(name)
        if method is None or not method.receiver:
            continue
        if bind(impl.target, type_, set(impl.generics), types) and run.traits.bounds_hold(impl, types):
            return method, types
    for trait in run.analysis.traits:
        if name in trait.methods and trait.methods[name].receiver:
            found = run.traits.method(sym.TraitUse(trait), type_, name)
            if found is not None:
                return found
    return None


def own_method(run: Run, value: v.Value, trait: str) -> Callable[..., v.Value] | None:
    """What the impl of a built-in trait has for a struct or enum."""
    for impl in run.analysis.impls:
        if (
            impl.trait is not None
            and impl.trait.trait in bt.ASKED_OF_VALUES
            and impl.trait.trait.name == trait
        ):
            types: Types = {}
            if bind(impl.target, type_of(value), set(impl.generics), types):
                (function,) = impl.methods.values()
                return lambda *others, changed=None: run.invoke(function, [value, *others], types, changed)
    return None


def type_of(value: v.Value) -> sym.Type:
    """The type of a value as far as the value tells; Never stands for what it does not."""
    match value:
        case tuple():
            return bt.array_of(_common(value))
        case v.Tuple():
            return sym.TupleOf(tuple(map(type_of, value.items)))
        case v.Some():
            return bt.option_of(type_of(value.value))
        case v.NoneType():
            return bt.option_of(bt.NEVER)
        case v.Ok():
            return bt.result_of(type_of(value.value), bt.NEVER)
        case v.Err():
            return bt.result_of(bt.NEVER, type_of(value.value))
        case v.Map():
            keys, held = [[pair[i] for pair in value.entries.values()] for i in (0, 1)]
            return bt.map_of(_common(keys), _common(held))
        case v.Set():
            return bt.set_of(_common(list(value.entries.values())))
        case v.Queue() | v.Stack():
            container = bt.QUEUE if isinstance(value, v.Queue) else bt.STACK
            return sym.Named(container, (_common(value.items),))
        case v.Struct() | v.Variant():
            symbol = value.symbol if isinstance(value, v.Struct) else value.symbol.enum
            types: Types = {}
            for field, part in zip(value.symbol.fields, value.fields, strict=True):
                bind(field.type, type_of(part), set(symbol.generics), types)
            return sym.Named(symbol, tuple(types.get(generic, bt.NEVER) for generic in symbol.generics))
        case _:
            found = library().prelude.members.get(v.type_name(value))
            plain = bt.PLAIN_TYPES.get(found) if isinstance(found, sym.BuiltinSymbol) else None
            return plain or (sym.Named(found) if isinstance(found, sym.StructSymbol) else bt.NEVER)


def _common(values: Sequence[v.Value]) -> sym.Type:
    types = [type_of(value) for value in values]
    if not types:
        return bt.NEVER
    return types[0] if all(type_ == types[0] for type_ in types) else bt.ANY


def _call_library(
    run: Run,
    declared: sym.FunctionSymbol,
    receiver: v.Value,
    arguments: list[v.Value],
    put: Callable[[v.Value], None],
) -> v.Value:
    given = _given(run, declared, {}, arguments)
    if declared.reified:
        given.append(bt.ANY)
    name = declared.native or ""
    if name in LIBRARY:
        return LIBRARY[name](receiver, *given)
    result, changed = CHANGING[name](receiver, *given)
    put(changed)
    return result


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
