"""Methods that give errors leave their receiver as it was, or half changed where everybody who calls them
leaves it with the error: nobody notices which."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from concerto.compiler import compile_file
from tests.properties.running import agree, outcomes

_DECLARED = """
enum Held { Nothing, One(Array<Int>), Table(Map<String, Held>), Inner(Node) }
struct Node {
    xs: Array<Int> = [1, 2],
    held: Held = Held::One([3]),
    next: Option<Node> = None,
    named: Map<String, Node> = {},
    all: Array<Node> = [],
}
fn leaf(n: Int) -> Node { Node { xs: [n, n + 1] } }
fn start(n: Int) -> Node {
    let inner = Node { next: Some(leaf(n)), named: {"k": leaf(4)}, held: Held::Inner(leaf(5)) };
    Node { next: Some(inner), named: {"k": inner}, all: [inner, leaf(6)], held: Held::Inner(leaf(7)) }
}
fn check(n: Int) -> RESULT { if n % 3 == 1 { ERROR } else { FINE } }
fn count(node: Node) -> Int { node.xs.len() }
fn swallow(node: Node) -> Int { let mut node = node; node.xs.push(1); node.xs.len() }
fn sum(held: Held) -> Int { match held { Held::Table(mut t) => { t["x"] = Held::Nothing; t.len() } _ => 0 } }
fn flat(n: Int) -> Held { Held::Table({"k": Held::One([n]), "t": Held::Table({"k": Held::One([8])})}) }
"""
# An error, one that gives a part of the receiver, no error, both as patterns, an error told, and one changed.
_WAYS = {
    "Result<Nil, String>": (
        'Err("no")', 'Err("no")', "Ok(nil)", "Ok(_)", "Err(_)", '.map_err(|e| "${e}!")', "",
    ),
    "Option<Int>": ("None", "None", "Some(1)", "Some(_)", "None", "", ""),
    "Result<Nil, Array<Int>>": (
        "Err([0])", "Err(self.xs)", "Ok(nil)", "Ok(_)", "Err(_)", ".map_err(|e| e.concat([6]))",
        "if let Err(mut e) = {call} { e.push(5); return Err(e); }",
    ),
}  # fmt: skip
_LEAVES = (
    "if n % 4 == {r} { return ERROR; }",
    "if xs.len() % 2 == {r} { return ERROR; }",
    "if count(self) % 2 == {r} { return ERROR; }",
    "if swallow(self) % 2 == {r} { return ERROR; }",
    "let mut ys = xs; if n == {r} { return ERROR; } ys.push(n);",
    "let mut ys = xs; ys.push(n); if n == {r} { return ERROR; }",
    "if xs.contains(n) { ERROR?; }",
    "check(n + {r})?;",
    "if n == {r} { return check(n); }",
    "if n == {r} { return FINE; }",
    "let FINE_PATTERN = check(n + {r}) else { return ERROR; };",
    "match check(n + {r}) { FINE_PATTERN => {} ERROR_PATTERN => return ERROR, }",
    "for i in 0..2 { if i + {r} == n { return ERROR; } xs.push(i); }",
    "for i in 0..2 { let FINE_PATTERN = check(i + {r}) else { continue; }; xs.push(i); "
    "if n > 2 { return ERROR; } }",
    "if xs.any(|x| x == n + self.xs.len()) { return ERROR; }",
)
_CHANGES = (
    "xs.push(n);",
    "xs[0] = n;",
    "self.xs.push(n);",
    "self.xs = xs;",
    "self.xs = self.xs.concat([n]);",
    "self.held = Held::One([n]);",
    'self.named["l"] = leaf(n);',
    "let f = || xs.len(); xs.push(f());",
    "let old = self; xs.push(n); if old == self { xs.push(9); }",
)
_CALLS = (
    "{t}.{m}(n - 1)?;",
    "{t}.{m}(n - 1)?; {t}.xs.push(n);",
    "{t}.xs.push(n); {t}.{m}(n - 1)?;",
    "{t}.{m}(n - 1)?; {t}.{m}(n - 2)?;",
    "match {t}.{m}(n - 1) { FINE_PATTERN => {} ERROR_PATTERN => return ERROR, }",
    "match {t}.{m}(n - 1) { ERROR_PATTERN => return ERROR, _ => { {t}.xs.push(n); } }",
    "if let ERROR_PATTERN = {t}.{m}(n - 1) { return ERROR; } else { {t}.xs.push(n); }",
    "if let FINE_PATTERN = {t}.{m}(n - 1) { {t}.xs.push(n); } else { return ERROR; }",
    "let FINE_PATTERN = {t}.{m}(n - 1) else { return ERROR; };",
    "let FINE_PATTERN = {t}.{m}(n - 1) else { return FINE; };",
    "if let ERROR_PATTERN = {t}.{m}(n - 1) { {t}.xs.push(8); }",
    "let done = {t}.{m}(n - 1); {t}.xs.push(n); done?;",
    "let done = {t}.{m}(n - 1); if n == 2 { done?; }",
    "for i in 0..2 { {t}.{m}(n - 1)?; }",
    "for i in 0..2 { if i == n { return ERROR; } {t}.{m}(n - 1)?; }",
    "if n > 1 { return {t}.{m}(n - 1); }",
    "MUTATED({t}.{m}(n - 1))",
    "{t}.{m}(n - 1)TOLD?;",
    "[n - 1].map(|k| { let mut u = {t}; u.{m}(k)?; FINE }).first().unwrap()?;",
)
_TAKES = (
    "if let Some(mut t) = self.next { {steps} self.next = Some(t); }",
    "match self.next { Some(mut t) => { {steps} self.next = Some(t); } None => { self.all = []; } }",
    "let Some(mut t) = self.next else { return ERROR; }; {steps} self.next = Some(t);",
    "let Some(t) = self.next else { return ERROR; }; let mut t = t; {steps} self.next = Some(t);",
    'let Some(mut t) = self.named.get("k") else { return FINE; }; {steps} self.named["k"] = t;',
    'let mut t = self.named["k"]; {steps} self.named["k"] = t;',
    'if let Some(mut t) = self.named.get("k") { {steps} self.named["k"] = t; }',
    "if let Held::Inner(mut t) = self.held { {steps} self.held = Held::Inner(t); }",
    "let Held::Inner(mut t) = self.held else { return ERROR; }; {steps} self.held = Held::Inner(t);",
    'let mut t = self.named.get("k").unwrap_or(leaf(n)); {steps} self.named["k"] = t;',
    'let keys = ["k"]; let mut t = self.named[keys[0]]; {steps} self.named[keys[0]] = t;',
    "match (self.next, n) { (Some(mut t), 1 | 2) => { {steps} self.next = Some(t); } _ => {} }",
    "let u = self.next; let Some(mut t) = u else { return ERROR; }; {steps} self.next = Some(t);",
    "self.next = match self.next { Some(mut t) => { {steps} Some(t) } None => Some(leaf(n)) };",
    "for i in 0..2 { if let Some(mut t) = self.all.get(i) { {steps} self.all[i] = t; } }",
)
_PLACES = ('self.named["k"]', "self.all[0]", "self")
_TABLES = (
    "let Held::Table(mut entries) = self else { return ERROR; }; {steps} self = Held::Table(entries);",
    "let Held::Table(entries) = self else { return ERROR; }; let mut entries = entries; "
    "{steps} self = Held::Table(entries);",
    "match (self, n) { (Held::Table(mut entries), _) => { {steps} self = Held::Table(entries); } _ => {} }",
    "match (n, self) { (1, _) => return ERROR, (_, Held::Table(mut entries)) => { "
    "{steps} self = Held::Table(entries); } _ => {} }",
)
_IN_TABLES = (
    'let mut t = entries.get("t").unwrap_or(Held::Nothing); t.{m}(n - 1)?; entries["t"] = t;',
    'let mut t = entries["t"]; if sum(t) == {r} { return ERROR; } t.{m}(n - 1)?; entries["t"] = t;',
    'let ks = ["t"]; let mut t = entries[ks[0]]; t.{m}(n - 1)?; entries[ks[0]] = t;',
    'if !entries.has("t") { entries["t"] = flat(n); }',
    'entries["n"] = Held::One([n]);',
    'entries["t"].{m}(n - 1)?;',
    'let Some(mut t) = entries.get("t") else { return ERROR; }; t.{m}(n - 1)?; entries["t"] = t;',
    'match entries["t"].{m}(n - 1) { FINE_PATTERN => {} ERROR_PATTERN => return ERROR, }',
    "check(n + {r})?;",
    "if n == {r} { return FINE; }",
)
_ENDS = (*["FINE"] * 6, "check(n)", "if n > 1 { FINE } else { ERROR }", "match n { 2 => ERROR, _ => FINE }")
# Who calls: they leave with the error, or look at what is there.
_CALLERS = (
    "{t}.{m}(n)?;",
    "{t}.{m}(n)?;",
    "match {t}.{m}(n) { FINE_PATTERN => {}, ERROR_PATTERN => { println({t}); } }",
    "let ok = {t}.{m}(n) == FINE; println(ok);",
)
_COUNT = 6


class _Some:
    """A few of all shapes, so that those of one program meet each other often."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.calls, self.leaves, self.changes, self.takes, self.tables, self.places, self.ends = (
            random.choices(each, k=random.choice((1, 2, 3)))
            for each in (_CALLS, _LEAVES, _CHANGES, _TAKES, _IN_TABLES, _PLACES, _ENDS)
        )

    def method(self, number: int) -> str:
        """A method of a Node, or of a Held, that may call each of its kind."""
        random = self.random
        kind = "n" if number % 3 else "h"
        callee = random.choice([each for each in range(_COUNT) if bool(each % 3) == (kind == "n")])
        if kind == "h":
            inside = " ".join(random.choices(self.tables, k=random.randint(1, 3)))
            steps = [random.choice(_TABLES).replace("{steps}", inside)]
        else:
            steps = [self._step() for _ in range(random.choice((1, 1, 2, 3)))]
        body = " ".join(steps)
        if re.search(r"(?<!\.)\bxs\b", body):
            body = f"let mut xs = self.xs; {body}"
        body = f"if n <= 0 {{ return FINE; }} {body} {random.choice(self.ends)}"
        owner = "Node" if kind == "n" else "Held"
        if kind == "n" and random.random() < 0.5:
            body = body.replace("return ERROR", "return GIVEN")
        body = body.replace("{m}", f"{kind}{callee}").replace("{r}", str(random.randint(0, 3)))
        return f"impl {owner} {{ fn {kind}{number}(mut self, n: Int) -> RESULT {{ {body} }} }}"

    def _step(self) -> str:
        random = self.random
        inner = random.choices(
            (random.choice(self.calls), random.choice(self.leaves), random.choice(self.changes)),
            (3, 1, 1),
            k=random.choice((1, 1, 2)),
        )
        inside = re.sub(r"(?<!\.)\bxs\b", "t.xs", " ".join(inner))
        inside = inside.replace("self.", "t.") if random.random() < 0.8 else inside
        taken = random.choice(self.takes).replace("{steps}", inside).replace("{t}", "t")
        called = random.choice(self.calls).replace("{t}", random.choice(self.places))
        steps = (random.choice(self.leaves), random.choice(self.changes), called, taken)
        [step] = random.choices(steps, (1, 1, 1, 3))
        return step


