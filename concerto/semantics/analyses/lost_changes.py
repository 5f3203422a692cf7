"""Changes of copies that nobody reads (W0007).

Where a variable is read does not matter: one that is read anywhere is not told of.
"""

from __future__ import annotations

from collections.abc import Iterator

from concerto.diagnostics import LostChange, Problems
from concerto.records import frozen
from concerto.semantics.analyses.unused_values import VALUES, changes_nothing, dropped, may_act
from concerto.semantics.model.analysis import Analysis, CheckedBody, FunctionCall, NativeCall
from concerto.semantics.model.builtins import ANY, HANDLES, NIL
from concerto.semantics.model.symbols import ERROR, LocalSymbol, Named, TupleOf, Type, TypeSymbol, field_types
from concerto.semantics.typing.copies import copied_from, place_of, put_back
from concerto.semantics.typing.mismatches import quote
from concerto.semantics.typing.unify import resolve
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import walk


@frozen
class _Change:
    """Of a variable, by an assignment or a method call; `variable` is where it is named."""

    node: ast.Assign | ast.MethodCall
    local: LocalSymbol
    variable: ast.Path
    source: Source


def check_lost_changes(analysis: Analysis, problems: Problems) -> None:
    """Report the variables that are changed and never read, and changes of what no variable holds."""
    changes: list[_Change] = []
    for body in analysis.bodies:
        for node in _changing(body, analysis):
            change = _change_of_variable(node, body.source, analysis)
            if change is not None:
                changes.append(change)
            elif isinstance(node, ast.MethodCall):
                _check_temporary(node, body.source, analysis, problems)
    unread = {use for change in changes for use in _uses_for_itself(change, analysis)}
    read = {symbol for path, symbol in analysis.uses.items() if path not in unread}
    told: set[LocalSymbol] = set()
    for change in changes:
        if change.local not in read and change.local not in told:
            told.add(change.local)
            _report_variable(change, analysis, problems)


def _changing(body: CheckedBody, analysis: Analysis) -> Iterator[ast.Assign | ast.MethodCall]:
    """The assignments of a body, and the method calls whose value nobody takes."""
    seen: set[ast.MethodCall] = set()
    for node in body.nodes:
        if isinstance(node, ast.Assign):
            yield node
        for value in _without_taker(node, analysis):
            if isinstance(value, ast.MethodCall) and value not in seen:
                seen.add(value)
                yield value


def _without_taker(node: ast.Node, analysis: Analysis) -> Iterator[ast.Expr]:
    last: ast.Expr | None = None
    match node:
        case ast.Block(statements=statements, result=last):
            for statement in statements:
                if isinstance(statement, ast.ExprStmt):
                    yield from dropped(statement.expr)
        case ast.Closure(body=last):
            pass
        case _:
            return
    if last is not None and resolve(analysis.types.get(last, ERROR)) is NIL:
        yield from dropped(last)


# --- Variables ------------------------------------------------------------------------------------


def _change_of_variable(
    node: ast.Assign | ast.MethodCall, source: Source, analysis: Analysis
) -> _Change | None:
    place = node.target if isinstance(node, ast.Assign) else node.receiver
    root = _root(place, analysis)
    local = analysis.uses.get(root) if isinstance(root, ast.Path) else None
    if not isinstance(root, ast.Path) or not isinstance(local, LocalSymbol):
        return None
    if not local.mutable or local.role == "self" or local.name.startswith("_"):
        return None
    if isinstance(node, ast.MethodCall) and not _only_changes(node, local, analysis):
        return None
    return _Change(node, local, root, source)


def _root(place: ast.Expr, analysis: Analysis) -> ast.Expr:
    """What a place is a part of. What is behind a handle, or may be, belongs to all."""
    while isinstance(place, ast.FieldAccess | ast.Index):
        if _is_shared(analysis.types.get(place.receiver, ERROR)):
            break
        place = place.receiver
    return place


def _is_shared(type_: Type) -> bool:
    type_ = resolve(type_)
    return not isinstance(type_, Named | TupleOf) or (
        isinstance(type_, Named) and (type_ is ANY or type_.symbol in HANDLES)
    )


def _only_changes(call: ast.MethodCall, local: LocalSymbol, analysis: Analysis) -> bool:
    """Whether a call does nothing that is seen elsewhere; of a method of the program this is taken to be so
    where the variable is a copy that a pattern made."""
    match analysis.calls.get(call):
        case NativeCall():
            return _changes_natively(call, analysis)
        case FunctionCall(function):
            is_copy = local.role != "let" and not _holds_shared(local.type, set())
            return function.receiver == "mut self" and is_copy
        case _:
            return False


def _changes_natively(call: ast.MethodCall, analysis: Analysis) -> bool:
    target = analysis.calls.get(call)
    if not isinstance(target, NativeCall) or target.function.receiver != "mut self":
        return False
    acts = any(may_act(argument.value, analysis) for argument in call.arguments)
    return target.function.module in VALUES and not acts


def _holds_shared(type_: Type, seen: set[TypeSymbol]) -> bool:
    """Whether a part of such a value may be shared with others."""
    type_ = resolve(type_)
    if _is_shared(type_):
        return True
    if isinstance(type_, TupleOf):
        return any(_holds_shared(item, seen) for item in type_.items)
    if not isinstance(type_, Named) or any(_holds_shared(each, seen) for each in type_.arguments):
        return True
    if type_.symbol in seen:
        return False
    seen.add(type_.symbol)
    return any(_holds_shared(field, seen) for field in field_types(type_.symbol))


