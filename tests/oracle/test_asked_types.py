"""Questions for the type of a value where they stand: what the Python tier then takes for known of a local,
until it changes."""

from __future__ import annotations

import pytest

from tests.properties.running import agree, outcomes

VALUES = (
    "7", "true", '"text"', "1.5", "nil", "[1, 2]", '["a"]', "[]", '{"a": 1}', '{1: "b"}', "{}",
    '{"a": [3], "b": 2}', '(1, "x")', "Point { x: 3 }", "Some(4)",
)  # fmt: skip
USES = {
    "Int": "(v as Int) + 1",
    "Float": "(v as Float) * 2.0",
    "String": "(v as String).len()",
    "Bool": "if v as Bool { 1 } else { 2 }",
    "Array": "parts(v as Array<Any>)",
    "Map": "entries(v as Map<String, Any>)",
    "Tuple": "(v as (Int, String)).0",
}
"""What is done with a value `v` that may be of the type: it fails where it is none."""
PLACES = (
    "if typeof(v) == {t} {{ show({u}); }} else {{ show({u}); }}",
    "if typeof(v) != {t} {{ return; }} show({u});",
    "if typeof(v) != {t} {{ show({u}); }} show({u});",
    "if !(typeof(v) == {t}) {{ v = w; }} show({u});",
    "if typeof(v) == {t} {{ v = w; show({u}); }} show({u});",
    "if typeof(v) == {t} && typeof(w) == {t} {{ show({u}); v = w; }} show({u});",
    "if typeof(v) == {t} || typeof(w) == {t} {{ show({u}); v = w; }} show({u});",
    "if typeof(v) != {t} || typeof(w) != {t} {{ v = w; }} show({u});",
    "let mut n = 0; while typeof(v) == {t} && n < 3 {{ show({u}); n += 1; if n > 1 {{ v = w; }} }} show(n);",
    "for n in 0..3 {{ if typeof(v) == {t} {{ show({u}); if n == 1 {{ v = w; }} }} }} show({u});",
    "for n in 0..3 {{ if typeof(v) != {t} {{ v = w; continue; }} show({u}); }} show({u});",
    "loop {{ if typeof(v) != {t} {{ break; }} show({u}); v = nil; }} show({u});",
    "let change = |x: Any| {{ if typeof(x) == {t} {{ nil }} else {{ w }} }}; v = change(v); show({u});",
    'if typeof(v) == {t} {{ try {{ v = w; throw "e"; }} catch {{ show({u}); }} }} show({u});',
    "let ok = typeof(v) == {t}; v = w; if ok {{ show({u}); }}",
    "let r = if typeof(v) == {t} {{ {u} }} else {{ 0 }}; show(r); v = w; show({u});",
    "match v {{ x if typeof(x) == {t} => {{ let v = x; show({u}); }} _ => show(0) }} show({u});",
    'if typeof(v) == {t} {{ show(one(|| v["a"])); show(one(|| v[1])); for x in v {{ show(x); }} }}',
    "if typeof(v) == {t} {{ let k = v; v = w; show(k == v); let v = k; show({u}); }}",
    'if typeof(v) == {t} && typeof(v) == "Map" {{ show(v); v["new"] = w; show({u}); }}',
    'show(one(|| v["a"])); if typeof(v) == {t} {{ show({u}); show(v["a"]); }}',
)
AROUND = """
struct Point { x: Int }
fn show(value: Any) { println("${value}"); }
fn one(part: fn() -> Any) -> Any { try { part() } catch RuntimeError(e) { e.message } }
fn parts(value: Array<Any>) -> Int { println(value); value.len() }
fn entries(value: Map<String, Any>) -> Int { for (k, x) in value { println("${k.len()} ${x}"); } value.len() }
"""


def program(place: str) -> str:
    texts = [AROUND]
    for kind, use in USES.items():
        body = place.format(t=f'"{kind}"', u=use)
        texts.append(f"fn of_{kind.lower()}(given: Any, w: Any) {{ let mut v = given; {body} }}")
    calls = "".join(
        f"try {{ of_{kind.lower()}(v, w); }} catch RuntimeError(e) {{ show(e.message); }}" for kind in USES
    )
    values = "let mut values: Array<Any> = [];" + "".join(f"values.push({value});" for value in VALUES)
    others = "[values[0], values[2], values[5], values[8], values[9], values[12]]"
    texts.append(f"fn main() {{ {values} for v in values {{ for w in {others} {{ {calls} }} }} }}")
    return "\n".join(texts)


@pytest.mark.parametrize("place", PLACES)
def test_what_is_known_after_a_question_holds_until_the_value_changes(place: str) -> None:
    text = program(place)
    results = outcomes({"main.conc": text})
    assert agree(results), (text, results)
