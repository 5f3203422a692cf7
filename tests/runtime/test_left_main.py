"""An `Err` that leaves `main` is told with the place in `main` where it left, on each tier."""

from __future__ import annotations

import pytest

from concerto.emit import emit_program
from tests.harness.expectations import MAIN
from tests.properties.running import analyzed, run
from tests.vm.hosts import TIERS

_PROGRAM = """\
fn fails(n: Int) -> Result<Int, String> { if n > 0 { Err("no ${n}") } else { Ok(n) } }
fn text(n: Int) -> Result<Int, ToolError> { fails(n)?; Ok(n) }
struct Own { message: String }
impl From<String> for Own { fn from(text: String) -> Own { Own { message: text } } }
"""

WAYS = {
    "Nil, String> {\n let a = fails(0)?;\n @fails(a + 1)?;\n Ok(nil) }": "no 1",
    "Nil, Own> {\n let a = fails(0)?;\n @fails(a + 2)?;\n Ok(nil) }": "no 2",
    "Nil, String> {\n if 1 > 0 {\n @return Err('out'); }\n Ok(nil) }": "out",
    "Nil, String> {\n for i in 0..3 {\n if i > 1 {\n @throw 'thrown'; } } Ok(nil) }": "thrown",
    "Int, String> {\n let n = 3;\n @fails(n) }": "no 3",
    "Int, ToolError> {\n let n = 4;\n {\n @text(n) } }": "no 4",
    "Int, ToolError> {\n @try { throw ToolError::new('x'); } catch String(s) { println(s); } Ok(1) }": "x",
    "Int, String> {\n let f = || fails(5);\n let t = spawn f();\n @t.await?;\n Ok(1) }": "no 5",
}


@pytest.mark.parametrize("main", WAYS)
@pytest.mark.parametrize("tier", TIERS)
def test_an_err_from_main_says_where_it_left(main: str, tier: str) -> None:
    before, after = f"{_PROGRAM}fn main() -> Result<{main}".split("@")
    text, line = before + after, before.count("\n") + 1
    ended = run(emit_program(analyzed({MAIN: text})), tier)  # type: ignore[arg-type]
    assert ended.status == 1
    first, place, *_ = ended.stderr.splitlines()
    assert first == f"error: {WAYS[main]}"
    assert f"{MAIN}:{line}:" in place and place.endswith("in `main`"), ended.stderr


def test_a_main_that_succeeds_says_nothing() -> None:
    program = (
        "fn main() -> Result<Int, String> { let e: Result<Int, String> = Err('kept'); Ok(e.unwrap_or(1)) }"
    )
    ended = run(emit_program(analyzed({MAIN: program})), "python")
    assert (ended.status, ended.stderr) == (0, "")
