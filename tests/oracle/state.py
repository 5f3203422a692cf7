"""Handles: what is shared by all who hold it."""

from __future__ import annotations

from concerto.semantics.model.symbols import StateSymbol, ToolSymbol
from tests.oracle.run import Frame, Run
from tests.oracle.values import NONE, Tool, Unsupported, Value


def tool_of(run: Run, symbol: ToolSymbol) -> Tool:
    tool = run.tools.get(symbol)
    if tool is None:
        fields = [NONE if f.default is None else run.value(f.default, Frame({})) for f in symbol.state.fields]
        tool = run.tools[symbol] = Tool(symbol.name, fields)
    return tool


def state_of(run: Run, symbol: StateSymbol) -> Value:
    raise Unsupported(symbol.keyword)
