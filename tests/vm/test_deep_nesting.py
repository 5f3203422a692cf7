"""Functions nested more deeply than Python allows run in the interpreter: same values, errors and places."""

from __future__ import annotations

from pathlib import Path

from concerto.vm.machine import Tier
from tests.harness.expectations import Expectations
from tests.harness.running import Outcome, compile_program, run_program

# Python allows 20 blocks inside of each other, the Python tier 60 regions.
IFS, LOOPS = 70, 25


def nested(heads: list[str], body: str) -> str:
    return " {\n".join([*heads, body]) + "}" * len(heads)


PROGRAM = f"""
struct Counter {{ n: Int }}
impl Counter {{
    fn count(mut self, by: Int) -> Int {{
        {nested(["for _ in 0..1"] * LOOPS, "self.n += 10 / by;")}
        self.n
    }}
}}
fn ifs(n: Int) -> Int {{
    let items = [1, 2, 3];
    let mut found = 0;
    {nested([f"if n > {i}" for i in range(IFS)], f"found += items[n - {IFS}];")}
    found
}}
fn down(n: Int) -> Int {{
    let mut found = 0;
    {nested([f"if n > {-i}" for i in range(IFS)], "found = 1 + down(n - 1);")}
    found
}}
fn through(f: fn(Int) -> Int, n: Int) -> Int {{ f(n) + 1 }}
fn stop(n: Int) -> Int {{
    {nested(["loop"] * LOOPS, 'if n > 0 { return n; } panic("stopped");')}
}}
fn main() {{
    println(ifs({IFS + 1}));
    println([{IFS}, {IFS + 2}].map(ifs));
    println(through(|n| ifs(n) + stop(n), {IFS}));
    println(try {{ ifs(99) }} catch RuntimeError(e) {{ println(e.message); -1 }});
    let mut counter = Counter {{ n: 1 }};
    println(counter.count(5) + counter.count(2));
    println(try {{ counter.count(0) }} catch RuntimeError(e) {{ println(e.message); counter.n }});
    println(down(200));
    println(%s);
}}
"""


def outcome(tmp_path: Path, last: str, tier: Tier) -> Outcome:
    expected = Expectations(files={"main.conc": PROGRAM % last})
    module, problems = compile_program(expected.files, tmp_path, to_run=True)
    assert module is not None, problems
    return run_program(module, expected, tmp_path, tier)


def both(tmp_path: Path, last: str) -> Outcome:
    found = outcome(tmp_path, last, "python")
    assert found == outcome(tmp_path, last, "interpreter")
    return found


def test_values_and_caught_failures(tmp_path: Path) -> None:
    found = both(tmp_path, "stop(3)")
    assert (found.status, found.stderr) == (0, "")
    assert found.stdout.split("\n") == [
        "2", "[1, 3]", "72", "index 29 is out of bounds for length 3", "-1", "11",
        "division by zero", "8", "200", "3", "",
    ]  # fmt: skip


def test_a_failure_has_its_place_and_the_calls_to_it(tmp_path: Path) -> None:
    found = both(tmp_path, "through(ifs, 99)")
    lines = PROGRAM.split("\n")
    place = next(number for number, line in enumerate(lines, 1) if "found += items" in line)
    assert found.status == 1
    assert f"main.conc:{place}:10 in `ifs`" in found.stderr
    assert "`through` at main.conc" in found.stderr


def test_a_panic(tmp_path: Path) -> None:
    assert "panic: stopped" in both(tmp_path, "stop(0)").stderr
