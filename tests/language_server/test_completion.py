"""What is offered at a place."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.language_server.manifests import complete_manifest
from concerto.language_server.signature_help import signature_help
from concerto.source import Source
from tests.language_server.places import Place

DECLARED = """
use std::json;
struct Point { pub x: Int, pub y: Int }
impl Point { pub fn length(self) -> Float { 1.0 } pub fn origin() -> Point { Point { x: 0, y: 0 } } }
enum Shape { Circle(Float), Dot, Box { side: Int } }
trait Named { fn name(self) -> String; }
tool Notes {
    description: "d",
    @describe("a") @param("text", "t")
    pub fn add(text: String, pin: Bool = false) -> Int { text.len() }
    fn hidden() -> Int { 1 }
}
mcp Files {
    command: "c",
    @describe("r") @param("path", "p") fn read(path: String) -> String;
}
memory talk: Memory = Memory::new(3);
fn scale(point: Point, by: Int = 2) -> Point { point }
fn shape() -> Shape { Shape::Dot }
"""

MANIFEST = """
[connections.openai]
default_model = "gpt-4o"
[connections.openai.models]
fast = "gpt-4o-mini"
[mcp.GitHub]
command = "github"
[hosts.worker]
command = "w"
"""


@pytest.mark.parametrize(
    ("text", "offered", "not_offered"),
    [
        pytest.param("fn f(p: Point) { p.‸ }", {"x", "y", "length"}, {"origin"}, id="members"),
        pytest.param("fn f(p: Point) {\n    p.\n    ‸\n}", {"length"}, {"p"}, id="after a dot"),
        pytest.param("fn f(p: Point) { let a = p.len‸; }", {"length"}, set(), id="a member half written"),
        pytest.param("fn f(p: Point) { if p.‸ }", {"x", "length"}, set(), id="in a head"),
        pytest.param("fn f(p: Point) { scale(p.‸", {"x", "length"}, set(), id="nothing is closed"),
        pytest.param("fn f() { [1].map(|n| n.‸) }", {"abs", "pow"}, {"push"}, id="in a closure"),
        pytest.param('fn f() { "${Point::origin().‸}"; }', {"x"}, set(), id="in a text"),
        pytest.param("fn f() { Shape::‸ }", {"Circle", "Dot", "Box"}, {"x"}, id="variants"),
        pytest.param("fn f() { Point::‸ }", {"origin", "length"}, set(), id="associated functions"),
        pytest.param("fn f() { json::‸ }", {"parse", "stringify"}, {"Point"}, id="library module"),
        pytest.param("use std::‸", {"json", "fs", "tools"}, {"Point"}, id="modules of the library"),
        pytest.param("use std::json::‸;", {"parse"}, {"fs"}, id="names of a module"),
        pytest.param("use other::‸;", {"Helper"}, {"private"}, id="names of a file"),
        pytest.param("use ‸;", {"std", "other", "deep"}, {"main"}, id="files beside it"),
        pytest.param("use deep::‸;", {"down"}, {"other", "mod"}, id="files in a folder"),
        pytest.param("use deep::down::‸;", {"Below"}, {"down"}, id="names of a file in a folder"),
        pytest.param("fn f() { Notes.‸ }", {"add"}, {"x"}, id="methods of a tool"),
        pytest.param("fn f() { Files.‸ }", {"read"}, {"add"}, id="functions of a server"),
        pytest.param("fn f() { let q = Point { x: 1, ‸ }; }", {"y"}, {"x", "f"}, id="fields of a literal"),
        pytest.param(
            "fn f() { let q = 1; let r = ‸; }", {"q", "Point", "println", "true"},
            {"r"}, id="names",
        ),
        pytest.param("fn f() { scale(‸); }", {"point:", "by:", "shape"}, set(), id="named arguments"),
        pytest.param(
            "fn f() { match shape() { ‸ } }",
            {"Shape::Circle(_)", "Shape::Box { side }"}, set(), id="cases",
        ),
        pytest.param("fn f(a: ‸) {}", {"Point", "Shape", "Int", "Array"}, {"scale"}, id="types"),
        pytest.param("fn f() { let a: Arr‸ = []; }", {"Array"}, {"scale"}, id="types in a body"),
        pytest.param("agent A { provider: openai, ‸ }", {"tools", "system_prompt"}, {"provider"}, id="agent"),
        pytest.param("agent A { ‸ }", {"provider", "model"}, {"command"}, id="an empty agent"),
        pytest.param("agent A { provider: ‸ }", {"openai"}, {"anthropic"}, id="connections"),
        pytest.param('agent A { provider: openai, model: "‸" }', {"fast", "gpt-4o"}, set(), id="models"),
        pytest.param(
            "agent A { provider: openai, model: ‸ }", {'"fast"', '"gpt-4o"'}, {"fast"}, id="a model in quotes"
        ),
        pytest.param(
            "agent A { provider: openai, tools: [‸] }", {"Notes", "Files", "GitHub"},
            {"Point"}, id="tools",
        ),
        pytest.param("agent A { tools: [Notes::‸] }", {"add"}, {"hidden"}, id="methods in tools"),
        pytest.param("agent A { memory: ‸ }", {"talk"}, {"Notes"}, id="memories"),
        pytest.param("agent A { tool_choice: \"‸\" }", {"auto", "none"}, set(), id="choices"),
        pytest.param("agent A { retry_policy: { ‸ } }", {"max_attempts", "backoff"}, set(), id="parts"),
        pytest.param("host H { connector: ‸ }", {"worker"}, set(), id="hosts"),
        pytest.param("mcp M { ‸ }", {"transport", "command"}, {"provider"}, id="mcp"),
        pytest.param("mcp M { transport: ‸ }", {'"stdio"', '"http"'}, set(), id="values"),
        pytest.param("tool T { ‸ }", {"description"}, {"provider"}, id="tool"),
        pytest.param("@‸\nfn f() {}", {"test", "retry"}, {"f"}, id="decorators"),
        pytest.param(
            "agent A { provider: openai }\n@retry(‸)\nagent B { provider: openai }",
            {"max", "backoff"}, set(), id="arguments",
        ),
        pytest.param("‸", {"fn", "agent", "use"}, {"Point"}, id="declarations"),
        pytest.param('fn f() { emit("news", 1); emit("‸", 2); }', {"news"}, {"Point"}, id="channels"),
        pytest.param("// a ‸ comment\nfn f() {}", set(), {"Point"}, id="a comment"),
        pytest.param('fn f() { let a = "in ‸ text"; }', set(), {"Point"}, id="a text"),
        pytest.param("fn f<T: Named>(t: T) { t.‸ }", {"name"}, {"x"}, id="members through a bound"),
        pytest.param("impl Point { fn g(self) { self.‸ } }", {"x", "length", "g"}, set(), id="self"),
        pytest.param(
            "fn f() { A.‸ }\nagent A { provider: openai }",
            {"execute", "with_tools"}, set(), id="an agent",
        ),
        pytest.param('tool T { description: "d", @‸ }', {"describe", "param"}, {"description"}, id="a tool"),
        pytest.param('tool T { description: "d", ‸ }', {"fn", "async fn"}, {"description"}, id="in a tool"),
        pytest.param("impl Point { ‸ }", {"fn", "const"}, {"agent"}, id="members of an impl"),
        pytest.param("trait T { fn a(self); ‸ }", {"fn"}, {"agent"}, id="members of a trait"),
        pytest.param("pipeline P { ‸ }", {"stage"}, {"agent"}, id="stages"),
        pytest.param('tool T { @describe("d") @pa‸', {"param"}, {"description"}, id="a tool's method"),
        pytest.param("@rate_limit(‸", {"per_minute"}, {"fn"}, id="arguments of a decorator of nothing"),
        pytest.param("const N: In‸\n", {"Int", "Point"}, {"fn"}, id="a constant's type"),
        pytest.param("fn f<T: Na‸\n", {"Named"}, {"fn"}, id="a bound"),
        pytest.param("fn f(p: Point) { match p { Point { ‸", {"x", "y"}, {"fn"}, id="fields of a pattern"),
        pytest.param("fn f() { std::‸ }", {"math", "json"}, {"Point"}, id="the library in a path"),
        pytest.param("const N: Int = 1‸2;", set(), {"Point"}, id="a number"),
        pytest.param("pipeline P { stage a(n: Int) -> Int { n.‸ } }", {"abs"}, {"x"}, id="a stage"),
    ],
)  # fmt: skip
def test_what_is_offered(text: str, offered: set[str], not_offered: set[str], tmp_path: Path) -> None:
    other = "pub struct Helper { pub n: Int }\nfn private() {}\n"
    below = "pub struct Below { pub n: Int }\n"
    place = Place(
        tmp_path, text + DECLARED, {"Concerto.toml": MANIFEST, "other.conc": other, "deep/down.conc": below}
    )
    found = set(place.completions())
    assert offered <= found, found
    assert not not_offered & found


@pytest.mark.parametrize(
    ("text", "label", "active"),
    [
        ("fn f(p: Point) { scale(‸); }", "fn scale(point: Point, by: Int = 2) -> Point;", 0),
        ("fn f(p: Point) { scale(p, ‸); }", "fn scale(point: Point, by: Int = 2) -> Point;", 1),
        ("fn f(p: Point) { scale(p, ‸", "fn scale(point: Point, by: Int = 2) -> Point;", 1),
        ("fn f(p: Point) { scale(by: ‸); }", "fn scale(point: Point, by: Int = 2) -> Point;", 1),
        ('fn f() { Notes.add("a", ‸) }', "pub fn add(text: String, pin: Bool = false) -> Int;", 1),
        ('fn f() { "a".replace(‸); }', "pub fn replace(self, old: String, new: String) -> String;", 0),
        ("fn f(p: Point) { scale(p, ‸2); }", "fn scale(point: Point, by: Int = 2) -> Point;", 1),
        ("fn f(p: Point) { scale(p, 12‸", "fn scale(point: Point, by: Int = 2) -> Point;", 1),
        ('fn f(n: Int) { Notes.add("a ${n} ‸b") }', "pub fn add(text: String, pin: Bool = false) -> Int;", 0),
        ("fn f() { Shape::Circle(‸) }", "Shape::Circle(Float)", 0),
    ],
)
def test_signature_help(text: str, label: str, active: int, tmp_path: Path) -> None:
    place = Place(tmp_path, text + DECLARED)
    found = signature_help(place.program, place.source, place.offset)
    assert found is not None
    assert (found.signatures[0].label, found.active_parameter) == (label, active)


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("[‸", {"project", "connections", "permissions"}),
        ("[connections.openai.‸", {"models", "retry", "rate_limit"}),
        ("[connections.openai]\n‸", {"api_key_env", "provider", "timeout"}),
        ("[connections.openai]\nprov‸ider", {"provider"}),
        ('[connections.openai]\nprovider = "‸', {"anthropic", "custom"}),
        ("[connections.openai.retry]\nbackoff = ‸", {"linear"}),
        ("[mcp.Files]\nshare = ‸", {"true", "false"}),
        ("[permissions]\n‸", {"files", "http", "Notes", "Files"}),
        ("[permissions]\nNotes = ‸", {"true", "false"}),
        ("[runtime]\nmax_‸", {"max_iterations", "max_usd"}),
        ("# [‸", set()),
        ("[nothing]\n‸", set()),
    ],
)
def test_what_is_offered_in_a_manifest(text: str, offered: set[str], tmp_path: Path) -> None:
    place = Place(tmp_path, DECLARED)
    source = Source("Concerto.toml", text.replace("‸", ""))
    found = {each.label for each in complete_manifest(source, text.index("‸"), [place.program]).items}
    assert offered <= found
    assert bool(offered) == bool(found)
