"""What a `mut self` method changes before it fails stays changed, whatever the receiver is, wherever it
stands, and wherever the failure is caught."""

from __future__ import annotations

from itertools import product

import pytest

from tests.harness.expectations import MAIN
from tests.properties.running import agree, outcomes

_FAILURES = {
    "division": "10 / (n - n)",
    "index": "[1, 2][n + 5]",
    "unwrap": 'fail_with("no")',
    "overflow": "n + 9223372036854775807",
    "dynamic": "any(n)",
}

_BODIES = {
    "once": "self = {new}; {fail}",
    "twice": "self = {new}; let n = n + 1; self = {new}; {fail}",
    "in a loop": "let mut i = 0; while i < 3 {{ i += 1; if i == 3 {{ let _f = {fail}; }} self = {new}; }} n",
    "in a branch": "if n > 0 {{ self = {new}; }} {fail}",
    "through another": "self.begin(n); self.begin(n + 1); {fail}",
    "in another": "self.begin(n); self.go_on(n)",
    "caught inside": "try {{ self.go_on(n); }} catch {{ println(self); }} {fail}",
    "after the failure": "let _f = {fail}; self = {new}; n",
    "as a value": "let seen = {{ self = {new}; self }}; println(seen); {fail}",
}

_TYPES = {
    "Int": ("5", "self + n"),
    "String": ('"a"', 'self + "${n}"'),
    "Option<Int>": ("Some(3)", "Some(n)"),
    "(Int, Array<Int>)": ("(1, [2])", "(n, self.1.concat([n]))"),
    "Array<Int>": ("[1]", "self.concat([n])"),
    "Map<String, Int>": ('{"a": 1}', '{"a": n}.merge(self).merge({"n": n})'),
    "Shape": ("Shape::Dot", "Shape::Line([n])"),
    "Point": ("Point { x: 1 }", "Point { x: self.x + n, shape: Shape::Line([n]) }"),
}

_PLACES = {
    "let mut r = {start};": ["r"],
    "let mut r = [{start}, {start}];": ["r[1]", "r[n - 1]"],
    'let mut r = {{"k": {start}}};': ['r["k"]'],
    "let mut r = (1, ({start}, 2));": ["r.1.0"],
    "let mut r = Holder {{ held: [({start}, 0)], one: {start} }};": ["r.held[0].0", "r.one"],
}

_DECLARED = """
enum Shape { Dot, Line(Array<Int>) }
struct Point { x: Int, shape: Shape = Shape::Dot }
struct Holder<T> { held: Array<(T, Int)>, one: T }
fn fail_with(text: String) -> Int { let found: Result<Int, String> = Err(text); found.unwrap() }
fn any(n: Int) -> Int { let held: Any = "${n}"; held as Int }
trait Change { fn begin(mut self, n: Int) -> Int; fn go_on(mut self, n: Int) -> Int;
    fn change(mut self, n: Int) -> Int; }
impl<T: Change> Holder<T> {
    fn by_self(mut self, n: Int) -> Int { self.one.change(n); self.held[0].0.change(n) }
    fn as_result(mut self, n: Int) -> Result<Int, RuntimeError> {
        let found = try { Ok(self.one.change(n)) } catch RuntimeError(e) { Err(e) };
        Ok(found? + self.held[0].0.change(n))
    }
}
fn in_a_function<T: Change>(value: T, n: Int) -> T {
    let mut own = value;
    try { own.change(n); } catch RuntimeError(e) { println(e.message); }
    own
}
"""


@pytest.mark.parametrize(("body", "failure"), [*zip(_BODIES, [*_FAILURES] * 2, strict=False)])
def test_what_was_changed_before_a_failure_stays(body: str, failure: str) -> None:
    impls, tests = [], []
    for type_, (start, new) in _TYPES.items():
        fail = _FAILURES[failure]
        changing = _BODIES[body].format(new=new, fail=fail)
        impls.append(
            f"impl Change for {type_} {{ fn begin(mut self, n: Int) -> Int {{ self = {new}; n }} "
            f"fn go_on(mut self, n: Int) -> Int {{ self = {new}; {fail} }} "
            f"fn change(mut self, n: Int) -> Int {{ {changing} }} }}"
        )
        for setup, places in _PLACES.items():
            tests += [
                f"{setup.format(start=start)} try {{ {place}.change({value}); }} catch RuntimeError(e) "
                "{ println(e.message); } println(r);"
                for place, value in product(places, ["n", "{ println(n); n + 1 }"])
            ]
        holder = f"Holder {{ held: [({start}, 0)], one: {start} }}"
        tests += [
            f"println(in_a_function({start}, n));",
            f"let mut r = {holder}; try {{ r.by_self(n); }} catch {{ println(r); }} println(r);",
            f"let mut r = {holder}; let f = r.as_result(n); println(r); println(f.is_err());",
            f"let mut r: Any = {start}; try {{ r.change(n); }} catch {{ println(r); }} println(r);",
            f"let mut r: Any = [{start}]; try {{ r[0].change(n); }} catch {{ println(r); }} println(r);",
        ]
    functions = "".join(f"fn f{number}(n: Int) {{ {test} }}\n" for number, test in enumerate(tests))
    calls = "".join(f"f{number}(2);\n" for number in range(len(tests)))
    found = outcomes({MAIN: f"{_DECLARED}{''.join(impls)}{functions}fn main() {{ {calls} }}"})
    assert "oracle" in found
    assert agree(found), found
    assert found["python"].status == 0
