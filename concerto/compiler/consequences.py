"""What is said of a program with syntax errors beside these: nothing that only follows from them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias, TypeVar

from concerto.diagnostics import Problem, Problems
from concerto.semantics.declare.library import library
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.builtins import BUILTIN_TYPES
from concerto.source import Source, Span
from concerto.syntax import ast
from concerto.syntax.tokens import KEYWORDS
from concerto.syntax.walk import walk

Node = TypeVar("Node", bound=ast.Node)
Lost: TypeAlias = tuple[set[str], ast.Node | None]
"""Names that may have been declared, and the function body that alone sees them, or None."""

_WORD: Final = r"\b[A-Za-z_][A-Za-z0-9_]*"
_DECLARABLE: Final = rf"(?<!\.){_WORD}"
# What a line may declare, also where it could not be read.
_DECLARED: Final = rf"\b(?:let|mut|fn|struct|enum|trait|type|const)\s+{_WORD}|{_WORD}(?=\s*:(?!:))"
_DECORATORS: Final = re.compile(r'(?:\s|@\w+(?:\((?:[^()"\n]|"[^"\n]*")*\))?)*(?:pub\s+)?\w*\s*')
_STRING: Final = r'"(?:[^"\\\n]|\\.)*"'
# Problems of a name that nothing declares.
_UNKNOWN: Final = ("E0201", "E0202", "E0204")
# Problems of what a declaration has, or has to have.
_OF_MEMBERS: Final = ("E0204", "E0303", "E0306")
_WITH_MEMBERS: Final = (ast.ImplDecl, ast.TraitDecl, ast.StructDecl, ast.EnumDecl, ast.ToolDecl)


def without_consequences(found: Problems, analysis: Analysis, problems: Problems) -> Iterator[Problem]:
    """What was found in the parts that the parser understood. Nothing is said on a line with a syntax error,
    nor about a name of the program where a part was given up that may have declared it, nor about the end of
    a function in which a bracket is missing; and no warning of a file that has one."""
    broken = {problem.span.source for problem in problems}
    lines = {(each.span.source, each.span.source.line_column(each.span.start)[0]) for each in problems}
    trees = [module.tree for module in analysis.modules if module.tree is not None]
    files = {
        tree.source: _Broken(tree, problems)
        for tree in trees
        if isinstance(tree, ast.Module) and tree.source in broken
    }
    half_read = {name for file in files.values() for name in file.names_of_half_read()}
    for problem in found:
        span = problem.span
        if span.source in broken:
            if problem.severity != "error":
                continue
            if any(
                (each.source, each.source.line_column(each.start)[0]) in lines for each in _spans(problem)
            ):
                continue
        if problem.code == "E0308" and span.source in files and files[span.source].is_unclosed(span):
            continue
        misplaced = problem.code == "E0420" and "does not belong before" in problem.message
        if misplaced and any(_decorates(span, each.span) for each in problems):
            continue
        if _is_of_members(problem) and not half_read.isdisjoint(_quoted(problem.message)):
            continue
        words = _words(_WORD, span.text)
        unknown = problem.code in _UNKNOWN
        if all(names.isdisjoint(words) for file in files.values() for names in file.lost(span, unknown)):
            yield problem


class _Broken:
    """A file with syntax errors."""

    def __init__(self, tree: ast.Module, problems: Problems) -> None:
        self.tree = tree
        self.spans = [each.span for each in problems if each.span.source is tree.source]
        functions = [node for node in walk(tree) if isinstance(node, ast.FnDecl)]
        self.functions = _outer(functions)
        unclosed = [
            each.span for each in problems if each.span.source is tree.source and each.code == "E0102"
        ]
        self.unclosed = {_holder(self.functions, span.start) for span in unclosed}
        self.bodies = _outer(each.body for each in functions if each.body is not None)
        self.given_up = _by_body(self._lost_names())
        self.half_read = _by_body(self._half_read_names())

    def is_unclosed(self, span: Span) -> bool:
        """Whether a bracket is missing in the function at a place of this file: it may end elsewhere."""
        function = _holder(self.functions, span.start)
        return function is not None and function in self.unclosed

    def lost(self, span: Span, unknown: bool) -> Iterator[set[str]]:
        """What a place may miss of what was given up, and if it is about an unknown name, of what a line with
        a problem seems to declare."""
        bodies = {None, self._body_at(span.start) if span.source is self.tree.source else None}
        for names in (self.given_up, self.half_read) if unknown else (self.given_up,):
            yield from (names[body] for body in bodies if body in names)

    def _body_at(self, place: int) -> ast.Node | None:
        body = _holder(self.bodies, place)
        return body if body is not None and place < body.end else None

    def _lost_names(self) -> Iterator[Lost]:
        """The names on the lines of each part that was given up."""
        known = KEYWORDS.keys() | library().prelude.members.keys()
        for node in walk(self.tree):
            if isinstance(node, ast.ErrorExpr | ast.ErrorItem):
                names = set(_words(_DECLARABLE, _lines_of(node.start, node.end, self.tree.source))) - known
                yield names, self._body_at(node.start)

    def _half_read_names(self) -> Iterator[Lost]:
        for span in self.spans:
            found = _words(_DECLARED, _lines_of(span.start, span.end, span.source))
            yield {word.split()[-1] for word in found}, self._body_at(span.start)

    def names_of_half_read(self) -> Iterator[str]:
        """The names of declarations with a syntax error outside of function bodies, of what they have, and of
        the traits and types that they are for: nobody knows what these lack."""
        places = [span for span in self.spans if self._body_at(span.start) is None]
        if not places:
            return
        known = KEYWORDS.keys() | library().prelude.members.keys() | BUILTIN_TYPES.keys()
        nodes = list(walk(self.tree))
        functions = _outer(node for node in nodes if isinstance(node, ast.FnDecl))
        owners = _outer(node for node in nodes if isinstance(node, _WITH_MEMBERS))
        text = self.tree.source.text
        for span in places:
            node = _holder(functions, span.start) or _holder(owners, span.start)
            if node is None:
                continue
            lines = _lines_of(span.start, span.end, self.tree.source)
            yield from set(_words(_DECLARABLE, lines)) - known
            heads = (node.target, node.trait) if isinstance(node, ast.ImplDecl) else (node.name,)
            methods = getattr(node, "methods", ())
            for head in (*heads, *(method.name for method in methods)):
                if head is not None:
                    yield from _words(_WORD, text[head.start : head.end])


def _by_body(lost: Iterable[Lost]) -> dict[ast.Node | None, set[str]]:
    names: defaultdict[ast.Node | None, set[str]] = defaultdict(set)
    for found, body in lost:
        names[body] |= found
    return names


def _outer(nodes: Iterable[Node]) -> list[Node]:
    """The nodes that stand in none of the others, in order."""
    outer: list[Node] = []
    for node in sorted(nodes, key=lambda node: (node.start, -node.end)):
        if not outer or node.start >= outer[-1].end:
            outer.append(node)
    return outer


def _holder(nodes: Sequence[Node], place: int) -> Node | None:
    """The node that a place stands in, or right behind."""
    at = bisect_right(nodes, place, key=lambda node: node.start) - 1
    return nodes[at] if at >= 0 and place <= nodes[at].end else None


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
