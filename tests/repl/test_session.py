"""`concerto repl`, through a pseudo-terminal and through a pipe."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from concerto.cli.repl.loop import completions
from concerto.cli.repl.session import Session
from tests.cli.terminal import Terminal, terminal

COMMAND = [sys.executable, "-m", "concerto.cli", "repl"]


def piped(*lines: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    text = "\n".join(lines) + "\n"
    return subprocess.run(
        COMMAND, input=text, cwd=folder, capture_output=True, text=True, timeout=240, check=False
    )


def test_values_statements_and_declarations() -> None:
    done = piped(
        "1 + 2",
        '"a"',
        "let mut v = [1]",
        "v.push(2)",
        "fn double(n: Int) -> Int {",
        "    n * 2",
        "}",
        "double(v[1])",
        "struct P { x: Int }",
        "let p = P { x: 1 }",
        "p",
        "for i in 0..2 { println(i) }",
        "v",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["3", '"a"', "4", "P { x: 1 }", "0", "1", "[1, 2]"]


def test_an_error_keeps_the_session() -> None:
    done = piped("let a = 1", "b", "[1][a]", 'panic("oh")', "let c: Int = true", ":nope", "a")
    assert done.stdout.splitlines()[-1] == "1"
    for part in ("unknown name `b`", "index 1 is out of bounds", "panic: oh", "E0301", "no command `:nope`"):
        assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_what_was_done_is_not_done_again() -> None:
    done = piped('println("once")', "use std::time;", "let t = time::now_ms()", "time::sleep(20)", "t", "t")
    first, second = done.stdout.splitlines()[1:]
    assert done.stdout.count("once") == 1
    assert first == second


def test_a_manifest_that_breaks_meanwhile_keeps_the_session(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text('[permissions]\nfiles = [".", "Concerto.toml"]\n')
    spoil = 'fs::write_file("Concerto.toml", "[projekt]")'
    done = piped("use std::fs;", spoil, "1 + 1", folder=tmp_path)
    assert done.returncode == 0
    assert "error[E0505]: unknown key `projekt`" in done.stderr


def test_types_bytecode_and_help() -> None:
    done = piped("let v = [1]", ":type v", ":ir 1 + 1", ":help")
    assert done.stdout.startswith("Array<Int>\n")
    assert "ADD_INT" in done.stdout and ":quit" in done.stdout


def test_places_are_those_of_the_inputs() -> None:
    done = piped(
        "let a = 1", "fn f(n: Int) -> Int {", "    n / 0", "}", "a + f(", "    2", ")", "let b = [", "c", "]"
    )
    assert done.stdout == ""
    assert "error: division by zero\n  ┌─ <input 2>:2:5 in `f`\n2 │     n / 0\n" in done.stderr
    assert "`the input` at <input 3>:1:5" in done.stderr
    assert "error[E0201]: unknown name `c`\n  ┌─ <input 4>:2:1\n2 │ c\n" in done.stderr


def test_what_is_declared_again_takes_the_place_of_the_first() -> None:
    done = piped(
        "fn f() -> Int { 1 }",
        "f()",
        "fn f() -> Int { 2 }",
        "f()",
        "struct P { x: Int }",
        "struct P { x: Int, y: Int }",
        "P { x: 1, y: 2 }",
        "use std::time",
        "use std::time;",
        "fn main() { println(3) }",
        "main()",
    )
    assert done.stdout.splitlines() == ["1", "2", "P { x: 1, y: 2 }", "3"]
    assert done.stderr == ""


def test_inputs_run_once_and_values_are_kept() -> None:
    done = piped(
        'fn f() -> Int { println("heavy"); 1 }',
        "let n = f()",
        "fn f(text: String) -> String { text + text }",
        "n",
        'f("a")',
        'fn f() -> Int { panic("unused") }',
        "n + 1",
    )
    assert (done.stdout.splitlines(), done.stderr) == (["heavy", "1", '"aa"', "2"], "")


def test_states_last_until_they_are_declared_anew() -> None:
    method = '@describe("d") pub fn up(mut self) -> Int { self.n += 1; self.n }'
    tool = 'tool T { description: "d", n: Int = 0, ' + method + " }"
    done = piped(
        tool,
        "T.up()",
        "let up = || T.up()",
        "T.up()",
        "up()",
        tool,
        "T.up()",
        tool.replace("= 0", "= 10"),
        "T.up()",
        "hashmap h: HashMap<String, Int>",
        'h.set("a", 1)',
        'h.set("b", 2)',
        "h.len()",
    )
    assert (done.stdout.splitlines(), done.stderr) == (["1", "2", "3", "4", "11", "2"], "")


def test_an_input_that_fails_changes_no_variable() -> None:
    done = piped(
        "let mut v = [1]", 'v.push(2); v = [0]; panic("oh")', "v", "let mut w = v; w.push(3); w", "w", "v"
    )
    assert done.stdout.splitlines() == ["[1]", "[1, 3]", "[1, 3]", "[1]"]
    assert "panic: oh" in done.stderr


def test_values_of_all_kinds_are_kept() -> None:
    kept = {
        "(1, [Some('a')])": '(1, [Some("a")])',
        "0..3": "0..3",
        "|a: Int, b: Array<P>| b[a].x": None,
        "P { x: 1 }": "P { x: 1 }",
        "E::B(P { x: 2 })": "E::B(P { x: 2 })",
        "G { item: P { x: 3 } }": "G { item: P { x: 3 } }",
        '{"a": P { x: 4 }}': '{"a": P { x: 4 }}',
        "std::collections::Set::new()": None,
        "f": None,
        "None": "None",
        "[]": "[]",
        "nil": None,
        '"1".parse_int()': "Ok(1)",
        '"x".parse_int()': None,
        "first": None,
    }
    lines = ["struct P { x: Int }", "enum E { A, B(P) }", "struct G<T> { item: T }", "fn f(p: P) -> P { p }"]
    lines += [
        'type Word = "a" | "b"',
        'fn g() -> Word { "a" }',
        "fn first<T>(items: Array<T>) -> Option<T> { None }",
    ]
    for number, text in enumerate(kept):
        if text != "first":
            lines.append(f"let v{number} = {text}")
    lines += [
        "let word = g()",
        "word",
        "let (a, (b, rest)) = (1, (2, [3]))",
        "let P { x } = P { x: 9 }",
        "(a, b, rest, x)",
    ]
    lines += [f"v{number}" for number, shown in enumerate(kept.values()) if shown is not None]
    lines += ["v2(0, [v3])", "v8(v3).x", "f(v3).x", "match v4 { E::B(p) => p.x, _ => 0 }"]
    done = piped(*lines)
    assert done.stderr == ""
    shown = [each for each in kept.values() if each is not None]
    assert done.stdout.splitlines() == ['"a"', "(1, 2, [3], 9)", *shown, "1", "1", "1", "2"]


def test_a_type_that_is_declared_anew_takes_its_variables_along() -> None:
    done = piped(
        "struct P { x: Int }",
        "struct Q { p: P }",
        "let p = P { x: 1 }",
        "let q = [Q { p: p }]",
        "let any: Any = p",
        "let sum = |n: Int| n + p.x",
        "struct P { x: Int }",
        "p",
        "struct P { name: String, x: Int }",
        "sum(1)",
        "let bad: P = any",
        "any.x",
        "let p = P { name: 'n', x: 2 }",
        "p.x",
        "q",
    )
    assert done.stdout.splitlines() == ["P { x: 1 }", "2", "1", "2"]
    for part in ("note: `p` is gone", "note: `q` is gone", "found `P (as it was)`", "unknown name `q`"):
        assert part in done.stderr


def test_an_enum_with_other_variants_is_another_type() -> None:
    done = piped(
        "enum E { A, B(Int) }",
        "let e = E::B(1)",
        "let any: Any = e",
        "let list: Array<Any> = [E::A]",
        "enum E { A, B(Int) }",
        "e",
        "match any { E::B(n) => n, _ => 0 }",
        "enum E { A, C(Int) }",
        "let bad: E = any",
        "let worse: E = list[0]",
        "any",
        "list",
        "E::C(2)",
        "enum E { A, C { at: Int } }",
        "any",
        "E::C { at: 3 }",
    )
    assert done.stdout.splitlines() == [
        "E::B(1)",
        "1",
        "E (as it was)::B(1)",
        "[E (as it was)::A]",
        "E::C(2)",
        "E (as it was)::B(1)",
        "E::C { at: 3 }",
    ]
    assert "note: `e` is gone" in done.stderr
    assert done.stderr.count("expected `E`, found `E (as it was)`") == 2


def test_a_function_that_would_not_fit_is_refused() -> None:
    done = piped(
        "fn f() -> Int { 1 }",
        "fn g() -> Int { f() }",
        "fn f(n: Int) -> Int { n }",
        "g()",
        "fn f(n: Int) -> Int { n } fn g() -> Int { f(5) }",
        "g()",
        "impl Int2 for P {}",
        "struct S { x: Int }",
        "impl S { fn up(self) -> Int { self.x + 1 } }",
        "impl S { fn up(self) -> Int { self.x + 2 } }",
        "S { x: 1 }.up()",
    )
    assert done.stdout.splitlines() == ["1", "5", "3"]
    assert "<input 2>:1:17" in done.stderr


def test_tasks_are_awaited_by_later_inputs() -> None:
    done = piped(
        "use std::time",
        "fn f(n: Int) -> Int { time::sleep(20); println(n); n * 2 }",
        "let t = spawn f(1)",
        "t.is_done()",
        "await t + await t",
        "await (spawn f(2), spawn f(3))",
        "let bad = spawn (|n: Int| { time::sleep(1); [n][n] })(1)",
        "try { await bad; 0 } catch { 7 }",
    )
    assert done.stdout.splitlines()[:3] == ["1", "true", "4"]
    assert done.stdout.splitlines()[-2:] == ["(4, 6)", "7"], done.stderr


def test_variables_change_over_inputs() -> None:
    done = piped(
        "let mut n = 1", "n += 1; n", "for i in 0..3 { n += i; }", "n", "let add = |x: Int| x + n", "add(1)"
    )
    assert (done.stdout.splitlines(), done.stderr) == (["2", "5", "6"], "")


def test_values_of_types_that_hold_themselves_are_changed_later() -> None:
    done = piped(
        "struct Bush { tags: Array<Int>, kids: Array<Bush> }",
        "fn bushes(bush: Bush) -> Array<Bush> { [bush, bush] }",
        "let mut all = bushes(Bush { tags: [1], kids: [] })",
        "all[0].tags.push(2)",
        "all.map(|bush| bush.tags)",
    )
    assert (done.stdout.splitlines()[-1], done.stderr) == ("[[1, 2], [1]]", "")


def test_a_receiver_is_as_before_the_failure_of_an_input() -> None:
    done = piped(
        "struct Held { items: Option<Array<Int>> }",
        "impl Held { fn add(mut self, n: Int) {"
        " if let Some(mut items) = self.items {"
        " items.push(n); items[0] = 10 / n; self.items = Some(items); } } }",
        "let mut h = Held { items: Some([1]) }",
        "h.add(0)",
        "h.items",
    )
    assert done.stdout.splitlines()[-1] == "Some([1])"


def test_inputs_of_several_lines() -> None:
    done = piped(
        "struct P {",
        "    x: Int,",
        "}",
        "impl P {",
        "    fn twice(self) -> Int { self.x * 2 }",
        "}",
        "P { x: 4 }.twice()",
        '"""a',
        'b"""',
        "/* begun",
        "ended */ 1",
        "[1,",
        "",
        "2",
    )
    assert done.stdout.splitlines() == ["8", '"a\\nb"', "1", "2"]
    assert "E0102" in done.stderr


