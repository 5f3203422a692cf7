"""Runs programs from their text, against the connections that a test gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from concerto.compiler import compile_source
from concerto.manifest.models import Manifest
from concerto.program import Runtime
from concerto.runtime.run.reporting import RunResult

AGENTS = """
tool Calculator {
    description: "Do arithmetic",
    @describe("Add two numbers")
    pub fn add(@param("The first") a: Int, @param("The second") b: Int) -> Int { a + b }
}
schema Person { name: String, age: Int }
agent Assistant { provider: openai, model: "m", tools: [Calculator] }
agent Reader { provider: openai, model: "m" }
"""
"""An agent with a tool, one without, and a type to ask them for."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended: exit status and what it wrote."""

    status: int
    out: str
    err: str
    runtime: Runtime
    result: RunResult

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def run_program(
    source: str,
    capsys: pytest.CaptureFixture[str],
    *,
    connections: Mapping[str, Any] | None = None,
    manifest: Mapping[str, Any] | None = None,
    quiet: bool = True,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> Outcome:
    runtime = make_runtime(
        source, connections, manifest, echo=True, quiet=quiet, environment=environment or {}, **options
    )
    capsys.readouterr()
    result = runtime.run()
    out, err = capsys.readouterr()
    return Outcome(result.status, out, err, runtime, result)


def make_runtime(
    source: str,
    connections: Mapping[str, Any] | None = None,
    manifest: Mapping[str, Any] | None = None,
    **options: Any,
) -> Runtime:
    said = {**(manifest or {}), "connections": dict(connections or {})}
    return Runtime(compile_source(source), manifest=Manifest.model_validate(said), **options)


def chat_at(url: str, **more: Any) -> dict[str, Any]:
    """The manifest's connections with `openai` at a server of the OpenAI wire."""
    return {"openai": {"provider": "openai", "base_url": url, **more}}
