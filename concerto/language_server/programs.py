"""Programs as their files are now: which program a file belongs to, and what is wrong with it.

A program is declared anew when one of its files has changed, and its bodies are checked when somebody asks
for them. While a manifest is broken, programs go on with what it said before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from concerto.compiler.depth import with_room
from concerto.compiler.disk import (
    SOURCE_SUFFIX,
    USUAL_ENTRIES,
    DiskProject,
    entry_of,
    open_project,
    programs_first,
    shown_path,
    sources_below,
)
from concerto.compiler.pipeline import add_findings
from concerto.diagnostics import Problem, Problems
from concerto.language_server.documents import Documents
from concerto.manifest import ManifestError, find_manifest
from concerto.manifest.load_cached import load_settings
from concerto.semantics.on_demand import Change, ProgramOnDemand
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.decoding import decode


class EditedProgram:
    """The program that starts with a file, as its files were when it was made."""

    def __init__(self, path: Path, project: DiskProject, documents: Documents) -> None:
        self.path = path
        self.project = project
        self.documents = documents
        self._is_left_behind = False
        """Whether its trees have changed in a way that it does not know."""
        project.parse = lambda source, _: documents.parse(source)
        source = decode(project.read(path) or b"", shown_path(path), project.problems)
        self._first = tree = documents.parse(source)
        self.checked = with_room(lambda: ProgramOnDemand(tree, project, Problems()))
        self.sources = {source.path: source for source in self.checked.analysis.files}

    @property
    def is_current(self) -> bool:
        """Whether all that was looked at is still the same."""
        return not self._is_left_behind and all(
            self.documents.read(path) == data for path, data in self.project.looked_at.items()
        )

    def is_current_but(self, changed: Path) -> bool:
        """Whether all but one file is still the same."""
        looked_at = self.project.looked_at.items()
        return all(path == changed or self.documents.read(path) == data for path, data in looked_at)

    def source(self, path: Path) -> Source | None:
        """The text of a file, if it belongs to the program."""
        return self.sources.get(shown_path(path))

    def tree_of_first(self) -> ast.Module:
        return self._first

    def tree(self, source: Source) -> ast.Module:
        return self.documents.parse(source)

    def follow(self, path: Path, source: Source, change: Change) -> None:
        """Go along with an edit, if that can be done; else the program is not current any more."""
        if source not in self.checked.analysis.files:
            return
        can_follow = not self._is_left_behind and self.is_current_but(path)
        if can_follow and with_room(lambda: self.checked.follow(source, change)):
            self.project.looked_at[path] = self.documents.read(path)
        else:
            self._is_left_behind = True

    def check_at(self, source: Source, offset: int) -> None:
        """Check the bodies around a place of a file, if they were not."""
        with_room(lambda: self.checked.check_at(source, offset))

    def check(self, source: Source) -> None:
        """Check the bodies of a file, if they were not."""
        with_room(lambda: self.checked.check(source))
        self.sources = {source.path: source for source in self.checked.analysis.files}

    def check_next(self) -> bool:
        """Check the bodies of one more file; False if there is none left."""
        source = next(self.checked.unchecked, None)
        if source is not None:
            self.check(source)
        return source is not None

    def check_all(self) -> None:
        while self.check_next():
            pass

    def problems(self) -> Problems:
        """What is known to be wrong: everything, if all files were checked."""
        problems = Problems()
        problems.add_all(self.project.problems)
        for source in self.checked.analysis.files:
            problems.add_all(self.documents.syntax_problems(source))
        found = with_room(self.checked.all_problems)
        add_findings(found, self.checked.analysis, self.project, problems)
        return problems

    def program_if(self, texts: Mapping[str, str]) -> EditedProgram:
        """What the program would be, checked as a whole, if files, by the paths that are shown, had other
        texts."""

        def read(path: Path) -> bytes | None:
            text = texts.get(shown_path(path))
            return self.documents.read(path) if text is None else text.encode("utf-8", "surrogatepass")

        changed = Documents(read)
        problems = Problems()
        project = open_project(self.path, problems, reader=changed.read)
        program = EditedProgram(self.path, project, changed)
        program.check_all()
        return program


class Programs:
    """The programs of all open documents."""

    def __init__(self, documents: Documents) -> None:
        self.documents = documents
        self._programs: dict[Path, EditedProgram] = {}
        self._manifests: dict[Path, bytes] = {}
        """The last text of each manifest that could be used."""

    def program_of(self, path: Path) -> EditedProgram | None:
        """The program that a file belongs to: that of its project or folder if it uses the file, else its
        own. None if there is no such file."""
        for entry in self._entries(path):
            program = self._program(entry)
            if program is not None and program.source(path) is not None:
                return program
        return self._program(path)

    def program_but(self, path: Path) -> EditedProgram | None:
        """A program with a file in which all the other files are as they are now; that of now, if there was
        none."""
        self._take_edits()
        for program in self._programs.values():
            if program.source(path) is not None and program.is_current_but(path):
                return program
        return self.program_of(path)

    def project_of(self, path: Path) -> list[EditedProgram]:
        """All programs that may have something to do with a file: of its project, or of its folder."""
        home = self.home_of(path)
        first = self.program_of(path)
        found = [] if first is None else [first]
        paths = self._files_below(home) if home is not None else self._beside(path)
        for each in paths:
            if any(program.source(each) is not None for program in found):
                continue
            program = self._program(each)
            if program is not None:
                found.append(program)
        return found

    def home_of(self, path: Path) -> Path | None:
        """The folder of the manifest of a file."""
        try:
            manifest = find_manifest(path.parent)
        except ManifestError as broken:
            return broken.file.parent
        return None if manifest is None else manifest.parent

    def checked_with(self, path: Path) -> Iterator[EditedProgram]:
        """The programs that `concertoc check` looks at: those of the project of a file, or the file's own."""
        home = self.home_of(path)
        if home is None:
            program = self.program_of(path)
            if program is not None:
                yield program
            return
        seen: set[Path] = set()
        for each in self._files_below(home):
            if each in seen:
                continue
            program = self._program(each)
            if program is not None:
                yield program
                seen.update(program.project.looked_at)

    def manifest_problems(self, path: Path) -> Problems | None:
        """Those of the manifest around a file; None if there is no manifest."""
        try:
            manifest = find_manifest(path.parent)
        except ManifestError as broken:
            return broken.problems
        if manifest is None:
            return None
        data = self.documents.read(manifest)
        try:
            if data is not None:
                load_settings(manifest, data)
                self._manifests[manifest] = data
        except ManifestError as broken:
            return broken.problems
        return Problems()

    def forget_others(self) -> None:
        """Drop what belongs to no open document."""
        roots = {program.path for path in self.documents.open for program in self._known_for(path)}
        for path in self._programs.keys() - roots:
            del self._programs[path]
        self.documents.forget_all_but({path for each in self._programs.values() for path in each.sources})

    def _known_for(self, path: Path) -> Iterator[EditedProgram]:
        home = self.home_of(path)
        for program in self._programs.values():
            if program.source(path) is not None or (home is not None and program.path.is_relative_to(home)):
                yield program

    def _program(self, path: Path) -> EditedProgram | None:
        """The program that starts with a file, as it is now."""
        self._take_edits()
        known = self._programs.get(path)
        if known is not None and known.is_current:
            return known
        if self.documents.read(path) is None:
            self._programs.pop(path, None)
            return None
        program = self._programs[path] = EditedProgram(path, self._open_project(path), self.documents)
        return program

    def _take_edits(self) -> None:
        """Bring all programs to the texts of now, as far as nothing has to be declared again."""
        for path, source, change in self.documents.take_edits():
            for program in self._programs.values():
                program.follow(path, source, change)

    def _open_project(self, path: Path) -> DiskProject:
        problems = Problems()
        try:
            project = open_project(path, problems, reader=self.documents.read)
        except ManifestError as broken:
            manifest, usable = broken.file, self._manifests.get(broken.file, b"")
            data = self.documents.read(manifest)
            project = open_project(
                path,
                problems,
                reader=lambda each: usable if each == manifest else self.documents.read(each),
            )
            project.looked_at[manifest] = data
        return project

    def _entries(self, path: Path) -> Iterator[Path]:
        """First files of programs that may use a file."""
        home = self.home_of(path)
        if home is None:
            yield path.parent / USUAL_ENTRIES[0]
            return
        entry = entry_of(self._open_project(home / USUAL_ENTRIES[0]))
        if entry is not None:
            yield entry.absolute()

    def _files_below(self, home: Path) -> list[Path]:
        saved = set(sources_below(home))
        unsaved = {path for path in self.documents.open if path.is_relative_to(home)}
        return programs_first(sorted(saved | {path for path in unsaved if path.suffix == SOURCE_SUFFIX}))

    def _beside(self, path: Path) -> list[Path]:
        same_folder = [each for each in self.documents.open if each.parent == path.parent]
        return [each for each in same_folder if each.suffix == SOURCE_SUFFIX]


def problems_by_file(problems: Problems) -> dict[Path, list[Problem]]:
    """Problems by the files that they stand in."""
    found: dict[Path, list[Problem]] = {}
    for problem in problems:
        found.setdefault(Path(problem.span.source.path).absolute(), []).append(problem)
    return found
