"""What texts mean: precedence, the braces and angles, the corners of section 26."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from concerto.syntax import ast
from concerto.syntax.dump import dump
from concerto.syntax.walk import walk
from tests.syntax import WHOLE_SYNTAX, expression_of, found, module_of, parsed, statements_of


def same(left: str, right: str) -> None:
    assert dump(expression_of(left)) == dump(expression_of(right))


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a ** b ** c", "a ** (b ** c)"),
        ("-a ** b", "(-a) ** b"),
        ("-a.b", "-(a.b)"),
        ("!a as Bool", "(!a) as Bool"),
        ("a as Int ** b", "(a as Int) ** b"),
        ("a + b..c + d", "(a + b)..(c + d)"),
        ("a..b == c", "(a..b) == c"),
        ("a < b == c < d", "(a < b) == (c < d)"),
        ("a == b && c || d ?? e", "(((a == b) && c) || d) ?? e"),
        ("a ?? b |> c", "(a ?? b) |> c"),
        ("a |> b |> c", "(a |> b) |> c"),
        ("a = b = c", "a = (b = c)"),
        ("a = b |> c", "a = (b |> c)"),
        ("await e?", "(await e)?"),
        ("await e? ?", "((await e)?)?"),
        ("await -a", "await (-a)"),
        ("spawn f()?", "(spawn f())?"),
        ("a ?? return b + c", "a ?? (return (b + c))"),
        ("a + |x| x + 1", "a + (|x| (x + 1))"),
        ("a as Int < b", "(a as Int) < b"),
        ("-1 as Float", "(-1) as Float"),
    ],
)
def test_precedence(text: str, meaning: str) -> None:
    same(text, meaning)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{}", ast.MapLit),
        ("await {}", ast.Await),
        ("a.await + {}", ast.Binary),
        ("{a: 1}", ast.MapLit),
        ('{"a": 1}', ast.MapLit),
        ("{1: 1}", ast.MapLit),
        ("{type: 1}", ast.MapLit),
        ('{"${a}": 1}', ast.MapLit),
        ("{ a }", ast.Block),
        ("{ a; }", ast.Block),
        ("P {}", ast.StructLit),
        ("P { x }", ast.StructLit),
        ("a::P<Int> { x: 1 }", ast.StructLit),
        ("P<Int> { x: 1 }", ast.StructLit),
        ("|| {}", ast.Closure),
        ("(a,)", ast.TupleLit),
        ("(a)", ast.Path),
        ("a < b", ast.Binary),
        ("f<A, B>(x)", ast.Call),
        ("o.f<A>(x)", ast.MethodCall),
        ("Box<Int>::new(3)", ast.Call),
        ("o.f(x)", ast.MethodCall),
        ("(o.f)(x)", ast.Call),
        ("t.0(x)", ast.Call),
        ("t.0.1", ast.FieldAccess),
        ("o.type", ast.FieldAccess),
        ("o.await", ast.Await),
        ("await (a, b)", ast.AwaitAll),
        ("await (a)", ast.Await),
        ("race (a, b)", ast.Race),
        ("race", ast.Path),
        ("x |> f(a).g()", ast.Pipe),
        ("if a { b } else { c }", ast.If),
        ("parallel for x in xs { x }", ast.ParallelFor),
        ("return", ast.Return),
        ('"a"', ast.StringLit),
    ],
)
def test_kinds_of_expressions(text: str, kind: type[ast.Expr]) -> None:
    assert type(expression_of(text)) is kind


def test_comparisons_in_calls_are_type_arguments() -> None:
    call = expression_of("f(a < b, c > (d))")
    assert isinstance(call, ast.Call)
    assert len(call.arguments) == 1
    call = expression_of("f(a < b, c >= d)")
    assert isinstance(call, ast.Call)
    assert len(call.arguments) == 2


def test_a_struct_literal_in_a_head_needs_parentheses() -> None:
    block = statements_of("if x == P { y } if x == (P { y }) { z } match p { a => 1 } for x in P { z }")
    kinds = [type(s.expr) for s in block.statements if isinstance(s, ast.ExprStmt)]
    assert kinds == [ast.If, ast.If, ast.Match]
    assert isinstance(block.result, ast.For)


def test_statements_end_at_a_brace() -> None:
    block = statements_of("if a { b } -c; match d { _ => e } [1]; { f } (g); if h { i }.j() + 1; loop {}")
    kinds = [type(s.expr) for s in block.statements if isinstance(s, ast.ExprStmt)]
    assert kinds == [ast.If, ast.Unary, ast.Match, ast.ArrayLit, ast.Block, ast.Path, ast.Binary]
    assert isinstance(block.result, ast.Loop)


def test_empty_braces_after_an_arrow_are_a_block() -> None:
    match = expression_of("match a { b => {}, c => {} d => {k: 1} }")
    assert isinstance(match, ast.Match)
    assert [type(arm.body) for arm in match.arms] == [ast.Block, ast.Block, ast.MapLit]


def test_closing_angles_are_split() -> None:
    module_of("fn f() { let x: Array<Array<Int>>= []; let y: Map<String, Int>= {}; }")


def test_contextual_words_are_names() -> None:
    module_of("fn f(model: Int, host: Int) { let race = model; let parallel = host; connect(mock, race); }")


def test_reserved_words_after_a_dot_and_before_a_colon() -> None:
    module_of("agent A { memory: x, type: 1 } fn f() { o.match(type: 2).use; std::mod::fn(); P { in: 1 }; }")


def test_a_struct_literal_behind_a_function_type() -> None:
    closure = expression_of("|f: fn(Int) -> Map<Int, Int>| P { x: 1 }")
    assert isinstance(closure, ast.Closure)
    assert isinstance(closure.body, ast.StructLit)
    call = expression_of("f(a as fn() -> Map<Int, Int>, P { x: 1 })")
    assert isinstance(call, ast.Call)
    assert isinstance(call.arguments[1].value, ast.StructLit)
    module_of("fn f() -> Result<Map<Int, Int>, P> { P { a: 1 } }")


def test_words_of_heads_as_keys() -> None:
    block = statements_of("let a = P { in: 1, b: Q { if: 2 } }; f(match: Q { x: 1 });")
    assert isinstance(block.statements[0], ast.Let)
    assert isinstance(block.statements[0].value, ast.StructLit)


def test_use_trees_are_flat() -> None:
    item = module_of("use a::{b, c as d, e::{f, *}, *};").items[0]
    assert isinstance(item, ast.UseDecl)
    leaves = [
        ("::".join(name.text for name in tree.path), tree.alias and tree.alias.text, tree.glob)
        for tree in item.trees
    ]
    assert leaves == [
        ("a::b", None, False),
        ("a::c", "d", False),
        ("a::e::f", None, False),
        ("a::e", None, True),
        ("a", None, True),
    ]


def test_tool_settings_and_state() -> None:
    tool = module_of('tool T { a: Int = 0, description: "d", fn f(self) {} kind: "x" | "y" }').items[0]
    assert isinstance(tool, ast.ToolDecl)
    assert [setting.name.text for setting in tool.settings] == ["description"]
    assert [field.name.text for field in tool.fields] == ["a", "kind"]
    tool = module_of("tool T { description: TEXT }").items[0]
    assert isinstance(tool, ast.ToolDecl)
    assert isinstance(tool.settings[0].value, ast.Path)


def test_docs_and_decorators_belong_to_the_declaration() -> None:
    text = '/// doc\n@a\n@b("x")\npub fn f() {}'
    item = module_of(text).items[0]
    assert isinstance(item, ast.FnDecl)
    assert (item.docs, item.public, item.start, item.end) == ("doc", True, 8, len(text))
    assert [decorator.name.text for decorator in item.decorators] == ["a", "b"]


def test_spans_are_exact() -> None:
    text = WHOLE_SYNTAX
    for node in walk(module_of(text)):
        if isinstance(node, ast.Module):
            continue
        assert 0 <= node.start < node.end <= len(text), type(node)
        assert not text[node.start].isspace() and not text[node.end - 1].isspace(), (
            type(node),
            text[node.start : node.end],
        )
        if isinstance(node, ast.Binary):
            assert text.startswith(node.op, node.op_start)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a < b < c;", "E0101"),
        ("a == b == c;", "E0101"),
        ("let r = a..b..c;", "E0101"),
        ("a + b = c;", "E0101"),
        ("if a = b { }", "E0101"),
        ("let x = ();", "E0101"),
        ("let mut (a, b) = c;", "E0101"),
        ("match a { 5.. => b, _ => c }", "E0101"),
        ("let [..a, ..b] = c;", "E0101"),
        ("parallel for x in xs, max: 3 { x }", "E0101"),
        ("let type = 1;", "E0103"),
        ("let a = memory;", "E0103"),
        ("memory.append(a);", "E0103"),
        ("f(agent);", "E0103"),
        ("type = 3;", "E0103"),
        ("agent A { provider: openai }", "E0104"),
    ],
)
def test_refused_in_a_function(text: str, code: str) -> None:
    assert [problem.code for problem in parsed("fn f() { " + text + " }")[1]] == [code]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("fn f(type: Int) {}", "E0103"),
        ("fn f(mut a: Int) {}", "E0101"),
        ("fn match() {}", "E0103"),
        ("struct use { a: Int }", "E0103"),
        ("fn f<T>(a: T) where T: A {}", "E0101"),
        ("trait A: B {}", "E0101"),
        ("let a = 1;", "E0104"),
        ('println("a");', "E0104"),
        ("if a { b }", "E0104"),
    ],
)
def test_refused_at_the_top(text: str, code: str) -> None:
    assert [problem.code for problem in parsed(text)[1]] == [code]


def test_an_empty_file() -> None:
    assert found("") == []


def snippets() -> list[str]:
    text = (Path(__file__).parent / "documents.md").read_text(encoding="utf-8")
    return re.findall(r"```concerto\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("number", range(len(snippets())))
def test_the_snippets_of_the_language_documents(number: int) -> None:
    module_of(
        re.sub(r"^let .*?;$", r"fn main() { \g<0> }", snippets()[number], flags=re.DOTALL | re.MULTILINE)
    )
