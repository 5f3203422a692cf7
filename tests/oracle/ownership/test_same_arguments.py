"""What a function is given twice is two values, whichever of them it keeps and changes."""

from __future__ import annotations

from itertools import product

import pytest

from tests.properties.running import agree, outcomes

_DECLARED = """
struct Bag { items: Array<Int>, rows: Array<Array<Int>> }
struct Pair<T> { one: T, two: T }
fn second(a: Array<Int>, b: Array<Int>) -> Array<Int> { let mut b = b; b.push(1); a.concat(b) }
fn first(a: Array<Int>, b: Array<Int>) -> Array<Int> { let mut a = a; a.push(1); a.concat(b) }
fn both(a: Array<Int>, b: Array<Int>) -> Array<Int> {
    let mut a = a; let mut b = b; a.push(1); b.push(2); a.concat(b)
}
fn deep(a: Array<Int>, b: Array<Int>) -> Array<Int> { if a.len() > 3 { a } else { second(b, a).concat(b) } }
fn held(a: Array<Int>, b: Array<Int>) -> Array<Int> {
    let mut p = Pair { one: a, two: b }; p.two.push(1); p.one.concat(a)
}
fn given(a: Array<Int>, b: Array<Int>) -> Array<Int> { let mut all = [b]; all[0].push(1); a }
fn of_any<T>(a: T, b: T) -> T { let mut p = Pair { one: b, two: b }; p.one = a; p.one }
impl Bag {
    fn add(self, b: Array<Int>) -> Array<Int> { let mut b = b; b.push(1); self.items.concat(b) }
    fn all(self, bag: Bag) -> Array<Int> { let mut bag = bag; bag.items.push(1); self.items }
}
fn same<T>(x: T) -> T { x }
"""
_FUNCTIONS = ("second", "first", "both", "deep", "held", "given", "of_any")
# `v` is an array, `bag` has it too.
_PAIRS = (
    ("v", "v"),
    ("bag.items", "bag.items"),
    ("v", "w"),
    ("w", "v"),
    ("v", "same(v)"),
    ("same(v)", "v"),
    ("bag.rows[0]", "bag.rows[0]"),
    ("v", "if v.len() > 0 { v } else { [] }"),
    ("if v.len() > 0 { v } else { [] }", "v"),
    ("bag.rows.get(0) ?? []", "bag.rows[0]"),
    ("v", "{ let x = v; x }"),
    ("second(v, v)", "v"),
    ("v", "second(v, v)"),
)
_CALLS = (
    "{f}({a}, {b})",
    "{f}(b: {b}, a: {a})",
    "{a} |> {f}({b})",
    "await spawn {f}({a}, {b})",
    "[0].map(|_| {f}({a}, {b}))[0]",
)
_METHODS = (
    "bag.add(bag.items)",
    "bag.add(v)",
    "bag.all(bag)",
    "Bag { items: v, rows: [] }.add(v)",
    "[bag, bag].map(|each| each.all(each))[0]",
    "bag.rows.map(|row| second(row, row))[0]",
    "bag.rows.fold(v, |sum, row| second(sum, sum))",
)


def _program(calls: list[str]) -> str:
    found = [_DECLARED]
    for number, call in enumerate(calls):
        start = "let v = bag.items; let w = v; let u = bag;"
        found.append(f"fn once{number}(bag: Bag) {{ {start} println({call}); }}")
        found.append(f"fn twice{number}(bag: Bag) {{ {start} println({call}); println((v, w, u)); }}")
        found.append(
            f"fn anew{number}(start: Bag) {{ let mut bag = start; let mut v = [4, 5]; let w = v; "
            f"v = {call}; println(v); println(w); bag.items = {call}; println((bag, start)); }}"
        )
    main = "let bag = Bag { items: [1, 2], rows: [[3], [6]] };"
    each = "once#(bag); twice#(bag); anew#(bag);"
    made = " ".join(each.replace("#", str(number)) for number in range(len(calls)))
    return "\n".join((*found, f"fn main() {{ {main} {made} println(bag); }}"))


@pytest.mark.parametrize("form", _CALLS)
def test_arguments_are_values_of_their_own(form: str) -> None:
    calls = [
        form.replace("{f}", function).replace("{a}", a).replace("{b}", b)
        for function, (a, b) in product(_FUNCTIONS, _PAIRS)
    ]
    found = outcomes({"main.conc": _program(calls)})
    assert "oracle" in found and agree(found), found


def test_a_receiver_is_a_value_of_its_own() -> None:
    found = outcomes({"main.conc": _program([*_METHODS])})
    assert "oracle" in found and agree(found), found
