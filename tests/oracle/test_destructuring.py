"""Patterns of tuples where they stand: what the Python tier takes apart by one assignment."""

from __future__ import annotations

import pytest

from tests.properties.running import agree, outcomes

PATTERNS = {
    "(a, b)": "(Int, Int)",
    "(a, _)": "(Int, Int)",
    "(_, b)": "(Int, Int)",
    "(_, _)": "(Int, Int)",
    "(a,)": "(Int,)",
    "(mut a, b)": "(Int, Int)",
    "(mut k, a)": "(Int, Int)",
    "(a, b, c)": "(Int, Int, Int)",
    "(_, b, _)": "(Int, Int, Int)",
    "((a, c), b)": "((Int, Int), Int)",
    "((a, _), _)": "((Int, Int), Int)",
    "((_, c), b)": "((Int, Int), Int)",
    "((a, c), (d, b))": "((Int, Int), (Int, Int))",
    "(((a,), _), (d, b))": "(((Int,), Int), (Int, Int))",
    "(a, (b, (c, d)))": "(Int, (Int, (Int, Int)))",
    "(all, (b, (_, d)))": "(Int, (Int, (Int, Int)))",
}
PLACES = (
    "let {p} = {v};",
    "let {p} = given({v});",
    "let {p} = if k > 1 {{ {v} }} else {{ given({v}) }};",
    "for {p} in [{v}, given({v})] {{ {s} }} {n}",
    "for {p} in many({v}) {{ {s} if k > 1 {{ break; }} }} {n}",
    "for (i, {p}) in many({v}).iter().enumerate() {{ k += i; {s} }} {n}",
    "for (j, {p}) in {{1: {v}, 2: {v}}} {{ println(j); {s} }} {n}",
    "for {p} in many({v}).iter().filter(|x| x == x) {{ {s} }} {n}",
    "for ({p}, x) in many({v}).iter().zip([k, 2].iter()) {{ k += x; {s} }} {n}",
    "many({v}).map(|{p}| {{ {s} 1 }}); {n}",
    "if let Some({p}) = Some(given({v})) {{ {s} }} {n}",
    "let {p} = {v}; k = 7; let {p} = given({v}); k += 1;",
    "println(say(9) + {{ let {p} = given({v}); {s} 1 }}); {n}",
    "println([say(8), {{ let {p} = {v}; {s} k += 1; k }}, say(k)]); {n}",
    "while k < 5 {{ k += 2; let {p} = given({v}); {s} }} {n}",
)


def value(kind: str) -> str:
    """A tuple of a type; each number in it is said."""
    count = 0
    while "Int" in kind:
        count += 1
        kind = kind.replace("Int", f"say({count} + k)", 1)
    return kind


def named(pattern: str) -> list[str]:
    names = pattern.replace("mut ", "").translate(str.maketrans("(),", "   ")).split()
    return [name for name in names if name != "_"]


def program(pattern: str) -> str:
    kind = PATTERNS[pattern]
    shown = " ".join(f"println({name});" for name in named(pattern))
    none = "" if "k" in named(pattern) else "println(k);"
    functions = []
    for number, place in enumerate(PLACES):
        body = place.format(p=pattern, v=value(kind), s=shown, n="println(k);")
        if "println(k);" not in body:
            body += shown + none
        functions.append(f"fn t{number}(start: Int) {{ let mut k = start; {body} println(k); }}")
    calls = " ".join(f"t{number}(1); t{number}(2);" for number in range(len(PLACES)))
    return f"""
fn say(n: Int) -> Int {{ println(n); n }}
fn given(x: {kind}) -> {kind} {{ println("given"); x }}
fn many(x: {kind}) -> Array<{kind}> {{ [x, given(x)] }}
{chr(10).join(functions)}
fn main() {{ {calls} }}
"""


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_pattern_in_each_place(pattern: str) -> None:
    found = outcomes({"main.conc": program(pattern)})
    same = agree(found)
    assert same and found["python"].status == 0
