"""A program's own type may be called as any of the library that it may redeclare."""

from __future__ import annotations

from typing import cast

import pytest

from concerto.diagnostics import Problems
from concerto.semantics import check_program
from concerto.semantics.declare.library import library
from concerto.source import Source
from concerto.syntax.parser import parse
from concerto.vm.host import Host
from concerto.vm.machine import Machine
from tests.emit.compiling import emit
from tests.semantics.checking import Files
from tests.vm.hosts import TIERS, Recorder

_PROGRAM = """
    struct NAME { a: Int, b: String }
    impl NAME {
        fn twice(self) -> Int { self.a * 2 }
        fn new(a: Int) -> NAME { NAME { a: a, b: "" } }
        fn len(self) -> String { "own" }
    }
    fn all() -> Any {
        let value = NAME::new(4);
        let any: Any = value;
        (value.twice(), value.len(), any.twice(), any.len(), any as NAME == value, "${value}")
    }
"""


def _may_be_declared(name: str) -> bool:
    problems = Problems()
    check_program(parse(Source("main.conc", f"struct {name} {{ a: Int }}"), problems), Files(), problems)
    return not problems.errors


_NAMES = [name for name in library().prelude.members if name[0].isupper() and _may_be_declared(name)]


def test_there_are_such_names() -> None:
    assert {"Message", "Response", "LedgerEntry", "AgentError", "Set", "HashMap"} <= set(_NAMES)


@pytest.mark.parametrize("name", [*_NAMES, "Tuple", "Type"])
def test_a_type_of_ones_own_may_have_a_name_of_the_library(name: str) -> None:
    module = emit(_PROGRAM.replace("NAME", name))
    index = next(index for index, function in enumerate(module.functions) if function.name == "all")
    for tier in TIERS:
        made = Machine(module, cast(Host, Recorder()), tier=tier).call(index, [])
        assert made == (8, "own", 8, "own", True, f'{name} {{ a: 4, b: "" }}')
