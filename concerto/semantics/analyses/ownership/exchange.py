"""Values taken out of a place that gets another one before anybody looks at it: `let mut xs = m[k]; …;
m[k] = xs`, `if let Some(mut xs) = m.get(k) { …; m[k] = xs; }`, or `m[k] = f(m[k])`."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from operator import itemgetter

from concerto.records import replace
from concerto.semantics.analyses.ownership.aggregates import Aggregates
from concerto.semantics.analyses.ownership.events import (
    NEVER,
    EventContext,
    Exchange,
    Moment,
    Part,
    Taker,
    Unchanged,
)
from concerto.semantics.analyses.ownership.leaving import (
    ENTRIES,
    LOOPS,
    OPENS,
    TELLS,
    Leaving,
    errors_of,
)
from concerto.semantics.analyses.ownership.put_back import find_put_back, renamed
from concerto.semantics.analyses.ownership.recorder import field_of, root_of
from concerto.semantics.model.analysis import (
    Analysis,
    ConstructorCall,
    Default,
    FunctionCall,
    Given,
    MatchBinding,
    NativeCall,
    WrapCall,
)
from concerto.semantics.model.builtins import INT
from concerto.semantics.model.symbols import ERROR, LocalSymbol, Named
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast
from concerto.syntax.walk import children, walk

_SELECTING = frozenset(
    f"Array::{name}"
    for name in (
        "filter", "take", "skip", "take_while", "skip_while", "reverse", "sort", "sort_by", "sort_by_key",
        "concat",
    )
)  # fmt: skip
"""They give a new collection of what is in their receiver."""
_WHOLE_CHANGES = frozenset({"Array::push", "Map::insert", "Set::insert", "Queue::enqueue", "Stack::push"})
_NEAR = 50
"""How many statements later the assignment of a place is looked for."""

_NUMBER = itemgetter(0)
_LEAVING = (ast.Return, ast.Throw)
_READING = (ast.FieldAccess, ast.Index, ast.MethodCall, ast.Try, ast.Binary, ast.Match, ast.If)


def find_exchange(analysis: Analysis, block: ast.Block, number: int, unchanged: Unchanged) -> Exchange | None:
    """The exchange that a `let` of one variable begins, the statement with this number. Uses of the root in
    between are left to be counted when all are known. The parameters `unchanged` have not changed
    where their functions give an error."""
    let = block.statements[number]
    assert isinstance(let, ast.Let) and let.value is not None
    place = _place_read(analysis, let.value)
    target = analysis.patterns.get(let.pattern)
    if place is None or not isinstance(target, MatchBinding):
        return None
    following = _following(block, number + 1)
    return _until_assigned(analysis, place, let.value, {target.local}, following, unchanged)


def find_parted(
    analysis: Analysis,
    pattern: ast.Pattern,
    subject: ast.Expr,
    bound: Collection[LocalSymbol],
    body: ast.Expr,
    number: int,
    unchanged: Unchanged,
) -> Exchange | None:
    """The exchange that a pattern begins, whose variables get parts of the subject, before the body or the
    statement of it with this number."""
    is_self = isinstance(subject, ast.Path) and subject not in analysis.coercions
    place = subject if is_self else _place_read(analysis, subject)
    in_option = None if place is not None else _option_read(analysis, subject)
    place = place or in_option
    root = root_of(analysis, place) if place is not None else None
    if place is None or (is_self and (root is None or root.role != "self")):
        return None
    what: ast.Pattern | None = pattern if place is subject else None
    if in_option is not None and isinstance(pattern, ast.VariantPattern) and pattern.arguments:
        [what] = pattern.arguments  # `Some(mut xs)`
    exchange = _until_assigned(analysis, place, subject, bound, _following(body, number), unchanged, what)
    return replace(exchange, parts=frozenset(bound)) if exchange is not None else None


def _following(body: ast.Expr, number: int, count: int = _NEAR) -> list[tuple[ast.Node, bool]]:
    """The statements from this one on, and whether their values are dropped."""
    if not isinstance(body, ast.Block):
        return [(body, False)]
    near = body.statements[number : number + count]
    after: list[tuple[ast.Node, bool]] = [
        (each.expr if isinstance(each, ast.ExprStmt) else each, True) for each in near
    ]
    if body.result is not None and len(near) < count:
        after.append((body.result, False))
    return after


def _until_assigned(
    analysis: Analysis,
    place: ast.Expr,
    read: ast.Expr,
    takers: Collection[LocalSymbol],
    following: Sequence[tuple[ast.Node, bool]],
    unchanged: Unchanged,
    what: ast.Pattern | None = None,
) -> Exchange | None:
    """`what` is the pattern of the very value of the place."""
    root = root_of(analysis, place)
    if root is None:
        return None
    for count, (given, dropped) in enumerate(following):
        target, value = _assignment(analysis, given, dropped)
        if target is None or value is None or not _is_part(analysis, place, target):
            continue
        before = [each for each, _ in following[:count]]
        leaving = Leaving(analysis, takers, lambda node: _is_part(analysis, place, node), unchanged)
        changing = leaving.changing([*before, value])
        if leaving.is_mixed or leaving.of_loop or _changes_keys(analysis, [*before, value], place, root):
            return None
        is_whole = _is_at_hand(analysis, value) and _happens_whole(
            analysis, leaving.takers, [each for each in changing if each is not value]
        )
        exchange = _left(_exchange(analysis, place, root, read, given, [*before, value]), leaving)
        exchange = replace(exchange, is_whole=is_whole)
        if exchange.reads == 1:
            exchange = replace(exchange, beside=exchange.beside | leaving.backs)
        if what is None or not isinstance(given, ast.Assign):
            return exchange
        return replace(exchange, put_back=find_put_back(analysis, what, before, given))
    return None


def _exchange(
    analysis: Analysis,
    place: ast.Expr,
    root: LocalSymbol,
    read: ast.Expr,
    given: ast.Node,
    between: Sequence[ast.Node],
) -> Exchange:
    """An exchange that a failure may interrupt."""
    reads = sum(local is root for local in _locals(analysis, place))
    beside = frozenset(_beside(analysis, place, root, between)) if reads == 1 else frozenset[int]()
    return Exchange(root, reads, read.start, read.end, given.start, given.end, beside)


def _beside(
    analysis: Analysis, place: ast.Expr, root: LocalSymbol, nodes: Sequence[ast.Node]
) -> Iterator[int]:
    """Where other fields of the root are used than the one that the place is in."""
    own = field_of(analysis, place)
    for part in (part for node in nodes for part in walk(node)) if own is not None else ():
        if not isinstance(part, ast.FieldAccess) or not isinstance(part.receiver, ast.Path):
            continue
        if analysis.uses.get(part.receiver) is root and field_of(analysis, part) not in (None, own):
            yield part.start


def find_passed_on(
    analysis: Analysis, aggregates: Aggregates, node: ast.Assign, unchanged: Unchanged
) -> Iterator[tuple[ast.Expr, Exchange]]:
    """What the value for a place keeps of what is there, and the exchanges: `m[k] = Some(f(m[k]))`."""
    for part, place in _places_read(analysis, aggregates, node.value):
        exchange = _within(analysis, node, place, part)
        if exchange is not None:
            yield part, _left_by_call(analysis, exchange, part, node.value, unchanged)


def _places_read(
    analysis: Analysis, aggregates: Aggregates, node: ast.Node
) -> Iterator[tuple[ast.Expr, ast.Expr]]:
    """The parts of an expression that give what a place has, which can change, and the places."""
    for part in _run_once(node):
        if isinstance(part, _READING) and analysis.types.get(part, ERROR) in aggregates:
            place = _place_read(analysis, part)
            if place is not None:
                yield part, place


def _left_by_call(
    analysis: Analysis, exchange: Exchange, given: ast.Expr, value: ast.Expr, unchanged: Unchanged
) -> Exchange:
    """Whether an error leaves of a call that is given what a place has, which is as it was then."""
    exchange = _left_by(exchange, [value])
    tries = [part for part in walk(value) if isinstance(part, ast.Try)]
    found = [call for each in tries for call in errors_of(analysis, each.operand)]
    call = analysis.calls.get(found[0]) if len(tries) == len(found) == 1 else None
    if not isinstance(call, FunctionCall) or not any(each is given for each in call.arguments):
        return exchange
    takers = {(call.function, index) for index, each in enumerate(call.arguments) if each is given}
    if not takers <= unchanged.keys():
        return exchange
    lends = frozenset[Taker]().union(*(unchanged[each] for each in takers))
    return replace(exchange, errs=False, assumes=frozenset(takers), lends=lends)


def find_regained(analysis: Analysis, call: ast.Expr, arms: Iterable[ast.Expr]) -> set[Part]:
    """The arguments of a call that are variables, which get another value where it gives no error, in all
    these arms, before anybody looks at them: `match f(x) { Ok(next) => { x = next; } Err(e) => … }`."""
    target = analysis.calls.get(call)
    arguments = target.arguments if isinstance(target, FunctionCall) else []
    given = [each for each in arguments if isinstance(each, ast.Path)]
    for body in arms if given else ():
        first: ast.Node = body
        if isinstance(body, ast.Block) and body.statements:
            [(first, _)] = _following(body, 0, 1)
        local = None
        if isinstance(first, ast.Assign) and first.op == "=" and isinstance(first.value, ast.Path):
            local = analysis.uses.get(first.target) if isinstance(first.target, ast.Path) else None
        given = [each for each in given if local is not None and analysis.uses.get(each) is local]
    return set(given)


def assigned_places(analysis: Analysis, block: ast.Block) -> list[tuple[int, LocalSymbol]]:
    """The statements of a block that assign parts of variables, by their numbers."""
    found = []
    for number, (node, dropped) in enumerate(_following(block, 0, NEVER)):
        target, _ = _assignment(analysis, node, dropped)
        root = None if target is None or isinstance(target, ast.Path) else root_of(analysis, target)
        if root is not None:
            found.append((number, root))
    return found


def find_kept(
    analysis: Analysis,
    aggregates: Aggregates,
    block: ast.Block,
    number: int,
    assigned: Sequence[tuple[int, LocalSymbol]],
) -> Iterator[tuple[ast.Expr, Exchange]]:
    """What the statement with this number keeps of places that statements after it assign, and the exchanges:
    `stack.push(m[k]); m[k] = []`."""
    [(statement, _), *following] = _following(block, number)
    first = bisect(assigned, number, key=_NUMBER)
    near = [(at - number - 1, root) for at, root in assigned[first : first + _NEAR]]
    near = [each for each in near if each[0] < len(following)]
    roots = {root for _, root in near}
    for part, place in _places_read(analysis, aggregates, statement) if near else ():
        if root_of(analysis, place) in roots:
            exchange = _until_kept_is_assigned(analysis, place, part, statement, following, near)
            if exchange is not None:
                yield part, exchange


def _until_kept_is_assigned(
    analysis: Analysis,
    place: ast.Expr,
    read: ast.Expr,
    statement: ast.Node,
    following: Sequence[tuple[ast.Node, bool]],
    near: Iterable[tuple[int, LocalSymbol]],
) -> Exchange | None:
    root = root_of(analysis, place)
    for count, by in near:
        given, dropped = following[count]
        target, value = _assignment(analysis, given, dropped) if by is root else (None, None)
        if root is None or target is None or value is None or not _is_part(analysis, place, target):
            continue
        between = [statement, *[node for node, _ in following[:count]], value]
        if _may_leave(between) or _changes_keys(analysis, between, place, root):
            return None
        return _left_by(_exchange(analysis, place, root, read, given, between), between)
    return None


def _left_by(exchange: Exchange, nodes: Sequence[ast.Node]) -> Exchange:
    """The exchange of a value that may have changed when something in the nodes leaves the function."""
    inside = {part.__class__ for node in nodes for part in walk(node)}
    return replace(exchange, stays=inside.isdisjoint(_LEAVING), errs=ast.Try in inside)


def is_only_looked_at(
    analysis: Analysis, bound: Collection[LocalSymbol], nodes: Sequence[ast.Node], unchanged: Unchanged
) -> bool:
    """Whether nothing that happens in the nodes can change what the variables hold, nor keep it."""
    leaving = Leaving(analysis, bound, lambda _: False, unchanged)
    return not leaving.changing(nodes) and not leaving.lent


def find_matched(
    analysis: Analysis,
    node: ast.Assign,
    subject: ast.Expr,
    bound: Collection[LocalSymbol],
    unchanged: Unchanged,
) -> Exchange | None:
    """The exchange that a pattern in the value for a place begins, whose variables get parts of what is
    there: `m[k] = match m.get(k) { Some(xs) => f(xs), None => [] }`."""
    place = _place_read(analysis, subject) or _option_read(analysis, subject)
    exchange = None if place is None else _within(analysis, node, place, subject)
    if exchange is None:
        return None
    leaving = Leaving(analysis, bound, lambda _: False, unchanged)
    leaving.changing([node.value])
    return replace(_left(exchange, leaving), parts=frozenset(bound))


def _left(exchange: Exchange, leaving: Leaving) -> Exchange:
    """The exchange with what is known of where it is left."""
    return replace(
        exchange,
        stays=not leaving.of_function,
        errs=leaving.with_error,
        assumes=frozenset(leaving.assumed),
        lends=frozenset(leaving.lent),
    )


def _within(analysis: Analysis, node: ast.Assign, place: ast.Expr, read: ast.Expr) -> Exchange | None:
    """The exchange of a place that is read in the value that it is assigned."""
    root = root_of(analysis, place)
    if root is None or not _is_part(analysis, place, node.target):
        return None
    if _may_leave([node.value]) or _changes_keys(analysis, [node.value], place, root):
        return None
    return _exchange(analysis, place, root, read, node, [node.value])


def _run_once(node: ast.Node) -> Iterator[ast.Node]:
    """The parts of an expression that run once at most when it runs."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, (ast.Closure, *LOOPS)):
            yield part
            waiting += children(part)


