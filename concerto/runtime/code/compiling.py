"""The compiler of programs that models write: the front end over a world that is nothing but the tools of a
request, their types, and the pure part of the library.

The world is made once for a set of tools; a program is parsed, checked and emitted against it, and leaves
nothing in it. What is not in the world cannot be named: that is an ordinary diagnostic.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from functools import cache, lru_cache

from concerto.diagnostics import Problem, Problems
from concerto.diagnostics.syntax import MisplacedStatement, NoMain, TooDeep, UnexpectedToken
from concerto.emit import emit_program
from concerto.ir.module import ModuleIR
from concerto.json_data import Json
from concerto.records import record, replace
from concerto.runtime.code.signatures import FUNCTIONS
from concerto.semantics.analyses.exhaustiveness import check_matches
from concerto.semantics.analyses.flow import check_flow
from concerto.semantics.analyses.ownership import place_copies
from concerto.semantics.analyses.uninhabited import check_endless
from concerto.semantics.check.bodies import check_bodies
from concerto.semantics.declare.collect import declare_program, fill_declared, no_declarations
from concerto.semantics.declare.library import NoProject, compiling, library
from concerto.semantics.model.analysis import CallTarget, EmitCall, NativeCall
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.symbols import FunctionSymbol, ModuleSymbol, Symbol, ToolSymbol
from concerto.source import Source, Span
from concerto.syntax import ast
from concerto.syntax.brackets import balance
from concerto.syntax.lexer import scan
from concerto.syntax.parser import parse
from concerto.syntax.walk import walk

MOST_CHARACTERS = 20_000
"""A program has no more."""
MOST_SHOWN = 5
"""Of the diagnostics of a program, so many are told."""
PROGRAM = "program"
"""The name of the file that a program is."""

_MODULES = frozenset({"collections", "crypto", "fmt", "json", "math", "regex", "string"})
_REACHING_OUT = frozenset(
    {
        "std::prelude::env", "std::prelude::test_emits", "std::prelude::image", "std::prelude::audio",
        "std::prelude::file", "Part::read", "std::math::random", "std::math::random_int",
        "std::crypto::uuid", "std::crypto::random_bytes",
    }
)  # fmt: skip
_HANDLES = frozenset(
    {"AgentRef", "AgentBuilder", "ToolRef", "McpRef", "ToolContext", "Memory", "Ledger", "HashMap", "Task"}
)
_HEADER = "fn main() -> Any {\n"
_HAS_MAIN = re.compile(r"^\s*(?:pub\s+)?(?:async\s+)?fn\s+main\b", re.MULTILINE)
_OUT_OF_PLACE = (
    ast.ToolDecl, ast.AgentDecl, ast.McpDecl, ast.ConnectDecl, ast.PipelineDecl, ast.StateDecl, ast.ModDecl,
    ast.Listen, ast.Mock, ast.Spawn,
)  # fmt: skip


class ProgramWorld:
    """What programs see. Implements `LibraryTable`: to the checker it is a library."""

    def __init__(self, declared: str) -> None:
        """Raises AssertionError if the declarations are wrong, which are made here."""
        problems = Problems()
        own = no_declarations(NoProject(), problems, library())
        declare_program(own, parse(Source("tools", declared), problems))
        found = [problem.message for problem in problems if problem.severity == "error"]
        assert not found, f"the signatures of tools do not compile: {found[0]}"
        for name in _MODULES:
            self.module(name)  # No program has them loaded.
        self.declarations: Declarations = library().declarations
        self.prelude = _pure(library().prelude)
        for name, symbol in own.root.members.items():
            if isinstance(symbol, ToolSymbol):
                _link_by_method(symbol)
                if name == FUNCTIONS:
                    self.prelude.members.update(symbol.methods)
                    continue
            self.prelude.members[name] = symbol

    def names(self) -> list[str]:
        return sorted(_MODULES)

    def module(self, name: str) -> ModuleSymbol | None:
        return _pure_module(name) if name in _MODULES else None

    def module_with(self, name: str) -> str | None:
        modules = [self.module(each) for each in sorted(_MODULES)]
        return next((each.path for each in modules if each is not None and name in each.members), None)


def _link_by_method(tool: ToolSymbol) -> None:
    """Have the methods that a program calls linked into it as those of the library are, and no others."""
    for name, method in tool.methods.items():
        method.owner = replace(tool, methods={name: method}, library=True)


@lru_cache(maxsize=32)
def _world_of(declarations: str) -> ProgramWorld:
    return ProgramWorld(declarations)


@cache
def _pure_module(name: str) -> ModuleSymbol | None:
    module = library().module(name)
    return None if module is None else _pure(module)


def _pure(module: ModuleSymbol) -> ModuleSymbol:
    """A module of the library without what reaches out of the program."""
    return replace(module, members=dict(_kept(module.members)))


def _kept(members: dict[str, Symbol]) -> Iterator[tuple[str, Symbol]]:
    for name, symbol in members.items():
        if not _reaches_out(symbol) and name not in _HANDLES:
            yield name, symbol


def _reaches_out(symbol: Symbol) -> bool:
    return isinstance(symbol, FunctionSymbol) and symbol.native in _REACHING_OUT


@record(frozen=True)
class CompiledProgram:
    """A program that begins at its `main`; so many lines stand before what the model wrote."""

    module: ModuleIR
    lines_before: int


class Rejected(Exception):
    """A program that does not compile; `diagnostics` are for the model."""

    def __init__(self, diagnostics: list[Json]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = diagnostics


def compile_program(text: str, declarations: str) -> CompiledProgram:
    """The program with this text, in the world of these declarations; raises Rejected."""
    with compiling:
        return _compile(text, _world_of(declarations))


def _compile(text: str, world: ProgramWorld) -> CompiledProgram:
    header = "" if _HAS_MAIN.search(text) else _HEADER
    source = Source(PROGRAM, f"{header}{text}\n}}\n" if header else text)
    problems = Problems()
    module: ModuleIR | None = None
    paused = gc.isenabled()
    gc.disable()
    try:
        if not _is_too_much(text, source, problems):
            tree = parse(source, problems)
            _report_misplaced(tree, source, problems)
            if not problems.errors:
                module = _compiled(tree, world, problems)
    except RecursionError:
        problems.add(TooDeep(source.span(0, 0), "the program is nested too deeply", help="use variables"))
    finally:
        if paused:
            gc.enable()
    lines_before = 1 if header else 0
    if module is None:
        unpaired = _unpaired(text) if header else problems
        if unpaired.errors:
            problems, header = unpaired, ""
        raise Rejected(list(_shown(problems, text, header)))
    return CompiledProgram(module, lines_before)


def _unpaired(text: str) -> Problems:
    """What is wrong with a text's own brackets, which may have paired with those around it."""
    source, problems = Source(PROGRAM, text), Problems()
    lexed = scan(source, problems)
    balance(source, lexed, problems)
    for problem in lexed.spare:
        problems.add(problem)
    return problems


