"""A thousand of the faults of `tests.faults.sweep`: none ends in a wrong answer or leaves anything open."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.faults.proxy import FaultyProxy
from tests.faults.replaying import Replay, exchanges
from tests.faults.spoiling import FAULTS, Fault
from tests.faults.sweep import Counts, faults, replay_all
from tests.faults.talking import FORMS, WIRES, Outcome, Talk
from tests.runtime.servers import ModelServer, model_server_process

_EACH = 12
"""Faults of a kind on a wire, in a form."""


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server_process() as running:
        yield running


@pytest.fixture
def proxy(server: ModelServer) -> Iterator[FaultyProxy]:
    with FaultyProxy(server.url).running() as running:
        yield running


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wire", WIRES)
def test_no_fault_ends_in_a_wrong_answer(
    server: ModelServer, proxy: FaultyProxy, wire: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = Talk(server, wire, form)
    assert talk.with_server(proxy, None).verdict == "right"
    chosen = faults(proxy.spoiler.passed, proxy.spoiler.passed[False] // _EACH + 1)
    counts = Counts()
    replay_all(talk, exchanges(proxy.spoken), iter(chosen), counts)
    assert sum(counts.of.values()) == len(chosen) > _EACH * len(FAULTS)
    assert counts.wrong == 0, capsys.readouterr().out
    assert {verdict for kind, verdict in counts.of if kind in ("close", "reset", "silence")} == {"error"}


@pytest.mark.parametrize("form", FORMS)
def test_faults_before_the_server_itself(server: ModelServer, proxy: FaultyProxy, form: str) -> None:
    talk = Talk(server, "openai", form)
    assert talk.with_server(proxy, None).verdict == "right"
    chosen = faults(proxy.spoiler.passed, proxy.spoiler.passed[False] // 2)
    tried = [(fault, talk.with_server(proxy, fault)) for fault in chosen]
    assert [each for each in tried if each[1].verdict not in ("error", "right", "changed")] == []


@pytest.mark.parametrize("wire", WIRES)
def test_another_attempt_mends_what_was_cut(
    server: ModelServer, proxy: FaultyProxy, wire: str, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = Talk(server, wire, "execute", attempts=2)
    assert talk.with_server(proxy, None).verdict == "right"
    passed = proxy.spoiler.passed
    chosen = faults(passed, passed[False] // _EACH + 1, ["close", "reset"])
    counts = Counts()
    replay_all(talk, exchanges(proxy.spoken), iter(chosen), counts)
    assert counts.wrong == 0, capsys.readouterr().out
    assert {verdict for _, verdict in counts.of} == {"right"}


def test_a_recording_answers_only_what_was_asked(server: ModelServer, proxy: FaultyProxy) -> None:
    talk = Talk(server, "openai", "execute")
    assert talk.with_server(proxy, None).verdict == "right"
    recording = exchanges(proxy.spoken)

    async def ask_as_a_stream() -> Outcome:
        async with Replay(recording).listening() as replay:
            return await Talk(server, "openai", "stream").with_replay(replay, Fault("delay", 10**6))

    outcome = asyncio.run(ask_as_a_stream())
    assert (outcome.verdict, '"stream":true' in outcome.errors) == ("WRONG", True), outcome
