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


# --- Calls of generic functions -----------------------------------------------------------------
# No type parameter is known when the program runs, but who calls the function knows the types. So it looks at
# what functions that make values of an `Any` may have put there.


def check_result(b: FunctionBuilder, function: FunctionSymbol, node: ast.Expr) -> None:
    """Check the result on the stack if it may have been made of an `Any`, or be a sum of no Floats, which is
    there 0."""
    if function.result.plain:
        return
    found, sums = b.type_of(node), b.program.results_of_sums
    if function not in sums:
        sums[function] = _may_be_of_sums(function)
    if function in b.program.analysis.from_any or (sums[function] and FLOAT in _parts([found])):
        check(b, found)


def check_function(b: FunctionBuilder, given: Type) -> None:
    """Let a function on the stack look at what it is given."""
    if isinstance(given, FunctionOf):
        check(b, given)


def is_known(wanted: Type, own: Type) -> bool:
    """Whether something is known of the type of a receiver that a method's `own` type leaves open."""
    known = [part for part in _parts([wanted]) if part is not ANY and not isinstance(part, Generic)]
    return len(known) > (0 if isinstance(own, Generic) else 1)


def _may_be_of_sums(function: FunctionSymbol) -> bool:
    """Whether a result is of a type parameter for numbers of which an argument has several."""
    numbers = {
        generic
        for generic in _generics(_parts([function.result]))
        if any(bound.trait is NUMBER for bound in generic.bounds)
    }
    inside = [type_ for type_ in _given(function) if not isinstance(type_, Generic)]
    return not numbers.isdisjoint(_generics(_parts(inside)))


def _given(function: FunctionSymbol) -> list[Type]:
    """The types of what is passed to it."""
    given = [parameter.type for parameter in function.parameters]
    return [*given, function.self_type] if function.self_type is not None and function.receiver else given


def _generics(parts: Iterable[Type]) -> set[GenericSymbol]:
    return {part.symbol for part in parts if isinstance(part, Generic)}


def _parts(types: Iterable[Type]) -> Iterator[Type]:
    """The types and all that they are put together from."""
    todo, seen = list(types), set()
    while todo:
        part = resolve(todo.pop())
        if part in seen:
            continue
        seen.add(part)
        yield part
        todo += direct_parts(part)
