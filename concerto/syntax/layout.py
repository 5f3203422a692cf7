"""Pretty printer (Wadler's documents): documents that know several layouts, and the choice of the best one
for a width.

A document is a text or one of the classes below. A `Group` is written on one line if it fits, else
all its own lines are broken. What has a hard line in it never fits. Nothing here recurses: documents
may be as deep as the trees they show.
"""

from __future__ import annotations

from typing import TypeAlias

from concerto.records import frozen

STEP = 4
WIDTH = 100


@frozen
class Line:
    """A line break, or `flat` where its group is on one line; a hard one is always broken."""

    flat: str = " "
    hard: bool = False
    blank: bool = False


@frozen
class Concat:
    parts: tuple[Doc, ...]
    hard: bool


@frozen
class Indent:
    content: Doc
    hard: bool


@frozen
class Group:
    content: Doc
    hard: bool


@frozen
class IfBroken:
    """`broken` where the group around it is broken, else `flat`."""

    broken: str
    flat: str
    hard: bool = False


@frozen
class Choice:
    """The first of the options whose first line fits, else the last one."""

    options: tuple[Doc, ...]
    hard: bool


@frozen
class Behind:
    """A comment at the end of a line; it takes no room, and what follows is on the next line."""

    text: str
    hard: bool = True


Doc: TypeAlias = str | Line | Concat | Indent | Group | IfBroken | Choice | Behind

LINE = Line()
SOFT = Line("")
HARD = Line("", hard=True)
BLANK = Line("", hard=True, blank=True)
COMMA_IF_BROKEN = IfBroken(",", "")


def is_hard(doc: Doc) -> bool:
    return not isinstance(doc, str) and doc.hard


def concat(*parts: Doc) -> Doc:
    return Concat(parts, any(map(is_hard, parts)))


def indent(*parts: Doc) -> Doc:
    content = concat(*parts)
    return Indent(content, is_hard(content))


def group(*parts: Doc, broken: bool = False) -> Doc:
    content = concat(*parts)
    return Group(content, broken or is_hard(content))


def choice(*options: Doc) -> Doc:
    return Choice(options, is_hard(options[0]))


def opened(doc: Doc) -> Doc:
    """The document with its last group broken, whether it would fit or not."""
    if isinstance(doc, Group):
        return Group(doc.content, True)
    if isinstance(doc, Concat) and doc.parts:
        return concat(*doc.parts[:-1], opened(doc.parts[-1]))
    return doc


def join(separator: Doc, docs: list[Doc]) -> Doc:
    parts: list[Doc] = []
    for doc in docs:
        parts += [separator, doc]
    return concat(*parts[1:])


_Entry: TypeAlias = tuple[int, bool, Doc]


def render(doc: Doc, width: int) -> str:
    out: list[str] = []
    column = 0
    # Indentation, whether its lines are broken, and the document.
    stack: list[_Entry] = [(0, True, doc)]
    while stack:
        level, broken, current = stack.pop()
        if isinstance(current, str):
            out.append(current)
            line_break = current.rfind("\n")
            column = column + len(current) if line_break < 0 else len(current) - line_break - 1
        elif isinstance(current, Line):
            if broken or current.hard:
                out.append(("\n\n" if current.blank else "\n") + " " * level)
                column = level
            else:
                out.append(current.flat)
                column += len(current.flat)
        elif isinstance(current, Behind):
            out.append(f" {current.text}")
        else:
            stack += _expand(level, broken, current, width - column, stack)
    return "\n".join(line.rstrip() if line.isspace() else line for line in "".join(out).split("\n"))


def _expand(
    level: int, broken: bool, doc: Concat | Indent | Group | IfBroken | Choice, room: int, rest: list[_Entry]
) -> list[_Entry]:
    """What a document comes down to, last part first."""
    if isinstance(doc, Concat):
        return [(level, broken, part) for part in reversed(doc.parts)]
    if isinstance(doc, Indent):
        return [(level + STEP, broken, doc.content)]
    if isinstance(doc, IfBroken):
        return [(level, broken, doc.broken if broken else doc.flat)]
    if isinstance(doc, Group):
        flat = not doc.hard and _fits((level, False, doc.content), room, rest)
        return [(level, not flat, doc.content)]
    if not broken:
        return [(level, False, doc.options[0])]
    for option in doc.options[:-1]:
        if _fits((level, True, option), room, rest):
            return [(level, True, option)]
    return [(level, True, doc.options[-1])]


def _fits(first: _Entry, room: int, rest: list[_Entry]) -> bool:
    """Whether everything up to the next line break goes into the room; what follows the document is
    broken where it can be."""
    stack = [first]
    behind = len(rest)
    following = False
    while True:
        if not stack:
            if behind == 0:
                return True
            behind -= 1
            stack.append(rest[behind])
            following = True
        level, broken, doc = stack.pop()
        if isinstance(doc, str):
            line_break = doc.find("\n")
            room -= len(doc) if line_break < 0 else line_break
            if room < 0:
                return False
            if line_break >= 0:
                return True
        elif isinstance(doc, Line):
            if broken or doc.hard:
                return True
            room -= len(doc.flat)
        elif isinstance(doc, Concat):
            stack += [(level, broken, part) for part in reversed(doc.parts)]
        elif isinstance(doc, Indent):
            stack.append((level, broken, doc.content))
        elif isinstance(doc, Group):
            stack.append((level, doc.hard or (following and broken), doc.content))
        elif isinstance(doc, IfBroken):
            stack.append((level, broken, doc.broken if broken else doc.flat))
        elif isinstance(doc, Choice):
            stack.append((level, broken, doc.options[-1 if following and broken else 0]))
