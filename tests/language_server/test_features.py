"""Answers about places and documents, without a server."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol.types import Position, Range, TextDocumentEdit, TextEdit

from concerto.language_server.coloring import LEGEND, inlay_hints, semantic_tokens
from concerto.language_server.definition import definition
from concerto.language_server.formatting import format_edits
from concerto.language_server.names import name_at
from concerto.language_server.outline import (
    code_lenses,
    document_symbols,
    folding_ranges,
    workspace_symbols,
)
from concerto.language_server.positions import offset_at, position_at
from concerto.language_server.references import CannotRename, highlights, references, rename
from concerto.source import Source
from tests.language_server.places import Place

SHAPES = """\
pub struct Circle { pub radius: Float }
impl Circle { pub fn area(self) -> Float { self.radius * 2.0 } }
pub fn unit() -> Circle { let radius = 1.0; Circle { radius } }
"""

PROGRAM = """\
use shapes::{Circle, unit};

// One.
// Two.
enum State { Open, Held(Int) }

/// Says it.
fn show(state: State) -> String {
    match state {
        State::Open => "open",
        State::Held(days) => "held ${days}",
    }
}

fn main() {
    let circle = unit();
    let sizes = [1, 2].map(|n| n * 2);
    println("${circle.area()} ${show(State::Open)} ${sizes}");
    let Circle { radius } = circle;
    println(radius);
    println(circle.radius);
}

@test("group :: works") fn works() {}
"""


def renamed(place: Place, new: str) -> dict[str, str]:
    """The texts after a rename, by their files' names."""
    edit = rename(
        place.documents,
        place.programs.project_of(place.path),
        (place.program, place.source, place.offset),
        new,
    )
    texts = {}
    for change in edit.document_changes or ():
        assert isinstance(change, TextDocumentEdit)
        name = change.text_document.uri.rpartition("/")[2]
        source = place.program.sources[str(place.path.parent / name)]
        texts[name] = applied(source, [each for each in change.edits if isinstance(each, TextEdit)])
    return texts


def applied(source: Source, edits: list[TextEdit]) -> str:
    text = source.text
    for edit in sorted(edits, key=lambda each: offset_at(source, each.range.start), reverse=True):
        start, end = offset_at(source, edit.range.start), offset_at(source, edit.range.end)
        text = text[:start] + edit.new_text + text[end:]
    return text


@pytest.mark.parametrize(
    ("mark", "places"),
    [
        ("fn s‸how", 2),
        ("circ‸le.area", 4),
        ("State::Op‸en =>", 3),
        ("enum Sta‸te", 5),
        ("fn show(sta‸te", 2),
        ("circle.ar‸ea", 2),
        ("use shapes::{Cir‸cle", 6),
        ("unit‸();", 3),
        ("Circle { rad‸ius }", 2),
        ("circle.rad‸ius", 5),
    ],
)
def test_references_across_files(mark: str, places: int, tmp_path: Path) -> None:
    place = Place(tmp_path, PROGRAM.replace(mark.replace("‸", ""), mark, 1), {"shapes.conc": SHAPES})
    name = name_at(place.program, place.source, place.offset)
    assert name is not None
    found = references([place.program], name)
    assert len(found) == places, [(each.source.path, each.place) for _, each in found]
    assert all(each.source.text[each.place.start : each.place.end] == name.place.text for _, each in found)
    assert len(references([place.program], name, declaration=False)) == places - 1


def test_a_rename_of_a_parameter_reaches_those_who_name_it(tmp_path: Path) -> None:
    text = "fn scale(x: Int, b‸y: Int) -> Int { x * by }\nfn main() { scale(by: 2, x: 3); }\n"
    assert renamed(Place(tmp_path, text), "factor")["main.conc"] == (
        "fn scale(x: Int, factor: Int) -> Int { x * factor }\nfn main() { scale(factor: 2, x: 3); }\n"
    )


def test_a_rename_reaches_all_files_and_short_fields(tmp_path: Path) -> None:
    text = PROGRAM.replace("circle.radius", "circle.rad‸ius", 1)
    place = Place(tmp_path, text, {"shapes.conc": SHAPES})
    found = renamed(place, "size")
    assert "pub size: Float" in found["shapes.conc"]
    assert "self.size * 2.0" in found["shapes.conc"]
    assert "Circle { size: radius } }" in found["shapes.conc"]
    assert "let Circle { size: radius } = circle" in found["main.conc"]
    assert "println(circle.size)" in found["main.conc"]


@pytest.mark.parametrize(
    ("mark", "new", "reason"),
    [
        ("fn s‸how", "main", "`show` cannot be called `main`"),
        ("fn s‸how", "let", "`let` cannot be a name"),
        ("fn s‸how", "a b", "`a b` cannot be a name"),
        ("prin‸tln", "print", "`println` belongs to the language or its library"),
        ("// O‸ne", "x", "there is no name here"),
    ],
)
def test_renames_that_are_refused(mark: str, new: str, reason: str, tmp_path: Path) -> None:
    place = Place(tmp_path, PROGRAM.replace(mark.replace("‸", ""), mark, 1), {"shapes.conc": SHAPES})
    with pytest.raises(CannotRename, match=reason):
        renamed(place, new)


