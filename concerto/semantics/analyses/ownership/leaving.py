"""Where code is left between taking a value out of a place and assigning the place again: early, while the
value is as it was, or when the place has got another one on that way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum, auto
from typing import Final, NamedTuple

from concerto.semantics.analyses.ownership.callbacks import is_handle
from concerto.semantics.analyses.ownership.events import Taker, Unchanged
from concerto.semantics.analyses.ownership.recorder import root_of
from concerto.semantics.model.analysis import (
    Analysis,
    Default,
    FunctionCall,
    Given,
    MatchBinding,
    MatchBuiltin,
    NativeCall,
    WrapCall,
)
from concerto.semantics.model.builtins import BOOL, FLOAT, INT, NIL, OPTION, RESULT, STRING
from concerto.semantics.model.symbols import (
    ERROR,
    BuiltinSymbol,
    LocalSymbol,
    Named,
    TupleOf,
    Type,
)
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast
from concerto.syntax.walk import children, walk

LOOPS: Final = (ast.While, ast.Loop, ast.For, ast.ParallelFor)
ENTRIES: Final = frozenset({"Map::get", "Array::get"})
OPENS: Final = frozenset(f"Option::{name}" for name in ("unwrap", "expect", "unwrap_or", "unwrap_or_else"))
TELLS: Final = frozenset({"Option::ok_or", "Option::ok_or_else"})

_PASSING_ON: Final = TELLS | {"Result::map_err"}
"""They give an error where their receiver is one."""

_PARTS: Final = ENTRIES | OPENS | TELLS | {"Array::first", "Array::last"}
"""They give their receiver, or a part of it."""

_PLAIN = (BOOL, FLOAT, INT, NIL, STRING)


class ValueState(Enum):
    """What is known of the value by then. Nothing comes after GONE."""

    AS_TAKEN = auto()
    CHANGED = auto()
    BACK = auto()
    GONE = auto()


class Ways(NamedTuple):
    """What is known where an expression has given an error, `Err` or `None`, and where it has not."""

    failed: ValueState
    fine: ValueState


class Leaving:
    """Goes through what happens in between. `takers` hold the value or parts of it, and so do the variables
    that get these from them. `is_place` tells the place. The parameters
    `unchanged` have not changed where their functions give an error.

    `of_function`, `with_error` and `of_loop`: the function, that with an error, or a loop around is left
    with a value that may have changed. `is_mixed`: what comes later cannot tell whether the place was
    assigned. `backs` are where it is, besides; `assumed` the parameters of which it mattered, `lent` the
    others that were given the value, or a part of it, and may not keep it.
    """

    def __init__(
        self,
        analysis: Analysis,
        takers: Collection[LocalSymbol],
        is_place: Callable[[ast.Expr], bool],
        unchanged: Unchanged,
    ) -> None:
        self.analysis = analysis
        self.takers = set(takers)
        self._is_place = is_place
        self._unchanged = unchanged
        self._in_loop = False
        self.used = False
        self.of_function = self.with_error = self.of_loop = self.is_mixed = False
        self.backs: set[int] = set()
        self.assumed: set[Taker] = set()
        self.lent: set[Taker] = set()

    def changing(self, nodes: Sequence[ast.Node]) -> Sequence[ast.Node]:
        """Go through all that happens; gives it from the first node that may change the value."""
        state, number = ValueState.AS_TAKEN, len(nodes)
        for at, node in enumerate(nodes):
            state = self._run(node, state)
            if self.used or state is not ValueState.AS_TAKEN:
                number = min(number, at)
        self.is_mixed |= state is ValueState.BACK
        return nodes[number:]

    def _run(self, node: ast.Node, state: ValueState, looks: bool = False) -> ValueState:
        """What is known after a node, whose value is only looked at if it `looks`."""
        match node:
            case ast.Path() | ast.FieldInit(value=None):
                return self.name(node, state, looks)
            case ast.Closure() | ast.Spawn() | ast.Race():
                return self.inside(node, state)
            case ast.Block() | ast.If() | ast.Match():
                return self._join(self._branches(node, state))
            case ast.Let(pattern=pattern, value=value, otherwise=otherwise) if value is not None:
                matched, other = self._parted(pattern, self._subject(value, [pattern], state))
                return matched if otherwise is None else self._join([matched, self._run(otherwise, other)])
            case ast.TryCatch(body=body, catches=catches):
                backs, used, self.used = len(self.backs), self.used, False
                after = self._run(body, state)
                failed = self.use(state) if self.used else state
                self.is_mixed |= len(self.backs) > backs
                self.used = used or self.used
                return self._join([after, *[self._run(catch.body, failed) for catch in catches]])
            case ast.Binary(op="&&" | "||" | "??", left=left, right=right):
                state = self._run(left, state, looks)
                return self._join([state, self._run(right, state)])
            case ast.Assign(op="=", target=target, value=value) if self._is_place(target):
                self._run(value, state)
                self.backs.add(target.start)
                return ValueState.BACK
            case ast.Assign(target=target, value=value):
                state = self.in_turn([*_keys(target), value], state)
                return self.use(state) if root_of(self.analysis, target) in self.takers else state
            case ast.Try(operand=operand):
                ways = self.ways(operand, state)
                self.with_error |= ways.failed is ValueState.CHANGED
                return ways.fine
            case ast.Return(value=value):
                ways = Ways(ValueState.GONE, state) if value is None else self.ways(value, state)
                self.with_error |= ways.failed is ValueState.CHANGED
                self.of_function |= ways.fine is ValueState.CHANGED
                return ValueState.GONE
            case ast.Throw(value=value):
                is_changed = self._run(value, state) is ValueState.CHANGED
                self.of_function |= is_changed
                self.with_error |= is_changed
                return ValueState.GONE
            case ast.Break() | ast.Continue():
                return self._leave_loop(node, self.in_turn(children(node), state))
        if isinstance(node, LOOPS):
            return self._loop(node, state)
        return self.parts(node, state, looks)

    # --- What holds the value ---

    def name(self, node: ast.Path | ast.FieldInit, state: ValueState, looks: bool) -> ValueState:
        is_taker = self.analysis.uses.get(node) in self.takers
        return self.use(state) if is_taker and not looks else state

    def inside(self, node: ast.Node, state: ValueState) -> ValueState:
        """A body of its own, that runs at any time from now on."""
        uses = self.analysis.uses
        names = (part for part in walk(node) if isinstance(part, ast.Path | ast.FieldInit))
        return self.use(state) if any(uses.get(part) in self.takers for part in names) else state

    def use(self, state: ValueState) -> ValueState:
        """What has the value may change it, or parts of it, from now on."""
        self.used = True
        self.is_mixed |= state is ValueState.BACK
        return ValueState.CHANGED

    # --- Expressions ---

    def ways(self, node: ast.Expr, state: ValueState) -> Ways:
        """What is known after an expression, by what it gives."""
        call = self.analysis.calls.get(node)
        if node in self.analysis.coercions:
            call = None
        elif isinstance(node, ast.Block | ast.If | ast.Match):
            return self._branches(node, state)
        elif _is_none(self.analysis, node):
            return Ways(state, ValueState.GONE)
        match call:
            case WrapCall(name=name):
                after = self.in_turn(children(node), state)
                return Ways(after, ValueState.GONE) if name == "Err" else Ways(ValueState.GONE, after)
            case NativeCall(function=function) if function.native in _PASSING_ON:
                receiver, *others = _given(call.arguments)
                failed, fine = self.ways(receiver, state)
                return Ways(self.in_turn(others, failed), self.in_turn(others, fine))
            case FunctionCall(function=function):
                given = {
                    index: each for index, each in enumerate(call.arguments) if not isinstance(each, Default)
                }
                taken = {
                    index: each
                    for index, each in given.items()
                    if root_of(self.analysis, each) in self.takers
                }
                takers = {(function, index) for index in taken}
                if takers and takers <= self._unchanged.keys():
                    self.assumed |= takers
                    self.lent.update(*(self._unchanged[each] for each in takers))
                    others = [each for index, each in given.items() if index not in taken]
                    keys = [key for each in taken.values() for key in _keys(each)]
                    state = self.in_turn([*keys, *others], state)
                    return Ways(state, self.use(state))
        after = self._run(node, state)
        return Ways(after, after)

    def _branches(self, node: ast.Block | ast.If | ast.Match, state: ValueState) -> Ways:
        match node:
            case ast.Block(statements=statements, result=result):
                state = self.in_turn(statements, state)
                return Ways(state, state) if result is None else self.ways(result, state)
            case ast.If(pattern=pattern, condition=condition, then=then, otherwise=otherwise):
                subject_ways = self._subject(condition, [pattern] if pattern is not None else [], state)
                matched, other = self._parted(pattern, subject_ways)
                found = [self.ways(then, matched)]
                found.append(Ways(other, other) if otherwise is None else self.ways(otherwise, other))
            case ast.Match(subject=subject, arms=arms):
                subject_ways, found = self._subject(subject, [arm.pattern for arm in arms], state), []
                for arm in arms:
                    matched, _ = self._parted(arm.pattern, subject_ways)
                    if arm.guard is not None:
                        matched = self._run(arm.guard, matched)
                        subject_ways = Ways(*(self._join([matched, way]) for way in subject_ways))
                    found.append(self.ways(arm.body, matched))
        return Ways(self._join(each.failed for each in found), self._join(each.fine for each in found))

    def _subject(self, subject: ast.Expr, patterns: Iterable[ast.Pattern], state: ValueState) -> Ways:
        """What is known when patterns take a value apart."""
        parts = subject.items if isinstance(subject, ast.TupleLit) else [subject]
        has_read = False
        for part in parts:
            read = self.read(part, state)
            has_read |= read is not None
            if read is None and len(parts) == 1:
                return self.ways(part, state)
            state = self._run(part, state) if read is None else read
        targets = [self.analysis.patterns.get(part) for each in patterns for part in walk(each)]
        bound = [each.local for each in targets if isinstance(each, MatchBinding)]
        self.takers.update(local for local in bound if has_read and not is_plain(local.type))
        return Ways(state, state)

    def read(self, node: ast.Expr, state: ValueState) -> ValueState | None:
        """What is known after an expression, if it gives the value or a part of it."""
        others: list[ast.Expr] = []
        may_leave = False
        while not isinstance(node, ast.Path):
            call = self.analysis.calls.get(node)
            if node in self.analysis.coercions:
                return None
            match node:
                case ast.FieldAccess(receiver=receiver) if node in self.analysis.fields:
                    node = receiver
                case ast.Index(receiver=receiver, index=index):
                    others.append(index)
                    node = receiver
                case ast.Try(operand=operand):
                    may_leave, node = True, operand
                case ast.MethodCall() if isinstance(call, NativeCall) and call.function.native in _PARTS:
                    node, *given = _given(call.arguments)
                    others += given
                case _:
                    return None
        if node in self.analysis.coercions or self.analysis.uses.get(node) not in self.takers:
            return None
        state = self.in_turn(others, state)
        self.with_error |= may_leave and state is ValueState.CHANGED
        return state

    def _parted(self, pattern: ast.Pattern | None, ways: Ways) -> tuple[ValueState, ValueState]:
        """What is known where the pattern matches, and where it does not."""
        target = None if pattern is None else self.analysis.patterns.get(pattern)
        if not isinstance(target, MatchBuiltin):
            either = self._join(ways)
            return either, either
        matched, other = ways if target.name in ("Err", "None") else (ways.fine, ways.failed)
        inner = pattern.arguments or [] if isinstance(pattern, ast.VariantPattern) else []
        return matched, other if all(takes_all(self.analysis, each) for each in inner) else self._join(ways)

    def parts(self, node: ast.Node, state: ValueState, looks: bool) -> ValueState:
        call = self.analysis.calls.get(node) if isinstance(node, ast.Call | ast.MethodCall) else None
        receiver: ast.Node | None = None
        if isinstance(node, ast.FieldAccess | ast.Index):
            receiver = node.receiver
        elif isinstance(call, NativeCall) and call.function.receiver == "self":
            given = call.arguments[0]
            receiver = None if isinstance(given, Default) or is_handle(self.analysis, given) else given
        gives_plain = is_plain(self.analysis.types.get(node, ERROR))
        looked_at = {receiver} if looks or gives_plain else set[ast.Node | None]()
        if isinstance(call, FunctionCall) and gives_plain:
            looked_at |= set(self._lends(call))
        for child in children(node):
            child = child.value if isinstance(child, ast.Argument) else child
            state = self._run(child, state, child in looked_at)
        return state

    def _lends(self, call: FunctionCall) -> Iterator[ast.Expr]:
        """The arguments of a call that takes over none of them, as far as can be told here."""
        is_changing = call.function.receiver == "mut self"
        for index, given in enumerate(call.arguments):
            if isinstance(given, Default) or (index == 0 and is_changing):
                continue
            if root_of(self.analysis, given) in self.takers:
                self.lent.add((call.function, index))
                yield given

    def in_turn(self, nodes: Iterable[ast.Node], state: ValueState) -> ValueState:
        for node in nodes:
            state = self._run(node, state)
        return state

    def _join(self, states: Iterable[ValueState]) -> ValueState:
        found = {each for each in states if each is not ValueState.GONE}
        self.is_mixed |= ValueState.BACK in found and len(found) > 1
        if not found:
            return ValueState.GONE
        return found.pop() if len(found) == 1 else ValueState.CHANGED

    # --- Loops ---

    def _loop(self, node: ast.Node, state: ValueState) -> ValueState:
        """A loop may come round again after it has changed the value."""
        if isinstance(node, ast.For):
            gives = self.analysis.pattern_types.get(node.pattern, ERROR)
            state = self._run(node.iterable, state, is_plain(gives))
        rest = [
            child for child in children(node) if not (isinstance(node, ast.For) and child is node.iterable)
        ]
        used, self.used = self.used, False
        in_loop, self._in_loop = self._in_loop, True
        after = self.in_turn(rest, state)
        begun, state = state, self._join([state, after])
        if self.used:
            state = self.use(state)
            if begun is not state:
                self.in_turn(rest, state)
        self.used, self._in_loop = used or self.used, in_loop
        return state

    def _leave_loop(self, node: ast.Break | ast.Continue, state: ValueState) -> ValueState:
        if self._in_loop and node.label is None:
            self.is_mixed |= state is ValueState.BACK
        else:
            self.of_loop |= state is ValueState.CHANGED
        return ValueState.GONE


def takes_all(analysis: Analysis, pattern: ast.Pattern) -> bool:
    """Whether a pattern matches whatever there is, as `x` and `_` do."""
    if isinstance(pattern, ast.BindPattern):
        return pattern.pattern is None and isinstance(analysis.patterns.get(pattern), MatchBinding)
    return isinstance(pattern, ast.WildcardPattern)


def errors_of(analysis: Analysis, node: ast.Expr) -> Iterator[ast.Expr]:
    """The calls whose errors an expression gives as its own."""
    call = analysis.calls.get(node)
    if node in analysis.coercions:
        return
    match node:
        case ast.Block(result=result) if result is not None:
            yield from errors_of(analysis, result)
        case ast.If(then=then, otherwise=otherwise):
            yield from errors_of(analysis, then)
            if otherwise is not None:
                yield from errors_of(analysis, otherwise)
        case ast.Match(arms=arms):
            for arm in arms:
                yield from errors_of(analysis, arm.body)
        case ast.MethodCall(receiver=receiver) if isinstance(call, NativeCall):
            if call.function.native in _PASSING_ON:
                yield from errors_of(analysis, receiver)
        case _ if call is not None:
            yield node


def _given(arguments: Iterable[Given]) -> list[ast.Expr]:
    return [each for each in arguments if not isinstance(each, Default)]


def _keys(place: ast.Expr) -> Iterator[ast.Expr]:
    """What is evaluated on the way to a place."""
    while isinstance(place, ast.FieldAccess | ast.Index):
        if isinstance(place, ast.Index):
            yield place.index
        place = place.receiver


def _is_none(analysis: Analysis, node: ast.Expr) -> bool:
    symbol = analysis.uses.get(node) if isinstance(node, ast.Path) else None
    return isinstance(symbol, BuiltinSymbol) and symbol.name == "None"


def is_plain(type_: Type) -> bool:
    """Whether nothing of such a value can change."""
    type_ = resolve(type_)
    if isinstance(type_, TupleOf):
        return all(map(is_plain, type_.items))
    if isinstance(type_, Named) and type_.symbol in (OPTION, RESULT):
        return all(map(is_plain, type_.arguments))
    return type_ in _PLAIN
