"""Separate compilation gives what compiling everything gives, and compiles no more than it must."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from concerto.compiler.disk import open_project
from concerto.compiler.pipeline import compile_module, read_source
from concerto.compiler.units import Compiled, Units, compile_changed, pack_units, unpack_units
from concerto.diagnostics import Problems, render
from concerto.ir.codec import encode
from tests.compiler.projects import project

_MODULES = 50

_BODY_EDITS = [
    ("kept.push(", "kept.push(1 + "),
    ("    parts\n}", "    let mut other = parts;\n    other.push(7);\n    other\n}"),
    ("    parts\n}", "    parts.slice(0, 1)\n}"),
    ("    f(parts).len()", "    let parts = f(parts);\n    parts.len()"),
    ("let before = item;", "let mut before = item;\n    before.parts.push(1);"),
    ("let before = item;", "let unused = 5;\n    let before = item;"),
    ('return Err("negative");', 'return Err("below ${limit}");'),
    ("each * 2", "(each + 1) * 2"),
    ("        self.parts.push(part);", "        // Kept.\n        self.parts.push(part);"),
]
_INTERFACE_EDITS = [
    ("count: Int = 3", "count: Int = 5"),
    ("pub fn pass", "fn helper(text: String) -> String { text }\n\npub fn pass"),
    ("pub parts: Array<Int>,", "pub parts: Array<Int>,\n    pub weight: Float = 1.5,"),
    ("// What a state says", "// What some state says"),
    ("pub fn keep", "async fn later() {}\n\npub fn keep"),
    (
        "fn twice(self) -> String {",
        "fn thrice(self) -> String { self.show() }\n\n    fn twice(self) -> String {",
    ),
]


class Folder:
    """A project on disk, compiled with the units of the compilation before."""

    def __init__(self, folder: Path, modules: int) -> None:
        self.folder = folder
        self.units: Units | None = None
        for name, text in project(modules).items():
            (folder / name).write_text(text)

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    def compile(self) -> Compiled:
        """Compiles what changed and compares with compiling everything."""
        path = self.folder / "main.conc"
        problems, all_problems = Problems(), Problems()
        source = read_source(path.read_bytes(), str(path), problems)
        known = unpack_units(pack_units(self.units)) if self.units is not None else None
        compiled = compile_changed(source, open_project(path, problems), problems, known)
        whole = compile_module(source, open_project(path, all_problems), all_problems)
        assert sorted(render([problem]) for problem in problems) == sorted(
            render([problem]) for problem in all_problems
        )
        assert (compiled.module is None) == (whole is None)
        if compiled.module is not None and whole is not None:
            assert encode(compiled.module) == encode(whole)
            self.units = compiled.units
        return compiled

    def compiled_names(self) -> list[str]:
        return sorted(Path(path).stem for path in self.compile().paths)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path, 6)


def test_nothing_is_compiled_when_nothing_changed(folder: Folder) -> None:
    assert len(folder.compile().paths) == 7
    assert folder.compile().paths == []


def test_a_changed_body_is_compiled_alone(folder: Folder) -> None:
    folder.compile()
    folder.edit("m2.conc", "each * 2", "each * 3")
    assert folder.compiled_names() == ["m2"]


def test_a_changed_comment_outside_of_bodies_is_compiled_alone(folder: Folder) -> None:
    folder.compile()
    folder.edit("m2.conc", "// What a state says of itself.\n", "// One line.\n// Another one.\n")
    assert folder.compiled_names() == ["m2"]


def test_a_changed_signature_is_compiled_with_those_who_see_it(folder: Folder) -> None:
    """`m1` and `m0` are below `m2`."""
    folder.compile()
    folder.edit("m2.conc", "count: Int = 3", "count: Int = 4")
    assert folder.compiled_names() == ["m2", "m3", "m4", "m5", "main"]


def test_a_program_of_two_files(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 0)
    (tmp_path / "part.conc").write_text(
        "pub fn keep(parts: Array<Int>) -> Array<Int> { let mut kept = parts; kept.push(9); kept }"
    )
    (tmp_path / "main.conc").write_text(
        "fn main() { let items = [1]; let kept = self::part::keep(items); println([items, kept]); }"
    )
    assert folder.compiled_names() == ["main", "part"]
    folder.edit("main.conc", "[1]", "[1, 2]")
    assert folder.compiled_names() == ["main"]
    folder.edit("part.conc", "let mut kept = parts; kept.push(9); kept", "[parts.len()]")
    assert folder.compiled_names() == ["main", "part"]


def test_a_parameter_that_is_kept_from_now_on_concerns_callers(folder: Folder) -> None:
    folder.compile()
    folder.edit("m3.conc", "let mut kept = parts;", "let mut kept = [parts.len()];")
    assert folder.compiled_names() == ["m3", "m4", "main"]
    folder.edit("m3.conc", "let mut kept = [parts.len()];", "let mut kept = parts;")
    assert folder.compiled_names() == ["m3", "m4", "main"]


@pytest.mark.parametrize(
    ("part", "main", "old", "new"),
    [
        (
            "pub struct Board { pub rows: Array<Array<Int>>, pub n: Int = 0 }\n"
            "impl Board { pub fn count(mut self) { self.n += 1; } }",
            "fn main() { let mut b = self::part::Board { rows: [[1], [2]] };"
            " for row in b.rows { b.count(); println(row); } }",
            "self.n += 1;",
            "self.rows[1].push(5);",
        ),
        (
            "pub fn run(f: fn() -> Int) -> fn() -> Int { let n = f(); || n }",
            "fn main() { let mut xs = [1]; let f = self::part::run(|| xs.len()); xs.push(2); println(f()); }",
            "let n = f(); || n",
            "let g = f; g",
        ),
    ],
    ids=["fields", "callbacks"],
)
def test_what_a_function_changes_or_keeps_from_now_on_concerns_callers(
    tmp_path: Path, part: str, main: str, old: str, new: str
) -> None:
    folder = Folder(tmp_path, 0)
    (tmp_path / "part.conc").write_text(part)
    (tmp_path / "main.conc").write_text(main)
    folder.compile()
    folder.edit("part.conc", old, new)
    assert folder.compiled_names() == ["main", "part"]
    folder.edit("part.conc", new, old)
    assert folder.compiled_names() == ["main", "part"]
    folder.edit("main.conc", "println(", "println(1); println(")
    assert folder.compiled_names() == ["main"]


def test_a_function_that_makes_its_result_of_an_any_from_now_on_concerns_callers(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 0)
    (tmp_path / "part.conc").write_text("pub fn same<T>(x: T) -> T { x }")
    (tmp_path / "main.conc").write_text("fn main() { let n: Int = self::part::same(1); println(n); }")
    folder.compile()
    folder.edit("part.conc", "{ x }", '{ let a: Any = "a"; a }')
    assert folder.compiled_names() == ["main", "part"]
    folder.edit("main.conc", "(1)", "(2)")
    assert folder.compiled_names() == ["main"]


def test_functions_for_ordered_types_are_kept(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 0)
    (tmp_path / "part.conc").write_text(
        "pub fn least<T: Ord>(x: T, y: T) -> T { if x < y { x } else { least(y, x) } }"
        " pub fn first(x: String, y: String) -> String { least(y, least(x, y)) }"
    )
    (tmp_path / "main.conc").write_text('fn main() { println(self::part::first("b", "a")); }')
    folder.compile()
    folder.edit("main.conc", "first", "least")
    assert folder.compiled_names() == ["main"]
    folder.edit("part.conc", "x < y", "x <= y")
    assert "part" in folder.compiled_names()


def test_a_function_that_becomes_a_value_is_compiled_again(folder: Folder) -> None:
    folder.compile()
    folder.edit(
        "main.conc", "let item =", "let f = self::m1::keep1;\n    println(f([1]).len());\n    let item ="
    )
    assert folder.compiled_names() == ["m1", "m2", "main"]


def test_whether_trees_are_ever_changed_concerns_everybody(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 0)
    (tmp_path / "tree.conc").write_text(
        "pub enum Tree { Leaf(Array<Int>), Kids(Array<Tree>) }\n"
        "pub fn twice(tree: Tree) -> Tree { Tree::Kids([tree, tree]) }\n"
        "pub struct Bush { pub tags: Array<Int>, pub kids: Array<Bush> }\n"
        "pub fn bushes(bush: Bush) -> Array<Bush> { [bush, bush] }\n"
    )
    (tmp_path / "other.conc").write_text("pub fn five() -> Int { 5 }\n")
    (tmp_path / "main.conc").write_text(
        "use self::tree;\nuse self::other;\nfn main() {\n"
        "    println(tree::twice(tree::Tree::Leaf([other::five()])));\n"
        "    let all = tree::bushes(tree::Bush { tags: [1], kids: [] });\n    println(all);\n}\n"
    )
    assert len(folder.compile().paths) == 3
    assert folder.compile().paths == []
    folder.edit(
        "main.conc", "println(all)", "let mut more = all;\n    more[0].tags.push(2);\n    println(more)"
    )
    assert folder.compiled_names() == ["main", "other", "tree"]
    folder.edit("main.conc", "    more[0].tags.push(2);\n", "")
    assert folder.compiled_names() == ["main", "other", "tree"]


def test_what_a_type_parameter_stands_for_concerns_everybody(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 0)
    (tmp_path / "pair.conc").write_text("pub fn twice<T>(x: T) -> Array<T> { [x, x] }\n")
    (tmp_path / "other.conc").write_text("pub fn five() -> Int { 5 }\n")
    (tmp_path / "main.conc").write_text(
        "use self::pair;\nuse self::other;\nfn main() {\n    println(pair::twice(other::five()));\n}\n"
    )
    assert len(folder.compile().paths) == 3
    assert folder.compile().paths == []
    folder.edit("main.conc", "other::five()", "[other::five()]")
    assert folder.compiled_names() == ["main", "other", "pair"]
    folder.edit("main.conc", "[other::five()]", "other::five()")
    assert folder.compiled_names() == ["main", "other", "pair"]


def test_who_goes_on_after_a_failure_concerns_the_method_that_fails(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 0)
    (tmp_path / "held.conc").write_text(
        "pub struct Held { pub items: Option<Array<Int>> = None }\n"
        "impl Held { pub fn add(mut self, n: Int) {\n"
        "    if let Some(mut items) = self.items {\n"
        "        items.push(n);\n        items[0] = 10 / n;\n        self.items = Some(items);\n    }\n} }\n"
    )
    (tmp_path / "main.conc").write_text(
        "use self::held;\nfn main() {\n    let mut h = held::Held { items: Some([1]) };\n"
        "    h.add(1);\n    println(h);\n}\n"
    )
    assert len(folder.compile().paths) == 2
    folder.edit("main.conc", "println(h)", "println(h.items)")
    assert folder.compiled_names() == ["main"]
    folder.edit("main.conc", "h.add(1);", "try { h.add(0); } catch {}")
    assert folder.compiled_names() == ["held", "main"]


def test_who_goes_on_after_an_error_concerns_the_method_that_gives_it(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 0)
    (tmp_path / "held.conc").write_text(
        "pub struct Held { pub items: Option<Array<Int>> = None }\n"
        "impl Held { pub fn add(mut self, n: Int) -> Result<Nil, String> {\n"
        "    let Some(mut items) = self.items else { return Ok(nil); };\n"
        '    items.push(n);\n    if n == 0 { return Err("no"); }\n    self.items = Some(items);\n'
        "    Ok(nil)\n} }\n"
    )
    (tmp_path / "main.conc").write_text(
        "use self::held;\nfn added(n: Int) -> Result<held::Held, String> {\n"
        "    let mut h = held::Held { items: Some([1]) };\n    h.add(n)?;\n    Ok(h)\n}\n"
        "fn main() { println(added(1)); }\n"
    )
    assert len(folder.compile().paths) == 2
    folder.edit("main.conc", "Ok(h)", "println(h);\n    Ok(h)")
    assert folder.compiled_names() == ["main"]
    folder.edit("main.conc", "h.add(n)?;", "if h.add(n) == Ok(nil) { println(1); }")
    assert folder.compiled_names() == ["held", "main"]


def test_what_an_error_leaves_concerns_who_puts_it_back(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 0)
    (tmp_path / "part.conc").write_text(
        "pub struct Part { pub items: Array<Int> = [] }\nimpl Part {\n"
        "    pub fn add(mut self, n: Int) -> Result<Nil, String> {\n"
        '        if n == 0 { return Err("no"); }\n        self.items.push(n);\n        Ok(nil)\n    }\n}\n'
    )
    (tmp_path / "whole.conc").write_text(
        "use part::Part;\npub struct Whole { pub part: Option<Part> = None }\nimpl Whole {\n"
        "    pub fn add(mut self, n: Int) -> Result<Nil, String> {\n"
        "        if let Some(mut part) = self.part { part.add(n)?; self.part = Some(part); }\n"
        "        Ok(nil)\n    }\n}\n"
    )
    (tmp_path / "main.conc").write_text(
        "use part::Part;\nuse whole::Whole;\nfn main() {\n    let mut w = Whole { part: Some(Part {}) };\n"
        "    for n in [1, 0] { println(w.add(n)); println(w); }\n}\n"
    )
    assert len(folder.compile().paths) == 3
    folder.edit("part.conc", "push(n);", "push(n + 1);")
    assert folder.compiled_names() == ["part"]
    folder.edit("part.conc", 'if n == 0 { return Err("no"); }', "")
    folder.edit("part.conc", "Ok(nil)", 'if n == 0 { return Err("no"); }\n        Ok(nil)')
    assert folder.compiled_names() == ["part", "whole"]


def test_an_impl_elsewhere_concerns_everybody(folder: Folder) -> None:
    folder.compile()
    folder.edit(
        "m4.conc", "impl Item4 {", 'impl Shown4 for Int { fn show(self) -> String { "n" } }\n\nimpl Item4 {'
    )
    assert len(folder.compiled_names()) == 7


def test_a_file_with_declarations_in_a_body_is_always_compiled(folder: Folder) -> None:
    folder.edit(
        "m2.conc",
        "    let before",
        "    struct Inner { a: Int }\n    let _i = Inner { a: 1 };\n    let before",
    )
    folder.compile()
    folder.edit("m5.conc", "each * 2", "each * 3")
    assert folder.compiled_names() == ["m2", "m5"]


def test_errors_are_those_of_compiling_everything(folder: Folder) -> None:
    folder.compile()
    folder.edit("m2.conc", "each * 2", "each * nothing")
    assert folder.compile().module is None
    folder.edit("m2.conc", "each * nothing", "each * 2")
    assert folder.compile().paths == []


def test_a_file_that_appears_counts(folder: Folder) -> None:
    folder.compile()
    (folder.folder / "Concerto.toml").write_text('[project]\nname = "x"\n')
    assert len(folder.compile().paths) == 7


def test_a_folder_without_a_file_of_its_own(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 3)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "down.conc").write_text("pub fn f(a: Array<Int>) -> Array<Int> { a }\n")
    folder.edit("m1.conc", "    parts\n}", "    super::deep::down::f(parts)\n}")
    assert folder.compiled_names() == ["down", "m0", "m1", "m2", "main"]
    folder.edit("m2.conc", "each * 2", "each * 3")
    assert folder.compiled_names() == ["m2"]
    (tmp_path / "deep.conc").write_text("pub fn here() -> Int { 1 }\n")
    assert folder.compiled_names() == ["deep", "down", "m0", "m1", "m2", "main"]


def test_files_that_only_bodies_name_are_loaded_again(tmp_path: Path) -> None:
    folder = Folder(tmp_path, 3)
    (tmp_path / "apart.conc").write_text(
        "use m1::keep1;\n\npub fn f(a: Array<Int>) -> Array<Int> { keep1(a) }\n"
    )
    (tmp_path / "other.conc").write_text("pub fn g() -> Int { self::super::apart::f([1]).len() }\n")
    folder.edit("m1.conc", "    parts\n}", "    super::other::g();\n    super::apart::f(parts)\n}")
    folder.edit("apart.conc", "use m1::keep1;\n\n", "")
    folder.edit("apart.conc", "keep1(a)", "a.concat([2])")
    assert folder.compiled_names() == ["apart", "m0", "m1", "m2", "main", "other"]
    folder.edit("m2.conc", "each * 2", "each * 3")
    assert folder.compiled_names() == ["m2"]
    folder.edit("apart.conc", "a.concat([2])", "a")
    assert folder.compiled_names() == ["apart", "m1", "other"]
    folder.edit("apart.conc", "f(a: Array<Int>)", "f(a: Array<Int>, b: Int = 1)")
    assert folder.compiled_names() == ["apart", "m1", "other"]


@pytest.mark.parametrize("seed", range(2))
def test_random_edits_of_a_large_project(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder = Folder(tmp_path, _MODULES)
    folder.compile()
    for _ in range(8):
        for _ in range(chance.randint(1, 3)):
            path = tmp_path / f"m{chance.randrange(1, _MODULES)}.conc"
            old, new = chance.choice(_BODY_EDITS if chance.random() < 0.7 else _INTERFACE_EDITS)
            text = path.read_text()
            # What was done before is undone.
            path.write_text(text.replace(new, old, 1) if new in text else text.replace(old, new, 1))
        assert folder.compile().module is not None
