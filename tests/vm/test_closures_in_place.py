"""Closures and small functions that are written where they are called: a failure in one has the places that
it would have if it were called."""

from __future__ import annotations

import re
import sys
from typing import cast

import pytest

from concerto.compiler import compile_source
from concerto.vm.host import Host
from concerto.vm.machine import Machine, Tier
from concerto.vm.python_tier.codegen import module_texts
from concerto.vm.python_tier.names import Names
from concerto.vm.python_tier.specialising import specialise
from concerto.vm.trace import TraceFrame, source_trace
from concerto.vm.values import Raised
from tests.vm.hosts import Recorder

PROGRAM = """
struct Item {{ n: Int, parts: Array<Int> }}
fn half(n: Int, by: Int) -> Int {{ n / by }}
fn work(items: Array<Item>, some: Option<Int>, zero: Int) -> String {{
    let counted = {};
    "${{counted}}"
}}
fn main() {{
    work([Item {{ n: 9_223_372_036_854_775_807, parts: [2, 4] }}, Item {{ n: 2, parts: [1] }}], Some(7), 0);
}}
"""

FAILING = {
    "overflow": ("items.map(|item| item.n + 1)", "integer overflow"),
    "index": ("items.map(|item| item.parts[1])", "index 1 is out of bounds for length 1"),
    "nested": ("items.map(|item| item.parts.map(|part| half(part, part - 2)))", "division by zero"),
    "index in nested": ("items.map(|item| item.parts.map(|part| items[part].n).len())", "index 2 is out"),
    "index in any": (
        "items.filter(|item| item.parts.any(|part| item.parts[part] > 1)).len()",
        "index 2 is out",
    ),
    "index in three": (
        "items.map(|item| item.parts.map(|part| items.any(|_| items[part].n == 1)))",
        "index 2 is",
    ),
    "let": ("items.map(|item| { let last = item.parts[item.parts.len()]; last + 1 })", "index 2"),
    "captured": ("items.filter(|item| item.n / zero == 1)", "division by zero"),
    "counted": ("items.count(|item| item.parts[some.unwrap()] == 1)", "index 7"),
    "by steps": ("items.any(|item| item.parts[item.parts.len() - 3] > 4)", "index -1"),
    "position": ("items.position(|item| item.parts[1] == 9)", "index 1 is out of bounds for length 1"),
    "fold": ("items.reduce(1, |sum, item| sum + item.n)", "integer overflow"),
    "called in fold": ("items.reduce(1, |sum, item| half(sum, item.n - 2))", "division by zero"),
    "option": ("some.map(|n| items[n].n)", "index 7 is out of bounds for length 2"),
    "and then": ("some.and_then(|n| items.get(n / zero))", "division by zero"),
    "table": ("[0, 2].map(|at| [[1], [2]][at][0] + 1)", "index 2 is out of bounds for length 2"),
    "nothing": ("(items.map(|item| {}), items[3].n).1", "index 3"),
    "or else": ("items.get(9).or_else(|| items.get(1 / zero))", "division by zero"),
    "unwrap or else": ("items.get(5).map(|item| item.n).unwrap_or_else(|| items[5].n)", "index 5"),
    "result map": ('"7".parse_int().map(|n| n / zero)', "division by zero"),
    "map_err": ('"x".parse_int().map_err(|error| error.message.len() / zero)', "division by zero"),
    "result and then": ('"7".parse_int().and_then(|n| "${n / zero}".parse_int())', "division by zero"),
    "result or else": ('"x".parse_int().or_else(|_| "${1 / zero}".parse_int())', "division by zero"),
    "result unwrap": ('"x".parse_int().unwrap_or_else(|_| 1 / zero)', "division by zero"),
    "filter_map": ("items.filter_map(|item| Some(item.n + 1))", "integer overflow"),
}


@pytest.mark.parametrize("title", FAILING)
def test_failures_have_the_places_of_calls(title: str) -> None:
    body, message = FAILING[title]
    source = PROGRAM.format(body)
    found = {tier: _failure(source, tier) for tier in ("interpreter", "python")}
    assert found["python"] == found["interpreter"]
    assert message in found["python"][0]


def test_closures_are_in_place() -> None:
    """The text that calls no closure any more: each of these is written into `work`."""
    for body, message in FAILING.values():
        if sys.version_info >= (3, 12) and message.startswith("index"):
            continue
        module = compile_source(PROGRAM.format(body)).module
        texts, _ = module_texts(module, Names())
        work = next(at for at, function in enumerate(module.functions) if function.name == "work")
        closures = [at for at, function in enumerate(module.functions) if "closure" in function.name]
        assert not any(f"f{at}" in texts[work] or f"g{at}" in texts[work] for at in closures), body


