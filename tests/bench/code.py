"""Programs that a model writes: tokens of requests beside calls one by one, and the CPU time of a program.

`python -m tests.bench.code`. The scenario: 50 tools, a list of 40 rows, a call for each row, one number
wanted. Requests are those that a model server on loopback got; tokens are counted by the library's estimate.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from concerto.ir.module import ToolUse
from concerto.natives.prompt import count_tokens
from concerto.program import Runtime
from concerto.runtime.code.compiling import ProgramWorld, compile_program
from concerto.runtime.code.confinement import ProgramHost, ProgramLimits, ProgramMachine, ToolAnswer
from concerto.runtime.code.signatures import signatures
from concerto.runtime.concurrency.fibers import Branch, Fiber, run_now
from concerto.runtime.run.options import RunOptions, resolve
from concerto.runtime.run.run import Run
from tests.runtime.running import chat_at, make_runtime
from tests.runtime.servers import Script, chat_reply

ROWS = 40
PROGRAM = """
let mut open = 0.0;
for customer in Crm::customers("north") {
    for order in Crm::orders(customer.id)? {
        if !order.paid { open += order.total; }
    }
}
open
"""
TEN_LINES = """
let mut open = 0.0;
let mut names: Array<String> = [];
for order in Crm::orders(7)? {
    if order.paid { continue; }
    open += order.total;
    names.push(order.customer.to_upper());
}
let shown = names.join(", ");
println("open: ${open:.2}");
{"open": open, "names": shown}
"""


def source(code: str) -> str:
    others = "".join(
        f"""
    @describe("Does the task number {number} with a record and says whether it went well")
    @param("record", "The number of the record") @param("note", "What to write into its history")
    @param("urgent", "Whether it comes before others")
    pub fn task_{number}(record: Int, note: String, urgent: Bool = false) -> Result<Bool, ToolError> {{
        Ok(true)
    }}"""
        for number in range(48)
    )
    field = f', code: "{code}"' if code else ""
    return f"""
