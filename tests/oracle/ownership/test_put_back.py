"""What is put back where it was taken from is what is there afterwards, whatever became of it meanwhile."""

from __future__ import annotations

from itertools import product

import pytest

from tests.emit.compiling import emit, opcodes
from tests.properties.running import agree, outcomes

_DECLARED = """
struct Node { key: Int, marks: Array<Int> = [], next: Option<Node> = None }
enum Held { Nothing, One(Node), Same(Node), Two(Node, Int) }
struct Root {
    held: Held, some: Option<Node>, rows: Array<Node>, named: Map<String, Node>, log: Array<Node> = [],
    done: Result<Node, Node> = Ok(Node { key: 6 }), turned: Map<String, Held> = {},
    options: Array<Option<Held>> = [Some(Held::Nothing)]
}
impl Node {
    fn grow(mut self, n: Int) -> Int { self.key += n; self.marks.push(n); self.key }
    fn become(mut self, n: Int) { self = Node { key: n, next: Some(self) }; }
}
impl Add<Node> for Node { fn add(self, other: Node) -> Node { Node { key: self.key + other.key } } }
impl Held { fn turn(mut self) { self = Held::Two(node(7), 7); } }
impl Root {
    fn clear(mut self) {
        self.held = Held::Nothing; self.some = None; self.rows = [node(8), node(9)]; self.named = {};
    }
}
fn node(n: Int) -> Node { Node { key: n } }
fn grown(of: Node) -> Node { let mut of = of; of.grow(4); of }
fn make() -> Root {
    Root { held: Held::One(node(1)), some: Some(node(2)), rows: [node(3), node(4)], named: {"k": node(5)} }
}
"""
# What is matched, the pattern, the place, and what is put there.
_PLACES = (
    ("{r}.some", "Some({x})", "{r}.some", "Some({y})"),
    ("{r}.held", "Held::One({x})", "{r}.held", "Held::One({y})"),
    ("{r}.held", "Held::One({x})", "{r}.held", "Held::Two({y}, 1)"),
    ("{r}.held", "Held::One({x})", "{r}.held", "Held::Same({y})"),
    ("{r}.done", "Ok({x})", "{r}.done", "Ok({y})"),
    ("{r}.done", "Ok({x})", "{r}.done", "Err({y})"),
    ("{r}.some", "Some({x})", "{r}.some", "Some(z)"),
    ('{r}.turned.get("z") ?? Held::One(node(9))', "Held::One({x})", '{r}.turned["z"]', "Held::One({y})"),
    ('{r}.named.get("k")', "Some({x})", '{r}.named["k"]', "{y}"),
    ("{r}.rows.get(1)", "Some({x})", "{r}.rows[1]", "{y}"),
    ("{r}.rows.get(1)", "Some({x})", "{r}.rows[0]", "{y}"),
    ("{r}.rows.get(1)", "Some({x})", "{r}.some", "Some({y})"),
)
_HEADS = (
    "if let {pattern} = {subject} { {body} }",
    "match {subject} { {pattern} => { {body} } _ => println(0) }",
    "let {pattern} = {subject} else { return {end}; }; {body}",
)
_NAMES = (("mut x", "", "x"), ("x", "let mut y = x;", "y"), ("mut x", "let mut y = x;", "x"))
_STEPS = (
    "{y}.key = 9;",
    "{y}.grow(2);",
    "{y}.become(2);",
    "{y} = node(6);",
    "{y} = grown({y});",
    "{y} += node(1);",
    "{y}.next = Some({y});",
    "{y}.grow(1); let kept = {y}; {y}.grow(1); println(kept);",
    "let show = || println({y}); {y}.grow(1); show();",
    "for i in 0..2 { {y}.grow(i); if i > 5 { break; } }",
    "{y}.grow(1); {r}.clear();",
    "{y}.grow(1); if {y}.key > 0 { {place} = {other}; }",
    "{y}.grow(1); {r}.held.turn();",
    "{y}.grow(1); {r}.log.push({y});",
    "{y}.grow(1); println({r});",
    'try { {y}.grow(1); {place} = {other}; throw "no"; } catch { {y}.grow(1); }',
    "{y}.grow(1); if {y}.key > 1 { return {end}; }",
)
_AFTER = ("", "{y}.grow(5); println({y});", "let z = {y}; println(z); println({place});")


def _program(place: tuple[str, str, str, str], step: str, after: str) -> str:
    subject, pattern, target, value = place
    found, calls = [_DECLARED], []
    for number, (head, (bound, rename, name)) in enumerate(product(_HEADS, _NAMES)):
        other = "let z = node(5);" if "(z)" in value else ""
        body = f"{other} {rename} {step} {{place}} = {value}; {after}"
        text = head.replace("{pattern}", pattern.replace("{x}", bound)).replace("{subject}", subject)
        text = text.replace("{body}", body).replace("{other}", value.replace("{y}", "node(0)"))
        text = text.replace("{place}", target).replace("{y}", name)
        inside = text.replace("{r}", "self").replace("{end}", "")
        found.append(f"impl Root {{ fn m{number}(mut self) {{ {inside} }} }}")
        inside = text.replace("{r}", "r").replace("{end}", "r")
        found.append(f"fn f{number}() -> Root {{ let mut r = make(); {inside} return r; }}")
        calls.append(f"{{ let mut r = make(); let was = r; r.m{number}(); println([r, was, f{number}()]); }}")
    return "\n".join((*found, "fn main() {", *calls, "}"))


@pytest.mark.parametrize("step", _STEPS)
def test_what_is_put_back_is_there(step: str) -> None:
    for place, after in product(_PLACES, _AFTER):
        found = outcomes({"main.conc": _program(place, step, after)})
        assert "oracle" in found and agree(found), (place, step, after, found)


@pytest.mark.parametrize("change", ["x.turn();", "x = Held::Same(node(3));", "x.turn(); x.turn();"])
def test_what_becomes_another_value_is_stored(change: str) -> None:
    put = "{r}.options[0] = Some(x);"
    whole = f"if let Some(mut x) = {{r}}.options[0] {{ {change} {put} }}"
    method = f"impl Root {{ fn go(mut self) {{ {whole.replace('{r}', 'self')} }} }}"
    main = f"let mut r = make(); r.go(); println(r); {whole.replace('{r}', 'r')} println(r);"
    found = outcomes({"main.conc": f"{_DECLARED} {method} fn main() {{ {main} }}"})
    assert "oracle" in found and agree(found), found


@pytest.mark.parametrize(("step", "stores"), [("y.grow(1);", 0), ("y = node(6);", 1)])
def test_nothing_is_stored_where_it_is_there(step: str, stores: int) -> None:
    body = f"if let Some(mut y) = self.some {{ {step} self.some = Some(y); }}"
    text = f"{_DECLARED} impl Root {{ fn go(mut self) {{ {body} }} }} fn main() {{ make().go(); }}"
    code = opcodes(emit(text), "Root::go")
    assert len([name for name in code if name.startswith("SET_FIELD")]) == stores
