"""Long programs run, and the work of compiling them grows with their length and not with its square."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from tests.robustness.checking import compiled, doing, expect_output, printing

Make = Callable[[int], str]


def numbered(part: str, count: int, separator: str = "") -> str:
    return separator.join(part.replace("#", str(number)) for number in range(count))


def doubled(value: str, count: int, name: str = "x") -> str:
    """`let x1 = (x0, x0); let x2 = (x1, x1); …`"""
    return "".join(f"let {name}{n + 1} = {value.replace('#', str(n))};\n" for n in range(count))


RUNNING: dict[str, tuple[str, str]] = {
    "sum": (printing("+".join(["1"] * 20_000)), "20000\n"),
    "text": (printing("+".join(['"a"'] * 5_000)), "a" * 5_000 + "\n"),
    "methods": (printing("[1]" + ".reverse()" * 2_000), "[1]\n"),
    "pipe": ("fn id(n: Int) -> Int { n }\n" + printing("1" + " |> id" * 2_000), "1\n"),
    "array": (printing("[" + "1, " * 10_000 + "].len()"), "10000\n"),
    "map": (printing("{" + numbered('"k#": #, ', 5_000) + "}.len()"), "5000\n"),
    "statements": (doing("let mut n = 0;\n" + "n += 1;\n" * 3_000 + "println(n);"), "3000\n"),
    "one line": (printing(" " * 200_000 + "1" + " + 1" * 5_000), "5001\n"),
    "string": (printing('"' + "{}\\\"'$%" * 20_000 + '".len()'), "120000\n"),
    "match": (doing("match 19999 {\n" + numbered("# => println(#),\n", 20_000) + "_ => {}\n}"), "19999\n"),
    "functions": (
        numbered("fn f#(a: Int) -> Int { a + # }\n", 5_000) + printing("f0(1) + f4999(1)"),
        "5001\n",
    ),
    "five megabytes": ("// A comment of some length, many times.\n" * 125_000 + printing("1"), "1\n"),
}

GROWING: dict[str, Make] = {
    "sum": lambda n: printing("+".join(["1"] * n)),
    "conjunction": lambda n: printing("&&".join(["true"] * n)),
    "pipe": lambda n: "fn id(n: Int) -> Int { n }\n" + printing("1" + " |> id" * n),
    "array": lambda n: printing("[" + "[1, 2], " * n + "].len()"),
    "bindings": lambda n: doing(numbered("let x# = #;\nprintln(x#);\n", n)),
    "closures": lambda n: doing(numbered("let f# = |x: Int| x + #;\nprintln(f#(1));\n", n)),
    "moves": lambda n: doing("let mut a = [1];\n" + "let mut b = a; b.push(1); a = b;\n" * n + "println(a);"),
    "ifs": lambda n: doing("let n = 5;\n" + "if n > 3 { print(n); }\n" * n),
    "match": lambda n: doing("match 5 {\n" + numbered("# => print(#),\n", n) + "_ => {}\n}"),
    "strings": lambda n: doing('match "a" {\n' + numbered('"k#" => print(#),\n', n) + "_ => {}\n}"),
    "alternatives": lambda n: doing("match 5 {\n" + numbered("#", n, " | ") + " => print(1),\n_ => {}\n}"),
    "functions": lambda n: numbered("fn f#(a: Int) -> Int { a + # }\n", n) + doing(numbered("f#(1);\n", n)),
    "structs": lambda n: numbered("struct S# { a: Int }\nimpl S# { fn m(self) -> Int { self.a } }\n", n),
    "fields": lambda n: f"struct S {{ {numbered('f#: Int', n, ', ')} }}\n",
    "constants": lambda n: "const C: Int = 1;\n" + numbered("const C#: Int = C + #;\n", n),
    "modules": lambda n: numbered("mod m# { pub fn f() -> Int { # } }\n", n) + printing("m0::f()"),
    "modules used whole": lambda n: (
        numbered("mod m# { pub fn f#() -> Int { # } }\nuse m#::*;\n", n) + doing(numbered("f#();\n", n))
    ),
    "schemas of each other": lambda n: (
        f"schema S{n} {{ a?: S0 }}\n"
        + "".join(f"schema S{i} {{ a?: S{i + 1}, b?: S{i // 2} }}\n" for i in range(n))
        + 'connect local { provider: "mock", default_model: "small" }\nagent Ask { provider: local }\n'
        + doing(numbered('let _ = Ask.execute_with_schema<S#>("a");\n', n))
    ),
    "agents": lambda n: (
        'connect local { provider: "mock", default_model: "small" }\n'
        + numbered('agent A# { provider: local, description: "a", handoffs: [B#] }\n', n)
        + numbered('agent B# { provider: local, description: "b" }\n', n)
    ),
    "keys of keys": lambda n: (
        "struct S0 { a: Int }\n"
        + "".join(f"struct S{i + 1} {{ s: S{i} }}\n" for i in range(n))
        + numbered("fn f#(m: Map<S#, Int>) {}\n", n)
    ),
    "parameters of types of their own": lambda n: (
        f"fn f<{numbered('T#', n, ', ')}>({numbered('a#: T#', n, ', ')}) {{}}\n"
        + doing(f"f({numbered('#', n, ', ')});")
    ),
    "operators of one type": lambda n: (
        "struct V {}\n"
        + numbered("struct S# {}\nimpl Add<S#, V> for V { fn add(self, o: S#) -> V { self } }\n", n)
        + doing("let v = V {};" + numbered("v + S# {};\n", n))
    ),
    "impls for values of a type": lambda n: (
        "trait Conv<T> { fn conv(self) -> T; }\nstruct V {}\nfn c<T, X: Conv<T>>(x: X) -> T { x.conv() }\n"
        + numbered("struct S# {}\nimpl Conv<S#> for V { fn conv(self) -> S# { S# {} } }\n", n)
        + doing(numbered("let s#: S# = c(V {});\n", n))
    ),
    "type errors": lambda n: doing('let x: Int = "a";\n' * n),
    "syntax errors": lambda n: doing("let = ;\n" * n),
    "types that double": lambda n: doing(
        "let x0 = [1];\n" + doubled("(x#, x#)", n) + f"println(x{n} == x{n});"
    ),
    "types that a function doubles": lambda n: (
        "fn two<T>(x: T) -> (T, T) { (x, x) }\n" + doing("let x0 = [1];\n" + doubled("two(x#)", n))
    ),
    "types that double and are not known": lambda n: doing(
        "let mut x0 = [];\n" + doubled("(x#, x#)", n // 20) + "x0.push(1);\n" * n
    ),
    "equal types that double": lambda n: doing(
        "let x0 = 1; let y0 = 1;\n" + doubled("(x#, x#)", n) + doubled("(y#, y#)", n, "y") + f"[x{n}, y{n}];"
    ),
    "aliases that double": lambda n: (
        "type A0<T> = Array<T>;\n"
        + "".join(f"type A{i + 1}<T> = (A{i}<T>, A{i}<T>);\n" for i in range(n // 20))
    ),
    "places read": lambda n: doing('let m = {"a": [1]};\n' + numbered('let x# = m["a"]; println(x#);\n', n)),
    "values put back": lambda n: doing(
        'let mut m = {"a": [1]};\n' + numbered('let mut x# = m["a"]; x#.push(1); m["a"] = x#;\n', n)
    ),
    "parts put back": lambda n: doing(
        "let mut a = [Some([1])];\n" + "if let Some(mut x) = a[0] { x.push(1); a[0] = Some(x); }\n" * n
    ),
    "fields assigned": lambda n: (
        "struct S { a: Int, b: Int }\n"
        + doing("let mut s = [S { a: 1, b: 2 }];\n" + numbered("let x# = s[0]; s[0].a = x#.b;\n", n))
    ),
    "closures in closures": lambda n: doing(
        "let a = [1];\nprintln(" + numbered("a.map(|x#| ", n // 8) + "1" + ")" * (n // 8) + ".len());"
    ),
    "arrays in arrays": lambda n: printing("[" * n + "1" + "]" * n + ".len()"),
    "unknown names": lambda n: doing(numbered("let name# = #;\nprintln(nmae#);\n", n)),
    "unknown fields": lambda n: (
        f"struct P {{ {numbered('field#: Int, ', n)} }}\nfn f(p: P) {{ {numbered('print(p.feild#);', n)} }}\n"
    ),
    "maps in maps": lambda n: doing("let a = " + '{"a": ' * (n // 4) + "[1]" + "}" * (n // 4) + ";"),
    "structs in structs": lambda n: (
        "struct S0 { a: Array<Int> }\n"
        + "".join(f"struct S{i + 1} {{ a: S{i} }}\n" for i in range(n // 4))
        + doing(
            "let s = " + "".join(f"S{i} {{ a: " for i in range(n // 4, -1, -1)) + "[1]" + "}" * (n // 4 + 1)
        )
    ),
    "copies of copies": lambda n: doing(
        "let a0 = [0];\n"
        + "".join(f"let mut a{i + 1} = a{i}; a{i + 1}.push({i});\n" for i in range(n))
        + numbered("println(a#);\n", n)
    ),
    "conditions with let": lambda n: (
        "fn f(a: Option<Int>) {\nif "
        + numbered("let Some(x#) = a && x# > #", n // 2, " && ")
        + " { println(1); }\n}\n"
    ),
    "comments": lambda n: "// c\n" * n + printing("1"),
}
FEW, MANY = 200, 800


@pytest.mark.parametrize("name", RUNNING)
def test_long_programs_run(name: str, tmp_path: Path) -> None:
    expect_output(*RUNNING[name], tmp_path)


@pytest.mark.parametrize("name", GROWING)
def test_work_grows_with_the_length(name: str, tmp_path: Path) -> None:
    make = GROWING[name]
    work_of(make(10), tmp_path)
    few, many = (work_of(make(count), tmp_path) for count in (FEW, MANY))
    assert many < 2 * MANY / FEW * few, f"{many / few:.1f} times the work for {MANY / FEW} times the text"


def work_of(text: str, folder: Path) -> int:
    """The number of calls that compiling takes: the same in every run, whatever else the machine does."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        compiled(text, folder)
    finally:
        sys.setprofile(before)
    return calls