def test_agents_and_modules(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text(
        '[project]\nentry = "src/main.conc"\n[connections.house]\nprovider = "mock"\n'
    )
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "words.conc").write_text('pub fn word() -> String { "one" }\n')
    done = piped(
        'agent A { provider: house, model: "m" }',
        'A.execute("hi")?.text',
        "A.execute_with_schema<S>(1)",
        "use words::word",
        "word()",
        "return Ok(1)",
        'throw "no"',
        "1",
        folder=tmp_path,
    )
    assert done.stdout.splitlines() == ['"[mock response to: hi]"', '"one"', "1"]
    assert "error[E0307]: `return` would end the session\n" in done.stderr
    assert done.stderr.endswith("error: no\n")
    (tmp_path / "Concerto.toml").write_text("[projekt]\n")
    broken = piped("1", folder=tmp_path)
    assert (broken.returncode, broken.stdout) == (2, "") and "E0505" in broken.stderr


COMPLETIONS = [
    ("prin", ["print", "println"]),
    ("let b = poi", ["point"]),
    ("point.", ["name", "norm", "x"]),
    ("[point][0].na", ["name"]),
    ("point.name.spl", ["split", "split_once", "split_whitespace"]),
    ('f("a").le', ["len"]),
    ("Clock.", ["hour"]),
    ("std::js", ["json"]),
    ("std::json::parse", ["parse", "parse_as"]),
    ("math::sq", ["sqrt"]),
    ("Color::", ["Green", "Red"]),
    ("broken(.", []),
    (":ty", ["type"]),
    ("1..po", ["point"]),
    ("nothing.at.", []),
    ("nothing::", []),
]


