"""Document symbols, folding and code lenses: a document's symbols, what can be folded, what can be run; and
symbols by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol.types import (
    CodeLens,
    Command,
    DocumentSymbol,
    FoldingRange,
    FoldingRangeKind,
    Location,
    SymbolKind,
    WorkspaceSymbol,
)

from concerto.language_server.documents import Documents
from concerto.language_server.names import declared_names, file_of
from concerto.language_server.positions import position_at, range_of
from concerto.language_server.programs import EditedProgram
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.unparse import unparse
from concerto.syntax.walk import walk

_KINDS: dict[type[ast.Node], SymbolKind] = {
    ast.FnDecl: SymbolKind.Function,
    ast.StructDecl: SymbolKind.Struct,
    ast.SchemaDecl: SymbolKind.Struct,
    ast.EnumDecl: SymbolKind.Enum,
    ast.VariantDecl: SymbolKind.EnumMember,
    ast.TraitDecl: SymbolKind.Interface,
    ast.ImplDecl: SymbolKind.Class,
    ast.ConstDecl: SymbolKind.Constant,
    ast.TypeAliasDecl: SymbolKind.Class,
    ast.ModDecl: SymbolKind.Module,
    ast.ToolDecl: SymbolKind.Class,
    ast.McpDecl: SymbolKind.Class,
    ast.AgentDecl: SymbolKind.Object,
    ast.ConnectDecl: SymbolKind.Object,
    ast.PipelineDecl: SymbolKind.Module,
    ast.StageDecl: SymbolKind.Function,
    ast.StateDecl: SymbolKind.Variable,
    ast.FieldDecl: SymbolKind.Field,
    ast.Setting: SymbolKind.Property,
}
_MOST_SYMBOLS = 500
_FOLDED = (
    ast.Block, ast.Match, ast.ArrayLit, ast.MapLit, ast.StructLit, ast.StructDecl, ast.SchemaDecl,
    ast.EnumDecl, ast.TraitDecl, ast.ImplDecl, ast.ToolDecl, ast.McpDecl, ast.AgentDecl, ast.ConnectDecl,
    ast.PipelineDecl, ast.ModDecl, ast.Listen,
)  # fmt: skip


def document_symbols(program: EditedProgram, source: Source) -> list[DocumentSymbol]:
    return [found for item in program.tree(source).items for found in _symbols(source, item)]


def _symbols(source: Source, node: ast.Node) -> Iterator[DocumentSymbol]:
    kind = _KINDS.get(type(node))
    if kind is None:
        return
    place: ast.Node = node.target if isinstance(node, ast.ImplDecl) else node.name  # type: ignore[attr-defined]
    name = source.text[place.start : place.end]
    if isinstance(node, ast.ImplDecl):
        of_trait = f"{unparse(node.trait)} for " if node.trait is not None else ""
        name = f"impl {of_trait}{unparse(node.target)}"
    inside = [found for child in _members(node) for found in _symbols(source, child)]
    yield DocumentSymbol(
        name or "…",
        SymbolKind.Method if kind is SymbolKind.Function and _has_self(node) else kind,
        range_of(source, min(node.start, place.start), max(node.end, place.end)),
        range_of(source, place.start, place.end),
        children=inside or None,
    )


def _has_self(node: ast.Node) -> bool:
    return isinstance(node, ast.FnDecl) and any(each.name.text == "self" for each in node.parameters)


def _members(node: ast.Node) -> Iterable[ast.Node]:
    match node:
        case ast.StructDecl() | ast.SchemaDecl():
            return node.fields
        case ast.EnumDecl():
            return node.variants
        case ast.ImplDecl():
            return [*node.constants, *node.methods]
        case ast.TraitDecl():
            return node.methods
        case ast.ToolDecl():
            return [*node.settings, *node.fields, *node.methods]
        case ast.McpDecl():
            return [*node.settings, *node.functions]
        case ast.AgentDecl() | ast.ConnectDecl():
            return node.settings
        case ast.PipelineDecl():
            return node.stages
        case ast.ModDecl():
            return node.items or ()
        case _:
            return ()


def workspace_symbols(
    documents: Documents, programs: Iterable[EditedProgram], query: str
) -> list[WorkspaceSymbol]:
    """What programs declare whose name has the letters of the query, in this order."""
    found: dict[tuple[str, int], WorkspaceSymbol] = {}
    for program in programs:
        for name in declared_names(program.checked.declarations):
            kind = _KINDS.get(type(name.symbol.node)) if name.symbol.node is not None else None
            if kind is None or kind is SymbolKind.Field or not _matches(query, name.symbol.name):
                continue
            place = Location(
                documents.uri_of(file_of(name.source)),
                range_of(name.source, name.place.start, name.place.end),
            )
            found.setdefault(
                (name.source.path, name.place.start),
                WorkspaceSymbol(place, name.symbol.name, kind, container_name=name.symbol.module or None),
            )
            if len(found) >= _MOST_SYMBOLS:
                return list(found.values())
    return list(found.values())


def _matches(query: str, name: str) -> bool:
    letters = iter(name.casefold())
    return all(letter in letters for letter in query.casefold())


def folding_ranges(program: EditedProgram, source: Source) -> list[FoldingRange]:
    """Blocks, declarations and literals of several lines, and comments one below the other."""
    tree = program.tree(source)
    found: dict[int, FoldingRange] = {}
    for node in walk(tree):
        if isinstance(node, _FOLDED):
            opened = node.start
            if not isinstance(node, ast.Block | ast.ArrayLit | ast.MapLit):
                opened = max(source.text.find("{", node.start, node.end), node.start)
            first, last = position_at(source, opened).line, position_at(source, node.end).line - 1
            if last > first:
                found.setdefault(first, FoldingRange(first, last))
    for first, last in _comment_blocks(source, tree.comments):
        found.setdefault(first, FoldingRange(first, last, kind=FoldingRangeKind.Comment))
    return [found[line] for line in sorted(found)]


def _comment_blocks(source: Source, comments: Iterable[ast.Comment]) -> Iterator[tuple[int, int]]:
    first = last = -2
    for comment in comments:
        start, end = (source.line_column(place)[0] - 1 for place in (comment.start, comment.end))
        if start != last + 1:
            if last > first >= 0:
                yield first, last
            first = start
        last = end
    if last > first >= 0:
        yield first, last


def code_lenses(program: EditedProgram, source: Source) -> list[CodeLens]:
    """What can be run: `main`, and the tests. An editor has a command for each of the two, which gets the
    file and the test's name."""
    file = str(file_of(source))
    found = []
    for item in program.tree(source).items:
        if not isinstance(item, ast.FnDecl):
            continue
        place = range_of(source, item.name.start, item.name.end)
        title = _title_of_test(item)
        if title is not None:
            found.append(CodeLens(place, Command("Run test", "concerto.test", arguments=[file, title])))
        elif item.name.text == "main" and not item.parameters:
            found.append(CodeLens(place, Command("Run", "concerto.run", arguments=[file])))
    return found


def _title_of_test(function: ast.FnDecl) -> str | None:
    for decorator in function.decorators:
        if decorator.name.text == "test":
            match decorator.arguments:
                case [ast.Argument(value=ast.StringLit(value=title))]:
                    return title
                case _:
                    return function.name.text
    return None
