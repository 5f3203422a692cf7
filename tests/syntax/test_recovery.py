"""After a mistake the parser goes on: one mistake gives one message, at its place, that helps."""

from __future__ import annotations

import pytest

from concerto.syntax import ast
from tests.syntax import found, parsed

TEN_MISTAKES = """use std::json
struct P {
    a Int,
    b: Int
}
fn one(x: Int, y) -> Int {
    let a = x
    return a;
}
fn two() {
    if a = 5 { }
    foo(1 2);
    let b = (1 + 2;
    match b { 1 -> 2, _ => 3 }
}
agent A {
    provider = openai,
    model: "gpt-4o",
}
fn three() {
    let type = 3;
    for (x in xs) { }
}
fn good() { fine(); }
"""


def test_ten_mistakes_are_ten_errors() -> None:
    assert found(TEN_MISTAKES) == [
        ("E0101", 1, 14),
        ("E0101", 3, 7),
        ("E0101", 6, 16),
        ("E0101", 7, 14),
        ("E0101", 11, 10),
        ("E0101", 12, 10),
        ("E0102", 13, 13),
        ("E0101", 14, 17),
        ("E0101", 17, 14),
        ("E0103", 21, 9),
        ("E0101", 22, 9),
    ]


def test_everything_around_the_mistakes_stays() -> None:
    module, _ = parsed(TEN_MISTAKES)
    assert [type(item) for item in module.items] == [
        ast.UseDecl,
        ast.StructDecl,
        ast.FnDecl,
        ast.FnDecl,
        ast.AgentDecl,
        ast.FnDecl,
        ast.FnDecl,
    ]


# In a function: the text, what the only message says, a part of the help.
SLIPS = [
    ("let x = 5", "expected `;`", ""),
    ("foo(a b);", "expected `,` before `b`", ""),
    ("x++;", "there is no `++`", "x += 1"),
    ("let z = a === b;", "there is no `===`", "write `==`"),
    ("let w := 5;", "there is no `:=`", "let name = value"),
    ("let w = a ?: b;", "there is no `?:`", "??"),
    ("var q = 5;", "there is no `var`", "let mut"),
    ("String s = f();", "a variable is declared with `let`", "let s: String"),
    ("if a { } elif b { } else { }", "there is no `elif`", "else if"),
    ("let t = a and b;", "there is no `and`", "&&"),
    ("let t = a or b;", "there is no `or`", "||"),
    ("if not a { }", "there is no `not`", "!"),
    ("let n = new Foo();", "there is no `new`", "Name::new"),
    ("function g() { }", "there is no `function`", "fn"),
    ("raise e;", "there is no `raise`", "throw"),
    ("let f = (x) => x + 1;", "there are no arrow functions", "|x| x + 1"),
    ("let r = c ? 1 : 2;", "there is no `condition ? a : b`", "if condition"),
    ("for (x in xs) { }", "the head of a loop stands without parentheses", "for x in xs"),
    ("for (let i = 0; i < 3; i += 1) { }", "there is no `for` with three parts", "0..n"),
    ("for x of xs { }", "there is no `of`", "for item in items"),
    ("retrun 5;", "unexpected `retrun`", "return"),
    ("let x = ();", "there is no empty tuple", "nil"),
    ('print "a";', "a call needs parentheses", ""),
    ('let t = f"a ${b}";', "no letter stands before a string", "${value}"),
    ("for k, v in m { }", "several names in a `for` stand in parentheses", "for (key, value) in map"),
    ("let x: = 3;", "expected a type, found `=`", ""),
    ("let = 3;", "expected a pattern, found `=`", ""),
    ("x.;", "expected a name, found `;`", ""),
    ("let y = 1 + ;", "expected an expression, found `;`", ""),
    ("let x = 1;;", "unexpected `;`", ""),
    ("f(|x| { let y = ; y });", "expected an expression, found `;`", ""),
    ("try { a(); }", "expected `catch`", ""),
    ("match a { b -> c, _ => d }", "expected `=>`", "pattern => result"),
    ("struct X { a: Int; b: Int }", "expected `,`", "separated by `,`"),
    ("use a.b;", "expected `;`", "a::b"),
    ("let a = Foo { x: 1 y: 2 };", "expected `,` before `y`", ""),
    ("let a = [1, 2;", "`[` is never closed", "]"),
    ("if (a > 3 { b(); }", "`(` is never closed", ")"),
]


