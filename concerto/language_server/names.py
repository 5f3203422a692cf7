"""Names and what they stand for: at a place, in a file, in all files that use a declaration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from concerto.language_server.programs import EditedProgram
from concerto.records import frozen
from concerto.resources import resource
from concerto.semantics.declare.library import library
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.symbols import (
    AgentSymbol,
    BuiltinSymbol,
    EnumSymbol,
    FunctionSymbol,
    ImplSymbol,
    McpSymbol,
    ModuleSymbol,
    Named,
    PipelineSymbol,
    StructSymbol,
    Symbol,
    SymbolBase,
    ToolSymbol,
    TraitSymbol,
)
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import path_to


@frozen
class Name:
    """A name in a file, and what it stands for."""

    source: Source
    place: ast.Ident
    symbol: Symbol


def name_at(program: EditedProgram, source: Source, offset: int) -> Name | None:
    """The name at a place, if it is known what it stands for."""
    program.check_at(source, offset)
    place = path_to(program.tree(source), offset)[-1]
    if not isinstance(place, ast.Ident):
        return None
    analysis = program.checked.analysis
    known = (analysis.names or {}).get(place)
    if known is not None:
        return Name(source, place, known[0])
    for name in declared_names(program.checked.declarations):
        if name.place is place:
            return name
    return None


def declared_names(declarations: Declarations) -> Iterator[Name]:
    """The names of all that a program declares outside of bodies, where they are declared."""
    analysis = declarations.analysis
    for module in analysis.modules:
        for symbol in module.members.values():
            yield from _declared(symbol)
    for impl in analysis.impls:
        yield from _declared_in(impl)


def _declared(symbol: Symbol) -> Iterator[Name]:
    place = place_of(symbol)
    if place is not None and isinstance(place[1], ast.Ident):
        yield Name(place[0], place[1], symbol)
    if not isinstance(symbol, ModuleSymbol):
        yield from _declared_in(symbol)


def _declared_in(symbol: SymbolBase) -> Iterator[Name]:
    inside: list[Iterable[Symbol]] = [getattr(symbol, "generics", ())]
    match symbol:
        case StructSymbol(positional=False):
            inside.append(symbol.fields)
        case EnumSymbol():
            inside.append(symbol.variants)
            inside += [variant.fields for variant in symbol.variants if variant.named]
        case ToolSymbol():
            inside += [symbol.state.fields, _own(symbol, symbol.methods.values())]
        case TraitSymbol() | McpSymbol() | ImplSymbol():
            inside.append(_own(symbol, symbol.methods.values()))
        case AgentSymbol():
            inside.append(symbol.methods.values())
        case FunctionSymbol() | PipelineSymbol():
            inside.append(symbol.parameters)
        case _:
            pass
    for symbols in inside:
        for each in symbols:
            yield from _declared(each)


def _own(owner: SymbolBase, methods: Iterable[FunctionSymbol]) -> list[FunctionSymbol]:
    """Without those that a trait provides."""
    return [method for method in methods if method.owner is owner]


def place_of(symbol: SymbolBase) -> tuple[Source, ast.Node] | None:
    """Where a symbol is declared: its name, if it has one there."""
    if isinstance(symbol, BuiltinSymbol):
        return _place_of_builtin(symbol)
    if isinstance(symbol, ModuleSymbol) and symbol.node is None and symbol.source is not None:
        return symbol.source, ast.Node(0, 0)
    if symbol.node is None or symbol.source is None:
        return None
    return symbol.source, getattr(symbol.node, "name", None) or symbol.node


def _place_of_builtin(symbol: BuiltinSymbol) -> tuple[Source, ast.Node] | None:
    """The first impl of the library for a built-in type."""
    for impl in library().declarations.analysis.impls:
        node, target = impl.node, impl.target
        if not (isinstance(target, Named) and target.symbol is symbol and impl.trait is None):
            continue
        if isinstance(node, ast.ImplDecl) and impl.source is not None:
            return impl.source, node.target
    return None


def file_of(source: Source) -> Path:
    """The file that a text was read from, the library's included."""
    if source.path.startswith("std/"):
        packed = Path(str(resource("stdlib"))) / source.path.removeprefix("std/")
        if packed.exists() and not Path(source.path).exists():
            return packed
    return Path(source.path).absolute()


def same_symbol(left: SymbolBase, right: SymbolBase) -> bool:
    """Whether two symbols are of one declaration: a parameter is a local in its body."""
    return left is right or (left.node is not None and left.node is right.node)


def names_of(program: EditedProgram, symbol: SymbolBase) -> Iterator[Name]:
    """All names in the checked files of a program that stand for a declaration, and that of itself."""
    analysis = program.checked.analysis
    seen: set[ast.Ident] = set()
    for place, (meant, source) in (analysis.names or {}).items():
        if same_symbol(meant, symbol) and _is_written(source, place):
            seen.add(place)
            yield Name(source, place, meant)
    for place, source in _short_fields(analysis, symbol):
        if place not in seen:
            seen.add(place)
            yield Name(source, place, symbol)  # type: ignore[arg-type]
    declared = place_of(symbol)
    if declared is not None and declared[0] in analysis.files:
        name = declared[1]
        if isinstance(name, ast.Ident) and name not in seen:
            yield Name(declared[0], name, symbol)  # type: ignore[arg-type]


def _short_fields(analysis: Analysis, symbol: SymbolBase) -> Iterator[tuple[ast.Ident, Source]]:
    """`P { x }` names a field and a variable at once; what the tables of names do not have of the two."""
    names = analysis.names or {}
    for init, used in analysis.uses.items():
        if isinstance(init, ast.FieldInit) and same_symbol(used, symbol) and init.name in names:
            yield init.name, names[init.name][1]
    for part, field in analysis.pattern_fields.items():
        if part.pattern is None and same_symbol(field, symbol) and part.name in names:
            yield part.name, names[part.name][1]


def meanings(program: EditedProgram) -> dict[tuple[str, int], tuple[str, int]]:
    """Where what each name of a checked program stands for is declared, by the places of the names. That of a
    short field is the variable."""
    analysis = program.checked.analysis
    names = analysis.names or {}
    short = {init.name: used for init, used in analysis.uses.items() if isinstance(init, ast.FieldInit)}
    found = {}
    for place, (symbol, source) in names.items():
        if _is_written(source, place):
            meant = short.get(place, symbol)
            declared = place_of(meant)
            told = (meant.name, 0) if declared is None else (declared[0].path, declared[1].start)
            found[source.path, place.start] = told
    return found


def _is_written(source: Source, place: ast.Ident) -> bool:
    return source.text[place.start : place.end] == place.text
