"""Functions of the library that reach the world have labels, or are known to need none."""

from __future__ import annotations

from concerto.trust.defaults import ENVIRONMENT, NATIVES
from concerto.vm.native import all_natives

WORLDLY = ("env", "fs", "hosts", "http", "prelude", "McpRef")
HARMLESS = {
    "std::env::has",
    "std::fs::exists",
    "std::fs::file_size",
    "std::prelude::parse_schema",
    "std::prelude::print",
    "std::prelude::println",
    "std::prelude::test_emits",
    "std::prelude::text",
}
"""They tell only whether or how much there is, say or wrap something, or look into the program itself."""


def _group(name: str) -> str:
    """The module of a function of the library, or the type of a method."""
    return name.removeprefix("std::").split("::")[0]


def test_functions_that_reach_the_world_have_labels() -> None:
    natives = all_natives().values()
    worldly = {each.name for each in natives if each.machine and _group(each.name) in WORLDLY}
    assert worldly - NATIVES.keys() - ENVIRONMENT == HARMLESS
