"""What a start loads. Time depends on the machine, the list of modules does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.agents import PROGRAM, STUB
from tests.bench.startup import MANIFEST

_NEVER = {"asyncio", "click", "httpx2", "lark", "mcp", "pydantic", "rich"}

_PARTS = {
    "concerto.diagnostics.catalog",
    "concerto.effects.gate",
    "concerto.effects.kinds",
    "concerto.emit",
    "concerto.runtime.agents.executions",
    "concerto.runtime.run.effect_gateway",
    "concerto.runtime.llm.providers",
    "concerto.runtime.tools.declared_tools",
    "concerto.semantics",
    "concerto.syntax",
    "concerto.cli.targets",
    "concerto.effects.protected",
    "concerto.vm.executor",
    "concerto.vm.host",
    "concerto.vm.interpreter",
    "concerto.vm.python_tier.codegen",
}
"""Parts of the system that a program which only computes does not use."""

_LIBRARY = {
    "contextlib", "dataclasses", "hashlib", "importlib", "inspect", "json", "pathlib", "random", "re",
    "typing", "urllib", "warnings",
}  # fmt: skip
"""Parts of Python's library that it does not use either: each takes as long as several modules of ours."""

_START = """
import sys
others = set(sys.modules)  # What is installed beside Concerto may load some in every process.
from concerto.cli.dispatch import run_concerto
status = run_concerto(sys.argv[1:])
print(*sorted(set(sys.modules) - others), file=sys.stderr)
sys.exit(status)
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCERTO_CACHE", str(tmp_path / "cache"))


def loaded(program: Path) -> set[str]:
    """The modules of a process that ran a program which an earlier one had compiled."""
    command = [sys.executable, "-c", _START, "run", str(program)]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    return set(done.stderr.split())


def test_a_cached_program_that_computes_loads_only_the_machine(tmp_path: Path) -> None:
    program = tmp_path / "hello.conc"
    program.write_text('fn main() { println("hello"); }\n')
    modules = loaded(program)
    assert "concerto.vm.python_tier" in modules
    assert not modules & (_NEVER | _PARTS | _LIBRARY)


def test_a_cached_program_that_reads_a_file_loads_no_event_loop(tmp_path: Path) -> None:
    program = tmp_path / "reading.conc"
    program.write_text('use std::fs;\n\nfn main() { println(fs::exists("nothing").to_string()); }\n')
    modules = loaded(program)
    assert "concerto.effects.gate" in modules
    assert not modules & _NEVER


def test_a_cached_mocked_agent_loads_no_network(tmp_path: Path) -> None:
    program = tmp_path / "agent.conc"
    program.write_text(
        'agent A { provider: mock, model: "m" }\n\nfn main() { println(A.execute("hi").unwrap().text); }\n'
    )
    modules = loaded(program)
    assert "concerto.runtime.agents.executions" in modules
    assert not modules & (_NEVER - {"asyncio"})


def test_a_cached_agent_with_a_manifest_loads_no_library_of_http(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only asyncio; neither pydantic, which reads manifests, nor any pass."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    program = tmp_path / "agent.conc"
    program.write_text(PROGRAM)
    with subprocess.Popen([sys.executable, "-c", STUB], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        (tmp_path / "Concerto.toml").write_text(MANIFEST.format(port=port))
        modules = loaded(program)
        server.terminate()
    assert "concerto.runtime.llm.http11" in modules
    assert not modules & (_NEVER - {"asyncio"} | {"anyio", "h11", "httpcore2", "tomllib"})
    unused = (
        "semantics",
        "emit",
        "syntax",
        "diagnostics.catalog",
        "vm.interpreter",
        "vm.python_tier.codegen",
    )
    assert not [name for name in modules if name.startswith(tuple(f"concerto.{each}" for each in unused))]


def test_a_tool_of_plain_types_loads_no_pydantic() -> None:
    script = """
import sys
others = set(sys.modules)  # What is installed beside Concerto may load some in every process.
import concerto
from concerto.testing import ToolExecutor

@concerto.tool
def add(a: int, b: float = 1.0) -> float:
    "Add two numbers"
    return a + b

program = concerto.compile_source("fn main() {}", tools={"add": add})
assert ToolExecutor(program, tools={"add": add}).execute("add", {"a": 2, "b": 1.5}) == 3.5
print(*sorted(set(sys.modules) - others))
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    assert "concerto.runtime.tools.python_signatures" in done.stdout.split()
    assert "pydantic" not in done.stdout.split()