CALLING = """
struct Row {{ cells: Array<Int>, more: Int }}
enum Shape {{ Square(Int), Line(Int, Int), Dot }}
trait Sized {{
    fn size(self) -> Int;
    fn share(self, of: Int) -> Int {{ of / self.size() }}
}}
impl Sized for Row {{ fn size(self) -> Int {{ self.cells[self.more] }} }}
impl Sized for Shape {{ fn size(self) -> Int {{ 100 / area(self) }} }}
fn rows(row: Row, more: Int) -> Array<Row> {{ [Row {{ cells: row.cells, more }}] }}
fn bracketed(text: String) -> String {{ "[${{text}}]" }}
fn cell(row: Row, at: Int) -> Int {{ row.cells[at] }}
fn first(row: Row) -> Int {{ cell(row, 0) + row.more }}
fn last(row: Row) -> Int {{ let at = row.cells.len() - row.more; row.cells[at] }}
fn area(shape: Shape) -> Int {{
    match shape {{ Shape::Square(side) => side * side, Shape::Line(a, b) => a / b, Shape::Dot => 0 }}
}}
fn part(row: Row, by: Int) -> Int {{
    if row.more > 5 {{ return row.more / by; }}
    let rest = row.more - by;
    row.cells[rest]
}}
fn shown(row: Row, by: Int) -> String {{ "${{row.cells}}, ${{row.more / by}}" }}
fn digit(text: String) -> Option<Int> {{ text.parse_int().ok() }}
fn half(text: String, by: Int) -> Option<Int> {{ let n = digit(text)?; Some(n / by) }}
fn or_first(found: Option<Int>, row: Row) -> Int {{
    match found {{ Some(n) => row.cells[n], None => row.cells[9] }}
}}
fn spread<T: Sized>(a: T, b: T) -> Int {{ a.share(10) - b.share(10) }}
fn spreads<T: Sized>(all: Array<T>) -> Int {{ all.fold(0, |sum, each| sum + each.share(7)) }}
fn work(row: Row, big: Row, zero: Int) -> String {{
    let found = {};
    "${{found}}"
}}
fn main() {{
    work(Row {{ cells: [4, 5], more: 1 }}, Row {{ cells: [9_223_372_036_854_775_807], more: 7 }}, 0);
}}
"""

FAILING_CALLS = {
    "overflow": ("first(big)", "integer overflow"),
    "index": ("cell(row, 1) + cell(row, 2)", "index 2 is out of bounds for length 2"),
    "other index": ("cell(big, 1) + cell(row, 2)", "index 1 is out of bounds for length 1"),
    "argument": ("cell(row, cell(row, 3))", "index 3 is out of bounds for length 2"),
    "first argument": ("first(rows(row, 1)[zero + 1])", "index 1 is out of bounds for length 1"),
    "text of an argument": ('bracketed("${row.cells[2]}")', "index 2"),
    "let": ("last(row) + last(big)", "index -6 is out of bounds for length 1"),
    "in an expression": ("if zero == 0 { last(big) } else { 1 }", "index -6"),
    "return": ("part(row, 1) + part(big, zero)", "division by zero"),
    "after return": ("part(row, -1)", "index 2 is out of bounds for length 2"),
    "match": ("area(Shape::Square(2)) + area(Shape::Line(1, zero))", "division by zero"),
    "question mark": ('half("x", zero).unwrap_or(1) + half("4", zero).unwrap_or(1)', "division by zero"),
    "option": ('or_first(half("4", 2), row)', "index 2"),
    "option in an expression": ('if zero == 0 { or_first(half("x", 2), row) } else { 1 }', "index 9"),
    "text in a text": ('"<${shown(row, 1)}, ${shown(row, zero)}>"', "division by zero"),
    "texts in texts": ('[0].map(|by| "[${"<${shown(row, 1)}, ${shown(row, by)}>"}]")', "division by zero"),
    "bound": ("spread(row, big)", "index 7 is out of bounds for length 1"),
    "bound of an enum": ("spread(Shape::Square(2), Shape::Dot)", "division by zero"),
    "closure with a bound": ("spreads([row, big])", "index 7 is out of bounds for length 1"),
    "closure": ("[1, 0].map(|n| cell(row, n) + part(big, n))", "division by zero"),
}


@pytest.mark.parametrize("title", FAILING_CALLS)
def test_failures_in_small_functions_have_the_places_of_calls(title: str) -> None:
    body, message = FAILING_CALLS[title]
    source = CALLING.format(body)
    found = {tier: _failure(source, tier) for tier in ("interpreter", "python")}
    assert found["python"] == found["interpreter"]
    assert message in found["python"][0]


def test_small_functions_are_in_place() -> None:
    """Nothing of the program is called any more, but large functions; no table of a trait's methods is looked
    at."""
    for title, (body, _) in FAILING_CALLS.items():
        module = specialise(compile_source(CALLING.format(body)).module).module
        texts, _ = module_texts(module, Names())
        work = next(at for at, function in enumerate(module.functions) if function.name == "work")
        body = texts[work].split(":", 1)[1]
        assert "bound" in title or not re.search(r"\b[fu]\d+\(", body), title
        assert not re.search(r"T\d+\[", "".join(text for at, text in texts.items() if at >= work)), title


def _failure(source: str, tier: Tier) -> tuple[str, list[TraceFrame]]:
    machine = Machine(compile_source(source).module, cast(Host, Recorder()), tier=tier)
    with pytest.raises(Raised) as caught:
        machine.run_entry()
    return caught.value.value.message, source_trace(caught.value)
