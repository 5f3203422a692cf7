"""`concerto test`: what passes, what fails and how it says so, and tests that misbehave."""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.harness import commands

TOOLS = """
use std::tools::HttpTool;
tool Notes {
    description: "Keeps notes",
    items: Array<String> = [],
    @describe("Add a note")
    @param("text", "The note")
    pub fn add(mut self, text: String) -> Int { self.items.push(text); self.items.len() }
}
mcp GitHub {
    transport: "stdio",
    command: "no-such-server",
    @describe("Search")
    @param("query", "What for")
    fn search(query: String) -> Result<Array<Any>, ToolError>;
}
tool Desk {
    description: "Somebody outside",
    @describe("Ask") pub fn ask(@param("what") text: String) -> Result<String, ToolError>;
    @describe("Count") pub fn count(@param("what") text: String) -> Int;
    @describe("Done here") pub fn own() -> Int { 1 }
    @describe("In words") pub fn tell() -> Result<Int, String>;
    @describe("As an agent") pub fn think() -> Result<Int, AgentError>;
}
agent Clerk { provider: mock, tools: [Desk] }
agent Assistant { provider: mock, tools: [Notes] }
agent Both { provider: mock, tools: [Notes, GitHub] }
host Worker { connector: worker }
"""
MANIFEST = '[connections.mock]\nprovider = "openai"\n[hosts.worker]\ncommand = "no-such-program"\n'

