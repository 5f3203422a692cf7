"""What is taken out of a place that is assigned again afterwards is taken over only where nobody notices:
not who looks in between, nor who has a part of it, nor who goes on after a failure."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from concerto.compiler import compile_file
from tests.properties.running import agree, outcomes

_DECLARED = """
enum Held { Nothing, One(Array<Int>), Two { a: Array<Int>, b: Array<Int> }, Deep(Option<Array<Int>>) }
struct Root { held: Held, others: Array<Int>, rows: Array<Held>, named: Map<String, Held>, at: Int = 0 }
fn fail(n: Int) -> Int { 10 / n }
fn long(xs: Array<Int>) -> Array<Int> { let mut xs = xs; xs.push(8); xs }
fn summed(xs: Array<Int>) -> Int { let mut xs = xs; xs.push(1); xs.sum() }
fn start() -> Root { Root { held: HELD, others: [7], rows: [HELD, HELD], named: {"k": HELD} } }
"""

_STARTS = {
    "Held::One([1, 2])": "Held::One({name})",
    "Held::Two { a: [1, 2], b: [3] }": "Held::Two { a: {name}, b }",
    "Held::Deep(Some([1, 2]))": "Held::Deep(Some({name}))",
}
# A place, what is matched, and the pattern around.
_PLACES = {
    "field": ("r.held", "r.held", "{pattern}"),
    "element": ("r.rows[1]", "r.rows[1]", "{pattern}"),
    "element at a field": ("r.rows[r.at]", "r.rows[r.at]", "{pattern}"),
    "element at a sum": ("r.rows[r.at + 1]", "r.rows[r.at + 1]", "{pattern}"),
    "element at another's sum": ("r.rows[n % 2]", "r.rows.get(n % 2)", "Some({pattern})"),
    "entry": ('r.named["k"]', 'r.named["k"]', "{pattern}"),
    "found entry": ('r.named["k"]', 'r.named.get("k")', "Some({pattern})"),
    "whole": ("self", "self", "{pattern}"),
}
_HEADS = (
    "match {subject} { {pattern} => { {body} } _ => {} }",
    "if let {pattern} = {subject} { {body} }",
    "let {pattern} = {subject} else { return {r}; }; {body}",
    "for i in 0..2 { if let {pattern} = {subject} { if i == n { continue; } {body} } }",
    "for i in 0..2 { match {subject} { {pattern} => { {body} if i == n { continue; } } _ => break } }",
)
_TAKEN = (
    ("mut xs", "let mut ys = xs;"),
    ("xs", "let mut ys = xs;"),
    ("xs", "let xs = xs; let mut ys = xs;"),
    ("mut ys", "let xs = [5];"),
)
_STEPS = (
    "ys.push(n);",
    "println(xs);",
    "println({place});",
    "println(r.others);",
    "r.others.push(n);",
    "r.at = 1 - r.at;",
    "r.others = ys;",
    "ys.push(fail(n));",
    "ys.push(n); println(fail(n));",
    "if n == 1 { return {r}; }",
    "for i in 0..2 { if i == n { continue; } ys.push(i); }",
    "for i in 0..2 { let mut zs = xs; zs.push(i); println(zs); }",
    "let f = || xs.len(); ys.push(n); println(f());",
    "let all = r; ys.push(n); println(all);",
    "let old = xs; ys.push(n); println(old);",
    "let mut old = xs; old.push(n); println([old, xs]);",
    "if n > 1 { {place} = Held::One(ys); ys.push(4); }",
    "match {place} { Held::One(mut zs) => { zs.push(n); {place} = Held::One(zs); } _ => {} }",
    "try { ys.push(n); {place} = Held::One([fail(n)]); } catch { println(ys); }",
    "let them = [xs, ys]; ys.push(n); println(them);",
    "ys = xs; ys.push(n);",
    "if ys.len() == n + 1 { return {r}; }",
    "if n == 1 { {place} = Held::One(ys); return {r}; }",
    "if n == 1 { {place} = Held::Two { a: ys, b: [6] }; println({place}); return {r}; }",
    "if n == 1 { {place} = Held::One(ys); ys.push(5); println(ys); return {r}; }",
    "if n == 1 { ys.push(3); {place} = Held::Nothing; return {r}; } else { {place} = Held::One([n]); }",
    "match ys.first() { Some(1) => { ys.push(n); } Some(n) => return {r}, None => {} }",
    "while ys.len() < 3 { if n == 1 { return {r}; } ys.push(n); }",
    "loop { if ys.len() > 3 { break; } ys.push(n); }",
    "while ys.len() < 4 { if ys.len() == 3 { return {r}; } ys.push(n); }",
    "for i in 0..3 { if i > n { return {r}; } ys[0] = 9; }",
)
_BEFORE = (
    "if {name}.len() == n + 1 { return {r}; }",
    "if n == 1 { return {r}; }",
    "if {name}.contains(n) && n == 1 { println({name}.len()); return {r}; }",
    "if n == 1 { println({name}); return {r}; }",
    "if n == 1 { {place} = Held::One([3]); return {r}; }",
    "if n == 1 { {place} = Held::One({name}); return {r}; }",
    "for i in 0..2 { if {name}.len() == i + n { return {r}; } }",
    "if summed({name}) == n { return {r}; }",
    "let f = || {name}.len(); if f() == n { return {r}; }",
    "let first = if {name}.is_empty() { return {r}; } else { {name}[0] }; println(first);",
)
_PUTS = (
    "{place} = Held::Nothing;",
    "{place} = Held::One(ys);",
    "{place} = Held::One(xs);",
    "{place} = Held::Two { a: xs, b: ys };",
    "{place} = Held::Two { a: ys, b: ys };",
    "{place} = Held::Deep(Some(ys));",
    "{place} = Held::One(long(ys));",
    "{place} = Held::One(long(xs));",
    "{place} = Held::Two { a: ys, b: [fail(n)] };",
)
# Who may see the receiver after a failure.
_SURROUNDINGS = {
    "nobody": "{call}",
    "a try": 'try { {call} } catch { println("failed"); }',
    "a try below": "try { {call} } catch {}",
}


def _body(random: Random, start: str, place: str) -> str:
    """Takes something out of a place, and puts something in."""
    target, subject, around = _PLACES[place]
    name, first = random.choice(_TAKEN)
    steps = [random.choice(_STEPS) for _ in range(random.choice((0, 1, 1, 2, 3)))]
    steps[:0] = random.choice(([], ["ys.push(n);"]))
    if place == "whole":
        steps = [each for each in steps if "r." not in each and "= r;" not in each]
    steps.insert(random.randint(len(steps) // 2, len(steps)), random.choice(_PUTS))
    inside = _STARTS[start].replace("{name}", name)
    if random.random() < 0.5:
        taken = name.removeprefix("mut ")
        first = f"{random.choice(_BEFORE).replace('{name}', taken)} {first}"
    if name == "mut ys" and ", b }" in inside:
        first, inside = first.removesuffix("let xs = [5];"), inside.replace(", b }", ", b: xs }")
    pattern = around.replace("{pattern}", inside)
    head = random.choice(_HEADS).replace("{pattern}", pattern).replace("{subject}", subject)
    body = " ".join((first, *steps))
    if head.startswith("for"):
        ends = not {"while", "loop"}.intersection(body.split())
        body = body.replace(
            "return {r};", random.choice(("return {r};", "break;", "continue;" if ends else "break;"))
        )
    return head.replace("{body}", body).replace("{place}", target)


def program(random: Random, surrounding: str, count: int = 10) -> str:
    start = random.choice([*_STARTS])
    declared, calls = [_DECLARED.replace("HELD", start)], []
    for number in range(count):
        place = random.choice([*_PLACES])
        body = _body(random, start, place)
        if surrounding == "nobody" and "try" in body:
            continue
        receiver, owner = ("r.held", "Held") if place == "whole" else ("r", "Root")
        if place == "whole" or random.random() < 0.7:
            body = body.replace("{r}", "").replace("r.", "self.").replace("= r;", "= self;")
            declared.append(f"impl {owner} {{ fn change{number}(mut self, n: Int) {{ {body} }} }}")
            call = again = f"change{number}(n);"
            call, again = f"{receiver}.{call}", f"self.{call}"
        else:
            body = body.replace("{r}", "r")
            declared.append(
                f"fn change{number}(r: Root, n: Int) -> Root {{ let mut r = r; {body} return r; }}"
            )
            call, again = f"r = change{number}(r, n);", f"self = change{number}(self, n);"
        if surrounding == "a try below":
            inside = f"try {{ {again} }} catch {{ println(self); }} {again}"
            declared.append(f"impl {owner} {{ fn twice{number}(mut self, n: Int) {{ {inside} }} }}")
            call = f"{receiver}.twice{number}(n);"
        made = _SURROUNDINGS[surrounding].replace("{call}", call)
        first = 1 if surrounding == "nobody" else 0
        calls.append(
            f"for n in {first}..3 {{ let mut r = start(); let before = r; {made} println([r, before]); }}"
        )
    return "\n".join((*declared, "fn main() {", *calls, "}"))


@pytest.mark.parametrize("surrounding", _SURROUNDINGS)
@pytest.mark.parametrize("seed", range(16))
def test_nobody_sees_that_a_value_is_taken_over(surrounding: str, seed: int) -> None:
    text = program(Random(seed), surrounding)
    found = outcomes({"main.conc": text})
    assert "oracle" in found and agree(found), (text, found)


_NOT_COPIED = """
enum Held { Nothing, One(Array<Int>), Two { a: Array<Int>, b: Array<Int> } }
struct Holder {
    held: Held,
    named: Map<String, Array<Int>> = {},
    rows: Array<Array<Int>> = [[1], [2]],
    count: Int = 0
}
impl Held {
    fn whole(mut self, n: Int) {
        if let Held::One(xs) = self { let mut xs = xs; xs.push(n); self = Held::One(xs); }
    }
}
impl Holder {
    fn inner(mut self, n: Int) {
        if let Held::One(xs) = self.held { let mut xs = xs; xs.push(n); self.held = Held::One(xs); }
    }
    fn outer(mut self, n: Int) {
        match self.held { Held::One(mut xs) => { xs.push(n); self.held = Held::One(xs); } _ => {} }
    }
    fn entry(mut self, n: Int) {
        let Some(mut xs) = self.named.get("k") else { return; };
        xs.push(n);
        self.named["k"] = xs;
    }
    fn reckoned(mut self, n: Int) {
        let mut row = self.rows[n % 2];
        row.push(n);
        self.rows[n % 2] = row;
    }
}
"""
_LEFT_EARLY = """
impl Holder {
    fn early(mut self, n: Int) -> Bool {
        let Held::One(mut xs) = self.held else { return false; };
        for x in xs { if x > 9 { return false; } }
        if let Some(20) = xs.last() { return false; }
        if xs.contains(n) { return false; } else if n > 8 { self.held = Held::Nothing; return true; }
        xs.push(n);
        self.held = Held::One(xs);
        true
    }
    fn skipped(mut self) {
        for key in ["k", "l", "m"] {
            match self.named.get(key) {
                Some(mut xs) => { if xs.len() > 3 { continue; } xs.push(1); self.named[key] = xs; }
                None => break,
            }
        }
    }
}
"""
_NOBODY_FAILS = """
impl Holder {
    fn both(mut self, n: Int) {
        if let Held::Two { a: mut a, b } = self.held {
            a.push(n);
            a[0] = 10 / n;
            self.count += n;
            self.held = Held::Two { a, b };
        }
    }
    fn nothing(mut self, n: Int) {
        if let Held::One(xs) = self.held { self.held = Held::Nothing; self.named["k"] = xs; }
    }
}
"""
_CALLS = (
    "let mut h = Holder { held: Held::One([1]) }; "
    "h.held.whole(1); h.inner(1); h.outer(1); h.entry(1); h.reckoned(2);"
)


@pytest.mark.parametrize(
    "text",
    [
        f"{_NOT_COPIED} fn main() {{ {_CALLS} try {{ h.inner(0); }} catch {{}} println(h); }}",
        f"{_NOT_COPIED} {_LEFT_EARLY} fn main() {{ {_CALLS} h.early(2); h.skipped(); println(h); }}",
        f"{_NOT_COPIED} {_NOBODY_FAILS} fn main() {{ {_CALLS} h.both(1); h.nothing(1); println(h); }}",
    ],
)
def test_what_is_put_back_is_not_copied(text: str, tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(text)
    code = [instr[0] for each in compile_file(tmp_path / "main.conc").module.functions for instr in each.code]
    assert not [name for name in code if name.startswith("COPY")]


@pytest.mark.parametrize(
    "step",
    [
        "while xs.len() < 5 { if xs.len() == 3 { return; } xs.push(n); }",
        "loop { if xs.len() == 3 { return; } xs.push(n); }",
        "for x in xs { xs.push(x); if n == 1 { return; } }",
        "for i in 0..3 { if i == n { return; } else { xs[0] = 9; } }",
        "for i in 0..3 { match xs.len() { 3 => return, _ => { xs.push(i); } } }",
        "if summed(xs) > 3 { return; }",
        "let f = || xs; if f().len() == 2 { return; }",
        "if { xs.push(4); n == 1 } { return; }",
        "if n == 1 && { xs.push(4); true } { return; }",
        "try { xs.push(n); xs[9] = 1; } catch { return; }",
        "let ys = xs; let mut zs = ys; zs.push(3); if n == 1 { return; } println([ys, zs]);",
        "if n == 0 { xs.push(3); println(10 / n); self.held = Held::One(xs); return; }",
        "if n == 0 { self.held = Held::Nothing; println(10 / n); return; }",
        "try { xs.push(n); self.held = Held::One([7]); println(10 / n); } catch { xs.push(8); }",
    ],
)
def test_who_leaves_early_has_changed_nothing(step: str) -> None:
    declared = _NOT_COPIED + "fn summed(xs: Array<Int>) -> Int { let mut xs = xs; xs.push(1); xs.sum() }"
    body = f"if let Held::One(mut xs) = self.held {{ {step} self.held = Held::One(xs); }}"
    method = f"impl Holder {{ fn early(mut self, n: Int) {{ {body} }} }}"
    made = "let mut h = Holder { held: Held::One([1, 2]) }; try { h.early(n); } catch {} println(h);"
    main = f"fn main() {{ for n in 0..3 {{ {made} }} }}"
    found = outcomes({"main.conc": f"{declared} {method} {main}"})
    assert "oracle" in found and agree(found), found
