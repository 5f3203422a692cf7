"""Limits of a connection: who waits is served in the order in which he came."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from concerto.effects.layers.rate import RateLimiter
from concerto.runtime.llm.connections import find_connection
from concerto.runtime.llm.throttle import Throttle
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, Script, Seen, chat_reply


@dataclass
class Clock:
    """A clock that goes on only while somebody sleeps: to the moment of whoever wakes up first."""

    time: float = 1000.0
    sleepers: list[tuple[float, int, asyncio.Future[None]]] = field(default_factory=list)

    def line(self) -> asyncio.Lock:
        return asyncio.Lock()

    def signal(self) -> asyncio.Event:
        return asyncio.Event()

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        sleeper = (self.time + seconds, len(self.sleepers), woken)
        self.sleepers.append(sleeper)
        try:
            await woken
        finally:
            if sleeper in self.sleepers:
                self.sleepers.remove(sleeper)

    async def within(self, seconds: float, work: Awaitable[Any]) -> Any:
        return await work

    async def run(self) -> None:
        """Let time pass until nobody sleeps."""
        await settle()
        while self.sleepers:
            sleeper = min(self.sleepers, key=lambda each: each[:2])
            self.sleepers.remove(sleeper)
            self.time = max(self.time, sleeper[0])
            sleeper[2].set_result(None)
            await settle()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def begin_all(
    count: int, begin: Callable[[], Awaitable[None]], clock: Clock
) -> list[tuple[int, float]]:
    """Start so many at once; who began when, in the order in which they began."""
    begun: list[tuple[int, float]] = []

    async def one(number: int) -> None:
        await begin()
        begun.append((number, clock.time - 1000.0))

    tasks = [asyncio.ensure_future(one(number)) for number in range(count)]
    await clock.run()
    await asyncio.gather(*tasks)
    return begun


def test_turns_come_in_order_and_never_too_many_in_a_minute() -> None:
    async def main() -> None:
        clock = Clock()
        turns = RateLimiter(3, clock)
        begun = await begin_all(7, turns.acquire, clock)
        assert begun == [(0, 0), (1, 0), (2, 0), (3, 60), (4, 60), (5, 60), (6, 120)]
        assert await begin_all(1, turns.acquire, clock) == [(0, 120)]

    asyncio.run(main())


@pytest.mark.parametrize("place", range(3))
def test_who_gives_up_leaves_the_line_to_others(place: int) -> None:
    async def main() -> None:
        clock = Clock()
        turns = RateLimiter(1, clock)
        await begin_all(1, turns.acquire, clock)
        waiting = [asyncio.ensure_future(turns.acquire()) for _ in range(3)]
        await settle()
        waiting[place].cancel()
        await clock.run()
        await asyncio.wait(waiting)
        assert clock.time == 1120
        assert await begin_all(1, turns.acquire, clock) == [(0, 180)]

    asyncio.run(main())


def test_tokens_are_waited_for_in_line() -> None:
    async def main() -> None:
        clock = Clock()
        said = {"openai": {"rate_limit": {"tokens_per_minute": 10}}}
        throttle = Throttle(find_connection("openai", {}, said, {}), clock)

        async def request() -> None:
            async with throttle.turn(10):
                throttle.spend(10)

        begun = await begin_all(4, request, clock)
        assert begun == [(0, 0), (1, 60), (2, 120), (3, 180)]

    asyncio.run(main())


def test_requests_under_way_hold_the_tokens_that_they_are_likely_to_take() -> None:
    async def main() -> None:
        clock = Clock()
        said = {"openai": {"rate_limit": {"tokens_per_minute": 100}}}
        throttle = Throttle(find_connection("openai", {}, said, {}), clock)
        under_way = most = 0

        async def request() -> None:
            nonlocal under_way, most
            async with throttle.turn(50):
                under_way += 1
                most = max(most, under_way)
                await clock.sleep(1)
                under_way -= 1
                throttle.spend(10)

        ended = await begin_all(30, request, clock)
        assert most == 9  # Of 10 tokens each, once it is known that they take no more; two before.
        spent = [second for _, second in ended]
        assert max(sum(second <= other < second + 60 for other in spent) for second in spent) == 10

    asyncio.run(main())


@pytest.mark.parametrize("failing", [False, True])
def test_two_hundred_requests_at_once_keep_to_the_tokens_of_a_minute(
    script: Script, run: Callable[..., Outcome], failing: bool
) -> None:
    usage = {"prompt_tokens": 900, "completion_tokens": 100}
    script.answer(Answer({}, 400) if failing else Answer(chat_reply("yes", usage=usage), hang=0.02))
    source = """
        agent A { provider: openai, model: "m" }
        fn main() { parallel for i in 0..200 { A.execute("${i}").is_ok() }; }
    """
    limits = {"rate_limit": {"tokens_per_minute": 10_000}}
    run(source, connections=chat_at(script.url, **limits), timeout=10 if failing else 2)
    assert len(script.seen) == (200 if failing else 10)


LIMITS = {"tokens_per_minute": 100}, {"concurrent_requests": 1}, {"concurrent_requests": 2}


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_who_reads_a_stream_does_not_wait_for_its_end(
    script: Script, run: Callable[..., Outcome], limit: dict[str, int]
) -> None:
    events = [{"choices": [{"delta": {"content": "x"}}]}] * 400 + [{"choices": [{"finish_reason": "stop"}]}]
    text = "".join([f"data: {json.dumps(event)}\n\n" for event in events])
    script.answer(lambda seen: Answer(text) if seen.body.get("stream") else chat_reply("yes"))
    source = """
        agent A { provider: openai, model: "m" }
        fn main() {
            let both = parallel for n in 0..2 {
                let mut read = 0;
                let mut said = "";
                for chunk in A.stream("x").unwrap() {
                    if read % 200 == 0 { said += A.execute("y").unwrap().text; }
                    read += chunk.text.len();
                }
                "${said} ${read}"
            };
            println(both);
        }
    """
    outcome = run(source, connections=chat_at(script.url, rate_limit=limit), timeout=20)
    assert outcome.lines == ['["yesyesyes 400", "yesyesyes 400"]'], outcome.err


@pytest.mark.parametrize("place", ["first", "later"])
def test_a_stream_that_breaks_gives_what_came_before_also_where_it_is_read_ahead(
    script: Script, run: Callable[..., Outcome], place: str
) -> None:
    text = 'data: {"choices": [{"delta": {"content": "x"}}]}\n\n' * (0 if place == "first" else 400)
    script.answer(Answer(text + 'data: {"error": {"message": "no more"}}\n\n'))
    source = """
        agent A { provider: openai, model: "m" }
        fn main() {
            let mut said = 0;
            try {
                for chunk in A.stream("x")? { said += chunk.text.len(); }
            } catch AgentError(e) {
                println("${said} ${e.kind}");
            }
        }
    """
    limited = chat_at(script.url, rate_limit={"concurrent_requests": 1}, retry={"max_attempts": 1})
    outcome = run(source, connections=limited)
    expected = "0 InvalidReply" if place == "first" else "400 StreamBroken"
    assert outcome.lines == [expected], outcome.err


def test_no_more_requests_at_once_than_the_connection_bears(
    script: Script, run: Callable[..., Outcome]
) -> None:
    now = most = 0
    order: list[str] = []

    def answer(seen: Seen) -> Answer:
        nonlocal now, most
        now += 1
        most = max(most, now)
        order.append(seen.body["messages"][-1]["content"])
        now -= 1
        return Answer(chat_reply("ok"), hang=0.005)

    script.answer(answer)
    source = """
    agent A { provider: openai, model: "m" }
    fn main() {
        println((parallel for n in 10..40 { A.execute("${n}").unwrap().text }).len());
    }
    """
    outcome = run(source, connections=chat_at(script.url, rate_limit={"concurrent_requests": 1}))
    assert outcome.lines == ["30"], outcome.err
    assert most == 1
    assert order == sorted(order)


SHARED = """
connect shared { provider: "custom", base_url: "URL", default_model: "m" }
agent Left { provider: shared }
agent Right { provider: shared }
fn main() {
    let answers = parallel for n in 10..40 {
        if n % 3 == 0 {
            // Gives up while it waits in line.
            race (Left.execute("given up ${n}").unwrap().text, "")
        } else if n % 2 == 0 {
            Left.execute("${n}").unwrap().text
        } else {
            Right.execute("${n}").unwrap().text
        }
    };
    println(answers.filter(|text| text == "ok").len());
}
"""


def test_agents_of_one_connection_stand_in_one_line(script: Script, run: Callable[..., Outcome]) -> None:
    first = threading.Event()

    def answer(seen: Seen) -> Answer:
        # The first request is answered when those who give up have left.
        hang = 0.0 if first.is_set() else 0.3
        first.set()
        return Answer(chat_reply("ok"), hang=hang)

    script.answer(answer)
    outcome = run(
        SHARED.replace("URL", script.url),
        connections={"shared": {"provider": "custom", "rate_limit": {"concurrent_requests": 1}}},
    )
    assert outcome.lines == ["20"], outcome.err
    order = [seen.body["messages"][-1]["content"] for seen in script.seen]
    assert order == [str(n) for n in range(10, 40) if n % 3]
