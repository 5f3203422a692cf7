"""Which impl serves a type: looked up while the program runs, by the type with its arguments."""

from __future__ import annotations

from collections.abc import Iterable

from concerto.semantics.model import builtins as bt
from concerto.semantics.model import symbols as sym
from concerto.semantics.model.symbols import FunctionOf, Literals, Named, TupleOf, Type
from tests.oracle.fitting import Types, bind, plain, substitute


class Traits:
    """The impls of one program, and the tools that implement a trait."""

    def __init__(self, impls: Iterable[sym.ImplSymbol], tools: Iterable[sym.ToolSymbol]) -> None:
        self._tools: dict[object, sym.ToolSymbol] = {tool.state: tool for tool in tools}
        self._of: dict[sym.TraitSymbol, list[sym.ImplSymbol]] = {}
        for impl in impls:
            if impl.trait is not None:
                self._of.setdefault(impl.trait.trait, []).append(impl)

    def method(self, use: sym.TraitUse, type_: Type, name: str) -> tuple[sym.FunctionSymbol, Types] | None:
        """The trait's method for that very type, and what the generics around it stand for."""
        tool = self._tools.get(type_.symbol) if isinstance(type_, Named) else None
        if tool is not None and tool.trait is not None and use.trait.self_generic is not None:
            around = dict(zip(use.trait.generics, tool.trait.arguments, strict=True))
            return tool.methods[name], {**around, use.trait.self_generic: type_}
        found = self.impl(use, type_)
        if found is None:
            return None
        impl, types = found
        own = impl.methods.get(name)
        if own is not None:
            return own, types
        assert impl.trait is not None and use.trait.self_generic is not None
        arguments = [substitute(argument, types) for argument in impl.trait.arguments]
        provided = dict(zip(use.trait.generics, arguments, strict=True))
        return use.trait.methods[name], {**provided, use.trait.self_generic: plain(type_)}

    def impl(self, use: sym.TraitUse, type_: Type) -> tuple[sym.ImplSymbol, Types] | None:
        """Without arguments in `use`, those of the trait are not looked at."""
        type_ = plain(type_)
        for impl in self._of.get(use.trait, ()):
            types: Types = {}
            generics = set(impl.generics)
            assert impl.trait is not None
            pairs = zip(impl.trait.arguments, use.arguments, strict=False)
            if not bind(impl.target, type_, generics, types):
                continue
            if all(bind(own, wanted, generics, types) for own, wanted in pairs) and self.bounds_hold(
                impl, types
            ):
                return impl, types
        return None

    def bounds_hold(self, impl: sym.ImplSymbol, types: Types) -> bool:
        return all(
            self.satisfies(types[generic], bound, types)
            for generic in impl.generics
            if generic in types
            for bound in generic.bounds
        )

    def satisfies(self, type_: Type, bound: sym.TraitUse, types: Types) -> bool:
        if bound.trait is bt.NUMBER:
            return plain(type_) in (bt.INT, bt.FLOAT)
        if bound.trait is bt.ORD:
            return _has_order(plain(type_))
        if bound.trait is bt.HASH:
            return _has_identity(type_)
        if has_operator(bound.trait, type_):
            return True
        arguments = tuple(substitute(argument, types) for argument in bound.arguments)
        return self.impl(sym.TraitUse(bound.trait, arguments), type_) is not None

    def conversion(self, source: Type, target: Type) -> tuple[sym.FunctionSymbol, Types] | None:
        """`impl From<source> for target`"""
        found = self.impl(sym.TraitUse(bt.FROM, (plain(source),)), target)
        return None if found is None else (found[0].methods["from"], found[1])


def has_operator(trait: sym.TraitSymbol, type_: Type) -> bool:
    """Numbers have all operators, and texts `+`."""
    numbers = plain(type_) in (bt.INT, bt.FLOAT) and trait in bt.OPERATOR_TRAITS
    return numbers or (plain(type_) == bt.STRING and trait is bt.OPERATORS["+"])


def _has_order(type_: Type) -> bool:
    if isinstance(type_, TupleOf):
        return all(map(_has_order, type_.items))
    if isinstance(type_, Named) and type_.symbol is bt.ARRAY:
        return _has_order(type_.arguments[0])
    return type_ in (bt.INT, bt.FLOAT, bt.STRING, bt.BOOL)


def _has_identity(type_: Type) -> bool:
    match type_:
        case Named():
            return type_.symbol not in bt.HANDLES and all(map(_has_identity, type_.arguments))
        case TupleOf():
            return all(map(_has_identity, type_.items))
        case Literals():
            return True
        case _:
            return not isinstance(type_, FunctionOf)
