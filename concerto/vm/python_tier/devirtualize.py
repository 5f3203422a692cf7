"""Trait calls whose receiver is of one of a few known classes: told apart by the code that calls.

A test of the class and a call of the function by its name cost less than a look into a table, and the call
has a place of its own for each function, which CPython is fastest with. What only gives a field or a
constant is not called at all. Receivers of other classes still go to the table.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from concerto.ir.module import Module, TypeDef
from concerto.vm.dispatch import owner_name
from concerto.vm.operations import CLASSES
from concerto.vm.python_tier.names import Names, function_name
from concerto.vm.python_tier.writer import FunctionWriter

_MOST_FUNCTIONS = 4
"""With so many functions to choose from, the last one costs as much as the table would."""


def chosen_function(writer: FunctionWriter, method: str, receiver: str, table: str) -> str:
    """The function that a trait call comes to, as an expression; `receiver` is what is asked for its
    class."""
    found = _functions(writer.module, writer.names, method)
    if not found:
        return f"{table}[type({receiver})]"
    made = writer.temporary()
    choices = [(_callee(index), classes) for index, classes in found.items()]
    return f"({_chain(choices, made, receiver, f'{table}[{made}]')})"


def chosen_call(
    writer: FunctionWriter, method: str, receiver: str, table: str, arguments: Sequence[str]
) -> str:
    """A whole trait call, whose arguments (the first one is the receiver) may be written several times."""
    found = _functions(writer.module, writer.names, method)
    listed = ", ".join(arguments)
    if not found:
        return f"{table}[type({receiver})]({listed})"
    made = writer.temporary()
    choices = [
        (_result(writer, index, arguments) or f"{_callee(index)}({listed})", classes)
        for index, classes in found.items()
    ]
    return f"({_chain(choices, made, receiver, f'{table}[{made}]({listed})')})"


def _chain(choices: list[tuple[str, list[str]]], made: str, receiver: str, otherwise: str) -> str:
    asked = f"({made} := type({receiver}))"
    parts = []
    for text, classes in choices:
        tests = []
        for each in classes:
            tests.append(f"{asked} is {each}")
            asked = made
        parts.append(f"{text} if {' or '.join(tests)} else ")
    return "".join(parts) + otherwise


def _functions(module: Module, names: Names, method: str) -> dict[int, list[str]]:
    """Function → the names of the classes whose method it is, as far as these can be named; nothing if
    there are too many."""
    owners = {
        owner_name(definition.kind, definition.name): (place, definition.methods[method])
        for place, definition in enumerate(module.types)
        if method in definition.methods
    }
    if len(owners) > _MOST_FUNCTIONS:
        return {}
    found: dict[int, list[str]] = {}
    for place, index in owners.values():
        class_name = _class_name(module.types[place], place, names)
        if class_name is not None and not module.functions[index].inout:
            found.setdefault(index, []).append(class_name)
    return found


def _class_name(definition: TypeDef, place: int, names: Names) -> str | None:
    """What generated code calls the one class of a type's values."""
    if definition.kind in ("struct", "schema"):
        return names.struct(place)
    classes = CLASSES.get(owner_name(definition.kind, definition.name), ())
    named = [each.__name__ for each in classes if vars(builtins).get(each.__name__) is each]
    return named[0] if len(named) == len(classes) == 1 else None


def _callee(index: int) -> str:
    """Methods have no general form, since any arguments may come to them anyhow."""
    return function_name(index, in_the_open=False, general=False)


def _result(writer: FunctionWriter, index: int, arguments: Sequence[str]) -> str | None:
    """What a method gives that cannot fail: a field or a constant."""
    function = writer.module.functions[index]
    if len(arguments) != len(function.parameters):
        return None
    match function.code:
        case [("LOAD_LOCAL", 0), ("GET_FIELD", slot), ("RETURN",)]:
            return f"{arguments[0]}.f{slot}"
        case [("LOAD_CONST", constant), ("RETURN",)]:
            return writer.constant(constant).text
        case _:
            return None
