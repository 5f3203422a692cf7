"""A check links only a part of a program, and finds in it what is in the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.compiler import trust_part
from concerto.compiler.disk import DiskProject
from concerto.compiler.pipeline import analyze
from concerto.diagnostics import Problems
from concerto.emit.linking import link
from concerto.emit.program import ProgramBuilder
from concerto.ir.module import ModuleIR
from concerto.manifest.load_cached import ManifestSettings
from concerto.source import Source

_AGENTS = """
tool Inbox {
    description: "Reads mail",
    @source(untrusted) @describe("The newest")
    pub fn newest() -> String { "" }
}
tool Notes {
    description: "Keeps notes",
    @describe("Keep a note")
    pub fn keep(@param("A note") note: String) -> String { BODY }
}
agent Reader { provider: mock, tools: [Inbox, Notes] }
fn unused() -> Int { 1 }
"""
_CALL = 'fn main() { println(Reader.execute("a").is_ok()); }\n'
_SAVE = 'fn save(text: String) -> String { let _ = fs::write_file("a", text); text }\n'

WAYS = {
    "by a function": (
        "outer(note)",
        "use std::fs;" + _SAVE + "fn outer(text: String) -> String { save(text) }",
    ),
    "by a function value": ("[note].map(save)[0]", "use std::fs;" + _SAVE),
    "by a method": (
        'Box { name: "b" }.put(note)',
        "use std::fs;" + _SAVE + "struct Box { name: String } "
        "impl Box { fn put(self, text: String) -> String { save(text) } }",
    ),
    "by an operator": (
        '(Box { name: "b" } + Box { name: note }).name',
        "use std::fs;" + _SAVE + "struct Box { name: String } "
        "impl Add for Box { fn add(self, other: Box) -> Box { Box { name: save(other.name) } } }",
    ),
    "by what shows a value": (
        '"${Box { name: note }}"',
        "use std::fs;" + _SAVE + "struct Box { name: String } "
        "impl Display for Box { fn to_string(self) -> String { save(self.name) } }",
    ),
    "by the default of a parameter": (
        "outer()",
        "use std::fs;" + _SAVE + 'fn outer(text: String = save("")) -> String { text }',
    ),
    "by another name": (
        "keep_it(note)",
        "mod files { use std::fs; pub " + _SAVE + "}\nuse files::save as keep_it;",
    ),
    "by another name in a body": (
        "outer(note)",
        "mod files { use std::fs; pub "
        + _SAVE
        + "}\nfn outer(text: String) -> String { use files::save as keep_it; keep_it(text) }",
    ),
    "by a method of a trait": (
        'Box { name: "b" }.put(note)',
        "use std::fs;" + _SAVE + "trait Holds { fn put(self, text: String) -> String { save(text) } } "
        "struct Box { name: String } impl Holds for Box {}",
    ),
}


def checked(text: str) -> list[str]:
    """The codes of what a project with `[trust]` says of a program."""
    problems = Problems()
    settings = ManifestSettings(trust={"mode": "deny"})
    analyze(Source("main.conc", text), DiskProject(Path(), settings, problems), problems)
    return [f"{each.code} {each.message}" if each.severity == "error" else "" for each in problems]


@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_a_sink_is_found(way: str) -> None:
    body, more = WAYS[way]
    found = checked(more + _AGENTS.replace("BODY", body) + _CALL)
    assert [each for each in found if each] == [
        "E0701 untrusted text from `Inbox::newest` can make `Reader` call `Notes::keep`"
    ]


def test_an_agent_that_is_handed_on_is_found() -> None:
    body, more = WAYS["by a function"]
    handing = """
fn same(given: AgentBuilder) -> AgentBuilder { given }
fn use_it(given: AgentBuilder) -> Bool { same(given).execute("a").is_ok() }
fn main() { println(use_it(Reader.with_max_iterations(2))); }
"""
    assert any("E0701" in each for each in checked(more + _AGENTS.replace("BODY", body) + handing))


def test_code_that_reaches_nothing_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    linked: list[ModuleIR] = []

    def noted(part: ProgramBuilder) -> ModuleIR:
        linked.append(link(part))
        return linked[0]

    monkeypatch.setattr(trust_part, "link", noted)
    assert not any(checked("use std::fs;" + _SAVE + _AGENTS.replace("BODY", "note") + _CALL))
    (module,) = linked
    written = {function.name for function in module.functions if function.code}
    assert {"save", "main"} <= written
    assert "unused" not in written
