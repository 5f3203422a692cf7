"""The text with a name put where the author is writing, so that the passes can say what may stand there."""

from __future__ import annotations

from concerto.compiler.depth import with_room
from concerto.diagnostics import Problems
from concerto.language_server.programs import EditedProgram
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
_ENDINGS = ("", ";", ": nil,", ")", ");", "]", "\nfn hole() {}", " {}", "}")


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


@record(eq=False)
class Tried:
    """What the passes know of the place."""

    hole: Hole
    analysis: Analysis
    declarations: Declarations


def trial_at(source: Source, offset: int, part: range | None = None) -> Trial | None:
    """None where nothing that is written has a meaning: in comments, and in numbers. With a `part` of the
    text only that is read, as if nothing else were there."""
    start, end = _word(source.text, offset)
    if source.text[start:end][:1].isdigit() and source.text[start - 1 : start] != ".":
        return None
    first, last = (part.start, part.stop) if part is not None else (0, len(source.text))
    before = "\n" * first + source.text[first:start]
    for ending in _ENDINGS:
        text = f"{before}{HOLE}{ending}{source.text[end:last]}"
        tree = parse(Source(source.path, text), Problems())
        path = path_to(tree, start)
        if isinstance(path[-1], ast.Ident) and path[-1].text == HOLE:
            return Trial(source, start, end, path)
        if any(comment.start < start <= comment.end for comment in tree.comments):
            return None
        if isinstance(path[-1], ast.StringLit):
            return Trial(source, start, end, path)
    return Trial(source, start, end, [])


def _word(text: str, offset: int) -> tuple[int, int]:
    start = end = offset
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return start, end


def try_it(program: EditedProgram, trial: Trial) -> Tried:
    """Check what is around the place: the function alone, if there is one in the program as it is."""
    tried = try_function(program, trial)
    if tried is not None:
        return tried
    tree = trial.path[0]
    assert isinstance(tree, ast.Module)
    return _try_program(program, trial.source, tree)


def try_function(program: EditedProgram, trial: Trial) -> Tried | None:
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


def _try_program(program: EditedProgram, source: Source, tree: ast.Module) -> Tried:
    """The whole program with the changed tree in place of the file's."""
    project, hole = program.project, Hole()
    is_first = program.tree_of_first().source is source
    first = tree if is_first else program.tree_of_first()
    parse_again = project.parse

    def changed(each: Source, problems: Problems) -> ast.Module:
        return tree if each.path == source.path else parse_again(each, problems)

    project.parse = changed
    looked_at = dict(project.looked_at)
    try:
        tried = with_room(lambda: ProgramOnDemand(first, project, Problems(), hole))
        for each in tried.analysis.files:
            if each.path == source.path:
                tried.check(each)
                break
    finally:
        project.parse, project.looked_at = parse_again, looked_at
    return Tried(hole, tried.analysis, tried.declarations)
