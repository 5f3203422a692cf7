"""Values that a loop goes through by an iterator: nothing that is changed, kept or taken in its rounds is
seen where it should not be."""

from __future__ import annotations

from itertools import product

import pytest

from tests.properties.running import agree, outcomes

CHAINS = (
    "rows.iter()",
    "own.rows.iter()",
    "rows.iter().filter(|r| r.cells.len() > 0)",
    "own.rows.iter().map(|r| r)",
    "rows.iter().map(|r| Row { cells: r.cells, n: r.n + k })",
    "rows.iter().filter_map(|r| if r.n > 0 { Some(r) } else { None })",
    "rows.iter().flat_map(|r| [r, r])",
    "rows.iter().take(2)",
    "rows.iter().skip(1)",
    "rows.iter().take_while(|r| r.n < 9)",
    "rows.iter().chain(own.rows.iter())",
    "own.rows.iter().enumerate().map(|(i, r)| r)",
    "rows.iter().zip(own.rows.iter()).map(|(a, b)| if k > 1 { a } else { b })",
    "rows.iter().windows(2).map(|w| w[1])",
    "rows.iter().scan(rows[0], |a, r| if a.n > r.n { a } else { r })",
    "(if k > 1 { rows } else { own.rows }).iter()",
    "[rows[0], rows[1]].iter()",
    "table.values().iter()",
    "nested[0].iter()",
    "made(rows).iter()",
)
HEADS = ("r in", "mut r in")
ROUNDS = (
    "rows[0].cells.push(k);",
    "own.rows[0].cells.push(k);",
    "own.count += r.n;",
    "rows.push(r);",
    "own.rows = rows;",
    "rows = [];",
    "kept.push(r);",
    "last = r;",
    "last.cells.push(r.n);",
    "let mut mine = r; mine.cells.push(7); kept.push(mine);",
    "kept.push(r); rows[1].cells.clear();",
    "own.rows.pop(); last = r;",
    "nested[0] = kept; kept.push(r);",
    "k += r.cells.len(); let f = || r.cells; rows[0].n = k; println(f());",
    "own.take(r);",
    'table["a"].cells.push(r.n);',
    "for q in rows.iter() { kept.push(q); rows[0].cells.push(1); }",
    "println(changed(r));",
    "if r.n > 1 { rows.clear(); continue; } own.rows.push(r);",
)
CHANGES = ("", "r.cells.push(5);", "r.n += 1;")
AFTER = (
    "for x in rows.iter() { println(x); }",
    "rows = rows.map(|x| { let mut y = x; y.cells.push(8); y }); kept.push(last);",
    "for mut x in kept.iter() { x.cells.push(6); println(x); }",
    "last.cells.push(3); kept[0].cells.push(4);",
)
START = """
struct Row { cells: Array<Int>, n: Int }
impl Display for Row { fn to_string(self) -> String { "${self.cells}/${self.n}" } }
struct Own { rows: Array<Row>, count: Int, taken: Array<Row> }
impl Own { fn take(mut self, r: Row) { self.taken.push(r); self.rows[0].n += 1; } }
fn made(rows: Array<Row>) -> Array<Row> { rows }
fn changed(r: Row) -> Array<Int> { let mut s = r; s.cells.push(99); s.cells }
"""
STATE = """
    let mut k = 2;
    let mut rows = [Row { cells: [1], n: 1 }, Row { cells: [2], n: 2 }, Row { cells: [], n: 3 }];
    let mut own = Own { rows: [Row { cells: [4], n: 4 }, Row { cells: [], n: 0 }], count: 0, taken: [] };
    let mut nested = [[Row { cells: [5], n: 5 }], []];
    let mut table = {"a": Row { cells: [6], n: 6 }};
    let mut kept: Array<Row> = [Row { cells: [], n: 0 }];
    let mut last = Row { cells: [], n: 0 };
"""


@pytest.mark.parametrize("chain", CHAINS)
def test_each_chain(chain: str) -> None:
    bodies = []
    # Other seconds for each chain.
    seconds = ROUNDS[CHAINS.index(chain) % 4 :: 4]
    for number, (first, second) in enumerate(product(ROUNDS, seconds)):
        head = HEADS[number % 2]
        changes = CHANGES[number // 2 % 3] if head.startswith("mut") else ""
        after = AFTER[(number + CHAINS.index(chain)) % len(AFTER)]
        rounds = f"if kept.len() + rows.len() + own.rows.len() > 40 {{ break; }} {first} {changes} {second}"
        bodies.append(f"for {head} {chain} {{ {rounds} println(r); }} {after}")
    functions = [
        f"fn t{number}() {{ {STATE} {body}\n"
        "println((k, rows, own.rows, own.count, own.taken, nested, table, kept, last)); }"
        for number, body in enumerate(bodies)
    ]
    calls = [
        f"try {{ t{number}(); }} catch RuntimeError(error) {{ println(error.message); }}"
        for number in range(len(bodies))
    ]
    program = "\n".join([START, *functions, "fn main() {", *calls, "}"])
    found = agree(outcomes({"main.conc": program}))
    assert found


def test_calls_without_arguments() -> None:
    """Of the library and of the program."""
    loops = "for n in Set::new() { let own: Int = n; println(own); } for n in three() { println(n); }"
    lent = "for n in three().iter().skip(1).map(|n| n * 2) { println(n); }"
    program = f"fn three() -> Array<Int> {{ [1, 2, 3] }}\nfn main() {{ {loops} {lent} }}"
    found = outcomes({"main.conc": program})
    assert agree(found)
    assert found["oracle"].stdout == "1\n2\n3\n4\n6\n"
