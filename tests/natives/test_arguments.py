"""What a method looks at where it is called on an Any is what it declares: the annotations of bodies and the
signatures of `stdlib` say the same."""

from __future__ import annotations

import pytest

from concerto.ir.module import TypeDef
from concerto.semantics.declare.library import library
from concerto.semantics.model import builtins as bt
from concerto.semantics.model.symbols import FunctionOf, FunctionSymbol, Generic, Named, Type
from concerto.semantics.typing.unify import show
from concerto.vm.native import all_natives
from concerto.vm.native_arguments import type_of_annotation
from concerto.vm.type_checks import type_text

_LOOKS_ITSELF = ("AgentBuilder::", "ToolContext::", "HashMap::", "Array::slice", "String::slice")
_NATIVES = all_natives()
_METHODS = {
    method.native: method
    for impl in library().declarations.analysis.impls
    for method in impl.methods.values()
    if method.receiver and method.native in _NATIVES and not method.native.startswith(_LOOKS_ITSELF)
}


@pytest.mark.parametrize("name", sorted(_METHODS))
def test_annotations_are_the_signature(name: str) -> None:
    method: FunctionSymbol = _METHODS[name]
    types: list[TypeDef] = []
    told = [
        type_text(types, type_of_annotation(annotation, types)) for annotation in _NATIVES[name].arguments
    ]
    assert told == [show(_as_any_tells(parameter.type)) for parameter in method.parameters]


def _as_any_tells(declared: Type) -> Type:
    match declared:
        case Generic():
            return bt.ANY
        case Named(symbol, parts):
            return Named(symbol, tuple(map(_as_any_tells, parts)))
        case FunctionOf(parameters, result):
            return FunctionOf(tuple(map(_as_any_tells, parameters)), _as_any_tells(result))
        case _:
            return declared
