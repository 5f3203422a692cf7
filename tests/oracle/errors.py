"""The library's error values."""

from __future__ import annotations

from concerto.semantics.declare.library import library
from concerto.semantics.model.builtins import FLOAT, INT, OPTION, STRING
from concerto.semantics.model.symbols import Named, StructSymbol, Type
from tests.oracle.values import NONE, Error, Value

ERRORS = (
    "ParseError", "FsError", "EnvError", "RuntimeError", "AgentError", "ToolError", "SchemaError",
    "EmitError", "ConnectionError", "TimeoutError", "BudgetError"
)  # fmt: skip
_EMPTY: dict[Type, Value] = {STRING: "", INT: 0, FLOAT: 0.0}


def make_error(name: str, message: str, kind: str | None = None) -> Error:
    """An error with a message; its kind is its type's name if nothing else is said."""
    symbol = library().prelude.members[name]
    assert isinstance(symbol, StructSymbol)
    fields: dict[str, Value] = {}
    for field in symbol.fields:
        match field.type:
            case Named(symbol=symbol) if symbol is OPTION:
                fields[field.name] = NONE
            case _:
                fields[field.name] = _EMPTY.get(field.type, ())
    fields["message"] = message
    fields["kind"] = name if kind is None else kind
    return Error(name, fields)
