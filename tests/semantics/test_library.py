"""The library's declarations hold together, and every one without a body has one in Python."""

from __future__ import annotations

from concerto.semantics.declare.library import library
from concerto.semantics.model.symbols import FunctionSymbol
from concerto.trust.call_graph import AGENT_CALLS
from concerto.vm.native import find_native

_BY_THE_RUNTIME = {f"AgentBuilder::{name}" for name in AGENT_CALLS}
_BY_TOOL = ("HttpTool::", "FileTool::", "ShellTool::")


def test_all_modules_check() -> None:
    found = library()
    for name in found.names():
        assert found.module(name) is not None
    assert [f"{p.span.source.path}: {p.code} {p.message}" for p in found.problems] == []


def test_every_function_has_its_body() -> None:
    found = library()
    for name in found.names():
        found.module(name)
    natives = {
        symbol.native
        for symbol in found.declarations.scopes
        if isinstance(symbol, FunctionSymbol) and symbol.native is not None
    }
    assert len(natives) > 200
    missing = {
        name
        for name in natives - _BY_THE_RUNTIME
        if not name.endswith("Error::from") and not name.startswith(_BY_TOOL) and find_native(name) is None
    }
    assert missing == set()


def test_names_known_everywhere() -> None:
    prelude = library().prelude.members
    for name in ("print", "assert_eq", "Response", "ToolError", "RuntimeError", "ToolErrorAction", "Array"):
        assert name in prelude
    assert "parse" not in prelude
    assert "FileTool" not in prelude
