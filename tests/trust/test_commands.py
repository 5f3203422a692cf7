"""`concertoc audit` and `concertoc check --trust`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from concerto.cli.dispatch import run_concertoc

_PROGRAM = """
use std::http;

tool Web {
    description: "Reads pages",

    @describe("The text of a page")
    pub fn page(@param("Its address") url: String) -> String { text_of(url) }
}

fn text_of(url: String) -> String { http::get(url).unwrap().body }

tool Files {
    description: "Keeps files",

    @sink(fs, trusted: [name])
    @describe("Keep a text")
    pub fn keep(@param("The name") name: String) -> Bool;
}

agent Open { provider: mock, tools: [Web, Files] }
agent Asking { provider: mock, tools: [Web, Files], guard: "approve" }

fn main() {
    println(Open.execute("a").is_ok());
    println(Asking.execute("b").is_ok());
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "main.conc"
    file.write_text(_PROGRAM)
    (tmp_path / "Concerto.toml").write_text("[connections.mock]\n")
    return file


def test_a_preview_finds_what_trust_would(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_concertoc(["check", str(program)]) == 0
    capsys.readouterr()
    assert run_concertoc(["check", "--trust", str(program)]) == 2
    shown = capsys.readouterr().err
    assert "error[E0701]: untrusted text from `Web::page` can make `Open` call `Files::keep`" in shown
    assert "source: `Web::page` → `text_of` → `http::get` (`untrusted`)" in shown
    assert "Asking" not in shown


def test_an_audit_lists_all(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_concertoc(["audit", str(program)]) == 0
    text = capsys.readouterr().out
    assert "trust is off: there is no [trust]" in text
    assert "`Web::page` → `text_of` → `http::get` (`net`)" in text
    assert "`Files::keep` is declared `fs`, free with trusted name" in text
    assert '`Asking`, guard "approve": executed at 1 place' in text
    assert "`Web::page` → `Open` → `Files::keep` (fs): NOT GUARDED" in text


def test_an_audit_as_json(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (program.parent / "Concerto.toml").write_text('[connections.mock]\n[trust]\nmode = "deny"\n')
    assert run_concertoc(["audit", "--json", str(program)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mode"] == "deny"
    by_name = {tool["tool"]: tool for tool in found["tools"]}
    assert by_name["Web::page"]["sources"] == ["untrusted"] and by_name["Web::page"]["sinks"] == ["net"]
    assert [(flow["agent"], flow["guarded"]) for flow in found["flows"]] == [
        ("Open", False),
        ("Asking", True),
    ]
    (call,) = next(agent for agent in found["agents"] if agent["name"] == "Asking")["calls"]
    assert call["untrusted"] == ["Web::page"] and call["sinks"] == ["Files::keep", "Web::page"]


def test_what_says_nothing_is_warned_of(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the place where it stands; a name may leave its module out, and be that of a tool as a whole."""
    assert run_concertoc(["check", str(program)]) == 0
    shown = capsys.readouterr().err
    assert "warning[W0701]: the guard of agent `Asking` does nothing, as no `[trust]` is there" in shown
    assert f"{program}:22:53" in shown
    known = "".join(
        [f'[trust.tools."{name}"]\nsource = "trusted"\n' for name in ("Web", "Web::page", "ShellTool")]
    )
    unknown = '[trust.tools]\n"Files::kept" = { sink = "fs" }\n'
    manifest = program.parent / "Concerto.toml"
    manifest.write_text(f'[connections.mock]\n[trust]\nmode = "deny"\n{unknown}{known}')
    assert run_concertoc(["check", str(program)]) == 0
    shown = capsys.readouterr().err
    assert shown.count("warning") == 1
    assert "warning[W0702]: the program has no `Files::kept`, so this says nothing" in shown
    assert f"{manifest}:5:1" in shown and "help: did you mean `Files::keep`?" in shown
