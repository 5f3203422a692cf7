"""Where values come from: the locals they were read from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from concerto.records import field, frozen, record
from concerto.semantics.analyses.ownership.aggregates import Aggregates
from concerto.semantics.analyses.ownership.events import FOLDS, SHARED, Part
from concerto.semantics.analyses.ownership.recorder import folds
from concerto.semantics.model.analysis import (
    Analysis,
    BoundCall,
    ConstructorCall,
    Default,
    DynamicCall,
    FunctionCall,
    Given,
    NativeCall,
    WrapCall,
)
from concerto.semantics.model.builtins import HANDLES, task_item
from concerto.semantics.model.symbols import (
    ERROR,
    FunctionOf,
    FunctionSymbol,
    Generic,
    LocalSymbol,
    Named,
    Type,
)
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast

_REMOVALS: Final = frozenset(
    {"Array::pop", "Array::remove", "Map::insert", "Map::remove", "Queue::dequeue", "Stack::pop"}
)
"""What they give is in the collection no more."""


_MAPS: Final = frozenset(
    {
        "Array::map",
        "Array::filter_map",
        "Array::flat_map",
        "Map::map_values",
        "Option::map",
        "Option::and_then",
    }
)
"""What they give is made of what their function gives, which is new unless it lends."""


@frozen
class ValueOrigin:
    """The locals that a value was read from. `doubled`: it may hold the same object in two places."""

    roots: frozenset[LocalSymbol]
    doubled: bool


NOWHERE: Final = ValueOrigin(frozenset(), False)
"""Of a value that nobody else holds."""

SHARED_ORIGIN: Final = ValueOrigin(frozenset((SHARED,)), False)


INSIDE: Final = -1
"""Beside the numbers of parameters: what `SHARED` is the root of."""


@record(eq=False)
class Summary:
    """What callers must know: parameters (self is 0 for a method) whose values the function keeps for
    itself, and those that its result may share. `INSIDE` stands for what nobody may change. `changes` are
    the fields of `mut self` that it changes, None for all of it."""

    owned: set[int] = field(default_factory=set)
    shares: set[int] = field(default_factory=set)
    changes: set[str | None] = field(default_factory=set)

    def clear(self) -> None:
        for each in (self.owned, self.shares, self.changes):
            each.clear()

    @property
    def size(self) -> tuple[int, int, int]:
        """It only ever grows."""
        return len(self.owned), len(self.shares), len(self.changes)


class ValueOrigins:
    """Of the values of one body. `lent` are closures that share what they give with what they get. `origins`
    tells of a local that was bound without a copy whose value it sees; `holders` is the reverse. A value that
    is copied comes from nowhere. `sharing` are collections that share their elements with what they are
    copies of. `summary`, of the function itself, may grow meanwhile."""

    summary: Summary | None = None

    def __init__(
        self,
        analysis: Analysis,
        aggregates: Aggregates,
        summaries: Mapping[FunctionSymbol, Summary],
        copies: set[ast.Node],
        lent: Collection[ast.Expr],
    ) -> None:
        self.analysis = analysis
        self.aggregates = aggregates
        self.summaries = summaries
        self.copies = copies
        self.lent = lent
        self.origins: dict[LocalSymbol, ValueOrigin] = {}
        self.holders: dict[LocalSymbol, set[LocalSymbol]] = {}
        self.sharing: dict[LocalSymbol, ValueOrigin] = {}
        self._found: dict[Part, ValueOrigin] = {}
        self._found_at: object = None
        self._version = 0

    def forget(self) -> None:
        """What values come from has changed. That `copies` or `summary` have grown shows by itself."""
        self._version += 1

    def share(self, local: LocalSymbol, origin: ValueOrigin) -> None:
        if origin.roots:
            self.origins[local] = either((self.origins.get(local, NOWHERE), origin))
            self.forget()
        for root in origin.roots:
            self.holders.setdefault(root, set()).add(local)

    def base(self, local: LocalSymbol) -> ValueOrigin:
        return self.origins.get(local) or ValueOrigin(frozenset((local,)), False)

    def origin(self, node: Part, whole: bool = False) -> ValueOrigin:
        """Where the value of an expression (or a part of it) may come from. `whole` asks also for values
        whose type holds nothing that can change."""
        if node in self.copies:
            return NOWHERE
        if not whole and self.analysis.types.get(node, ERROR) not in self.aggregates:
            return NOWHERE
        state = self._version, len(self.copies), self.summary.size if self.summary is not None else None
        if state != self._found_at:
            self._found, self._found_at = {}, state
        found = self._found.get(node)
        if found is None:
            found = self._found[node] = self._of(node)
        return found

    def _of(self, node: Part) -> ValueOrigin:
        match node:
            case ast.Path() if node in self.analysis.calls:
                return self._of_call(node)
            case ast.Path() | ast.FieldInit():
                symbol = self.analysis.uses.get(node)
                return self.base(symbol) if isinstance(symbol, LocalSymbol) else NOWHERE
            case ast.FieldAccess(receiver=receiver) | ast.Index(receiver=receiver):
                if self.aggregates.hides(self._type(receiver)):
                    return SHARED_ORIGIN
                if isinstance(node, ast.Index) and isinstance(node.index, ast.RangeExpr):
                    return self._of_slice(node, receiver)
                return self.origin(receiver, whole=True)
            case ast.Await(operand=operand) if task_item(self._type(operand)) is not None:
                return SHARED_ORIGIN  # Whoever else waits for the task gets the same value.
            case ast.Try(operand=operand) | ast.Await(operand=operand) | ast.Cast(operand=operand):
                return self.origin(operand)
            case ast.Binary(op="??"):
                return either((self.origin(node.left, whole=True), self.origin(node.right)))
            case ast.ArrayLit(items=items) | ast.TupleLit(items=items):
                return self._together(items)
            case ast.MapLit(entries=entries):
                return self._together(entry.value for entry in entries)
            case ast.StructLit():
                given: list[Part] = [init.value or init for init in node.fields]
                return self._together(given if node.base is None else [*given, node.base])
            case ast.Block(result=result):
                return NOWHERE if result is None else self.origin(result)
            case ast.If(then=then, otherwise=otherwise):
                return self._one_of([then] if otherwise is None else [then, otherwise])
            case ast.Match(arms=arms):
                return self._one_of(arm.body for arm in arms)
            case ast.TryCatch(body=body, catches=catches):
                return self._one_of([body, *(catch.body for catch in catches)])
            case ast.Call() | ast.MethodCall():
                return self._of_call(node)
            case ast.Pipe(target=target):
                return self.origin(target)
            case _:
                return NOWHERE

    def _one_of(self, nodes: Iterable[Part]) -> ValueOrigin:
        return either(self.origin(node) for node in nodes)

    def _together(self, nodes: Iterable[Given | ast.FieldInit]) -> ValueOrigin:
        return _both(self.origin(node) for node in nodes if not isinstance(node, Default))

    def _of_call(self, node: ast.Expr) -> ValueOrigin:
        match self.analysis.calls.get(node):
            case FunctionCall(function=function, arguments=arguments):
                summary = self.summaries.get(function)
                if summary is None:
                    return NOWHERE
                shared = sorted(summary.shares - summary.owned - {INSIDE})
                given = self._together(arguments[i] for i in shared if i < len(arguments))
                return _both((given, SHARED_ORIGIN)) if INSIDE in summary.shares else given
            case NativeCall(function=function, arguments=arguments):
                return self._of_native(node, function, arguments)
            case (
                DynamicCall(arguments=arguments)
                | BoundCall(arguments=arguments)
                | ConstructorCall(arguments=arguments)
            ):
                return self._together(arguments)
            case WrapCall(argument=argument):
                return self._together([argument])
            case _:
                return NOWHERE

    def _of_native(self, node: ast.Expr, function: FunctionSymbol, arguments: list[Given]) -> ValueOrigin:
        """A library function gives something new, parts of its arguments, or an argument declared as a bare
        `T`."""
        if function.native in FOLDS:
            receiver, start, combine = arguments
            if isinstance(combine, ast.Closure) and combine in self.lent:
                return self._together([receiver, start])
            # What is computed is new.
            return NOWHERE if folds(self.analysis, combine) else self._together([start])
        if function.native in _REMOVALS:
            holder = self.analysis.uses.get(arguments[0]) if isinstance(arguments[0], ast.Path) else None
            return self.sharing.get(holder, NOWHERE) if isinstance(holder, LocalSymbol) else NOWHERE
        result = self._type(node)
        declared = ([function.self_type] if function.receiver else []) + [p.type for p in function.parameters]
        found: list[ValueOrigin] = []
        is_lent = any(isinstance(argument, ast.Closure) and argument in self.lent for argument in arguments)
        if function.native in _MAPS and not is_lent:
            return NOWHERE
        for argument, parameter in zip(arguments, declared, strict=False):
            if isinstance(argument, Default):
                continue
            given = self._type(argument)
            if isinstance(given, Named) and given.symbol in HANDLES:
                found.append(SHARED_ORIGIN)
            elif isinstance(given, FunctionOf):
                continue
            elif (
                is_lent
                or isinstance(parameter, Generic)
                or self.aggregates.may_share(result, given)
                or _open(given)
            ):
                found.append(self.origin(argument))
        if function.native == "Array::windows" and self._holds_aggregates(arguments[0]):
            found.append(SHARED_ORIGIN)  # An element stands in several of them.
        return _both(found)

    def _holds_aggregates(self, items: Given) -> bool:
        return not isinstance(items, Default) and self.aggregates.parts_of(self._type(items)) != set()

    def _of_slice(self, node: ast.Expr, receiver: ast.Expr) -> ValueOrigin:
        """A slice is new, its elements are not."""
        return self.origin(receiver) if self._holds_aggregates(node) else NOWHERE

    def _type(self, node: Part) -> Type:
        return resolve(self.analysis.types.get(node, ERROR))


def either(origins: Iterable[ValueOrigin]) -> ValueOrigin:
    """Of a value that is one of several."""
    found = [origin for origin in origins if origin.roots]
    if len(found) < 2:
        return found[0] if found else NOWHERE
    roots = frozenset[LocalSymbol]().union(*(origin.roots for origin in found))
    return ValueOrigin(roots, any(origin.doubled for origin in found))


def _both(origins: Iterable[ValueOrigin]) -> ValueOrigin:
    """Of a value that may hold all of several."""
    found = [origin for origin in origins if origin.roots]
    if len(found) < 2:
        return found[0] if found else NOWHERE
    roots = frozenset[LocalSymbol]().union(*(origin.roots for origin in found))
    overlap = sum(len(origin.roots) for origin in found) > len(roots)
    return ValueOrigin(roots, overlap or any(origin.doubled for origin in found))


def _open(found: Type) -> bool:
    """Any and generic values may be or hold anything."""
    return isinstance(found, Generic) or (isinstance(found, Named) and found.symbol.name == "Any")