def is_undisturbed(exchange: Exchange, context: EventContext, uses: Iterable[Moment]) -> bool:
    """Whether the root, by its uses up to when the place is assigned, is only read and assigned."""
    found = [at for at, inside in uses if at not in exchange.beside and not context.excludes(inside)]
    reading = [at for at in found if exchange.start <= at < exchange.read]
    assigning = [at for at in found if at >= exchange.assigned and at not in reading]
    return len(reading) == len(assigning) == exchange.reads and len(found) == 2 * exchange.reads


# --- What is read ---


def _place_read(analysis: Analysis, node: ast.Expr) -> ast.Expr | None:
    """`m[k]` of `m[k]`, `m.get(k).unwrap_or([])` or a `match` of it that gives what is there."""
    if node in analysis.coercions:
        return None
    match node:
        case ast.Index() | ast.FieldAccess():
            return node if _is_place(analysis, node) else None
        case ast.MethodCall() if _native(analysis, node) in _SELECTING:
            return _place_read(analysis, node.receiver)
        case ast.MethodCall():
            return _opened(analysis, node.receiver) if _native(analysis, node) in OPENS else None
        case ast.Try(operand=ast.MethodCall(receiver=option) as told) if _native(analysis, told) in TELLS:
            return _opened(analysis, option)
        case ast.Binary(op="??", left=option) | ast.Try(operand=option):
            return _opened(analysis, option)
        case ast.Match(subject=option, arms=[first, second]) if first.guard is None and second.guard is None:
            if any(_gives(analysis, arm.pattern, arm.body) for arm in (first, second)):
                return _option_read(analysis, option)
        case ast.If(pattern=pattern, condition=option, otherwise=ast.Block()) if pattern is not None:
            if _gives(analysis, pattern, node.then):
                return _option_read(analysis, option)
    return None