@pytest.mark.parametrize(("text", "message", "help_part"), SLIPS)
def test_a_slip_is_one_message(text: str, message: str, help_part: str) -> None:
    module, problems = parsed(f"fn f() {{\n    {text}\n}}\nfn after() {{ fine(); }}\n")
    messages = [problem.message for problem in problems]
    assert len(messages) <= 1 or "else" in text, messages
    assert messages[0].startswith(message), messages
    assert help_part in problems[0].help
    assert isinstance(module.items[-1], ast.FnDecl) and module.items[-1].name.text == "after"


@pytest.mark.parametrize(
    ("text", "message", "help_part"),
    [
        ("def f() { }", "there is no `def`", "fn"),
        ("fucntion f() { }", "unexpected `fucntion`", "`fn`"),
        ("class A { a: Int }", "there is no `class`", "struct"),
        ("import a;", "there is no `import`", "use"),
        ("fn f(): Int { 1 }", "expected `{`, `;` or `->`, found `:`", "`->`"),
        ("fn f(a) { }", "`a` needs a type", "a: Int"),
        ("fn f(a Int) { }", "expected `:`", ""),
        ("trait A: B { }", "a trait cannot extend another", "A + B"),
        ("fn f<T>(a: T) where T: B { }", "there is no `where`", ""),
        ("enum E { A = 1, B }", "a variant has no value of its own", "match"),
        ("agent A { provider openai }", "expected `:`", ""),
    ],
)
def test_a_slip_at_the_top_is_one_message(text: str, message: str, help_part: str) -> None:
    module, problems = parsed(f"{text}\nfn after() {{ }}\n")
    assert [problem.message for problem in problems][:1] == [problems[0].message]
    assert len(problems) == 1, [problem.message for problem in problems]
    assert problems[0].message.startswith(message)
    assert help_part in problems[0].help
    assert isinstance(module.items[-1], ast.FnDecl) and module.items[-1].name.text == "after"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("fn f() {\n    if a {\n        b();\n}\n\nfn g() {}\n", (2, 10)),
        ("fn f() {\n    a();\n\nfn g() {}\n", (1, 8)),
        ("fn f() {\n    a(b(1, 2);\n}\n", (2, 6)),
        ("fn f(a: Int {\n    a\n}\n\nfn g() {}\n", (1, 5)),
        ("struct A {\n    a: Int,\n\nfn g() {}\n", (1, 10)),
        ("impl A {\n    fn f() {\n        b();\n\n    fn g() {}\n}\n", (2, 12)),
        ("fn f() {\n    let a = [1, 2;\n    b();\n}\n", (2, 13)),
        ("fn f() { a(", (1, 11)),
        ('fn f() {\n    let a = {"b": 1;\n    c();\n}\nfn g() {}\n', (2, 13)),
        ('fn f() {\n    match a {\n        b => {"c": 1,\n        d => e,\n    }\n}\n', (3, 14)),
    ],
)
def test_the_bracket_that_is_not_closed_is_shown(text: str, place: tuple[int, int]) -> None:
    assert found(text) == [("E0102", *place)]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("fn f() {\n    if a\n        b();\n    }\n    c();\n}\nfn g() {}\n", (2, 9)),
        ("fn f() {\n    match a\n        b => c,\n        d => e,\n    }\n}\n", (2, 12)),
        ("fn f()\n    a();\n}\nfn g() {}\n", (1, 7)),
        ("fn f() {\n    if a {\n        b();\n    } else\n        c();\n    }\n}\n", (4, 11)),
        ('fn f() {\n    let a = "b": 1 };\n    c();\n}\nfn g() {}\n', (2, 16)),
    ],
)
def test_the_bracket_that_is_not_opened_is_one_mistake(text: str, place: tuple[int, int]) -> None:
    assert found(text) == [("E0101", *place)]


def test_a_bracket_too_many() -> None:
    assert found("fn f() {\n    a());\n}\nfn g() {}\n") == [("E0101", 2, 8)]


def test_statements_outside_of_functions_are_each_reported() -> None:
    assert found("let a = 1;\nlet b = 2;\nfn f() {}\nprintln(a);\n") == [
        ("E0104", 1, 1),
        ("E0104", 2, 1),
        ("E0104", 4, 1),
    ]


def test_an_error_inside_an_interpolation() -> None:
    assert found('fn f() {\n    g("a ${b +} c");\n    h();\n}\n') == [("E0101", 2, 15)]
