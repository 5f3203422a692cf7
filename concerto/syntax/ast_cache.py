"""Trees of files that come with the package, kept in the cache as code that makes them: running it takes a
tenth of the time of parsing."""

from __future__ import annotations

import hashlib
from functools import cache
from types import CodeType
from typing import Any

from concerto.cache import entry_name, read_entry, write_entry
from concerto.diagnostics import Problems
from concerto.records import field_names
from concerto.resources import state_of
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse


def parse_once(source: Source, problems: Problems) -> ast.Module:
    """As `parse`, for a text that hardly ever changes."""
    tree = find_tree(source)
    if tree is None:
        tree = parse(source, problems)
        if not len(problems):
            save_tree(tree)
    return tree


def find_tree(source: Source) -> ast.Module | None:
    """The tree of a text that is kept; the parser had nothing to say of it."""
    name, maker = _entry(source)
    code = read_entry(name, maker)
    if code is None:
        return None
    tree = eval(code, {**vars(ast), "source": source})
    assert isinstance(tree, ast.Module)
    return tree


def save_tree(tree: ast.Module) -> None:
    name, maker = _entry(tree.source)
    write_entry(name, maker, _code(tree))


def _entry(source: Source) -> tuple[str, bytes]:
    """Several versions of this package may be in use in turn, so the name is that of a maker."""
    maker = _parser() + hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).digest()
    return entry_name(maker, "tree"), maker


@cache
def _parser() -> bytes:
    return state_of(["syntax"], ["grammar"])


def _code(tree: ast.Module) -> CodeType:
    # Without its positions the code is a third as long.
    return compile(_expression(tree), "<tree>", "eval").replace(co_linetable=b"")


def _expression(value: Any) -> str:
    """The Python expression that makes a part of a tree."""
    if isinstance(value, list):
        return f"[{','.join(map(_expression, value))}]"
    if isinstance(value, Source):
        return "source"
    names = field_names(value.__class__)
    if names is None:
        return repr(value)
    places = value.__match_args__
    given = [_expression(getattr(value, name)) for name in places]
    given += [f"{name}={_expression(getattr(value, name))}" for name in names if name not in places]
    return f"{value.__class__.__name__}({','.join(given)})"
