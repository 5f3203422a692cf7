"""Thousands of hostile, random and mutated programs of a model: none does anything but call its tools.

`python -m tests.code.hostile --cases 10000 --seed 1`. Each program comes from a model server and goes the
whole way. Meanwhile Python tells of every file, socket, process and import, the gate of every effect.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from concerto.effects.kinds import AgentRun, ModelCall, ToolCall
from concerto.runtime.code import confinement
from concerto.runtime.code.programs import ProgramTool
from tests.code.shop import SHOP, run_programs

SEEDS = (
    'let orders = Shop::orders("ada"); let mut n = 0.0; for o in orders { n += o.total; } n',
    'let done = Shop::cancel(1, reason: Some("late"))?; done',
    'struct P { name: String }\nfn f(p: P) -> String { p.name }\nf(P { name: "x" })',
    "try { Shop::broken(); } catch ToolError(e) { println(e.message); }\n1",
    'parallel for name in ["a", "b"] { Shop::orders(name, 1).len() }',
    "enum E { A, B(Int) }\nlet e = E::B(2);\nmatch e { E::A => 0, E::B(n) => n }",
    'use std::json;\njson::parse("[1, 2]")',
    'use std::regex;\nregex::find_all(r"\\d+", "a1b22")',
    "while true {}",
    "loop { let x = 1; }",
    "fn f(n: Int) -> Int { f(n + 1) + f(n) }\nf(0)",
    'let mut s = "x"; loop { s = "${s}${s}"; }',
    "let mut a = [1]; loop { a.push(1); }",
    "let mut a = [[1]]; loop { a = a.concat(a); }",
    'loop { println("aaaaaaaaaaaaaaaaaaaaaaaaa"); }',
    '"x".repeat(9000000000)',
    '"ab".repeat(100000000).replace("a", "bbbbbbbb").len()',
    "(0..1000000000).to_array().len()",
    'loop { Shop::orders("a"); }',
    'parallel for i in 0..1000000 { Shop::orders("a") }',
    "[1, 2, 3].map(|x| loop { })",
    'panic("now")',
    "throw 1;",
    'use std::regex;\nregex::is_match("(a+)+(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")',
    'use std::fs;\nfs::read_file("/etc/passwd")',
    'use std::fs;\nfs::write_file("/tmp/escaped", "x")',
    "use std::env;\nenv::all()",
    'env("HOME")',
    'use std::http;\nhttp::get("http://127.0.0.1:1/")',
    "use std::time;\ntime::sleep(100000)",
    "use std::math;\nmath::random()",
    "use std::crypto;\ncrypto::uuid()",
    'use std::tools::ShellTool;\nShellTool::exec("touch /tmp/escaped")',
    'let x: Any = Shop; x.exec("ls")',
    "let x: Any = Shop::burn; x()",
    "Shop::burn()",
    "let run: Any = println; run(Shop)",
    'Clerk.execute("more")?',
    'emit("approve", true)',
    'await emit("approve", true)',
    "spawn { loop { } }",
    'agent X { provider: openai, model: "m", tools: [Shop] }\nX.execute("x")',
    'pub use std::fs::*;\nread_file("/etc/passwd")',
    "mod a { pub use std::env; }\n1",
    "struct Shop { n: Int }\nShop { n: 1 }",
    "fn println(x: Any) -> Any { Shop::cancel(1) }\nprintln(1)",
    '__import__("os").system("ls")',
    'eval("1")',
    'use std::prelude::env;\nenv("HOME")',
    "std::env::all()",
    'use std::prompt;\nprompt::from_file("/etc/passwd")',
    "trait T { fn go(self) -> Int; }\nimpl T for Int { fn go(self) -> Int { self.go() } }\n1.go()",
    "HashMap::new()",
    "Memory::new(3)",
    'let m = {"a": 1}; m["b"]',
    'use std::math;\nmath::eval("2 ** 99999999")',
    'eval_math("9 ^ 9 ^ 9 ^ 9")',
    "let f = |x| x; f",
    "return 5;",
    'let s = "${Shop::orders("a")[0].id}"; s',
    "@test\nfn a() { }\nfn main() { a() }",
    "fn main(args: Array<String>) { }",
    'mock Clerk { response: "x" }',
    "listen Clerk { }",
    'race(Shop::orders("a"), Shop::orders("b"))',
)
_COMPILING = 24
"""So many of the seeds, the first ones, are programs that compile."""
_NUMBERS = (0, 1, 2, 3, 7, 100, 1_000_000, 9_223_372_036_854_775_807)
_WORDS = (
    "Shop", "Clerk", "std", "fs", "env", "http", "run_program", "main", "self", "Any", "loop", "spawn",
    "await", "emit", "match", "fn", "use", "pub", "__class__", "f0", "burn", "execute", "with_tools",
    "ToolRef", "AgentBuilder", "9223372036854775807", "0.0", '"\\u{0}"', "nil", "..", "|x|", "${", "}", "{",
    "?",
)  # fmt: skip
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\w+|\s+|.', re.DOTALL)
_HARMLESS = ("/proc/self/statm",)
_TOLD_OF = ("open", "socket.", "subprocess.", "os.", "shutil.", "ctypes.", "exec", "compile", "import")


@dataclass
class Watch:
    """What happens while programs are compiled and run: Implements the runtime's Watcher."""

    inside: int = 0
    outside: list[str] = field(default_factory=list)
    effects: Counter[str] = field(default_factory=Counter)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.inside or not event.startswith(_TOLD_OF):
            return
        first = str(arguments[0]) if arguments else ""
        if event == "open" and (first in _HARMLESS or first.endswith((".py", ".pyc", ".conc"))):
            return
        if event in ("import", "compile", "exec", "os.listdir", "os.scandir") or first.isdigit():
            return
        self.outside.append(f"{event} {first}")

    def began(self, effect: Any) -> None:
        self.effects[f"{effect.tool}::{effect.method}" if isinstance(effect, ToolCall) else "model"] += 1
        if not isinstance(effect, AgentRun | ModelCall | ToolCall):
            self.outside.append(repr(effect))

    def ended(self, effect: Any, value: Any) -> None:
        pass


