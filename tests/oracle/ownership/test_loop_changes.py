"""What a loop goes through is what it was when the loop began, whatever its body changes of it, and however
long the body looks at an element."""

from __future__ import annotations

import pytest

from tests.properties.running import agree, outcomes

DECLARED = """
struct Task { name: String, notes: Array<Int>, hours: Int = 0 }
impl Task { fn add(mut self, n: Int) { self.notes.push(n); self.hours += n; } }
struct Board { tasks: Array<Task>, named: Map<String, Task>, log: Array<Int> = [], total: Int = 0 }
impl Board {
    fn count(mut self, n: Int) { self.total += n; }
    fn record(mut self, n: Int) { self.count(n); self.log.push(n); self.log[0] += 1; }
    fn later(mut self, n: Int) { if n > 0 { self.later(n - 1); } else { self.touch(1); } }
    fn touch(mut self, n: Int) { self.tasks[n].add(n); self.named["t${n}"].add(n); }
    fn reset(mut self) { self = make(); self.log.push(9); }
}
fn fail(n: Int) -> Result<Int, String> { Err("no ${n}") }
fn make() -> Board {
    let tasks = (0..3).map(|i| Task { name: "t${i}", notes: [i] });
    Board { tasks, named: {"t0": tasks[0], "t1": tasks[1], "t2": tasks[2]} }
}
"""
LOOPS = (
    "for (i, task) in {b}.tasks.enumerate()",
    "for (i, task) in {b}.tasks.iter().enumerate()",
    "for (i, Task { notes, .. }) in {b}.tasks.enumerate()",
    "for (k, task) in {b}.named",
    "for task in {b}.tasks",
)
CHANGES = (
    "{b}.tasks[i].hours += 1",
    "{b}.tasks[i].notes.push(7)",
    "{b}.tasks[i].add(7)",
    '{b}.tasks[i] = Task { name: "new", notes: [] }',
    "{b}.tasks[(i + 1) % 3].add(7)",
    "{b}.tasks[i].notes[0] = {b}.tasks[1].notes[0]",
    "{b}.tasks.push(task)",
    "{b}.tasks[i] = task",
    "{b}.tasks.reverse()",
    "let mut own = {b}.tasks[i]; own.add(5); {b}.tasks[i] = own",
    "let mut own = {b}.tasks.pop().unwrap(); own.add(5); {b}.tasks.push(own)",
    "let mut own = {b}.tasks.pop().unwrap(); own.add(5)",
    "{b}.named[k].add(7)",
    '{b}.named[k] = Task { name: "new", notes: [] }',
    '{b}.named["t1"].add(7)',
    '{b}.named["x${{b}.total}"] = task',
    "{b}.named.remove(k)",
    "{b}.record(2)",
    "{b}.later(2)",
    "{b}.touch(2)",
    "{b}.reset()",
    "for j in 0..2 { {b}.tasks[j].add(i); }",
    "for i in 1..3 { {b}.tasks[i].add(1); }",
    "let i = 2; {b}.tasks[i].add(1)",
)
BODIES = (
    "{seen} {change};",
    "{change}; {seen}",
    "let held = {part}; {change}; println(held.len());",
    "kept.push({part}); {change};",
    "{change}; kept.push({part});",
    "last = {part}; {change};",
    "println(last.len()); last = {part}; {change};",
    "if seen > 0 { {change}; {seen} return; }",
    "if seen > 0 { {seen} {change}; break; }",
    "if seen > 0 { {change}; if {b}.total < 2 { continue; } {seen} return; }",
    "if seen > 0 { for j in 0..2 { if j + seen == 2 { continue 'outer; } {change}; } return; }",
    "if seen > 0 { for j in 0..2 { {change}; break; } {seen} }",
    "if seen > 0 { try { {change}; fail(seen)?; return; } catch { println(7); } }",
    "if seen > 0 { last = {part}; {change}; break; }",
)


def program(loop: str, change: str) -> str:
    """All bodies with one change, of a parameter and of a local."""
    part = "notes" if "notes" in loop else "task.notes"
    seen = f'println("seen ${{{part}}}");'
    found, calls = [DECLARED], []
    for number, body in enumerate(BODIES):
        filled = body.replace("{change}", change).replace("{seen}", seen).replace("{part}", part)
        whole = (
            'let i = 1; let k = "t1"; let task = make().tasks[0]; '
            "let mut kept = [[0]]; let mut last = [0]; let mut seen = 0; "
            f"'outer: {loop} {{ seen += 1; if seen > 9 {{ return; }} {filled} }} "
            'println("${kept} ${last} ${seen}"); return;'
        )
        found.append(f"impl Board {{ fn m{number}(mut self) {{ {whole.replace('{b}', 'self')} }} }}")
        calls.append(f"{{ let mut b = make(); let c = b; b.m{number}(); println(b); println(c); }}")
    return "\n".join((*found, "fn main() {", *calls, "}"))


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_sees_nothing_of_what_its_body_changes(loop: str) -> None:
    for change in CHANGES:
        found = outcomes({"main.conc": program(loop, change)})
        assert "oracle" in found and agree(found), (loop, change, found)
