"""Values of trusted parameters: which fit a pattern, and which parts of one have to be the user's."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from concerto.trust.matching import fits, passes, stands_in
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Script
from tests.trust.test_gate import MAIL, READ, TRUST, hijacked, results

Run = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("value", "pattern", "fitting"),
    [
        ("ann@corp.example", "*@corp.example", True),
        ("ann@corp.example.evil.example", "*@corp.example", False),
        ("eve@evil.example,ann@corp.example", "*@corp.example", False),
        ("eve@evil.example\0@corp.example", "*@corp.example", False),
        ("eve@evil.example\u200b@corp.example", "*@corp.example", False),
        ("ann@corp.example\n", "*@corp.example", False),
        ("Zoë@corp.example", "*@corp.example", True),
        ("/srv/data/june.csv", "/srv/data/*", True),
        ("/srv/data/a..b.csv", "/srv/data/*", True),
        ("/srv/data/../../etc/passwd", "/srv/data/*", False),
        ("/srv/data/x/..", "/srv/data/*", False),
        ("https://corp.example/%2E./admin", "https://corp.example/*", False),
        ("https://corp.example/a?b=1", "https://corp.example/*", True),
        ("ab-ab-c", "*ab*-c", True),
        ("abc", "a*b*c", True),
        ("ac", "a*b*c", False),
        ("ab", "ab", True),
        ("aab", "ab", False),
    ],
)
def test_a_value_fits_a_pattern(value: str, pattern: str, fitting: bool) -> None:
    assert fits(value, pattern) is fitting


@pytest.mark.parametrize(
    ("value", "text", "passing"),
    [
        (20, "Pay $20 to Ann", True),
        (20, "Pay 20€, please", True),
        (20.0, "Pay 20.00 to Ann", True),
        (20.5, "Pay 20.50.", True),
        (1200, "Pay 1,200.00 to Ann", True),
        (1200.0, "Pay 1,200", True),
        (12, "See issue #12", True),
        ("12", "See issue #12", True),
        (20, "Pay $20.50", False),
        (20, "Pay $200", False),
        (200, "Pay 1,200", False),
        (50, "Pay 20.50", False),
        (20.504, "Pay 20.50", False),
        (1, "Pay 1,200", False),
        (30, "At 10:30", False),
        (30, "At most: 30, or 20", True),
        (3, "[1,2,3]", True),
        (20.5, "Zahle 20,50 €", True),
        (1200, "Zahle 1.200,00 €", True),
        (3, "1, 2, 3", True),
        (True, "1", False),
        (float("inf"), "20", False),
        ("fix", "the tag #fix", False),
    ],
)
def test_a_number_is_the_one_that_the_user_wrote(value: Any, text: str, passing: bool) -> None:
    assert passes(value, (), [text]) is passing


def test_a_long_value_of_an_attacker_takes_no_time() -> None:
    begun = time.process_time()
    assert not fits("a" * 20_000, "*a*a*a*a*b")
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    ("value", "text"), [("x(" * 50_000, "x(" * 200_000 + "xx"), (".", "(." + "." * 200_000 + "x")]
)
def test_nor_does_one_that_a_long_text_repeats(value: str, text: str) -> None:
    begun = time.process_time()
    assert not stands_in(value, text)
    assert stands_in(value, text + f" {value}... ")
    assert time.process_time() - begun < 5


WHOM = (
    MAIL.partition("agent")[0]
    + """
schema Whom { @alias("mailTo") to: String, copies: Array<String> = [] }
tool Post {
    description: "Sends letters",

    @sink(mail, trusted: [whom])
    @describe("Send a letter")
    pub fn send(@param("Who gets it") whom: Whom) -> String {
        println("sent to ${whom.to} ${whom.copies}");
        "sent"
    }

    @sink(mail, trusted: [names])
    @describe("Send letters")
    pub fn by_name(@param("Who gets which") names: Map<String, String>) -> String {
        println("sent ${names}");
        "sent"
    }
}
agent Assistant { provider: openai, model: "m", tools: [Inbox, Post], guard: "deny" }
fn main() { println(Assistant.execute("Answer my newest mail, and tell bob@corp.example.").unwrap().text); }
"""
)


@pytest.mark.parametrize(
    ("name", "arguments", "sent"),
    [
        ("send", {"whom": {"mailTo": "bob@corp.example"}}, ["sent to bob@corp.example []"]),
        ("send", {"whom": {"mailTo": "eve@evil.example"}}, []),
        ("send", {"whom": {"mailTo": "bob@corp.example", "copies": ["eve@evil.example"]}}, []),
        ("by_name", {"names": {"eve@evil.example": "mail"}}, []),
    ],
)
def test_the_names_of_fields_are_the_authors(
    script: Script, run: Run, name: str, arguments: dict[str, Any], sent: list[str]
) -> None:
    hijacked(script, READ, (f"Post__{name}", arguments))
    outcome = run(WHOM, connections=chat_at(script.url), manifest=TRUST)
    assert outcome.lines == [*sent, "done"], outcome.err
    assert bool(sent) or json.loads(results(script)[1])["kind"] == "Blocked"
