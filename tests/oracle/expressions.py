"""Literals, names, operators, blocks, branches, loops, errors on their way, work beside other work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from concerto.semantics.model import builtins as bt
from concerto.semantics.model import symbols as sym
from concerto.semantics.typing.unify import substitute
from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.calls import call, function_meant, function_value
from tests.oracle.fitting import constant, converted, element, is_of, slice_of
from tests.oracle.library.sequences import elements
from tests.oracle.numbers import arithmetic, to_int
from tests.oracle.run import EVALUATORS, Frame

boolean = partial(converted, type_=bt.BOOL)


def struct(f: Frame, node: ast.StructLit) -> v.Value:
    """The fields as written, then `..base`, then the defaults."""
    symbol = f.analysis.uses[node.path]
    assert isinstance(symbol, sym.StructSymbol | sym.VariantSymbol)
    given = {init.name.text: f.value(init.value or init) for init in node.fields}
    base = f.value(node.base)
    for field in symbol.fields:
        if field.name not in given:
            given[field.name] = f.run.default(field.default) if base is None else base.parts[field.index]
    return v.Data(symbol, *(given[field.name] for field in symbol.fields))


def named(f: Frame, node: ast.Path | ast.FieldInit) -> v.Value:
    if isinstance(node, ast.Path) and node in f.analysis.calls:
        return call(f, node)
    match symbol := f.analysis.uses[node]:
        case sym.FunctionSymbol():
            return function_value(f, node, symbol)
        case sym.LocalSymbol():
            return f.locals[symbol]
        case sym.ConstSymbol():
            return constant(symbol.value, symbol.type)
        case sym.VariantSymbol(fields=[], named=False):
            return v.Data(symbol)
        case sym.VariantSymbol() | sym.StructSymbol():
            return partial(v.Data, symbol)
        case sym.BuiltinSymbol(name="None"):
            return v.NONE
        case sym.BuiltinSymbol():
            return partial(v.Data, symbol.name)
        case sym.StateSymbol() | sym.ToolSymbol():
            return f.run.handle(symbol)
        case _:
            raise v.Unsupported(f"{type(symbol).__name__} as a value")


def unary(f: Frame, node: ast.Unary) -> v.Value:
    value = f.value(node.operand)
    if node.op == "-":
        return _operation(f, node, "-", value)
    return -1 - value if value.__class__ is int else not boolean(value)


def binary(f: Frame, node: ast.Binary) -> v.Value:
    left = f.value(node.left)
    match node.op:
        case "&&":
            return boolean(left) and boolean(f.value(node.right))
        case "||":
            return boolean(left) or boolean(f.value(node.right))
        case "??" if left is v.NONE or left is None:
            return f.value(node.right)
        case "??":
            # With an Option on the right that holds as much as the one on the left, it stays an Option.
            found = f.analysis.types[node.left]
            stays = bt.option_item(found) is not None and f.analysis.types[node] == found
            return left if stays or not isinstance(left, v.Data) or left.kind != "Some" else left.parts[0]
    right = f.value(node.right)
    if node.op in ("==", "!="):
        return v.equal(left, right) is (node.op == "==")
    if node.op in v.SIGNS:
        return v.compare(node.op, left, right)
    return _operation(f, node, node.op, left, right)


def _operation(f: Frame, node: ast.Expr, op: str, *operands: v.Value) -> v.Value:
    """Of numbers and texts, or as an impl of the operand's type says."""
    if node in f.analysis.calls:
        return function_meant(f, node, f.analysis.calls[node])(*operands)
    return arithmetic(op, *operands)


def cast(f: Frame, node: ast.Cast) -> v.Value:
    value, target = f.value(node.operand), f.type_of(node)
    # An Any is what it is: a Float in it is no Int.
    is_number = f.type_of(node.operand) is bt.FLOAT and target is bt.INT
    return to_int(value) if is_number else converted(value, target)


def index(f: Frame, node: ast.Index) -> v.Value:
    receiver = f.value(node.receiver)
    if isinstance(node.index, ast.RangeExpr):
        low, high = f.value(node.index.low), f.value(node.index.high)
        return slice_of(receiver, low, high, node.index.inclusive)
    member = f.analysis.fields.get(node)
    return element(receiver, f.value(node.index) if member is None else member)


