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
    "c.next = [n, 2].map(|i| next{f}(c.next, i))[0];",
    "c.next = { let mut last = None; for i in 0..2 { last = next{f}(c.next, i); } last };",
    "c.next = { let mut i = 0; while i < 2 { i += 1; match c.next { Some(in1) => { println(grown(in1, i)); }"
    " None => {} } } None };",
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


def test_what_is_read_again_and_again_for_a_place_stays() -> None:
    text = f"""{_DECLARED}
        fn more(next: Option<Cell>, n: Int) -> Option<Cell> {{
            match next {{ Some(mut cell) => {{ cell.items.push(n); Some(cell) }} None => None }}
        }}
        fn main() {{
            let mut c = Cell {{ next: Some(Cell {{}}) }};
            c.next = {{ let mut last = None; for i in 0..2 {{ last = more(c.next, i); }} last }};
            println(c.next.unwrap().items);
            let mut i = 4;
            c.next = {{ let mut last = None; while i < 6 {{ last = more(c.next, i); i += 1; }} last }};
            println(c.next.unwrap().items);
            c.next = [7, 8].map(|i| more(c.next, i))[1];
            println(c.next.unwrap().items);
        }}"""
    found = outcomes({"main.conc": text})
    assert agree(found)
    assert found["python"].stdout == "[1, 1]\n[1, 1, 5]\n[1, 1, 5, 8]\n"


_TREES = """
struct Node { key: Int, left: Option<Node> = None, right: Option<Node> = None }
fn leaf(key: Int) -> Node { Node { key } }
fn one(tree: Option<Node>, key: Int) -> Option<Node> {
    match tree {
        None => Some(leaf(key)),
        Some(mut node) => {
            if key < node.key { node.left = one(node.left, key); } else { node.right = one(node.right, key); }
            Some(node)
        }
    }
}
fn two(tree: Option<Node>, key: Int) -> Node {
    let Some(known) = tree else { return leaf(key); };
    let mut node = known;
    if key < node.key {
        node.left = Some(two(node.left, key));
    } else {
        node.right = Some(two(node.right, key));
    }
    node
}
fn three(node: Node, key: Int) -> Node {
    let mut node = node;
    if key < node.key {
        node.left = match node.left { None => Some(leaf(key)), Some(left) => Some(three(left, key)) };
    } else {
        node.right = if let Some(right) = node.right { Some(three(right, key)) } else { Some(leaf(key)) };
    }
    node
}
fn main() {
    let mut first = None;
    let mut second = None;
    let mut third = leaf(4);
    for key in [4, 2, 7, 1] {
        first = one(first, key);
        second = Some(two(second, key));
        third = three(third, key);
    }
    println([first, second, Some(third)]);
}
"""


def _copies(text: str, folder: Path) -> list[str]:
    """The instructions of a program that copy."""
    (folder / "main.conc").write_text(text)
    functions = compile_file(folder / "main.conc").module.functions
    return [instr[0] for each in functions for instr in each.code if instr[0].startswith("COPY")]


def test_trees_grow_without_copies(tmp_path: Path) -> None:
    assert not _copies(_TREES, tmp_path)
    assert agree(outcomes({"main.conc": _TREES}))


_UPDATES = """
fn fail(n: Int) -> Int { 10 / n }
struct Shelf { rows: Map<String, Array<Int>> }
impl Shelf {
    fn add(mut self, n: Int) { self.rows.update("a", |xs| { let mut xs = xs; xs.push(fail(n)); xs }); }
}
fn own(m: Map<String, Array<Int>>, n: Int) -> Map<String, Array<Int>> {
    let mut m = m;
    let before = m;
    m.update("a", |xs| { let mut xs = xs; xs.push(n); xs });
    println(before);
    let part = m["a"];
    m.update("a", |mut xs| { xs.push(n); xs });
    println(part);
    let mut next = m;
    next.update("a", |xs| { let mut xs = xs; xs.push(9); xs });
    println([m, next]);
    let mut kept = [];
    m.update("a", |xs| { println(m); let mut ys = xs; ys.push(1); [xs.len(), ys.len()] });
    kept.push(m["a"]);
    m.update("a", |xs| { let mut ys = xs; ys.push(4); ys });
    println(kept);
    try { m.update("a", |xs| { let mut xs = xs; xs.push(fail(0)); xs }); } catch { println(m); }
    try { m.update("a", |xs| { let mut xs = xs; xs.push(5); println(fail(0)); xs }); } catch { println(m); }
    m
}
fn risky(m: Map<String, Array<Int>>) -> Int {
    let mut m = m;
    m.update("a", |xs| { let mut xs = xs; xs.push(5); println(fail(0)); xs });
    m.len()
}
fn main() {
    let m = {"a": [1], "b": [2]};
    println(own(m, 3));
    println(m);
    try { risky(m); } catch { println(m); }
    let mut s = Shelf { rows: m };
    try { s.add(0); } catch { println(s); }
    s.add(5);
    println([s.rows, m]);
    let mut groups = {"x": [0]};
    let others = groups;
    for i in 0..3 { groups.update("x", |xs| { let mut xs = xs; xs.push(i); xs }); }
    println([groups, others]);
}
"""


def test_nobody_sees_that_an_update_has_the_value_for_good() -> None:
    found = outcomes({"main.conc": _UPDATES})
    assert "oracle" in found and agree(found), found


def test_an_update_copies_nothing(tmp_path: Path) -> None:
    text = """
        fn main() {
            let mut groups: Map<Int, Array<Int>> = {1: [], 2: []};
            for i in 0..4 {
                groups.update(i % 2 + 1, |items| { let mut items = items; items.push(i); items });
            }
            println(groups);
        }"""
    assert not _copies(text, tmp_path)
