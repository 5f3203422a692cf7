"""Overlay of open documents: the texts that are edited, before those on the disk, and their trees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from concerto.compiler.disk import Reader, read_bytes, shown_path
from concerto.diagnostics import Problems
from concerto.language_server.splice import ParsedFile, parse_file, splice
from concerto.records import record
from concerto.semantics.on_demand import Change
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.ast_cache import find_tree, save_tree
from concerto.syntax.decoding import decode

# The cache is everybody's, and a tree is saved while somebody may want to write on.
_MOST_SAVED = 100
_LONGEST_SAVED = 20_000


@record(eq=False)
class Document:
    """A file that an editor has open; `uri` as the editor writes it."""

    path: Path
    uri: str
    version: int | None
    data: bytes


class Documents:
    """All open documents by path, and the parsed files of programs by the paths that messages show. What is
    not open is read by `reader`."""

    def __init__(self, reader: Reader = read_bytes) -> None:
        self._reader = reader
        self.open: dict[Path, Document] = {}
        self._parsed: dict[str, ParsedFile] = {}
        self._edited: dict[Path, None] = {}
        self._saved: set[str] = set()

    def put(self, path: Path, uri: str, version: int | None, text: str) -> Document:
        """An editor has this text in a file."""
        document = Document(path, uri, version, text.encode("utf-8", "surrogatepass"))
        self.open[path] = document
        self._edited[path] = None
        return document

    def close(self, path: Path) -> None:
        self.open.pop(path, None)

    def read(self, path: Path) -> bytes | None:
        """The bytes of a file as they are edited, or else as they are on the disk."""
        document = self.open.get(path.absolute())
        return document.data if document is not None else self._reader(path)

    def uri_of(self, path: Path) -> str:
        document = self.open.get(path)
        return document.uri if document is not None else path.as_uri()

    def version_of(self, uri: str) -> int | None:
        return next((each.version for each in self.open.values() if each.uri == uri), None)

    def source_of(self, path: Path) -> Source | None:
        """The text of a file; that of its tree, if there is one."""
        data = self.read(path)
        if data is None:
            return None
        source = decode(data, shown_path(path), Problems())
        parsed = self._parsed.get(source.path)
        return parsed.source if parsed is not None and parsed.source.text == source.text else source

    def parse(self, source: Source) -> ast.Module:
        """The tree of a text; the one that is known, if there is one."""
        parsed = self._parsed.get(source.path)
        if parsed is None or parsed.source.text != source.text:
            parsed = self._parsed[source.path] = self._kept(source) or parse_file(source)
        return parsed.tree

    def _kept(self, source: Source) -> ParsedFile | None:
        """What an earlier process kept of a file that nobody edits."""
        if Path(source.path).absolute() in self.open or len(self._saved) >= _MOST_SAVED:
            return None
        tree = find_tree(source)
        if tree is None:
            return None
        self._saved.add(source.path)
        return ParsedFile(source, tree, Problems())

    def save_trees(self) -> Iterator[None]:
        """Keep the trees of files that nobody edits for the next start, one at each step."""
        for path, parsed in list(self._parsed.items()):
            is_open = Path(path).absolute() in self.open
            if not is_open and path not in self._saved and len(self._saved) < _MOST_SAVED:
                self._saved.add(path)
                if not len(parsed.problems) and len(parsed.source.text) < _LONGEST_SAVED:
                    save_tree(parsed.tree)
                    yield

    def syntax_problems(self, source: Source) -> Problems:
        """What the parser said of a file."""
        parsed = self._parsed.get(source.path)
        return parsed.problems if parsed is not None and parsed.source is source else Problems()

    def take_edits(self) -> Iterator[tuple[Path, Source, Change]]:
        """Bring the trees of edited files to their new texts, where no whole file has to be parsed."""
        edited, self._edited = self._edited, {}
        for path in edited:
            document, parsed = self.open.get(path), self._parsed.get(shown_path(path))
            if document is None or parsed is None:
                continue
            problems = Problems()
            text = decode(document.data, parsed.source.path, problems).text
            if len(problems) or text == parsed.source.text:
                continue
            change = splice(parsed, text)
            if change is not None:
                yield path, parsed.source, change

    def forget_all_but(self, paths: set[str]) -> None:
        """Drop the trees of files that are in no program any more."""
        for path in self._parsed.keys() - paths:
            del self._parsed[path]
