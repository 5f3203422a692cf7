"""Go to definition: where a name is declared, in programs or in `Concerto.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from lsprotocol.types import Location

from concerto.language_server.names import file_of, name_at, place_of
from concerto.language_server.positions import range_of
from concerto.language_server.programs import EditedProgram
from concerto.manifest import ManifestError, find_manifest
from concerto.manifest.places import key_places
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import path_to

# The tables that names in fields of declarations are looked for in.
_TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "provider": ("connections",),
    "connector": ("hosts", "agents"),
    "tools": ("mcp", "tools"),
}


def definition(program: EditedProgram, source: Source, offset: int) -> Location | None:
    """The place of the declaration of the name at a place."""
    name = name_at(program, source, offset)
    if name is None:
        return _in_manifest(program, source, path_to(program.tree(source), offset))
    place = place_of(name.symbol)
    if place is None:
        return None
    declared, node = place
    return Location(program.documents.uri_of(file_of(declared)), range_of(declared, node.start, node.end))


def _in_manifest(program: EditedProgram, source: Source, path: list[ast.Node]) -> Location | None:
    """The table of a connection, a host, a server or a Python tool that a field of a declaration names."""
    field = next((node.name.text for node in path if isinstance(node, ast.Setting)), "")
    named = path[-1]
    if field not in _TABLES or not isinstance(named, ast.Ident):
        return None
    try:
        manifest = find_manifest(Path(source.path).absolute().parent)
    except ManifestError as broken:
        manifest = broken.file
    text = None if manifest is None else program.documents.source_of(manifest)
    if manifest is None or text is None:
        return None
    try:
        tomllib.loads(text.text)
    except tomllib.TOMLDecodeError:
        return None
    places = key_places(text.text)
    for table in _TABLES[field]:
        if found := places.get((table, named.text)):
            return Location(program.documents.uri_of(manifest), range_of(text, *found.key))
    return None