def closure(f: Frame, node: ast.Closure) -> v.Value:
    # What it captures is what is there now: nothing that is assigned later reaches it.
    captured, type_ = dict(f.locals), f.type_of(node)
    gives_nothing = isinstance(type_, sym.FunctionOf) and type_.result is bt.NIL

    def invoke(*arguments: v.Value) -> v.Value:
        result = Frame(f.run, f.types, captured).call("function", node, arguments)
        return None if gives_nothing else result

    return invoke


def assign(f: Frame, node: ast.Assign) -> v.Value:
    """The right side, then the place, then for `+=` and the like its old value."""
    value = f.value(node.value)
    get, put = f.place(node.target)
    put(value if node.op == "=" else _operation(f, node, node.op[:-1], get(), value))


def block(f: Frame, node: ast.Block) -> v.Value:
    for statement in node.statements:
        match statement:
            case ast.ExprStmt():
                f.value(statement.expr)
            case ast.Let() if statement.value is not None:
                if not f.matches(statement.pattern, f.value(statement.value)):
                    f.value(statement.otherwise)
            case ast.Mock():
                raise v.Unsupported("mock")
    is_map = not node.statements and node.result is None and bt.map_parts(f.type_of(node))
    return v.Map() if is_map else f.value(node.result)


def choose(f: Frame, node: ast.If) -> v.Value:
    value = f.value(node.then if _holds(f, node) else node.otherwise)
    return None if node.otherwise is None else value


def match(f: Frame, node: ast.Match) -> v.Value:
    subject = f.value(node.subject)
    for arm in node.arms:
        if f.matches(arm.pattern, subject) and (arm.guard is None or boolean(f.value(arm.guard))):
            return f.value(arm.body)
    raise AssertionError("a match that is not exhaustive")


def _holds(f: Frame, node: ast.If | ast.While) -> bool:
    value = f.value(node.condition)
    return boolean(value) if node.pattern is None else f.matches(node.pattern, value)


def loop(f: Frame, node: ast.While | ast.Loop | ast.For) -> v.Value:
    rounds: Iterator[bool]
    match node:
        case ast.While():
            rounds = iter(lambda: _holds(f, node), False)
        case ast.Loop():
            rounds = repeat(True)
        case ast.For():
            rounds = (f.matches(node.pattern, item) for item in elements(f.value(node.iterable)))
    while True:
        try:
            if not next(rounds, False):
                return None
            f.value(node.body)
        except v.Leave as left:
            if left.loop is not node:
                raise
            if left.how == "break":
                return left.value


def leave(f: Frame, node: ast.Break | ast.Continue | ast.Return | ast.Throw) -> v.Value:
    value = None if isinstance(node, ast.Continue) else f.value(node.value)
    raise v.Leave(type(node).__name__.lower(), value, f.analysis.jumps.get(node))


def question_mark(f: Frame, node: ast.Try) -> v.Value:
    match value := f.value(node.operand):
        case v.Data("Ok" | "Some", (held,)):
            return held
        case v.Data("None"):
            v.demand(node not in f.analysis.raised_by_none, "`?` met `None`", "RuntimeError")
            raise v.Leave("return", value)
        case v.Data("Err", (error,)):
            # The function's own errors may be of another type.
            conversion, found = f.analysis.propagations.get(node), bt.result_parts(f.type_of(node.operand))
            if conversion and conversion.target:
                target = substitute(conversion.target, f.types)
                if conversion.kind == "check":
                    error = converted(error, target)
                elif found:
                    error = f.error_as(error, found[1], target)
            raise v.Leave("throw", error)
        case _:
            raise v.Failure(f"expected `Result<Any, Any>`, found `{v.type_name(value)}`", "TypeError")


