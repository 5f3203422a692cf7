"""Checks programs whose files are given as texts, a manifest among them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

from concerto.diagnostics import Problems, render
from concerto.semantics import check_program
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.project import ModulePackage
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse
from tests.harness.expectations import MAIN


def analyze(files: Mapping[str, str]) -> Analysis:
    """Raises ValueError for a program that does not compile."""
    problems = Problems()
    tree = parse(Source(MAIN, files[MAIN]), problems)
    analysis = check_program(tree, _Files(files, problems), problems)
    if problems.errors:
        raise ValueError(render(problems))
    return analysis


class _Files:
    """A project whose files are given."""

    lock: bytes | None = None

    def __init__(self, files: Mapping[str, str], problems: Problems) -> None:
        self._files = files
        self._problems = problems
        manifest = tomllib.loads(files.get("Concerto.toml", ""))
        connections = manifest.get("connections", {})
        self.connections = {name: table.get("provider", name) for name, table in connections.items()}
        self.mcp_servers = frozenset(manifest.get("mcp", ()))
        self.hosts = frozenset({**manifest.get("hosts", {}), **manifest.get("agents", {})})
        self.python_tools = frozenset(manifest.get("tools", ()))
        self.is_trust_checked = "trust" in manifest

    def packages(self) -> list[ModulePackage]:
        return []

    def load(self, path: tuple[str, ...]) -> ast.Module | None:
        for name in (f"{'/'.join(path)}.conc", f"{'/'.join(path)}/mod.conc"):
            if name in self._files:
                return parse(Source(name, self._files[name]), self._problems)
        return None

    def is_folder(self, path: tuple[str, ...]) -> bool:
        folder = f"{'/'.join(path)}/"
        return any(name.startswith(folder) and name.endswith(".conc") for name in self._files)
