"""`concertoc fix`: help that is applied."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.compiler.fixing import fix_program, problems_with
from tests.harness.commands import run


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("let a = 1\n    println(a);", "let a = 1;\n    println(a);"),
        ("let a = 1;\n    a = 2;\n    println(a);", "let mut a = 1;\n    a = 2;\n    println(a);"),
        ("let total = 1;", "let _total = 1;"),
        ("let total = 1;\n    println(totl);", "let total = 1;\n    println(total);"),
        ("println(True);", "println(true);"),
        ("let a: int = 1;\n    println(a);", "let a: Int = 1;\n    println(a);"),
        ("println(if 1 == 1 and 2 == 2 { 1 } else { 2 });", "println(if 1 == 1 && 2 == 2 { 1 } else { 2 });"),
        ("println([1].length());", "println([1].len());"),
        ("if 1 == 2 { println(1); } elif 2 == 2 { println(2); }",
         "if 1 == 2 { println(1); } else if 2 == 2 { println(2); }"),
        ("println(if 1 == 2 { 1 } elif 2 == 2 { 2 } else { 3 });",
         "println(if 1 == 2 { 1 } else if 2 == 2 { 2 } else { 3 });"),
        ("var a = 1;\n    a += 1;\n    println(a);", "let mut a = 1;\n    a += 1;\n    println(a);"),
        ("println(new Set::from([1]));", "println(Set::from([1]));"),
        ("let a = [1];\n    println(twice(&a[0]));", "let a = [1];\n    println(twice(a[0]));"),
        ("println(twice(n = 3));", "println(twice(n: 3));"),
        ("println(twice(3));", "println(twice(3));"),
        (
            "let f = |n: Int| -> Int { n * 2; };\n    println(f(1));",
            "let f = |n: Int| -> Int { n * 2 };\n    println(f(1));",
        ),
    ],
)  # fmt: skip
def test_a_mistake_in_a_body_is_mended(wrong: str, right: str, tmp_path: Path) -> None:
    path = tmp_path / "main.conc"
    rest = "fn twice(n: Int) -> Int { n * 2 }\n"
    path.write_text(f"fn main() {{\n    {wrong}\n}}\n\n{rest}")
    found = fix_program(path).get(path, path.read_text())
    assert found == f"fn main() {{\n    {right}\n}}\n\n{rest}"
    assert not list(problems_with(path, {path: found}))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("use std::math;\n\nfn main() {}\n", "fn main() {}\n"),
        (
            "use std::{fs, json, math};\n\nfn main() { println(json::is_valid(\"1\")); }\n",
            "use std::json;\n\nfn main() { println(json::is_valid(\"1\")); }\n",
        ),
        (
            "// A comment.\n\nfn main() { println(json::is_valid(\"1\")); }\n",
            "// A comment.\n\nuse std::json;\n\nfn main() { println(json::is_valid(\"1\")); }\n",
        ),
        ("fn main() {}\n\n/// nothing\n", "fn main() {}\n\n// nothing\n"),
        (
            "struct P { x: Int }\n\nimpl P {\n    fn set(self) { self.x = x + 1; }\n}\n",
            "struct P { x: Int }\n\nimpl P {\n    fn set(mut self) { self.x = self.x + 1; }\n}\n",
        ),
        ("agent A { provder: mock }\n", "agent A { provider: mock }\n"),
        ("@tst\nfn works() {}\n", "@test\nfn works() {}\n"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_declaration_is_mended(wrong: str, right: str, tmp_path: Path) -> None:
    path = tmp_path / "main.conc"
    path.write_text(wrong)
    assert fix_program(path).get(path) == right


def test_files_are_fixed_in_place_and_what_is_left_is_told(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(
        "use other::make;\n\nfn main() { println(mke()); println(nothing); }\n"
    )
    (tmp_path / "other.conc").write_text("use std::fs;\n\npub fn make() -> int { 1 }\n")
    tried = run("concertoc", "fix", "--dry-run", ".", cwd=tmp_path)
    assert tried.returncode == 1
    assert "-fn main() { println(mke()); println(nothing); }" in tried.stdout
    assert "mke" in (tmp_path / "main.conc").read_text()
    done = run("concertoc", "fix", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert "unknown name `nothing`" in done.stderr
    assert "fn main() {\n    println(make());" in (tmp_path / "main.conc").read_text()
    assert (tmp_path / "other.conc").read_text() == "pub fn make() -> Int { 1 }\n"
    (tmp_path / "main.conc").write_text("fn main() {}\n")
    assert run("concertoc", "fix", ".", cwd=tmp_path).returncode == 0