@pytest.mark.parametrize(
    ("text", "new", "line"),
    [
        ("fn main() {\nlet a‸ = 1;\nlet b = 2;\nprintln(a + b);\n}", "b", 4),
        ("fn main() {\nlet b = 1;\n{\nlet a‸ = 2;\nprintln(a + b);\n}\n}", "b", 5),
        ("fn main() {\nlet b = 1;\nfor a‸ in 0..3 {\nprintln(b + a);\n}\n}", "b", 4),
        ("const N‸: Int = 1;\nfn main() {\nlet m = 2;\nprintln(N + m);\n}", "m", 4),
        ("fn one‸() -> Int { 1 }\nfn main() {\nlet m = || 2;\nprintln(one() + m());\n}", "m", 4),
        ("fn main() {\nlet a‸ = 1;\nlet c = |b: Int|\na + b;\nprintln(c(1));\n}", "b", 4),
        ("fn main() {\nlet a‸ = Some(1);\nif let Some(v) = a {\nprintln(v);\nprintln(a);\n}\n}", "v", 5),
        ("fn main() {\nlet a‸ = 1;\nmatch 2 { b =>\nprintln(b + a) }\n}", "b", 4),
        ("struct P { x: Int }\nfn main() {\nlet x‸ = 1;\nlet q = 2;\nprintln(P { x }, q);\n}", "q", 5),
        ("struct P { x: Int }\nfn main() {\nlet x = 1;\nlet q‸ = 2;\nprintln(q, P { x });\n}", "x", 5),
        (
            "struct P { x: Int }\nfn main() {\nlet q‸ = 2;\nlet P { x } =\n"
            "P { x: 1 };\nprintln(x, q);\n}", "x", 6,
        ),
        ("fn p‸(x: Int) -> Int { x }\nfn main() {\nprintln(p(1));\n}", "println", 3),
        (
            "trait T { fn f‸(self) -> Int { 1 } }\nstruct S { a: Int }\nimpl T for S {}\n"
            "impl S { fn g(self) -> Int { 2 } }\nfn main() {\nprintln(S { a: 1 }.f());\n}", "g", 6,
        ),
    ],
)  # fmt: skip
def test_a_rename_that_gives_a_name_another_meaning_is_refused(
    text: str, new: str, line: int, tmp_path: Path
) -> None:
    with pytest.raises(CannotRename, match=rf"main\.conc:{line} would mean another `{new}`"):
        renamed(Place(tmp_path, text), new)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("fn main() { { let b = 1; println(b); } let a‸ = 2; println(a); { let b = 3; println(b); } }", "b"),
        ("fn main() { let a = 1; let a‸ = a + 1; println(a); }", "b"),
        ("struct P { x‸: Int, } impl P { fn y(self) -> Int { self.x } }", "y"),
        ("struct P { x‸: Int } fn f(x: Int) -> P { let P { x } = P { x }; P { x } }", "y"),
        ("struct P { x: Int } fn f(x: Int) -> P { let P { x‸ } = P { x }; P { x } }", "y"),
        ("struct P { x: Int } fn f(x‸: Int) -> P { let P { x } = P { x }; P { x } }", "y"),
        ("enum E { A(Int), B(Int) } fn f(e: E) -> Int { match e { E::A(x‸) | E::B(x) => x } }", "y"),
        ("fn f<T‸>(x: T) -> T { x } fn g<U>(x: U) -> U { x } fn main() { println(f(g(1))); }", "U"),
        ("fn main() { let println‸ = 1; }", "b"),
    ],
)
def test_a_rename_that_keeps_all_meanings_is_done(text: str, new: str, tmp_path: Path) -> None:
    place = Place(tmp_path, text)
    before = [problem.severity for problem in place.program.problems()]
    after = Place(tmp_path, renamed(place, new)["main.conc"])
    assert [problem.severity for problem in after.program.problems()] == before


@pytest.mark.parametrize(
    ("text", "new", "result"),
    [
        (
            "mod m‸ { pub fn f() { self::g() } fn g() {} mod n { fn h() { super::f() } } } use m::f;",
            "x",
            "mod x { pub fn f() { self::g() } fn g() {} mod n { fn h() { super::f() } } } use x::f;",
        ),
        ("mod m { pub fn f‸() {} } use m::f as g; fn h() { g() }", "x",
         "mod m { pub fn x() {} } use m::x as g; fn h() { g() }"),
        ("mod m { pub fn f() {} } use m::f as g; fn h() { g‸() }", "x",
         "mod m { pub fn f() {} } use m::f as x; fn h() { x() }"),
        ("mod m { pub fn f() {} } use m::f as g‸; fn h() { g() }", "x",
         "mod m { pub fn f() {} } use m::f as x; fn h() { x() }"),
    ],
)  # fmt: skip
def test_a_rename_keeps_other_names_of_the_same(text: str, new: str, result: str, tmp_path: Path) -> None:
    assert renamed(Place(tmp_path, text), new)["main.conc"] == result


