"""What a variable or the value of a call is a copy of, and what to write to change that instead."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from concerto.records import frozen
from concerto.semantics.model.builtins import (
    BOOL,
    FLOAT,
    HASH_MAP,
    INT,
    STRING,
    array_item,
    map_parts,
    result_parts,
)
from concerto.semantics.model.symbols import ERROR, LocalSymbol, Named, Type
from concerto.semantics.typing.coercion import widened
from concerto.semantics.typing.mismatches import quote
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import path_to, walk

_Types: TypeAlias = Mapping[ast.Node, Type]

WITHOUT_PARTS = (INT, FLOAT, STRING, BOOL)
"""Types whose values are only replaced."""


@frozen
class Copy:
    """`of` is where the value is, `read` by this; `advice` is how it is changed there. `put_back`: by
    assigning the copy."""

    read: ast.Expr
    of: str
    advice: str
    put_back: bool = False


def copied_from(local: LocalSymbol, types: _Types) -> Copy | None:
    """What a variable of a pattern, or of a `let`, is a copy of; None if nothing else has its value."""
    if local.source is None or local.node is None or local.function is None:
        return None
    around = path_to(local.function, local.node.start)
    for outer, node in zip(reversed(around[:-1]), reversed(around[1:]), strict=True):
        match node, outer:
            case ast.For(), _:
                return _of_loop(local, node, types)
            case (ast.If() | ast.While(), _) if node.pattern is not None:
                return _of_pattern(local, node.pattern, node.condition, types)
            case ast.LetCondition(), _:
                return _of_pattern(local, node.pattern, node.value, types)
            case ast.MatchArm(), ast.Match():
                return _of_pattern(local, node.pattern, outer.subject, types)
            case ast.Let(value=value), _ if value is not None:
                return _of_pattern(local, node.pattern, value, types)
            case ((ast.Closure() | ast.ParallelFor() | ast.Catch() | ast.Block()), _):
                return None
            case _:
                pass
    return None


def place_of(value: ast.Expr, source: Source, types: _Types) -> str:
    """The place of which an expression gives a copy, as `xs[0]` for `xs.first()?`; empty if there is none."""
    value = _without_unwrapping(value)
    if _is_place(value):
        return quote(source, value)
    match value:
        case ast.MethodCall(method=ast.Ident(text=name), arguments=arguments):
            holder = value.receiver
        case ast.Index(receiver=ast.MethodCall(receiver=holder, method=ast.Ident(text="values"))):
            name, arguments = "values", []
        case _:
            return ""
    if not _is_place(holder):
        return ""
    found, place = widened(types.get(holder, ERROR)), quote(source, holder)
    is_array, is_map = array_item(found) is not None, map_parts(found) is not None
    match name:
        case "first" if is_array:
            return f"{place}[0]"
        case "last" if is_array:
            return f"{place}[{place}.len() - 1]"
        case "get" if (is_array or is_map) and len(arguments) == 1:
            return f"{place}[{quote(source, arguments[0].value)}]"
        case "values" if is_map and isinstance(value, ast.Index):
            return f"{place}[key]"
        case _:
            return ""


def put_back(value: ast.Expr, name: str, source: Source, types: _Types) -> str:
    """The statement that puts `name` where a value was read from; empty if that is no place."""
    inside = _without_unwrapping(value)
    match inside:
        case ast.MethodCall(receiver=holder, method=ast.Ident(text="get"), arguments=[key]):
            found = widened(types.get(holder, ERROR))
            if isinstance(found, Named) and found.symbol is HASH_MAP:
                return f"{quote(source, holder)}.set({quote(source, key.value)}, {name});"
        case _:
            pass
    if inside is not value and _is_place(inside):
        name = f"{'Some' if result_parts(widened(types.get(inside, ERROR))) is None else 'Ok'}({name})"
    place = place_of(value, source, types)
    return f"{place} = {name};" if place else ""


def _of_loop(local: LocalSymbol, loop: ast.For, types: _Types) -> Copy | None:
    assert local.source is not None
    gone_through, pattern = loop.iterable, loop.pattern
    method = ""
    if isinstance(gone_through, ast.MethodCall) and not gone_through.arguments:
        method, gone_through = gone_through.method.text, gone_through.receiver
    if not _is_place(gone_through) or method not in ("", "iter", "enumerate", "entries", "values"):
        return None
    place, holder = quote(local.source, gone_through), widened(types.get(gone_through, ERROR))
    first = pattern.items[0] if isinstance(pattern, ast.TuplePattern) and pattern.items else None
    name = first.name.text if isinstance(first, ast.BindPattern) and first.pattern is None else ""
    change = " = …" if widened(local.type) in WITHOUT_PARTS else ".…"
    if map_parts(holder) is not None:
        if method == "values" or not name:
            words = f"go through the keys: `for key in {place}.keys() {{ {place}[key]{change} }}`"
            return Copy(loop.iterable, place, words)
        words = f"change it where it is: `{place}[{name}]{change}`"
        return Copy(loop.iterable, place, words) if name != local.name else None
    if array_item(holder) is None or method in ("entries", "values"):
        return None
    if method == "enumerate":
        return Copy(loop.iterable, place, f"change it where it is: `{place}[{name or 'index'}]{change}`")
    words = f"go through the indices: `for i in 0..{place}.len() {{ {place}[i]{change} }}`"
    return Copy(loop.iterable, place, words)


def _of_pattern(local: LocalSymbol, pattern: ast.Pattern, value: ast.Expr, types: _Types) -> Copy | None:
    source, node = local.source, local.node
    assert source is not None and node is not None
    if isinstance(pattern, ast.TuplePattern) and isinstance(value, ast.TupleLit):
        for part, item in zip(pattern.items, value.items, strict=False):
            if part.start <= node.start < part.end:
                return _of_pattern(local, part, item, types)
    place = place_of(value, source, types)
    if _is_place(value):
        again = _as_value(pattern, source)
        advice = f"put it back: `{place} = {again};`" if again else f"put it back into `{place}`"
        return Copy(value, place, advice, put_back=True)
    back = put_back(value, local.name, source, types)
    is_item = isinstance(pattern, ast.VariantPattern) and pattern.arguments == [node]
    if place and is_item:
        change = " = …" if widened(local.type) in WITHOUT_PARTS else ".…"
        return Copy(value, place, f"change it where it is: `{place}{change}`")
    if back and (is_item or pattern is node):
        return Copy(value, place or quote(source, value), f"put it back: `{back}`", put_back=True)
    return None


def _as_value(pattern: ast.Pattern, source: Source) -> str:
    """The expression that makes the value that a pattern takes apart; empty if a part of it has no name."""
    for node in walk(pattern):
        match node:
            case ast.BindPattern(pattern=None) | ast.StructPattern(rest=False):
                pass
            case ast.VariantPattern() | ast.TuplePattern() | ast.ArrayPattern() | ast.FieldPattern():
                pass
            case ast.Path() | ast.PathSegment() | ast.Ident():
                pass
            case _:
                return ""
    text = re.sub(r"\bmut\s+", "", source.text[pattern.start : pattern.end])
    return text if len(text) <= 40 and "\n" not in text else ""


def _is_place(value: ast.Expr) -> bool:
    while isinstance(value, ast.FieldAccess | ast.Index):
        if isinstance(value, ast.Index) and isinstance(value.index, ast.RangeExpr):
            return False
        value = value.receiver
    # Constants have names in capitals.
    return isinstance(value, ast.Path) and len(value.segments) == 1 and not value.name[0].isupper()


_UNWRAPPING = frozenset({"unwrap", "expect", "unwrap_or", "unwrap_or_else"})


def _without_unwrapping(value: ast.Expr) -> ast.Expr:
    while True:
        match value:
            case ast.MethodCall(receiver=inside, method=ast.Ident(text=name)) if name in _UNWRAPPING:
                value = inside
            case ast.Try(operand=inside) | ast.Binary(op="??", left=inside):
                value = inside
            case _:
                return value
