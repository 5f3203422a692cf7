"""Skills: names and descriptions first, bodies on demand, on every wire, through the gate and in replays."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runtime.llm.test_bad_servers import REPLIES, at
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Script, chat_reply

Run = Callable[..., Outcome]

PROGRAM = """
agent Writer { provider: openai, model: "m", skills: ["skills"], system_prompt: "Be brief." }
fn main() {
    match Writer.execute("Write an invoice") {
        Ok(response) => {
            println(response.text);
            for call in response.tool_calls { println("${call.name} ${call.success} ${call.result}"); }
        },
        Err(error) => println("${error.kind} ${error.message}"),
    }
}
"""
INVOICE = """---
name: invoices
description: >
  How we write invoices,
  and in which order
metadata:
  author: somebody
---

# Invoices

Sum first. Terms: see `terms.txt`.
"""
LETTERS = """---\nname: "letters"\ndescription: 'How we write letters: kindly'\n---\nDear all"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("invoices", INVOICE), ("letters", LETTERS)):
        place = tmp_path / "skills" / name
        place.mkdir(parents=True)
        (place / "SKILL.md").write_text(text)
    (tmp_path / "skills" / "invoices" / "terms.txt").write_text("30 days")
    (tmp_path / "skills" / "notes.txt").write_text("no skill")
    (tmp_path / "secret.txt").write_text("nobody's business")
    return tmp_path


def read(number: int, **arguments: str) -> tuple[str, str, str]:
    return f"id{number}", "read_skill", json.dumps(arguments)


@pytest.mark.parametrize("wire", REPLIES)
def test_names_first_and_bodies_on_demand(script: Script, run: Run, folder: Path, wire: str) -> None:
    reply = REPLIES[wire]
    asked = [read(1, name="invoices"), read(2, name="invoices", file="terms.txt")]
    script.answer(*[reply("", each) for each in asked], reply("Invoice"))
    outcome = run(PROGRAM, connections=at(script, wire), folder=folder)
    assert outcome.out.startswith("Invoice\nread_skill true # Invoices\n\nSum first."), outcome.out
    assert outcome.lines[-1] == "read_skill true 30 days"
    first, second, third = (json.dumps(seen.body) for seen in script.seen)
    assert "Be brief." in first and "- letters: How we write letters: kindly" in first
    assert "- invoices: How we write invoices, and in which order" in first
    assert ("Sum first" in first, "Sum first" in second, "30 days" in third) == (False, True, True)
    assert "author" not in first


def test_nothing_outside_of_a_skill_is_read(script: Script, run: Run, folder: Path) -> None:
    asked = [
        read(1, name="invoices", file="../../secret.txt"),
        read(2, name="letters", file=str(folder / "secret.txt")),
        read(3, name="other"),
        read(4, name="letters", file="missing.txt"),
    ]
    script.answer(*[chat_reply(None, each) for each in asked], chat_reply("No"))
    outcome = run(PROGRAM, connections=chat_at(script.url), folder=folder)
    assert [line.split()[1] for line in outcome.lines[1:]] == ["false"] * 4
    assert "business" not in json.dumps(script.seen[-1].body)


@pytest.mark.parametrize(
    ("skills", "said"),
    [
        ("nowhere", "a skill of `Writer` cannot be used: `nowhere`: "),
        ("empty", "`empty` has no `SKILL.md`, nor has a folder in it"),
        ("nameless", "`nameless/SKILL.md` does not begin with a block that has `description:`"),
        ("..", "a skill of `Writer` cannot be used: `../SKILL.md` is outside "),
        ("twice", "`twice/b` and `twice/a` have one name"),
    ],
)
def test_a_skill_that_cannot_be_used(script: Script, run: Run, folder: Path, skills: str, said: str) -> None:
    (folder / "empty").mkdir()
    (folder / "nameless").mkdir()
    (folder / "nameless" / "SKILL.md").write_text("---\nname: x\n---\ntext")
    for name in ("a", "b"):
        (folder / "twice" / name).mkdir(parents=True)
        (folder / "twice" / name / "SKILL.md").write_text(INVOICE)
    source = PROGRAM.replace('["skills"]', f'["{skills}"]')
    outcome = run(source, connections=chat_at(script.url), folder=folder)
    assert outcome.out.startswith("BadTools "), outcome.out
    assert said in outcome.out
    assert script.seen == []


def test_a_replay_needs_no_folder(script: Script, run: Run, folder: Path) -> None:
    script.answer(chat_reply(None, read(1, name="letters")), chat_reply("Dear all"))
    place = folder / "run.conc-run"
    first = run(PROGRAM, connections=chat_at(script.url), folder=folder, record=place)
    assert first.lines == ["Dear all", "read_skill true Dear all"], first.err
    shutil.rmtree(folder / "skills")
    again = run(PROGRAM, connections=chat_at(script.url), folder=folder, replay=place)
    assert (again.out, len(script.seen)) == (first.out, 2)


def test_a_skill_is_the_authors_word(script: Script, run: Run, folder: Path) -> None:
    mail = """
    tool Mail {
        description: "Sends mail",
        @sink(mail)
        @describe("Send a mail")
        pub fn send(@param("Who gets it") to: String) -> String { println("sent to ${to}"); "sent" }
    }
    """
    tools = "tools: [Mail], allowed_tools: [Mail],"
    source = PROGRAM.replace("agent Writer {", f"agent Writer {{ {tools}") + mail
    send = ("id2", "Mail__send", '{"to": "ann@corp.example"}')
    script.answer(chat_reply(None, read(1, name="letters")), chat_reply(None, send), chat_reply("Done"))
    trusting = {"trust": {"mode": "deny"}}
    outcome = run(source, connections=chat_at(script.url), folder=folder, manifest=trusting)
    assert outcome.lines[:2] == ["sent to ann@corp.example", "Done"], outcome.err
