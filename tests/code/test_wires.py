"""A model on each wire that mends its program by the diagnostics alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from concerto.json_data import Json
from tests.code.shop import SHOP
from tests.runtime.llm.test_bad_servers import REPLIES, at
from tests.runtime.running import make_runtime
from tests.runtime.servers import Script, Seen

FIRST = """let orders = Shop::ordrs("ada");
let small = orders.filter(|order| order.sise == Size::Smal);
small.len() + orders[0].totl.round()"""
WHOLE = """let orders = Shop::orders("ada");
let small = orders.filter(|order| order.size == Size::Small);
small.len() + orders[0].total.round()"""


def told(body: Json) -> Iterator[dict[str, Json]]:
    """The results of programs in a request, wherever the wire has them, as texts or as data."""
    if isinstance(body, str) and body.startswith("{"):
        body = json.loads(body)
    if isinstance(body, dict) and body.keys() & {"diagnostics", "value"}:
        yield body
    elif isinstance(body, dict | list):
        for each in body.values() if isinstance(body, dict) else body:
            yield from told(each)


class Mender:
    """A model that writes FIRST, and does what the diagnostics say until there are none."""

    def __init__(self, wire: str) -> None:
        self._reply = REPLIES[wire]
        self._lines = FIRST.splitlines()
        self.programs: list[str] = []

    def __call__(self, seen: Seen) -> Json:
        *_, last = [{}, *told(seen.body)]
        if "value" in last:
            return self._reply(f"It is {last['value']}")
        for each in last.get("diagnostics", ()):
            written = re.search(r"did you mean `(?:\w+::)*(\w+)`", each["help"])
            assert written is not None, each
            line, column = each["line"] - 1, each["column"] - 1
            before, after = self._lines[line][:column], self._lines[line][column:]
            self._lines[line] = before + re.sub(r"^((?:\w+::)*)\w+", rf"\g<1>{written[1]}", after)
        self.programs.append("\n".join(self._lines))
        call = (f"c{len(self.programs)}", "run_program", json.dumps({"source": self.programs[-1]}))
        return self._reply("", call)


@pytest.mark.parametrize("wire", REPLIES)
def test_a_model_mends_its_program_by_what_it_is_told(wire: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = Mender(wire)
    with Script() as script:
        script.answer(model)
        assert make_runtime(SHOP.replace("CODE", "only"), at(script, wire), quiet=True).run().ok
    assert capsys.readouterr().out == "It is 11\n"
    assert 1 < len(model.programs) < 5
    assert (model.programs[0], model.programs[-1]) == (FIRST, WHOLE)
