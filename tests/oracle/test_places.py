"""Whatever is evaluated on the way to a place or beside it may change the place's own variable: no change is
lost, wherever the place is, however it is written to, and whatever changes it meanwhile."""

from __future__ import annotations

import re
from itertools import product

import pytest

from tests.harness.expectations import MAIN
from tests.properties.running import agree, outcomes

_PRELUDE = """
struct Cell {
    n: Int = 0, items: Array<Int> = [1, 2], pair: (Int, Array<Int>) = (0, [3, 4]), cells: Array<Cell> = []
}
impl Cell {
    fn bump(mut self) -> Int { self.n += 1; self.items.push(self.n); self.pair = (9, [7, 8]); 0 }
    fn add(mut self, n: Int) -> Int { self.n += n; self.n }
}
enum Shape { Dot, Line(Array<Int>) }
impl Shape {
    fn grow(mut self, n: Int) -> Int {
        self = match self { Shape::Dot => Shape::Line([n]), Shape::Line(l) => Shape::Line(l.concat([n])) };
        n
    }
}
trait Change { fn change(mut self, n: Int) -> Int; }
impl Change for Int { fn change(mut self, n: Int) -> Int { self = self * 10 + n; n } }
impl Change for Array<Int> { fn change(mut self, n: Int) -> Int { self.push(n); self = self.concat([0]); n } }
fn change_it<T: Change>(value: T, n: Int) -> T { let mut own = value; own.change(n); own }
fn at(i: Int) -> Int { i }
"""

_INT = ["{p} = {v};", "{p} += {v};", "{p}.change({v});", "let _r = {v} |> {p}.change();"]
_ITEMS = ["{p} = [{v}];", "{p}.push({v});", "{p}.swap({v}, 1);", "{p}.swap(1, {v});", "{p}.insert({v}, 5);",
          "{p}.extend([{v}]);", "{p}.change({v});", "{p}[0] = {v};", "{p}[{v}] += 4;", "{p}[1].change({v});",
          "{p} = {p}.concat([{v}]);"]  # fmt: skip
_CELL = ["{p}.add({v});", "{p} = Cell {{ n: {v} }};", "{p} = Cell {{ n: {v}, ..{p} }};", "{p}.bump();"]
_SHAPE = ["{p}.grow({v});", "{p} = Shape::Line([{v}]);"]
_ANY = ["{p} = {v};", "{p}.push({v});", "{p}[0] = {v};", "{p} = [{v}];"]

_ROOTS: dict[str, tuple[str, list[str], dict[str, list[str]]]] = {
    "array": (
        "let mut r = [1, 2, 3]; let mut i = 0; i += 0;",
        ["r.push(9);", "r = [7, 8];", "r[0] = 6;", "r.reverse();", "i = 1;", "r.change(4);"],
        {"r[{x}]": _INT, "r": _ITEMS, "r[i]": _INT}
    ),
    "rows": (
        "let mut r = [[1, 2], [3, 4]]; let mut i = 0; i += 0;",
        ["r.push([9]);", "r = [[7, 8], [5, 6]];", "r[0] = [6, 6];", "r[0].push(9);", "r[1][0] = 9;",
         "i = 1;"],
        {"r[{x}]": _ITEMS, "r[{x}][{y}]": _INT, "r[i][{x}]": _INT, "r[i]": _ITEMS}
    ),
    "map": (
        'let mut r = {"a": [1, 2], "b": [3, 4]}; let mut k = "a"; k += "";',
        ['r.insert("c", [0, 0]);', 'r = {"a": [8, 9], "b": [6, 5]};', 'r["a"].push(9);', 'k = "b";',
         'r.remove("b");'],
        {'r["a"]': _ITEMS, 'r["a"][{x}]': _INT, "r[k][{x}]": _INT,
         'r[if {x} == 0 {{ "a" }} else {{ "b" }}]': _ITEMS}
    ),
    "struct": (
        "let mut r = Cell { cells: [Cell {}, Cell {}] };",
        ["r.bump();", "r = Cell { items: [7, 8], cells: [Cell { n: 3 }, Cell {}, Cell {}] };",
         "r.items.push(9);",
         "r.n = 5;", "r.pair.1.push(5);", "r.pair = (1, [1, 1]);", "r.cells = [Cell { n: 4 }, Cell {}];",
         "r.cells[0].bump();", "r.cells.push(Cell {});"],
        {"r.n": _INT, "r.items[{x}]": _INT, "r.items": _ITEMS, "r.pair.0": _INT, "r.pair.1": _ITEMS,
         "r.pair.1[{x}]": _INT, "r.cells[{x}]": _CELL, "r.cells[{x}].items[{y}]": _INT, "r": _CELL,
         "r.cells[{x}].pair.1": _ITEMS}
    ),
    "tuple": (
        "let mut r = ([1, 2], (5, [3, 4]));",
        ["r.0.push(9);", "r = ([7, 8], (6, [5, 5]));", "r.1.1 = [0, 0];", "r.1 = (2, [8, 8]);"],
        {"r.0[{x}]": _INT, "r.1.1[{x}]": _INT, "r.1.0": _INT, "r.1.1": _ITEMS, "r.0": _ITEMS}
    ),
    "enums": (
        "let mut r = [Shape::Dot, Shape::Line([1])];",
        ["r.push(Shape::Dot);", "r = [Shape::Line([5]), Shape::Dot];", "r[0].grow(3);",
         "r[0] = Shape::Line([]);"],
        {"r[{x}]": _SHAPE}
    ),
    "dynamic": (
        'let mut r: Any = {"a": [1, 2], "b": [3, 4]};',
        ['r["a"].push(9);', 'r = {"a": [7, 8], "b": [5, 6]};', "r.a[0] = 6;", 'r["b"] = [0, 0];'],
        {'r["a"]': _ANY, "r.b": _ANY,
         'r["a"][{x}]': ["{p} = {v};", "{p} += {v};"], "r.a[{x}]": ["{p} = {v};"]}
    )
}  # fmt: skip


