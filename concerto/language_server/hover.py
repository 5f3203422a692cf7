"""Hover: what a name is, its type and its documentation, and what a model is told of a tool."""

from __future__ import annotations

import json
from functools import lru_cache

from lsprotocol.types import Hover, MarkupContent, MarkupKind

from concerto.language_server.names import Name, name_at
from concerto.language_server.positions import range_of
from concerto.language_server.programs import EditedProgram
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.symbols import (
    BuiltinSymbol,
    ConstSymbol,
    FieldSymbol,
    FunctionSymbol,
    GenericSymbol,
    LocalSymbol,
    McpSymbol,
    ModuleSymbol,
    ParameterSymbol,
    Symbol,
    ToolSymbol,
    Type,
    VariantSymbol,
)
from concerto.semantics.typing.traits import show_bound
from concerto.semantics.typing.unify import show
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.unparse import signature
from concerto.syntax.walk import path_to

_MOST_LINES = 40


def hover(program: EditedProgram, source: Source, offset: int) -> Hover | None:
    """What is known of the name or the expression at a place."""
    name = name_at(program, source, offset)
    if name is not None:
        return _shown(source, name.place, describe(program.checked.analysis, name))
    for node in reversed(path_to(program.tree(source), offset)):
        found = program.checked.analysis.types.get(node)
        if found is not None and not isinstance(node, ast.Block):
            return _shown(source, node, _code(show(found)))
    return None


def describe(analysis: Analysis, name: Name) -> str:
    """A name as Markdown."""
    symbol = name.symbol
    parts = [_code(declaration_of(symbol))]
    if symbol.docs:
        parts.append(symbol.docs.strip())
    if isinstance(symbol, ParameterSymbol) and symbol.description:
        parts.append(symbol.description)
    match symbol:
        case FunctionSymbol(owner=ToolSymbol() | McpSymbol() as owner) if symbol.description:
            from concerto.emit.declarative.schemas import tool_schema

            schema = json.dumps(tool_schema(analysis, owner.name, symbol), indent=2, ensure_ascii=False)
            parts += ["A model is told:", _code(schema, "json")]
        case _:
            pass
    return "\n\n".join(parts)


def declaration_of(symbol: Symbol) -> str:
    """A declaration as it is written, without bodies; a variable with its type."""
    match symbol:
        case LocalSymbol():
            word = "let mut " if symbol.mutable else "let "
            return f"{'' if symbol.role in ('parameter', 'self') else word}{typed(symbol.name, symbol.type)}"
        case ParameterSymbol() | FieldSymbol():
            return typed(symbol.name, symbol.type)
        case ConstSymbol():
            return f"const {typed(symbol.name, symbol.type)}"
        case GenericSymbol():
            bounds = " + ".join(map(show_bound, symbol.bounds))
            return f"{symbol.name}: {bounds}" if bounds else symbol.name
        case VariantSymbol():
            return f"{symbol.enum.name}::{symbol.name}{_payload(symbol)}"
        case ModuleSymbol():
            return f"mod {symbol.path or symbol.name}"
        case BuiltinSymbol():
            return f"type {symbol.name}"
        case FunctionSymbol() if symbol.decl is None:
            return f"fn {symbol.name}"
        case _ if symbol.node is not None and hasattr(symbol.node, "decorators"):
            return _signature(symbol.node)
        case _:
            return symbol.name


def typed(name: str, type_: Type) -> str:
    return f"{name}: {show(type_)}"


def _payload(variant: VariantSymbol) -> str:
    if variant.named:
        return f" {{ {', '.join(typed(field.name, field.type) for field in variant.fields)} }}"
    types = ", ".join(show(field.type) for field in variant.fields)
    return f"({types})" if types else ""


@lru_cache(2000)
def _signature(node: ast.Node) -> str:
    """A completion shows those of all names in sight."""
    text = signature(node)  # type: ignore[arg-type]
    lines = text.splitlines()
    return text if len(lines) <= _MOST_LINES else "\n".join([*lines[:_MOST_LINES], "…"])


def _code(text: str, language: str = "concerto") -> str:
    return f"```{language}\n{text}\n```"


def _shown(source: Source, node: ast.Node, text: str) -> Hover:
    return Hover(MarkupContent(MarkupKind.Markdown, text), range_of(source, node.start, node.end))
