"""Odd bytes, odd line ends and odd names."""

from __future__ import annotations

import builtins
import keyword
from pathlib import Path

import pytest

from concerto.compiler.pipeline import read_source
from concerto.diagnostics import Problems
from concerto.syntax import tokens
from concerto.syntax.parser import parse
from tests.robustness.checking import doing, expect_codes, expect_output, printing

RUNNING = {
    "line ends of Windows": (
        "fn main() {\r\n    println(1);\r\n    // two\r\n    println(2);\r\n}\r\n",
        "1\n2\n",
    ),
    "a byte order mark": ("\ufeff" + printing("1"), "1\n"),
    "tabs": ("fn\tmain()\t{\n\tprintln(\t1\t);\n}\n", "1\n"),
    "only a line": ("fn main() { println(1); }", "1\n"),
    "braces and quotes": (
        printing(r'"{}{{}} \"\" \'\' {0} %s \${x} \\{"'),
        "{}{{}} \"\" '' {0} %s ${x} \\{\n",
    ),
    "quotes of Python": (printing('"\'\'\'" + \'"""\' + r"\\"'), "'''\"\"\"\\\n"),
    "text that looks like code": (printing("\"__import__('os').abort()\""), "__import__('os').abort()\n"),
    "every plane of Unicode": (printing('"é😀\u200b\u202e".len()'), "4\n"),
}
REFUSED = {
    "nothing": ("", ["E0110"]),
    "only comments": ("// one\n/* two */\n", ["E0110"]),
    "only white space": (" \n\t\n", ["E0110"]),
    "a NUL": ("fn main() { \0 }\n", ["E0001"]),
    "a name with accents": ("fn main() { let é = 1; }\n", ["E0001"]),
}


@pytest.mark.parametrize("name", RUNNING)
def test_odd_text_runs(name: str, tmp_path: Path) -> None:
    expect_output(*RUNNING[name], tmp_path)


@pytest.mark.parametrize("name", REFUSED)
def test_odd_text_is_refused(name: str, tmp_path: Path) -> None:
    expect_codes(*REFUSED[name], tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff",
        b"\xed\xa0\x80",
        b'fn main() { println("\xc3"); }',
        b"fn main() {}\xff",
        b"fn main() {}\n\xff\xfe\n",
        b"fn main() {\n    println(1);\n}\n\xe2\x82",
        b"fn main() {\n  let \xe4 = 1;\n  println(\xe4 + 1);\n}\n",
        b"fn main() { println(1); \xff }",
        "fn main() {}".encode("utf-16"),
    ],
)
def test_bytes_that_are_no_text_are_told_of_once(data: bytes) -> None:
    problems = Problems()
    parse(read_source(data, "main.conc", problems), problems)
    assert [problem.message for problem in problems] == ["this is not UTF-8 text"]


def test_a_sign_in_place_of_others_is_a_character() -> None:
    problems = Problems()
    parse(read_source("fn main() {}\n\ufffd".encode(), "main.conc", problems), problems)
    assert [problem.message for problem in problems] == ["`\ufffd` has no meaning here"]


def test_names_of_python(tmp_path: Path) -> None:
    """Keywords, built-ins and magic names of Python are names like others, on both tiers."""
    names = sorted({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "__dict__", "__slots__", "machine"})
    # `None` is a case of an Option, and the types of errors are known here too.
    free = [name for name in names if name not in tokens.KEYWORDS and not name[0].isupper()]
    lets = "".join(f"let {name} = {number};\n" for number, name in enumerate(free))
    text = doing(f"{lets}show({'+'.join(free)});") + "fn show(n: Int) { println(n); }\n"
    expect_output(text, f"{sum(range(len(free)))}\n", tmp_path)


@pytest.mark.parametrize(
    "name", ["__class__", "__init__", "class", "None_", "lambda", "def_", "exec", "__eq__"]
)
def test_members_with_names_of_python(name: str, tmp_path: Path) -> None:
    text = (
        f"struct S {{ {name}: Int }}\nimpl S {{ fn {name}_(self) -> Int {{ self.{name} }} }}\n"
        f"fn {name}_f({name}: Int) -> Int {{ {name} }}\n"
    )
    expect_output(text + printing(f"S {{ {name}: 1 }}.{name}_() + {name}_f({name}: 2)"), "3\n", tmp_path)
