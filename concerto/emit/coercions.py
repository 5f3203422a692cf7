"""Coercions: implicit conversions, as the checker noted them beside an expression, and checks of what generic
functions give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from concerto.emit.function import FunctionBuilder, coercion_of
from concerto.emit.instructions import BUILD_SOME, COPY, INT_TO_FLOAT, RETURN, TO_STRING
from concerto.emit.types import TypeTable
from concerto.emit.witnesses import push_method, push_witnesses
from concerto.ir.module import Function, Instr
from concerto.semantics.model.analysis import Coercion
from concerto.semantics.model.builtins import ANY, FLOAT, NUMBER
from concerto.semantics.model.symbols import (
    FunctionOf,
    FunctionSymbol,
    Generic,
    GenericSymbol,
    Named,
    TraitSymbol,
    Type,
    field_types,
)
from concerto.semantics.typing.unify import direct_parts, resolve
from concerto.syntax import ast


@coercion_of("wrap_some")
def _wrap(b: FunctionBuilder, node: ast.Node, coercion: Coercion) -> None:
    b.emit(BUILD_SOME)


@coercion_of("iterate")
def _iterate(b: FunctionBuilder, node: ast.Node, coercion: Coercion) -> None:
    if node in b.copies:
        b.emit(COPY)
    b.emit(("CALL_NATIVE", "Iterator::iter", 1))


@coercion_of("check")
def _require(b: FunctionBuilder, node: ast.Node, coercion: Coercion) -> None:
    assert coercion.target is not None
    b.mark(node)
    check(b, coercion.target)


@coercion_of("function_adapter")
def _adapt_function(b: FunctionBuilder, node: ast.Node, coercion: Coercion) -> None:
    _adapt(b, b.types[node], coercion.target)


@coercion_of("convert", "native_convert", "to_text")
def _convert_error(b: FunctionBuilder, node: ast.Node, coercion: Coercion) -> None:
    b.mark(node)
    convert(b, coercion)


def check(b: FunctionBuilder, target: Type) -> None:
    """Require a type of the value on the stack. Functions look at what they are given and at what they give
    when they are called."""
    b.emit(("CHECK", b.program.types.index(target)))


def convert(b: FunctionBuilder, coercion: Coercion) -> None:
    """Turn the error on the stack into another one by `From`, or require its type."""
    if coercion.kind == "check":
        assert coercion.target is not None
        check(b, coercion.target)
        return
    if coercion.kind == "to_text":
        b.emit(TO_STRING)
        return
    if coercion.function is not None and coercion.function.native is None:
        witnesses = coercion.witnesses
        if isinstance(coercion.function.owner, TraitSymbol):
            error = b.spill()
            push_method(b, witnesses[0], coercion.function)
            b.load(error)
            b.emit(("CALL_VALUE", 1))
            return
        if witnesses:
            error = b.spill()
            push_witnesses(b, witnesses)
            b.load(error)
        b.emit(("CALL", b.program.function(coercion.function), len(witnesses) + 1))
        return
    assert isinstance(coercion.target, Named)
    b.emit(("CALL_NATIVE", f"{coercion.target.symbol.name}::from", 1))


def _adapt(b: FunctionBuilder, source: Type, target: Type | None) -> None:
    """Wrap the function on the stack in one that checks what goes in and what comes out."""
    assert isinstance(source, FunctionOf) and isinstance(target, FunctionOf)
    types = b.program.types
    count = len(source.parameters)

    def make() -> Function:
        code: list[Instr] = [("LOAD_LOCAL", 0)]
        for slot, (inner, outer) in enumerate(zip(source.parameters, target.parameters, strict=True), 1):
            code.append(("LOAD_LOCAL", slot))
            code += _checked(types, outer, inner)
        code += [("CALL_VALUE", count), *_checked(types, source.result, target.result), RETURN]
        parameters = [f"argument{slot}" for slot in range(count)]
        return Function("function", parameters, 1, count + 1, code, 0, [])

    b.emit(("MAKE_CLOSURE", b.program.once((source, target), make), 1))


def _checked(types: TypeTable, found: Type, wanted: Type) -> list[Instr]:
    return [] if wanted in (found, ANY) else [("CHECK", types.index(wanted))]


@coercion_of("int_to_float")
def _to_float(b: FunctionBuilder, node: ast.Node, coercion: Coercion) -> None:
    """A literal becomes a Float constant at once."""
    last = b.code[-1]
    if last[0] == "LOAD_CONST":
        value = b.program.constants[last[1]]
        if isinstance(value, int):
            b.code[-1] = ("LOAD_CONST", b.program.constant(float(value)))
            return
    b.emit(INT_TO_FLOAT)


# --- Results of generic functions ---------------------------------------------------------------


def check_result(b: FunctionBuilder, function: FunctionSymbol, node: ast.Expr) -> None:
    """Check the result on the stack if it may have been made of an `Any`, or be a sum of no Floats, which is
    there 0. No type parameter is known when the program runs, but who calls the function knows the type."""
    of_any, sums = b.program.results_of_any, b.program.results_of_sums
    if function not in of_any:
        of_any[function] = _may_be_of_any(function)
        sums[function] = _may_be_of_sums(function)
    found = b.type_of(node)
    if of_any[function] or (sums[function] and FLOAT in _parts([found], fields=False)):
        check(b, found)


def _may_be_of_any(function: FunctionSymbol) -> bool:
    """Whether a result is of a type parameter that no argument is of, or some argument may hold an `Any`."""
    wanted = _generics(_parts([function.result], fields=False))
    if not wanted:
        return False
    given = _given(function)
    return not wanted <= _generics(_parts(given, fields=False)) or ANY in _parts(given, fields=True)


def _may_be_of_sums(function: FunctionSymbol) -> bool:
    """Whether a result is of a type parameter for numbers of which an argument has several."""
    numbers = {
        generic
        for generic in _generics(_parts([function.result], fields=False))
        if any(bound.trait is NUMBER for bound in generic.bounds)
    }
    inside = [type_ for type_ in _given(function) if not isinstance(type_, Generic)]
    return not numbers.isdisjoint(_generics(_parts(inside, fields=False)))


def _given(function: FunctionSymbol) -> list[Type]:
    """The types of what is passed to it."""
    given = [parameter.type for parameter in function.parameters]
    return [*given, function.self_type] if function.self_type is not None and function.receiver else given


def _generics(parts: Iterable[Type]) -> set[GenericSymbol]:
    return {part.symbol for part in parts if isinstance(part, Generic)}


def _parts(types: Iterable[Type], *, fields: bool) -> Iterator[Type]:
    """The types and all that they are made of, `fields` of structs and enums too."""
    todo, seen = list(types), set()
    while todo:
        part = resolve(todo.pop())
        if part in seen:
            continue
        seen.add(part)
        yield part
        todo += direct_parts(part)
        if fields and isinstance(part, Named):
            todo += field_types(part.symbol)
