"""An arm without instructions does nothing, wherever it stands in a `match` and however it is compiled."""

from __future__ import annotations

from itertools import product
from typing import cast

import pytest

from concerto.vm.host import Host
from concerto.vm.machine import Machine
from tests.emit.compiling import emit
from tests.vm.hosts import TIERS, Recorder

_EMPTY = ("{}", "nil", "{ 5; }", "{ {} }")
_PRELUDE = """
    enum Color { Red, Green, Blue, Mix(Int) }
    type Level = "low" | "mid" | "high" | "top";
"""
_MATCHES = {
    "Int": (["1", "2 | 5", "-3", "_"], ["1", "5", "-3", "9"]),
    "String": (['"a"', '"b" | "c"', '""', "_"], ['"a"', '"c"', '""', '"z"']),
    "Level": (['"low"', '"mid"', '"high"', '"top"'], ['"low"', '"mid"', '"high"', '"top"']),
    "Color": (
        ["Color::Red", "Color::Green", "Color::Blue", "Color::Mix(_)"],
        ["Color::Red", "Color::Green", "Color::Blue", "Color::Mix(1)"],
    ),
    "Option<Int>": (["Some(1)", "Some(2)", "Some(_)", "None"], ["Some(1)", "Some(2)", "Some(3)", "None"]),
    "(Bool, Int)": (["(true, 1)", "(false, 1)", "(true, _)", "_"],
                    ["(true, 1)", "(false, 1)", "(true, 2)", "(false, 2)"]),
    "Float": (["0.5", "1.0..=2.0", "x if x > 4.0", "_"], ["0.5", "1.5", "5.0", "3.0"]),
}  # fmt: skip


@pytest.mark.parametrize("subject", _MATCHES)
def test_whichever_arms_of_a_match_are_empty_the_others_run(subject: str) -> None:
    patterns, values = _MATCHES[subject]
    functions: list[str] = []
    expected: list[list[int]] = []
    for shape in product([False, True], repeat=len(patterns)):
        empty = _EMPTY[len(expected) % len(_EMPTY)]
        bodies = [empty if bare else f"{{ out = {arm}; }}" for arm, bare in enumerate(shape)]
        arms = ", ".join(f"{pattern} => {body}" for pattern, body in zip(patterns, bodies, strict=True))
        functions.append(
            f"fn f{len(functions)}(s: {subject}) -> Int {{ let mut out = -1; match s {{ {arms} }} out }}"
        )
        expected.append([-1 if bare else arm for arm, bare in enumerate(shape)])
    calls = ", ".join(
        f"[{', '.join(f'f{number}({value})' for value in values)}]" for number in range(len(functions))
    )
    module = emit(f"{_PRELUDE}{''.join(functions)} fn all() -> Array<Array<Int>> {{ [{calls}] }}")
    index = next(index for index, made in enumerate(module.functions) if made.name == "all")
    for tier in TIERS:
        assert Machine(module, cast(Host, Recorder()), tier=tier).call(index, []) == expected