struct Customer {{ id: Int, name: String, region: String, since: String }}
struct Order {{ id: Int, customer: String, total: Float, paid: Bool, note: String }}
tool Crm {{
    description: "Customers and their orders",
    @describe("The customers of a region") @param("region", "The name of the region")
    pub fn customers(region: String) -> Array<Customer> {{
        (0..{ROWS}).to_array().map(|n| Customer {{
            id: n, name: "customer number ${{n}}", region: region, since: "2021-03-0${{n % 9 + 1}}" }})
    }}
    @describe("The orders of a customer") @param("customer", "The number of the customer")
    pub fn orders(customer: Int) -> Result<Array<Order>, ToolError> {{
        Ok((0..3).to_array().map(|n| Order {{
            id: customer * 10 + n, customer: "customer number ${{customer}}", total: 9.5 * (n as Float),
            paid: n == 1, note: "to be delivered in the morning" }}))
    }}{others}
}}
agent Clerk {{ provider: openai, model: "m", tools: [Crm], max_iterations: 100{field} }}
fn main() -> Result<Nil, AgentError> {{ Clerk.execute("What is open in the north?")?; Ok(nil) }}
"""


def requests(code: str, answers: list[Any]) -> list[int]:
    """The tokens of each request of an execution in which the model answers so."""
    with Script() as server:
        server.answer(*answers)
        runtime: Runtime = make_runtime(source(code), chat_at(server.url), quiet=True)
        result = runtime.run()
        assert result.ok, result.error
        return [count_tokens(json.dumps(each.body)) for each in server.seen]


def orders_of(first: int, count: int) -> tuple[tuple[str, str, str], ...]:
    return tuple((f"c{n}", "Crm__orders", json.dumps({"customer": n})) for n in range(first, first + count))


def scenario() -> None:
    listed = chat_reply(None, ("c", "Crm__customers", '{"region": "north"}'))
    one_by_one = [listed, *[chat_reply(None, *orders_of(n, 1)) for n in range(ROWS)], chat_reply("760")]
    at_once = [listed, chat_reply(None, *orders_of(0, ROWS)), chat_reply("760")]
    written = [chat_reply(None, ("c", "run_program", json.dumps({"source": PROGRAM}))), chat_reply("760")]
    rows = [
        ("tool by tool", requests("", one_by_one)),
        ("tool by tool, all 40 at once", requests("", at_once)),
        ('a program, `code: "also"`', requests("also", written)),
        ('a program, `code: "only"`', requests("only", written)),
    ]
    most = sum(rows[0][1])
    print(f"{'':32}requests   first    last     sum   saved")
    for name, tokens in rows:
        print(
            f"{name:32}{len(tokens):8}{tokens[0]:8}{tokens[-1]:8}{sum(tokens):8}{1 - sum(tokens) / most:8.1%}"
        )


def cpu(work: Callable[[], Any], times: int = 100) -> float:
    """Milliseconds of CPU, the best of five rounds."""
    best = float("inf")
    for _ in range(5):
        begun = time.process_time()
        for _ in range(times):
            work()
        best = min(best, (time.process_time() - begun) / times)
    return best * 1000


def warm() -> None:
    from concerto.compiler import compile_source

    program = compile_source(source("only"))
    run = Run(program.module, resolve(RunOptions()))
    told = signatures(program.module, run.tools.bound(ToolUse("tool", "Crm")))
    declarations = told.declarations
    orders = [{"id": n, "customer": "ada", "total": 9.5, "paid": n == 1, "note": "x"} for n in range(3)]

    async def call(owner: str, name: str, arguments: Any, branch: Branch) -> ToolAnswer:
        return ToolAnswer(orders)

    def once() -> Any:
        made = compile_program(TEN_LINES, declarations)
        machine = ProgramMachine(made.module, ProgramHost(call, ProgramLimits()))
        fiber = Fiber(Branch(), machine.run_program)
        asked = fiber.begin()
        while not fiber.dead:
            asked = fiber.resume(run_now(asked()))
        return asked

    assert once()["open"] == 19.0
    compiling = cpu(lambda: compile_program(TEN_LINES, declarations))
    print(f"10 lines, warm: {cpu(once):.2f} ms CPU, of which compiling {compiling:.2f}")
    begun = time.process_time()
    ProgramWorld(told.declarations)
    print(f"the signatures of 50 tools, once: {(time.process_time() - begun) * 1000:.1f} ms CPU")
    monty(orders)


MONTY = """
open = 0.0
names = []
for order in orders(7):
    if order["paid"]:
        continue
    open = open + order["total"]
    names.append(order["customer"].upper())
shown = ", ".join(names)
print("open: " + str(open))
{"open": open, "names": shown}
"""


def monty(orders: list[dict[str, Any]]) -> None:
    """The same task in pydantic-monty, if it is installed; its programs run in a process of their own."""
    try:
        from pydantic_monty import Monty
    except ImportError:
        print("pydantic-monty is not installed")
        return
    with Monty() as pool, pool.checkout() as session:
        read = Path(f"/proc/{session.worker_pid}/stat")

        def once() -> Any:
            return session.feed_run(
                MONTY, external_lookup={"orders": lambda customer: orders}, print_callback=lambda *_: None
            )

        def ticks() -> int:
            return sum(map(int, read.read_text().rpartition(")")[2].split()[11:13]))

        assert once()["open"] == 19.0
        times, begun, there = 500, time.process_time(), ticks()
        for _ in range(times):
            once()
        here = (time.process_time() - begun) / times
        worker = (ticks() - there) / os.sysconf("SC_CLK_TCK") / times
    print(f"pydantic-monty, the same: {(here + worker) * 1000:.2f} ms CPU, its worker's included")


def main() -> None:
    scenario()
    warm()


if __name__ == "__main__":
    main()
