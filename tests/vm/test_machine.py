"""Stopping, depth, traces and cached code: what a machine promises beyond values."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, cast

import pytest

from concerto.compiler import compile_source
from concerto.ir.module import ModuleIR
from concerto.vm.classes import ClassTable
from concerto.vm.host import Host
from concerto.vm.machine import Machine, Tier
from concerto.vm.native import native
from concerto.vm.python_tier import compile_module
from concerto.vm.trace import render_failure, source_trace
from concerto.vm.values import Cancelled, Raised
from tests.vm.assembler import assemble
from tests.vm.hosts import TIERS, Recorder

RESTS: list[None] = []
"""One for each call of `Test::rest`."""


@native("Test::rest")
def rest() -> None:
    RESTS.append(None)
    time.sleep(0.001)


def machine_for(text: str | ModuleIR, tier: Tier, **options: Any) -> Machine:
    module = assemble(text) if isinstance(text, str) else text
    return Machine(module, cast(Host, Recorder()), tier=tier, **options)


def on_large_stack(work: Callable[[], Any]) -> Any:
    """The result, or the exception, of work done in a thread with room for deep recursion."""
    results: list[Any] = []

    def body() -> None:
        try:
            results.append(work())
        except BaseException as error:
            results.append(error)

    size, limit = threading.stack_size(512 * 1024 * 1024), sys.getrecursionlimit()
    sys.setrecursionlimit(110_000)
    try:
        thread = threading.Thread(target=body, daemon=True)
        thread.start()
        thread.join(300)
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    return results[0]


ENDLESS = {
    "loop": """
fn main()
    LOOP
    END
""",
    "for": """
fn main() locals=1
    LOAD_CONST 0
    LOAD_CONST 9223372036854775807
    BUILD_RANGE 0
    FOR 0
    END
""",
    "calls": """
fn fib(n)
    LOAD_LOCAL 0
    LOAD_CONST 2
    LT_INT
    IF 0
      LOAD_LOCAL 0
      RETURN
    END
    LOAD_LOCAL 0
    LOAD_CONST 1
    SUB_INT
    CALL fib 1
    LOAD_LOCAL 0
    LOAD_CONST 2
    SUB_INT
    CALL fib 1
    ADD_INT
    RETURN
fn main()
    LOAD_CONST 60
    CALL fib 1
    RETURN
""",
    "closures in a native": """
fn same(n) captures=1
    LOAD_LOCAL 1
    RETURN
fn main()
    LOAD_CONST 0
    LOAD_CONST 100000000
    BUILD_RANGE 0
    LOAD_CONST 1
    MAKE_CLOSURE same 1
    CALL_NATIVE Range::map 2
    RETURN
""",
}


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", ENDLESS)
def test_cancel_stops_running_code(name: str, tier: Tier) -> None:
    machine = machine_for(ENDLESS[name], tier)
    threading.Timer(0.05, machine.cancel).start()
    with pytest.raises(Cancelled):
        machine.run_entry()


@pytest.mark.parametrize("tier", TIERS)
def test_the_owner_is_asked_now_and_then(tier: Tier) -> None:
    asked = []

    def check() -> None:
        asked.append(1)
        if len(asked) == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        machine_for(ENDLESS["loop"], tier, cancel_check=check).run_entry()
    assert len(asked) == 3


def test_one_stopped_loop_does_not_end_others() -> None:
    """All loops draw from one iterator; that a poll raised must not exhaust it."""
    refuse = [True]

    def check() -> None:
        if refuse[0]:
            raise Cancelled

    text = """
fn count(n) locals=2
    LOAD_CONST 0
    STORE_LOCAL 1
    BLOCK 0
      LOOP
        LOAD_LOCAL 1
        LOAD_LOCAL 0
        GE_INT
        BR_IF 1
        LOAD_LOCAL 1
        LOAD_CONST 1
        ADD_INT
        STORE_LOCAL 1
      END
    END
    LOAD_LOCAL 1
    RETURN
"""
    machine = machine_for(text, "python", cancel_check=check)
    with pytest.raises(Cancelled):
        machine.call(0, [5000])
    refuse[0] = False
    assert machine.call(0, [5000]) == 5000


def test_slow_steps_are_polled_as_often_as_quick_ones() -> None:
    """The body calls nothing of the program, only what is slow: a thousand rounds take more than a second, so
    fewer come before the next poll."""
    text = """
fn main() locals=1
    LOAD_CONST 0
    LOAD_CONST 100000
    BUILD_RANGE 0
    FOR 0
      CALL_NATIVE Test::rest 0
      POP
    END
"""
    rounds: list[int] = []

    def check() -> None:
        rounds.append(len(RESTS))
        if len(rounds) == 6:
            raise Cancelled

    with pytest.raises(Cancelled):
        machine_for(text, "python", cancel_check=check).run_entry()
    assert rounds[-1] - rounds[-2] < 300


DEEP = """
fn down(n)
    LOAD_LOCAL 0
    LOAD_CONST 0
    EQ_INT
    IF 0
      LOAD_CONST 0
      RETURN
    END
    LOAD_LOCAL 0
    LOAD_CONST 1
    SUB_INT
    CALL down 1
    LOAD_CONST 1
    ADD_INT
    RETURN
