"""Names of symbols that mean the same in another compilation of the same declarations.

What is kept of a checked file refers to symbols by these names; what has none (a declaration inside of a
block, say) cannot be kept.
"""

from __future__ import annotations

import io
import pickle
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from concerto.semantics.declare.library import library
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.builtins import BUILTIN_TRAITS, BUILTIN_TYPES, ITERATOR_TRAIT
from concerto.semantics.model.symbols import (
    EnumSymbol,
    FunctionSymbol,
    GenericSymbol,
    ImplSymbol,
    ModuleSymbol,
    StructSymbol,
    SymbolBase,
    ToolSymbol,
    TraitSymbol,
)

SymbolName: TypeAlias = tuple[str | int, ...]


class NoName(Exception):
    """A symbol that no other compilation could find."""


class SymbolNames:
    """The names of all symbols of a program, in both directions, and values with symbols inside as bytes."""

    def __init__(self, analysis: Analysis) -> None:
        self._symbols: dict[SymbolName, SymbolBase] = {}
        self._names: dict[SymbolBase, SymbolName] = {}
        for name, symbol in _numbered(_named(analysis)):
            self._symbols[name] = symbol
            self._names.setdefault(symbol, name)

    def dump(self, value: object) -> bytes:
        """Raises `NoName`."""
        buffer = io.BytesIO()
        _Pickler(buffer, self._names).dump(value)
        return buffer.getvalue()

    def load(self, data: bytes) -> Any:
        """Raises `NoName`."""
        return _Unpickler(io.BytesIO(data), self._symbols).load()


class _Pickler(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, names: dict[SymbolBase, SymbolName]) -> None:
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self.names = names

    def persistent_id(self, value: object) -> SymbolName | None:
        if not isinstance(value, SymbolBase):
            return None
        name = self.names.get(value)
        if name is None:
            raise NoName(value.name)
        return name


class _Unpickler(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, symbols: dict[SymbolName, SymbolBase]) -> None:
        super().__init__(buffer)
        self.symbols = symbols

    def persistent_load(self, name: SymbolName) -> SymbolBase:
        symbol = self.symbols.get(name) or _of_library(name)
        if symbol is None:
            raise NoName(str(name))
        return symbol


def _of_library(name: SymbolName) -> SymbolBase | None:
    """What a module of the library declares that nothing has asked for yet."""
    module = library().module(str(name[1]).removeprefix("std::"))
    return dict(_numbered(_of_module(module))).get(name) if module is not None else None


def _numbered(named: Iterable[tuple[SymbolName, SymbolBase]]) -> Iterator[tuple[SymbolName, SymbolBase]]:
    """Several impls may give a type functions of one name."""
    counts: Counter[SymbolName] = Counter()
    for name, symbol in named:
        yield (*name, counts[name]), symbol
        counts[name] += 1


def _named(analysis: Analysis) -> Iterator[tuple[SymbolName, SymbolBase]]:
    for word, symbol in (BUILTIN_TYPES | BUILTIN_TRAITS).items():
        yield from _with_parts(("built in", word), symbol)
    yield from _with_parts(("built in", "trait", ITERATOR_TRAIT.name), ITERATOR_TRAIT)
    for module in (*library().declarations.modules.by_path.values(), *analysis.modules):
        yield from _of_module(module)
    for impl in (*library().declarations.analysis.impls, *analysis.impls):
        yield from _of_owner(("impl", impl.module, impl.qualified), impl)
    for function in analysis.functions:
        yield from _with_parts(("function", function.module, function.qualified), function)


def _of_module(module: ModuleSymbol) -> Iterator[tuple[SymbolName, SymbolBase]]:
    for word, symbol in module.members.items():
        yield from _with_parts(("member", module.path, word), symbol)


def _with_parts(name: SymbolName, symbol: SymbolBase) -> Iterator[tuple[SymbolName, SymbolBase]]:
    """A symbol and those that belong to it alone."""
    yield name, symbol
    match symbol:
        case EnumSymbol(variants=variants):
            yield from _generics(name, symbol)
            for variant in variants:
                yield (*name, variant.name), variant
        case ToolSymbol(state=state):
            yield (*name, "state"), state
            yield from _of_owner(name, symbol)
        case TraitSymbol() | ImplSymbol():
            yield from _of_owner(name, symbol)
        case StructSymbol() | FunctionSymbol():
            yield from _generics(name, symbol)
        case _:
            pass


def _of_owner(
    name: SymbolName, owner: ImplSymbol | TraitSymbol | ToolSymbol
) -> Iterator[tuple[SymbolName, SymbolBase]]:
    if not isinstance(owner, ToolSymbol):
        yield from _generics(name, owner)
    if isinstance(owner, TraitSymbol) and owner.self_generic is not None:
        yield (*name, "Self"), owner.self_generic
    if isinstance(owner, TraitSymbol) and owner.value_generic is not None:
        yield (*name, "value"), owner.value_generic
    if not isinstance(owner, TraitSymbol) and owner.witness is not None:
        yield (*name, "witness"), owner.witness
    if isinstance(owner, ImplSymbol):
        for constant in owner.constants.values():
            yield (*name, "constant", constant.name), constant
    for method in owner.methods.values():
        yield from _with_parts((*name, "method", method.name), method)


def _generics(
    name: SymbolName, owner: StructSymbol | EnumSymbol | FunctionSymbol | TraitSymbol | ImplSymbol
) -> Iterator[tuple[SymbolName, GenericSymbol]]:
    for generic in owner.generics:
        yield (*name, "generic", generic.name), generic
