"""A failure has its message and its places wherever the value is used that could not be computed."""

from __future__ import annotations

from functools import cache
from typing import cast

import pytest

from concerto.compiler import compile_source
from concerto.ir.module import ModuleIR
from concerto.vm.host import Host
from concerto.vm.machine import Machine, Tier
from concerto.vm.trace import TraceFrame, source_trace
from concerto.vm.values import NONE, Raised, Value
from tests.vm.hosts import Recorder

HELPERS = """
struct Row { cells: Array<Int>, more: Int }
impl Row { fn is_low(self, i: Int) -> Bool { self.cells[i] < 3 } }
trait Sized { fn size(self) -> Int; fn twice(self) -> Int { self.size() * 2 } }
impl Sized for Row { fn size(self) -> Int { self.cells[self.more] } }
struct Walk { cells: Array<Int> }
impl Iterator<Int> for Walk { fn next(mut self) -> Option<Int> { Some(self.cells[9]) } }
fn size_of<T: Sized>(x: T) -> Int { x.size() }
fn row(xs: Array<Int>) -> Row { Row { cells: xs, more: 7 } }
fn low(xs: Array<Int>, i: Int) -> Bool { xs[i] < 3 }
fn none(os: Array<Option<Int>>, i: Int) -> Bool { os[i] == None }
fn kind(ys: Array<Any>, i: Int) -> String { typeof(ys[i]) }
fn has(xs: Array<Int>, i: Int) -> Bool { xs.len() > 0 && xs[i] == 1 }
fn either(xs: Array<Int>, i: Int) -> Bool { if xs[i] == 1 { true } else { xs[i + 1] == 1 } }
fn cell(xs: Array<Int>, i: Int) -> Int { xs[i] }
fn half(n: Int, by: Int) -> Int { n / by }
fn rest(n: Int, by: Int) -> Int { n % by }
fn more(n: Int) -> Int { n + 1 }
fn any_low(xs: Array<Int>, i: Int) -> Bool { xs.any(|x| xs[i] < x) }
fn matched(xs: Array<Int>, i: Int) -> Int { match xs[i] { 1 => 2, _ => 4 } }
fn swapped(xs: Array<Int>, i: Int) -> Int { let mut own = xs; own.swap(0, i); own[0] }
fn turned(xs: Array<Int>, i: Int) -> Int { let mut own = [xs]; own[0].swap(i - i, more(i)); own[0][0] }
fn row_of(i: Int) -> Array<Int> { [[1], [2]][i] }
fn upto(xs: Array<Int>, i: Int) -> Range { 0..xs[i] }
fn masked(n: Int, by: Int) -> Range { 0..((n / by) & 3) }
fn through(xs: Array<Int>, i: Int) -> Range { xs[i]..=9 }
fn at(os: Array<Option<Int>>, i: Int) -> Option<Int> { os[i] }
fn found(xs: Array<Int>, i: Int) -> Option<Int> { Some(xs[i]) }
fn parsed(text: String, by: Int) -> Result<Int, ParseError> { Ok(text.parse_int()? / by) }
fn shown(xs: Array<Int>, i: Int) -> String { "<${xs[i]}>" }
"""
PARAMETERS = "xs: Array<Int>, ys: Array<Any>, os: Array<Option<Int>>, zero: Int, most: Int, yes: Bool"
ARGUMENTS: tuple[Value, ...] = ([1, 2], [1], [NONE], 0, 2**63 - 1, True)

