"""The passes in their order. Each adds to `problems`; the next begins only if none found an error, but what
the parser could save of a broken program is checked as well."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from concerto.compiler.depth import with_room
from concerto.compiler.disk import shown_path
from concerto.diagnostics import Problems, did_you_mean, suggest
from concerto.ir.module import ModuleIR
from concerto.source import Source

if TYPE_CHECKING:
    from concerto.compiler.disk import DiskProject
    from concerto.semantics.model.analysis import Analysis, ReusedFile
    from concerto.semantics.model.project import Project
    from concerto.syntax import ast
    from concerto.trust.analysis import TrustAnalysis, TrustSettings

R = TypeVar("R")


def read_source(data: bytes, path: str, problems: Problems) -> Source:
    """The text of a file; `path` is shown to people."""
    from concerto.syntax.decoding import decode

    return decode(data, path, problems)


def analyze(source: Source, project: DiskProject, problems: Problems) -> Analysis | None:
    """Parses and checks; None if there is an error. What untrusted text may cause shows in the linked
    program, which is made where the project asks for that."""

    def passes() -> Analysis | None:
        analysis = _analyze(source, project, problems)
        if analysis is None or not _may_flow(analysis, project.trust):
            return analysis
        from concerto.compiler.trust_part import emit_trust_part
        from concerto.emit import emit_program

        part = emit_trust_part(analysis)
        if part is None or not _is_free_of_flows(part, project, problems):
            check_trust_of(emit_program(analysis), project, problems)
        return None if problems.errors else analysis

    return run_passes(passes, source, problems)


_ACTS: Final = ("sink", "fs", "http", "Tool", "mcp")
"""One of these stands in every program of which a tool acts on the world, but for one that imports all."""
_GLOB: Final = r"::\s*\*"


def _may_flow(analysis: Analysis, settings: TrustSettings | None) -> bool:
    """Whether trust may find something in a program, without looking at what it does: an agent that nothing
    guards, and a tool that acts on the world, or else a name in the settings that there is not."""
    if settings is None or not analysis.agents:
        return False
    if settings.tools:
        return True
    if all(agent.settings.get("guard") for agent in analysis.agents):
        return False
    texts = [source.text for source in analysis.files]
    acts = any(word in text for text in texts for word in _ACTS)
    return acts or bool(settings.servers) or any(re.search(_GLOB, text) for text in texts)


def analyze_trust_of(
    source: Source, project: DiskProject, problems: Problems
) -> tuple[ModuleIR, TrustAnalysis] | None:
    """The linked program and what untrusted text may cause in it; None if there is another error."""

    def passes() -> tuple[ModuleIR, TrustAnalysis] | None:
        from concerto.emit import emit_program
        from concerto.trust.analysis import TrustSettings, analyze_trust

        analysis = _analyze(source, project, problems)
        if analysis is None:
            return None
        module = emit_program(analysis)
        return module, analyze_trust(module, project.trust or TrustSettings())

    return run_passes(passes, source, problems)


def check_trust_of(module: ModuleIR, project: DiskProject, problems: Problems) -> None:
    """Gives a linked program its table of trust, where the project asks for one, and adds what may flow."""
    settings = project.trust
    if settings is not None:
        from concerto.trust.check import check_trust

        analysis = check_trust(module, settings, problems)
        if analysis.unknown:
            _warn_of_names(analysis, project, problems)


def _is_free_of_flows(part: ModuleIR, project: DiskProject, problems: Problems) -> bool:
    """Whether nothing may flow in what was linked of a program for trust to look at."""
    from concerto.trust.analysis import analyze_trust

    settings = project.trust
    assert settings is not None
    analysis = analyze_trust(part, settings)
    if not analysis.flows and analysis.unknown:
        _warn_of_names(analysis, project, problems)
    return not analysis.flows


def _warn_of_names(analysis: TrustAnalysis, project: DiskProject, problems: Problems) -> None:
    """Tell of the tables of `[trust.tools]` that name nothing, where they stand."""
    from concerto.diagnostics import UnknownTrustName
    from concerto.manifest import FILE_NAME
    from concerto.manifest.places import key_places

    path = project.home / FILE_NAME
    source = Source(shown_path(path), (project.read(path) or b"").decode("utf-8-sig").replace("\r\n", "\n"))
    places = key_places(source.text)
    known = analysis.sites.names()
    for name in analysis.unknown:
        start, end = places["trust", "tools", name].key
        near = suggest(name, known)
        advice = did_you_mean(near) if near else "write `Tool::method`, or a tool, server or host"
        message = f"the program has no `{name}`, so this says nothing"
        problems.add(UnknownTrustName(source.span(start, end), message, help=advice))


def compile_tree(
    tree: ast.Module, project: DiskProject, problems: Problems, is_whole: bool = True
) -> tuple[Analysis, ModuleIR] | None:
    """All passes but the parser, and what was learnt; None if there is an error. `is_whole`: nothing will be
    added to the program that could change its values."""

    def passes() -> tuple[Analysis, ModuleIR] | None:
        from concerto.emit import emit_program

        analysis = check_tree(tree, project, problems, {}, is_whole)
        if analysis is None:
            return None
        module = emit_program(analysis)
        check_trust_of(module, project, problems)
        return None if problems.errors else (analysis, module)

    return run_passes(passes, tree.source, problems)


def inspect_tree(tree: ast.Module, project: Project, problems: Problems) -> Analysis | None:
    """As `inspect`, of a file that is parsed."""
    return run_passes(lambda: _inspect(tree, project, problems), tree.source, problems)


def inspect(source: Source, project: Project, problems: Problems) -> Analysis | None:
    """Parses and checks as far as possible: what is known of a program that may have errors, None if it
    cannot even be read."""
    from concerto.syntax.parser import parse

    return run_passes(lambda: _inspect(parse(source, problems), project, problems), source, problems)


def compile_module(source: Source, project: DiskProject, problems: Problems) -> ModuleIR | None:
    """All passes; None if there is an error."""
    return run_passes(lambda: _compile(source, project, problems), source, problems)


def _analyze(source: Source, project: Project, problems: Problems) -> Analysis | None:
    from concerto.syntax.parser import parse

    return check_tree(parse(source, problems), project, problems, {})


def check_tree(
    tree: ast.Module,
    project: Project,
    problems: Problems,
    before: Mapping[Source, ReusedFile],
    is_whole: bool = True,
) -> Analysis | None:
    """Checks the program that starts with a parsed file; None if there is an error. `problems` has those of
    the files that are parsed. `before` and `is_whole` are as in `check_program`."""
    from concerto.semantics import check_program

    found = Problems()
    analysis = check_program(tree, project, found, before, is_whole)
    add_findings(found, analysis, project, problems)
    return None if problems.errors else analysis


def add_findings(found: Problems, analysis: Analysis, project: Project, problems: Problems) -> None:
    """Adds what the checks found to the problems of the parser, or what is worth saying of it."""
    if problems.errors:
        from concerto.compiler.consequences import without_consequences

        problems.add_all(list(without_consequences(found, analysis, problems)))
        return
    problems.add_all(found)
    if analysis.mcps and not problems.errors:
        from concerto.compiler.locked import check_locked

        check_locked(analysis, project.lock, problems)


def _inspect(tree: ast.Module, project: Project, problems: Problems) -> Analysis | None:
    from concerto.semantics import check_program

    return None if problems.errors else check_program(tree, project, problems)


def _compile(source: Source, project: DiskProject, problems: Problems) -> ModuleIR | None:
    from concerto.emit import emit_program

    analysis = _analyze(source, project, problems)
    if analysis is None:
        return None
    module = emit_program(analysis)
    check_trust_of(module, project, problems)
    return None if problems.errors else module


def run_passes(passes: Callable[[], R | None], source: Source, problems: Problems) -> R | None:
    """The passes, with room for deep programs and without the garbage collector: trees and tables of a
    compilation live to its end, and looking for garbage among them is in vain."""
    paused = gc.isenabled()
    gc.disable()
    try:
        return with_room(passes)
    except RecursionError:
        from concerto.diagnostics import TooDeep

        problems.add(TooDeep(source.span(0, 0), "the program is nested too deeply to be compiled"))
        return None
    finally:
        if paused:
            gc.enable()


def require_main(module: ModuleIR, source: Source, problems: Problems) -> None:
    """A program that is to be run has a `main`."""
    if module.entry is not None:
        return
    from concerto.diagnostics import NoMain

    near = suggest("main", (function.name for function in module.functions))
    advice = f"{did_you_mean(near)} " if near else ""
    problems.add(
        NoMain(
            source.span(0, 0),
            f"`{source.path}` has no `main` function",
            help=f"{advice}a program starts at `fn main() {{ … }}`",
        )
    )