def test_highlights_are_those_of_the_document(tmp_path: Path) -> None:
    place = Place(tmp_path, PROGRAM.replace("circle.area", "cir‸cle.area"), {"shapes.conc": SHAPES})
    assert len(highlights(place.program, place.source, place.offset)) == 4


def test_symbols(tmp_path: Path) -> None:
    place = Place(tmp_path, PROGRAM, {"shapes.conc": SHAPES})
    found = document_symbols(place.program, place.source)
    assert [each.name for each in found] == ["State", "show", "main", "works"]
    assert [each.name for each in found[0].children or ()] == ["Open", "Held"]
    everywhere = workspace_symbols(place.documents, [place.program], "ar")
    assert {each.name for each in everywhere} == {"area"}


def test_folding_and_lenses(tmp_path: Path) -> None:
    place = Place(tmp_path, PROGRAM, {"shapes.conc": SHAPES})
    folded = [(each.start_line, each.end_line) for each in folding_ranges(place.program, place.source)]
    assert folded == [(2, 3), (7, 11), (8, 10), (14, 20)]
    lenses = code_lenses(place.program, place.source)
    assert [(each.command.title, each.command.arguments) for each in lenses if each.command] == [
        ("Run", [str(place.path)]),
        ("Run test", [str(place.path), "group :: works"]),
    ]


def test_inlay_types(tmp_path: Path) -> None:
    place = Place(tmp_path, PROGRAM, {"shapes.conc": SHAPES})
    whole = Range(Position(0, 0), Position(99, 0))
    hints = inlay_hints(place.program, place.source, whole)
    assert [(each.position.line, each.label) for each in hints] == [
        (15, ": Circle"),
        (16, ": Array<Int>"),
        (16, ": Int"),
    ]


def test_semantic_tokens_say_what_names_are(tmp_path: Path) -> None:
    place = Place(tmp_path, "fn 😀() {}\n" + PROGRAM, {"shapes.conc": SHAPES})
    data = semantic_tokens(place.program, place.source).data
    lines = place.source.text.splitlines()
    line = column = 0
    found = set()
    for start in range(0, len(data), 5):
        down, step, length, kind, _ = data[start : start + 5]
        line, column = line + down, step if down else column + step
        found.add((lines[line][column : column + length], LEGEND.token_types[kind]))
    assert {
        ("Circle", "struct"), ("show", "function"), ("Open", "enumMember"), ("days", "variable"),
        ("area", "method"), ("state", "parameter"), ("println", "function"), ("shapes", "namespace"),
    } <= found  # fmt: skip


def test_formatting_of_a_part_leaves_the_rest(tmp_path: Path) -> None:
    text = "fn a( ){}\n\nfn b( ){}\n"
    place = Place(tmp_path, text)
    assert applied(place.source, format_edits(place.source)) == "fn a() {}\n\nfn b() {}\n"
    part = format_edits(place.source, Range(Position(2, 0), Position(2, 3)))
    assert applied(place.source, part) == "fn a( ){}\n\nfn b() {}\n"
    broken = Place(tmp_path, "fn a( {")
    assert not format_edits(broken.source)


def test_positions_count_utf_16() -> None:
    source = Source("x.conc", 'a😀b\n"ä"\n')
    for offset in range(len(source.text) + 1):
        assert offset_at(source, position_at(source, offset)) == offset
    assert position_at(source, 2) == Position(0, 3)
    assert offset_at(source, Position(0, 99)) == 3
    assert offset_at(source, Position(9, 0)) == len(source.text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("agent A { provider: op‸enai }", 0),
        ("agent A { provider: openai, tools: [Git‸Hub] }", 2),
        ("agent A { provider: openai, tools: [Count‸er::add] }", 4),
        ("host H { connector: work‸er }", 6),
        ("agent A { provider: oth‸er }", None),
    ],
)
def test_names_of_the_manifest_are_defined_in_it(text: str, line: int | None, tmp_path: Path) -> None:
    manifest = (
        '[connections.openai]\ndefault_model = "m"\n[mcp.GitHub]\ncommand = "c"\n'
        '[tools.Counter]\nimport = "counter:Counter"\n[hosts.worker]\ncommand = "w"\n'
    )
    place = Place(tmp_path, text, {"Concerto.toml": manifest})
    found = definition(place.program, place.source, place.offset)
    assert (found and (Path(found.uri).name, found.range.start.line)) == (
        None if line is None else ("Concerto.toml", line)
    )


def test_a_manifest_that_is_broken_defines_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, "agent A { provider: op‸enai }", {"Concerto.toml": "[connections.openai\n"})
    assert definition(place.program, place.source, place.offset) is None