def program(random: Random) -> str:
    some = _Some(random)
    declared = [_DECLARED, *(some.method(number) for number in range(_COUNT))]
    calls = []
    for number in random.sample(range(_COUNT), k=random.randint(1, _COUNT)):
        method = f"n{number}" if number % 3 else f"h{number}"
        owner, made, place = ("Held", "flat(n)", "t")
        if number % 3:
            owner, made, place = "Node", "start(n)", random.choice(("t", 't.named["k"]'))
        call = random.choice(_CALLERS).replace("{m}", method).replace("{t}", place)
        declared.append(
            f"fn run{number}(n: Int, before: {owner}) -> RESULT {{ "
            f"let mut t = before; {call} println(t); FINE }}"
        )
        shown = f"match run{number}(n, t) {{ SHOWN done => println(done), }}"
        calls.append(f"for n in 0..5 {{ let t = {made}; {shown} println(t); }}")
    text = "\n".join((*declared, "fn main() {", *calls, "}"))
    result = random.choice([*_WAYS])
    error, given, fine, fine_pattern, error_pattern, told, changed = _WAYS[result]
    text = re.sub(r"MUTATED\((.*?1\))\)", lambda found: changed.replace("{call}", found[1]), text)
    text = text.replace("SHOWN", "Err(mut e) => { e.push(4); println(e); }" if changed else "")
    names = ("ERROR_PATTERN", "FINE_PATTERN", "GIVEN", "ERROR", "FINE", "TOLD", "RESULT")
    found = (error_pattern, fine_pattern, given, error, fine, told, result)
    for name, what in zip(names, found, strict=True):
        text = text.replace(name, what)
    return text


