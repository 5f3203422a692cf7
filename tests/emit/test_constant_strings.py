"""What is computed from a constant String is computed from the String, however the constant is reached:
CPython computes what it can when it compiles, and sees only a number in the String's place."""

from __future__ import annotations

from typing import cast

import pytest

from concerto.vm.host import Host
from concerto.vm.machine import Machine
from tests.emit.compiling import emit
from tests.vm.hosts import TIERS, Recorder

_WAYS = [
    "@",
    "(@, 1).0",
    "((0, @), 1).0.1",
    "[(@, 1)][0].0",
    '(@ + "")',
    '("" + @)',
    '"${@}"',
    '"${@}${""}"',
    "(if true { @ } else { @ })",
    "(match 1 { 1 => @, _ => @ })",
    "Some(@).unwrap()",
    '(None ?? @)',
    "HELD.0",
    "HELD.1.0",
]  # fmt: skip
_USES = [
    "@[0]", "@[1]", "@[0..2]", "@.is_empty()", "!@.is_empty()", "@.reverse()", "@.len()", "@.chars()",
    "@.to_upper()", '@.contains("b")', '"abc".contains(@)', "@.repeat(2)", "@ + @", '@ == "abc"',
    '@ < "abd"', "[@].contains(@)", "(@, 1) == (@, 1)", '"${@}!"', "[@, @].sort()",
    "if @.is_empty() { 1 } else { 2 }", 'match @ { "abc" => 1, "" => 2, "k" => 3, _ => 4 }',
    "@.starts_with(@)", "@ as Any == @ as Any", "[@.is_empty(), @.len() == 3]",
]  # fmt: skip


@pytest.mark.parametrize(
    ("use", "text"),
    [(use, text) for use in _USES for text in ("abc", "<k1>x", "") if text or not use.startswith("@[")],
)
def test_a_constant_is_what_a_parameter_would_be(use: str, text: str) -> None:
    ways = [way.replace("@", f'"{text}"') for way in _WAYS]
    made = [use.replace("@", way) for way in ["s", *ways]]
    module = emit(
        f"""
        const HELD: (String, (String, Int)) = ("{text}", ("{text}", 1));
        fn all(s: String) -> Array<Any> {{ [{", ".join(f"({expression}) as Any" for expression in made)}] }}
        """
    )
    index = next(index for index, made in enumerate(module.functions) if made.name == "all")
    for tier in TIERS:
        first, *others = cast(
            list[object], Machine(module, cast(Host, Recorder()), tier=tier).call(index, [text])
        )
        assert others == [first] * len(ways)
