"""Programs and what is raised for them go to other processes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import pytest

import concerto
from concerto.manifest import ManifestError
from concerto.testing import ToolExecutor, ToolFailed

SOURCE = """
pub fn half(n: Int) -> Int { n / 2 }
pub fn shout(text: String) -> String { Loud::shout(text) }
fn main() { println(half(4)); }
tool Loud {
    description: "Shouts",
    @describe("Shout")
    pub fn shout(@param("What") text: String) -> String { text.to_upper() }
}
"""


def half_of(program: concerto.Program, n: int) -> Any:
    return concerto.Runtime(program).call("half", n).value


def compiled(text: str) -> str:
    return concerto.compile_source(text).module.source_file


def double(n: int) -> int:
    """Double it."""
    return 2 * n


def test_a_program_runs_in_other_processes(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text("[runtime]\nmax_response_mb = 1.0\n")
    (tmp_path / "main.conc").write_text(SOURCE)
    program = concerto.compile_file(tmp_path / "main.conc", tools={"double": double})
    assert half_of(program, 4) == 2
    sent = pickle.loads(pickle.dumps(program))
    assert sent == copy.deepcopy(program) == program
    assert (sent.tools, sent.project) == ({"double": double}, program.project)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.starmap(half_of, [(program, 8), (program, 10)]) == [4, 5]
        # An exception that could not be made again would be waited for without end.
        with pytest.raises(concerto.CompileError, match="unknown name `x`") as raised:
            pool.apply_async(compiled, ("fn main() { println(x); }",)).get(60)
    assert [problem.code for problem in raised.value.problems] == ["E0201"]


def test_tools_that_no_other_process_finds_are_refused() -> None:
    program = concerto.compile_source("fn main() {}", tools={"half": lambda n: n / 2})
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(program)


def test_what_is_raised_for_a_program_goes_too(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text("[limits]\nmax = 1\n")
    (tmp_path / "main.conc").write_text(SOURCE)
    with pytest.raises(ManifestError) as manifest:
        concerto.compile_file(tmp_path / "main.conc")
    again = pickle.loads(pickle.dumps(manifest.value))
    assert (str(again), again.file) == (str(manifest.value), manifest.value.file)
    with pytest.raises(ToolFailed) as tool:
        ToolExecutor(concerto.compile_source(SOURCE)).execute("Loud::shout", {"text": 1})
    again = pickle.loads(pickle.dumps(tool.value))
    assert (str(again), again.kind) == (str(tool.value), "InvalidArguments")
