"""Where code is left between taking a value out of a place and assigning the place again: early, while the
value is as it was, or when the place has got another one on that way."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from enum import Enum, auto

from concerto.semantics.analyses.ownership.callbacks import is_handle
from concerto.semantics.analyses.ownership.recorder import root_of
from concerto.semantics.model.analysis import Analysis, Default, NativeCall
from concerto.semantics.model.builtins import BOOL, FLOAT, INT, NIL, OPTION, RESULT, STRING
from concerto.semantics.model.symbols import ERROR, LocalSymbol, Named, TupleOf, Type
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast
from concerto.syntax.walk import children, walk

_PLAIN = (BOOL, FLOAT, INT, NIL, STRING)
LOOPS = (ast.While, ast.Loop, ast.For, ast.ParallelFor)


class _State(Enum):
    """What is known of the value by then. Nothing comes after GONE."""

    AS_TAKEN = auto()
    CHANGED = auto()
    BACK = auto()
    GONE = auto()


class Leaving:
    """Goes through what happens in between. `takers` hold the value or parts of it, `is_place` tells the
    place.

    `of_function` and `of_loop`: the function, or a loop around, is left with a value that may have changed.
    `is_mixed`: what comes later cannot tell whether the place was assigned. `backs` are where it is, besides.
    """

    def __init__(
        self, analysis: Analysis, takers: Collection[LocalSymbol], is_place: Callable[[ast.Expr], bool]
    ) -> None:
        self._analysis = analysis
        self._takers = takers
        self._is_place = is_place
        self._in_loop = False
        self._used = False
        self.of_function = self.of_loop = self.is_mixed = False
        self.backs: set[int] = set()

    def changing(self, nodes: Sequence[ast.Node]) -> Sequence[ast.Node]:
        """Go through all that happens; gives it from the first node that may change the value."""
        state, number = _State.AS_TAKEN, len(nodes)
        for at, node in enumerate(nodes):
            state = self._run(node, state)
            if self._used or state is not _State.AS_TAKEN:
                number = min(number, at)
        self.is_mixed |= state is _State.BACK
        return nodes[number:]

    def _run(self, node: ast.Node, state: _State, looks: bool = False) -> _State:
        """What is known after a node, whose value is only looked at if it `looks`."""
        match node:
            case ast.Path() | ast.FieldInit(value=None):
                is_taker = self._analysis.uses.get(node) in self._takers
                return self._use(state) if is_taker and not looks else state
            case ast.Closure() | ast.Spawn() | ast.Race():
                uses = self._analysis.uses
                inside = (part for part in walk(node) if isinstance(part, ast.Path | ast.FieldInit))
                return self._use(state) if any(uses.get(part) in self._takers for part in inside) else state
            case ast.If(condition=condition, then=then, otherwise=otherwise):
                state = self._run(condition, state)
                other = state if otherwise is None else self._run(otherwise, state)
                return self._join([self._run(then, state), other])
            case ast.Match(subject=subject, arms=arms):
                state = self._run(subject, state)
                return self._join([self._in_turn(children(arm), state) for arm in arms])
            case ast.TryCatch(body=body, catches=catches):
                backs, used, self._used = len(self.backs), self._used, False
                after = self._run(body, state)
                failed = self._use(state) if self._used else state
                self.is_mixed |= len(self.backs) > backs
                self._used = used or self._used
                return self._join([after, *[self._run(catch.body, failed) for catch in catches]])
            case ast.Binary(op="&&" | "||" | "??", left=left, right=right):
                state = self._run(left, state, looks)
                return self._join([state, self._run(right, state)])
            case ast.Assign(op="=", target=target, value=value) if self._is_place(target):
                self._run(value, state)
                self.backs.add(target.start)
                return _State.BACK
            case ast.Assign(target=target):
                state = self._in_turn(children(node), state)
                return self._use(state) if root_of(self._analysis, target) in self._takers else state
            case ast.Return() | ast.Throw() | ast.Try() | ast.Break() | ast.Continue():
                return self._leave(node, self._in_turn(children(node), state))
        if isinstance(node, LOOPS):
            return self._loop(node, state)
        return self._parts(node, state, looks)

    def _parts(self, node: ast.Node, state: _State, looks: bool) -> _State:
        call = self._analysis.calls.get(node) if isinstance(node, ast.Call | ast.MethodCall) else None
        receiver: ast.Node | None = None
        if isinstance(node, ast.FieldAccess | ast.Index):
            receiver = node.receiver
        elif isinstance(call, NativeCall) and call.function.receiver == "self":
            given = call.arguments[0]
            receiver = None if isinstance(given, Default) or is_handle(self._analysis, given) else given
        looks = looks or _is_plain(self._analysis.types.get(node, ERROR))
        for child in children(node):
            state = self._run(child, state, looks and child is receiver)
        return state

    def _loop(self, node: ast.Node, state: _State) -> _State:
        """A loop may come round again after it has changed the value."""
        if isinstance(node, ast.For):
            gives = self._analysis.pattern_types.get(node.pattern, ERROR)
            state = self._run(node.iterable, state, _is_plain(gives))
        rest = [
            child for child in children(node) if not (isinstance(node, ast.For) and child is node.iterable)
        ]
        used, self._used = self._used, False
        in_loop, self._in_loop = self._in_loop, True
        after = self._in_turn(rest, state)
        begun, state = state, self._join([state, after])
        if self._used:
            state = self._use(state)
            if begun is not state:
                self._in_turn(rest, state)
        self._used, self._in_loop = used or self._used, in_loop
        return state

    def _leave(self, node: ast.Node, state: _State) -> _State:
        if not isinstance(node, ast.Break | ast.Continue):
            self.of_function |= state is _State.CHANGED
            return state if isinstance(node, ast.Try) else _State.GONE
        if self._in_loop and node.label is None:
            self.is_mixed |= state is _State.BACK
        else:
            self.of_loop |= state is _State.CHANGED
        return _State.GONE

    def _use(self, state: _State) -> _State:
        """What has the value may change it, or parts of it, from now on."""
        self._used = True
        self.is_mixed |= state is _State.BACK
        return _State.CHANGED

    def _in_turn(self, nodes: Iterable[ast.Node], state: _State) -> _State:
        for node in nodes:
            state = self._run(node, state)
        return state

    def _join(self, states: Iterable[_State]) -> _State:
        found = {each for each in states if each is not _State.GONE}
        self.is_mixed |= _State.BACK in found and len(found) > 1
        if not found:
            return _State.GONE
        return found.pop() if len(found) == 1 else _State.CHANGED


def _is_plain(type_: Type) -> bool:
    """Whether nothing of such a value can change."""
    type_ = resolve(type_)
    if isinstance(type_, TupleOf):
        return all(map(_is_plain, type_.items))
    if isinstance(type_, Named) and type_.symbol in (OPTION, RESULT):
        return all(map(_is_plain, type_.arguments))
    return type_ in _PLAIN
