"""Interface of a file: it without the bodies of its functions, all that other files can see of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from concerto.diagnostics import Problems
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse

Region = tuple[int, int]


def body_regions(items: Iterable[ast.Node]) -> Iterator[Region]:
    """What stands between the braces of every function and method, in source order."""
    for item in items:
        match item:
            case ast.FnDecl(body=ast.Block(start=start, end=end)):
                yield start + 1, end - 1
            case (
                ast.ImplDecl(methods=methods) | ast.TraitDecl(methods=methods) | ast.ToolDecl(methods=methods)
            ):
                yield from body_regions(methods)
            case ast.ModDecl(items=list() as inner):
                yield from body_regions(inner)
            case _:
                pass


def interface(tree: ast.Module, regions: Iterable[Region]) -> str:
    """The text outside of bodies and comments. What it says to other files is the same if it is the same."""
    text, position = tree.source.text, 0
    left_out = sorted([*regions, *((comment.start, comment.end) for comment in tree.comments)])
    parts = []
    for start, end in left_out:
        # Comments one below the other are as good as one.
        if start >= position and (part := text[position:start].rstrip()):
            parts.append(part)
        position = max(position, end)
    parts.append(text[position:])
    return "\0".join(parts)


def parse_outline(source: Source, regions: Iterable[Region]) -> ast.Module:
    """The tree of a file that has no errors, its bodies empty, every place as in the file."""
    text, position, parts = source.text, 0, []
    for start, end in regions:
        parts += [text[position:start], " " * (end - start)]
        position = end
    parts.append(text[position:])
    tree = parse(Source(source.path, "".join(parts)), Problems())
    return ast.Module(tree.start, tree.end, source, tree.items, tree.comments)