def _native(analysis: Analysis, node: ast.Expr) -> str | None:
    call = analysis.calls.get(node)
    return call.function.native if isinstance(call, NativeCall) else None


def _opened(analysis: Analysis, node: ast.Expr) -> ast.Expr | None:
    """The place of which an Option is looked into: `m[k]` of `m.get(k)`, or `node.left`."""
    is_place = isinstance(node, ast.Index | ast.FieldAccess)
    return _place_read(analysis, node) if is_place else _option_read(analysis, node)


def _gives(analysis: Analysis, pattern: ast.Pattern, body: ast.Expr) -> bool:
    """Whether it is `Some(x)`, or `Some(One(x))`, and its body `x`."""
    if isinstance(body, ast.Block):
        if body.statements or body.result is None:
            return False
        body = body.result
    while isinstance(pattern, ast.VariantPattern) and pattern.arguments and len(pattern.arguments) == 1:
        pattern = pattern.arguments[0]
    match pattern:
        case ast.BindPattern(pattern=None, mutable=False) as bound:
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
    if call.function.native not in ENTRIES or len(node.arguments) != 1:
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
        case ast.Index(receiver=inner, index=index):
            return _is_steady(analysis, inner) and _is_steady(analysis, index)
        case ast.TupleLit(items=items):
            return all(_is_steady(analysis, item) for item in items)
        case ast.Binary(left=left, right=right):
            numbers = all(resolve(analysis.types.get(each, ERROR)) == INT for each in (key, left, right))
            return numbers and _is_steady(analysis, left) and _is_steady(analysis, right)
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
    """Whether a place is another one or a part of it, which is no local as a whole but `self`."""
    if isinstance(target, ast.Path):
        root = root_of(analysis, place)
        return root is not None and root.role == "self" and root is analysis.uses.get(target)
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
        case ast.Binary(), ast.Binary():
            return (
                one.op == other.op
                and _is_same(analysis, one.left, other.left)
                and _is_same(analysis, one.right, other.right)
            )
    return False


