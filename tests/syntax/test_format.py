"""The formatter and the printer of trees."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from concerto.resources import resource
from concerto.syntax.dump import dump
from concerto.syntax.format import format_module
from concerto.syntax.unparse import unparse
from tests.syntax import WHOLE_SYNTAX, expression_of, module_of, parsed


def formatted(text: str) -> str:
    return format_module(module_of(text))


def check(text: str) -> None:
    """Formatting keeps tree and comments, and does all it does at once; so does printing."""
    module = module_of(text)
    result = format_module(module)
    again = module_of(result)
    assert dump(again) == dump(module)
    assert format_module(again) == result
    remarks = [Counter(comment.text for comment in each.comments) for each in (module, again)]
    assert remarks[0] == remarks[1]
    assert all(len(line) == len(line.rstrip()) or '"' in text for line in result.splitlines())
    assert dump(module_of(unparse(module))) == dump(module)


def test_the_whole_syntax() -> None:
    check(WHOLE_SYNTAX)
    assert formatted(WHOLE_SYNTAX) == WHOLE_SYNTAX


@pytest.mark.parametrize("path", sorted(resource("stdlib").glob("*.conc")), ids=lambda path: path.stem)
def test_the_standard_library(path: Path) -> None:
    check(path.read_text(encoding="utf-8"))


# What goes in, and what comes out.
SHAPES = [
    (
        "fn f(){a( 1,b )}",
        "fn f() { a(1, b) }\n",
    ),
    (
        "fn f() {\n\n\n  a;\n\n\n\n  b;\n\n}",
        "fn f() {\n    a;\n\n    b;\n}\n",
    ),
    (
        "use a::{b,c as d,e::{f,*}};",
        "use a::{b, c as d, e::{f, *}};\n",
    ),
    (
        "trait T { fn f(self) -> Int }",
        "trait T {\n    fn f(self) -> Int;\n}\n",
    ),
    (
        "trait T {\n    fn f(self);\n    /// Docs.\n    fn g(self, n: Int) // after\n}",
        "trait T {\n    fn f(self);\n    /// Docs.\n    fn g(self, n: Int); // after\n}\n",
    ),
    (
        "@a @b fn f() {}",
        "@a @b fn f() {}\n",
    ),
    (
        "@a\n@b\nfn f() {}",
        "@a\n@b\nfn f() {}\n",
    ),
    (
        "struct P{a:Int,b:Int}",
        "struct P { a: Int, b: Int }\n",
    ),
    (
        "struct P{a:Int,\nb:Int}",
        "struct P {\n    a: Int,\n    b: Int,\n}\n",
    ),
    (
        "// one\n\n\n// two\nfn f() {} // three\n// four\n",
        "// one\n\n// two\nfn f() {} // three\n// four\n",
    ),
    (
        "fn f() { // a\n b; // c\n // d\n}",
        "fn f() { // a\n    b; // c\n    // d\n}\n",
    ),
    (
        "fn f() { g(a, // x\n b) }",
        "fn f() {\n    g(\n        a, // x\n        b,\n    )\n}\n",
    ),
    (
        "fn f() { a + /* why */ b }",
        "fn f() {\n    /* why */\n    a + b\n}\n",
    ),
    (
        "fn f() { let x = a // one\n // two\n + b + // three\n c; }",
        "fn f() {\n    let x = a // one\n        // two\n        + b\n        // three\n        + c;\n}\n",
    ),
    (
        "fn f() { a // one\n .b() // two\n // three\n .c.d }",
        "fn f() {\n    a // one\n        .b() // two\n        // three\n        .c.d\n}\n",
    ),
    (
        "fn f() { if a { b } // one\n else if c { d }\n// two\n else { e } }",
        "fn f() {\n    if a {\n        b\n    } // one\n    else if c {\n        d\n    }\n"
        "    // two\n    else {\n        e\n    }\n}\n",
    ),
    (
        "fn f() { try { a } // one\n catch { b } }",
        "fn f() {\n    try {\n        a\n    } // one\n    catch {\n        b\n    }\n}\n",
    ),
    (
        "fn f() { match a { A // one\n | B => c, } }",
        "fn f() {\n    match a {\n        A // one\n            | B => c,\n    }\n}\n",
    ),
    (
        "use a::{b, // one\n c::{d, e}, // two\n f,\n // three\n };",
        "use a::{\n    b, // one\n    c::{d, e}, // two\n    f,\n    // three\n};\n",
    ),
    (
        "fn f() { P { x: 1, // one\n ..p } }",
        "fn f() {\n    P {\n        x: 1, // one\n        ..p\n    }\n}\n",
    ),
    (
        "/// doc\nfn f() {}",
        "/// doc\nfn f() {}\n",
    ),
    (
        "/// stray\n\nconst A: Int = 0xFF;",
        "/// stray\nconst A: Int = 0xFF;\n",
    ),
    (
        "const S: String = 'x';",
        "const S: String = 'x';\n",
    ),
    (
        "fn f() { ((a)) + ((b * c)) }",
        "fn f() { a + (b * c) }\n",
    ),
    (
        "fn f() { (-1) ** 2 + (1 .. 2) .len() + (a as Int) + (b); }",
        "fn f() { (-1) ** 2 + (1..2).len() + (a as Int) + b; }\n",
    ),
    (
        "fn f() { if (a) { b } }",
        "fn f() { if a { b } }\n",
    ),
    (
        "fn f() { if (P { a }) == b { c } }",
        "fn f() { if (P { a }) == b { c } }\n",
    ),
    (
        "fn f() { (if a { b } else { c }) + d; }",
        "fn f() { (if a { b } else { c }) + d; }\n",
    ),
    (
        "fn f() { let x = ({}); ({}) }",
        "fn f() {\n    let x = {};\n    ({})\n}\n",
    ),
    (
        "fn f() { await (a?); await a?; a?.await; a? ?; }",
        "fn f() {\n    await (a?);\n    await a?;\n    a?.await;\n    a? ?;\n}\n",
    ),
    (
        "fn f() { g((a < b), c > (d)) }",
        "fn f() { g((a < b), c > d) }\n",
    ),
    (
        "fn f() { (1).0; (o.f)(x); (a ?? return 1) + b; }",
        "fn f() {\n    (1).0;\n    (o.f)(x);\n    (a ?? return 1) + b;\n}\n",
    ),
    (
        "fn f() { match a { b => c, d => { e } } }",
        "fn f() {\n    match a {\n        b => c,\n        d => { e }\n    }\n}\n",
    ),
    (
        "fn f() { a\n.b()\n.c() }",
        "fn f() {\n    a\n        .b()\n        .c()\n}\n",
    ),
    (
        'fn f() { g("""\n    a\n    """) }',
        'fn f() {\n    g("""\n    a\n    """)\n}\n',
    ),
]


@pytest.mark.parametrize(("text", "result"), SHAPES)
def test_shapes(text: str, result: str) -> None:
    module, _ = parsed(text)
    assert format_module(module) == result
    check(result)


def test_what_is_too_long_is_broken() -> None:
    names = ", ".join(f"argument_{number}" for number in range(12))
    lines = formatted(f"fn f() {{ call({names}); }}").splitlines()
    assert lines[1] == "    call("
    assert lines[2] == "        argument_0,"
    assert lines[-3] == "        argument_11,"
    assert (
        formatted("fn f() { let x = " + " + ".join(["operand"] * 20) + "; }").count("\n        + operand")
        == 19
    )
    chain = formatted("fn f() { it" + ".with_something(argument)" * 6 + "; }")
    assert chain.count("\n        .with_something(argument)") == 6


def test_what_comes_last_is_broken_first() -> None:
    value = '"' + "x" * 75 + '"'
    assert formatted(f"fn f() {{ match a {{ Some(b) if b > limit => call({value}) }} }}").splitlines()[
        2:5
    ] == [
        "        Some(b) if b > limit => call(",
        f"            {value},",
        "        ),",
    ]
    assert formatted(f"fn f() {{ while a + b {{ call({value}) }} }}").splitlines()[1] == "    while a + b {"


def test_a_block_opens_beside_its_call() -> None:
    text = "fn f() { print(match a { b => c, _ => d }); }"
    assert formatted(text) == (
        "fn f() {\n    print(match a {\n        b => c,\n        _ => d,\n    });\n}\n"
    )


def test_a_closure_opens_beside_its_call() -> None:
    text = "fn f() { items.each(|item| { print(item); print(item); }); }"
    assert formatted(text) == (
        "fn f() {\n    items.each(|item| {\n        print(item);\n        print(item);\n    });\n}\n"
    )


@pytest.mark.parametrize("link", [" + a", ".b(c)", " |> b", "?.c", "[0]", " && b < c"])
def test_chains_of_any_length_are_printed(link: str) -> None:
    text = "a" + link * 20_000
    printed = unparse(expression_of(text))
    assert re.sub(r"[\s()]", "", printed) == re.sub(r"[\s()]", "", text)


def test_deep_nesting_is_printed() -> None:
    depth = 700
    check("fn f() { " + "if a { " * depth + "}" * depth + " }")
    check("fn f() { a(" + "(1 + " * depth + "2" + ")" * depth + ") }")


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "1", "1.5", '"s"', "nil", "true", "P { x: 1 }", "{}", "[]", "x.y", "f()", "'q'"]),
    lambda inner: st.one_of(
        st.tuples(
            inner, st.sampled_from(["+", "-", "*", "**", "==", "<", "&&", "??", "|>", "..", "="]), inner
        ).map(lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})"),
        st.tuples(st.sampled_from(["-", "!", "await ", "spawn ", "return ", "|x| ", "throw "]), inner).map(
            lambda parts: f"{parts[0]}({parts[1]})"
        ),
        st.tuples(inner, st.sampled_from([".m()", "?", "[0]", ".await", ".0", "(x)", " as Int", ".f"])).map(
            lambda parts: f"({parts[0]}){parts[1]}"
        ),
        inner.map(lambda text: f"if ({text}) {{ {text} }} else {{ a }}"),
        inner.map(lambda text: f"match ({text}) {{ b if ({text}) => ({text}), _ => {{ {text}; }} }}"),
        inner.map(lambda text: f"{{ {text} }}"),
        inner.map(lambda text: f'"a ${{{text}}} b"'),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: f"g({', '.join(items)})"),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS)
def test_random_expressions(text: str) -> None:
    program = f"fn f() {{ let it = {text}; {text}; g(|x| {text}) }}"
    module, problems = parsed(program)
    if problems:
        return
    result = format_module(module)
    assert dump(module_of(result)) == dump(module)
    # A block that had to be broken is one that the author has broken when it is seen again.
    settled = format_module(module_of(format_module(module_of(result))))
    assert format_module(module_of(settled)) == settled
    assert len(text) > 60 or settled == result
    assert dump(module_of(unparse(module))) == dump(module)