def _functions(root: str) -> list[str]:
    """A function for each place, way of writing and part that changes the variable meanwhile."""
    setup, changes, places = _ROOTS[root]
    functions = []
    for (place, writes), change in product(places.items(), changes):
        for write in writes:
            parts = [part for part in ("x", "y", "v") if f"{{{part}}}" in place + write]
            for changing in [(part,) for part in parts] + ([("x", "v")] if len(parts) > 1 else []):
                given = {"x": "at(0)", "y": "at(1)", "v": "at(1)"}
                given |= {part: f"({{ {change} {given[part]} }})" for part in changing}
                spot = place.format(**given)
                text = write.format(p=spot, **given)
                functions.append(
                    f"{setup} try {{ {text} }} catch RuntimeError(e) {{ println(e.message); }} println(r);"
                )
    return functions


@pytest.mark.parametrize("root", _ROOTS)
def test_what_changes_a_place_while_it_is_written_to_is_not_lost(root: str) -> None:
    bodies = _functions(root)
    functions = "".join(f"fn f{number}() {{ {body} }}\n" for number, body in enumerate(bodies))
    _agree(functions, [f"f{number}();" for number in range(len(bodies))], bodies)


def test_nor_is_it_if_the_variable_is_self() -> None:
    setup = _ROOTS["struct"][0]
    bodies = [re.sub(r"\br\b", "self", body.removeprefix(setup)) for body in _functions("struct")]
    methods = "".join(f"fn f{number}(mut self) {{ {body} }}\n" for number, body in enumerate(bodies))
    _agree(f"impl Cell {{ {methods} }}", [f"{setup} r.f{number}();" for number in range(len(bodies))], bodies)


def test_nor_is_it_in_the_state_of_a_tool() -> None:
    setup = _ROOTS["struct"][0]
    bodies = [re.sub(r"\br\b", "self.r", body.removeprefix(setup)) for body in _functions("struct")]
    methods = "".join(
        f'@describe("d") pub fn f{number}(mut self) {{ {setup.replace("let mut r", "self.r")} {body} }}\n'
        for number, body in enumerate(bodies)
    )
    tool = f'tool T {{ description: "d", r: Cell = Cell {{}}, {methods} }}'
    _agree(tool, [f"T.f{number}();" for number in range(len(bodies))], bodies)


def _agree(declarations: str, calls: list[str], bodies: list[str]) -> None:
    """Each call prints the same in all ways, the oracle's among them."""
    main = "".join(f'print("#{number} "); {{ {call} }}\n' for number, call in enumerate(calls))
    found = outcomes({MAIN: f"{_PRELUDE}{declarations}fn main() {{ {main} }}"})
    assert "oracle" in found
    for number, printed in enumerate(zip(*(found[way].stdout.split("#")[1:] for way in found), strict=True)):
        assert len(set(printed)) == 1, (bodies[number], dict(zip(found, printed, strict=True)))
    assert agree(found), found
