"""The text with a name put where the author is writing, so that the passes can say what may stand there."""

from __future__ import annotations

import re

from concerto.compiler.depth import with_room
from concerto.diagnostics import Problems
from concerto.language_server.programs import EditedProgram
from concerto.language_server.splice import text_alone
from concerto.records import record
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.hole import HOLE, Hole
from concerto.semantics.model.symbols import FunctionSymbol
from concerto.semantics.on_demand import ProgramOnDemand
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse
from concerto.syntax.walk import path_to

# What may be missing behind the name for the text to have a meaning.
_ENDINGS = (
    "",
    ";",
    ": nil,",
    ")",
    ");",
    "]",
    " fn hole() {}",
    "\nfn hole() {}",
    " {}",
    "}",
    " = nil;",
    ">() {}",
    " } => nil",
)

# The first line of a declaration: what stands directly above it, if that is not empty, belongs to it.
_DECLARATION = re.compile(r"(?:^|(?<=\n\n)|(?<=[;}]\n))(?=[@/a-z])")


@record(eq=False)
class Trial:
    """A place of a text, the nodes around it, outermost first, and the word that is being written there."""

    source: Source
    start: int
    end: int
    path: list[ast.Node]

    @property
    def word(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def is_in_number(self) -> bool:
        return self.word[:1].isdigit() and self.source.text[self.start - 1 : self.start] != "."

    @property
    def is_in_body(self) -> bool:
        bodies = (node.body for node in self.path if isinstance(node, ast.FnDecl | ast.StageDecl))
        return any(body is not None and body.start < self.start < body.end for body in bodies)


@record(eq=False)
class Tried:
    """What the passes know of the place."""

    hole: Hole
    analysis: Analysis
    declarations: Declarations


def trial_at(source: Source, offset: int) -> Trial | None:
    """None where no name has a meaning: in comments."""
    start, end = _word(source.text, offset)
    decorates = source.text[start - 1 : start] == "@"
    part = _declaration_around(source.text, start)
    before = text_alone(source.text, part.start, start)
    for ending in _ENDINGS:
        text = f"{before}{HOLE}{ending}{source.text[end : part.stop]}"
        tree = parse(Source(source.path, text), Problems())
        path = path_to(tree, start)
        if isinstance(path[-1], ast.Ident) and path[-1].text == HOLE:
            # A decorator with nothing behind it is left out of the tree, and the name is another thing's.
            if decorates and not any(isinstance(node, ast.Decorator) for node in path):
                continue
            return Trial(source, start, end, path)
        if any(comment.start < start <= comment.end for comment in tree.comments):
            return None
        if isinstance(path[-1], ast.StringLit | ast.Interpolation):
            return Trial(source, start, end, path)
    return Trial(source, start, end, [])


def _declaration_around(text: str, offset: int) -> range:
    """The part of a text that has the declaration around a place: to where the next one begins at the edge of
    its line, as they do in a file that is formatted."""
    start = 0
    for line in _DECLARATION.finditer(text):
        if line.start() > offset:
            return range(start, line.start())
        start = line.start()
    return range(start, len(text))


def _word(text: str, offset: int) -> tuple[int, int]:
    start = end = offset
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return start, end


def try_it(program: EditedProgram, trial: Trial) -> Tried:
    """Check what is around the place: the function alone, if there is one in the program as it is."""
    return _try_function(program, trial) or try_program(program, trial)


def _try_function(program: EditedProgram, trial: Trial) -> Tried | None:
    """Check the function around the place; None if the program has none with the same head."""
    declarations = program.checked.declarations
    written = next((node for node in trial.path if isinstance(node, ast.FnDecl)), None)
    body = None if written is None else written.body
    if written is not None and body is not None and body.start < trial.start < body.end:
        owners = [each for each in declarations.analysis.functions if _is_in(each, trial.source)]
        same = (each for each in owners if each.decl is not None and _same_head(each.decl, written))
        owner = next(same, None)
        if owner is not None:
            hole, analysis = with_room(lambda: program.checked.try_body(owner, written))
            return Tried(hole, analysis, declarations)
    return None


def _is_in(function: FunctionSymbol, source: Source) -> bool:
    return function.source is not None and function.source.path == source.path


def _same_head(left: ast.FnDecl, right: ast.FnDecl) -> bool:
    return (left.start, left.name.start, left.name.text) == (right.start, right.name.start, right.name.text)


def try_program(program: EditedProgram, trial: Trial) -> Tried:
    """The whole program with what is around the place instead of what the file has there."""
    project, hole, source = program.project, Hole(), trial.source
    tree = _tree_with(program.documents.parse(source), trial)
    first = program.tree_of_first()
    parse_again = project.parse

    def changed(each: Source, problems: Problems) -> ast.Module:
        return tree if each.path == source.path else parse_again(each, problems)

    project.parse = changed
    looked_at = dict(project.looked_at)
    try:
        root = tree if first.source.path == source.path else first
        tried = with_room(lambda: ProgramOnDemand(root, project, Problems(), hole))
        for each in tried.analysis.files:
            if each.path == source.path:
                with_room(lambda: tried.check_at(each, trial.start))  # noqa: B023 – it is called at once
                break
    finally:
        project.parse, project.looked_at = parse_again, looked_at
    return Tried(hole, tried.analysis, tried.declarations)


def _tree_with(tree: ast.Module, trial: Trial) -> ast.Module:
    """A file's tree with the items of the trial in place of those that stand there."""
    part = trial.path[0]
    assert isinstance(part, ast.Module)
    start = part.items[0].start if part.items else trial.start
    end = max(trial.end, part.items[-1].end - len(HOLE)) if part.items else trial.end
    before = [each for each in tree.items if each.end <= start]
    behind = [each for each in tree.items if each.start >= end]
    return ast.Module(0, tree.end, part.source, [*before, *part.items, *behind], part.comments)
