"""Source text to IR, for tests of what is emitted."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from concerto.diagnostics import Problems, render
from concerto.emit import emit_program
from concerto.ir.module import Function, Module
from concerto.semantics import check_program
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse

T = TypeVar("T")


class NoFiles:
    """A project of one file, with the usual connections."""

    has_manifest = False
    connections = frozenset({"openai", "mock"})
    mcp_servers: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    python_tools: frozenset[str] = frozenset()
    lock: bytes | None = None

    def load(self, path: tuple[str, ...]) -> ast.Module | None:
        return None


def emit(text: str) -> Module:
    problems = Problems()
    tree = parse(Source("main.conc", text), problems)
    analysis = check_program(tree, NoFiles(), problems)
    assert not problems.errors, render(problems)
    return emit_program(analysis)


def function(module: Module, name: str) -> Function:
    return next(function for function in module.functions if function.name == name)


def opcodes(module: Module, name: str) -> list[str]:
    """The instructions of a function by name alone."""
    return [instr[0] for instr in function(module, name).code]


def with_deep_stack(work: Callable[[], T]) -> T:
    """Run as the compiler does: with room for deep trees."""
    results: list[T] = []
    size, limit = threading.stack_size(512 * 1024 * 1024), sys.getrecursionlimit()
    sys.setrecursionlimit(200_000)
    try:
        thread = threading.Thread(target=lambda: results.append(work()))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    return results[0]
