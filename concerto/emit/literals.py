"""Literals, constants and the values that are built from parts."""

from __future__ import annotations

from concerto.emit.function import FunctionBuilder, effect_of, value_of
from concerto.emit.instructions import (
    BUILD_SOME,
    LOAD_FALSE,
    LOAD_NIL,
    LOAD_NONE,
    LOAD_TRUE,
    TO_STRING,
)
from concerto.semantics.model.builtins import BOOL, FLOAT, INT, STRING, array_item, map_parts, option_item
from concerto.semantics.model.symbols import TupleOf, Type
from concerto.semantics.typing.constant_evaluator import Constructed, Optional
from concerto.syntax import ast

_PLAIN: dict[Type, str] = {INT: "i", FLOAT: "f", BOOL: "?", STRING: "s"}
"""Types whose texts nobody else has a say in, and their letters in a FORMAT."""


@value_of(ast.IntLit, ast.StringLit, ast.FloatLit)
def literal(b: FunctionBuilder, node: ast.IntLit | ast.StringLit | ast.FloatLit) -> None:
    b.constant(node.value)


@value_of(ast.BoolLit)
def bool_literal(b: FunctionBuilder, node: ast.BoolLit) -> None:
    b.emit(LOAD_TRUE if node.value else LOAD_FALSE)


@value_of(ast.NilLit)
def nil_literal(b: FunctionBuilder, node: ast.NilLit) -> None:
    b.emit(LOAD_NIL)


@effect_of(ast.NilLit, ast.BoolLit, ast.IntLit, ast.FloatLit, ast.StringLit)
def unused_literal(b: FunctionBuilder, node: ast.Expr) -> None:
    """A literal for nothing does nothing."""


def constant(b: FunctionBuilder, value: object, type_: Type | None) -> None:
    """Push the value of a `const`."""
    match value:
        case None:
            b.emit(LOAD_NIL)
        case Optional(held=()):
            b.emit(LOAD_NONE)
        case Optional(held=(held,)):
            constant(b, held, None if type_ is None else option_item(type_))
            b.emit(BUILD_SOME)
        case bool():
            b.emit(LOAD_TRUE if value else LOAD_FALSE)
        case int():
            b.constant(float(value) if type_ == FLOAT else value)
        case float() | str():
            b.constant(value)
        case list() | tuple():
            _constant_items(b, value, type_)
        case dict():
            parts = map_parts(type_) if type_ is not None else None
            key_type, value_type = parts if parts is not None else (None, None)
            for key, entry in value.items():
                constant(b, key, key_type)
                constant(b, entry, value_type)
            b.emit(("BUILD_MAP", len(value)))
        case Constructed(made=made, values=values):
            for part, field in zip(values, made.fields, strict=True):
                constant(b, part, field.type)
            b.emit(b.program.build(made))
        case _:
            raise AssertionError(f"a constant cannot be {value!r}")


def _constant_items(b: FunctionBuilder, items: list[object] | tuple[object, ...], type_: Type | None) -> None:
    if isinstance(type_, TupleOf):
        for item, item_type in zip(items, type_.items, strict=True):
            constant(b, item, item_type)
        b.emit(("BUILD_TUPLE", len(items)))
        return
    element = None if type_ is None else array_item(type_)
    for item in items:
        constant(b, item, element)
    b.emit(("BUILD_ARRAY", len(items)))


@value_of(ast.Interpolation)
def interpolation(b: FunctionBuilder, node: ast.Interpolation) -> None:
    """The text of each part is made before the next part is evaluated: `Display` may do anything."""
    silent = [isinstance(part, str | ast.Path) for part in node.parts]
    kinds = ""
    for number, part in enumerate(node.parts, 1):
        if isinstance(part, str):
            b.constant(part)
            kinds += "s"
            continue
        b.value(part)
        kind = _PLAIN.get(b.types[part], "")
        if not kind and not all(silent[number:]):
            b.mark(part)
            b.emit(TO_STRING)
            kind = "s"
        kinds += kind or "?"
    b.mark(node)
    b.emit(("FORMAT", len(node.parts), kinds))


@value_of(ast.Formatted)
def formatted(b: FunctionBuilder, node: ast.Formatted) -> None:
    b.value(node.value)
    b.mark(node)
    b.emit(("FORMAT_AS", node.format, _PLAIN.get(b.types[node.value], "?")))


@value_of(ast.ArrayLit)
def array(b: FunctionBuilder, node: ast.ArrayLit) -> None:
    for item in node.items:
        b.value(item)
    b.emit(("BUILD_ARRAY", len(node.items)))


@value_of(ast.TupleLit)
def tuple_of_items(b: FunctionBuilder, node: ast.TupleLit) -> None:
    for item in node.items:
        b.value(item)
    b.emit(("BUILD_TUPLE", len(node.items)))


@value_of(ast.MapLit)
def map_of_entries(b: FunctionBuilder, node: ast.MapLit) -> None:
    for entry in node.entries:
        b.value(entry.key)
        b.value(entry.value)
    b.emit(("BUILD_MAP", len(node.entries)))


@value_of(ast.RangeExpr)
def range_value(b: FunctionBuilder, node: ast.RangeExpr) -> None:
    assert node.low is not None and node.high is not None, "an open range stands only in an index"
    b.value(node.low)
    b.value(node.high)
    b.emit(("BUILD_RANGE", int(node.inclusive)))
