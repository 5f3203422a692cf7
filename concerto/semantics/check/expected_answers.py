"""Of what type the answer of an `await emit` must be, where the program says so."""

from __future__ import annotations

from typing import Final

from concerto.records import replace
from concerto.semantics.declare.rules.json_types import why_no_schema
from concerto.semantics.model.analysis import Analysis, EmitCall
from concerto.semantics.model.builtins import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NIL,
    STRING,
    array_item,
    map_parts,
    option_item,
    result_parts,
)
from concerto.semantics.model.symbols import EnumSymbol, Literals, Named, StructSymbol, Type
from concerto.syntax import ast

_TAKES_OUT: Final = frozenset({"unwrap", "expect"})


_PLAIN: Final = (ANY, BOOL, FLOAT, INT, NIL, STRING)


def note_answer(analysis: Analysis, node: ast.Expr, wanted: Type) -> None:
    """An Any that `node` gives becomes a value of the type, or the Any of a Result that it gives: if it is an
    answer, note that with its call."""
    taken_out = False
    while True:
        call = analysis.calls.get(node)
        if isinstance(call, EmitCall):
            if not taken_out and (parts := result_parts(wanted)) is not None:
                wanted = parts[0]
            if _comes_as_json(wanted):
                analysis.calls[node] = replace(call, answer=wanted)
            return
        match node:
            case ast.Await(operand=operand):
                node = operand
            case ast.Try(operand=operand):
                node, taken_out = operand, True
            case ast.MethodCall(receiver=receiver, method=method) if method.text in _TAKES_OUT:
                node, taken_out = receiver, True
            case _:
                return


def _comes_as_json(wanted: Type) -> bool:
    """Whether a value of the type can be read from JSON."""
    parts = map_parts(wanted)
    item = array_item(wanted) or option_item(wanted) or (parts[1] if parts else None)
    if item is not None:
        return _comes_as_json(item) and (parts is None or parts[0] == STRING)
    if isinstance(wanted, Named) and isinstance(wanted.symbol, StructSymbol | EnumSymbol):
        return why_no_schema(wanted) is None
    return wanted in _PLAIN or isinstance(wanted, Literals)
