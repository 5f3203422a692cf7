"""Some hundred of the faults of `tests.faults.sweep`: none ends in a wrong answer or leaves anything open."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.proxy import FAULTS, FaultyProxy
from tests.faults.sweep import faults
from tests.faults.talking import FORMS, WIRES, Talk
from tests.runtime.servers import ModelServer, model_server_process

_EACH = 3
"""Faults of a kind on a wire, in a form."""
_QUICK = [kind for kind in FAULTS if kind not in ("silence", "drop")]
"""The others end with the time."""


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server_process() as running:
        yield running


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wire", WIRES)
def test_no_fault_ends_in_a_wrong_answer(server: ModelServer, wire: str, form: str) -> None:
    with FaultyProxy(server.url).running() as proxy:
        talk = Talk(server, proxy, wire, form)
        assert talk.run(None).verdict == "right"
        step = proxy.length // _EACH + 1
        tried = [(fault, talk.run(fault)) for fault in faults(proxy.length, proxy.asked, step, _QUICK)]
    assert len(tried) >= _EACH * (len(_QUICK) - 1)
    assert [each for each in tried if each[1].verdict == "WRONG"] == []


@pytest.mark.parametrize("kind", ["silence", "drop"])
def test_what_does_not_come_is_not_waited_for(server: ModelServer, kind: str) -> None:
    with FaultyProxy(server.url).running() as proxy:
        talk = Talk(server, proxy, "openai", "stream")
        assert talk.run(None).verdict == "right"
        tried = [(fault, talk.run(fault)) for fault in faults(proxy.length, 0, proxy.length // 2, [kind])]
    assert [each for each in tried if each[1].verdict not in ("error", "right", "changed")] == []
