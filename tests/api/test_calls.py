"""`Runtime.call`: single public functions of a program, with JSON values."""

from __future__ import annotations

import asyncio
import io
import re
import sys
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from enum import Enum, StrEnum
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from concerto import Program, Runtime, compile_source
from concerto.diagnostics import Problems
from concerto.ir.codec import decode, encode
from concerto.ir.verifier import verify
from concerto.vm.machine import Tier

SOURCE = """
pub struct Mail { subject: String, tags: Array<String> = [] }
pub enum Urgency { Low, High }
enum Refused { Empty, TooLong(Int) }
struct Place<T> { of: T, next: Option<Place<T>> }

/// How urgent a mail is.
pub fn triage(mail: Mail, limit: Int = 5) -> Result<Urgency, Refused> {
    let length = mail.subject.len();
    if length == 0 {
        return Err(Refused::Empty);
    }
    if length > 20 {
        return Err(Refused::TooLong(length));
    }
    Ok(if length > limit { Urgency::High } else { Urgency::Low })
}

pub fn places(n: Int) -> Place<Int> {
    Place { of: n, next: if n > 0 { Some(places(n - 1)) } else { None } }
}
pub fn fails(items: Array<Int>) -> Int { items[7] }
pub fn bounded<T: Named>(a: T) -> String { a.name() }
pub trait Named { fn name(self) -> String; }
fn helper() -> Int { 1 }
pub fn helped() -> Int { helper() }
fn main() {}
"""


@pytest.fixture(scope="module")
def program() -> Program:
    return compile_source(SOURCE, path="mails.conc")


def test_values_cross_as_json(program: Program) -> None:
    def call(*given: Any, **named: Any) -> Any:
        return Runtime(program).call(*given, **named).value

    assert call("triage", {"subject": "hello!"}) == {"variant": "High", "data": None}
    assert call("triage", {"subject": "hello!"}, limit=9) == {"variant": "Low", "data": None}
    assert call("triage", limit=9, mail={"subject": "a", "tags": ["b"]}) == {"variant": "Low", "data": None}
    assert call("places", 1) == {"of": 1, "next": {"of": 0, "next": None}}
    assert call("helped") == 1


class Level(StrEnum):
    HIGH = "High"


class Tone(str, Enum):  # noqa: UP042
    """Whose text, asked for, is its name."""

    HIGH = "High"


class Share(float):
    """As the numbers of NumPy are."""