def programs(cases: int, seed: int) -> Iterator[str]:
    """Hostile programs: the seeds, then mutations of them."""
    chance = random.Random(seed)
    for number in range(cases):
        mutated = _running if number % 2 else _mutated
        text = SEEDS[number] if number < len(SEEDS) else mutated(chance)
        yield f"{text}\n// {number}"


def _running(chance: random.Random) -> str:
    """A mutation that mostly compiles: some of the seeds that do, with other numbers, names and nesting."""
    parts = [chance.choice(SEEDS[:_COMPILING]) for _ in range(chance.randint(1, 3))]
    parts = [re.sub(r"\b\d+\b", lambda _: str(chance.choice(_NUMBERS)), part) for part in parts]
    uses = [line for part in parts for line in part.split("\n") if line.startswith("use ")]
    bodies = ["\n".join([line for line in part.split("\n") if not line.startswith("use ")]) for part in parts]
    calls = []
    for number, body in enumerate(bodies):
        around = chance.choice(("{}", "{}", "try {{ f(); }} catch {{ 1 }};", "for i in 0..3 {{ f(); }}"))
        calls.append(
            f"let f = || {{ {body}\n}};\n" + around.format("f();" if number + 1 < len(bodies) else "f()")
        )
    return "\n".join([*dict.fromkeys(uses), *calls])


def _mutated(chance: random.Random) -> str:
    tokens = _TOKEN.findall(chance.choice(SEEDS))
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(tokens) + 1)
        match chance.randrange(7):
            case 0:
                del tokens[place : place + chance.randint(1, 3)]
            case 1:
                tokens.insert(place, chance.choice(_WORDS))
            case 2:
                tokens[place : place + 1] = [chance.choice(_WORDS)]
            case 3:
                tokens[place:place] = tokens[chance.randrange(len(tokens) + 1) :][:5]
            case 4:
                tokens[place:place] = ["\n", *_TOKEN.findall(chance.choice(SEEDS)), "\n"]
            case 5:
                tokens.insert(
                    place, chr(chance.choice((0, 9, 0x202E, 0x1F600, 0xFFFF, chance.randrange(0xD800))))
                )
            case _:
                tokens[place:place] = [chance.choice("([{<|!-")] * chance.choice((1, 3, 200))
        if not tokens:
            tokens = ["1"]
    return "".join(tokens)


@contextmanager
def watched() -> Iterator[Watch]:
    """Watches all programs, which have less than usual: 5,000 steps and 32 MB."""
    watch = Watch()
    _heard_by.append(watch)
    original = ProgramTool._run_source

    async def run_source(self: ProgramTool, *given: Any) -> Any:
        watch.inside += 1
        try:
            return await original(self, *given)
        finally:
            watch.inside -= 1

    less = patch.object(confinement, "MOST_STEPS", 5_000), patch.object(confinement, "MOST_MEGABYTES", 32)
    # A module of Python's that a program is the first to need would be written down beside its source.
    unwritten = patch.object(sys, "dont_write_bytecode", True)
    try:
        with patch.object(ProgramTool, "_run_source", run_source), less[0], less[1], unwritten:
            yield watch
    finally:
        _heard_by.remove(watch)


_heard_by: list[Watch] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    for each in _heard_by:
        each.hear(event, arguments)


sys.addaudithook(_audit)
"""Nobody can take it back; without a Watch it does nothing."""

_CLERK = SHOP.replace('code: "CODE"', 'code: "CODE", max_iterations: 1000')
_DENIED = {"permissions": {"Shop": {"burn": False}}}


def attack(cases: int, seed: int, at_once: int = 50) -> tuple[Watch, Counter[str]]:
    """Has a model write that many programs; raises AssertionError at the first that is not ended well."""
    kinds: Counter[str] = Counter()
    run_programs("1", source=_CLERK)  # What is loaded once is.
    with watched() as watch:
        written = list(programs(cases, seed))
        for first in range(0, cases, at_once):
            batch = written[first : first + at_once]
            told = run_programs(*batch, source=_CLERK, manifest=_DENIED, watcher=watch, quiet=True)
            assert told.result.ok and len(told.results) == len(batch), (told.result.error, batch)
            for program, result in zip(batch, told.results, strict=True):
                found = {"value", "error", "diagnostics"} & result.keys()
                assert len(found) == 1, (program, result)
                kinds.update(found)
            assert not watch.outside, (watch.outside, batch)
    assert not watch.effects["Shop::burn"]
    return watch, kinds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begun = time.process_time()
    watch, kinds = attack(given.cases, given.seed)
    print(f"{given.cases} programs: {dict(kinds)}; outside: {len(watch.outside)}")
    print(f"effects: {dict(watch.effects)}")
    print(f"{(time.process_time() - begun) / given.cases * 1000:.1f} ms CPU each, server and wire included")


if __name__ == "__main__":
    main()
