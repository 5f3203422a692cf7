"""Types while a program runs: whether a value is of one, what that of a value is, which impl serves one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from concerto.semantics.declare.library import library
from concerto.semantics.model import builtins as bt
from concerto.semantics.model import symbols as ty
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.typing.constant_evaluator import Constructed
from concerto.semantics.typing.unify import show, show_literal, substitute
from tests.oracle import values as v
from tests.oracle.text import shown

Types = dict[ty.GenericSymbol, ty.Type]


def bind(pattern: ty.Type, found: ty.Type, generics: Iterable[ty.GenericSymbol], types: Types) -> bool:
    """Whether a type has a form; the generics in the form get what stands in their place."""
    ours: tuple[ty.Type, ...]
    theirs: tuple[ty.Type, ...]
    match pattern, found:
        case _, bt.NEVER:
            return True
        case ty.Generic(symbol), _ if symbol in generics:
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
    fitting = [bind(a, b, generics, types) for a, b in zip(ours, theirs, strict=False)]
    return all(fitting) and len(ours) == len(theirs)


def plain(type_: ty.Type) -> ty.Type:
    """A literal union has the methods of its literals' type."""
    if not isinstance(type_, ty.Literals):
        return type_
    kinds = {kind for kind, _ in type_.values}
    return bt.PLAIN_TYPES[bt.BUILTIN_TYPES[kinds.pop()]] if len(kinds) == 1 else bt.ANY


class Misfit(v.Failure):
    def __init__(self, expected: ty.Type, found: str, path: str = "") -> None:
        where = f" at `{path.lstrip('.')}`" if path else ""
        super().__init__(f"expected `{show(expected)}`, found `{found}`{where}", "TypeError")
        self.reason = (expected, found, path)


def is_of(value: v.Value, type_: ty.Type) -> bool:
    """Whether the value is of the type as it is."""
    try:
        converted(value, type_, convert=False)
    except Misfit:
        return False
    return True


def converted(value: v.Value, type_: ty.Type, convert: bool = True) -> v.Value:
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
            if v.is_tuple(value) and len(value.parts) == len(items):
                return v.tuple_of(_at(f".{i}", value.parts[i], items[i], convert) for i in range(len(items)))
        case ty.FunctionOf():
            if found == "fn":
                return adapted(value, type_.parameters, type_.result) if convert else value
        case bt.FLOAT if convert and found == "Int":
            return float(value)
        case bt.PROMPT if found == "String":
            return value
        case ty.Named(bt.OPTION, (item,)) if convert and found != "Option":
            return v.some(converted(value, item))
        case ty.Named(bt.ITERATOR, (item,)) if convert and not isinstance(value, str):
            held = value if found == "Iterator" else v.items_of(value)
            if held is not None:
                return (converted(each, item) for each in held)
        case ty.Named(symbol):
            if symbol is (value.symbol if isinstance(value, v.Data) else bt.BUILTIN_TYPES.get(found)):
                return _fit_parts(value, type_, convert)
    raise Misfit(type_, found)


def _fit_parts(value: v.Value, type_: ty.Named, convert: bool) -> v.Value:
    arguments = type_.arguments
    match value:
        case tuple():
            return tuple([_at(f"[{i}]", item, arguments[0], convert) for i, item in enumerate(value)])
        case v.Set():
            return v.set_of(converted(item, arguments[0], convert) for item in value.items())
        case v.Map():
            return v.Map(
                (converted(key, arguments[0], convert), _at((key,), held, arguments[1], convert))
                for key, held in value.pairs()
            )
        case v.Data("None"):
            return value
        case v.Data(str() as kind, parts):
            return v.Data(kind, *[converted(part, arguments[kind == "Err"], convert) for part in parts])
        case v.Data(kind, parts) if arguments or any(isinstance(f.type, ty.FunctionOf) for f in kind.fields):
            types = dict(zip(value.symbol.generics, arguments, strict=True))
            pairs = zip(kind.fields, parts, strict=True)
            fitted = [_at(f".{f.name}", part, substitute(f.type, types), convert) for f, part in pairs]
            return v.Data(kind, *fitted)
        case _:
            return value


def _at(step: str | tuple[v.Value], value: v.Value, type_: ty.Type, convert: bool) -> v.Value:
    """A part; the text of a key is made only to name what does not fit."""
    try:
        return converted(value, type_, convert)
    except Misfit as misfit:
        expected, found, path = misfit.reason
        raise Misfit(
            expected, found, (step if isinstance(step, str) else f"[{shown(*step)}]") + path
        ) from None


def adapted(function: v.Function, parameters: Sequence[ty.Type], result: ty.Type) -> v.Function:
    """A function that converts its arguments and what it gives."""

    def call(*arguments: v.Value) -> v.Value:
        v.same_number("function", arguments, parameters)
        return converted(function(*map(converted, arguments, parameters)), result)

    return call


