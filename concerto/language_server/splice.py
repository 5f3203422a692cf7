"""Incremental parsing: the one declaration that an edit changed is parsed again and put into the tree of its
file.

For editors, where a file is parsed after every key. Nobody else changes a node: those behind the edit are
moved, and the source has the new text from then on. The tree is that of parsing the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from concerto.diagnostics import Problems, ReservedName, UnknownCharacter
from concerto.records import field, record
from concerto.semantics.on_demand import Change
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.brackets import begins_part
from concerto.syntax.parser import Parsed, parse_open
from concerto.syntax.walk import path_to, walk

_WORD = re.compile(r"[A-Za-z_]\w*")
_MOST_MISTAKES = 50
_OF_THE_FILE = (ReservedName, UnknownCharacter)
"""Mistakes that depend on the rest of the file: they are told where they are met first, and a strange quote
looks for its partner far away."""


@record(eq=False)
class ParsedFile:
    """The tree of a text, and what the parser said of it. Brackets `are_paired` in all declarations but that
    which is `unpaired`. `nodes` has those below items, when they were asked for."""

    source: Source
    tree: ast.Module
    problems: Problems
    are_paired: bool = True
    unpaired: ast.Item | None = None
    nodes: dict[ast.Node, list[ast.Node]] = field(default_factory=dict)


@record(eq=False)
class _Edit:
    """The characters from `start` to `end` were replaced; `by` so much is what follows further behind."""

    start: int
    end: int
    by: int


def parse_file(source: Source) -> ParsedFile:
    problems = Problems()
    parsed = parse_open(source, problems)
    file = ParsedFile(source, parsed.tree, problems, not parsed.unpaired and not parsed.cut)
    if len(parsed.unpaired) == 1 and not parsed.cut:
        (at,) = parsed.unpaired
        file.unpaired = next((each for each in parsed.tree.items if each.start <= at < each.end), None)
        file.are_paired = file.unpaired is not None
    return file


def splice(file: ParsedFile, text: str) -> Change | None:
    """Make the tree of a file that of another text; None if that takes to parse the whole file."""
    source, old = file.source, file.source.text
    edit = _edit(old, text)
    item = next((each for each in file.tree.items if each.start < edit.start and edit.end < each.end), None)
    if item is None or isinstance(item, ast.ErrorItem) or not file.are_paired:
        return None
    parsed, problems = _parse_alone(source, text, item.start, item.end + edit.by)
    if not _is_item(parsed.tree, item, edit) or not _is_local(file, item, problems, edit):
        return None
    if not _has_own_brackets(file, item, parsed, edit, text):
        return None
    (new,) = parsed.tree.items
    others = any(not item.start <= each.span.start < item.end for each in file.problems)
    source.rewrite(text)
    file.problems = file.problems.moved(source, edit.end, edit.by) if others else problems
    change = _with_new_body(item, new, edit, old, text) or Change(edit.end, edit.by)
    _move(file, item, edit)
    if change.function is None:
        new.docs = item.docs
        file.tree.items[file.tree.items.index(item)] = new
        file.nodes.pop(item, None)
    else:
        file.nodes[item] = _nodes(item)
    if parsed.unpaired:
        file.unpaired = new if change.function is None else item
    elif file.unpaired is item:
        file.unpaired = None
    _put_comments(file.tree, new, parsed.tree.comments, edit)
    file.tree.end = len(text)
    return change


def _edit(old: str, new: str) -> _Edit:
    start = common_start(old, new)
    behind = min(common_start(old[::-1], new[::-1]), len(old) - start, len(new) - start)
    return _Edit(start, len(old) - behind, len(new) - len(old))


def common_start(left: str, right: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def text_alone(text: str, start: int, end: int) -> str:
    """A part of a text with nothing before it, where it stands in lines and columns of its own."""
    line = text.rfind("\n", 0, start) + 1
    blank = " " * (line - 1) + "\n" if line else ""
    return blank + " " * (start - line) + text[start:end]


def _parse_alone(source: Source, text: str, start: int, end: int) -> tuple[Parsed, Problems]:
    """A part of a text."""
    old, problems = source.text, Problems()
    source.rewrite(text_alone(text, start, end))
    try:
        return parse_open(source, problems), problems
    finally:
        source.rewrite(old)


def _is_item(tree: ast.Module, item: ast.Item, edit: _Edit) -> bool:
    """Whether a tree is that item after an edit, and nothing else."""
    places = [(each.start, each.end) for each in tree.items]
    return places == [(item.start, item.end + edit.by)] and tree.items[0].__class__ is item.__class__


def _is_local(file: ParsedFile, item: ast.Item, now: Problems, edit: _Edit) -> bool:
    """Whether the parser would say this of an item as a part of the file, too: there, what it says of one
    place may depend on what it said of others."""
    before = [each for each in file.problems if item.start <= each.span.start < item.end]
    if len(before) < len(file.problems):
        return not before and not len(now)
    known = [*before, *now]
    if any(each.span.start >= item.end + edit.by for each in now):
        return False
    if len(known) > _MOST_MISTAKES or any(isinstance(each, _OF_THE_FILE) for each in known):
        return False
    # Stray docs are not told of while there are errors.
    return not before or now.errors or not any(each.text.startswith("///") for each in file.tree.comments)


def _has_own_brackets(file: ParsedFile, item: ast.Item, parsed: Parsed, edit: _Edit, text: str) -> bool:
    """Whether brackets of an item mean the same in the file, where they may be open in one declaration."""
    if parsed.cut or (parsed.unpaired and file.unpaired not in (None, item)):
        return False
    if not parsed.unpaired and file.unpaired is None:
        return True
    behind = next((each.start + edit.by for each in file.tree.items if each.start >= item.end), None)
    return begins_part(text, item.start) and (behind is None or begins_part(text, behind))


# --- The new tree ---------------------------------------------------------------------------------


def _with_new_body(item: ast.Item, new: ast.Item, edit: _Edit, old: str, text: str) -> Change | None:
    """Put the new body into the function of the old item, if nothing else was changed."""
    function, changed = _function_at(item, edit.start), _function_at(new, edit.start)
    if function is None or changed is None or function.body is None or changed.body is None:
        return None
    before, after = function.body, changed.body
    if not (before.start < edit.start and edit.end < before.end):
        return None
    if (before.start, before.end + edit.by) != (after.start, after.end):
        return None
    function.body = after
    words = set(_WORD.findall(old[before.start : before.end]))
    lost = words - set(_WORD.findall(text[after.start : after.end]))
    moved = set(walk(after))
    _move_nodes((node for node in _nodes(item) if node not in moved), edit)
    return Change(edit.end, edit.by, function, before, lost)


def _function_at(item: ast.Item, offset: int) -> ast.FnDecl | None:
    """The outermost function around a place."""
    return next((node for node in path_to(item, offset) if isinstance(node, ast.FnDecl)), None)


def _move(file: ParsedFile, item: ast.Item, edit: _Edit) -> None:
    """Move what stands behind the item."""
    if not edit.by:
        return
    for each in file.tree.items:
        if each.start >= edit.end and each is not item:
            nodes = file.nodes.get(each)
            if nodes is None:
                nodes = file.nodes[each] = _nodes(each)
            _move_nodes(nodes, edit)


def _nodes(item: ast.Item) -> list[ast.Node]:
    """Each of them once: the paths of one `use` share their beginning."""
    return list(dict.fromkeys(walk(item)))


def _move_nodes(nodes: Iterable[ast.Node], edit: _Edit) -> None:
    end, by = edit.end, edit.by
    for node in nodes:
        if node.end >= end:
            node.end += by
            if node.start >= end:
                node.start += by
                if node.__class__ is ast.Binary:
                    node.op_start += by
            elif node.__class__ is ast.Binary and node.op_start >= end:
                node.op_start += by


def _put_comments(tree: ast.Module, new: ast.Item, comments: list[ast.Comment], edit: _Edit) -> None:
    start, end = new.start, new.end - edit.by
    before = [each for each in tree.comments if each.end <= start]
    behind = [each for each in tree.comments if each.start >= end]
    _move_nodes(behind, edit)
    tree.comments = [*before, *comments, *behind]
