"""A changed copy of a collection shares the elements with what it is a copy of, as long as nobody notices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest

from tests.properties.running import agree, outcomes

# `c` is the copy of `r`, an array of arrays of Ints; `m` that of `t`, a map of them.
BEGINS = (
    "let mut c = r; let mut m = t;",
    "let mut c = both.rows; let mut m = both.names;",
    "let mut c = if flag { r } else { both.rows }; let mut m = if flag { t } else { both.names };",
    "let mut c = same(r); let mut m = same(t);",
    "let kept = r; let named = t; let mut c = kept; let mut m = named;",
    "let mut c = r.filter(|x| x.len() > 0); let mut m = t.filter(|_, x| x.len() > 0);",
    "let mut c = r; let mut m = t; let before = c; let named = m;",
    "let mut c = r.concat(r); let mut m = t.merge(t);",
)
CHANGES = (
    "",
    'c.push([8]); m["z"] = [8];',
    'c[0] = [7]; m["a"] = [7];',
    'c.push(c[0]); m["z"] = m["a"];',
    'c = c.concat([[6]]); m = m.merge({"y": [6]});',
    'c = c.reverse(); m.remove("b");',
    'c.insert(0, both.rows[0]); m.insert("q", both.names["a"]);',
    "let e = c[0]; c[0] = c[1]; c[1] = e;",
    'c.swap(0, 1); m["a"] = m.get("b") ?? [5];',
    'c[0].push(9); m["a"].push(9);',
    "c[0][0] = 9;",
)
TAKES = (
    "",
    "let mut x = c.pop() ?? []; x.push(1); shown.push(x);",
    "let mut x = c.remove(0); x.push(1); shown.push(x);",
    'let mut x = m.remove("a") ?? []; x.push(1); shown.push(x);',
    'let mut x = m.insert("a", [3]) ?? []; x.push(1); shown.push(x);',
    "let mut x = c[0]; x.push(1); shown.push(x);",
    "let mut x = c.first() ?? []; x.push(1); c[0] = x;",
    'let mut x = m["a"]; x.push(1); m["a"] = x;',
    "for x in c { let mut y = x; y.push(1); shown.push(y); }",
    "if let Some(mut x) = c.last() { x.push(1); shown.push(x); }",
    "let f = |x: Array<Int>| { let mut y = x; y.push(1); y }; shown = shown.concat(c.map(f));",
    "let mut d = c; d.push([4]); let mut x = d[0]; x.push(1); shown.push(x);",
    "let mut x = given(c); x.push(1); shown.push(x);",
    "while let Some(mut x) = c.pop() { x.push(1); shown.push(x); }",
    "shown = c; if shown.len() > 0 { shown[0].push(1); }",
    'let mut o = Rows { rows: c, names: m }; o.rows[0].push(1); o.names["a"] = [0]; shown = o.rows;',
)
AFTER = (
    "",
    'r[0].push(2); t["a"].push(2);',
    'r.push([2]); t["w"] = [2];',
    'r[0] = [2]; t["a"] = [2];',
    'both.rows[0].push(2); both.names["a"].push(2);',
    "both.grow();",
    'r = c; r[0].push(2); t = m; t["a"] = [2];',
    "let mut x = r.pop() ?? []; x.push(2); shown.push(x);",
)
HEAD = """
struct Rows { rows: Array<Array<Int>>, names: Map<String, Array<Int>> }
impl Rows { fn grow(mut self) { self.rows[0].push(2);
for k in self.names.keys() { self.names[k].push(2); } } }
fn same<T>(x: T) -> T { x }
fn fresh() -> Rows { Rows { rows: [[4], [5, 5]], names: {"a": [4], "b": [5]} } }
fn given(c: Array<Array<Int>>) -> Array<Int> { c[0] }
"""
MADE = """let mut r = [[1, 1], [2], [3, 3, 3]]; let mut t = {"a": [1], "b": [2]};
let mut both = Rows { rows: [[4], [5, 5]], names: {"a": [4], "b": [5]} };
let mut shown: Array<Array<Int>> = [];"""
SEEN = 'println("${c} ${m} ${shown} ${r} ${t} ${both}");'
WAYS = (
    "{made} {begins} for n in 0..3 { {takes} {changes} c = both.rows; m = both.names; }"
    ' println("${shown} ${both}");',
    '{made} {begins} {changes} let h = || c; let k = || m; {after} println("${h()} ${k()} ${r} ${t}");',
    "{made} {begins} {changes} {takes} {seen} {after} {seen}",
    "{made} {begins} {changes} {after} {takes} {seen}",
    "{made} {begins} {takes} {after} {changes} {seen}",
    "{made} for n in 0..2 { {begins} {changes} {takes} {seen} {after} }",
    "{made} {begins} for n in 0..2 { {changes} {takes} {after} } {seen}",
    "{made} let g = || { let mut shown: Array<Array<Int>> = []; {begins} {changes} {takes} {seen} c };"
    " let q = g(); println(q); {begins} {after} {seen}",
)
FUNCTION = """
fn f{n}(flag: Bool, r: Array<Array<Int>>, t: Map<String, Array<Int>>, both: Rows) -> Array<Array<Int>> {{
let mut shown: Array<Array<Int>> = []; {begins} {changes} {takes} {seen} c }}"""


def program(blocks: Sequence[tuple[str, str, str, str, str]]) -> str:
    """One of many blocks; each also as the body of a function whose parameters are what is copied."""
    functions, calls = [], []
    for number, (begins, changes, takes, after, way) in enumerate(blocks):
        text = way
        parts = {"made": MADE, "begins": begins, "changes": changes, "takes": takes, "after": after}
        for name, part in {**parts, "seen": SEEN}.items():
            text = text.replace(f"{{{name}}}", part)
        functions.append(FUNCTION.format(n=number, begins=begins, changes=changes, takes=takes, seen=SEEN))
        functions.append(f"fn g{number}(flag: Bool) {{ {text} }}")
        calls.append(
            f'println("{number}"); g{number}({str(number % 2 == 0).lower()});'
            f" {{ {MADE} let mut q = f{number}(true, r, t, both);"
            f" if q.len() > 0 {{ q[0].push(3); }} {after.replace('c;', 'q;').replace('t = m; ', '')}"
            f' println("${{q}} ${{r}} ${{t}} ${{both}} ${{shown}}"); }}'
            f' {{ let mut q = f{number}(true, [[1, 1], [2]], {{"a": [1], "b": [2]}}, fresh());'
            f" if q.len() > 0 {{ q[0].push(3); }} println(q); }}"
        )
    return f"{HEAD} {' '.join(functions)} fn main() {{ {' '.join(calls)} }}"


def sample(seed: int, count: int) -> list[tuple[str, str, str, str, str]]:
    return Random(seed).sample([*product(BEGINS, CHANGES, TAKES, AFTER, WAYS)], count)


@pytest.mark.parametrize("seed", range(6))
def test_nobody_notices_that_elements_are_shared(seed: int) -> None:
    assert agree(found := outcomes({"main.conc": program(sample(seed, 40))})), found