def type_of(value: v.Value) -> ty.Type:
    """The type of a value as far as the value tells; Never stands for what it does not."""
    match value:
        case tuple():
            return bt.array_of(_common(value))
        case v.Set():
            return bt.set_of(_common(value.items()))
        case v.Map():
            return bt.map_of(*(_common([pair[side] for pair in value.pairs()]) for side in (0, 1)))
        case v.Data("Tuple", parts):
            return ty.TupleOf(tuple(map(type_of, parts)))
        case v.Data("Ok" | "Err", (part,)):
            held = type_of(part)
            return bt.result_of(*((held, bt.NEVER) if value.kind == "Ok" else (bt.NEVER, held)))
        case v.Data(str(), parts):
            return ty.Named(value.symbol, (_common(parts),))
        case v.Data(kind, parts):
            types: Types = {}
            for field, part in zip(kind.fields, parts, strict=True):
                bind(field.type, type_of(part), value.symbol.generics, types)
            return ty.Named(value.symbol, tuple(types.get(g, bt.NEVER) for g in value.symbol.generics))
        case _:
            found = library().prelude.members.get(v.type_name(value))
            return bt.PLAIN_TYPES.get(found, bt.NEVER) if isinstance(found, ty.BuiltinSymbol) else bt.NEVER


def _common(values: Sequence[v.Value]) -> ty.Type:
    types = list(map(type_of, values)) or [bt.NEVER]
    return types[0] if all(type_ == types[0] for type_ in types) else bt.ANY


def constant(found: object, type_: ty.Type) -> v.Value:
    """What the checker computed, as a value."""
    if isinstance(type_, ty.Named) and type_.symbol is bt.OPTION:
        return v.NONE if found is None else v.some(constant(found, type_.arguments[0]))
    arguments = type_.arguments if isinstance(type_, ty.Named) else ()
    first, second, *_ = (*arguments, bt.ANY, bt.ANY)
    match found:
        case list():
            return tuple(constant(item, first) for item in found)
        case tuple():
            types = type_.items if isinstance(type_, ty.TupleOf) else [bt.ANY] * len(found)
            return v.tuple_of(map(constant, found, types))
        case dict():
            return v.Map((constant(key, first), constant(item, second)) for key, item in found.items())
        case Constructed(made=symbol, values=values):
            fields = zip(values, symbol.fields, strict=True)
            return v.Data(symbol, *[constant(value, field.type) for value, field in fields])
        case _:
            return found


# --- Which impl serves a type ---


Method = tuple[ty.FunctionSymbol, Types]
"""A function, and what the generics around it stand for."""


class Traits:
    """The impls of one program, and the tools that implement a trait."""

    def __init__(self, analysis: Analysis) -> None:
        self._tools: dict[object, ty.ToolSymbol] = {tool.state: tool for tool in analysis.tools}
        self._impls = analysis.impls

    def method(self, use: ty.TraitUse, type_: ty.Type, name: str) -> Method | None:
        """The trait's method for that very type."""
        tool = self._tools.get(type_.symbol) if isinstance(type_, ty.Named) else None
        itself = use.trait.self_generic
        if tool is not None and tool.trait is not None and itself is not None:
            around = dict(zip(use.trait.generics, tool.trait.arguments, strict=True))
            return tool.methods[name], {**around, itself: type_}
        found = self._impl(use, type_)
        if found is None:
            return None
        impl, types = found
        if name in impl.methods:
            return impl.methods[name], types
        assert impl.trait is not None and itself is not None
        arguments = [substitute(argument, types) for argument in impl.trait.arguments]
        provided = dict(zip(use.trait.generics, arguments, strict=True))
        return use.trait.methods[name], {**provided, itself: plain(type_)}

    def _impl(self, use: ty.TraitUse, type_: ty.Type) -> tuple[ty.ImplSymbol, Types] | None:
        """Without arguments in `use`, those of the trait are not looked at."""
        for impl in self._impls:
            if impl.trait is None or impl.trait.trait is not use.trait:
                continue
            types = self.served(impl, type_, use.arguments)
            if types is not None:
                return impl, types
        return None

    def served(
        self, impl: ty.ImplSymbol, type_: ty.Type, arguments: tuple[ty.Type, ...] = ()
    ) -> Types | None:
        """What the generics of an impl stand for, if it serves the type, of its trait with the arguments."""
        types: Types = {}
        own = () if impl.trait is None else impl.trait.arguments
        pairs = [(impl.target, plain(type_)), *zip(own, arguments, strict=False)]
        if not all(bind(pattern, found, impl.generics, types) for pattern, found in pairs):
            return None
        bounds = [(types[each], bound) for each in impl.generics if each in types for bound in each.bounds]
        return types if all(self._satisfies(found, bound, types) for found, bound in bounds) else None

    def _satisfies(self, type_: ty.Type, bound: ty.TraitUse, types: Types) -> bool:
        if bound.trait is bt.NUMBER or bound.trait in bt.ASKED_OF_VALUES:
            raise v.Unsupported(f"an impl for what has `{bound.trait.name}`")
        arguments = tuple(substitute(argument, types) for argument in bound.arguments)
        use = ty.TraitUse(bound.trait, arguments)
        return has_operator(bound.trait, type_) or self._impl(use, type_) is not None

    def conversion(self, source: ty.Type, target: ty.Type) -> Method | None:
        """`impl From<source> for target`"""
        return self.method(ty.TraitUse(bt.FROM, (plain(source),)), target, "from")


def has_operator(trait: ty.TraitSymbol, type_: ty.Type) -> bool:
    """Numbers have all operators, and texts `+`."""
    numbers = plain(type_) in (bt.INT, bt.FLOAT) and trait in bt.OPERATOR_TRAITS
    return numbers or (plain(type_) == bt.STRING and trait is bt.OPERATORS["+"])
