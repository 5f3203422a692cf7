"""What a closure has captured is what it was when the closure was made, wherever it is handed on to and
however long it lives."""

from __future__ import annotations

import pytest

from tests.properties.running import agree, outcomes

DECLARED = """
type Rows = Array<Array<Int>>;
struct Box { f: fn(Int) -> Int }
struct Bag { items: Array<Array<Int>>, held: Array<fn(Int) -> Int> = [] }
fn call(f: fn(Int) -> Int) -> Int { f(1) }
fn twice(f: fn(Int) -> Int) -> Int { call(f) + call(|n| f(n) + 1) }
fn down(n: Int, f: fn(Int) -> Int) -> Int { if n == 0 { f(0) } else { up(n - 1, |m| f(m) + n) } }
fn up(n: Int, f: fn(Int) -> Int) -> Int { if n == 0 { f(0) } else { down(n - 1, f) } }
fn each(xs: Array<Int>, f: fn(Int) -> Int) -> Int { xs.map(f).sum() + xs.map(|x| f(x)).sum() }
fn piped(f: fn(Int) -> Int) -> Int { 3 |> f }
fn spawned(f: fn(Int) -> Int) -> Int { let task = spawn f(1); await task }
fn given(f: fn(Int) -> Int) -> fn(Int) -> Int { f }
fn wrapped(f: fn(Int) -> Int) -> fn(Int) -> Int { |n| f(n) }
fn passed(f: fn(Int) -> Int) -> fn(Int) -> Int { given(f) }
fn passed_on(f: fn(Int) -> Int) -> fn(Int) -> Int { passed(f) }
fn inside(f: fn(Int) -> Int) -> fn(Int) -> Int { given(|n| f(n)) }
fn begun(f: fn(Int) -> Int) -> Task<Int> { spawn f(1) }
fn deep(n: Int, f: fn(Int) -> Int) -> fn(Int) -> Int { if n == 0 { f } else { deep(n - 1, f) } }
fn boxed(f: fn(Int) -> Int) -> Box { Box { f } }
fn named(f: fn(Int) -> Int) -> fn(Int) -> Int { let g = f; g }
fn listed(f: fn(Int) -> Int) -> Array<fn(Int) -> Int> { [f, f] }
fn lazy(f: fn(Int) -> Int) -> Iterator<Int> { (0..2).iter().map(f) }
fn chosen(f: fn(Int) -> Int) -> Option<fn(Int) -> Int> { if f(1) > 0 { Some(f) } else { None } }
fn with(other: Array<Array<Int>>, f: fn(Int) -> Int) -> Int { other.len() + f(1) }
impl Bag {
    fn hold(mut self, f: fn(Int) -> Int) { self.held.push(f); }
    fn run(self, f: fn(Int) -> Int) -> Int { f(self.items.len()) }
    fn change(mut self, f: fn(Int) -> Int) -> Int { self.items[0].push(f(4)); f(5) }
}
fn keep(rows: Rows, f: fn(Rows) -> Rows) -> Rows { f(rows) }
fn total(rows: Array<Array<Int>>) -> Int { rows.map(|row| row.sum()).sum() }
"""
# `{c}` is a closure; what is told is printed at once or after the change.
NOW = (
    "call({c})",
    "twice({c})",
    "down(3, {c})",
    "each([1, 2], {c})",
    "piped({c})",
    "spawned({c})",
    "Bag { items: [[1]] }.run({c})",
    "bag.change({c})",
    "with({ {change} rows }, {c})",
    "with(f: {c}, other: { {change} rows })",
    "call({c}) + { {change} 1 }",
    "keep(rows, |r| { call({c}); r }).len()",
)
LATER = (
    "let f = given({c}); {change} println(f(1));",
    "let f = wrapped({c}); {change} println(f(1));",
    "let f = passed({c}); {change} println(f(1));",
    "let f = passed_on({c}); {change} println(f(1));",
    "let f = inside({c}); {change} println(f(1));",
    "let task = begun({c}); {change} println(await task);",
    "let f = deep(2, {c}); {change} println(f(1));",
    "let box = boxed({c}); {change} println((box.f)(1));",
    "let f = named({c}); {change} println(f(1));",
    "let fs = listed({c}); {change} println(fs[0](1));",
    "let it = lazy({c}); {change} println(it.to_array());",
    "let f = chosen({c}); {change} println(f.map(|f| f(1)));",
    "bag.hold({c}); {change} println(bag.held[0](1));",
    "let mut out = keep(rows, |_| rows); out[0].push(8); println(out);",
    "let mut out = keep(rows, |r| r.concat(rows)); out[0].push(8); {change} println(out);",
    "let mut fs = []; for _ in 0..2 { fs.push(given({c})); {change} } println(fs.map(|f| f(1)));",
    "for _ in 0..2 { println(call({c})); {change} }",
)
CLOSURES = (
    "|n| n + total(rows)",
    "|n| n + rows[0].len()",
    "|n| n + call(|m| m + total(rows))",
    "|n| n + bag.items[0].sum()",
    "|n| { let mut own = rows; own[0].push(n); own[0].len() }",
    "|n| { let f = wrapped(|m| m + total(rows)); n + f(n) }",
)
CHANGES = ("rows[0].push(7);", "rows = [[5]];", "bag.items[0].push(7);", "rows.push([9]); bag.items = rows;")


def program(closure: str) -> str:
    found, calls = [DECLARED], []
    bodies = [
        f"println({{ {each} }}); {{change}} println({each});".replace("{change} }", "}") for each in NOW
    ]
    for number, (body, change) in enumerate(
        (body, change) for body in (*bodies, *LATER) for change in CHANGES
    ):
        filled = body.replace("{c}", closure).replace("{change}", change)
        found.append(
            f"fn m{number}(start: Rows) {{ let mut rows = start; let mut bag = Bag {{ items: start }}; "
            f"{filled} println(rows); println(bag.items); }}"
        )
        calls.append(f"m{number}(rows); println(rows);")
    return "\n".join((*found, "fn main() {", "let rows = [[1], [2, 3]];", *calls, "}"))


@pytest.mark.parametrize("closure", CLOSURES)
def test_a_closure_has_what_it_captured(closure: str) -> None:
    found = outcomes({"main.conc": program(closure)})
    assert "oracle" in found and agree(found), found
