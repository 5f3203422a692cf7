"""What a place gets is made of what it has, and functions take over parts of what they are given: only where
nobody notices."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from concerto.compiler import compile_file
from tests.properties.running import agree, outcomes

_DECLARED = """
struct Cell { items: Array<Int> = [1], next: Option<Cell> = None, held: Held = Held::Nothing }
enum Held { Nothing, One(Array<Int>), Two(Array<Int>, Cell) }
fn fail(n: Int) -> Int { 10 / n }
fn none(n: Int) -> Option<Int> { if n == 1 { None } else { Some(n) } }
fn grown(cell: Cell, n: Int) -> Cell { let mut cell = cell; cell.items.push(n); cell }
fn start() -> Cell {
    let last = Cell { items: [3], held: Held::Two([5], Cell {}) };
    Cell { next: Some(Cell { items: [2], next: Some(last) }), held: Held::One([4]) }
}
"""

_STEPS = (
    "c.items.push(n);",
    "c.next = next{f}(c.next, n);",
    "c.next = Some(cell{f}(c.next, n));",
    "c.held = held{f}(c.held, n);",
    "c.next = match c.next { Some(inner) => Some(grown(inner, n)), None => None };",
    "c.next = if let Some(inner) = c.next { next{f}(Some(inner), n) } else { Some(Cell {}) };",
    "c.next = match c.next { Some(mut inner) => { inner.items.push(n); Some(inner) } None => None };",
    "c.next = match c.next { Some(inner) => { {see} Some(grown(inner, n)) } None => None };",
    "c.next = match c.next { Some(inner) if inner.items.len() > n => Some(grown(inner, n)), each => each };",
    "c.held = match c.held { Held::Two(xs, inner) => Held::Two(xs, grown(inner, n)), other => other };",
    "c.held = match c.held { Held::Two(mut xs, inner) => { xs.push(n); Held::Two(xs, inner) } o => o };",
    "c.held = Held::Two(c.items, Cell { items: cell{f}(c.next, n).items });",
    "c.next = Some(Cell { items: c.items, next: next{f}(c.next, n) });",
    "c.next = Some(Cell { next: next{f}(c.next, n), held: c.held });",
    "c.next = if n == 1 { next{f}(c.next, n) } else { Some(cell{f}(c.next, 1)) };",
    "c.next = next{f}(next{f}(c.next, n), n);",
    "c.next = next{f}(c.next, cell{f}(c.next, n).items.len());",
    "let kept = c.next; c.next = next{f}(c.next, n); println(kept);",
    "let kept = c.held; c.held = held{f}(c.held, n); println(kept);",
    "c.items = held{f}(c.held, n).items(c.items);",
    "for i in 0..2 { c.next = next{f}(c.next, i); }",
    "for i in 0..2 { c.next = match c.next { Some(inner) => Some(grown(inner, i)), None => break }; }",
    "c.items = match c.next { Some(inner) => [fail(n)], None => c.items };",
    "let f = || c.items.len(); c.next = next{f}(c.next, n); println(f());",
    "{see}",
)
_SEEN = (
    "println(c);", "let all = c; c.items.push(7); println(all);", "println(fail(n));",
    "println(c.next.is_some());",
)  # fmt: skip


def _steps(random: Random, number: int, name: str) -> str:
    """Statements of a function: they call those with smaller numbers, and at first itself with what is behind
    a cell."""
    known = [each for each in _STEPS if number or "{f}" not in each]
    texts = [random.choice(known) for _ in range(random.choice((1, 1, 2, 3)))]
    texts = [each.replace("{see}", random.choice(_SEEN)) for each in texts]
    while any("{f}" in each for each in texts):
        texts = [each.replace("{f}", str(random.randrange(number)), 1) for each in texts]
    if name == "cell" and random.random() < 0.5:
        own = random.choice((f"next{number}(c.next, n)", f"Some(cell{number}(c.next, n))"))
        texts.insert(0, f"c.next = {own};")
    return " ".join(texts).replace("c.", f"{name}.").replace("(c)", f"({name})").replace("= c;", f"= {name};")


def _functions(random: Random, number: int) -> str:
    """Three functions and a method of one number."""
    with_cell = _steps(random, number, "cell")
    with_self = _steps(random, number, "self")
    held = (
        f"Held::Two(mut xs, mut cell) => {{ xs.push(n); {with_cell} Held::Two(xs, cell) }}",
        f"Held::Two(xs, mut cell) => {{ {with_cell} Held::Two(xs, cell) }}",
        "Held::Two(mut xs, cell) => { xs.push(n); println(held); Held::Two(xs, cell) }",
        "Held::Two(mut xs, mut cell) => { xs.push(n); cell.items = xs; Held::Two([8], cell) }",
    )
    some = (
        f"Some(mut cell) => {{ {with_cell} Some(cell) }}",
        f"Some(mut cell) => {{ let again = cell; {with_cell} println(again); Some(cell) }}",
        f"Some(mut cell) if n < 2 => {{ {with_cell} Some(cell) }}",
        f"Some(mut cell) => {{ {with_cell} println(next); Some(cell) }}",
    )
    lone = (
        f"let Some(mut cell) = next else {{ return Cell {{}}; }}; {with_cell} cell",
        f"let Some(known) = next else {{ return Cell {{}}; }}; let mut cell = known; {with_cell} cell",
        f"match next {{ Some(mut cell) => {{ {with_cell} cell }} None => Cell {{}} }}",
        f"if let Some(mut cell) = next {{ {with_cell} cell }} else {{ Cell {{ items: [n] }} }}",
    )
    return f"""
fn next{number}(next: Option<Cell>, n: Int) -> Option<Cell> {{
    match next {{ {random.choice(some)} each => each }}
}}
fn cell{number}(next: Option<Cell>, n: Int) -> Cell {{ {random.choice(lone)} }}
fn held{number}(held: Held, n: Int) -> Held {{
    match held {{ Held::One(mut xs) => {{ xs.push(n); Held::One(xs) }} {random.choice(held)} other => other }}
}}
impl Cell {{ fn change{number}(mut self, n: Int) {{ {with_self} }} }}
"""


_ITEMS = """
impl Held {
    fn items(self, others: Array<Int>) -> Array<Int> { match self { Held::One(xs) => xs, _ => others } }
}
"""
_CALLS = (
    "c.change{f}(n);",
    "c.next = next{f}(c.next, n);",
    "let new = next{f}(c.next, n); println(new);",
    "let new = next{f}(Some(c), n); println(new);",
    "c = cell{f}(Some(c), n);",
    "println(held{f}(c.held, n));",
    'try { c.change{f}(n); } catch { println("failed"); }',
)


def program(random: Random, count: int = 3) -> str:
    declared = [_DECLARED, _ITEMS]
    declared += [_functions(random, number) for number in range(count)]
    calls = []
    for _ in range(6):
        made = random.choice(_CALLS).replace("{f}", str(random.randrange(count)))
        calls.append(f"for n in 1..3 {{ let mut c = start(); let before = c; {made} println([c, before]); }}")
    return "\n".join((*declared, "fn main() {", *calls, "}"))


@pytest.mark.parametrize("seed", range(40))
def test_nobody_sees_that_a_part_is_taken_over(seed: int) -> None:
    text = program(Random(seed))
    found = outcomes({"main.conc": text})
    assert agree(found), (text, found)
