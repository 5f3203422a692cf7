"""Threads that compile and run their first programs at the same moment in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from concerto import Runtime, compile_source

CODE = r"""
import sys, threading
import concerto

sys.setswitchinterval(1e-6)
MODULES = ["json", "math", "regex", "string", "collections"]
start, said = threading.Barrier(8), [""] * 8

def work(number):
    start.wait()
    for turn in range(2):
        program = concerto.compile_source(f'''
            use std::{MODULES[(number + turn) % 5]} as other;
            struct Pair{number} {{ a: Int, b: Option<String> }}
            impl Display for Pair{number} {{ fn to_string(self) -> String {{ "${{self.a}}" }} }}
            fn main() -> Result<Int, String> {{
                let pair = Pair{number} {{ a: {number}, b: Some("x") }};
                let sum = [1, 2, 3].map(|x| x + pair.a).reduce(0, |a, b| a + b);
                assert_eq("${{pair}}${{pair.b.unwrap_or("")}}", "{number}x");
                Ok(sum)
            }}
        ''')
        result = concerto.Runtime(program).run()
        said[number] += f"{result.value} {result.error}\n"

threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*said, sep="", end="")
"""


@pytest.mark.parametrize("cached", [False, True])
def test_first_programs_at_once(cached: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not cached:  # Nor has the package its tables yet.
        monkeypatch.setenv("CONCERTO_CACHE", str(tmp_path / "cache"))
    command = [sys.executable, "-W", "error", "-c", CODE]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [f"{total} None" for total in range(6, 30, 3) for _ in range(2)]


def test_a_run_while_another_thread_imports_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_source("fn main() -> Result<Int, String> { Ok(1) }")
    monkeypatch.setitem(sys.modules, "asyncio", ModuleType("asyncio"))
    assert Runtime(program).run().value == 1