PASSING = {
    "response": """
        mock Assistant { response: "hello" }
        assert_eq(Assistant.execute("hi").unwrap().text, "hello");
        assert_eq(Assistant.calls().len(), 1);
        assert_eq(Assistant.calls()[0]["prompt"], "hi");
        assert_eq(Assistant.calls()[0]["tools"], ["Notes__add"]);
    """,
    "error": """
        mock Assistant { error: "down" }
        match Assistant.execute("hi") {
            Ok(_) => panic("no error"),
            Err(e) => assert(e.message.contains("down")),
        }
    """,
    "script": """
        mock Assistant { script: [
            [call("Notes::add", {"text": "x"}), call("Notes::add", {"text": "y"})],
            call("Notes::add", {"text": "z"}),
            reply("done"),
        ] }
        let response = Assistant.execute("go").unwrap();
        assert_eq(response.text, "done");
        assert_eq(response.tool_calls.len(), 3);
        assert_eq(Notes.add("w"), 4);
    """,
    "stream": """
        mock Assistant { response: "hello" }
        let mut text = "";
        for chunk in Assistant.stream("hi").unwrap() { text += chunk.text; }
        assert_eq(text, "hello");
    """,
    "server": """
        mock GitHub { search: [1, 2] }
        assert_eq(GitHub.search("x").unwrap(), [1, 2]);
    """,
    "server function": """
        mock GitHub { search: |args| [args["query"], "found"] }
        assert_eq(GitHub.search("x").unwrap(), ["x", "found"]);
    """,
    "server that is not mocked is offered all the same": """
        mock Both { script: [call("GitHub::search", {"query": "x"}), reply("done")] }
        let response = Both.execute("go").unwrap();
        assert(!response.tool_calls[0].success);
        assert_eq(response.tool_calls[0].result["kind"], "Unmocked");
    """,
    "server through an agent": """
        mock GitHub { search: |args| [args["query"]] }
        mock Both { script: [call("GitHub::search", {"query": "x"}), reply("done")] }
        assert_eq(Both.execute("go").unwrap().tool_calls[0].result, ["x"]);
    """,
    "a text with calls": """
        mock Assistant { script: [[reply("Let me see."), call("Notes::add", {"text": "x"})], {"n": 1}] }
        let response = Assistant.execute("go").unwrap();
        assert_eq(response.messages.map(|m| m.content), ["go", "Let me see.", "1", r#"{"n": 1}"#]);
    """,
    "tool": """
        mock Desk { ask: |args| "${args["text"]}!", count: 7 }
        assert_eq(Desk.ask("a").unwrap(), "a!");
        assert_eq(Desk.count("a") + Desk.own(), 8);
    """,
    "tool through an agent": """
        mock Desk { ask: |args| "${args["text"]}!", count: 7 }
        mock Clerk { script: [
            [call("Desk::ask", {"text": "b"}), call("Desk::count", {"text": "b"}), call("Desk::own", {})],
            reply("done"),
        ] }
        assert_eq(Clerk.execute("go").unwrap().tool_calls.map(|c| "${c.result}"), ["b!", "7", "1"]);
    """,
    "tool that fails": """
        mock Desk { ask: |args| -> Result<String, ToolError> { throw ToolError::new("closed"); }, count: "x" }
        assert_eq(Desk.ask("a").err().unwrap().message, "closed");
        assert_eq(try { Desk.count("a"); "" } catch ToolError(e) { e.kind }, "InvalidResult");
    """,
    "errors as they are declared": """
        mock Desk { tell: |_| Err("closed"), think: Err("closed") }
        assert_eq(Desk.tell().err().unwrap().to_upper(), "CLOSED");
        assert_eq(Desk.think().err().unwrap().agent, "");
        mock Desk { tell: "one" }
        assert(Desk.tell().err().unwrap().contains("expected `Int`"));
    """,
    "tool of the library": """
        mock HttpTool { get: {"status": 200, "body": "page", "headers": {}} }
        assert_eq(HttpTool.get("http://nowhere.invalid").unwrap().body, "page");
    """,
    "host": """
        mock Worker { response: "built" }
        assert_eq(Worker.execute("go").unwrap().text, "built");
        assert_eq(Worker.calls()[0]["prompt"], "go");
    """,
    "channel function": """
        mock "ask" { reply: |payload| payload["n"] + 1 }
        assert_eq((await emit("ask", {"n": 1})).unwrap(), 2);
    """,
    "channel": """
        mock "ask" { reply: {"yes": true} }
        assert_eq((await emit("ask", 1)).unwrap(), {"yes": true});
    """,
    "channel without a mock": """
        match await emit("ask", 1) { Ok(_) => panic("answered"), Err(e) => assert_eq(e.kind, "NoListener") }
    """,
    "channel function that fails": """
        mock "ask" { reply: |payload| [1][payload as Int] }
        assert_eq((await emit("ask", 7)).err().unwrap().kind, "HandlerFailed");
        mock "ask" { reply: |payload| -> Result<Int, String> { Err("no ${payload}") } }
        let failed = (await emit("ask", 7)).err().unwrap();
        assert_eq(failed.message, "the mock of `ask` failed: no 7");
    """,
    "server function that fails": """
        mock GitHub { search: |args| [1][7] }
        assert_eq(GitHub.search("x").err().unwrap().kind, "ToolFailed");
    """,
    "response function": """
        mock Assistant { response: |prompt| "you said ${prompt}" }
        assert_eq(Assistant.execute("hi").unwrap().text, "you said hi");
        assert_eq(Assistant.calls()[0]["prompt"], "hi");
        mock Worker { response: |prompt| {"said": prompt} }
        assert_eq(Worker.execute("go").unwrap().text, r#"{"said": "go"}"#);
        mock Assistant { response: |prompt| [prompt][1] }
        assert_eq(Assistant.execute("hi").err().unwrap().kind, "ProviderError");
    """,
    "a Result as it is": """
        mock Desk { ask: Ok("yes"), count: |_| Ok(3) }
        assert_eq(Desk.ask("a"), Ok("yes"));
        assert_eq(Desk.count("a"), 3);
        mock Desk { ask: Err(ToolError::new("closed")), count: Err("closed") }
        assert_eq(Desk.ask("a").err().unwrap().message, "closed");
        assert_eq(try { "${Desk.count("a")}" } catch ToolError(e) { e.kind }, "ToolFailed");
        mock Assistant { response: Ok("fine") }
        assert_eq(Assistant.execute("hi").unwrap().text, "fine");
        mock Assistant { response: Err("down") }
        assert_eq(Assistant.execute("hi").err().unwrap().kind, "ProviderError");
        mock "ask" { reply: Err("nobody") }
        assert_eq((await emit("ask", 1)).err().unwrap().message, "the mock of `ask` failed: nobody");
    """,
    "values as they were written": """
        let mut found = [1];
        let mut asked = {"text": "x"};
        mock GitHub { search: found }
        mock "ask" { reply: found }
        mock Assistant { script: [call("Notes::add", asked), reply(found)] }
        found.push(2);
        asked["text"] = "y";
        assert_eq(GitHub.search("x").unwrap(), [1]);
        assert_eq((await emit("ask", 1)).unwrap(), [1]);
        let response = Assistant.execute("go").unwrap();
        assert_eq(response.tool_calls[0].arguments, {"text": "x"});
        assert_eq(response.text, "[1]");
    """,
    "names alone": """
        let script = [{"reply": "one"}];
        mock Assistant { script }
        assert_eq(Assistant.execute("go").unwrap().text, "one");
        let response = |prompt| "to ${prompt}";
        mock Assistant { response }
        assert_eq(Assistant.execute("go").unwrap().text, "to go");
        fn reply(n: Int) -> Int { n + 1 }
        mock "ask" { reply }
        assert_eq((await emit("ask", 1)).unwrap(), 2);
        assert((await emit("ask", "x")).err().unwrap().message.ends_with("expected `Int`, found `String`"));
    """,
    "requests of two mocks": """
        mock Assistant { response: "one" }
        Assistant.execute("first").unwrap();
        mock Assistant { response: "two" }
        assert_eq(Assistant.execute("second").unwrap().text, "two");
        assert_eq(Assistant.calls().map(|call| call["prompt"]), ["first", "second"]);
    """,
    "a memory that has lost a question": """
        mock Assistant { response: |prompt| "${prompt}!" }
        let kept = Memory::new(3);
        for prompt in ["a", "b", "c"] { Assistant.with_memory(kept).execute(prompt).unwrap(); }
        let sent = Assistant.calls().map(|call| (call["messages"] as Array<Any>).map(|each| each["content"]));
        assert_eq(sent, [["a"], ["a", "a!", "b"], ["b", "b!", "c"]]);
        assert_eq(kept.messages().map(|each| each.content), ["b!", "c", "c!"]);
        let greeted = Memory::new(3);
        greeted.append("assistant", "hello");
        Assistant.with_memory(greeted).execute("d").unwrap();
        assert_eq((Assistant.calls()[3]["messages"] as Array<Any>).len(), 2);
    """,
    "turns of texts, of nothing": """
        mock Assistant { script: [[reply("a"), reply("b")], [], [1, 2]] }
        assert_eq((0..3).map(|_| Assistant.execute("go").unwrap().text), ["ab", "", "[1, 2]"]);
    """,
    "members of emits": """
        emit("result", {"n": 1});
        assert_eq(test_emits()[0].channel, "result");
        assert_eq(test_emits()[0].payload["n"], 1);
        assert_eq(test_emits().map(|each| each["channel"]), ["result"]);
    """,
    "emits": """
        emit("result", {"n": 1});
        assert_eq(test_emits(), [{"channel": "result", "payload": {"n": 1}}]);
    """,
    "isolation one": 'assert_eq(Notes.add("x"), 1);',
    "isolation two": 'assert_eq(Notes.add("x"), 1);',
}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return commands.run("concerto", "test", *arguments, cwd=folder)


