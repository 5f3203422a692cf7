"""Tools written in Python: what models are told of them, what they are given, and bad ones."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import sys
import typing
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Literal, Optional

import pydantic
import pytest

import concerto
from concerto.runtime.tools import python_signatures
from concerto.runtime.tools.python_signatures import BadResult, BadValues, Signature
from concerto.testing import ToolExecutor, ToolFailed
from tests.runtime.servers import Script, chat_reply

PROGRAM = concerto.compile_source("fn main() { }")


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


@dataclasses.dataclass
class Place:
    name: str
    country: str = "NO"


class Trip(pydantic.BaseModel):
    title: str = pydantic.Field(description="What it is called")
    stops: list[Place]
    day: datetime.date


def execute(tool: Any, arguments: dict[str, Any], method: str = "") -> Any:
    name = f"tool::{method}" if method else "tool"
    return ToolExecutor(PROGRAM, tools={"tool": tool}).execute(name, arguments)


def test_a_function_with_all_kinds_of_hints() -> None:
    @concerto.tool
    def plan(
        trip: Trip,
        level: Level,
        mode: Literal["bus", "train"],
        seats: Annotated[int, "How many seats", pydantic.Field(ge=1)] = 2,
        note: str | None = None,
        old: Optional[float] = None,  # noqa: UP045
        extra: dict[str, list[int]] | None = None,
        anything: Any = 5,
    ) -> dict[str, Any]:
        """Plan a trip.

        In detail.

        Args:
            mode (str): How to go
            note: What else to know

        :param old: The old price
        """
        assert isinstance(trip, Trip) and isinstance(trip.stops[0], Place) and isinstance(level, Level)
        return {"trip": trip, "level": level, "seats": seats, "note": note, "on": trip.day}

    told = Signature("plan", plan)
    assert told.description == "Plan a trip.\n\nIn detail."
    assert told.parameters["required"] == ["trip", "level", "mode"]
    assert told.parameters["properties"] == {
        "trip": {"$ref": "#/$defs/Trip"},
        "level": {"$ref": "#/$defs/Level"},
        "mode": {"enum": ["bus", "train"], "type": "string", "description": "How to go"},
        "seats": {"type": "integer", "minimum": 1, "default": 2, "description": "How many seats"},
        "note": {"type": "string", "description": "What else to know"},
        "old": {"type": "number", "description": "The old price"},
        "extra": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "integer"}},
        },
        "anything": {"default": 5},
    }
    assert told.parameters["$defs"]["Trip"]["properties"]["title"] == {
        "type": "string",
        "description": "What it is called",
    }
    trip = {"title": "North", "stops": [{"name": "Oslo"}], "day": "2026-05-01"}
    assert execute(plan, {"trip": trip, "level": "low", "mode": "bus"}) == {
        "trip": {"title": "North", "stops": [{"name": "Oslo", "country": "NO"}], "day": "2026-05-01"},
        "level": "low",
        "seats": 2,
        "note": None,
        "on": "2026-05-01",
    }


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n": 0}, "`n`: "),
        ({"n": "x"}, "`n`: expected an integer"),
        ({"day": "tomorrow"}, "`day`: Input should be a valid date"),
        ({}, "`n`: required, but missing"),
    ],
)
def test_arguments_that_do_not_fit(changed: dict[str, Any], message: str) -> None:
    @concerto.tool
    def book(n: Annotated[int, pydantic.Field(ge=1)], day: datetime.date | None = None) -> None:
        raise AssertionError("called")

    with pytest.raises(ToolFailed) as failed:
        execute(book, {"n": 1, **changed} if changed else {})
    assert failed.value.kind == "InvalidArguments" and message in str(failed.value)


def by_position(a: int, /) -> int:
    return a


def of_no_schema(a: threading_lock) -> int:  # type: ignore[name-defined]  # noqa: F821
    return 1


class NoSchema:
    pass


def of_a_plain_class(thing: NoSchema) -> int:
    return 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (by_position, "tool `bad`: parameter `a` can only be given by position"),
        (of_no_schema, "tool `bad`: a type hint cannot be resolved: name 'threading_lock' is not defined"),
        (of_a_plain_class, "tool `bad`: parameter `thing` has type `NoSchema`, which has no JSON Schema"),
    ],
)
def test_bad_hints(function: Any, message: str) -> None:
    with pytest.raises(TypeError) as refused:
        concerto.Runtime(PROGRAM, tools={"bad": function})
    assert str(refused.value) == message


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic takes it there")
def test_why_a_dictionary_with_types_is_none_here() -> None:
    class Size(typing.TypedDict):
        width: int

    def area(size: Size) -> int:
        return size["width"]

    area.__annotations__["size"] = Size
    with pytest.raises(TypeError, match=r"no JSON Schema: Please use `typing_extensions\.TypedDict`"):
        concerto.Runtime(PROGRAM, tools={"area": area})


class Loud(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("hint", "answer", "given"),
    [
        (int, True, True),
        (float, 3, 3),
        (str, Loud("hey"), "hey"),
        (None, None, None),
        (dict[str, list[int]], {"a": (1, 2)}, {"a": [1, 2]}),
        (tuple[int, str], [1, "a"], [1, "a"]),
        (set[int], [3], [3]),
        (Place, {"name": "Oslo"}, {"name": "Oslo"}),
        (Place, Place("Oslo"), {"name": "Oslo", "country": "NO"}),
        (Level | None, "low", "low"),
        (datetime.date, datetime.date(2026, 1, 2), "2026-01-02"),
        (Annotated[int, pydantic.Field(ge=1)], 2, 2),
    ],
)
def test_results_that_are_what_is_declared(hint: Any, answer: Any, given: Any) -> None:
    def tool() -> Any:
        return answer

    tool.__annotations__["return"] = hint
    assert execute(tool, {}) == given


@pytest.mark.parametrize(
    ("hint", "answer", "message"),
    [
        (
            int,
            "12",
            "the result of `tool` is not the `int` that it declares: Input should be a valid integer",
        ),
        (str, None, "not the `str` that it declares"),
        (None, 1, "not the `NoneType`"),
        (list[int], [1, "x"], "`1`: Input should be a valid integer"),
        (Place, {"name": 5}, "`name`: Input should be a valid string"),
        (Literal["a"], "b", "Input should be 'a'"),
    ],
)
def test_results_that_are_not_what_is_declared(hint: Any, answer: Any, message: str) -> None:
    def tool() -> Any:
        return answer

    tool.__annotations__["return"] = hint
    with pytest.raises(ToolFailed) as failed:
        execute(tool, {})
    assert (failed.value.kind, message in str(failed.value)) == ("InvalidResult", True), failed.value


def test_the_result_of_an_async_function() -> None:
    async def right() -> int:
        return 5

    async def wrong() -> str:
        return 5  # type: ignore[return-value]

    assert execute(right, {}) == 5
    with pytest.raises(ToolFailed, match="not the `str`"):
        execute(wrong, {})


@pytest.mark.parametrize("fails", [False, True])
def test_what_generators_give_is_an_array(fails: bool) -> None:
    def plain() -> Iterator[int]:
        yield 1
        if fails:
            raise ValueError("in the middle")
        yield 2

    async def waiting() -> AsyncIterator[int]:
        for each in plain():
            await asyncio.sleep(0)
            yield each

    for function in (plain, waiting):
        if fails:
            with pytest.raises(ToolFailed, match="ValueError: in the middle"):
                execute(function, {})
        else:
            assert execute(function, {}) == [1, 2]


def test_a_class_with_state_and_async_methods() -> None:
    told: list[str] = []

    @concerto.tool
    class Store:
        """A store"""

        async def initialize(self) -> None:
            await asyncio.sleep(0.01)
            self.items: list[str] = []
            told.append("begun")

        def shutdown(self) -> None:
            told.append("ended")

        async def add(self, item: str) -> int:
            """Add an item"""
            self.items.append(item)
            return len(self.items)

        def broken(self) -> object:
            """Give what has no JSON form"""
            return object()

        def fail(self) -> None:
            """Fail"""
            raise KeyError("gone")

    executor = ToolExecutor(PROGRAM, tools={"Store": Store})
    assert executor.execute("Store::add", {"item": "a"}) == 1
    assert told == ["begun", "ended"]
    for method, message in {"broken": "has no JSON form", "fail": "KeyError: 'gone'"}.items():
        with pytest.raises(ToolFailed, match=message):
            executor.execute(f"Store::{method}")


def test_calls_wait_for_the_beginning_of_a_tool(capsys: pytest.CaptureFixture[str]) -> None:
    @concerto.tool
    class Slow:
        ready = 0

        async def initialize(self) -> None:
            await asyncio.sleep(0.05)
            self.ready += 1

        def state(self) -> int:
            """How often it was begun"""
            return self.ready

    program = concerto.compile_source(
        """
        agent A { provider: openai, model: "m", tools: [Slow] }
        fn main() -> Result<Array<Any>, AgentError> {
            Ok(A.execute("x")?.tool_calls.map(|call| call.result))
        }
        """,
        tools=("Slow",),
    )
    with Script() as server:
        calls = [(str(place), "Slow__state", "{}") for place in range(3)]
        server.answer(chat_reply(None, *calls), chat_reply("done"))
        result = concerto.Runtime(
            program,
            quiet=True,
            tools={"Slow": Slow},
            connections={"openai": {"base_url": f"{server.url}/v1", "api_key": "k"}},
        ).run()
    assert (result.value, capsys.readouterr().err) == ([1, 1, 1], "")


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class MuteTimeout(Mute, TimeoutError):
    pass


@pytest.mark.parametrize(
    "error",
    [
        SystemExit(3),
        SystemExit(Mute()),
        asyncio.CancelledError(),
        KeyboardInterrupt(),
        GeneratorExit(),
        BaseException(),
        Mute(),
    ],
    ids=repr,
)
def test_no_tool_ends_the_run(error: BaseException, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither in a call nor at the beginning of the tool's use, and `shutdown` keeps nothing from ending."""

    class Leaving:
        def __init__(self, where: str) -> None:
            self._where = where

        async def initialize(self) -> None:
            if self._where == "initialize":
                raise error

        def go(self) -> int:
            if self._where == "go":
                raise error
            return 1

        def shutdown(self) -> None:
            raise error

    program = concerto.compile_source("fn main() { }")
    for where in ("initialize", "go"):
        with pytest.raises(ToolFailed, match=r"^[A-Z]"):
            ToolExecutor(program, tools={"leaving": Leaving(where)}).execute("leaving::go", {})
    assert ToolExecutor(program, tools={"leaving": Leaving("")}).execute("leaving::go", {}) == 1
    assert "`shutdown` of tool `leaving` failed: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "told"),
    [(Mute(), "the handler of `ask` failed: Mute"), (MuteTimeout(), "`ask` took too long")],
    ids=["failed", "late"],
)
def test_what_handlers_and_listeners_raise_need_not_have_a_text(error: Exception, told: str) -> None:
    def fail(_: Any) -> None:
        raise error

    source = 'fn main() -> Result<Any, EmitError> { await emit("ask", 1) }'
    program = concerto.compile_source(source)
    assert concerto.Runtime(program, handlers={"ask": fail}).run().error == told
    heard = concerto.Runtime(program, listeners={"ask": fail}).run()
    assert heard.error == f"a listener of `ask` failed: {type(error).__name__}"