def _is_too_much(text: str, source: Source, problems: Problems) -> bool:
    if len(text) > MOST_CHARACTERS:
        message = f"the program has {len(text)} characters, {MOST_CHARACTERS} are the most"
        problems.add(TooDeep(source.span(0, 0), message, help="do less in one program"))
    return problems.errors


def _compiled(tree: ast.Module, world: ProgramWorld, problems: Problems) -> ModuleIR | None:
    declarations = no_declarations(NoProject(), problems, world)
    analysis = declarations.analysis
    analysis.root = declarations.root = declarations.modules.add_file("", tree)
    declarations.modules.finish()
    fill_declared(declarations)
    analysis.entry = _entry(declarations, tree.source, problems)
    check_bodies(declarations)
    called = [node for node, call in analysis.calls.items() if _is_out_of_place(call)]
    given = [node for node, symbol in analysis.uses.items() if _reaches_out(symbol)]
    for node in (*called, *given):
        problems.add(_misplaced(tree.source, node))
    check_endless(analysis, problems)
    check_flow(analysis, problems)
    check_matches(analysis, problems)
    if problems.errors:
        return None
    place_copies(analysis, {}, is_whole=False)
    return emit_program(analysis)


def _is_out_of_place(call: CallTarget) -> bool:
    """Also of functions that are found by their type, and not by a name of the world."""
    return isinstance(call, EmitCall) or (isinstance(call, NativeCall) and _reaches_out(call.function))


def _entry(declarations: Declarations, source: Source, problems: Problems) -> FunctionSymbol | None:
    """Its `main`, which may give a value of any type."""
    main = declarations.root.members.get("main")
    if not isinstance(main, FunctionSymbol) or main.parameters or main.generics:
        place = source.span(0, 0) if main is None or main.node is None else _start_of(source, main.node)
        problems.add(NoMain(place, "the program has no `main` without parameters", help="`fn main() { … }`"))
        return None
    return main


def _start_of(source: Source, node: ast.Node) -> Span:
    return source.span(node.start, node.start + 1)


def _report_misplaced(tree: ast.Module, source: Source, problems: Problems) -> None:
    """Declarations and statements of whole projects, which a program for a few calls has no place for."""
    for node in walk(tree):
        if isinstance(node, _OUT_OF_PLACE):
            problems.add(_misplaced(source, node))


def _misplaced(source: Source, node: ast.Node) -> MisplacedStatement:
    found = re.match(r"@?\w+(?:::\w+)*", source.text[node.start :])
    word = "this" if found is None else found.group()
    return MisplacedStatement(
        source.span(node.start, node.start + len(word)),
        f"a program that calls tools has no `{word}`",
        help="call the tools that are there, compute with their results, and end with the value",
    )


def _shown(problems: Problems, text: str, header: str) -> Iterator[Json]:
    """The first few errors, by line and column of what the model wrote."""
    errors = [problem for problem in problems if problem.severity == "error"]
    for problem in errors[:MOST_SHOWN]:
        yield _as_json(problem, text, len(header))
    if len(errors) > MOST_SHOWN:
        yield {"note": f"{len(errors) - MOST_SHOWN} more"}


def _as_json(problem: Problem, text: str, before: int) -> Json:
    # Behind what the model wrote stands nothing that it knows of.
    start = min(max(problem.span.start - before, 0), len(text.rstrip()))
    source = Source(PROGRAM, text)
    line, column = source.line_column(start)
    shown: dict[str, Json] = {"code": problem.code, "line": line, "column": column}
    at = source.line_text(line).strip()
    if at:
        shown["at"] = at[:120]
    shown["message"] = problem.message
    if before and problem.code == UnexpectedToken.code and not _in_block(text[:start]):
        shown["message"] = problem.message.replace("`}`", "the end of the program")
    if problem.label:
        shown["why"] = problem.label
    if problem.help:
        shown["help"] = problem.help
    return shown


def _in_block(text: str) -> bool:
    """Whether a text has a block that it does not close."""
    kinds = [token.kind for token in scan(Source(PROGRAM, text), Problems()).tokens]
    return kinds.count("LBRACE") > kinds.count("RBRACE")
