"""What protects nothing is told in Python too, where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto import Runtime, compile_file, compile_source, load
from concerto.manifest.models import Manifest

_PROGRAM = """
agent Assistant { provider: mock, guard: "deny" }
pub fn one() -> Int { 1 }
fn main() { println(one()); }
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "main.conc"
    file.write_text(_PROGRAM)
    (tmp_path / "Concerto.toml").write_text("[connections.mock]\n")
    return file


def test_a_guard_that_nothing_enforces(program: Path) -> None:
    for _ in range(2):  # The second time it comes from the cache.
        with pytest.warns(UserWarning, match="W0701: the guard of agent `Assistant` does nothing") as told:
            assert load(program).one() == 1
        assert [(Path(each.filename).name, each.lineno) for each in told] == [("main.conc", 2)]


def test_a_label_of_what_is_not_there(program: Path) -> None:
    place = program.with_name("Concerto.toml")
    place.write_text('[trust.tools."Mail::send"]\nsink = "mail"\n')
    with pytest.warns(UserWarning, match="W0702: the program has no `Mail::send`") as told:
        compile_file(program)
    assert [(Path(each.filename).name, each.lineno) for each in told] == [("Concerto.toml", 1)]


def test_a_guard_of_a_program_from_text() -> None:
    program = compile_source(_PROGRAM)
    with pytest.warns(UserWarning, match="guard of `Assistant` does nothing") as told:
        Runtime(program)
    assert told[0].filename == __file__
    Runtime(program, manifest=Manifest.model_validate({"trust": {"mode": "deny"}}))
    Runtime(program, manifest=Manifest.model_validate({"trust": {"mode": "off"}}))
