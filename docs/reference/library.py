"""The page of the standard library, from the declarations and doc comments in `stdlib/*.conc`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from concerto.cli.documenting import DocEntry, entries_of, is_module
from concerto.diagnostics import Problems
from concerto.resources import resource
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse
from docs.reference.markdown import fenced, joined

_INTRODUCTION = """\
What is declared here is compiled with every program, and every example is a test. The functions of the
prelude and the built-in types are known everywhere; a module such as `std::json` is brought in with `use
std::json;`."""

_EXAMPLE = re.compile(r"^```(\w*)$(?=\n(?:.*\n)*?```$)", re.MULTILINE)


def page() -> str:
    """The prelude first, then what is known everywhere, then the modules."""
    files = {
        path.stem: _parsed(path.read_text(encoding="utf-8")) for path in resource("stdlib").glob("*.conc")
    }
    parts = ["# Standard library", _INTRODUCTION]
    for name in sorted(files, key=lambda name: (name != "prelude", is_module(files[name]), name)):
        title = f"std::{name}" if is_module(files[name]) else name.capitalize()
        entries = [entry for item in files[name].items for entry in entries_of(item)]
        described = [text for entry in entries for text in _documented(entry)]
        parts += [f"## {title}", *described] if described else []
    return joined(*parts)


def _parsed(text: str) -> ast.Module:
    return parse(Source("stdlib", text), Problems())


def _documented(entry: DocEntry) -> Iterator[str]:
    yield f"### {entry.name}"
    yield fenced("concerto", entry.declaration)
    yield _EXAMPLE.sub("```concerto", entry.docs)
