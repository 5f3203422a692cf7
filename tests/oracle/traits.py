"""Which impl serves a type: looked up while the program runs, by the type with its arguments."""

from __future__ import annotations

from collections.abc import Iterable

from concerto.semantics.model.builtins import (
    ARRAY,
    BOOL,
    FLOAT,
    FROM,
    HANDLES,
    HASH,
    INT,
    NUMBER,
    ORD,
    STRING,
)
from concerto.semantics.model.symbols import FunctionSymbol, ImplSymbol, TraitSymbol, TraitUse
from concerto.semantics.model.types import FunctionOf, Literals, Named, TupleOf, Type
from tests.oracle.types import Types, bind, plain, substitute


class Traits:
    """The impls of one program."""

    def __init__(self, impls: Iterable[ImplSymbol]) -> None:
        self._of: dict[TraitSymbol, list[ImplSymbol]] = {}
        for impl in impls:
            if impl.trait is not None:
                self._of.setdefault(impl.trait.trait, []).append(impl)

    def method(self, use: TraitUse, type_: Type, name: str) -> tuple[FunctionSymbol, Types] | None:
        """The trait's method for that very type, and what the generics around it stand for."""
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

    def impl(self, use: TraitUse, type_: Type) -> tuple[ImplSymbol, Types] | None:
        """Without arguments in `use`, those of the trait are not looked at."""
        type_ = plain(type_)
        for impl in self._of.get(use.trait, ()):
            types: Types = {}
            generics = set(impl.generics)
            assert impl.trait is not None
            pairs = zip(impl.trait.arguments, use.arguments, strict=False)
            if not bind(impl.target, type_, generics, types):
                continue
            if all(bind(own, wanted, generics, types) for own, wanted in pairs) and self._bounds_hold(
                impl, types
            ):
                return impl, types
        return None

    def _bounds_hold(self, impl: ImplSymbol, types: Types) -> bool:
        return all(
            self.satisfies(types[generic], bound, types)
            for generic in impl.generics
            if generic in types
            for bound in generic.bounds
        )

    def satisfies(self, type_: Type, bound: TraitUse, types: Types) -> bool:
        if bound.trait is NUMBER:
            return plain(type_) in (INT, FLOAT)
        if bound.trait is ORD:
            return _has_order(plain(type_))
        if bound.trait is HASH:
            return _has_identity(type_)
        arguments = tuple(substitute(argument, types) for argument in bound.arguments)
        return self.impl(TraitUse(bound.trait, arguments), type_) is not None

    def conversion(self, source: Type, target: Type) -> tuple[FunctionSymbol, Types] | None:
        """`impl From<source> for target`"""
        found = self.impl(TraitUse(FROM, (plain(source),)), target)
        return None if found is None else (found[0].methods["from"], found[1])


def _has_order(type_: Type) -> bool:
    if isinstance(type_, TupleOf):
        return all(map(_has_order, type_.items))
    if isinstance(type_, Named) and type_.symbol is ARRAY:
        return _has_order(type_.arguments[0])
    return type_ in (INT, FLOAT, STRING, BOOL)


def _has_identity(type_: Type) -> bool:
    match type_:
        case Named():
            return type_.symbol not in HANDLES and all(map(_has_identity, type_.arguments))
        case TupleOf():
            return all(map(_has_identity, type_.items))
        case Literals():
            return True
        case _:
            return not isinstance(type_, FunctionOf)
