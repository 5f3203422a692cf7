"""Struct literals and struct-like variants."""

from __future__ import annotations

from types import NoneType
from typing import Final

from concerto.emit.function import VALUES, FunctionBuilder, value_of
from concerto.semantics.model.symbols import FieldSymbol, StructSymbol, VariantSymbol
from concerto.syntax import ast


@value_of(ast.StructLit)
def struct(b: FunctionBuilder, node: ast.StructLit) -> None:
    """Fields are evaluated as written, then the base; then they stand in declared order."""
    symbol = b.uses[node.path]
    assert isinstance(symbol, StructSymbol | VariantSymbol)
    written = {init.name.text: init for init in node.fields}
    places = {} if _in_any_order(symbol.fields, node) else _evaluate(b, node.fields)
    base = None
    if node.base is not None:
        b.value(node.base)
        base = b.spill()
    for field in symbol.fields:
        init = written.get(field.name)
        if init is None:
            _left_out(b, field, base)
        elif field.name in places:
            b.load(places[field.name])
        else:
            b.value(init)
    b.emit(b.program.build(symbol))


def _in_any_order(fields: list[FieldSymbol], node: ast.StructLit) -> bool:
    """May the base be evaluated first, and the fields in declared order, without a difference?"""
    if all(isinstance(init.value, _SIMPLE) for init in node.fields):
        return isinstance(node.base, NoneType | ast.Path)
    order = {field.name: field.index for field in fields}
    indices = [order[init.name.text] for init in node.fields]
    return node.base is None and indices == sorted(indices)


_SIMPLE: Final = (NoneType, ast.Path, ast.IntLit, ast.FloatLit, ast.StringLit, ast.BoolLit)
"""Values that nothing can change while the others are evaluated."""


def _evaluate(b: FunctionBuilder, written: list[ast.FieldInit]) -> dict[str, int]:
    places: dict[str, int] = {}
    for init in written:
        b.value(init)
        places[init.name.text] = b.spill()
    return places


@value_of(ast.FieldInit)
def field_value(b: FunctionBuilder, init: ast.FieldInit) -> None:
    """The value of a written field; a short one is a path."""
    if init.value is not None:
        b.value(init.value)
    else:
        VALUES[ast.Path](b, init)


def _left_out(b: FunctionBuilder, field: FieldSymbol, base: int | None) -> None:
    if base is not None:
        b.load(base)
        b.emit(("GET_FIELD", field.index))
    else:
        b.default(field.default, field.type)