@pytest.fixture(scope="module")
def session() -> Session:
    made = Session(mock=True)
    for line in (
        "use std::math",
        "struct P { x: Int, name: String }",
        "impl P { fn norm(self) -> Int { self.x } }",
        'let point = P { x: 1, name: "a" }',
        "enum Color { Red, Green }",
        'tool Clock { description: "c", @describe("h") pub fn hour() -> Int { 1 } }',
        "fn f(text: String) -> Array<Int> { [] }",
    ):
        made.add(line)
    return made


@pytest.mark.parametrize(
    ("line", "names"), COMPLETIONS, ids=lambda each: each if isinstance(each, str) else ""
)
def test_completion(session: Session, line: str, names: list[str]) -> None:
    assert completions(session, line, re.split(r"[^A-Za-z_]", line)[-1]) == names


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Terminal]:
    with terminal(COMMAND, tmp_path, {"CONCERTO_STATE": str(tmp_path / "state"), "TERM": "dumb"}) as made:
        made.wait_for(">>> ")
        yield made


def test_at_a_terminal(at: Terminal, tmp_path: Path) -> None:
    at.type("let answer = [\n")
    at.wait_for("... ")
    at.type("42]\n")
    at.wait_for(">>> ")
    at.type("answ\t\n")  # Tab completes the name.
    at.wait_for("[42]\r\n>>> ")
    at.type("answer.is_em\t()\n")
    at.wait_for("answer.is_empty()\r\nfalse\r\n>>> ")
    at.type("std::string::to_up\t('a')\n")
    at.wait_for('"A"\r\n>>> ')
    at.type("\x04")
    assert at.end() == 0
    assert "answer.is_empty()" in (tmp_path / "state" / "repl_history").read_text()
    with terminal(COMMAND, tmp_path, {"CONCERTO_STATE": str(tmp_path / "state"), "TERM": "dumb"}) as again:
        again.wait_for(">>> ")
        again.type("\x10\x10\x10\n")  # Three lines back.
        again.wait_for("unknown name `answer`")