def program(bodies: dict[str, str]) -> str:
    return TOOLS + "\n".join(
        f'@test("{name}") fn t{number}() {{{body}}}' for number, (name, body) in enumerate(bodies.items())
    )


def test_all_forms_of_mock(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text(MANIFEST)
    (tmp_path / "a.conc").write_text(program(PASSING))
    done = run(tmp_path, "a.conc")
    assert done.returncode == 0, done.stdout + done.stderr
    passed = [f"ok    a.conc :: {name}" for name in PASSING]
    assert done.stdout.splitlines() == [*passed, "", f"{len(PASSING)} passed"]


def test_a_script_calls_a_tool_of_another_module_as_its_file_does(tmp_path: Path) -> None:
    (tmp_path / "tools.conc").write_text(
        'pub tool Count { description: "d", @describe("One") pub fn one() -> Int { 1 } }\n'
    )
    (tmp_path / "main.conc").write_text("""
        use tools::Count;
        agent A { provider: mock, tools: [Count] }
        @test fn called() {
            mock A { script: [call("Count::one"), call("tools::Count::one"), reply("done")] }
            assert_eq(A.execute("a").unwrap().tool_calls.map(|each| each.result), [1, 1]);
        }
    """)
    result = run(tmp_path, "main.conc")
    assert result.returncode == 0, result.stdout


def test_a_failure_shows_its_place_and_both_values(tmp_path: Path) -> None:
    (tmp_path / "a.conc").write_text('@test\nfn sums() {\n    assert_eq(1 + 1, 3, "arithmetic");\n}\n')
    done = run(tmp_path, "a.conc")
    assert done.returncode == 1
    assert done.stdout == (
        "FAIL  a.conc :: sums\n"
        "      error: assertion failed: arithmetic\n"
        "        ┌─ a.conc:3:5 in `sums`\n"
        '      3 │     assert_eq(1 + 1, 3, "arithmetic");\n'
        "        │     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "        left:  2\n"
        "        right: 3\n"
        "\n"
        "0 passed, 1 failed\n"
    )


def test_long_values_are_shown_as_a_difference(tmp_path: Path) -> None:
    (tmp_path / "a.conc").write_text(
        "struct P { name: String, tags: Array<Int> }\n"
        "fn people(last: Int) -> Array<P> {\n"
        '    [P { name: "ann", tags: [1, 2, 3] }, P { name: "bob", tags: [4, 5, 6, last] }, '
        'P { name: "cy", tags: [] }]\n'
        "}\n"
        "@test fn same() { assert_eq(people(7), people(8)); }\n"
        '@test fn text() { assert_eq("a\\nb\\nc", "a\\nB\\nc"); }\n'
    )
    said = run(tmp_path, "a.conc").stdout
    assert (
        "        `-` is left, `+` is right:\n"
        "          [\n"
        '            P { name: "ann", tags: [1, 2, 3] },\n'
        '        -   P { name: "bob", tags: [4, 5, 6, 7] },\n'
        '        +   P { name: "bob", tags: [4, 5, 6, 8] },\n'
        '            P { name: "cy", tags: [] },\n'
        "          ]\n"
    ) in said
    assert "          a\n        - b\n        + B\n          c\n" in said


def test_only_what_differs_is_shown_of_large_values(tmp_path: Path) -> None:
    (tmp_path / "a.conc").write_text(
        "fn numbers(n: Int, changed: Int) -> Array<Int> {\n"
        "    let mut a: Array<Int> = [];\n"
        "    for i in 0..n { a.push(if i == changed { -1 } else { i }); }\n"
        "    a\n"
        "}\n"
        "@test fn array() { assert_eq(numbers(500, 250), numbers(500, 251)); }\n"
        "@test fn all() { assert_eq(numbers(900, 0), numbers(900, 0).map(|n| n + 5000)); }\n"
        '@test fn text() { assert_eq("x".repeat(9000) + "a", "x".repeat(9000) + "b"); }\n'
    )
    array, every, text = run(tmp_path, "a.conc").stdout.split("FAIL")[1:]
    assert array.endswith(
        "  … 248 equal lines\n"
        "            247,\n            248,\n            249,\n"
        "        +   250,\n            -1,\n        -   251,\n"
        "            252,\n            253,\n            254,\n"
        "          … 246 equal lines\n"
    )
    assert "- … 885 more lines\n        +   4999,\n" in every
    assert f"- …{'x' * 40}a\n        + …{'x' * 40}b\n" in text


FAILING = {
    "unmocked": (
        'Assistant.execute("x").unwrap();',
        "agent `Assistant` is not mocked, and a test calls no model",
    ),
    "panic": ('panic("broken");', "panic: broken"),
    "script too short": (
        'mock Assistant { script: [] } Assistant.execute("x").unwrap();',
        "the script of agent `Assistant` has 0 turns, and one more was asked for",
    ),
    "not mocked": ("println(Assistant.calls());", "agent `Assistant` is not mocked"),
    "depth": ("deep(1);", "call depth"),
    "unmocked server": (
        'GitHub.search("x").unwrap();',
        "`GitHub::search` is not mocked, and a test calls no server",
    ),
    "unmocked host": (
        'Worker.execute("x").unwrap();',
        "host `Worker` is not mocked, and a test starts no process",
    ),
    "panic in a mock": (
        'mock GitHub { search: |args| panic("oh") } println(GitHub.search("x"));',
        "panic: oh",
    ),
    "mock of another type": (
        'mock GitHub { search: 5 } GitHub.search("x").unwrap();',
        "expected `Array<Any>`, found `Int`",
    ),
    "index": ("println([1][3]);", "index 3 is out of bounds"),
    "tool that nobody mocks": ('Desk.count("a");', "write `mock Desk { count: … }`"),
}


HANGING = {
    "loop": ("loop { }", "the test took longer than 3 s"),
    "sleep": ("std::time::sleep(60000);", "the test took longer than 3 s"),
    "talk": ('loop { println("talk"); }', "[earlier output is left out]\n        talk\n"),
    "spawn": ("let _task = spawn std::time::sleep(60000);", "the test took longer than 3 s"),
}


@pytest.mark.parametrize(("failing", "options"), [(FAILING, ()), (HANGING, ("--timeout", "3"))])
def test_tests_that_fail_or_hang_fail_alone(
    tmp_path: Path, failing: dict[str, tuple[str, str]], options: tuple[str, ...]
) -> None:
    bodies = {name: body for name, (body, _) in failing.items()}
    (tmp_path / "Concerto.toml").write_text(MANIFEST)
    text = program(bodies | {"good": "assert(true);"}) + "\nfn deep(n: Int) -> Int { deep(n + 1) + 1 }\n"
    (tmp_path / "a.conc").write_text(text)
    done = run(tmp_path, "a.conc", *options)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    for name, (_, message) in failing.items():
        start = done.stdout.index(f"FAIL  a.conc :: {name}\n")
        assert message in done.stdout[start:].partition("a.conc ::")[2].partition("  a.conc ::")[0], name
    assert "ok    a.conc :: good" in done.stdout
    assert len(done.stdout) < 30_000


def test_expected_failures(tmp_path: Path) -> None:
    (tmp_path / "a.conc").write_text(
        "@test @expect_fail fn a() { assert(false); }\n"
        '@test @expect_fail("oh no") fn b() -> Result<Nil, String> { Err("oh no!") }\n'
        '@test @expect_fail("other") fn c() { assert(false); }\n'
        "@test @expect_fail fn d() { }\n"
        "@test @expect_fail fn e() { loop { } }\n"
        '@test fn f() -> Result<Nil, String> { Err("plain") }\n'
    )
    done = run(tmp_path, "a.conc", "--timeout", "5")
    lines = done.stdout.splitlines()
    assert [line[:4].strip() for line in lines if "a.conc ::" in line] == ["ok", "ok", *["FAIL"] * 4]
    assert "the test was to fail with `other`, and failed otherwise" in done.stdout
    assert "the test was to fail, and passed" in done.stdout
    assert "the test returned Err: plain" in done.stdout


def test_what_waits_waits_together(tmp_path: Path) -> None:
    (tmp_path / "a.conc").write_text(
        "use std::time::sleep;\n" + "\n".join(f"@test fn t{n}() {{ sleep(1000); }}" for n in range(6))
    )
    report = tmp_path / "report.xml"
    assert run(tmp_path, "a.conc", "--junit", str(report)).returncode == 0
    root = ElementTree.parse(report).getroot()
    times = [float(case.attrib["time"]) for case in root.iter("testcase")]
    assert len(times) == 6 and all(time >= 1 for time in times)
    assert run(tmp_path, "a.conc", "--timeout", "4", "--jobs", "1").returncode == 0


def test_a_folder_and_a_filter(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "main.conc").write_text(
        "use b::two;\nfn main() { }\n@test fn one() { assert_eq(two(), 2); }\n"
    )
    (tmp_path / "b.conc").write_text('pub fn two() -> Int { 2 }\n@test("b :: two") fn t() { }\n')
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "c.conc").write_text("@test fn broken( {")
    (tmp_path / "none.conc").write_text("fn f() { }")
    (tmp_path / "sub" / "c.conc").write_text("@test fn three() { }")
    assert run(tmp_path).stdout.splitlines() == [
        "ok    b.conc :: b :: two",
        "ok    main.conc :: one",
        "ok    sub/c.conc :: three",
        "",
        "3 passed",
    ]
    filtered = run(tmp_path, ".", "--filter", "two").stdout
    assert filtered == "ok    b.conc :: b :: two\n\n1 passed, 2 left out\n"


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (None, ["gone.conc"], "there is no file `gone.conc`"),
        ("fn main() { }", ["a.conc"], "there are no tests in `a.conc`"),
        ("@test fn a() { }", ["a.conc", "--filter", "zz"], "no test has `zz`"),
        ("@test fn a() { mock Nobody { response: 1 } }", ["a.conc"], "E0201"),
        ("@test fn a(", ["."], "E0102"),
        ("@test fn a() { }", ["a.conc", "--junit", "no/such/folder.xml"], "cannot write"),
    ],
)
def test_usage(tmp_path: Path, text: str | None, arguments: list[str], message: str) -> None:
    if text is not None:
        (tmp_path / "a.conc").write_text(text)
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_junit(tmp_path: Path) -> None:
    (tmp_path / "a.conc").write_text(
        '@test fn good() { print("\\u{1}hi"); }\n@test fn bad() { assert(false); }\n'
        '\n@test("nothing")\nfn empty() { }\n'
    )
    run(tmp_path, "a.conc", "--junit", "out.xml")
    suite = ElementTree.parse(tmp_path / "out.xml").getroot().find("testsuite")
    assert suite is not None
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("3", "1")
    good, bad, empty = suite.findall("testcase")
    assert (good.attrib["name"], good.attrib["line"]) == ("good", "1")
    assert (empty.attrib["name"], empty.attrib["line"]) == ("nothing", "5")
    assert good.findtext("system-out") == "\ufffdhi"
    failure = bad.find("failure")
    assert failure is not None and failure.attrib["message"] == "assertion failed"
    assert "a.conc:2:18" in (failure.text or "")


