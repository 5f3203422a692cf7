"""Values taken out of a place that gets another one before anybody looks at it: `let mut xs = m[k]; …;
m[k] = xs`, or `m[k] = f(m[k])`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from concerto.semantics.analyses.ownership.events import Exchange
from concerto.semantics.analyses.ownership.recorder import root_of
from concerto.semantics.model.analysis import Analysis, Default, FunctionCall, MatchBinding, NativeCall
from concerto.semantics.model.symbols import ERROR, LocalSymbol, Named
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast
from concerto.syntax.walk import children, walk

_READS = frozenset({"Map::get", "Array::get"})
_OPENS = frozenset({"Option::unwrap", "Option::expect", "Option::unwrap_or", "Option::unwrap_or_else"})
_WHOLE_CHANGES = frozenset({"Array::push", "Map::insert", "Set::insert", "Queue::enqueue", "Stack::push"})
_LOOPS = (ast.While, ast.Loop, ast.For, ast.ParallelFor)


def find_exchange(analysis: Analysis, block: ast.Block, number: int) -> Exchange | None:
    """The exchange that a `let` begins, the statement with this number. Uses of the root in between are
    left to be counted when all are known."""
    let = block.statements[number]
    assert isinstance(let, ast.Let) and let.value is not None
    place = _place_read(analysis, let.value)
    root = root_of(analysis, place) if place is not None else None
    if place is None or root is None:
        return None
    after = [each.expr if isinstance(each, ast.ExprStmt) else each for each in block.statements[number + 1 :]]
    if block.result is not None:
        after.append(block.result)
    for count, given in enumerate(after):
        target, value = _assignment(analysis, given, dropped=given is not block.result)
        if target is None or value is None or not _is_part(analysis, place, target):
            continue
        if _may_fail_to_come(analysis, [*after[:count], value], place, root):
            return None
        reads = sum(local is root for local in _locals(analysis, place))
        is_whole = isinstance(value, ast.Path) and (not count or _is_one_change(analysis, let, after[:count]))
        return Exchange(root, reads, let.value.start, let.value.end, given.start, given.end, is_whole)
    return None


def find_passed_on(analysis: Analysis, node: ast.Assign) -> tuple[ast.Expr, Exchange] | None:
    """What a call gets of the place that its result is for, and the exchange."""
    call = analysis.calls.get(node.value)
    for given in call.arguments if isinstance(call, FunctionCall) else ():
        place = None if isinstance(given, Default) else _place_read(analysis, given)
        root = root_of(analysis, place) if place is not None else None
        if isinstance(given, Default) or place is None or root is None:
            continue
        if not _is_part(analysis, place, node.target):
            continue
        if _may_fail_to_come(analysis, [node.value], place, root):
            return None
        reads = sum(local is root for local in _locals(analysis, place))
        return given, Exchange(root, reads, given.start, given.end, node.start, node.end, False)
    return None


# --- What is read ---


def _place_read(analysis: Analysis, node: ast.Expr) -> ast.Expr | None:
    """`m[k]` of `m[k]`, `m.get(k).unwrap_or([])` or a `match` of it that gives what is there."""
    if node in analysis.coercions:
        return None
    match node:
        case ast.Index() | ast.FieldAccess():
            return node if _is_place(analysis, node) else None
        case ast.MethodCall():
            call = analysis.calls.get(node)
            native = call.function.native if isinstance(call, NativeCall) else None
            return _option_read(analysis, node.receiver) if native in _OPENS else None
        case ast.Binary(op="??", left=option) | ast.Try(operand=option):
            return _option_read(analysis, option)
        case ast.Match(subject=option, arms=[first, second]) if first.guard is None and second.guard is None:
            if any(_gives(analysis, arm.pattern, arm.body) for arm in (first, second)):
                return _option_read(analysis, option)
        case ast.If(pattern=pattern, condition=option, otherwise=ast.Block()) if pattern is not None:
            if _gives(analysis, pattern, node.then):
                return _option_read(analysis, option)
    return None


def _gives(analysis: Analysis, pattern: ast.Pattern, body: ast.Expr) -> bool:
    """Whether it is `Some(x)` and its body `x`."""
    if isinstance(body, ast.Block):
        if body.statements or body.result is None:
            return False
        body = body.result
    match pattern:
        case ast.VariantPattern(arguments=[ast.BindPattern(pattern=None, mutable=False) as bound]):
            target = analysis.patterns.get(bound)
            symbol = analysis.uses.get(body) if isinstance(body, ast.Path) else None
            return (
                isinstance(target, MatchBinding) and symbol is target.local and body not in analysis.coercions
            )
    return False


def _option_read(analysis: Analysis, node: ast.Expr) -> ast.Expr | None:
    """`m[k]` of `m.get(k)`."""
    call = analysis.calls.get(node)
    if not isinstance(node, ast.MethodCall) or not isinstance(call, NativeCall) or node in analysis.coercions:
        return None
    if call.function.native not in _READS or len(node.arguments) != 1:
        return None
    key = node.arguments[0].value
    read = ast.Index(node.start, node.end, receiver=node.receiver, index=key)
    return read if _is_place(analysis, read) else None


def _is_place(analysis: Analysis, node: ast.Expr) -> bool:
    """Whether it is a local, or a part of one whose containers are the program's own."""
    while isinstance(node, ast.Index | ast.FieldAccess):
        if isinstance(node, ast.Index):
            found = resolve(analysis.types.get(node.receiver, ERROR))
            if not (isinstance(found, Named) and found.symbol.name in ("Map", "Array")):
                return False
            if not _is_steady(analysis, node.index):
                return False
        elif node not in analysis.fields:
            return False
        node = node.receiver
        if node in analysis.coercions:
            return False
    return isinstance(node, ast.Path) and isinstance(analysis.uses.get(node), LocalSymbol)