def test_an_interrupt_drops_the_line_or_stops_the_run(at: Terminal) -> None:
    at.type("let n = 7\n")
    at.wait_for(">>> ")
    at.type("half a li")
    at.wait_for("half a li")
    at.interrupt_line(">>> ")
    at.type("loop { std::time::sleep(10); print('.') }\n")
    at.wait_for("..")
    at.type("\x03")
    at.wait_for("error: interrupted")
    at.wait_for(">>> ")
    at.type("println('g' + 'o'); loop { }\n")
    at.wait_for("go\r\n")
    at.type("\x03")
    at.wait_for("error: interrupted")
    at.wait_for(">>> ")
    at.type("n\n")
    at.wait_for("7\r\n>>> ")
    at.type("let spin = |on: Bool| { if on { print('s' + 'o') }; while on { } n }\n")
    at.wait_for(">>> ")
    at.type("spin(true)\n")
    at.wait_for("so")
    at.type("\x03")
    at.wait_for("error: interrupted")
    at.wait_for(">>> ")
    at.type("spin(false)\n")
    at.wait_for("7\r\n>>> ")
    at.type(":quit\n")
    assert at.end() == 0


def test_a_variable_of_an_earlier_input_that_may_not_change() -> None:
    done = piped("let x = 3", "fn f(n: Int) -> Int { n }", "x = 5")
    assert "declare it `let mut x`" in done.stderr
    assert "declared here" not in done.stderr


def test_generic_values_are_what_they_were_where_they_are_only_used() -> None:
    done = piped(
        "struct Held<T> { one: Option<T>, more: Array<Held<T>> }",
        "enum Tree<T> { Leaf(T), Node(Array<Tree<T>>), Holds(Held<T>) }",
        'let held: Any = Held { one: Some("x"), more: [] }',
        "held as Held<String>",
        "let tree: Any = Tree::Node([Tree::Leaf(1)])",
        "tree as Tree<Int>",
        "struct Held<T> { one: Option<Int>, more: Array<Held<T>> }",
        "held as Held<String>",
    )
    shown = ['Held { one: Some("x"), more: [] }', "Tree::Node([Tree::Leaf(1)])"]
    assert done.stdout.splitlines() == shown
    assert done.stderr.startswith("error: expected `Held<String>`, found `Held (as it was)`")


def test_what_would_leave_the_function_around_an_input_is_told_of_the_session() -> None:
    done = piped(
        "return",
        "let [a] = [1] else { return; };",
        "let f = |n: Int| { if n > 1 { return 5; } 6 }",
        "f(2)",
        ":type 1 +",
        'panic("red \\u{1b}[31m")',
        ":quit now",
        "1",
    )
    assert done.stdout == "5\n"
    assert done.stderr.count("error[E0307]: `return` would end the session\n  ┌─ <input") == 2
    assert "expected an expression, found the end of the input" in done.stderr
    assert "error: panic: red \\u{1b}[31m\n" in done.stderr