class Place(NamedTuple):
    name: str
    at: int


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("text", Level.HIGH, "High"),
        ("text", Tone.HIGH, "High"),
        ("shown", Tone.HIGH, "High|High  "),
        ("counts", {Tone.HIGH: 1}, {"High": 1}),
        ("level", Tone.HIGH, {"variant": "High", "data": None}),
        ("chosen", Tone.HIGH, "High"),
        ("told", Tone.HIGH, 'String High String String'),
        ("whole", HTTPStatus.OK, 201),
        ("part", Share(0.5), 1.0),
        ("part", HTTPStatus.OK, 200.5),
        ("pair", Place("a", 2), ["a", 2]),
        ("texts", (Level.HIGH, "b"), ["High", "b"]),
        ("texts", deque(["a"]), "expected `Array<String>`, found `deque`"),
        ("counts", Counter("aab"), {"a": 2, "b": 1}),
        ("counts", {Level.HIGH: 1, 2: True}, "expected `Int`, found `Bool` at `2`"),
        ("counts", {Level.HIGH: 1, 2: 2, None: 3}, {"High": 1, "2": 2, "null": 3}),
        ("counts", {(1, 2): 1}, "expected `a key of an object`, found `tuple`"),
        ("level", Level.HIGH, {"variant": "High", "data": None}),
        ("level", {"variant": Level.HIGH}, {"variant": "High", "data": None}),
        ("chosen", Level.HIGH, "High"),
        ("held", {"name": Level.HIGH, 1: 2}, "expected `Held`, found the unknown field `1`"),
        ("held", {"name": Level.HIGH}, "High"),
        ("told", {Level.HIGH: [Level.HIGH, HTTPStatus.OK, Share(1), (True, None)]},
         'Map {"High": ["High", 200, 1.0, [true, nil]]} Array String'),
        ("told", Level.HIGH, 'String High String String'),
        ("told", object(), "expected `Any`, found `object`"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("tier", ["python", "interpreter"])
def test_what_json_writes_of_python_is_taken(name: str, given: Any, found: Any, tier: Tier) -> None:
    """Enums, tuples and classes of one's own that are texts, numbers, lists or maps."""
    program = compile_source(
        """
        pub enum Level { Low, High }
        pub struct Held { name: String }
        pub fn text(x: String) -> String { x }
        pub fn shown(x: String) -> String { "${x}|${x:<6}" }
        pub fn whole(x: Int) -> Int { x + 1 }
        pub fn part(x: Float) -> Float { x + 0.5 }
        pub fn pair(x: (String, Int)) -> (String, Int) { x }
        pub fn texts(x: Array<String>) -> Array<String> { x }
        pub fn counts(x: Map<String, Int>) -> Map<String, Int> { x }
        pub fn level(x: Level) -> Level { x }
        pub fn chosen(x: "Low" | "High") -> String { x }
        pub fn held(x: Held) -> String { x.name }
        pub fn told(x: Any) -> String {
            let inner: Any = if typeof(x) == "Map" { x["High"] } else { x };
            let first: Any = if typeof(inner) == "Array" { inner[0] } else { inner };
            "${typeof(x)} ${x} ${typeof(inner)} ${typeof(first)}"
        }
        fn main() {}
        """
    )
    runtime = Runtime(program, tier=tier)
    if isinstance(found, str) and found.startswith("expected"):
        with pytest.raises(TypeError, match=re.escape(found)):
            runtime.call(name, given)
    else:
        value = runtime.call(name, given).value
        assert (value, type(value)) == (found, type(found))


def test_failures_have_a_kind_and_a_place(program: Program) -> None:
    errors = io.StringIO()
    result = Runtime(program, errors=errors).call("triage", {"subject": ""})
    assert (result.ok, result.kind, result.place) == (False, "Empty", "mails.conc:11:9")
    result = Runtime(program, errors=errors).call("fails", [1])
    assert (result.kind, result.place) == ("IndexError", "mails.conc:22:42")


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (["nope"], LookupError, "no public function `nope`"),
        (["triag"], LookupError, "did you mean `triage`?"),
        (["helper"], LookupError, "`helper` is not public: write `pub fn helper`"),
        (["bounded", 1], TypeError, "`bounded` cannot be called from Python: it is generic with bounds"),
        (["triage"], TypeError, "`triage` needs its argument `mail`"),
        (["triage", {}, 1, 2], TypeError, "`triage` takes 2 arguments (mail, limit), 3 were given"),
        (["helped", 1], TypeError, "`helped` takes no arguments, 1 were given"),
        (["triage", {"subject": 1}], TypeError, "as `mail`: expected `String`, found `Int` at `subject`"),
    ],
)
def test_wrong_calls(program: Program, given: list[Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        Runtime(program).call(*given)
    assert text in str(raised.value)


def test_wrong_names_of_arguments(program: Program) -> None:
    with pytest.raises(TypeError, match=r"no argument `limmit`; did you mean `limit`\?"):
        Runtime(program).call("triage", {"subject": ""}, limmit=1)
    with pytest.raises(TypeError, match="got its argument `mail` twice"):
        Runtime(program).call("triage", {"subject": ""}, mail={"subject": ""})
    with pytest.raises(TypeError, match="a single call is not kept"):
        Runtime(program, record="somewhere").call("helped")


def test_many_at_once(program: Program) -> None:
    def call(n: int) -> Any:
        return Runtime(program).call("places", n % 5).value["of"]

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(call, range(200))) == [n % 5 for n in range(200)]

    async def all_at_once() -> list[Any]:
        calls = [Runtime(program).call_async("places", n % 5) for n in range(200)]
        return [result.value["of"] for result in await asyncio.gather(*calls)]

    assert asyncio.run(all_at_once()) == [n % 5 for n in range(200)]


IMPLS = """
trait Says { fn say(self) -> String; }
struct P { v: Int }
struct Q { left: Int }
fn who() -> String { (await emit("who", 1)).unwrap() }
impl Says for P { fn say(self) -> String { "says ${who()}" } }
impl Says for Q { fn say(self) -> String { "nothing" } }
impl Ord for P { fn compare(self, other: P) -> Int { who(); self.v - other.v } }
impl Display for P { fn to_string(self) -> String { "shows ${who()}" } }
impl Iterator<String> for Q {
    fn next(mut self) -> Option<String> { if self.left == 0 { return None; } self.left -= 1; Some(who()) }
}
pub fn all() -> String {
    let both: Array<Says> = [P { v: 1 }, Q { left: 1 }];
    let mut told = both.map(|each| each.say());
    for each in (Q { left: 2 }) { told.push(each); }
    told.push("${[P { v: 2 }, P { v: 1 }].sort()[0]}");
    told.join(", ")
}
"""


def test_impls_that_wait_are_those_of_their_own_run() -> None:
    program = compile_source(IMPLS)

    def expected(name: str) -> str:
        return f"says {name}, nothing, {name}, {name}, shows {name}"

    async def call(n: int) -> Any:
        async def who(_: Any) -> str:
            await asyncio.sleep(n % 7 / 2000)
            return f"run {n}"

        return (await Runtime(program, handlers={"who": who}).call_async("all")).value

    async def all_at_once() -> list[Any]:
        async def never(_: Any) -> str:
            await asyncio.sleep(60)
            return ""

        left = asyncio.create_task(Runtime(program, handlers={"who": never}).call_async("all"))
        answers = await asyncio.gather(*[call(n) for n in range(200)])
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        return answers

    assert asyncio.run(all_at_once()) == [expected(f"run {n}") for n in range(200)]
    alone = Runtime(program, handlers={"who": lambda _: "one"}).call("all").value
    assert alone == expected("one")


def test_impls_of_runs_at_once_know_their_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who runs is looked for on the stack once in each branch, and not for each comparison."""
    program = compile_source(
        """
        struct P { v: Int }
        impl Ord for P { fn compare(self, other: P) -> Int { self.v - other.v } }
        impl Display for P { fn to_string(self) -> String { "p${self.v}" } }
        fn lowest(from: Int) -> String {
            let ps = (0..50).map(|n| P { v: from + n * 7 % 50 }).collect();
            "${ps.sort()[0]} ${ps[1]}"
        }
        pub fn all() -> String {
            let who = (await emit("who", 1)).unwrap() as Int;
            let mut told = [lowest(who)];
            told.extend(parallel for each in [1, 2] { lowest(who + each) });
            told.join(", ")
        }
        """
    )
    walks = []

    class Stack:
        def _getframe(self, depth: int) -> Any:
            walks.append(depth)
            return sys._getframe(depth + 1)

    monkeypatch.setattr("concerto.vm.machine.sys", Stack())

    async def call(n: int) -> Any:
        async def who(_: Any) -> int:
            await asyncio.sleep(0.01)
            return n

        return (await Runtime(program, handlers={"who": who}).call_async("all")).value

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*[call(n) for n in (100, 200, 300)])

    answers = asyncio.run(all_at_once())
    assert answers == [
        ", ".join([f"p{n + each} p{n + each + 7}" for each in range(3)]) for n in (100, 200, 300)
    ]
    assert len(walks) <= 12


def test_call_stops_no_event_loop(program: Program) -> None:
    async def wrongly() -> None:
        Runtime(program).call("helped")

    with pytest.raises(RuntimeError, match="`await` call_async"):
        asyncio.run(wrongly())


def test_compiled_programs_can_be_called(program: Program, tmp_path: Path) -> None:
    module = decode(encode(program.module), "mails.conc-ir", Problems())
    assert module is not None and verify(module, Problems())
    assert Runtime(Program(module)).call("places", 0).value == {"of": 0, "next": None}


def test_what_a_file_of_ir_claims_is_checked(program: Program) -> None:
    module = decode(encode(program.module), "mails.conc-ir", Problems())
    assert module is not None
    module.exports[0].parameters.pop()
    problems = Problems()
    assert not verify(module, problems)
    assert "export `triage` needs a function of 1 parameters" in next(iter(problems)).message
