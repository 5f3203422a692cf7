"""The page of the standard library, from the declarations and doc comments in `stdlib/*.conc`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from concerto.diagnostics import Problems
from concerto.resources import resource
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse
from concerto.syntax.unparse import unparse
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
    for name in sorted(files, key=lambda name: (name != "prelude", _is_module(files[name]), name)):
        title = f"std::{name}" if _is_module(files[name]) else name.capitalize()
        described = [text for item in files[name].items for text in _item(item)]
        parts += [f"## {title}", *described] if described else []
    return joined(*parts)


def _parsed(text: str) -> ast.Module:
    return parse(Source("stdlib", text), Problems())


def _is_module(file: ast.Module) -> bool:
    """Whether a program has to name the file: it has functions of its own, not only types."""
    return any(isinstance(item, ast.FnDecl | ast.ToolDecl) for item in file.items)


def _item(item: ast.Item) -> Iterator[str]:
    match item:
        case ast.FnDecl() if item.public:
            yield from _documented(item.name.text, _signature(item), item.docs)
        case ast.ImplDecl(trait=None):
            owner = unparse(item.target)
            for method in item.methods:
                if method.public:
                    yield from _documented(f"{owner}.{method.name.text}", _signature(method), method.docs)
        case ast.ToolDecl():
            methods = "\n\n".join(unparse(method) for method in item.methods if method.public)
            yield from _documented(item.name.text, methods, item.docs)
        case ast.StructDecl() | ast.EnumDecl() | ast.TraitDecl() | ast.ConstDecl() | ast.TypeAliasDecl():
            if item.public:
                yield from _documented(
                    item.name.text, unparse(replace(item, docs=None, decorators=[])), item.docs
                )
        case _:
            return


def _documented(name: str, declaration: str, docs: str | None) -> Iterator[str]:
    yield f"### {name}"
    yield fenced("concerto", declaration)
    yield _EXAMPLE.sub("```concerto", docs or "")


def _signature(function: ast.FnDecl) -> str:
    """`pub fn f(a: T) -> U;`: without documentation, decorators and body."""
    return unparse(replace(function, docs=None, decorators=[], body=None))