def test_what_is_known_of_plain_types_is_what_pydantic_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def order(
        what: str, many: int, weight: Annotated[float, "In kilograms"], gift: bool = False, to: str = "Ada",
        limit: Annotated[float, "At most"] = 2, size: float = 1.5,
    ) -> bool:  # fmt: skip
        """Order something.

        :param what: Its name
        """
        return gift

    def bound(signature: Signature, given: dict[str, Any]) -> Any:
        try:
            return {key: (type(value), value) for key, value in signature.bind(given).items()}
        except BadValues as bad:
            return str(bad)

    def checked(signature: Signature, answer: Any) -> str:
        try:
            signature.require_result(answer, answer)
        except BadResult as bad:
            return str(bad)
        return ""

    known = Signature("order", order)
    monkeypatch.setattr(python_signatures, "_PLAIN", {})
    said = Signature("order", order)
    assert list(known.parameters["properties"]) == list(said.parameters["properties"])
    assert known.parameters == said.parameters
    values = ["x", "1", "", 1, 2**70, True, 1.0, 1.5, None, [], {}]
    keys = ("what", "many", "weight", "gift", "?")
    of_said = [[bound(said, {key: value}) for value in values] for key in keys]
    answers = [checked(said, value) for value in values]
    monkeypatch.undo()
    assert of_said == [[bound(known, {key: value}) for value in values] for key in keys]
    assert answers == [checked(known, value) for value in values]
