"""Semantic tokens and inlay hints: names coloured by what they stand for, and types that are not written."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol.types import InlayHint, InlayHintKind, Range, SemanticTokens, SemanticTokensLegend

from concerto.language_server.names import declared_names
from concerto.language_server.positions import offset_at, position_at
from concerto.language_server.programs import EditedProgram
from concerto.semantics.model.analysis import MatchBinding
from concerto.semantics.model.symbols import (
    AgentSymbol,
    AliasSymbol,
    BuiltinSymbol,
    ConnectionSymbol,
    ConstSymbol,
    EnumSymbol,
    ErrorType,
    FieldSymbol,
    FunctionSymbol,
    GenericSymbol,
    HostSymbol,
    LocalSymbol,
    McpSymbol,
    ModuleSymbol,
    ParameterSymbol,
    PipelineSymbol,
    StateSymbol,
    StructSymbol,
    Symbol,
    ToolSymbol,
    TraitSymbol,
    Type,
    VariantSymbol,
)
from concerto.semantics.typing.unify import show
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import walk

_TYPES: dict[type, str] = {
    ModuleSymbol: "namespace",
    BuiltinSymbol: "type",
    StructSymbol: "struct",
    EnumSymbol: "enum",
    AliasSymbol: "type",
    TraitSymbol: "interface",
    GenericSymbol: "typeParameter",
    ToolSymbol: "class",
    McpSymbol: "class",
    AgentSymbol: "class",
    HostSymbol: "class",
    PipelineSymbol: "class",
    ConnectionSymbol: "variable",
    StateSymbol: "variable",
    ConstSymbol: "variable",
    LocalSymbol: "variable",
    ParameterSymbol: "parameter",
    FieldSymbol: "property",
    VariantSymbol: "enumMember",
    FunctionSymbol: "function",
}
_KINDS = [*dict.fromkeys([*_TYPES.values(), "method"])]
_MODIFIERS = ["declaration", "readonly", "defaultLibrary"]
LEGEND = SemanticTokensLegend(_KINDS, _MODIFIERS)
_LONGEST_TYPE = 60


def semantic_tokens(program: EditedProgram, source: Source) -> SemanticTokens:
    """All names of a document that stand for something."""
    program.check(source)
    found: dict[int, tuple[ast.Ident, int, int]] = {}
    for place, (symbol, home) in (program.checked.analysis.names or {}).items():
        if home is source and source.text[place.start : place.end] == place.text:
            declared = isinstance(symbol, LocalSymbol) and getattr(symbol.node, "name", None) is place
            found[place.start] = (place, _kind(symbol), _modifiers(symbol, declared=declared))
    for name in declared_names(program.checked.declarations):
        if name.source is source:
            found[name.place.start] = (
                name.place,
                _kind(name.symbol),
                _modifiers(name.symbol, declared=True),
            )
    data: list[int] = []
    line = column = 0
    for start in sorted(found):
        place, kind, modifiers = found[start]
        at = position_at(source, start)
        step = at.character - column if at.line == line else at.character
        data += [at.line - line, step, place.end - place.start, kind, modifiers]
        line, column = at.line, at.character
    return SemanticTokens(data)


def _kind(symbol: Symbol) -> int:
    kind = _TYPES[type(symbol)]
    if isinstance(symbol, FunctionSymbol) and symbol.owner is not None:
        kind = "method"
    if isinstance(symbol, LocalSymbol) and symbol.role in ("parameter", "self"):
        kind = "parameter"
    return _KINDS.index(kind)


def _modifiers(symbol: Symbol, *, declared: bool) -> int:
    fixed = isinstance(symbol, ConstSymbol) or (isinstance(symbol, LocalSymbol) and not symbol.mutable)
    of_library = symbol.node is None or symbol.module.startswith("std::")
    return declared + 2 * fixed + 4 * (of_library and not isinstance(symbol, LocalSymbol))


def inlay_hints(program: EditedProgram, source: Source, part: Range) -> list[InlayHint]:
    """The types of variables and of parameters of closures that are not written."""
    program.check(source)
    start, end = offset_at(source, part.start), offset_at(source, part.end)
    hints = []
    for place, type_ in _untyped(program, program.tree(source)):
        shown = show(type_)
        if start <= place.end <= end and not isinstance(type_, ErrorType) and len(shown) <= _LONGEST_TYPE:
            hints.append(InlayHint(position_at(source, place.end), f": {shown}", InlayHintKind.Type))
    return hints


def _untyped(program: EditedProgram, tree: ast.Module) -> Iterator[tuple[ast.Ident, Type]]:
    analysis = program.checked.analysis
    names = analysis.names or {}
    for node in walk(tree):
        match node:
            case ast.Let(type=None, value=value) if not isinstance(value, ast.StructLit | ast.Closure):
                patterns: list[ast.Node] = [node.pattern]
            case ast.For() | ast.ParallelFor():
                patterns = [node.pattern]
            case ast.Closure():
                for parameter in node.parameters:
                    known = names.get(parameter.name)
                    if parameter.type is None and parameter.pattern is None and known is not None:
                        yield parameter.name, getattr(known[0], "type", ErrorType())
                continue
            case _:
                continue
        for pattern in patterns:
            for each in walk(pattern):
                target = analysis.patterns.get(each)
                if isinstance(each, ast.BindPattern) and isinstance(target, MatchBinding):
                    yield each.name, target.local.type
