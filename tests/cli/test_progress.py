"""Progress of long runs, at a terminal and against a model server that answers when it is let."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Terminal, terminal
from tests.harness.commands import command, environment
from tests.runtime.servers import Answer, Script, Seen, chat_reply

PROGRAM = """
tool Search {
    description: "Finds",
    @describe("Find")
    @param("q", "What")
    pub fn find(q: String) -> String { std::http::get("SERVER/found").unwrap().body }
}
agent Assistant { provider: openai, model: "gpt-4o", tools: [Search] }
fn main() -> Result<Nil, AgentError> {
    println("begun");
    println(Assistant.execute("hi")?.text);
    print("in ");
    println(Assistant.execute("again")?.text);
    Ok(nil)
}
"""
MANIFEST = """
permissions.http = ["127.0.0.1"]
[connections.openai]
provider = "openai"
base_url = "SERVER/v1"
api_key_env = "A_KEY"
[prices."gpt-4o"]
input = 100
output = 200
"""
ANSWERS = (
    chat_reply(None, ("1", "Search__find", '{"q": "x"}')),
    {"found": 1},
    chat_reply("It is so"),
    chat_reply("parts"),
)


@dataclass
class Project:
    """`let` lets the server give as many answers."""

    folder: Path
    answers: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def let(self, count: int) -> None:
        self.answers.release(count)

    def held(self, body: Any) -> Callable[[Seen], Answer]:
        def answer(seen: Seen) -> Answer:
            assert self.answers.acquire(timeout=60)
            return Answer(body)

        return answer


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with Script() as server:
        made = Project(tmp_path)
        server.answer(*map(made.held, ANSWERS))
        for name, text in {"main.conc": PROGRAM, "Concerto.toml": MANIFEST}.items():
            (tmp_path / name).write_text(text.replace("SERVER", server.url))
        yield made
        made.let(len(ANSWERS))


def run(*options: str) -> list[str]:
    return command("concerto", "run", *options, ".")


def with_key() -> dict[str, str]:
    return {**environment(), "A_KEY": "secret"}


def seen_on(at: Terminal) -> list[str]:
    """What a person sees, of the runtime's events only that something stands before them."""
    lines = [line.partition(":agent:")[0] for line in at.screen()]
    return [line for line in lines if line not in ("", "[emit")]


def test_agents_tools_tokens_and_cost(project: Project) -> None:
    with terminal(run(), project.folder, with_key()) as at:
        at.wait_for("Assistant (")
        project.let(1)
        at.wait_for("Assistant, Search::find (15 tokens, $0.0020,")
        project.let(3)
        assert at.end() == 0
        # Nothing is left of it.
        assert seen_on(at) == ["begun", "It is so", "in [emit", "parts"]


@pytest.mark.parametrize("option", ["--quiet", "--json", "--debug"])
def test_options_that_leave_it_out(project: Project, option: str) -> None:
    with terminal(run(option), project.folder, with_key()) as at:
        at.wait_for("begun")
        project.let(4)
        assert at.end() == 0
        assert "\x1b" not in at.text


def test_output_that_is_no_terminal_is_left_alone(project: Project) -> None:
    output = project.folder / "output"
    with terminal(run(), project.folder, with_key(), output=output) as at:
        project.let(1)
        at.wait_for("Search::find (")
        project.let(3)
        assert at.end() == 0
        assert at.screen() == [""]
    printed = output.read_text()
    assert "It is so\nin [emit:" in printed and "\x1b" not in printed


def test_errors_that_go_to_no_terminal(project: Project) -> None:
    project.let(4)
    done = subprocess.run(
        run(),
        cwd=project.folder,
        env=with_key(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout


def test_an_interrupt_takes_the_line_away(project: Project) -> None:
    with terminal(run(), project.folder, with_key()) as at:
        project.let(1)
        at.wait_for("Search::find (")
        at.type("\x03")
        assert at.end() == 130
        begun, interrupted, advice = seen_on(at)
        assert (begun, interrupted) == ("begun", "error: interrupted")
        assert advice.startswith("resume with: concerto resume ")


def test_a_question_stays_readable_until_it_is_answered(project: Project) -> None:
    file = project.folder / "main.conc"
    program = file.read_text().replace('println("begun");', 'let _ = await emit("sure", 1);')
    file.write_text(program.replace("std::http::get", 'let _ = await emit("really", 1); std::http::get'))
    with terminal(run(), project.folder, with_key()) as at:
        at.wait_for("answer to `sure` (JSON or text; Ctrl-D: none): ")
        at.type("true\n")
        at.wait_for("Assistant (")
        project.let(1)
        at.wait_for("answer to `really` (JSON or text; Ctrl-D: none): ")
        at.type("false\n")
        at.wait_for("Assistant, Search::find (15 tokens")
        project.let(3)
        assert at.end() == 0
        assert seen_on(at)[:4] == [
            "[emit:sure] 1",
            "answer to `sure` (JSON or text; Ctrl-D: none): true",
            "[emit:really] 1",
            "answer to `really` (JSON or text; Ctrl-D: none): false",
        ]


def test_a_terminal_that_takes_nothing_back(project: Project) -> None:
    with terminal(run(), project.folder, {**with_key(), "TERM": "dumb"}) as at:
        at.wait_for("begun")
        project.let(4)
        assert at.end() == 0
        assert "\x1b" not in at.text


def test_a_resumed_run_has_the_line_too(project: Project) -> None:
    file = project.folder / "main.conc"
    desk = 'tool Desk { description: "Asks", @describe("Ask") pub fn ask() -> String; }'
    file.write_text(desk + file.read_text().replace('"begun"', "Desk.ask()"))
    keeping = {**with_key(), "CONCERTO_STATE": str(project.folder / "state")}
    waiting = subprocess.run(
        run(),
        cwd=project.folder,
        env=keeping,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    given = waiting.stderr.split("resume with: concerto ")[1].replace("JSON", '"begun"').split()
    resume = command("concerto", *given)
    with terminal(resume, project.folder, keeping) as at:
        at.wait_for("Assistant (")
        project.let(4)
        assert at.end() == 0
        assert seen_on(at) == ["begun", "It is so", "in [emit", "parts"]
