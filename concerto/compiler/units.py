"""Separate compilation: the bodies of a file are compiled again only if something they depend on changed.

A `Unit` is what one compilation keeps of one file: its interface (`syntax.outline`), the interfaces that its
bodies depend on, and what checking and emitting them gave (`semantics.incremental`, `emit.recording`). The
next compilation declares all files anew, files with a valid unit from their outline, checks and writes the
bodies of the others, and links. So the result is that of compiling everything, byte for byte.

A unit is valid if its file's text and all interfaces that it uses are the same, and with them, for all files
together: what the manifest declares, the files that were looked for in vain, and the impls that stand in
another file than their type, which can be used without being named. What only shows while bodies are compiled
(`Analysis.outdated`) makes the compilation start again with fewer valid units. Errors are found by compiling
everything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from concerto.compiler.disk import DiskProject, read_bytes
from concerto.compiler.pipeline import check_tree, check_trust_of, run_passes
from concerto.diagnostics import Problem, Problems, all_problem_classes
from concerto.emit import emit_program
from concerto.emit.recording import Code, emit_recorded
from concerto.ir.module import ModuleIR
from concerto.semantics.incremental.symbol_names import NoName, SymbolNames
from concerto.semantics.model.analysis import Analysis, ReusedFile
from concerto.semantics.model.file_records import NO_FACTS, BodyFacts, Loading, reached
from concerto.semantics.model.symbols import FunctionSymbol, ImplSymbol, Named
from concerto.source import Source, Span
from concerto.syntax import ast
from concerto.syntax.decoding import decode
from concerto.syntax.outline import Region, body_regions, interface, parse_outline
from concerto.syntax.parser import parse


class Unit(NamedTuple):
    """Of one file; plain data. `content` is None if its bodies have to be compiled every time, else what
    `SymbolNames.dump` made of its BodyFacts and the Code of its functions."""

    file: str
    text: bytes
    interface: bytes
    regions: list[Region]
    uses: dict[str, bytes]
    warnings: list[tuple[Any, ...]]
    loadings: list[tuple[object, ...]]
    content: bytes | None


class Units(NamedTuple):
    """Of all files of a program, by path. `surroundings` are what all of them depend on, `packages` the
    folders of installed packages that they use, `absent` the files that were looked for in vain."""

    surroundings: bytes
    foreign_impls: bytes
    packages: dict[str, str]
    absent: list[str]
    files: dict[str, Unit]


class Compiled(NamedTuple):
    """`paths` are the files whose bodies were compiled."""

    module: ModuleIR | None
    units: Units | None
    paths: list[str]


def compile_changed(
    source: Source, project: DiskProject, problems: Problems, units: Units | None
) -> Compiled:
    """The program that starts with a file, for which an earlier compilation may have left units."""
    done = run_passes(lambda: _compile(source, project, problems, units), source, problems)
    return done if done is not None else Compiled(None, None, [])


def _compile(source: Source, project: DiskProject, problems: Problems, units: Units | None) -> Compiled:
    trees = _Trees()
    valid = _valid(units, project, trees) if units is not None else {}
    while True:
        attempt = _Attempt(project, trees, valid)
        try:
            analysis = attempt.check(source)
        except NoName:
            analysis = None
        if analysis is None and valid:
            valid = {}
        elif analysis is None:
            _add_in_order(attempt.problems, [], problems)
            return Compiled(None, None, trees.paths)
        elif valid and units is not None and attempt.foreign_impls(analysis) != units.foreign_impls:
            valid = {}
        elif analysis.outdated:
            outdated = {file.path for file in analysis.outdated}
            valid = {path: unit for path, unit in valid.items() if path not in outdated}
        else:
            return _finished(attempt, analysis, problems)


def _valid(units: Units, project: DiskProject, trees: _Trees) -> dict[str, Unit]:
    """The units of files whose bodies need not be compiled, as far as can be told before."""
    folders = {name: str(project.installed.folder(name)) for name in units.packages}
    if (
        folders != units.packages
        or units.surroundings != _surroundings(project)
        or any(Path(path).exists() for path in units.absent)
    ):
        return {}
    interfaces: dict[str, bytes] = {}
    unchanged = []
    for path, unit in units.files.items():
        data = read_bytes(Path(unit.file))
        if data is None:
            continue
        source = decode(data, path, Problems())
        if _digest(source.text) == unit.text:
            unchanged.append(path)
            interfaces[path] = unit.interface
        else:
            interfaces[path] = trees.outline_of(source).interface
    return {
        path: unit
        for path in unchanged
        if (unit := units.files[path]).content is not None
        and all(interfaces.get(used) == known for used, known in unit.uses.items())
    }


def _finished(attempt: _Attempt, analysis: Analysis, problems: Problems) -> Compiled:
    files = list(analysis.files)
    for source in files:
        if source in attempt.before:
            for warning in attempt.valid[source.path].warnings:
                attempt.problems.add(_unpack_warning(warning, source))
    _add_in_order(attempt.problems, files, problems)
    compiled = [source.path for source in files if source not in attempt.before]
    if len(files) == 1:
        module = emit_program(analysis)
        check_trust_of(module, attempt.project, problems)
        return Compiled(module, None, compiled)
    functions: dict[Source | None, list[FunctionSymbol]] = {}
    for function in analysis.functions:
        functions.setdefault(function.source, []).append(function)
    known: dict[FunctionSymbol, Code] = {}
    for source in attempt.before.keys() & analysis.files.keys():
        known.update(zip(functions.get(source, ()), attempt.content(source, analysis)[1], strict=True))
    module, codes = emit_recorded(analysis, known)
    check_trust_of(module, attempt.project, problems)
    units = {
        source.path: attempt.valid[source.path]
        if source in attempt.before
        else attempt.unit(source, analysis, [codes[function] for function in functions.get(source, ())])
        for source in files
    }
    project = attempt.project
    packages = {name: str(folder) for name, folder in project.package_folders.items()}
    absent = [str(path) for path, data in project.looked_at.items() if data is None]
    return Compiled(
        module,
        Units(_surroundings(project), attempt.foreign_impls(analysis), packages, absent, units),
        compiled,
    )


def pack_units(units: Units) -> tuple[Any, ...]:
    """As plain data that `marshal` can hold."""
    files = {path: tuple(unit) for path, unit in units.files.items()}
    return (units.surroundings, units.foreign_impls, units.packages, units.absent, files)


def unpack_units(packed: tuple[Any, ...]) -> Units:
    surroundings, foreign_impls, packages, absent, files = packed
    return Units(
        surroundings,
        foreign_impls,
        packages,
        absent,
        {path: Unit._make(unit) for path, unit in files.items()},
    )


class _Outline(NamedTuple):
    regions: list[Region]
    interface: bytes


class _Trees:
    """The whole trees of this compilation, each parsed once."""

    def __init__(self) -> None:
        self._parsed: dict[str, tuple[ast.Module, Problems]] = {}
        self._outlines: dict[str, _Outline] = {}

    @property
    def paths(self) -> list[str]:
        return list(self._parsed)

    def tree(self, source: Source, problems: Problems) -> ast.Module:
        known = self._parsed.get(source.path)
        if known is None or known[0].source.text != source.text:
            found = Problems()
            known = self._parsed[source.path] = (parse(source, found), found)
        for problem in known[1]:
            problems.add(problem)
        return known[0]

    def outline_of(self, source: Source) -> _Outline:
        known = self._outlines.get(source.path)
        if known is None:
            tree = self.tree(source, Problems())
            regions = list(body_regions(tree.items))
            known = self._outlines[source.path] = _Outline(regions, _digest(interface(tree, regions)))
        return known


class _Attempt:
    """A compilation that takes some units for valid. `before` are the files that it has met of these."""

    def __init__(self, project: DiskProject, trees: _Trees, valid: Mapping[str, Unit]) -> None:
        self.project = project
        self.trees = trees
        self.valid = valid
        self.problems = Problems()
        self.before: dict[Source, ReusedFile] = {}
        self._names: SymbolNames | None = None
        self._contents: dict[Source, tuple[BodyFacts, list[Code]]] = {}

    def check(self, source: Source) -> Analysis | None:
        self.project.problems, self.project.parse = self.problems, self._parse
        return check_tree(self._parse(source, self.problems), self.project, self.problems, self.before)

    def _parse(self, source: Source, problems: Problems) -> ast.Module:
        unit = self.valid.get(source.path)
        if unit is None:
            return self.trees.tree(source, problems)
        loadings = tuple(map(Loading._make, unit.loadings))
        self.before[source] = ReusedFile(loadings, lambda analysis: self.content(source, analysis)[0])
        return parse_outline(source, unit.regions)

    def content(self, source: Source, analysis: Analysis) -> tuple[BodyFacts, list[Code]]:
        """What a valid unit holds, with the symbols of this compilation."""
        if source not in self._contents:
            data = self.valid[source.path].content
            assert data is not None, "a unit without content is not valid"
            self._contents[source] = self._symbol_names(analysis).load(data)
        return self._contents[source]

    def unit(self, source: Source, analysis: Analysis, codes: list[Code]) -> Unit:
        """What this compilation leaves of a file whose bodies it has compiled."""
        outline, record = self.trees.outline_of(source), analysis.files[source]
        warnings = [_pack_warning(problem) for problem in self.problems if problem.span.source is source]
        content = None
        if record.repeatable and None not in warnings:
            with suppress(NoName):
                content = self._symbol_names(analysis).dump((record.facts or NO_FACTS, codes))
        uses = {used.path: self._outline(used).interface for used in reached(analysis.files, source)}
        return Unit(
            str(Path(source.path).absolute()),
            _digest(source.text),
            outline.interface,
            outline.regions,
            uses,
            [warning for warning in warnings if warning is not None],
            [tuple(loading) for loading in record.loadings],
            content,
        )

    def foreign_impls(self, analysis: Analysis) -> bytes:
        """Digest of what impls in other files than their type's say outside of bodies."""
        texts = [self._text_of(impl) for impl in analysis.impls if _is_foreign(impl)]
        return _digest("\0".join(texts))

    def _text_of(self, impl: ImplSymbol) -> str:
        assert impl.source is not None and impl.node is not None
        start, end, parts = impl.node.start, impl.node.end, [impl.source.path]
        for body_start, body_end in self._outline(impl.source).regions:
            if start <= body_start < end:
                parts.append(impl.source.text[start:body_start])
                start = body_end
        return "\0".join([*parts, impl.source.text[start:end]])

    def _outline(self, source: Source) -> _Outline:
        unit = self.valid.get(source.path)
        return self.trees.outline_of(source) if unit is None else _Outline(unit.regions, unit.interface)

    def _symbol_names(self, analysis: Analysis) -> SymbolNames:
        if self._names is None:
            self._names = SymbolNames(analysis)
        return self._names


