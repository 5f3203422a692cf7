"""Declares and checks programs given as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from concerto.diagnostics import Problems
from concerto.semantics import check_program
from concerto.semantics.declare.collect import declare_program, no_declarations
from concerto.semantics.declare.library import library
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.project import ModulePackage
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse


@dataclass
class Files:
    """A project whose files and manifest are given by the test."""

    files: dict[str, str] = field(default_factory=dict)
    connections: Mapping[str, str] = field(default_factory=dict)
    mcp_servers: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    python_tools: frozenset[str] = frozenset()
    is_trust_checked: bool = True
    lock: bytes | None = None
    problems: Problems = field(default_factory=Problems)
    loaded: list[str] = field(default_factory=list)

    def packages(self) -> list[ModulePackage]:
        return []

    def load(self, path: tuple[str, ...]) -> ast.Module | None:
        name = "::".join(path)
        self.loaded.append(name)
        text = self.files.get(name)
        return None if text is None else parse(Source(f"{name}.conc", text), self.problems)

    def is_folder(self, path: tuple[str, ...]) -> bool:
        return any(name.startswith(f"{'::'.join(path)}::") for name in self.files)


def declare(text: str, project: Files | None = None) -> Declarations:
    """The world of a program, bodies unchecked."""
    project = project or Files()
    declarations = no_declarations(project, project.problems, library())
    declare_program(declarations, parse(Source("main.conc", text), project.problems))
    return declarations


def check(text: str, project: Files | None = None) -> tuple[Analysis, list[str]]:
    """The analysis of a program and what was found, as "E0411 message"."""
    project = project or Files()
    tree = parse(Source("main.conc", text), project.problems)
    analysis = check_program(tree, project, project.problems)
    return analysis, [f"{problem.code} {problem.message}" for problem in project.problems]
