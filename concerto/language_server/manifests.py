"""Completion and hover in `Concerto.toml`: tables, keys and values, from the models of the manifest."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    CompletionList,
    Hover,
    MarkupContent,
    MarkupKind,
    TextEdit,
)

from concerto.language_server.positions import range_of
from concerto.language_server.programs import EditedProgram
from concerto.manifest.models import Table
from concerto.manifest.places import key_places
from concerto.manifest.reading import kind_at, known_keys
from concerto.source import Source

_HEADER = re.compile(r"^\s*\[\[?([^\]\n]*)\]?\]?", re.MULTILINE)
_PART = re.compile(r'"([^"]*)"|([A-Za-z0-9_-]+)')
_NAMED_TABLES = ("connections", "mcp", "hosts", "agents", "tools", "prices")


def complete_manifest(source: Source, offset: int, programs: Iterable[EditedProgram]) -> CompletionList:
    """What may stand at a place; `programs` say what can be permitted."""
    line_start = source.text.rfind("\n", 0, offset) + 1
    before = source.text[line_start:offset]
    start = offset - len(re.search(r"[\w-]*$", before)[0])  # type: ignore[index]
    if "#" in before:
        return CompletionList(False, [])
    if before.lstrip().startswith("["):
        found = _tables(before)
    else:
        table = _table_above(source.text, line_start)
        key, equals, _ = before.partition("=")
        if equals:
            quoted = before.count('"') % 2 == 1
            found = _values((*table, *_parts(key)), quoted=quoted)
        else:
            found = _keys(table, programs)
    place = range_of(source, start, offset)
    items = [CompletionItem(label, kind=kind, text_edit=TextEdit(place, text)) for label, kind, text in found]
    return CompletionList(False, items)


_Found = Iterator[tuple[str, CompletionItemKind, str]]


def _parts(text: str) -> list[str]:
    return [quoted or plain for quoted, plain in _PART.findall(text)] or [""]


def _table_above(text: str, offset: int) -> tuple[str, ...]:
    headers = list(_HEADER.finditer(text, 0, offset))
    return tuple(part for part in _parts(headers[-1][1]) if part) if headers else ()


def _tables(before: str) -> _Found:
    """The tables of the manifest, or those inside of one."""
    if "." not in before:
        for name in known_keys(()):
            behind = "." if name in _NAMED_TABLES else ""
            yield name, CompletionItemKind.Module, f"{name}{behind}"
        return
    path = tuple(_parts(before.lstrip(" [").rpartition(".")[0]))
    if len(path) == 2:
        for name in known_keys(path):
            if _is_table(kind_at((*path, name))):
                yield name, CompletionItemKind.Module, name


def _keys(table: tuple[str, ...], programs: Iterable[EditedProgram]) -> _Found:
    try:
        known = known_keys(table)
    except (LookupError, AttributeError):
        return
    for name in known:
        if not _is_table(kind_at((*table, name))):
            yield name, CompletionItemKind.Property, f"{name} = "
    if table == ("permissions",):
        for name in sorted({name for program in programs for name in _permitted(program)}):
            yield name, CompletionItemKind.Class, f"{name} = "


def _permitted(program: EditedProgram) -> Iterator[str]:
    analysis, project = program.checked.analysis, program.project
    yield from (tool.name for tool in analysis.tools)
    yield from (server.name for server in analysis.mcps)
    yield from project.mcp_servers
    yield from project.hosts
    yield from project.python_tools


def _values(path: tuple[str, ...], *, quoted: bool) -> _Found:
    try:
        kind = kind_at(path)
    except (LookupError, AttributeError):
        kind = bool if path[:1] == ("permissions",) else None
    for choice in _choices(kind):
        if isinstance(choice, str):
            yield choice, CompletionItemKind.EnumMember, choice if quoted else f'"{choice}"'
    if kind is bool and not quoted:
        yield "true", CompletionItemKind.Keyword, "true"
        yield "false", CompletionItemKind.Keyword, "false"


def _choices(kind: Any) -> Iterator[Any]:
    if get_origin(kind) is Literal:
        yield from get_args(kind)
        return
    for part in get_args(kind):
        yield from _choices(part)


def _is_table(kind: Any) -> bool:
    return get_origin(kind) is dict or (isinstance(kind, type) and issubclass(kind, Table))


# --- Hover ----------------------------------------------------------------------------------------


_IN_WORDS: Final = {str: "a string", bool: "`true` or `false`", int: "a whole number", float: "a number"}


def hover_manifest(source: Source, offset: int) -> Hover | None:
    """What may stand under a key."""
    try:
        tomllib.loads(source.text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    for path, place in key_places(source.text).items():
        start, end = place.key
        if start <= offset <= end:
            try:
                kind = kind_at(path)
            except (LookupError, AttributeError):
                return None
            text = f"`{'.'.join(path)}`: {_in_words(kind)}{_keys_of(kind)}"
            return Hover(MarkupContent(MarkupKind.Markdown, text), range_of(source, start, end))
    return None


def _in_words(kind: Any) -> str:
    """A type of the models, for people."""
    origin, inside = get_origin(kind), get_args(kind)
    if kind in _IN_WORDS:
        return _IN_WORDS[kind]
    if origin is Annotated:
        return _in_words(inside[0])
    if origin is Literal:
        return " or ".join(f'`"{each}"`' if isinstance(each, str) else f"`{each}`" for each in inside)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_in_words(each) for each in inside if each is not type(None)))
    if origin is tuple:
        return f"an array, each {_in_words(inside[0])}"
    return "a table" if _is_table(kind) else "any value"


def _keys_of(kind: Any) -> str:
    """A table's keys with their types, and what its model says of it."""
    if not (isinstance(kind, type) and issubclass(kind, Table)):
        return ""
    said = kind.__dict__.get("__doc__") or ""
    keys = [
        f"- `{field.alias or name}`: {_in_words(field.annotation)}"
        for name, field in kind.model_fields.items()
    ]
    return "\n\n".join(["", *([said.strip()] if said else []), "\n".join(keys)])
