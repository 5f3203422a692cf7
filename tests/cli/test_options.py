"""The options of `concerto run` and `concerto resume`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.harness.commands import one_line, run

TOOL = """\
tool Safe {
    description: "Opens things",

    @describe("Open it")
    pub fn open() -> Int { 1 }
}

fn main() {
    println(Safe.open());
}
"""


def write(folder: Path, text: str) -> Path:
    (folder / "main.conc").write_text(text)
    return folder


def test_arguments_follow_two_dashes(tmp_path: Path) -> None:
    write(tmp_path, "fn main(args: Array<String>) {\n    println(args);\n}\n")
    told = run("concerto", "run", "main.conc", "--", "--quiet", "x", cwd=tmp_path)
    assert told.stdout == '["--quiet", "x"]\n'


def test_a_main_without_parameters_takes_no_arguments(tmp_path: Path) -> None:
    write(tmp_path, "fn main() {}\n")
    refused = run("concerto", "run", "main.conc", "--", "x", cwd=tmp_path)
    said = "error: `main` takes no arguments, found `x`; write `fn main(args: Array<String>)`\n"
    assert (refused.stdout, refused.stderr, refused.returncode) == ("", said, 2)


def test_emits_print_as_text_or_json(tmp_path: Path) -> None:
    write(tmp_path, 'fn main() {\n    println("before");\n    emit("done", {"n": 1});\n}\n')
    plain = run("concerto", "run", "main.conc", cwd=tmp_path)
    assert plain.stdout == 'before\n[emit:done] {"n": 1}\n'
    machine = run("concerto", "run", "--json", "main.conc", cwd=tmp_path)
    assert json.loads(machine.stdout) == {"channel": "done", "payload": {"n": 1}}
    assert machine.stderr == "before\n"


def test_a_denied_tool_cannot_be_called(tmp_path: Path) -> None:
    write(tmp_path, TOOL)
    assert run("concerto", "run", "main.conc", cwd=tmp_path).stdout == "1\n"
    for name in ("Safe", "Safe::open"):
        denied = run("concerto", "run", "--deny-tool", name, "main.conc", cwd=tmp_path)
        assert (denied.stdout, denied.returncode) == ("", 1)
        assert "Safe" in denied.stderr
    (tmp_path / "Concerto.toml").write_text("[permissions]\nSafe = false\n")
    assert run("concerto", "run", "main.conc", cwd=tmp_path).returncode == 1
    assert run("concerto", "run", "--allow-tool", "Safe", "main.conc", cwd=tmp_path).stdout == "1\n"


@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        ("--deny-tool", "Saef", "there is no tool `Saef` in this program; did you mean `Safe`?"),
        ("--allow-tool", "Safe::opne", "the tool `Safe` has no method `opne`; did you mean `open`?"),
    ],
)
def test_a_misspelt_permission_is_refused(option: str, name: str, said: str, tmp_path: Path) -> None:
    write(tmp_path, TOOL)
    refused = run("concerto", "run", option, name, "main.conc", cwd=tmp_path)
    assert (refused.stdout, refused.stderr, refused.returncode) == ("", f"error: {said}\n", 2)


def test_variables_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALREADY", "set")
    write(tmp_path, 'fn main() {\n    println(env("FROM_FILE"));\n    println(env("ALREADY"));\n}\n')
    (tmp_path / "vars").write_text("# keys\n\nexport FROM_FILE='a b'\nALREADY=other\n")
    result = run("concerto", "run", "--env", "vars", "main.conc", cwd=tmp_path)
    assert result.stdout == 'Some("a b")\nSome("set")\n'
    (tmp_path / "vars").write_text("no equals sign\n")
    one_line(
        run("concerto", "run", "--env", "vars", "main.conc", cwd=tmp_path), "vars:1: expected `NAME=value`"
    )
    one_line(run("concerto", "run", "--env", "gone", "main.conc", cwd=tmp_path), "cannot read `gone`")


def test_handlers_answer_awaited_emits(tmp_path: Path) -> None:
    write(tmp_path, 'fn main() {\n    println(await emit("double", 21));\n}\n')
    (tmp_path / "handlers.py").write_text("HANDLERS = {'double': lambda n: n * 2}\n")
    result = run("concerto", "run", "--handlers", "handlers.py", "main.conc", cwd=tmp_path)
    assert "Ok(42)" in result.stdout
    for text, part in (("x = 1\n", "no dictionary `HANDLERS`"), ("1 / 0\n", "ZeroDivisionError")):
        (tmp_path / "handlers.py").write_text(text)
        one_line(run("concerto", "run", "--handlers", "handlers.py", "main.conc", cwd=tmp_path), part)


def test_a_run_that_takes_too_long(tmp_path: Path) -> None:
    write(tmp_path, "fn main() {\n    loop {}\n}\n")
    result = run("concerto", "run", "--timeout", "0.2", "main.conc", cwd=tmp_path)
    one_line(result, "the run took longer than 0.2 seconds", status=1)
    assert run("concerto", "run", "--timeout", "-1", "main.conc", cwd=tmp_path).returncode == 2


def test_mock_answers_for_the_model(tmp_path: Path) -> None:
    text = 'agent A { provider: openai }\nfn main() {\n    println(A.execute("hi").unwrap().text);\n}\n'
    write(tmp_path, text)
    result = run("concerto", "run", "--mock", "--quiet", "main.conc", cwd=tmp_path)
    assert (result.stdout, result.returncode) == ("[mock response to: hi]\n", 0)


def test_a_missing_key_names_the_variable_and_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    text = "agent A { provider: openai }\nfn main() -> Result<Nil, AgentError> {\n"
    write(tmp_path, text + '    println(A.execute("hi")?.text);\n    Ok(nil)\n}\n')
    result = run("concerto", "run", "--quiet", "main.conc", cwd=tmp_path)
    assert result.returncode == 1
    assert "OPENAI_API_KEY" in result.stderr
    assert "--mock" in result.stderr


WAITING = """
tool Shop {
    description: "A shop",

    @describe("How many are there?")
    pub fn stock() -> Int;
}

