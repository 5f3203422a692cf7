"""IR files whose names and texts are Python: none of it becomes code, whatever a name is used for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from concerto import Runtime, compile_source
from concerto.compiler.compiled import load_compiled
from concerto.diagnostics import Problems
from concerto.ir.codec import encode

PROGRAM = """
struct Point { x: Int, name: String }
enum Shape { Dot, Line(Int) }
trait Speak { fn say(self) -> String; }
impl Speak for Point { fn say(self) -> String { "${self.name} says ${self.x}" } }
fn tell<T: Speak>(t: T) -> String { t.say() }
fn twice(n: Int) -> Int { n * 2 }
fn main() {
    let p = Point { x: 1, name: "Ann" };
    println(tell(p));
    println([1, 2].map(twice));
    println(Shape::Line(3));
    let a: Any = {"k": p};
    println(a["k"].name);
}
"""
NAMES = (
    "Point", "Shape", "Line", "say", "tell", "twice", "main", "Ann", "name", "k", " says ", "Array::map",
    "std::prelude::println",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    [
        'x"+open("{mark}", "w").close()+"',
        "');open('{mark}', 'w').close()#",
        "\nopen('{mark}', 'w').close()\n",
        "<k1>",
        "__builtins__",
        "{0.__class__}",
    ],
)
def test_a_name_is_no_code(name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mark, file = tmp_path / "mark", tmp_path / "spoilt.conc-ir"
    good = encode(compile_source(PROGRAM).module).decode()
    assert f'"{name}"' in good
    file.write_text(
        good.replace(f'"{name}"', json.dumps(text.replace("{mark}", str(mark)))), encoding="utf-8"
    )
    problems = Problems()
    program = load_compiled(file, problems)
    if program is None:
        assert all(problem.code.startswith("E06") for problem in problems)
    else:
        assert Runtime(program, quiet=True).run().status in (0, 1)
    assert not mark.exists()
    assert "internal error" not in capsys.readouterr().err
