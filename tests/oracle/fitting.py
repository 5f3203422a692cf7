"""Values by their types: whether one is of a type, what its type is, its parts, which impl serves a type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import cycle
from typing import Any

from concerto.semantics.model import analysis as an
from concerto.semantics.model import builtins as bt
from concerto.semantics.model import symbols as ty
from concerto.semantics.typing.constant_evaluator import Constructed, Optional
from concerto.semantics.typing.impl_lookup import all_methods
from concerto.semantics.typing.members import provided_for
from concerto.semantics.typing.traits import base_type, has_operator, substitute_bound
from concerto.semantics.typing.unify import show, show_literal, substitute
from concerto.wording import counted
from tests.oracle import values as v
from tests.oracle.numbers import checked

Types = dict[ty.GenericSymbol, ty.Type]


def bind(pattern: ty.Type, found: ty.Type, types: Types) -> bool:
    """Whether a type has a form; the generics in the form get what stands in their place."""
    match pattern, found:
        case _, bt.NEVER:
            return True
        case ty.Generic(symbol), _ if symbol.accepts is None:
            return types.setdefault(symbol, found) == found
        case ty.Named(head, ours), ty.Named(other, theirs) if head is other:
            pass
        case ty.TupleOf(ours), ty.TupleOf(theirs):
            pass
        case ty.FunctionOf(), ty.FunctionOf():
            ours, theirs = (*pattern.parameters, pattern.result), (*found.parameters, found.result)
        case _:
            return pattern == found
    # All are looked at: what one does not fit, another may still tell of.
    fitting = [bind(a, b, types) for a, b in zip(ours, theirs, strict=False)]
    return all(fitting) and len(ours) == len(theirs)


def is_of(value: v.Value, type_: ty.Type) -> bool:
    """Whether the value is of the type as it is."""
    with suppress(v.Failure):
        converted(value, type_, convert=False)
        return True
    return False


Path = tuple[str | tuple[v.Value], ...]
"""How a part of a value is reached; the text of a key, in a tuple, is made only to name what does not fit."""


def converted(value: v.Value, type_: ty.Type, path: Path = (), convert: bool = True) -> v.Value:
    """The value as one of the type, as the implicit conversions would make it; a TypeError if it is none."""
    found = v.type_name(value)
    match type_:
        case bt.ANY | ty.Generic():
            return value
        case ty.Literals():
            if (found, value) in type_.values:
                return value
            found = show_literal(value) if isinstance(value, str | int | None) else found
        case ty.TupleOf(items):
            if isinstance(value, tuple) and len(value) == len(items):
                return _fit_parts(value, items, path, convert)
        case ty.FunctionOf() if found == "fn":
            return adapted(value, type_.parameters, type_.result) if convert else value
        case ty.Named(bt.HASH_MAP | bt.TASK as symbol, parts) if found == symbol.name:
            if not value.known and convert:
                value.known += [type_, *(partial(converted, type_=part) for part in parts)]
            first = value.known[0] if value.known else type_
            if all(part in (own, bt.ANY) for part, own in zip(parts, first.arguments, strict=True)):
                return value
            found = show(first)
        case bt.FLOAT if convert and found == "Int":
            return float(value)
        case bt.PROMPT if found == "String":
            return value
        case ty.Named(bt.OPTION, (item,)) if convert and found != "Option":
            return v.some(converted(value, item, path))
        case ty.Named(bt.ITERATOR, (item,)) if convert and not isinstance(value, str):
            held = value if found == "Iterator" else v.items_of(value)
            if held is not None:
                return (converted(each, item) for each in held)
        case ty.Named(symbol):
            if symbol is (value.symbol if isinstance(value, v.Data) else bt.BUILTIN_TYPES.get(found)):
                return _fit_parts(value, type_.arguments, path, convert)
    steps = "".join(step if isinstance(step, str) else f"[{v.shown(*step)}]" for step in path)
    where = f" at `{steps.lstrip('.')}`" if steps else ""
    wanted = show(type_)
    if isinstance(value, v.Data) and isinstance(type_, ty.Named) and found == type_.symbol.name:
        wanted, found = show(type_, full=True), str(value.symbol.qualified)
    raise v.Failure(f"expected `{wanted}`, found `{found}`{where}", "TypeError")


def _fit_parts(value: v.Value, arguments: Sequence[ty.Type], path: Path, convert: bool) -> v.Value:
    def fit(part: v.Value, type_: ty.Type, *steps: str | tuple[v.Value]) -> v.Value:
        return converted(part, type_, (*path, *steps), convert)

    match value:
        case list():
            return [fit(item, arguments[0], f"[{i}]") for i, item in enumerate(value)]
        case tuple():
            return tuple([fit(*one, f".{i}") for i, one in enumerate(zip(value, arguments, strict=True))])
        case v.Set():
            return v.set_of(fit(item, arguments[0]) for item in value.items())
        case v.Map():
            key_type, held_type = arguments
            return v.Map((fit(key, key_type), fit(held, held_type, (key,))) for key, held in value.pairs())
        case v.Data(str() as kind, parts):
            return v.Data(kind, *[fit(part, arguments[kind == "Err"]) for part in parts]) if parts else value
        case v.Data(kind, parts) if arguments or any(_knows_itself(f.type) for f in kind.fields):
            types = dict(zip(value.symbol.generics, arguments, strict=True))
            pairs = zip(kind.fields, parts, strict=True)
            return v.Data(kind, *[fit(part, substitute(f.type, types), f".{f.name}") for f, part in pairs])
        case _:
            return value


def _knows_itself(type_: ty.Type) -> bool:
    """Whether a value of a type looks at what it is given or holds, once it is an Any."""
    return isinstance(type_, ty.FunctionOf) or (isinstance(type_, ty.Named) and type_.symbol in bt.HANDLES)


def adapted(function: v.Function, parameters: Sequence[ty.Type], result: ty.Type) -> v.Function:
    """A function that converts its arguments and what it gives."""

    def call(*arguments: v.Value) -> v.Value:
        same = len(arguments) == len(parameters)
        message = f"the function takes {counted(len(parameters), 'argument')}, found {len(arguments)}"
        v.demand(same, message, "TypeError")
        return converted(function(*map(converted, arguments, parameters)), result)

    return call


def type_of(value: v.Value) -> ty.Type:
    """The type of a value as far as the value tells; Never stands for what it does not."""
    match value:
        case list():
            return bt.array_of(_common(value))
        case tuple():
            return ty.TupleOf(tuple(map(type_of, value)))
        case v.Set():
            return bt.set_of(_common(value.items()))
        case v.Map():
            return bt.map_of(*(_common([pair[side] for pair in value.pairs()]) for side in (0, 1)))
        case v.Data("Ok" | "Err", (part,)):
            held = type_of(part)
            return bt.result_of(*((held, bt.NEVER) if value.kind == "Ok" else (bt.NEVER, held)))
        case v.Data(str(), parts):
            return ty.Named(value.symbol, (_common(parts),))
        case v.Data(kind, parts):
            types: Types = {}
            for field, part in zip(kind.fields, parts, strict=True):
                bind(field.type, type_of(part), types)
            return ty.Named(value.symbol, tuple(types.get(g, bt.NEVER) for g in value.symbol.generics))
        case _:
            symbol = bt.BUILTIN_TYPES.get(v.type_name(value), bt.NEVER.symbol)
            return bt.PLAIN_TYPES.get(symbol, bt.NEVER)


def _common(values: v.Values) -> ty.Type:
    types = list(map(type_of, values)) or [bt.NEVER]
    return types[0] if all(type_ == types[0] for type_ in types) else bt.ANY


def constant(found: object, type_: ty.Type) -> v.Value:
    """What the checker computed, as a value."""
    types = cycle(getattr(type_, "arguments", None) or getattr(type_, "items", None) or [bt.ANY])
    match found:
        case Optional(held=held):
            return v.some(constant(held[0], next(types))) if held else v.NONE
        case list() | tuple():
            return type(found)(map(constant, found, types))
        case dict():
            pairs = found.items()
            return v.Map((constant(key, next(types)), constant(item, next(types))) for key, item in pairs)
        case Constructed(made=symbol, values=values):
            return v.Data(symbol, *map(constant, values, [field.type for field in symbol.fields]))
        case _:
            return found


def whole(index: v.Value) -> int:
    v.demand(index.__class__ is int, f"an index is an Int, found {v.type_name(index)}", "TypeError")
    return int(index)


def position(index: v.Value, length: int) -> int:
    v.demand(0 <= whole(index) < length, f"index {index} is out of bounds for length {length}", "IndexError")
    return int(index)


def element(value: v.Value, at: Any) -> v.Value:
    """What stands at an index, at a key or in a member."""
    name = at.name if isinstance(at, an.NamedMember) else None
    match value:
        case str() if name is None:
            return value[position(at, len(value))]
        case v.Map():
            v.check_key(name or at)
            found = value.get(name or at)
            if found is v.NONE:
                raise v.Failure(f"the map has no key `{v.text_of(name or at)}`", "KeyError")
            return found.parts[0]
    slot = _slot(value, at)
    problem = "cannot be indexed" if name is None else f"has no member `{name}`"
    v.demand(slot is not None, f"{v.type_name(value)} {problem}", "TypeError")
    return (value.parts if isinstance(value, v.Data | v.Tool) else value)[slot]


def with_element(value: v.Value, at: Any, item: v.Value) -> v.Value:
    """The value with something else there; a tool is changed itself."""
    name = at.name if isinstance(at, an.NamedMember) else None
    if isinstance(value, v.Map):
        return value.with_entry(name or at, item)
    slot = _slot(value, at)
    what = "an element" if name is None else f"member `{name}`"
    there = slot is not None and (name is None or not v.is_error(value))
    v.demand(there, f"{what} of {v.type_name(value)} cannot be assigned", "TypeError")
    match value:
        case list() | tuple():
            return type(value)([*value[:slot], item, *value[slot + 1 :]])
        case v.Tool():
            value.parts[slot] = item
            return value
        case _:
            fitting = item if name is None else converted(item, value.kind.fields[slot].type)
            return v.Data(value.kind, *with_element(value.parts, slot, fitting))


def _slot(value: v.Value, at: Any) -> Any:
    """Which of its parts is meant; None for what an Any that holds the value does not have."""
    match at, value:
        case an.SlotField(ty.FieldSymbol(index=index)) | an.TupleItem(index), _:
            return index
        case an.NamedMember(name), v.Data(ty.StructSymbol() | ty.VariantSymbol(named=True) as symbol):
            return next((field.index for field in symbol.fields if field.name == name), None)
        case an.NamedMember(name), _:
            inside = isinstance(value, tuple) and name.isdigit() and int(name) < len(value)
            return int(name) if inside else None
        case _:
            return position(at, len(value)) if isinstance(value, list | tuple) else None


def slice_of(value: v.Value, low: v.Value, high: v.Value, inclusive: bool = False) -> v.Value:
    v.demand(isinstance(value, list | str), f"{v.type_name(value)} cannot be sliced", "TypeError")
    length = len(value)
    start = 0 if low is None else whole(low)
    end = length if high is None else checked(whole(high) + inclusive)
    if 0 <= start <= end <= length:
        return value[start:end]
    problem = "ends before it starts" if 0 <= end < start else f"is out of bounds for length {length}"
    raise v.Failure(f"the slice {start}..{end} {problem}", "IndexError")


Method = tuple[ty.FunctionSymbol, Types]
"""A function, and what the generics around it stand for."""


class Impls:
    """The impls of one program, inherent ones first; a tool that implements a trait has one."""

    def __init__(self, analysis: an.Analysis) -> None:
        of_tools = [
            ty.ImplSymbol(name=one.name, target=ty.Named(one.state), trait=one.trait, methods=one.methods)
            for one in analysis.tools
            if one.trait is not None
        ]
        self._impls = sorted([*of_tools, *analysis.impls], key=lambda impl: impl.trait is not None)
        self.traits = {impl.trait.trait for impl in self._impls if impl.trait is not None}

    def method(self, type_: ty.Type, name: str, use: ty.TraitUse | None = None) -> Method | None:
        """The method of that very type; that of the trait, where one is meant."""
        for impl, types in self.serving(type_, use):
            methods = all_methods(impl)
            if impl.trait is not None:
                types |= provided_for(substitute_bound(impl.trait, types), base_type(type_))
            meant = name in methods and (use is not None or methods[name].receiver)
            if meant and self._meets_bounds(impl, types):
                return methods[name], types
        return None

    def serving(self, type_: ty.Type, use: ty.TraitUse | None) -> Iterator[tuple[ty.ImplSymbol, Types]]:
        """The impls for a type, whatever their bounds, that serve the use of a trait as far as it tells."""
        for impl in self._impls:
            types: Types = {}
            pairs = [(impl.target, base_type(type_))]
            if use is not None:
                if impl.trait is None or impl.trait.trait is not use.trait:
                    continue
                pairs += zip(impl.trait.arguments, use.arguments, strict=False)
            if all(bind(pattern, found, types) for pattern, found in pairs):
                yield impl, types

    def _meets_bounds(self, impl: ty.ImplSymbol, types: Types) -> bool:
        bounds = [(types[each], bound) for each in impl.generics if each in types for bound in each.bounds]
        return all(self._meets(found, substitute_bound(bound, types)) for found, bound in bounds)

    def _meets(self, found: ty.Type, bound: ty.TraitUse) -> bool:
        if bound.trait is bt.NUMBER or bound.trait in bt.ASKED_OF_VALUES:
            raise v.Unsupported(f"an impl for what has `{bound.trait.name}`")
        served = (self._meets_bounds(*served) for served in self.serving(found, bound))
        return has_operator(found, bound) or any(served)