FAILING = {
    "Bool": (
        "low(xs, 9)",
        "row(xs).is_low(9)",
        "any_low(xs, 9)",
        "(!low(xs, 9))",
        "none(os, 9)",
        "(!none(os, 9))",
        '(kind(ys, 9) == "Int")',
        "has(xs, 9)",
        "either(xs, 1)",
        "(half(1, zero) == 0)",
        "(rest(1, zero) != 0)",
        "(|i: Int| xs[i] > 2)(9)",
        "(more(most) < 3)",
        "(xs[9] >= 3)",
        "upto(xs, 9).contains(1)",
        "[xs[9], 1].contains(1)",
        "(yes && low(xs, 9))",
    ),
    "Int": (
        "cell(xs, 9)",
        "size_of(row(xs))",
        "row(xs).twice()",
        "matched(xs, 9)",
        "row_of(9).len()",
        "row_of(9)[0]",
        "swapped(xs, 9)",
        "turned(xs, 9)",
        "half(1, zero)",
        "rest(1, zero)",
        "more(most)",
        "xs[9]",
        "(1 / zero)",
        "(most + 1)",
        "(|i: Int| xs[i] + 1)(9)",
        "at(os, 9).unwrap_or(1)",
        'parsed("7", zero).unwrap_or(1)',
        "(Row { cells: xs, more: 1 }).cells[9]",
        "(if yes { cell(xs, 9) } else { 1 })",
        "([Row { cells: xs, more: 1 }][7]).more",
    ),
    "Range": (
        "upto(xs, 9)",
        "through(xs, 9)",
        "masked(7, zero)",
        "0..cell(xs, 9)",
        "(|i: Int| 0..xs[i])(9)",
        "0..half(2, zero)",
    ),
    "Option": (
        "at(os, 9)",
        "found(xs, 9)",
        "Some(cell(xs, 9))",
        "(|i: Int| Some(xs[i]))(9)",
        "xs.get(half(1, zero))",
    ),
    "String": ("kind(ys, 9)", "shown(xs, 9)", '"${cell(xs, 9)}"', "(|i: Int| to_string(xs[i]))(9)"),
}