"""


@pytest.mark.parametrize("tier", TIERS)
def test_fifty_thousand_calls_deep(tier: Tier) -> None:
    machine = machine_for(DEEP, tier)
    assert on_large_stack(lambda: machine.call(0, [50_000])) == 50_000


@pytest.mark.parametrize("tier", TIERS)
def test_endless_recursion_is_an_error(tier: Tier) -> None:
    machine = machine_for(DEEP, tier)
    error = on_large_stack(lambda: machine.call(0, [-1]))
    assert isinstance(error, Raised)
    assert (error.value.message, error.value.kind) == ("call depth exceeded", "CallDepth")


FAILING = """
fn pick(a, i)
    LOAD_LOCAL 0
    LOAD_LOCAL 1
    INDEX_ARRAY
    RETURN
fn main()
    LOAD_CONST 1
    LOAD_CONST 2
    BUILD_ARRAY 2
    LOAD_CONST 7
    CALL pick 2
    RETURN
"""


@pytest.mark.parametrize("tier", TIERS)
def test_trace_in_terms_of_the_source(tier: Tier) -> None:
    machine = machine_for(FAILING, tier)
    with pytest.raises(Raised) as caught:
        machine.run_entry()
    frames = source_trace(caught.value)
    assert [(frame.function, frame.text.strip()) for frame in frames] == [
        ("main", "CALL pick 2"),
        ("pick", "INDEX_ARRAY"),
    ]
    assert render_failure(caught.value, caught.value.value.message) == (
        "error: index 7 is out of bounds for length 2\n"
        "  ┌─ test.conc:5:5 in `pick`\n"
        "5 │     INDEX_ARRAY\n"
        "  │     ^^^^^^^^^^^\n"
        "call stack, innermost first:\n"
        "  `pick` at test.conc:5:5\n"
        "  `main` at test.conc:12:5\n"
    )


@pytest.mark.parametrize("tier", TIERS)
def test_the_failing_part_of_an_expression_is_found(tier: Tier) -> None:
    text = """
fn main(a, b)
    LOAD_LOCAL 0
    LOAD_LOCAL 0
    ADD_INT
    LOAD_LOCAL 1
    LOAD_CONST 0
    INDEX_ARRAY
    LOAD_CONST 0
    DIV_INT
    ADD_INT
    RETURN
"""
    for arguments, expected in (
        ([2**63 - 1, [1]], "ADD_INT"),
        ([1, []], "INDEX_ARRAY"),
        ([1, [1]], "DIV_INT"),
    ):
        module = assemble(text.replace("fn main", "fn sums"))
        with pytest.raises(Raised) as caught:
            machine_for(module, tier).call(0, arguments)
        assert source_trace(caught.value)[-1].text.strip() == expected


def test_long_stacks_are_shortened() -> None:
    machine = machine_for(
        DEEP.replace("LOAD_CONST 0\n      RETURN", "BUILD_ARRAY 0\n LOAD_LOCAL 0\n INDEX_ARRAY\n RETURN"),
        "python",
    )
    with pytest.raises(Raised) as caught:
        machine.call(0, [100])
    shown = render_failure(caught.value, "gone")
    assert "`down` at test.conc:15:5, 100 times" in shown and len(shown.splitlines()) < 10


def test_cached_code_does_the_same() -> None:
    module = assemble(FAILING)
    machine = machine_for(module, "python", code=compile_module(module))
    with pytest.raises(Raised) as caught:
        machine.run_entry()
    assert caught.value.value.message == "index 7 is out of bounds for length 2"
    assert source_trace(caught.value)[-1].function == "pick"


def nested(kind: str, depth: int) -> str:
    """`deep(n)`: that many regions in one another, the innermost adding one to the number."""
    opening = {
        "blocks": "BLOCK 0",
        "conditions": "LOAD_TRUE\nIF 0",
        "loops": "BLOCK 0\nLOOP",
        "tries": "TRY 0",
    }[kind]
    closing = {"blocks": "END", "conditions": "END", "loops": "BR 1\nEND\nEND", "tries": "CATCH 1\nEND"}[kind]
    inner = "LOAD_LOCAL 0\nLOAD_CONST 1\nADD_INT\nSTORE_LOCAL 0"
    if kind == "tries":
        closings = "\n".join([f"CATCH {1 + level}\nEND" for level in range(depth)])
    else:
        closings = "\n".join([closing] * depth)
    body = "\n".join([opening] * depth) + f"\n{inner}\n{closings}\nLOAD_LOCAL 0\nRETURN"
    return f"fn deep(n) locals={depth + 2}\n{body}"


@pytest.mark.parametrize("kind", ["blocks", "conditions", "loops", "tries"])
@pytest.mark.parametrize("depth", [10, 19, 25, 70, 110, 3000])
def test_nesting_beyond_what_python_takes(kind: str, depth: int) -> None:
    for tier in TIERS:
        assert machine_for(nested(kind, depth), tier).call(0, [1]) == 2


def test_functions_left_to_the_interpreter_call_and_are_called() -> None:
    text = (
        "fn before(n)\nLOAD_LOCAL 0\nCALL deep 1\nRETURN\n"
        + nested("conditions", 100).replace("LOAD_LOCAL 0\nRETURN", "LOAD_LOCAL 0\nCALL after 1\nRETURN")
        + "\nfn after(n)\nLOAD_LOCAL 0\nLOAD_CONST 10\nMUL_INT\nRETURN\n"
    )
    assert machine_for(text, "python").call(0, [1]) == 20


def test_what_callers_in_the_program_pass_binds_nobody_else() -> None:
    text = """