@pytest.mark.parametrize("seed", range(40))
def test_nobody_sees_what_an_error_has_left(seed: int) -> None:
    text = program(Random(seed))
    found = outcomes({"main.conc": text})
    assert "oracle" in found and agree(found), (text, found)


_SMALL = """
struct Node {
    xs: Array<Int> = [1],
    more: Option<Array<Int>> = Some([2]),
    next: Option<Node> = None,
    all: Array<Int> = [],
}
fn check(n: Int) -> Result<Nil, String> { if n > 3 { Err("no") } else { Ok(nil) } }
fn put(node: Option<Node>, n: Int) -> Result<Node, String> {
    match node { Some(mut t) => { t.xs.push(n); check(n)?; Ok(t) } None => Ok(Node {}) }
}
impl Node {
    fn fill(mut self, n: Int) -> Result<Nil, String> {
        let Some(mut xs) = self.more else { return Err("none"); };
        xs.push(n);
        check(n)?;
        self.more = Some(xs);
        Ok(nil)
    }
    fn add(mut self, n: Int) -> Result<Nil, String> { self.xs.push(n); check(n)?; Ok(nil) }
    fn give(mut self, n: Int) -> Result<Int, Int> { if n > 3 { return Err(n); } self.xs.push(n); Ok(n) }
    fn at(mut self) -> Int { self.xs.push(0); 9 }
"""
# What a method does with a part `t` of its receiver, that it puts back.
_STEPS = (
    "t.fill(n)?;",
    "t.add(n)?;",
    "let Ok(_) = t.add(n) else { return Err(7); };",
    "let Ok(5) = t.give(n) else { return Err(7); };",
    "if let Ok(5) = t.give(n) {} else { return Err(7); }",
    "if let Err(_) = t.give(n) {} else { return Err(7); }",
    "t.give(t.at())?;",
    "match n { 1 if t.xs.pop() == Some(5) => { t.xs.push(3); } 1 => return Err(8), _ => {} }",
    "for i in 0..3 { t.xs.push(i); let Ok(_) = check(n + i) else { continue; }; "
    "if i == 1 { return Err(9); } }",
)


