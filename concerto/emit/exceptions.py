"""`?`, `throw` and `try … catch`: how errors leave and where they are taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from concerto.emit.coercions import convert
from concerto.emit.function import FunctionBuilder, effect_of, value_of
from concerto.emit.instructions import (
    BUILD_ERR,
    BUILD_OK,
    ELSE,
    IF,
    IF_VALUE,
    IS_OK,
    IS_SOME,
    LOAD_NONE,
    NOT,
    THROW,
    UNWRAP,
)
from concerto.emit.pattern_matching.bindings import bind
from concerto.semantics.model.analysis import Analysis, ConstructorCall, Default, NativeCall, SlotField
from concerto.semantics.model.builtins import (
    BOOL,
    FLOAT,
    INT,
    OPTION,
    RESULT,
    STRING,
    option_item,
    result_parts,
)
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast


@value_of(ast.Try)
def propagate(b: FunctionBuilder, node: ast.Try) -> None:
    """`e?`: the content, or leave with what failed."""
    b.value(node.operand)
    type_ = b.type_of(node.operand)
    given = b.spill()
    if result_parts(type_) is not None:
        _unwrap_ok(b, node, given)
    elif option_item(type_) is not None:
        _unwrap_some(b, node, given)
    else:
        _unwrap_any(b, node, given)


def _unwrap_ok(b: FunctionBuilder, node: ast.Expr, given: int) -> None:
    b.load(given)
    b.emit(IS_OK)
    b.emit(NOT)
    b.open(IF)
    _leave_with_error(b, node, given)
    b.close()
    b.load(given)
    b.emit(UNWRAP)


def unwrap_chunk(b: FunctionBuilder, node: ast.For, slot: int) -> None:
    """Put the next chunk of a stream, which is there as a Result, into the local, or leave as by `throw`."""
    _unwrap_ok(b, node, slot)
    b.store(slot)


def _unwrap_some(b: FunctionBuilder, node: ast.Try, given: int) -> None:
    b.load(given)
    b.emit(IS_SOME)
    b.emit(NOT)
    b.open(IF)
    _leave_with_none(b, node)
    b.close()
    b.load(given)
    b.emit(UNWRAP)


def _unwrap_any(b: FunctionBuilder, node: ast.Try, given: int) -> None:
    """An Option or, which is checked, a Result."""
    b.load(given)
    b.emit(("IS_TYPE", b.program.types.general(OPTION)))
    b.open(IF_VALUE)
    _unwrap_some(b, node, given)
    b.part(ELSE)
    b.load(given)
    b.mark(node)
    b.emit(("CHECK", b.program.types.general(RESULT)))
    _unwrap_ok(b, node, b.spill())
    b.close()


def _leave_with_error(b: FunctionBuilder, node: ast.Expr, given: int) -> None:
    """An error that stays as it is leaves in the Result it came in."""
    conversion = b.program.analysis.propagations.get(node)
    b.load(given)
    if b.guarded or conversion is not None:
        b.emit(UNWRAP)
    if b.guarded or conversion is not None or b.is_entry:
        b.mark(node)
    if conversion is not None:
        convert(b, conversion)
    if b.guarded:
        b.leave(THROW)
        return
    if conversion is not None:
        b.emit(BUILD_ERR)
    _leave_function(b)


def _leave_function(b: FunctionBuilder) -> None:
    """Return the top of the stack from the function. A branch throws it inside an `Err`, which nothing else
    that leaves a branch is: `return_thrown` takes it where the branch stands."""
    if b.around is None:
        b.return_top()
        return
    b.throws_return = True
    b.emit(BUILD_ERR)
    b.leave(THROW)


def return_thrown(b: FunctionBuilder, branches: Sequence[FunctionBuilder], run: Callable[[], None]) -> None:
    """Push the value of a concurrent construct that `run` pushes, or return what one of its branches threw to
    leave the function. The failure of a branch has cancelled the others."""
    if not any(branch.throws_return for branch in branches):
        run()
        return
    if b.around is not None:
        b.throws_return = True
        run()
        return
    b.open(("TRY", 1))
    run()
    error = b.temporary()
    b.part(("CATCH", error))
    b.load(error)
    b.emit(("IS_TYPE", b.program.types.general(RESULT)))
    b.open(IF)
    b.load(error)
    b.emit(UNWRAP)
    b.return_top()
    b.close()
    b.leave(("RETHROW", error))
    b.close()


def _leave_with_none(b: FunctionBuilder, node: ast.Try) -> None:
    if node in b.program.analysis.raised_by_none:
        b.constant("`?` met `None`")
        b.mark(node)
        b.emit(("CALL_NATIVE", "RuntimeError::new", 1))
        b.leave(THROW)
    else:
        b.emit(LOAD_NONE)
        _leave_function(b)


@effect_of(ast.Throw)
@value_of(ast.Throw)
def throw(b: FunctionBuilder, node: ast.Throw) -> None:
    """To the nearest `try` of this function, else to the caller as `Err`."""
    b.value(node.value)
    if b.guarded or b.is_entry:
        b.mark(node)
    if b.guarded:
        b.leave(THROW)
    else:
        b.emit(BUILD_ERR)
        _leave_function(b)


@effect_of(ast.TryCatch)
def guarded(b: FunctionBuilder, node: ast.TryCatch) -> None:
    _guarded(b, node, valued=False)


@value_of(ast.TryCatch)
def guarded_value(b: FunctionBuilder, node: ast.TryCatch) -> None:
    _guarded(b, node, valued=True)


def _guarded(b: FunctionBuilder, node: ast.TryCatch, valued: bool) -> None:
    run = b.value if valued else b.effect
    b.open(("TRY", int(valued)))
    b.guarded += 1
    run(node.body)
    b.guarded -= 1
    error = b.temporary()
    b.part(("CATCH", error))
    opened = 0
    for catch in node.catches:
        type_ = b.program.analysis.catches[catch]
        if type_ is not None:
            b.load(error)
            b.emit(("IS_TYPE", b.program.types.index(type_)))
            b.open(IF_VALUE if valued else IF)
            opened += 1
        if catch.pattern is not None:
            bind(b, catch.pattern, error)
        run(catch.body)
        if type_ is None:
            break
        b.part(ELSE)
    else:
        _pass_on(b, node, error)
    for _ in range(opened):
        b.close()
    b.close()


def _pass_on(b: FunctionBuilder, node: ast.TryCatch, error: int) -> None:
    """What no `catch` takes: what the function may return as `Err` is returned, all else thrown again."""
    if not b.guarded:
        for type_ in b.program.analysis.uncaught.get(node, ()):
            b.load(error)
            b.emit(("IS_TYPE", b.program.types.index(type_)))
            b.open(IF)
            b.load(error)
            b.emit(BUILD_ERR)
            if b.is_entry:
                b.mark(node)
            _leave_function(b)
            b.close()
    b.leave(("RETHROW", error))


# --- Errors that are made late ---

_SHOWN_AS_THEY_ARE = (BOOL, FLOAT, INT, STRING)


def ok_or(b: FunctionBuilder, target: NativeCall) -> bool:
    """Push the Result of `option.ok_or(error)`, whose error is made where there is none only, if nobody
    notices that and it takes something to be made."""
    option, error = target.arguments
    if isinstance(option, Default) or isinstance(error, Default):
        return False
    if isinstance(error, ast.StringLit | ast.IntLit | ast.Path) or not _can_wait(b.program.analysis, error):
        return False
    b.value(option)
    given = b.spill()
    b.load(given)
    b.emit(IS_SOME)
    b.open(IF_VALUE)
    b.load(given)
    b.emit(UNWRAP)
    b.emit(BUILD_OK)
    b.part(ELSE)
    b.value(error)
    b.emit(BUILD_ERR)
    b.close()
    return True


def _can_wait(analysis: Analysis, node: ast.Expr) -> bool:
    """Whether nothing can fail, or be seen, when the value is made."""
    call = analysis.calls.get(node)
    if node in analysis.coercions:
        return False
    match node:
        case ast.IntLit() | ast.FloatLit() | ast.StringLit() | ast.BoolLit() | ast.NilLit():
            return True
        case ast.Path() if call is None:
            return True
        case ast.FieldAccess(receiver=receiver):
            return isinstance(analysis.fields.get(node), SlotField) and _can_wait(analysis, receiver)
        case ast.StructLit(fields=fields, base=None):
            return all(init.value is None or _can_wait(analysis, init.value) for init in fields)
        case ast.Interpolation(parts=parts):
            shown = [part for part in parts if not isinstance(part, str)]
            are_plain = all(resolve(analysis.types[part]) in _SHOWN_AS_THEY_ARE for part in shown)
            return are_plain and all(_can_wait(analysis, part) for part in shown)
    if not isinstance(call, ConstructorCall):
        return False
    return all(not isinstance(each, Default) and _can_wait(analysis, each) for each in call.arguments)
