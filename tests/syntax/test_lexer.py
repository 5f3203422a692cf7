"""Words, numbers, strings and comments."""

from __future__ import annotations

import pytest

from concerto.diagnostics import Problems
from concerto.syntax import ast
from concerto.syntax.parser import decode
from tests.syntax import expression_of, found, module_of, parsed, statements_of


def string(text: str) -> str:
    value = expression_of(text)
    assert isinstance(value, ast.StringLit)
    return value.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"plain"', "plain"),
        ("'single \"quoted\"'", 'single "quoted"'),
        (r'"\\ \" \n \r \t \0 \u{1F600} \$"', '\\ " \n \r \t \0 \U0001f600 $'),
        ('"costs $5"', "costs $5"),
        (r'r"C:\new ${x}"', "C:\\new ${x}"),
        ('r#"say "hi" "#', 'say "hi" '),
        ('""', ""),
        ('""""""', ""),
        ('"""\n    a\n      b\n\n    c\n    """', "a\n  b\n\nc"),
        ('"""one line"""', "one line"),
        ('"""say "hi" now"""', 'say "hi" now'),
        ('"""\n\\n\n"""', "\n"),
    ],
)
def test_strings(text: str, value: str) -> None:
    assert string(text) == value


def test_an_interpolation_holds_any_expression() -> None:
    value = expression_of('"a ${f("b ${c}", {"d": 1})} e ${ if x { "}" } else { "{" } }"')
    assert isinstance(value, ast.Interpolation)
    kinds = [part if isinstance(part, str) else type(part).__name__ for part in value.parts]
    assert kinds == ["a ", "Call", " e ", "If"]


def test_the_indentation_is_cut_around_interpolations() -> None:
    value = expression_of('"""\n    x ${\n  a} y\n      z\n    """')
    assert isinstance(value, ast.Interpolation)
    assert [part for part in value.parts if isinstance(part, str)] == ["x ", " y\n  z"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("1_000", 1000),
        ("0xFF", 255),
        ("0o77", 63),
        ("0b1010", 10),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_ints(text: str, value: int) -> None:
    literal = expression_of(text)
    assert isinstance(literal, ast.IntLit)
    assert literal.value == value


@pytest.mark.parametrize(
    ("text", "value"), [("1.5", 1.5), ("1e-4", 1e-4), ("1_000.5", 1000.5), ("2E3", 2000.0)]
)
def test_floats(text: str, value: float) -> None:
    literal = expression_of(text)
    assert isinstance(literal, ast.FloatLit)
    assert literal.value == value


def test_the_lowest_int() -> None:
    literal = expression_of("-9223372036854775808")
    assert isinstance(literal, ast.IntLit)
    assert literal.value == -(2**63)
    assert found("const A: Int = 9223372036854775808;") == [("E0003", 1, 16)]
    assert found("const A: Int = 0 - 9223372036854775808;") == [("E0003", 1, 20)]


def test_labels_and_strings_share_a_quote() -> None:
    block = statements_of("let l = 'a: loop { break 'a; break 'b'; break 'a 'c'; }; let d = 'e: for';")
    loop, text = (statement.value for statement in block.statements if isinstance(statement, ast.Let))
    assert isinstance(loop, ast.Loop) and loop.label is not None and loop.label.text == "a"
    assert isinstance(text, ast.StringLit) and text.value == "e: for"
    breaks = [statement.expr for statement in loop.body.statements if isinstance(statement, ast.ExprStmt)]
    labels = [
        (each.label and each.label.text, each.value is not None)
        for each in breaks
        if isinstance(each, ast.Break)
    ]
    assert labels == [("a", False), (None, True), ("a", True)]


def test_docs_and_comments() -> None:
    module = module_of("// one\n/// two\n///   three\n@a\nfn f() {} /* four /* nested */ */ ////five\n")
    assert module.items[0].docs == "two\n  three"
    assert [comment.text for comment in module.comments] == ["// one", "/* four /* nested */ */", "////five"]


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("let a = 1; # no", "E0001", 13),
        ("let größe = 1;", "E0001", 8),
        ("f(“a”);", "E0001", 4),
        ('let a = "abc;', "E0002", 10),
        ('f("abc);', "E0002", 4),
        ('f("abc); // why', "E0002", 4),
        ('f(["http://abc]);', "E0002", 5),
        ("let a = 12ab;", "E0003", 10),
        ("let a = 0xZZ;", "E0003", 10),
        ("let a = 99999999999999999999;", "E0003", 10),
        ("let a = 1e999;", "E0003", 10),
        (r'let a = "\q";', "E0004", 11),
        (r'let a = "\u{D800}";', "E0004", 11),
        ("let a = 1; /* no end", "E0005", 13),
        ('let a = "${}";', "E0006", 11),
        ('let a = "x ${b";', "E0006", 13),
        ('f("x ${b", 1);', "E0006", 7),
    ],
)
def test_a_lexical_mistake_is_one_problem_at_its_place(text: str, code: str, column: int) -> None:
    assert found("fn f() {\n " + text + "\n}\nfn g() {}\n") == [(code, 2, column)]


def test_names_of_python_are_names() -> None:
    module_of("fn class(lambda: Int, __import__: Int) { let print = None; let def = print; }")


def test_decoding() -> None:
    problems = Problems()
    source = decode(b"\xef\xbb\xbffn f() {}\r\nfn g() {}\r\n", "a.conc", problems)
    assert source.text == "fn f() {}\nfn g() {}\n"
    assert not problems.errors


@pytest.mark.parametrize(
    ("data", "place"),
    [(b"fn f() {}\n// \xff\n", (2, 4)), (b"// \xed\xa0\x80", (1, 4)), (b"// ?\xff", (1, 5))],
)
def test_bytes_that_are_no_text(data: bytes, place: tuple[int, int]) -> None:
    problems = Problems()
    source = decode(data, "a.conc", problems)
    [problem] = problems
    assert (problem.code, source.line_column(problem.span.start)) == ("E0001", place)


def test_a_nul_is_no_space() -> None:
    assert [problem.code for problem in parsed("fn f() {}\0")[1]] == ["E0001"]


def test_a_stray_doc_is_a_warning() -> None:
    assert found("fn f() {\n    /// nothing follows\n}\n") == [("W0004", 2, 5)]
    assert found("fn f() {}\n/// the end\n") == [("W0004", 2, 1)]