def _is_steady(analysis: Analysis, key: ast.Expr) -> bool:
    """Whether it has the same value each time, unless one of its locals is changed."""
    match key:
        case ast.IntLit() | ast.StringLit() | ast.BoolLit():
            return True
        case ast.Path():
            return isinstance(analysis.uses.get(key), LocalSymbol) and key not in analysis.calls
        case ast.FieldAccess(receiver=inner):
            return key in analysis.fields and _is_steady(analysis, inner)
        case ast.TupleLit(items=items):
            return all(_is_steady(analysis, item) for item in items)
    return False


# --- What is assigned ---


def _assignment(analysis: Analysis, node: ast.Node, dropped: bool) -> tuple[ast.Expr | None, ast.Expr | None]:
    """The place and the value of `m[k] = v`, `m.set(k, v)`, or `m.insert(k, v);` (it gives the old one)."""
    match node:
        case ast.Assign(op="="):
            return node.target, node.value
        case ast.MethodCall(arguments=[key, value]):
            call = analysis.calls.get(node)
            native = call.function.native if isinstance(call, NativeCall) else None
            if (native == "Map::set" or (native == "Map::insert" and dropped)) and not (
                key.name or value.name
            ):
                return ast.Index(node.start, node.end, receiver=node.receiver, index=key.value), value.value
    return None, None


def _is_part(analysis: Analysis, place: ast.Expr, target: ast.Expr) -> bool:
    """Whether a place is another one or a part of it, which is no local as a whole."""
    while isinstance(place, ast.Index | ast.FieldAccess):
        if _is_same(analysis, place, target):
            return True
        place = place.receiver
    return False


def _is_same(analysis: Analysis, one: ast.Expr, other: ast.Expr) -> bool:
    match one, other:
        case ast.IntLit(), ast.IntLit():
            return one.value == other.value
        case ast.StringLit(), ast.StringLit():
            return one.value == other.value
        case ast.BoolLit(), ast.BoolLit():
            return one.value == other.value
        case ast.Path(), ast.Path():
            symbol = analysis.uses.get(one)
            return symbol is not None and symbol is analysis.uses.get(other)
        case ast.FieldAccess(), ast.FieldAccess():
            return one.name.text == other.name.text and _is_same(analysis, one.receiver, other.receiver)
        case ast.Index(), ast.Index():
            return _is_same(analysis, one.index, other.index) and _is_same(
                analysis, one.receiver, other.receiver
            )
        case ast.TupleLit(), ast.TupleLit():
            pairs = zip(one.items, other.items, strict=False)
            return len(one.items) == len(other.items) and all(_is_same(analysis, *pair) for pair in pairs)
    return False


# --- What happens in between ---


def _may_fail_to_come(
    analysis: Analysis, between: Sequence[ast.Node], place: ast.Expr, root: LocalSymbol
) -> bool:
    """Whether what happens in between may leave before the assignment, or lead to another place."""
    changing = {key for key in _locals(analysis, place) if key.mutable and key is not root}
    return _may_leave(between) or _mentions(analysis, between, changing)


def _locals(analysis: Analysis, node: ast.Node) -> Iterator[LocalSymbol]:
    for each in walk(node):
        symbol = analysis.uses.get(each) if isinstance(each, ast.Path | ast.FieldInit) else None
        if isinstance(symbol, LocalSymbol):
            yield symbol


def _mentions(analysis: Analysis, nodes: Sequence[ast.Node], wanted: set[LocalSymbol]) -> bool:
    return bool(wanted) and any(local in wanted for node in nodes for local in _locals(analysis, node))


def _may_leave(nodes: Sequence[ast.Node]) -> bool:
    """Whether a loop around them may go on, or end, from inside of them."""
    waiting = [(node, False) for node in nodes]
    while waiting:
        node, in_loop = waiting.pop()
        if isinstance(node, ast.Break | ast.Continue) and (not in_loop or node.label is not None):
            return True
        inside = in_loop or isinstance(node, _LOOPS)
        waiting += [(child, inside) for child in children(node)]
    return False


def _is_one_change(analysis: Analysis, let: ast.Let, between: Sequence[ast.Node]) -> bool:
    """Whether all that happens is one change of the variable, which happens as a whole or not at all."""
    target = analysis.patterns.get(let.pattern)
    assert isinstance(target, MatchBinding)
    match between:
        case [ast.MethodCall(receiver=place, arguments=given) as change]:
            call = analysis.calls.get(change)
            if not isinstance(call, NativeCall) or call.function.native not in _WHOLE_CHANGES:
                return False
            arguments = [each.value for each in given]
        case [ast.Assign(target=ast.FieldAccess() | ast.Index() as place, value=value)]:
            arguments = [value]
        case _:
            return False
    return root_of(analysis, place) is target.local and not any(
        isinstance(part, ast.Block | ast.Closure)
        or (isinstance(part, ast.Path | ast.FieldInit) and analysis.uses.get(part) is target.local)
        for argument in arguments
        for part in walk(argument)
    )