USES = {
    "Bool": (
        "if {} { 1 } else { 2 }",
        "if !{} { 1 } else { 2 }",
        "if yes && {} { 1 } else { 2 }",
        "if !yes || {} { 1 } else { 2 }",
        "if {} || yes { 1 } else { 2 }",
        "if {} == yes { 1 } else { 2 }",
        "let b = {}; if b { 1 } else { 2 }",
        "match {} { true => 1, false => 2 }",
        "let mut k = 0; while {} { k += 1; } k",
        "let mut k = 0; while !{} { k += 1; if k > 3 { break; } } k",
        "let mut k = 0; while k < 5 && {} { k += 1; } k",
        "loop { if {} { break; } return 3; } 4",
        "for x in xs { if !{} { continue; } return x; } 2",
        "for x in xs { if {} { return x; } } 2",
        "xs.filter(|x| {}).len()",
        "xs.filter(|x| xs.any(|y| {})).len()",
        "parallel for x in xs { if {} { 1; } }",
        "if xs.any(|x| {}) { 1 } else { 2 }",
        '"${{}}".len()',
        "[{}].len()",
        "if if yes { {} } else { yes } { 1 } else { 2 }",
        "let f = || {}; if f() { 1 } else { 2 }",
    ),
    "Int": (
        "xs.iter().map(|x| x + {}).sum()",
        "xs.iter().filter(|x| x > {}).to_array().len()",
        "xs.iter().map(|x| x + 1).map(|x| x * {}).to_array().len()",
        "xs.iter().filter_map(|x| Some({})).sum()",
        "xs.iter().take_while(|x| x < {}).sum()",
        "xs.iter().map(|x| x + 1).skip_while(|x| x > {}).to_array().len()",
        "for x in xs.iter().skip_while(|y| y > {}).take_while(|y| y < {}) { return x; } 1",
        "xs.iter().map(|x| x + 1).fold(0, |a, b| a + b * {})",
        "xs.iter().map(|x| x + {}).filter(|x| x > 2).count(|x| x > 3)",
        "xs.iter().map(|x| x + 1).any(|x| x > {})",
        "xs.iter().max_by_key(|x| x + {}) ?? 1",
        "(0..{}).iter().map(|x| x + 1).sum()",
        "(0..xs.len()).map(|x| x + {}).len()",
        "for x in xs.iter() { return x + {}; } 1",
        "for x in xs.iter().map(|y| y + {}) { return x; } 1",
        "for x in xs.iter().filter(|y| y > {}).map(|y| y + 1) { return x; } 1",
        "for (x, z) in xs.iter().map(|y| (y, {})) { return x + z; } 1",
        "for x in xs.iter().map(|y| { let z = y + {}; z * {} }) { return x; } 1",
        "for x in xs.iter().enumerate().filter(|p| p.0 < {}) { return x.1; } 1",
        "for (i, x) in xs.iter().enumerate() { return x + {}; } 1",
        "if yes { for x in (Walk { cells: xs }) { nil } 1 } else { if most < 7 { return {}; } 2 }",
        "if yes { for x in (Walk { cells: xs }).map(|x| x + 1) { nil } 1 } else { return {}; }",
        "for y in 0..1 { if most < 7 { return {}; } for x in (Walk { cells: xs }) { println(x); } } 1",
        "{} + 1",
        "try { {} } catch String(_) { 2 }",
        "try { try { {} } catch String(_) { 2 } } catch Int(_) { 3 }",
        "match 3 { n if {} > n => 1, _ => 2 }",
        "xs.map(|x| xs.map(|y| y + {})).len()",
        "let n = {}; n",
        "xs[{}]",
        "if {} == 0 { 1 } else { 2 }",
        "if !({} < 3) { 1 } else { 2 }",
        "let mut k = 0; while {} > k { k += 1; } k",
        "let mut k = 0; for i in 0..{} { k += i; } k",
        "match {} { 0 => 1, 1 => 2, 3 => 3, _ => 4 }",
        "-{}",
        "if {} % 2 == 0 { 1 } else { 2 }",
        "xs.map(|x| x + {}).len()",
        '"${{}}".len()',
        "let mut s = 0; s += {}; s",
        "let mut own = xs; own[{}] = 3; own[0]",
        "let mut own = xs; own[0] = {}; own[0]",
        "({}, 2).0",
        "Some({}).unwrap_or(1)",
        "xs.fold(0, |sum, x| sum + {})",
        "[{}, 1].len()",
        "half({}, 2)",
        "cell(xs, {})",
        "Row { cells: [{}], more: {} }.more",
        "let mut k = 0; for i in 0..3 { if i == {} { break; } k += 1; } k",
        "zero.max({})",
        "to_string({}).len()",
        "return {}",
        "(zero + {}) * 2",
        "{}.to_float().floor()",
    ),
    "Range": (
        "let mut s = 0; for i in {} { s += i; } s",
        "({}).len()",
        "({}).map(|i| i + 1).len()",
        "for i in {} { if i == 2 { break; } } 1",
        "let r = {}; for i in r { return i; } 2",
        "({}).filter(|i| i > 2).len()",
        "({}).fold(0, |sum, i| sum + i)",
        "if ({}).contains(3) { 1 } else { 2 }",
        "({}).to_array().len()",
        "match {} { r => r.len() }",
    ),
    "Option": (
        "if let Some(n) = {} { n } else { 2 }",
        "{} ?? 3",
        "if {} == None { 1 } else { 2 }",
        "match {} { Some(n) => n, None => 2 }",
        "if {}.is_some() { 1 } else { 2 }",
        "if !{}.is_none() { 1 } else { 2 }",
        "while let Some(n) = {} { return n; } 2",
        "{}.unwrap_or(2)",
        "{}.map(|n| n + 1).unwrap_or(2)",
        "let Some(n) = {} else { return 3; }; n",
        '"${{}}".len()',
        "let o = {}; o.unwrap_or(1)",
        "let mut k = 0; while {}.is_some() { k += 1; } k",
    ),
    "String": (
        '{} == "Int"',
        '{} != "Int"',
        "{}.len()",
        '"${{}}!"',
        '{} + "x"',
        'match {} { "Int" => 1, "a" => 2, "b" => 3, _ => 4 }',
        '{} < "b"',
        'let mut k = 0; while {} == "Int" { k += 1; } k',
        'if {} != "Int" { 1 } else { 2 }',
        '"a".contains({})',
        'let mut s = ""; s += {}; s',
        '[{}].join(",")',
        "{}[0..1]",
    ),
}


def _bodies(kind: str) -> list[str]:
    return [use.replace("{}", value) for use in USES[kind] for value in FAILING[kind]]


@cache
def _module(kind: str) -> ModuleIR:
    functions = [f"fn t{n}({PARAMETERS}) -> Any {{ {body} }}" for n, body in enumerate(_bodies(kind))]
    return compile_source("\n".join((HELPERS, *functions, "fn main() {}"))).module


@pytest.mark.parametrize("kind", USES)
def test_both_tiers_tell_the_same(kind: str) -> None:
    module = _module(kind)
    entries = {function.name: index for index, function in enumerate(module.functions)}
    python, interpreter = (Machine(module, cast(Host, Recorder()), tier=tier) for tier in _TIERS)
    for number, body in enumerate(_bodies(kind)):
        found = _failure(python, entries[f"t{number}"])
        assert found == _failure(interpreter, entries[f"t{number}"]), body
        assert found[0] != "index is out of bounds", body


_TIERS: tuple[Tier, Tier] = ("python", "interpreter")


def _failure(machine: Machine, function: int) -> tuple[str, list[TraceFrame]]:
    with pytest.raises(Raised) as caught:
        machine.call(function, ARGUMENTS)
    return caught.value.value.message, source_trace(caught.value)
