"""Who holds a part of a value and only reads numbers of it sees no change of them, whatever else of the value
is assigned meanwhile."""

from __future__ import annotations

import pytest

from tests.emit.compiling import emit, opcodes
from tests.properties.running import agree, outcomes

_DECLARED = """
struct Sub { hours: Int, marks: Array<Int> = [4] }
struct Task { name: String, hours: Int = 1, sub: Sub = Sub { hours: 3 }, notes: Array<Int> = [2] }
impl Task { fn add(mut self, n: Int) -> Int { self.hours += n; self.sub.hours += n; self.hours } }
struct Board { tasks: Array<Task>, spare: Option<Task>, named: Map<String, Task>, pair: (Task, Int) }
fn task(n: Int) -> Task { Task { name: "t${n}" } }
fn make() -> Board {
    Board { tasks: [task(0), task(1)], spare: Some(task(2)), named: {"k": task(3)}, pair: (task(4), 1) }
}
"""
# Who holds a part, and the place of it.
_HOLDERS = (
    ("let held = {b}.tasks[1]; {body}", "{b}.tasks[1]"),
    ("if let Some(held) = {b}.tasks.get(1) { {body} }", "{b}.tasks[1]"),
    ("match {b}.tasks.last() { Some(held) => { {body} } None => {} }", "{b}.tasks[1]"),
    ("for (i, held) in {b}.tasks.enumerate() { {body} }", "{b}.tasks[i]"),
    ("for (i, held) in {b}.tasks.enumerate() { {body} }", "{b}.tasks[1 - i]"),
    ('let held = {b}.named["k"]; {body}', '{b}.named["k"]'),
    ('for (k, held) in {b}.named { {body} } let k = "k"; println({b}.named[k]);', "{b}.named[k]"),
    ("let (held, _) = {b}.pair; {body}", "{b}.tasks[0]"),
)
_CHANGES = (
    "{place}.hours += 1",
    '{place}.name = "new"',
    "{place} = task(9)",
    "{place}.sub.hours = 5",
    "{place}.sub = Sub { hours: 6 }",
    "{place}.sub.marks = []",
    "{place}.notes[0] = 9",
    "{place}.notes = [held.hours]",
    "{place}.hours = {place}.add(7)",
    "{b}.tasks = []",
    "{b} = make()",
)
_READS = (
    "println(held.hours);",
    "println(held.name);",
    "println(held.sub.hours);",
    "println(held.notes);",
    "println(held);",
    "let other = held; println(other.hours);",
    "let sub = held.sub; println(sub.hours); {change}; println(sub.hours);",
    "let hours = || held.hours; println(hours());",
    "let hours = held.hours; {change}; println(hours + held.hours);",
)
_BODIES = (
    "{change}; {read}",
    "{read} {change}; {read}",
    "for n in 0..2 { {read} {change}; }",
    "for n in 0..2 { {change}; if n == 1 { {read} } }",
    "if 1 > 0 { {change}; } else { {read} }",
)


def _program(holder: str, place: str, change: str) -> str:
    found, calls = [_DECLARED], []
    for number, (body, read) in enumerate((body, read) for body in _BODIES for read in _READS):
        whole = holder.replace("{body}", body.replace("{read}", read)).replace("{change}", change)
        whole = whole.replace("{place}", place)
        found.append(f"impl Board {{ fn m{number}(mut self) {{ {whole.replace('{b}', 'self')} }} }}")
        found.append(
            f"fn f{number}() -> Board {{ let mut b = make(); {whole.replace('{b}', 'b')} return b; }}"
        )
        calls.append(f"{{ let mut b = make(); let c = b; b.m{number}(); println([b, c, f{number}()]); }}")
    return "\n".join((*found, "fn main() {", *calls, "}"))


@pytest.mark.parametrize(("holder", "place"), _HOLDERS)
def test_what_is_read_is_what_was_held(holder: str, place: str) -> None:
    for change in _CHANGES:
        found = outcomes({"main.conc": _program(holder, place, change)})
        assert "oracle" in found and agree(found), (holder, change, found)


@pytest.mark.parametrize(
    ("change", "copies"), [('self.tasks[i].name = "new"', 0), ("self.tasks[i].hours += 1", 1)]
)
def test_only_who_sees_the_change_gets_a_copy(change: str, copies: int) -> None:
    body = f"for (i, held) in self.tasks.enumerate() {{ {change}; println(held.hours); }}"
    text = f"{_DECLARED} impl Board {{ fn go(mut self) {{ {body} }} }} fn main() {{ make().go(); }}"
    code = opcodes(emit(text), "Board::go")
    assert len([name for name in code if name.startswith("COPY")]) == copies