fn main() {
    println(Shop.stock());
    println(env("PLACE"));
    println(await emit("sure", 1));
}
"""


def test_resume_takes_what_a_run_does_not_keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCERTO_STATE", str(tmp_path / "state"))
    write(tmp_path, WAITING)
    waiting = json.loads(run("concerto", "run", "--json", "main.conc", cwd=tmp_path).stdout)
    (tmp_path / "place.env").write_text("PLACE=here\n")
    result = "=".join((waiting["requires_action"][0]["call_id"], "5"))
    twice = run("concerto", "resume", waiting["run"], "--result", result, "--result", result, cwd=tmp_path)
    assert (twice.returncode, "is given twice" in twice.stderr) == (2, True), twice
    given = ["--answer", "sure=true", "--env", "place.env", "--trace", "resumed.jsonl"]
    resumed = run("concerto", "resume", waiting["run"], "--result", result, *given, cwd=tmp_path)
    assert (resumed.returncode, resumed.stderr) == (0, '5\nSome("here")\nOk(true)\n')
    assert json.loads(resumed.stdout) == {"channel": "sure", "payload": 1}
    assert "Shop::stock" in run("concerto", "trace", "resumed.jsonl", cwd=tmp_path).stdout


def test_an_answer_on_a_misspelt_channel_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCERTO_STATE", str(tmp_path / "state"))
    write(tmp_path, 'fn main() { println(await emit("sure", 1)); }\n')
    waiting = run("concerto", "run", "--wait", "main.conc", cwd=tmp_path).stderr
    id_ = waiting.split("concerto resume ")[1].split()[0]
    refused = run("concerto", "resume", id_, "--answer", "shure=true", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr == "error: nothing waits for an answer on `shure`; it waits for `0/1` (sure)\n"
