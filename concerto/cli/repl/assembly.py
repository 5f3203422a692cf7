"""The program that an input of a `concerto repl` makes with the declarations and variables of those before,
and the way back from it to the inputs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from concerto.cli.repl.variables import Variable
from concerto.compiler.depth import with_room
from concerto.diagnostics import Misplaced, Problems
from concerto.diagnostics.problem import Problem
from concerto.records import record, replace
from concerto.source import Source, Span
from concerto.syntax import ast
from concerto.syntax.walk import walk
from concerto.vm.trace import TraceFrame

INPUT = "the input"
"""The name of the function that an input becomes; nothing can call it."""

_BODY = "fn main() {\n"


@record(frozen=True)
class InputPiece:
    """A part of an input that begins at `start` of it. `names` are what it declares, or the variables that
    its statements make."""

    source: Source
    start: int
    text: str
    names: frozenset[str] = frozenset()

    @property
    def words(self) -> list[str]:
        """The text, however it is laid out."""
        return self.text.replace(";", " ").split()


@record(frozen=True)
class Input:
    """An input, taken apart: declarations, or statements and a last expression."""

    declarations: tuple[InputPiece, ...] = ()
    statements: InputPiece | None = None
    value: InputPiece | None = None


def read_declarations(source: Source, problems: Problems) -> Input:
    """An input as items of a file."""
    tree = _parsed(source, problems)
    pieces, end = [], 0
    for item in tree.items:
        pieces.append(InputPiece(source, end, source.text[end : item.end], _names(item, source)))
        end = item.end
    return Input(tuple(pieces))


def read_statements(source: Source, problems: Problems) -> Input:
    """An input as the body of a function."""
    text = source.text
    inside = Source(source.path, f"{_BODY}{text}\n}}\n")
    found = Problems()
    tree = _parsed(inside, found)
    body = tree.items[0].body if tree.items and isinstance(tree.items[0], ast.FnDecl) else None
    for place in _returns(body) if body is not None else ():
        found.add(Misplaced(inside.span(*place), "`return` would end the session"))
    end = len(_BODY) + len(text)
    for problem in found:
        if problem.span.start > end:
            words = problem.message.replace("found `}`", "found the end of the input")
            problem = replace(problem, message=words)
        problems.add(moved(problem, lambda place: (source, min(max(place - len(_BODY), 0), len(text)))))
    if body is None or found.errors:
        return Input()
    start = len(text) if body.result is None else body.result.start - len(_BODY)
    names = frozenset(name for statement in body.statements for name in _variables(statement))
    before = InputPiece(source, 0, text[:start], names) if text[:start].strip() else None
    return Input((), before, InputPiece(source, start, text[start:]) if text[start:].strip() else None)


class Assembly:
    """A function of an input. Its parameters are the `variables`; it gives the value, and a tuple of nil and
    the variables called `left`: those that may have changed and the new ones."""

    def __init__(
        self,
        declarations: Iterable[InputPiece],
        variables: Sequence[Variable],
        statements: InputPiece | None = None,
        value: InputPiece | None = None,
        *,
        named: bool = False,
    ) -> None:
        """A `named` value is that of the last `let` instead."""
        self.variables = variables
        self.words = {word for part in (statements, value) if part for word in re.findall(r"\w+", part.text)}
        changeable = {each.name for each in variables if each.mutable}
        self.left = sorted(changeable | (statements.names if statements is not None else set()))
        self._text = ""
        self._places: list[int] = []
        self._pieces: list[InputPiece] = []
        for piece in declarations:
            self._add("", piece, "\n")
        parameters = ", ".join([f"{each.name}: {each.type}" for each in variables])
        self._text += f"fn input({parameters}) -> Result<Any, Any> {{\n"
        for each in variables:
            self._text += f"let {'mut ' * each.mutable}{each.name} = {each.name};\n"
        if statements is not None:
            self._add("", statements, "\n")
        if value is None:
            self._text += "Ok((nil"
        elif named:
            self._add("let value = ", value, "\n;\nOk((nil")
        else:
            self._add("Ok((", value, "\n")
        self._text += f", (nil, {''.join([f'{name}, ' for name in self.left])})))\n}}\n"

    @cached_property
    def source(self) -> Source:
        return Source("<session>", self._text)

    def tree(self, problems: Problems) -> ast.Module:
        tree = _parsed(self.source, problems)
        function = tree.items[-1] if tree.items else None
        if isinstance(function, ast.FnDecl):
            function.name.text = INPUT
        return tree

    def place(self, offset: int) -> tuple[Source, int]:
        """Where in an input something stands; what stands in none belongs to the end of the one before."""
        index = max(bisect_right(self._places, offset) - 1, 0)
        piece = self._pieces[index]
        inside = min(max(offset - self._places[index], 0), len(piece.text))
        return piece.source, piece.start + inside

    def problem(self, problem: Problem) -> Problem:
        """A problem of the session, at its place in an input. Where one of its variables was declared is not
        known."""
        if problem.span.source.path != self.source.path:
            return problem
        related = tuple(each for each in problem.related if not self._is_heading(each[0]))
        return moved(replace(problem, related=related), self.place)

    def frame(self, frame: TraceFrame) -> TraceFrame:
        """A frame of a failure, at its place in an input."""
        if frame.file != self.source.path:
            return frame
        source, offset = self.place(self.source.line_starts[frame.line - 1] + frame.column - 1)
        line, column = source.line_column(offset)
        end = column + frame.end_column - frame.column
        return TraceFrame(frame.function, source.path, line, column, end, source.line_text(line))

    def _is_heading(self, span: Span) -> bool:
        """Whether a place is in what stands around the pieces."""
        index = bisect_right(self._places, span.start) - 1
        inside = index >= 0 and span.start - self._places[index] < len(self._pieces[index].text)
        return span.source.path == self.source.path and not inside

    def _add(self, before: str, piece: InputPiece, after: str) -> None:
        self._text += before
        self._places.append(len(self._text))
        self._pieces.append(piece)
        self._text += piece.text + after


def moved(problem: Problem, place: Callable[[int], tuple[Source, int]]) -> Problem:
    """A problem with its places moved."""

    def move(span: Span) -> Span:
        if span.source.path != problem.span.source.path:
            return span
        source, start = place(span.start)
        end_source, end = place(span.end)
        return Span(source, start, end if end_source is source else start)

    related = tuple((move(span), label) for span, label in problem.related)
    return replace(problem, span=move(problem.span), related=related)


def value_of(tree: ast.Module) -> ast.Expr | None:
    """The expression that an Assembly has named."""
    function = tree.items[-1]
    if not isinstance(function, ast.FnDecl) or function.body is None or not function.body.statements:
        return None
    last = function.body.statements[-1]
    return last.value if isinstance(last, ast.Let) else None


def _parsed(source: Source, problems: Problems) -> ast.Module:
    from concerto.syntax.parser import parse

    return with_room(lambda: parse(source, problems))


def _returns(body: ast.Block) -> list[tuple[int, int]]:
    """Where the function of an input would be left, and none that stands in it."""
    nodes = list(walk(body))
    inner = [(each.start, each.end) for each in nodes if isinstance(each, ast.Closure | ast.FnDecl)]
    left = [(each.start, each.end) for each in nodes if isinstance(each, ast.Return)]
    return [place for place in left if not any(start <= place[0] < end for start, end in inner)]


def _variables(statement: ast.Node) -> Iterator[str]:
    """What a `let` with a value makes; a name in capitals is a variant's or a const's."""
    if not isinstance(statement, ast.Let) or statement.value is None:
        return
    for node in walk(statement.pattern):
        match node:
            case (
                ast.BindPattern(name=ast.Ident(text=name))
                | ast.FieldPattern(name=ast.Ident(text=name), pattern=None)
                | ast.RestPattern(name=ast.Ident(text=name))
            ) if not name[0].isupper():
                yield name
            case _:
                pass


def _names(item: ast.Item, source: Source) -> frozenset[str]:
    """What takes the place of an earlier declaration of the same."""
    match item:
        case ast.UseDecl() | ast.ErrorItem():
            return frozenset()
        case ast.ImplDecl(trait=trait, target=target):
            what = " ".join(source.text[target.start : target.end].split())
            if trait is not None:
                what = f"{source.text[trait.start : trait.end]} for {what}"
            return frozenset(f"impl {what}::{'' if trait else each.name.text}" for each in item.methods)
        case _:
            return frozenset({item.name.text})
