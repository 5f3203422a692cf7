"""Parts of trees and lists that are moved from place to place stay values of their own: rotations, splits,
lists that are turned round, stacks of what a place had."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from concerto.compiler import compile_file
from tests.properties.running import agree, outcomes

_DECLARED = """
struct Node {
    xs: Array<Int> = [1],
    left: Option<Node> = None,
    right: Option<Node> = None,
    kids: Array<Node> = [],
    named: Map<String, Node> = {},
}
fn leaf(k: Int) -> Node { Node { xs: [k] } }
fn start() -> Node {
    let inner = Node { left: Some(leaf(2)), right: Some(leaf(3)) };
    Node { left: Some(inner), right: Some(leaf(4)), kids: [leaf(5), inner, leaf(6)], named: {"k": leaf(7)} }
}
fn grown(node: Option<Node>, k: Int) -> Option<Node> {
    match node { Some(mut n) => { n.xs.push(k); Some(n) } None => Some(leaf(k)) }
}
fn look(node: Option<Node>) -> Int { node.map(|n| n.xs.len()).unwrap_or(0) }
fn eat(node: Node) -> Int { let mut node = node; node.xs.push(3); node.xs.len() }
fn eaten(node: Node, k: Int) -> Result<Node, Node> {
    if look(node.left) > 5 { throw node; }
    if k == 1 { return Err(leaf(1)); }
    let mut n = node;
    n.xs.push(k);
    Ok(n)
}
fn split(node: Option<Node>, k: Int) -> (Option<Node>, Option<Node>) {
    let Some(mut n) = node else { return (None, None); };
    if k == 0 { return (Some(n), None); }
    let (a, b) = split(n.left, k - 1);
    n.left = b;
    (a, Some(n))
}
fn checked(node: Option<Node>, k: Int) -> Result<Option<Node>, String> {
    if k == 1 { return Err("one"); }
    let mut n = node.ok_or("none")?;
    n.xs.push(k);
    Ok(Some(n))
}
"""
_PLACES = ("n.left", "n.right", "m.left", "m.right", "n.kids[0].left", "n.kids[1].right", "m.kids[k].left")
_WHOLE = ("n.kids[0]", "n.kids[1]", 'n.named["k"]', "m.kids[k]")
_STEPS = (
    "let a = {p}; {p} = {q}; {q} = a;",
    "let mut a = {p}.unwrap_or(leaf(k)); a.xs.push(8); {q} = Some(a);",
    "let mut a = {p}.unwrap_or(leaf(k)); {p} = a.right; a.right = Some(n); n = a;",
    "let mut a = {p}.unwrap_or(leaf(k)); {p} = a.right; a.right = {p}; {q} = Some(a);",
    "{p} = {q};",
    "{p} = {q}; {q} = None;",
    "{p} = Some(Node { left: {p}, xs: [k] });",
    "{p} = Some(Node { left: {p}, right: {q}, xs: [k] });",
    "{p} = Some(Node { left: {p}, ..m });",
    "{p} = grown({p}, k);",
    "{p} = grown({q}, k);",
    "{p} = grown(grown({p}, k), look({p}));",
    "stack.push({p}); {p} = None;",
    "stack.push({p}); {q} = None;",
    "stack.push({p}); println(look({p})); {p} = None;",
    "stack.push({p}); if k == 1 { return n; } {p} = Some(leaf(9));",
    "stack = [{p}, {q}]; {p} = None; {q} = None;",
    "let held = [{p}]; {p} = None; if let Some(mut t) = held[0] { t.xs.push(7); stack.push(Some(t)); }",
    "if let Some(mut t) = {p} { t.xs.push(k); {q} = Some(t); }",
    "if let Some(mut t) = {p} { t.xs.push(k); {p} = Some(t); }",
    "let Some(mut t) = {p} else { return n; }; t.xs.push(k); {p} = t.left; stack.push(Some(t));",
    "let (a, b) = split({p}, k); {p} = b; {q} = a;",
    "let (a, b) = ({p}, {q}); {p} = b; {q} = a;",
    "match ({p}, {q}) { (Some(mut a), Some(mut b)) => { a.xs.push(1); b.xs.push(2); {p} = Some(b); } "
    "_ => {} }",
    "match ({p}, k) { (Some(mut a), 1) => { a.xs.push(1); {p} = Some(a); } (None, _) => {} _ => return n, }",
    "let mut rest = {p}; let mut done: Option<Node> = None; "
    "while let Some(mut t) = rest { rest = t.left; t.left = done; done = Some(t); } {p} = done;",
    "let mut rest = {p}; while let Some(mut t) = rest { t.xs.push(k); rest = t.left; stack.push(Some(t)); }",
    "for t in n.kids { stack.push(Some(t)); }",
    "let kids = n.kids; n.kids = []; for mut t in kids { t.xs.push(k); n.kids.push(t); }",
    "let kids = n.kids; n.kids = []; "
    "for t in kids { if t.xs.len() > k { n.kids.push(t); } stack.push(Some(t)); }",
    "n.kids = n.kids.concat([n.kids[0]]);",
    "n.kids = n.kids.filter(|x| x.xs.len() > k);",
    "n.kids = n.kids.reverse().take(2).concat([leaf(k)]);",
    "n.kids = n.kids.sort_by_key(|x| x.xs.len()).concat(n.kids); n.kids[0].xs.push(2);",
    "let mut kids = n.kids.skip(1); n.kids = [leaf(k)]; kids[0].xs.push(4); n.kids = kids.concat(n.kids);",
    "let mut kids = n.kids.filter(|x| x.xs.len() > 0); kids[0].xs.push(3); stack.push(Some(n.kids[0]));",
    "if let Some(t) = {p} && t.xs.len() > k { {p} = grown(Some(t), k); }",
    "if let Some(t) = {p} && k > look(Some(t)) { {p} = t.left; }",
    "if let Some(mut t) = {p} && k > 0 { t.xs.push(k); {p} = Some(t); }",
    "if let Some(mut t) = {p} && eat(t) > 1 && k > 1 { {q} = {p}; {p} = Some(leaf(k)); }",
    "if let Some(mut t) = {p} && { t.xs.push(6); k > 1 } { {p} = None; }",
    "stack.push(Some({w})); {w} = leaf(k);",
    "let mut a = {w}; {w} = leaf(k); a.xs.push(6); {p} = Some(a);",
    "{w} = Node { left: Some({w}), xs: [k] };",
    "if k == 1 { stack.push({p}); {p} = None; return n; } stack.push({p});",
    "if k == 1 { stack.push({p}); {p} = None; } else { {p} = grown({p}, k); }",
    "if k > 0 { stack.push({p}); if k == 2 { {p} = None; } }",
    "for i in 0..2 { stack.push({p}); {p} = Some(leaf(i)); }",
    "for i in 0..2 { stack.push({p}); if i == k { continue; } {p} = Some(leaf(i)); }",
    "for i in 0..2 { stack.push({p}); if i == k { break; } {p} = Some(leaf(i)); }",
    "try { stack.push({p}); println(10 / k); {p} = None; } catch {}",
    "{p} = checked({p}, k).unwrap_or(None);",
    "match checked({p}, k) { Ok(next) => { {p} = next; } Err(_) => {} }",
    "match checked({p}, k) { Ok(next) => { {q} = next; } Err(_) => {} }",
    "if let Ok(next) = checked({p}, k) { {p} = next; stack.push(next); }",
    "let f = || look({p}); stack.push({p}); {p} = None; println(f());",
    "let old = {p}; {p} = grown({p}, k); println(old);",
    "let old = n; stack.push({p}); {p} = None; println(old);",
    "match eaten(m, k) { Ok(next) => { m = next; } Err(_) => { println(m); } }",
    "match eaten(m, k) { Ok(next) if k == 2 => { m = next; } _ => {} }",
    "match eaten(m, k) { Ok(next) => { println(m); m = next; } Err(_) => {} }",
    "if let Ok(next) = eaten(m, k) { m = next; }",
    "if let Err(e) = eaten(m, k) { println(e); } else { println(m); }",
    "if let Ok(Node { kids: [], .. }) = eaten(m, k) { m = leaf(k); }",
    "let old = m; match eaten(m, k) { Ok(next) => { m = next; } Err(_) => {} } println(old);",
    "for i in 0..3 { match eaten(m, i) { Ok(next) => { m = next; } Err(_) => { stack.push(Some(m)); } } }",
    "let f = || m.xs.len(); match eaten(m, k) { Ok(next) => { m = next; } Err(_) => {} } println(f());",
    "m = eaten(m, k).unwrap_or(m);",
    "{p} = checked({p}, look({q})).unwrap_or(None);",
    "m = n; m.xs.push(k);",
    "m = Node { left: Some(m), right: {p} }; {p} = None;",
    "n.xs.push(k);",
    "println(n);",
    "println(stack);",
)  # fmt: skip


def _body(random: Random) -> str:
    steps = random.choices(_STEPS, k=3)
    found = []
    for step in [random.choice(steps) for _ in range(random.choice((1, 2, 2, 3, 4)))]:
        p, q = random.sample(_PLACES, 2)
        found.append(step.replace("{p}", p).replace("{q}", q).replace("{w}", random.choice(_WHOLE)))
        if random.random() < 0.3:
            change = f"if let Some(mut t) = {random.choice((p, q))} {{ t.xs.push(0); println(t); }}"
            found.append(random.choice((f"{p} = grown({p}, 5);", "stack.push(None);", change)))
    return " ".join(f"{{ {step} }}" if random.random() < 0.2 else step for step in found)


def program(random: Random, count: int = 8) -> str:
    declared, calls = [_DECLARED], []
    for number in range(count):
        body = (
            "let mut m = start(); let mut stack: Array<Option<Node>> = []; "
            f"{_body(random)} "
            "if let Some(Some(mut t)) = stack.get(0) { t.xs.push(9); stack[0] = Some(t); } "
            "println(stack); println(m);"
        )
        if random.random() < 0.5:
            declared.append(f"fn step{number}(given: Node, k: Int) -> Node {{ let mut n = given; {body} n }}")
            call = f"t = step{number}(t, k);"
        else:
            body = re.sub(r"\bn\b", "self", body.replace("return n", "return"))
            declared.append(f"impl Node {{ fn step{number}(mut self, k: Int) {{ {body} }} }}")
            call = f"t.step{number}(k);"
        call = f"try {{ {call} }} catch {{}}" if random.random() < 0.2 else call
        calls.append(
            f"for k in 0..3 {{ let mut t = start(); let before = t; {call} "
            f"t = t.left.unwrap_or(t); println([t, before]); }}"
        )
    return "\n".join((*declared, "fn main() {", *calls, "}"))


@pytest.mark.parametrize("seed", range(40))
def test_parts_that_are_moved_are_values(seed: int) -> None:
    text = program(Random(seed))
    found = outcomes({"main.conc": text})
    assert "oracle" in found and agree(found), (text, found)


_TREES = """
struct Node {
    key: Int,
    left: Option<Node> = None,
    right: Option<Node> = None,
    kids: Array<Node> = [],
}
fn turned(given: Node) -> Node {
    let mut node = given;
    let mut pivot = node.left.unwrap_or(Node { key: 7 });
    node.left = pivot.right;
    pivot.right = Some(node);
    pivot
}
fn reversed(list: Option<Node>) -> Option<Node> {
    let mut done: Option<Node> = None;
    let mut rest = list;
    while let Some(mut node) = rest { rest = node.left; node.left = done; done = Some(node); }
    done
}
fn removed(tree: Option<Node>, key: Int) -> Result<Option<Node>, String> {
    let Some(mut node) = tree else { return Err("missing"); };
    if node.key == key { return Ok(node.right); }
    node.left = removed(node.left, key)?;
    Ok(Some(node))
}
fn split(tree: Option<Node>, key: Int) -> (Option<Node>, Option<Node>) {
    let mut node = match tree { Some(node) => node, None => { return (None, None); } };
    if node.key < key { let (a, b) = split(node.right, key); node.right = a; return (Some(node), b); }
    let (a, b) = split(node.left, key);
    node.left = b;
    (a, Some(node))
}
fn mirrored(given: Node) -> Node {
    let mut node = given;
    let left = node.left;
    node.left = node.right;
    node.right = left;
    node
}
fn leaning(given: Node) -> Node {
    let mut node = given;
    if let Some(left) = node.left && left.key > 0 { node.left = Some(turned(left)); }
    node
}
fn moved(state: Node, key: Int) -> Result<Node, String> {
    if key > state.key { return Err("too far"); }
    let mut next = state;
    next.kids.push(Node { key });
    Ok(next)
}
impl Node {
    fn push(mut self, key: Int) { self.left = Some(Node { key, left: self.left }); }
    fn remove(mut self, key: Int) -> Result<Nil, String> {
        self.left = removed(self.left, key)?;
        Ok(nil)
    }
    fn smallest(mut self) -> Result<Int, String> {
        let mut left = self.left.ok_or("none")?;
        if left.left.is_none() { self.left = left.right; return Ok(left.key); }
        let key = left.smallest()?;
        self.left = Some(left);
        Ok(key)
    }
    fn keep(mut self, key: Int) { self.kids = self.kids.filter(|kid| kid.key > key); }
}
fn main() {
    let mut root = Node { key: 9 };
    for key in 0..6 { root.push(key); }
    root.left = reversed(root.left);
    println(root.remove(3));
    println(root.remove(30));
    println(root.smallest());
    root = leaning(turned(root));
    println(root);
    let (mut low, high) = split(Some(mirrored(root)), 4);
    println(low);
    let mut state = high.unwrap();
    let mut failed = 0;
    for key in 0..9 {
        match moved(state, key) { Ok(next) => { state = next; } Err(_) => { failed += 1; } }
    }
    state.keep(2);
    let mut kept: Array<Node> = [];
    let kids = state.kids;
    state.kids = [];
    for kid in kids { kept.push(kid); }
    println("${state} ${kept} ${failed}");
}
"""


def test_parts_that_are_moved_are_not_copied(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(_TREES)
    functions = compile_file(tmp_path / "main.conc").module.functions
    copying = [each.name for each in functions if any(instr[0].startswith("COPY") for instr in each.code)]
    assert not copying
    found = outcomes({"main.conc": _TREES})
    assert "oracle" in found and found["oracle"].status == 0 and agree(found), found


_FALLIBLE = """
struct Node { xs: Array<Int> = [1], left: Option<Node> = None, right: Option<Node> = None, count: Int = 0 }
fn leaf(k: Int) -> Node { Node { xs: [k] } }
fn eaten(node: Node, k: Int) -> Result<Node, Node> {
    if k == 1 { return Err(leaf(1)); }
    let mut n = node;
    n.xs.push(k);
    Ok(n)
}
fn thrown(node: Node, k: Int) -> Result<Node, Node> {
    let mut n = node;
    n.xs.push(k);
    if k == 1 { throw leaf(1); }
    Ok(n)
}
fn missing(node: Node, k: Int) -> Option<Node> {
    let mut n = node;
    n.xs.push(k);
    let left = n.left?;
    n.left = Some(left);
    Some(n)
}
fn taken(node: Node, k: Int) -> Option<Node> {
    let mut n = node;
    n.xs.push(k);
    let mut left = n.left?;
    left.xs.push(k);
    Some(left)
}
fn second(one: Node, other: Node, k: Int) -> Result<Node, Node> {
    let mut n = other;
    n.xs.push(k);
    if k == 1 { return Err(leaf(1)); }
    Ok(one)
}
struct Pair { one: Node, other: Node }
fn both(pair: Pair, k: Int) -> Result<Pair, Node> {
    let mut p = pair;
    p.one = second(p.one, p.other, k)?;
    Ok(p)
}
fn either(node: Node, k: Int) -> Result<Node, Node> {
    let mut n = node;
    n.left = Some(second(n.left.unwrap_or(leaf(2)), n.right.unwrap_or(leaf(3)), k)?);
    Ok(n)
}
impl Node {
    fn add(mut self, xs: Array<Int>) { self.xs.push(1); self.count += xs.len(); }
    fn pairs(mut self, k: Int) -> Result<Nil, Node> {
        let (Some(mut a), Some(mut b)) = (self.left, self.right) else { return Ok(nil); };
        a = second(a, b, k)?;
        b.xs.push(7);
        self.left = Some(a);
        self.right = Some(b);
        Ok(nil)
    }
}
"""


@pytest.mark.parametrize(
    "steps",
    [
        "let t = m; let mut m = t; match eaten(m, k) { Ok(n) => { m = n; } Err(_) => {} } println(t);",
        "let old = m; match eaten(m, k) { Ok(n) => { m = n; } Err(_) => {} } println(old);",
        "let f = || m.xs.len(); match eaten(m, k) { Ok(n) => { m = n; } Err(_) => {} } println(f());",
        "if let Err(e) = eaten(m, k) { m = e; }",
        "let o = leaf(4); if let Ok(Node { count: 1, .. }) = eaten(m, k) { m = o; }",
        "match eaten(m, k) { Ok(n) if m.xs.len() > 1 => { m = n; } Ok(_) => {} Err(_) => {} }",
        "match eaten(m, k) { Ok(n) if m.xs.len() > 1 => { m = n; } Ok(n) => { m = n; m.count = 5; } "
        "Err(_) => {} }",
        "match eaten(m, k) { Ok(n) => { let c = m.count; m = n; println(c); } Err(_) => {} }",
        "match eaten(m, k) { Ok(n) => { m = n; } Err(e) => { println(e); println(m); } }",
        "match thrown(m, k) { Ok(n) => { m = n; } Err(_) => {} }",
        "match missing(m, k) { Some(n) => { m = n; } None => {} }",
        "match taken(m, k) { Some(n) => { m = n; } None => {} }",
        "match second(m, leaf(3), k) { Ok(n) => { m = n; } Err(_) => {} }",
        "match second(leaf(3), m, k) { Ok(n) => { m = n; } Err(_) => {} }",
        "match second(m, m, k) { Ok(n) => { m = n; } Err(_) => {} }",
        "match either(m, k) { Ok(n) => { m = n; } Err(_) => {} }",
        "m.right = Some(leaf(8)); match either(m, k) { Ok(n) => { m = n; } Err(_) => {} }",
        "m.left = Some(leaf(9)); m.right = Some(leaf(8)); println(m.pairs(k)); println(m);",
        "let mut p = Pair { one: m, other: m }; match both(p, k) { Ok(n) => { p = n; } Err(_) => {} } "
        "println(p);",
        "let xs = [[m]]; match eaten(m, k) { Ok(n) => { m = n; } Err(_) => {} } println(xs);",
        "m.add(m.xs); m.add(m.xs);",
        "for i in 0..3 { match eaten(m, i) { Ok(n) => { m = n; } Err(_) => { println(m); } } }",
        "try { match thrown(m, k) { Ok(n) => { m = n; println(1 / (k - 2)); } Err(_) => {} } } catch {}",
    ],
)
def test_who_goes_on_after_an_error_has_what_there_was(steps: str) -> None:
    main = f"fn main() {{ for k in 0..3 {{ let mut m = leaf(9); {steps} println(m); }} }}"
    found = outcomes({"main.conc": f"{_FALLIBLE}{main}"})
    assert "oracle" in found and agree(found), found