def test_tests_leave_the_files_of_hashmaps_alone(tmp_path: Path) -> None:
    """Each begins with an empty one, in which the declared and the opened are the same."""
    source = """
    hashmap kept: HashMap<String, Int> = HashMap::new().with_persistence("kept.db");
    fn opened() -> HashMap<String, Int> { HashMap::new().with_persistence("kept.db") }
    fn main() { kept.set("real", 1); println(kept); }
    @test fn one() { assert(kept.is_empty()); kept.set("a", 1); assert_eq(opened().get("a"), Some(1)); }
    @test fn two() { assert(opened().is_empty()); kept.update("a", |old| old.unwrap_or(0) + 1); }
    @test @expect_fail("cannot be kept") fn three() {
        let odd: HashMap<String, Float> = HashMap::new().with_persistence("odd.db");
        odd.set("a", 0.0 / 0.0);
    }
    @test @expect_fail("outside") fn four() {
        let odd: HashMap<String, Int> = HashMap::new().with_persistence("../odd.db");
        odd.set("a", 1);
    }
    """
    (tmp_path / "main.conc").write_text(source)
    assert run(tmp_path, "main.conc").stdout.endswith("\n4 passed\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["main.conc"]
    assert commands.run("concerto", "run", "main.conc", cwd=tmp_path).stdout == '{"real": 1}\n'
    assert run(tmp_path, "main.conc").returncode == 0
    assert commands.run("concerto", "run", "main.conc", cwd=tmp_path).stdout == '{"real": 1}\n'


def test_what_a_test_says_moves_no_cursor(tmp_path: Path) -> None:
    (tmp_path / "a.conc").write_text('@test\nfn t() { println("\\u{1b}[2J"); panic("\\u{1b}[31m"); }\n')
    done = run(tmp_path, "a.conc")
    assert "\x1b" not in done.stdout
    assert "error: panic: \\u{1b}[31m" in done.stdout and "        \\u{1b}[2J" in done.stdout


def test_a_report_that_cannot_be_written_is_told_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "a.conc").write_text("@test\nfn t() {}\n")
    done = run(tmp_path, "a.conc", "--junit", "nowhere/x.xml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: cannot write `nowhere/x.xml`: no such file or directory\n"