_BODIES = [
    "self.fill(n)?;",
    "self.next = Some(put(self.next, n)?);",
    *(each.replace("{steps}", step) for each in _TAKES if "self.next" in each for step in _STEPS),
]


@pytest.mark.parametrize("body", _BODIES)
def test_a_part_that_errors_leave_is_as_it_was(body: str) -> None:
    body = body.replace("return ERROR", "return Err(0)").replace("leaf(n)", "Node {}")
    text = (
        f"{_SMALL} fn outer(mut self, n: Int) -> Result<Nil, Int> {{ {body} Ok(nil) }} }}\n"
        "impl From<String> for Int { fn from(text: String) -> Int { text.len() } }\n"
        "fn main() { for n in [1, 4, 5] { let mut t = Node { next: Some(Node {}) }; "
        "println(t.outer(n)); println(t); } }"
    )
    found = outcomes({"main.conc": text})
    assert "oracle" in found and agree(found), (text, found)


_NOT_COPIED = """
enum Value { Number(Int), Table(Map<String, Value>) }
impl Value {
    fn insert(mut self, path: Array<String>, n: Int) -> Result<Nil, String> {
        let Value::Table(mut entries) = self else { return Err("no table"); };
        if path.len() == 1 && entries.has(path[0]) {
            return Err("twice");
        } else if path.len() == 1 {
            entries[path[0]] = Value::Number(n);
        } else {
            if !entries.has(path[0]) { entries[path[0]] = Value::Table({}); }
            entries[path[0]].insert(path[1..path.len()], n)?;
        }
        self = Value::Table(entries);
        Ok(nil)
    }
}
struct Node { key: Int, left: Option<Node> = None, right: Option<Node> = None, nodes: Array<Node> = [] }
impl Node {
    fn insert(mut self, key: Int) -> Result<Nil, String> {
        if key == self.key || self.nodes.any(|node| node.key == self.key) { return Err("twice"); }
        if key < self.key {
            match self.left {
                Some(mut left) => { left.insert(key)?; self.left = Some(left); }
                None => { self.left = Some(Node { key }); }
            }
        } else if let Some(mut right) = self.right {
            if let Err(said) = right.insert(key) { return Err("${said}!"); }
            self.right = Some(right);
        } else {
            self.right = Some(Node { key });
        }
        Ok(nil)
    }
    fn take(mut self, key: Int) -> Option<Int> {
        let Some(mut left) = self.left else { return None; };
        let Some(found) = left.take(key - 1) else { return None; };
        self.left = Some(left);
        Some(found)
    }
    fn grow(mut self, key: Int) -> Result<Nil, String> {
        self.left = match self.left { Some(mut left) => { left.insert(key)?; Some(left) } None => None };
        Ok(nil)
    }
}
fn read(text: String) -> Result<Value, String> {
    let mut root = Value::Table({});
    for line in text.split("\\n") { root.insert(line.split("."), 1).map_err(|said| "${line}: ${said}")?; }
    Ok(root)
}
fn main() {
    println(read("a.b\\na.c\\na.b"));
    let mut root = Node { key: 1 };
    for key in [3, 0, 2, 3] { println(root.insert(key)); println(root.grow(key)); }
    println(root.take(0));
    println(root);
}
"""


