"""Problems between files and of the manifest (E0501–E0505)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class ModuleNotFound(Problem, code="E0501", title="module not found"):
    """module not found"""


class NotExported(Problem, code="E0502", title="name not found in a module"):
    """name not found in a module"""


class PrivateName(Problem, code="E0503", title="name is private to its module"):
    """name is private to its module"""


class ImportCycle(Problem, code="E0504", title="modules import each other in a cycle"):
    """modules import each other in a cycle"""


class BadManifest(Problem, code="E0505", title="mistake in `Concerto.toml`"):
    """mistake in `Concerto.toml`"""
