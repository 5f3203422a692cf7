"""What holds one value twice, however it comes to, and however it leaves the body: a change of one does not
reach the other."""

from __future__ import annotations

import pytest

from tests.properties.running import agree, outcomes

# `{v}` is the variable that the value is read from.
HOLDING = (
    "{v}.concat({v})",
    "[{v}[0], {v}[0]]",
    "[{v}[0], {v}[0], [1]]",
    "{v}.concat([{v}[0]])",
    "[{v}[0]].concat({v})",
    "{v}.concat({v}).concat({v})",
    "{v}[..1].concat({v}[..1])",
    "[{v}.first().unwrap(), {v}[0]]",
    "{v}.map(|_| {v}[0]).concat({v})",
    "[{v}[0]].concat([{v}[0]])",
    "if {v}.len() > 0 { {v}.concat({v}) } else { {v} }",
    "match {v} { [a, ..] => [a, a], _ => {v} }",
    "{v}.concat({v}.filter(|_| true))",
    "[{v}, {v}].flatten()",
    "{v}.fold({v}, |sum, x| sum.concat([x]))",
)
# `{of v}` is one of them over this variable.
LEAVING = (
    "{of v}",
    "let acc = {of v}; acc",
    "let acc = v; {of acc}",
    "let mut acc = v; acc = {of v}; acc",
    "let mut acc = [[0]]; acc = {of v}; acc",
    "let mut acc = v; acc = {of acc}; acc",
    "let mut acc = v; acc = {of acc}; acc = {of acc}; acc",
    "let mut acc = v; acc = {of acc}; let out = acc; out",
    "let mut acc = v; acc = {of acc}; return acc;",
    "let mut acc = v; if true { acc = {of acc}; } acc",
    "let mut acc = v; for _ in 0..1 { acc = {of acc}; } acc",
    "let mut acc = v; acc = {of acc}; (acc, 1).0",
    "let mut acc = v; acc = {of acc}; acc[0] = acc[1]; acc",
    "let mut rows = Rows { rows: v }; rows.rows = {of rows.rows}; rows.rows",
    'let mut m = {"a": v}; m["a"] = {of v}; m["a"]',
    "let mut acc = Some(v); acc = Some({of v}); acc ?? []",
    "let own = [[2, 1]]; {of own}",
    "let f = || {of v}; f()",
)
BODIES = {
    "function": ("fn f#(v: Array<Array<Int>>) -> Array<Array<Int>> { {body} }", "f#([[2, 1]])"),
    "fold": (
        "fn f#() -> Array<Array<Int>> {"
        " [1].fold([[2, 1]], |v: Array<Array<Int>>, it: Int| -> Array<Array<Int>> { {body} }) }",
        "f#()",
    ),
    "method": (
        "impl Rows { fn f#(self) -> Array<Array<Int>> { let v = self.rows; {body} } }",
        "Rows { rows: [[2, 1]] }.f#()",
    ),
    "closure": (
        "fn f#() -> Array<Array<Int>> {"
        " let f = |v: Array<Array<Int>>| -> Array<Array<Int>> { {body} }; f([[2, 1]]) }",
        "f#()",
    ),
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_change_of_one_does_not_reach_the_other(kind: str) -> None:
    declaration, call = BODIES[kind]
    for leaving in LEAVING:
        declared, calls = ["struct Rows { rows: Array<Array<Int>> }"], []
        for number, holding in enumerate(HOLDING):
            body = leaving
            for variable in ("v", "acc", "own", "rows.rows"):
                body = body.replace(f"{{of {variable}}}", holding.replace("{v}", variable))
            declared.append(declaration.replace("{body}", body).replace("#", str(number)))
            made = call.replace("#", str(number))
            change = f'q[i].push(i); println("{number} ${{q}}");'
            calls.append(f"{{ let mut q = {made}; for i in 0..q.len() {{ {change} }} }}")
        text = "\n".join((*declared, "fn main() {", *calls, "}"))
        found = outcomes({"main.conc": text})
        assert "oracle" in found and agree(found), (leaving, found)
