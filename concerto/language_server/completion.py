"""Completion: what may stand where the author is writing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from lsprotocol.types import CompletionItem, CompletionItemKind, CompletionList, TextEdit

from concerto.language_server.completing_declarations import complete_in_declaration
from concerto.language_server.hover import declaration_of
from concerto.language_server.positions import range_of
from concerto.language_server.programs import EditedProgram, Programs
from concerto.language_server.suggestion import Suggestion, suggest_symbol
from concerto.language_server.trial import Trial, Tried, trial_at, try_it, try_program
from concerto.semantics.model.builtins import BOOL, OPTION, RESULT
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.hole import Hole
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import (
    AgentSymbol,
    AliasSymbol,
    BuiltinSymbol,
    ConstSymbol,
    EnumSymbol,
    GenericSymbol,
    McpSymbol,
    ModuleSymbol,
    Named,
    PipelineSymbol,
    StructSymbol,
    Symbol,
    ToolSymbol,
    TraitSymbol,
    TupleOf,
    Type,
    VariantSymbol,
)
from concerto.semantics.typing.members import find_associated, find_field, find_method, member_names
from concerto.semantics.typing.type_expressions import declared_type
from concerto.semantics.typing.unify import resolve, show
from concerto.source import Source
from concerto.syntax import ast

_STATEMENTS = (
    "let", "if", "match", "for", "while", "loop", "return", "break", "continue", "try", "throw", "await",
    "spawn", "race", "parallel", "listen", "true", "false", "nil",
)  # fmt: skip
_TYPES = BuiltinSymbol | StructSymbol | EnumSymbol | AliasSymbol | GenericSymbol | TraitSymbol | ModuleSymbol


def complete_in(programs: Programs, path: Path, offset: int) -> CompletionList | None:
    """As `complete`, of a file as it is now. Outside of bodies no more is declared than the program with what
    is being written in it."""
    source, program = programs.documents.source_of(path), programs.program_but(path)
    if source is None or program is None:
        return None
    if program.is_current:
        return complete(program, source, offset)
    trial = trial_at(source, offset)
    if trial is not None and trial.path and not trial.is_in_body and not trial.is_in_number:
        tried = try_program(program, trial)
        found = complete_in_declaration(program, tried.declarations, trial)
        return _shown(trial, _of_hole(tried) if found is None else found)
    program = programs.program_of(path)
    source = None if program is None else program.source(path)
    return None if program is None or source is None else complete(program, source, offset)


def complete(program: EditedProgram, source: Source, offset: int) -> CompletionList | None:
    """None where nothing may be completed."""
    trial = trial_at(source, offset)
    if trial is None or trial.is_in_number:
        return None
    found = complete_in_declaration(program, program.checked.declarations, trial)
    if found is None:
        found = list(_of_hole(try_it(program, trial))) if trial.path and not _is_new_name(trial) else []
    return _shown(trial, found)


def _is_new_name(trial: Trial) -> bool:
    """Whether it is the name of something that is being declared."""
    name, around = trial.path[-1], trial.path[-2]
    declares = isinstance(around, ast.ItemBase | ast.Parameter | ast.GenericParam)
    return declares and getattr(around, "name", None) is name


def _shown(trial: Trial, found: Iterable[Suggestion]) -> CompletionList:
    source = trial.source
    place = range_of(source, trial.start, trial.end)
    items: dict[str, CompletionItem] = {}
    for each in found:
        items.setdefault(
            each.label,
            CompletionItem(
                each.label,
                kind=each.kind,
                detail=each.detail or None,
                documentation=each.docs or None,
                sort_text=f"{each.rank}{each.label}",
                text_edit=TextEdit(place, each.text or each.label),
            ),
        )
    return CompletionList(False, list(items.values()))


def _of_hole(tried: Tried) -> Iterator[Suggestion]:
    hole, declarations = tried.hole, tried.declarations
    match hole.kind:
        case "member":
            yield from _members(declarations, hole)
        case "path":
            yield from _in_path(declarations, hole)
        case "field":
            yield from _fields(hole)
        case "pattern":
            yield from _patterns(declarations, hole)
        case "type":
            yield from _types(declarations, hole)
        case "name":
            yield from _names(declarations, hole)
        case "unknown":
            pass


def _members(declarations: Declarations, hole: Hole) -> Iterator[Suggestion]:
    match hole.owner:
        case ToolSymbol() | McpSymbol() | AgentSymbol():
            yield from map(suggest_symbol, hole.owner.methods.values())
        case PipelineSymbol():
            yield Suggestion("run", CompletionItemKind.Method, declaration_of(hole.owner))
        case _:
            pass
    if hole.receiver is not None:
        yield from members_of(declarations, hole.receiver)


def members_of(declarations: Declarations, type_: Type) -> Iterator[Suggestion]:
    """Fields and methods of a value."""
    type_ = resolve(type_)
    if isinstance(type_, TupleOf):
        for index, item in enumerate(type_.items):
            yield Suggestion(str(index), CompletionItemKind.Field, show(item))
        return
    for name in member_names(declarations, type_):
        field = find_field(type_, name)
        if field is not None:
            yield Suggestion(name, CompletionItemKind.Field, show(field[1]), field[0].docs or "", rank=0)
            continue
        match = find_method(declarations, type_, name)
        if match is not None and match.function.receiver:
            yield suggest_symbol(match.function)


def _in_path(declarations: Declarations, hole: Hole) -> Iterator[Suggestion]:
    owner = hole.owner
    if isinstance(owner, Named):
        owner = owner.symbol
    match owner:
        case ModuleSymbol():
            yield from in_module(declarations, owner)
        case EnumSymbol():
            yield from map(suggest_symbol, owner.variants)
            yield from _associated(declarations, owner)
        case StructSymbol() | BuiltinSymbol():
            yield from _associated(declarations, owner)
        case ToolSymbol() | McpSymbol() | AgentSymbol() | TraitSymbol():
            yield from map(suggest_symbol, owner.methods.values())
        case _:
            pass


def in_module(declarations: Declarations, module: ModuleSymbol) -> Iterator[Suggestion]:
    """What a module shares with others."""
    if module is declarations.standard_library():
        for name in declarations.library_names():
            yield Suggestion(name, CompletionItemKind.Module)
        return
    for name in declarations.modules.exported_names(module):
        symbol = declarations.modules.member(module, name)
        if symbol is not None:
            yield suggest_symbol(symbol, name)


def _associated(
    declarations: Declarations, owner: StructSymbol | EnumSymbol | BuiltinSymbol
) -> Iterator[Suggestion]:
    for name in member_names(declarations, declared_type(owner)):
        match = find_associated(declarations, owner, name)
        if match is not None:
            yield suggest_symbol(match.function, rank=1 if match.function.receiver else 0)


def _fields(hole: Hole) -> Iterator[Suggestion]:
    if isinstance(hole.owner, StructSymbol | VariantSymbol):
        for field in hole.owner.fields:
            if field.name not in hole.given:
                yield suggest_symbol(field)


def _patterns(declarations: Declarations, hole: Hole) -> Iterator[Suggestion]:
    expected = resolve(hole.expected) if hole.expected is not None else None
    if isinstance(expected, Named):
        yield from _cases(expected)
    if hole.scope is not None:
        for name, symbol in declarations.visible_names(hole.scope):
            if isinstance(symbol, EnumSymbol | StructSymbol | ConstSymbol | VariantSymbol | ModuleSymbol):
                yield suggest_symbol(symbol, name, rank=2)


def _cases(expected: Named) -> Iterator[Suggestion]:
    """The patterns of all values of a type."""
    match expected.symbol:
        case EnumSymbol() as enum:
            for variant in enum.variants:
                yield suggest_symbol(variant, f"{enum.name}::{variant.name}{_holding(variant)}")
        case symbol if symbol is OPTION:
            yield from _words(("Some", "None"), CompletionItemKind.EnumMember)
        case symbol if symbol is RESULT:
            yield from _words(("Ok", "Err"), CompletionItemKind.EnumMember)
        case _ if expected == BOOL:
            yield from _words(("true", "false"), CompletionItemKind.Keyword)
        case _:
            pass


def _holding(variant: VariantSymbol) -> str:
    if variant.named:
        return f" {{ {', '.join(field.name for field in variant.fields)} }}"
    return f"({', '.join('_' for _ in variant.fields)})" if variant.fields else ""


def _types(declarations: Declarations, hole: Hole) -> Iterator[Suggestion]:
    if isinstance(hole.owner, ModuleSymbol):
        yield from in_module(declarations, hole.owner)
    elif hole.scope is not None:
        yield from visible_types(declarations, hole.scope)


def visible_types(declarations: Declarations, scope: TypeScope) -> Iterator[Suggestion]:
    for name, symbol in declarations.visible_names(scope):
        if isinstance(symbol, _TYPES):
            yield suggest_symbol(symbol, name, rank=1)
    if scope.self_type is not None:
        yield Suggestion("Self", CompletionItemKind.Keyword, show(scope.self_type))


def _names(declarations: Declarations, hole: Hole) -> Iterator[Suggestion]:
    for parameter in hole.parameters:
        if parameter.name not in hole.given:
            label = f"{parameter.name}:"
            yield Suggestion(
                label, CompletionItemKind.Property, show(parameter.type), text=f"{label} ", rank=1
            )
    expected = resolve(hole.expected) if hole.expected is not None else None
    if isinstance(expected, Named) and isinstance(expected.symbol, EnumSymbol):
        for variant in expected.symbol.variants:
            yield suggest_symbol(variant, f"{expected.symbol.name}::{variant.name}", rank=0)
    for name, local in hole.locals.items():
        yield suggest_symbol(local, name, rank=0)
    if hole.scope is not None:
        for name, symbol in declarations.visible_names(hole.scope):
            yield suggest_symbol(symbol, name, rank=_rank(symbol))
    yield from _words(("Some", "None", "Ok", "Err"), CompletionItemKind.EnumMember)
    yield from _words(_STATEMENTS, CompletionItemKind.Keyword)


def _rank(symbol: Symbol) -> int:
    """What the author declared comes before the library."""
    return 2 if symbol.module.startswith("std::") or symbol.node is None else 1


def _words(words: Iterable[str], kind: CompletionItemKind) -> Iterator[Suggestion]:
    return (Suggestion(word, kind, rank=3) for word in words)
