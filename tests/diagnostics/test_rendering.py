"""How problems look to people and to tools."""

from __future__ import annotations

import json
import os
import re

import pytest

from concerto.diagnostics import (
    FORMATS,
    DefinedTwice,
    MethodWithoutDescribe,
    MismatchedTypes,
    Problem,
    UnreadableIr,
    UnusedName,
    render,
)
from concerto.source import Source


def at(text: str, part: str, path: str = "src/main.conc") -> Problem:
    start = text.index(part)
    span = Source(path, text).span(start, start + len(part))
    return MismatchedTypes(span, "expected `Int`, found `String`", label="this is text")


def test_the_form_of_the_reference() -> None:
    text = "\n" * 6 + "    pub fn find(self, query: String) -> String {\n"
    start = text.index("find")
    problem = MethodWithoutDescribe(
        Source("src/main.conc", text).span(start, start + 4),
        "tool method `Search::find` has no `@describe`",
        label="a model cannot choose a method it knows nothing about",
        help='add @describe("what it does") above it',
    )
    assert render([problem]) == (
        "error[E0402]: tool method `Search::find` has no `@describe`\n"
        "  ┌─ src/main.conc:7:12\n"
        "7 │     pub fn find(self, query: String) -> String {\n"
        "  │            ^^^^ a model cannot choose a method it knows nothing about\n"
        '  = help: add @describe("what it does") above it\n'
        "\n"
    )


def test_wide_characters_and_tabs_keep_the_caret_in_place() -> None:
    lines = render([at('\tlet 名前 = "日本";\n', '"日本"')]).splitlines()
    assert lines[2] == '1 │     let 名前 = "日本";'
    assert lines[3] == "  │" + " " * 16 + "^^^^^^ this is text"


def test_related_places_are_shown_in_their_files() -> None:
    here, there = Source("a.conc", "fn x() {}\nfn y() {}\n\nfn x() {}\n"), Source("b.conc", "fn x() {}\n")
    problem = DefinedTwice(
        here.span(24, 25),
        "`x` is defined twice",
        related=((here.span(3, 4), "first here"), (there.span(3, 4), "and there")),
    )
    assert render([problem]).splitlines()[1:] == [
        "  ┌─ a.conc:4:4",
        "1 │ fn x() {}",
        "  │    - first here",
        "  ·",
        "4 │ fn x() {}",
        "  │    ^",
        "  ┌─ b.conc:1:4",
        "1 │ fn x() {}",
        "  │    - and there",
        "",
    ]


def test_a_place_of_several_lines_shows_its_first_and_last() -> None:
    lines = render([at("f(\n  1,\n  2\n);\n", "f(\n  1,\n  2\n)")]).splitlines()
    assert lines[2:] == ["1 │ f(", "  │ ^^", "  ·", "4 │ );", "  │ ^ this is text", ""]


def test_the_end_of_the_file_has_a_place() -> None:
    source = Source("a.conc", "fn main() {\n")
    assert "  ┌─ a.conc:2:1\n2 │\n  │ ^\n" in render([MismatchedTypes(source.span(12, 12), "unclosed")])


def test_a_file_without_text_is_named_alone() -> None:
    problem = UnreadableIr(Source("x.conc-ir", "").span(0, 0), "not JSON")
    assert render([problem]) == "error[E0601]: not JSON\n  ┌─ x.conc-ir\n\n"


@pytest.mark.parametrize("hostile", ["\x1b[31m", "\u202e", "\r", "\x00", "\ud800", "\x9b"])
@pytest.mark.parametrize("format_name", FORMATS)
def test_nothing_from_a_program_can_steer_the_terminal(hostile: str, format_name: str) -> None:
    problem = at(f"let a = {hostile} BAD;\n", "BAD")
    problem = MismatchedTypes(problem.span, f"found `{hostile}`", label=hostile, help=hostile)
    text = render([problem], format_name)
    assert hostile not in text
    assert text.isascii() or text.encode("utf-8")


def test_a_very_long_line_is_shown_around_its_place() -> None:
    text = render([at("a" * 5000 + " BAD " + "b" * 5000, "BAD")])
    assert max(map(len, text.splitlines())) < 200
    source, carets = text.splitlines()[2:4]
    assert source.index("BAD") == carets.index("^^^")


@pytest.mark.parametrize(
    "text",
    [
        "let x: Int = [1];\n",
        '\tlet\ts = "a ${b}";\t[1] // \u540d\x07  \n',
        "let s = " + "[0] + " * 40 + "[1]" + " + x" * 40 + ";",
        '/* fn\n*/ let t = """\n  let\n""" + [1];',
    ],
)
def test_colors_change_no_text(text: str) -> None:
    problem = at(text, "[1]")
    colored = render([problem], color=True)
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render([problem])


def test_json_has_the_fields_of_the_reference() -> None:
    problem = at("let x\n  = 名;\n", "名")
    assert json.loads(render([problem], "json")) == {
        "diagnostics": [
            {
                "code": "E0301",
                "severity": "error",
                "message": "expected `Int`, found `String`",
                "file": "src/main.conc",
                "line": 2,
                "column": 5,
                "end_line": 2,
                "end_column": 6,
                "help": "",
                "notes": ["this is text"],
            }
        ]
    }
    assert json.loads(render([], "json")) == {"diagnostics": []}


def test_sarif_is_a_log_with_one_run() -> None:
    source = Source("dir name/a.conc", "let x = 1;\n")
    log = json.loads(render([UnusedName(source.span(4, 5), "unused variable `x`")], "sarif"))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["W0001"]
    (result,) = run["results"]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("W0001", 0, "warning")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "dir%20name/a.conc"
    assert place["region"] == {"startLine": 1, "startColumn": 5, "endLine": 1, "endColumn": 6}


def test_github_escapes_what_its_commands_use() -> None:
    source = Source("a,b.conc", "let x = 1;\n")
    problem = MismatchedTypes(source.span(4, 5), "100% wrong", help="try again")
    assert render([problem], "github") == (
        "::error file=a%2Cb.conc,line=1,endLine=1,col=5,endColumn=5,title=E0301%3A type mismatch"
        "::100%25 wrong%0Ahelp: try again\n"
    )


def test_sarif_of_a_file_whose_name_is_no_text() -> None:
    source = Source(os.fsdecode(b"a\xffb c.conc"), "fn x() {}")
    log = json.loads(render([UnusedName(source.span(3, 4), "unused")], "sarif"))
    (result,) = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%FFb%20c.conc"