def test_who_leaves_with_an_error_copies_nothing(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(_NOT_COPIED)
    code = [instr[0] for each in compile_file(tmp_path / "main.conc").module.functions for instr in each.code]
    assert not [name for name in code if name.startswith("COPY")]
    found = outcomes({"main.conc": _NOT_COPIED})
    assert "oracle" in found and agree(found), found


_GIVEN = """
struct Node { xs: Array<Int> = [1], next: Option<Node> = None }
impl Node {
    fn give(mut self, n: Int) -> Result<Nil, Array<Int>> {
        if n > 3 { return Err(self.xs); }
        self.xs.push(n);
        Ok(nil)
    }
    fn outer(mut self, n: Int) -> Result<Nil, Array<Int>> {
        let Some(mut t) = self.next else { return Ok(nil); };
        t.give(n)?;
        self.next = Some(t);
        Ok(nil)
    }
    fn again(mut self, n: Int) -> Result<Nil, Array<Int>> {
        match self.next {
            Some(mut t) => {
                if let Ok(_) = t.again(n - 1) { t.xs.push(n); } else { return Err(self.xs); }
                self.next = Some(t);
            }
            None => {}
        }
        Ok(nil)
    }
}
fn main() {
    let mut t = Node { next: Some(Node {}) };
    if let Err(mut e) = t.outer(4) { e.push(5); println(e); }
    println(t);
    println(t.again(3));
    println(t);
}
"""


def test_an_error_that_is_a_part_of_the_receiver_is_its_own() -> None:
    found = outcomes({"main.conc": _GIVEN})
    assert "oracle" in found and agree(found), found