# --- What happens in between ---


def _changes_keys(
    analysis: Analysis, between: Sequence[ast.Node], place: ast.Expr, root: LocalSymbol
) -> bool:
    """Whether what happens in between may lead to another place."""
    changing = {key for key in _locals(analysis, place) if key.mutable and key is not root}
    return _mentions(analysis, between, changing)


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
        inside = in_loop or isinstance(node, LOOPS)
        waiting += [(child, inside) for child in children(node)]
    return False


def _is_at_hand(analysis: Analysis, value: Given) -> bool:
    """Whether nothing can fail when the value is made: a variable, or an enum's variant of some."""
    if isinstance(value, Default):
        return False
    match analysis.calls.get(value):
        case ConstructorCall(arguments=arguments):
            return all(_is_at_hand(analysis, each) for each in arguments)
        case WrapCall(argument=argument):
            return _is_at_hand(analysis, argument)
        case None:
            return isinstance(value, ast.Path)
    return False


def _happens_whole(analysis: Analysis, takers: Collection[LocalSymbol], between: Sequence[ast.Node]) -> bool:
    """Whether all that happens is one change of what was taken, beside its getting other names."""
    names = renamed(analysis, takers, between)
    rest = [node for node in between if node not in names.values()]
    return not rest or _is_one_change(analysis, names.keys(), rest)


def _is_one_change(analysis: Analysis, names: AbstractSet[LocalSymbol], between: Sequence[ast.Node]) -> bool:
    """Whether all that happens is one change of such a variable, which happens as a whole or not at all."""
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
    return root_of(analysis, place) in names and not any(
        isinstance(part, ast.Block | ast.Closure)
        or (isinstance(part, ast.Path | ast.FieldInit) and analysis.uses.get(part) in names)
        for argument in arguments
        for part in walk(argument)
    )
