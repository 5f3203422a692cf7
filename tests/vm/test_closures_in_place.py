"""Closures that are written where they are called: a failure in one has the places that it would have if it
were called."""

from __future__ import annotations

import sys
from typing import cast

import pytest

from concerto.compiler import compile_source
from concerto.vm.host import Host
from concerto.vm.machine import Machine, Tier
from concerto.vm.python_tier.codegen import module_texts
from concerto.vm.python_tier.names import Names
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
    "let": ("items.map(|item| { let last = item.parts[item.parts.len()]; last + 1 })", "index 2"),
    "captured": ("items.filter(|item| item.n / zero == 1)", "division by zero"),
    "counted": ("items.count(|item| item.parts[some.unwrap()] == 1)", "index 7"),
    "by steps": ("items.any(|item| item.parts[item.parts.len() - 3] > 4)", "index -1"),
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


def _failure(source: str, tier: Tier) -> tuple[str, list[TraceFrame]]:
    machine = Machine(compile_source(source).module, cast(Host, Recorder()), tier=tier)
    with pytest.raises(Raised) as caught:
        machine.run_entry()
    return caught.value.value.message, source_trace(caught.value)
