"""References and rename: all places of a name, and another name for it in all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lsprotocol.types import (
    DocumentHighlight,
    Location,
    OptionalVersionedTextDocumentIdentifier,
    Range,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from concerto.language_server.documents import Documents
from concerto.language_server.names import Name, file_of, meanings, name_at, names_of, place_of
from concerto.language_server.positions import range_of
from concerto.language_server.programs import EditedProgram
from concerto.semantics.model.symbols import FieldSymbol, ModuleSymbol, Symbol
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.tokens import RESERVED
from concerto.syntax.walk import path_to

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class CannotRename(Exception):
    """Why a name stays as it is, for the author."""


def references(
    programs: Iterable[EditedProgram], name: Name, *, declaration: bool = True
) -> list[tuple[EditedProgram, Name]]:
    """Every place of a name in some programs, each once."""
    found: dict[tuple[str, int], tuple[EditedProgram, Name]] = {}
    place = place_of(name.symbol)
    for program in programs:
        program.check_all()
        symbol = _symbol_in(program, name)
        for each in names_of(program, symbol):
            is_declaration = place is not None and each.place.start == place[1].start
            if is_declaration and not declaration and each.source.path == place[0].path:  # type: ignore[index]
                continue
            found.setdefault((each.source.path, each.place.start), (program, each))
    return [found[key] for key in sorted(found)]


def locations(documents: Documents, found: Iterable[tuple[EditedProgram, Name]]) -> list[Location]:
    return [Location(documents.uri_of(file_of(name.source)), _range(name)) for _, name in found]


def highlights(program: EditedProgram, source: Source, offset: int) -> list[DocumentHighlight]:
    """The same name in the same document."""
    name = name_at(program, source, offset)
    if name is None:
        return []
    program.check(source)
    same = (each for each in names_of(program, name.symbol) if each.source is source)
    return [DocumentHighlight(_range(each)) for each in same]


def renamed_range(program: EditedProgram, source: Source, offset: int) -> Range:
    """What would be renamed at a place; raises `CannotRename`."""
    return _range(_renamed(program, source, offset))


def rename(
    documents: Documents,
    programs: Iterable[EditedProgram],
    place: tuple[EditedProgram, Source, int],
    new: str,
) -> WorkspaceEdit:
    """The edits that give a name another one; raises `CannotRename`."""
    name = _renamed(*place)
    if not _NAME.fullmatch(new) or new in RESERVED or new == "_":
        raise CannotRename(f"`{new}` cannot be a name")
    programs = list(programs)
    # Where something is called `self`, or has another name by `use … as`, it goes on to be called so.
    old = name.place.text
    found = [(program, each) for program, each in references(programs, name) if each.place.text == old]
    edits: dict[str, list[TextEdit]] = {}
    texts: dict[Source, list[tuple[int, int, str]]] = {}
    for program, each in found:
        text = _new_text(program, each, name, new)
        edits.setdefault(documents.uri_of(file_of(each.source)), []).append(TextEdit(_range(each), text))
        texts.setdefault(each.source, []).append((each.place.start, each.place.end, text))
    _require_no_clash(old, new, programs, texts)
    return WorkspaceEdit(
        document_changes=[
            TextDocumentEdit(
                OptionalVersionedTextDocumentIdentifier(uri, documents.version_of(uri)), list(each)
            )
            for uri, each in edits.items()
        ]
    )


def _renamed(program: EditedProgram, source: Source, offset: int) -> Name:
    name = name_at(program, source, offset)
    if name is None:
        raise CannotRename("there is no name here")
    if name.place.text in ("self", "super"):
        raise CannotRename(f"`{name.place.text}` is always called so")
    place = place_of(name.symbol)
    if place is None or place[0] not in program.checked.analysis.files:
        raise CannotRename(f"`{name.symbol.name}` belongs to the language or its library")
    if isinstance(name.symbol, ModuleSymbol) and name.symbol.node is None:
        raise CannotRename(f"the module `{name.symbol.name}` is named by its file")
    return name


def _symbol_in(program: EditedProgram, name: Name) -> Symbol:
    """The symbol of the same declaration in another program that has its file."""
    place = place_of(name.symbol)
    if place is None or place[0] in program.checked.analysis.files:
        return name.symbol
    source = program.sources.get(place[0].path)
    if source is None:
        return name.symbol
    found = name_at(program, source, place[1].start)
    return name.symbol if found is None else found.symbol


def _new_text(program: EditedProgram, each: Name, renamed: Name, new: str) -> str:
    """The new name, or both where a short field names a field and a variable at once."""
    path = path_to(program.tree(each.source), each.place.start)
    around = path[-2] if len(path) > 1 else None
    is_field = isinstance(renamed.symbol, FieldSymbol)
    match around:
        case ast.FieldInit(value=None) | ast.FieldPattern(pattern=None) if around.name is each.place:
            old = each.place.text
            return f"{new}: {old}" if is_field else f"{old}: {new}"
        case _:
            return new


def _require_no_clash(
    old: str,
    new: str,
    programs: Iterable[EditedProgram],
    texts: dict[Source, list[tuple[int, int, str]]],
) -> None:
    """Raises unless the programs are as well as before under the new name, and all names mean the same."""
    changed = {source.path: _edited(source.text, edits) for source, edits in texts.items()}
    edits = {source.path: sorted(each) for source, each in texts.items()}
    for program in programs:
        if not program.sources.keys() & edits.keys():
            continue
        before = sum(problem.severity == "error" for problem in program.problems())
        renamed = program.program_if(changed)
        after = [problem for problem in renamed.problems() if problem.severity == "error"]
        if len(after) > before:
            raise CannotRename(f"`{old}` cannot be called `{new}`: {after[0].message}")
        now = meanings(renamed)
        for place, meant in meanings(program).items():
            expected = _moved(meant, edits)
            if now.get(_moved(place, edits), expected) != expected:
                path, line = place[0], program.sources[place[0]].line_column(place[1])[0]
                raise CannotRename(
                    f"`{old}` cannot be called `{new}`: {path}:{line} would mean another `{new}`"
                )


def _moved(place: tuple[str, int], edits: dict[str, list[tuple[int, int, str]]]) -> tuple[str, int]:
    """A place behind some edits; of a field that was short, that of the variable."""
    path, at = place
    by = 0
    for start, end, text in edits.get(path, ()):
        if start > at:
            break
        by += text.find(": ") + 2 if start == at and ": " in text else 0
        by += len(text) - (end - start) if start < at else 0
    return path, at + by


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _range(name: Name) -> Range:
    return range_of(name.source, name.place.start, name.place.end)