fn main()
    LOAD_CONST 1
    CALL twice 1
    RETURN

fn twice(n)
    LOAD_LOCAL 0
    CALL double 1
    RETURN

fn double(n)
    LOAD_LOCAL 0
    LOAD_CONST 2
    MUL_INT
    RETURN
"""
    module = assemble(text)
    machine = machine_for(module, "python", code=compile_module(module))
    assert [machine.run_entry(), machine.call(1, [21]), machine.call(2, [-4])] == [2, 42, -8]
    with pytest.raises(Raised) as caught:
        machine.call(1, [2**62])
    assert caught.value.value.message == "integer overflow"
    assert [frame.function for frame in source_trace(caught.value)] == ["twice", "double"]


SHARED = """
trait Says {
    fn say(self) -> Int;
    fn deep(self) -> Int;
    fn grow(mut self, by: Int);
    fn found(self) -> Option<Int>;
}
struct P { x: Int }
impl Says for P {
    fn say(self) -> Int { println("said"); self.x }
    fn deep(self) -> Int { IFS self.x }
    fn grow(mut self, by: Int) { println("grown"); self.x += by; }
    fn found(self) -> Option<Int> { println("found"); if self.x > 0 { Some(self.x) } else { None } }
}
impl Display for P { fn to_string(self) -> String { println("shown"); "p" } }
impl Iterator<Int> for P { fn next(mut self) -> Option<Int> { println("asked"); None } }
fn main() {
    let mut all: Array<Says> = [P { x: 1 }];
    all[0].grow(1);
    all[0].say() + all[0].deep();
    println(all[0].found().unwrap_or(0));
    let text = "${P { x: 1 }}";
    let one = P { x: 1 };
    for each in one {}
}
"""


@pytest.mark.parametrize("tier", TIERS)
def test_machines_that_share_classes_run_their_own_methods(tier: Tier) -> None:
    module = compile_source(
        SHARED.replace("IFS", "if self.x > 0 { " * 70 + 'println("deep");' + " }" * 70)
    ).module
    classes = ClassTable(module.types, module.functions)
    said = ["grown", "said", "deep", "found", "2", "shown", "asked"]
    machines = [machine_for(module, tier, classes=classes)]
    machines[0].run_entry()
    machines += [machine_for(module, tier, classes=classes) for _ in range(2)]
    for machine in [machines[1], machines[0], machines[2], machines[0]]:
        machine.run_entry()
    for machine, runs in zip(machines, (3, 1, 1), strict=True):
        asked = cast(Any, machine.host).asked
        assert [text.strip() for name, text in asked if name == "print"] == said * runs


@pytest.mark.parametrize("tier", TIERS)
def test_machines_that_run_at_once_run_their_own_methods(tier: Tier) -> None:
    module = compile_source(SHARED.replace("IFS ", "")).module
    classes = ClassTable(module.types, module.functions)
    said = ["grown", "said", "found", "2", "shown", "asked"]
    first, second, third = [machine_for(module, tier, classes=classes) for _ in range(3)]
    began = threading.Barrier(2)

    def run_beside(machine: Machine) -> None:
        began.wait(10)
        for _ in range(20):
            machine.run_entry()

    first.run_entry()
    assert [classes.owner] == [first]
    beside = [threading.Thread(target=run_beside, args=[machine]) for machine in (second, third)]
    for thread in beside:
        thread.start()
    for thread in beside:
        thread.join()

    # The second runs whenever the first says something.
    host = cast(Any, first.host)
    usual = host.print
    host.print = lambda *given: (usual(*given), second.run_entry())
    first.run_entry()
    assert [classes.owner] == [None]
    host.print = usual
    first.run_entry()
    assert [classes.owner] == [first]
    for machine, runs in ((first, 3), (second, 20 + len(said)), (third, 20)):
        asked = cast(Any, machine.host).asked
        assert [text.strip() for name, text in asked if name == "print"] == said * runs
