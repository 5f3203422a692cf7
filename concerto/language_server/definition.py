"""Go to definition: where a name is declared."""

from __future__ import annotations

from lsprotocol.types import Location

from concerto.language_server.names import file_of, name_at, place_of
from concerto.language_server.positions import range_of
from concerto.language_server.programs import EditedProgram
from concerto.source import Source


def definition(program: EditedProgram, source: Source, offset: int) -> Location | None:
    """The place of the declaration of the name at a place."""
    name = name_at(program, source, offset)
    place = None if name is None else place_of(name.symbol)
    if place is None:
        return None
    declared, node = place
    return Location(program.documents.uri_of(file_of(declared)), range_of(declared, node.start, node.end))
