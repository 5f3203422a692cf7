"""What an operand keeps of a variable is not what the statement around it changes, whether anybody looks at
the variable later or not."""

from __future__ import annotations

from itertools import product

import pytest

from tests.properties.running import agree, outcomes

_DECLARED = """
struct Shelf { item: Array<Int>, rows: Array<Array<Int>> = [], some: Option<Array<Int>> = None }
struct Own<T> { item: T }
impl Shelf {
    fn put(mut self, x: Array<Int>) -> Array<Int> { let old = self.item; self.item = x; old }
    fn add(mut self, x: Array<Int>) -> Array<Int> { self.rows.push(x); self.rows[0] }
}
impl<T> Own<T> { fn put(mut self, x: T) -> T { let old = self.item; self.item = x; old } }
fn grow(x: Array<Int>) -> Array<Int> { let mut x = x; x.push(8); x }
fn whole(x: Array<Int>) -> Shelf { Shelf { item: x } }
"""
_KEEPING = (
    "shelf.put(v)",
    "shelf.add(v)",
    "own.put(v)",
    "{ shelf.item = v; [5] }",
    "{ shelf.rows.push(v); [5] }",
    "{ shelf.some = Some(v); [5] }",
    "{ shelf = whole(v); [5] }",
    "{ shelf = Shelf { item: v }; shelf.item }",
    "shelf.put(if v.len() > 1 { v } else { [1] })",
    "shelf.put({ let w = v; w })",
    "shelf.put(grow(v))",
    "{ let w = shelf.put(v); w }",
    "if v.len() > 1 { shelf.put(v) } else { [1] }",
    "match shelf.put(v) { [] => [1], x => x }",
)
_CHANGES = (
    "v.extend({k})",
    "v.push({k}.len())",
    "v.insert(0, {k}.len())",
    "v[0] = {k}.len()",
    "v[1] += {k}.len()",
    "v[{k}.len() % 2] = 7",
    "v = {k}",
    "v.extend({k}.concat({k}))",
)
_AFTER = ("", "println(v);", "v.push(3);", "if v.len() > 50 { println(v); }")


def _program(change: str) -> str:
    found, calls = [_DECLARED], []
    for number, (keeping, after) in enumerate(product(_KEEPING, _AFTER)):
        start = "let mut shelf = Shelf { item: [0] }; let mut own = Own { item: [0] };"
        done = f"{change.replace('{k}', keeping)}; {after} println((shelf, own));"
        found.append(f"fn local{number}() {{ {start} let mut v = [1, 2]; {done} }}")
        found.append(f"fn given{number}(given: Array<Int>) {{ {start} let mut v = given; {done} }}")
        found.append(f"fn loop{number}() {{ {start} for i in 0..2 {{ let mut v = [1, i]; {done} }} }}")
        calls.append(f"local{number}(); given{number}([3, 4]); loop{number}();")
    return "\n".join((*found, "fn main() {", *calls, "}"))


@pytest.mark.parametrize("change", _CHANGES)
def test_what_is_kept_is_not_changed(change: str) -> None:
    found = outcomes({"main.conc": _program(change)})
    assert "oracle" in found and agree(found), found
