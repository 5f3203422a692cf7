"""Constants."""

from __future__ import annotations

from concerto.semantics.model.builtins import OPTION
from concerto.semantics.model.symbols import ConstSymbol, Named, TupleOf, Type
from concerto.semantics.typing.constant_evaluator import Constructed
from tests.oracle.compare import make_map
from tests.oracle.run import Run
from tests.oracle.values import NONE, Some, Tuple, Value, made


def constant(run: Run, symbol: ConstSymbol) -> Value:
    return _value(symbol.value, symbol.type)


def _value(found: object, type_: Type) -> Value:
    if isinstance(type_, Named) and type_.symbol is OPTION:
        return NONE if found is None else Some(_value(found, type_.arguments[0]))
    arguments = type_.arguments if isinstance(type_, Named) else ()
    match found:
        case list():
            return tuple(_value(item, _argument(arguments, 0)) for item in found)
        case tuple():
            types = type_.items if isinstance(type_, TupleOf) else (None,) * len(found)
            return Tuple(tuple(_value(i, t) for i, t in zip(found, types, strict=True)))  # type: ignore[arg-type]
        case dict():
            return make_map(
                (_value(key, _argument(arguments, 0)), _value(item, _argument(arguments, 1)))
                for key, item in found.items()
            )
        case Constructed(made=symbol, values=values):
            fields = zip(values, symbol.fields, strict=True)
            return made(symbol, tuple(_value(value, field.type) for value, field in fields))
        case _:
            return found


def _argument(arguments: tuple[Type, ...], index: int) -> Type:
    return arguments[index] if index < len(arguments) else TupleOf(())
