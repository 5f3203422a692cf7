"""What a library method looks at where it is called on an Any: its arguments, and what functions among them
return. The annotations of its body, which the type checker holds true, say what they are to be."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from concerto.ir.module import TypeDef
from concerto.vm.native import Native
from concerto.vm.type_checks import PYTHON_CLASSES, TypeChecks
from concerto.vm.values import Value

_BUILTIN = {"int": "Int", "float": "Float", "str": "String", "bool": "Bool"}
_KINDS = {
    "list": "array", "dict": "map", "Set": "set", "Iterable": "builtin",
    "OptionValue": "option", "ResultValue": "result",
}  # fmt: skip
_PARTS = {"Set": 1, "OptionValue": 1, "ResultValue": 2}
"""Those whose parts no annotation names, with their number."""


def looking_at_arguments(native: Native, body: Callable[..., Value]) -> Callable[..., Value]:
    """The body of a native as one that takes any arguments, and fails where they do not fit."""
    types: list[TypeDef] = []
    wanted = [type_of_annotation(annotation, types) for annotation in native.arguments]
    checks = TypeChecks(types)
    if all(types[index].name == "Any" for index in wanted):
        return body
    looks = [checks.checking(index) for index in wanted]
    if len(looks) == 1 and not getattr(native.body, "__defaults__", None):
        (look,), only = looks, PYTHON_CLASSES.get(types[wanted[0]].name)
        return lambda receiver, given: body(receiver, given if type(given) is only else look(given))

    def call(receiver: Value, *arguments: Value) -> Value:
        if len(arguments) > len(looks):
            return body(receiver, *arguments)  # Fails: these are too many.
        return body(receiver, *[look(argument) for look, argument in zip(looks, arguments, strict=False)])

    return call


def type_of_annotation(annotation: str, types: list[TypeDef]) -> int:
    """The place among the types of the one that an annotation means."""
    head, _, inner = annotation.partition("[")
    if head == "Callable":
        inputs, _, output = inner[1:-1].partition("]")
        parts = [*filter(None, inputs.split(", ")), output.removeprefix(", ")]
        made = TypeDef("fn", items=_types(parts, types))
    elif head in _KINDS:
        parts = inner[:-1].split(", ") if inner else ["Value"] * _PARTS[head]
        made = TypeDef(_KINDS[head], "Iterator" * (head == "Iterable"), _types(parts, types))
    else:
        made = TypeDef("builtin", _BUILTIN.get(head, "Any"))
    types.append(made)
    return len(types) - 1


def _types(annotations: Iterable[str], types: list[TypeDef]) -> list[int]:
    return [type_of_annotation(annotation, types) for annotation in annotations]
