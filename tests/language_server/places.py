"""Asks about a place in a text without a server: `‸` in the text is the place."""

from __future__ import annotations

from pathlib import Path

from concerto.language_server.completion import complete
from concerto.language_server.documents import Documents
from concerto.language_server.programs import EditedProgram, Programs
from concerto.source import Source

CURSOR = "‸"


class Place:
    """A place in the first of some files, which are open and not saved."""

    def __init__(self, folder: Path, text: str, files: dict[str, str] | None = None) -> None:
        self.documents = Documents()
        self.programs = Programs(self.documents)
        for name, content in (files or {}).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(content)
        self.path = folder / "main.conc"
        self.offset = text.index(CURSOR) if CURSOR in text else 0
        self.documents.put(self.path, self.path.as_uri(), 1, text.replace(CURSOR, "", 1))

    @property
    def program(self) -> EditedProgram:
        program = self.programs.program_of(self.path)
        assert program is not None
        return program

    @property
    def source(self) -> Source:
        source = self.program.source(self.path)
        assert source is not None
        return source

    def completions(self) -> list[str]:
        """The labels, as an editor sorts them."""
        found = complete(self.program, self.source, self.offset)
        if found is None:
            return []
        return [item.label for item in sorted(found.items, key=lambda item: item.sort_text or item.label)]
