"""The passes in their order. Each adds to `problems`; the next begins only if none found an error, but what
the parser could save of a broken program is checked as well."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from concerto.compiler.depth import with_room
from concerto.compiler.disk import shown_path
from concerto.diagnostics import Problem, Problems, did_you_mean, suggest
from concerto.ir.module import ModuleIR
from concerto.source import Source, Span

if TYPE_CHECKING:
    from concerto.compiler.disk import DiskProject
    from concerto.semantics.model.analysis import Analysis, ReusedFile
    from concerto.semantics.model.project import Project
    from concerto.syntax import ast
    from concerto.trust.analysis import TrustAnalysis, TrustSettings

R = TypeVar("R")

_WORD: Final = r"\b[A-Za-z_][A-Za-z0-9_]*"
_DECLARABLE: Final = rf"(?<!\.){_WORD}"
# Problems of a name that nothing declares.
_UNKNOWN: Final = ("E0201", "E0202", "E0204")
# What a line may declare, also where it could not be read.
_DECLARED: Final = rf"\b(?:let|mut|fn|struct|enum|trait|type|const)\s+{_WORD}|{_WORD}(?=\s*:(?!:))"
# Problems of what a declaration has, or has to have.
_OF_MEMBERS: Final = ("E0204", "E0303", "E0306")
_DECORATORS: Final = re.compile(r'(?:\s|@\w+(?:\((?:[^()"\n]|"[^"\n]*")*\))?)*(?:pub\s+)?\w*\s*')
_STRING: Final = r'"(?:[^"\\\n]|\\.)*"'


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
        problems.add_all(list(_without_consequences(found, analysis, problems)))
        return
    problems.add_all(found)
    if analysis.mcps and not problems.errors:
        from concerto.compiler.locked import check_locked

        check_locked(analysis, project.lock, problems)


def _inspect(tree: ast.Module, project: Project, problems: Problems) -> Analysis | None:
    from concerto.semantics import check_program

    return None if problems.errors else check_program(tree, project, problems)


def _without_consequences(found: Problems, analysis: Analysis, problems: Problems) -> Iterator[Problem]:
    """What was found in the parts that the parser understood. Nothing is said on a line with a syntax error,
    nor about a name of the program where a part was given up that may have declared it; and no warning of a
    file that has one."""
    from concerto.syntax import ast

    broken = {problem.span.source for problem in problems}
    lines = {(each.span.source, each.span.source.line_column(each.span.start)[0]) for each in problems}
    trees = [module.tree for module in analysis.modules if module.tree is not None]
    roots = [tree for tree in trees if isinstance(tree, ast.Module) and tree.source in broken]
    lost = [each for tree in roots for each in _lost_names(tree)]
    unsaid = [*lost, *(each for tree in roots for each in _half_read_names(tree, problems))]
    half_read = {name for tree in roots for name in _names_of_half_read(tree, problems)}
    for problem in found:
        span = problem.span
        if span.source in broken:
            if problem.severity != "error":
                continue
            if any(
                (each.source, each.source.line_column(each.start)[0]) in lines for each in _spans(problem)
            ):
                continue
        misplaced = problem.code == "E0420" and "does not belong before" in problem.message
        if misplaced and any(_decorates(span, each.span) for each in problems):
            continue
        words = _words(_WORD, span.text)
        if _is_of_members(problem) and not half_read.isdisjoint(_quoted(problem.message)):
            continue
        inside = (
            names
            for names, source, body in (unsaid if problem.code in _UNKNOWN else lost)
            if body is None or (span.source is source and span.start in body)
        )
        if all(names.isdisjoint(words) for names in inside):
            yield problem


def _decorates(decorator: Span, broken: Span) -> bool:
    """Whether only other decorators and a word stand between a decorator and what could not be read."""
    if decorator.source is not broken.source or broken.start < decorator.end:
        return False
    return _DECORATORS.fullmatch(decorator.source.text, decorator.end, broken.start) is not None


def _spans(problem: Problem) -> Iterator[Span]:
    """Where a problem is, and where its immutable variable was declared."""
    yield problem.span
    if problem.code == "E0205":
        yield from (span for span, _ in problem.related)


def _lost_names(tree: ast.Module) -> Iterator[tuple[set[str], Source, range | None]]:
    """The names on the lines of each part that was given up, with the body of the function that it stands in,
    which alone sees what is declared there."""
    from concerto.semantics.declare.library import library
    from concerto.syntax import ast
    from concerto.syntax.tokens import KEYWORDS
    from concerto.syntax.walk import walk

    known = KEYWORDS.keys() | library().prelude.members.keys()
    bodies = _bodies(tree)
    for node in walk(tree):
        if isinstance(node, ast.ErrorExpr | ast.ErrorItem):
            names = set(_words(_DECLARABLE, _lines_of(node.start, node.end, tree.source))) - known
            yield names, tree.source, next((body for body in bodies if node.start in body), None)


def _half_read_names(tree: ast.Module, problems: Problems) -> Iterator[tuple[set[str], Source, range | None]]:
    """As `_lost_names`, what a line with a problem seems to declare."""
    bodies = _bodies(tree)
    for each in problems:
        if each.span.source is tree.source:
            found = _words(_DECLARED, _lines_of(each.span.start, each.span.end, tree.source))
            names = {word.split()[-1] for word in found}
            yield names, tree.source, next((body for body in bodies if each.span.start in body), None)


def _names_of_half_read(tree: ast.Module, problems: Problems) -> Iterator[str]:
    """The names of declarations with a syntax error outside of function bodies, of what they have, and of
    the traits and types that they are for: nobody knows what these lack."""
    from concerto.semantics.declare.library import library
    from concerto.semantics.model.builtins import BUILTIN_TYPES
    from concerto.syntax import ast
    from concerto.syntax.tokens import KEYWORDS
    from concerto.syntax.walk import walk

    bodies = _bodies(tree)
    spans = [each.span for each in problems if each.span.source is tree.source]
    places = [span for span in spans if not any(span.start in body for body in bodies)]
    if not places:
        return
    known = KEYWORDS.keys() | library().prelude.members.keys() | BUILTIN_TYPES.keys()
    kinds = (ast.ImplDecl, ast.TraitDecl, ast.FnDecl, ast.StructDecl, ast.EnumDecl, ast.ToolDecl)
    declared = [node for node in walk(tree) if isinstance(node, kinds)]
    for span in places:
        around = [node for node in declared if node.start <= span.start <= node.end]
        if around:
            yield from set(_words(_DECLARABLE, _lines_of(span.start, span.end, tree.source))) - known
            node = min(around, key=lambda node: node.end - node.start)
            heads = (node.target, node.trait) if isinstance(node, ast.ImplDecl) else (node.name,)
            methods = getattr(node, "methods", ())
            for head in (*heads, *(method.name for method in methods)):
                if head is not None:
                    yield from _words(_WORD, tree.source.text[head.start : head.end])


def _bodies(tree: ast.Module) -> list[range]:
    from concerto.syntax import ast
    from concerto.syntax.walk import walk

    functions = [node for node in walk(tree) if isinstance(node, ast.FnDecl)]
    return [range(each.body.start, each.body.end) for each in functions if each.body is not None]


def _words(kind: str, text: str) -> list[str]:
    """The words in a piece of a program, but those in its strings."""
    return re.findall(kind, re.sub(_STRING, " ", text))


def _is_of_members(problem: Problem) -> bool:
    return problem.code in _OF_MEMBERS or problem.message.startswith("nothing says which type")


def _quoted(message: str) -> list[str]:
    """The words of a message that are those of the program."""
    return [word for part in re.findall("`([^`]*)`", message) for word in _words(_WORD, part)]


def _lines_of(start: int, end: int, source: Source) -> str:
    """The text of the lines that a stretch touches."""
    start = source.text.rfind("\n", 0, start) + 1
    end = source.text.find("\n", end)
    return source.text[start : end if end >= 0 else None]


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