def _is_foreign(impl: ImplSymbol) -> bool:
    return not isinstance(impl.target, Named) or impl.target.symbol.source is not impl.source


def _surroundings(project: DiskProject) -> bytes:
    names = (project.mcp_servers, project.hosts, project.python_tools)
    said = (project.lock, project.is_trust_checked, sorted(project.connections.items()))
    return _digest(repr((*said, *map(sorted, names))))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _add_in_order(found: Iterable[Problem], files: list[Source], problems: Problems) -> None:
    """Add what was found, file by file in the program's order."""
    order = {source: number for number, source in enumerate(files)}
    for problem in sorted(found, key=lambda problem: order.get(problem.span.source, len(order))):
        problems.add(problem)


def _pack_warning(problem: Problem) -> tuple[Any, ...] | None:
    """A warning as plain data; None if it speaks of another file as well."""
    source = problem.span.source
    if any(span.source is not source for span, _ in problem.related):
        return None
    related = [(span.start, span.end, label) for span, label in problem.related]
    place = (problem.span.start, problem.span.end)
    return (problem.code, place, problem.message, problem.label, str(problem.help), problem.notes, related)


def _unpack_warning(packed: tuple[Any, ...], source: Source) -> Problem:
    code, (start, end), message, label, advice, notes, related = packed
    return all_problem_classes()[code](
        Span(source, start, end),
        message,
        label=label,
        help=advice,
        notes=notes,
        related=tuple((Span(source, first, last), text) for first, last, text in related),
    )