def try_catch(f: Frame, node: ast.TryCatch) -> v.Value:
    try:
        return f.value(node.body)
    except (v.Leave, v.Failure) as left:
        for catch in node.catches if isinstance(left, v.Failure) or left.how == "throw" else ():
            wanted = f.analysis.catches[catch]
            if wanted is None or is_of(left.value, substitute(wanted, f.types)):
                if catch.pattern is not None:
                    f.matches(catch.pattern, left.value)
                return f.value(catch.body)
        raise


def spawn(f: Frame, node: ast.Spawn) -> v.Value:
    f.run.switches += 1
    task = v.Task(partial(Frame(f.run, f.types, f.locals).body, node.operand), [])
    f.run.pending.append(task)
    f.tasks.append(task)
    return task


def wait(f: Frame, node: ast.Await | ast.AwaitAll | ast.Race) -> v.Value:
    """Nothing waits, so all are through when the first is looked at."""
    if isinstance(node, ast.Await):
        return _result(f, f.value(node.operand))
    results = _branches(f, node.items, lambda item: _result(f, f.value(item)))
    return results[0] if isinstance(node, ast.Race) else tuple(results)


def _result(f: Frame, value: v.Value) -> v.Value:
    """A task's result; any other value is ready."""
    if not isinstance(value, v.Task):
        return value
    f.run.switches += 1
    f.run.end_pending()
    if not value.results:
        raise v.Unsupported("a task that waits for itself")
    return value.results[0]


def parallel_for(f: Frame, node: ast.ParallelFor) -> v.Value:
    items = elements(f.value(node.iterable))
    limit = 1 if node.limit is None else f.value(node.limit)
    v.demand(limit >= 1, f"the limit of `parallel for` is at least 1, not {limit}")
    # Each branch binds before it runs.
    return _branches(f, list(items), lambda item: f.matches(node.pattern, item) and f.value(node.body))


def _branches(f: Frame, items: Sequence[Any], branch: Callable[[Any], v.Value]) -> list[v.Value]:
    """What branches give, one after the other. Where they would take turns, their order is open."""
    run = f.run
    run.end_pending()
    run.switches += 1
    before, printed, found = run.switches, len(run.output), []
    try:
        for item in items:
            found.append(branch(item))
    finally:
        failed = len(found) < len(items)
        if run.switches > before and len(items) > 1 and (failed or len(run.output) > printed):
            raise v.Unsupported("branches that take turns")
    return found


EVALUATORS.update({
    **dict.fromkeys((ast.IntLit, ast.FloatLit, ast.StringLit, ast.BoolLit), lambda f, node: node.value),
    ast.NilLit: lambda f, node: None,
    ast.Interpolation: lambda f, node: "".join(
        [part if isinstance(part, str) else v.text_of(f.value(part)) for part in node.parts]
    ),
    ast.Formatted: lambda f, node: v.formatted(f.value(node.value), node.format),
    ast.ArrayLit: lambda f, node: [f.value(item) for item in node.items],
    ast.TupleLit: lambda f, node: tuple([f.value(item) for item in node.items]),
    ast.MapLit: lambda f, node: v.Map([(f.value(one.key), f.value(one.value)) for one in node.entries]),
    ast.RangeExpr: lambda f, node: v.Range(f.value(node.low), f.value(node.high), node.inclusive),
    ast.Pipe: lambda f, node: f.value(node.target),
    ast.LetCondition: lambda f, node: f.matches(node.pattern, f.value(node.value)),
    ast.FieldAccess: lambda f, node: element(f.value(node.receiver), f.analysis.fields[node]),
    ast.StructLit: struct, ast.Path: named, ast.FieldInit: named, ast.Unary: unary, ast.Binary: binary,
    ast.Cast: cast, ast.Index: index, ast.Closure: closure, ast.Assign: assign, ast.Block: block,
    ast.If: choose, ast.Match: match, ast.While: loop, ast.Loop: loop, ast.For: loop, ast.Break: leave,
    ast.Continue: leave, ast.Return: leave, ast.Throw: leave, ast.Try: question_mark,
    ast.TryCatch: try_catch, ast.Spawn: spawn, ast.Await: wait, ast.AwaitAll: wait, ast.Race: wait,
    ast.ParallelFor: parallel_for, ast.Call: call, ast.MethodCall: call,
})  # fmt: skip