def _uses_for_itself(change: _Change, analysis: Analysis) -> Iterator[ast.Node]:
    """The uses of a variable by a change of it: `item.number = item.number + 1` reads it for nobody else."""
    yield change.variable
    inside: list[ast.Path] = []
    for node in walk(change.node):
        if node is not change.node and _acts(node, analysis):
            return
        if isinstance(node, ast.Path) and analysis.uses.get(node) is change.local:
            inside.append(node)
    yield from inside


def _acts(node: ast.Node, analysis: Analysis) -> bool:
    """Whether it may do more than give a value; of what has statements inside, that is taken to be so."""
    if isinstance(node, ast.MethodCall):
        return not changes_nothing(node, analysis)
    return isinstance(node, _ACTING)


_ACTING = (
    ast.Assign, ast.Await, ast.Block, ast.Call, ast.Closure, ast.Match, ast.Pipe, ast.Spawn, ast.Throw,
    ast.Try,
)  # fmt: skip


def _report_variable(change: _Change, analysis: Analysis, problems: Problems) -> None:
    local, node = change.local, change.node
    assert local.node is not None and local.source is not None
    end = node.method.end if isinstance(node, ast.MethodCall) else node.end
    name = local.node.name if isinstance(local.node, ast.BindPattern | ast.Parameter) else local.node
    problems.add(
        LostChange(
            change.source.span(node.start, end),
            f"`{local.name}` is changed, but never read",
            label="this change is lost",
            help=_help(local, analysis),
            related=((local.source.span(name.start, name.end), "declared here"),),
        )
    )


def _help(local: LocalSymbol, analysis: Analysis) -> str:
    copy = copied_from(local, analysis.types)
    whole = analysis.uses.get(copy.read) if copy is not None and isinstance(copy.read, ast.Path) else None
    if copy is not None and local.role == "let" and isinstance(whole, LocalSymbol):
        if whole.role == "self":
            return "it is a copy: declare the method with `mut self`, and change `self`"
        if whole.role == "parameter" or whole.function is not local.function:
            return f"it is a copy of `{whole.name}`: return it, and keep what the call gives"
        if whole.name == local.name:
            return f"it is a copy of the first `{whole.name}`: declare that one `let mut`, and change it"
    if copy is not None:
        return f"it is a copy of what is in `{copy.of}`: {copy.advice}"
    if isinstance(local.node, ast.Parameter):
        return f"it is a copy of what was given: end the closure with it, `{{ …; {local.name} }}`"
    if local.role == "let":
        return f"read it, or write `_{local.name}` if that is intended"
    return "it is a copy: use it afterwards, or put it where it is to stay"


# --- What no variable holds -------------------------------------------------------------------------


def _check_temporary(call: ast.MethodCall, source: Source, analysis: Analysis, problems: Problems) -> None:
    root = _root(call.receiver, analysis)
    if isinstance(root, ast.Path | ast.FieldAccess | ast.Index | ast.ErrorExpr):
        return
    target = analysis.calls.get(call)
    if isinstance(target, FunctionCall):
        receiver = analysis.types.get(call.receiver, ERROR)
        changes = target.function.receiver == "mut self" and not _holds_shared(receiver, set())
        if not changes or not _is_taken_out(root, analysis):
            return
    elif not _changes_natively(call, analysis):
        return
    problems.add(
        LostChange(
            source.span(call.start, call.method.end),
            f"`{call.method.text}` changes a copy that nobody keeps",
            label="this change is lost",
            help=_help_for_temporary(call, root, source, analysis),
        )
    )


def _is_taken_out(value: ast.Expr, analysis: Analysis) -> bool:
    """Whether an expression reads a part of a variable by the methods of built-in types."""
    while True:
        match value:
            case ast.Path():
                return isinstance(analysis.uses.get(value), LocalSymbol)
            case ast.MethodCall(receiver=receiver):
                target = analysis.calls.get(value)
                if not isinstance(target, NativeCall) or target.function.receiver != "self":
                    return False
                if target.function.module not in VALUES:
                    return False
                value = receiver
            case ast.FieldAccess(receiver=inside) | ast.Index(receiver=inside) | ast.Try(operand=inside):
                if _is_shared(analysis.types.get(inside, ERROR)):
                    return False
                value = inside
            case ast.Binary(op="??", left=inside):
                value = inside
            case _:
                return False


def _help_for_temporary(call: ast.MethodCall, root: ast.Expr, source: Source, analysis: Analysis) -> str:
    back = put_back(root, "value", source, analysis.types)
    value = f"let mut value = {quote(source, root)};"
    for copy in () if isinstance(root, ast.Binary) else _from_root(call.receiver, root):
        place = place_of(copy, source, analysis.types)
        if place and back in ("", f"{place} = value;"):
            given = "…" if call.arguments else ""
            part = source.text[copy.end : call.method.end].lstrip(")")
            return f"change it where it is: `{place}{part}({given})`"
    if back:
        return f"take it out, change it and put it back: `{value}`, then `{back}`"
    return f"keep it in a variable: `{value}`"


def _from_root(place: ast.Expr, root: ast.Expr) -> list[ast.Expr]:
    """What a place is a part of, from its root to itself."""
    found = [place]
    while found[-1] is not root and isinstance(place := found[-1], ast.FieldAccess | ast.Index):
        found.append(place.receiver)
    return found[::-1]
