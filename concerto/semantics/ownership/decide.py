"""Settles the notes of `collect.py`: which values are copied, which parameters are owned, what results
share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, assert_never

from concerto.semantics.analysis import (
    Analysis,
    Default,
    DynamicCall,
    FunctionCall,
    Given,
    NativeCall,
    VariantCall,
    WrapCall,
)
from concerto.semantics.builtins import HANDLES, NIL
from concerto.semantics.infer import resolve
from concerto.semantics.ownership.collect import (
    Beside,
    Body,
    Bound,
    Captured,
    Collection,
    Context,
    Iterated,
    Keep,
    Kept,
    Moment,
    Part,
    Passed,
    Together,
)
from concerto.semantics.symbols import FunctionSymbol, LocalSymbol
from concerto.semantics.types import ERROR, FunctionOf, Generic, Named, Type
from concerto.syntax import ast

SHARED: Final = LocalSymbol(name="(shared)", type=NIL, mutable=False, role="parameter")
"""The root of what others hold for good: contents of handles, values of captured and outer locals."""


@dataclass(eq=False, slots=True)
class Summary:
    """What callers must know: parameters (self is 0 for a method) whose values the function keeps for
    itself, and those that its result may share."""

    owned: set[int] = field(default_factory=set)
    shares: set[int] = field(default_factory=set)


class Decisions:
    def __init__(self, analysis: Analysis, collection: Collection) -> None:
        self.analysis = analysis
        self.collection = collection
        self.aggregates = collection.aggregates
        self.summaries: dict[FunctionSymbol, Summary] = {
            body.function: Summary() for body in collection.bodies if body.function is not None
        }
        self.copies: set[ast.Node] = set()
        self.copied_captures: set[tuple[ast.Node, LocalSymbol]] = set()

    def settle(self) -> bool:
        """Go through all bodies once; True if a summary changed, so that another round is needed."""
        self.copies.clear()
        self.copied_captures.clear()
        before = [(len(s.owned), len(s.shares)) for s in self.summaries.values()]
        for body in self.collection.bodies:
            _BodyDecisions(self, body).run()
        return before != [(len(s.owned), len(s.shares)) for s in self.summaries.values()]


class _BodyDecisions:
    """One body. `shares` maps a local that was bound without a copy to the locals whose value it sees;
    `holders` is the reverse."""

    def __init__(self, decisions: Decisions, body: Body) -> None:
        self.all = decisions
        self.analysis = decisions.analysis
        self.body = body
        self.summary = decisions.summaries.get(body.function) if body.function is not None else None
        self.shares: dict[LocalSymbol, frozenset[LocalSymbol]] = {}
        self.holders: dict[LocalSymbol, set[LocalSymbol]] = {}

    def run(self) -> None:
        for note in self.body.notes:
            match note:
                case Kept():
                    self._keep(note)
                case Bound():
                    self._bind(note)
                case Iterated():
                    self._iterate(note)
                case Passed(value=value, function=function, index=index, context=context):
                    summary = self.all.summaries.get(function)
                    if summary is not None and index in summary.owned:
                        for leaf in _leaves(value):
                            self._keep(Kept(leaf, Keep.OWN, None, context))
                case Beside(value=value, receiver=receiver):
                    if self._base(receiver) & self.roots(value):
                        self.all.copies.add(value)
                case Captured():
                    self._capture(note)
                case Together(parts=parts):
                    self._separate(parts)
                case _:
                    assert_never(note)

    # --- Decisions ---

    def _keep(self, note: Kept) -> None:
        roots = self.roots(note.value)
        position = note.value.end
        match note.how:
            case Keep.OWN:
                if any(not self._movable(root, position, note.context) for root in roots):
                    self.all.copies.add(note.value)
            case Keep.RETURN:
                if any(not self._returnable(root) for root in roots):
                    self.all.copies.add(note.value)
            case Keep.SHARE:
                if any(self._changes(root, position, note.context) for root in roots):
                    self.all.copies.add(note.value)
                elif note.into is not None:
                    self._share(note.into, roots)

    def _bind(self, note: Bound) -> None:
        if note.subject in self.all.copies:
            return
        roots = self.roots(note.subject)
        if not roots:
            return
        changed = any(self._changes_within(root, note.scope) for root in roots)
        if note.local.mutable or changed:
            self.all.copies.add(note.node)
        else:
            self._share(note.local, roots)

    def _iterate(self, note: Iterated) -> None:
        if any(self._changes_within(root, note.body) for root in self.roots(note.iterable, whole=True)):
            self.all.copies.add(note.iterable)

    def _capture(self, note: Captured) -> None:
        if note.local.type not in self.all.aggregates:
            return
        # The closure may live on into the next round of a loop.
        for root in self._base(note.local):
            if self._changes(root, note.body.end, note.context, loops=True):
                self.all.copied_captures.add((note.body, note.local))

    def _separate(self, parts: Iterable[Part]) -> None:
        seen: frozenset[LocalSymbol] = frozenset()
        for part in parts:
            roots = self.roots(part)
            if roots & seen:
                self.all.copies.add(part)
            seen |= roots

    def _share(self, local: LocalSymbol, roots: Iterable[LocalSymbol]) -> None:
        self.shares[local] = self.shares.get(local, frozenset()) | frozenset(roots)
        for root in roots:
            self.holders.setdefault(root, set()).add(local)

    # --- Questions about a root ---

    def _is_parameter(self, root: LocalSymbol) -> bool:
        return root in self.body.parameters

    def _outside(self, root: LocalSymbol) -> bool:
        return root is SHARED or root not in self.body.declared

    def _movable(self, root: LocalSymbol, position: int, context: Context) -> bool:
        """Can a new owner take over the root's value, as nobody looks at it afterwards?"""
        if self._outside(root) or root in self.body.captured:
            return False
        if self._used_after(root, position, context):
            return False
        if not self._is_parameter(root):
            return True
        return self._own(root)

    def _own(self, parameter: LocalSymbol) -> bool:
        """Make the parameter owned if the function is only ever called directly."""
        function, summary = self.body.function, self.summary
        if function is None or summary is None or self.body.free_result:
            return False
        if function.receiver == "mut self" and parameter.role == "self":
            return False
        if function.name in self.all.collection.called_by_name:
            return False
        summary.owned.add(self.body.parameters.index(parameter))
        return True

    def _returnable(self, root: LocalSymbol) -> bool:
        if self._outside(root) or root in self.body.captured:
            return False
        if not self._is_parameter(root):
            return True
        if self.summary is None or self.body.free_result:
            return False
        index = self.body.parameters.index(root)
        if index not in self.summary.owned:
            self.summary.shares.add(index)
        return True

    def _used_after(self, root: LocalSymbol, position: int, context: Context) -> bool:
        replaced = context.overwrites is root and not context.guarded and not self.holders.get(root)
        if not replaced and self._repeats(root, context):
            return True
        end = context.overwritten_at if replaced else 2**62
        for local in (root, *self.holders.get(root, ())):
            for use in self.body.uses.get(local, ()):
                if position <= use.position < end and not context.excludes(use.context):
                    return True
        return False

    def _repeats(self, root: LocalSymbol, context: Context) -> bool:
        """Does the same place run again for the same root, because a loop between the two goes round?"""
        return len(context.loops) > len(self.body.declared[root].loops)

    def _changes(self, root: LocalSymbol, position: int, context: Context, loops: bool = False) -> bool:
        changes = self.body.changes.get(root, ())
        if any(change.position >= position and not context.excludes(change.context) for change in changes):
            return True
        if not loops or self._outside(root):
            return False
        depth = len(self.body.declared[root].loops)
        return any(_within(change, region) for region in context.loops[depth:] for change in changes)

    def _changes_within(self, root: LocalSymbol, region: tuple[int, int]) -> bool:
        return any(_within(change, region) for change in self.body.changes.get(root, ()))

    # --- Roots ---

    def _base(self, local: LocalSymbol) -> frozenset[LocalSymbol]:
        return self.shares.get(local) or frozenset((local,))

    def roots(self, node: Part, whole: bool = False) -> frozenset[LocalSymbol]:
        """The locals whose value (or a part of it) the value of an expression may be. `whole` asks also for
        values whose type holds nothing that can change."""
        if not whole and self.analysis.types.get(node, ERROR) not in self.all.aggregates:
            return frozenset()
        match node:
            case ast.Path() if node in self.analysis.calls:
                return self._call_roots(node)
            case ast.Path() | ast.FieldInit():
                symbol = self.analysis.uses.get(node)
                return self._base(symbol) if isinstance(symbol, LocalSymbol) else frozenset()
            case ast.FieldAccess(receiver=receiver) | ast.Index(receiver=receiver):
                if isinstance(node, ast.Index) and isinstance(node.index, ast.RangeExpr):
                    return self._parts_only(node, receiver)
                return self.roots(receiver, whole=True)
            case ast.Try(operand=operand) | ast.Await(operand=operand) | ast.Cast(operand=operand):
                return self.roots(operand)
            case ast.Binary(op="??"):
                return self.roots(node.left, whole=True) | self.roots(node.right)
            case ast.ArrayLit(items=items) | ast.TupleLit(items=items):
                return self._all(items)
            case ast.MapLit(entries=entries):
                return self._all(entry.value for entry in entries)
            case ast.StructLit():
                given: list[Part] = [init.value or init for init in node.fields]
                return self._all(given if node.base is None else [*given, node.base])
            case ast.Block(result=result):
                return frozenset() if result is None else self.roots(result)
            case ast.If(then=then, otherwise=otherwise):
                return self.roots(then) | (frozenset() if otherwise is None else self.roots(otherwise))
            case ast.Match(arms=arms):
                return self._all(arm.body for arm in arms)
            case ast.TryCatch(body=body, catches=catches):
                return self._all([body, *(catch.body for catch in catches)])
            case ast.Call() | ast.MethodCall():
                return self._call_roots(node)
            case ast.Pipe(target=target):
                return self.roots(target)
            case _:
                return frozenset()

    def _all(self, nodes: Iterable[Part]) -> frozenset[LocalSymbol]:
        return frozenset[LocalSymbol]().union(*(self.roots(node) for node in nodes))

    def _given(self, arguments: Iterable[Given]) -> frozenset[LocalSymbol]:
        return self._all(argument for argument in arguments if not isinstance(argument, Default))

    def _call_roots(self, node: ast.Expr) -> frozenset[LocalSymbol]:
        match self.analysis.calls.get(node):
            case FunctionCall(function=function, arguments=arguments):
                summary = self.all.summaries.get(function)
                if summary is None:
                    return frozenset()
                return self._given(arguments[i] for i in summary.shares - summary.owned if i < len(arguments))
            case NativeCall(function=function, arguments=arguments):
                return self._native_roots(node, function, arguments)
            case DynamicCall(arguments=arguments) | VariantCall(arguments=arguments):
                return self._given(arguments)
            case WrapCall(argument=argument):
                return self._given([argument])
            case _:
                return frozenset()

    def _native_roots(
        self, node: ast.Expr, function: FunctionSymbol, arguments: list[Given]
    ) -> frozenset[LocalSymbol]:
        """A library function gives something new, parts of its arguments, or an argument declared as a bare
        `T`."""
        result = self._type(node)
        wanted = {result} | self.all.aggregates.parts_of(result)
        declared = ([function.self_type] if function.receiver else []) + [p.type for p in function.parameters]
        found: frozenset[LocalSymbol] = frozenset()
        for argument, parameter in zip(arguments, declared, strict=False):
            if isinstance(argument, Default):
                continue
            given = self._type(argument)
            if isinstance(given, Named) and given.symbol in HANDLES:
                found |= {SHARED}
            elif isinstance(given, FunctionOf):
                continue
            elif (
                isinstance(parameter, Generic) or wanted & self.all.aggregates.parts_of(given) or _open(given)
            ):
                found |= self.roots(argument)
        return found

    def _parts_only(self, node: ast.Expr, receiver: ast.Expr) -> frozenset[LocalSymbol]:
        """A slice is new, its elements are not."""
        return self.roots(receiver) if self.all.aggregates.parts_of(self._type(node)) else frozenset()

    def _type(self, node: Part) -> Type:
        return resolve(self.analysis.types.get(node, ERROR))


def _leaves(node: Part) -> Iterator[Part]:
    """What a value is put together from, through literals."""
    match node:
        case ast.ArrayLit(items=items) | ast.TupleLit(items=items):
            parts: list[Part] = [*items]
        case ast.MapLit(entries=entries):
            parts = [entry.value for entry in entries]
        case ast.StructLit(base=None):
            parts = [init.value or init for init in node.fields]
        case _:
            yield node
            return
    for part in parts:
        yield from _leaves(part)


def _open(found: Type) -> bool:
    """Any and generic values may be or hold anything."""
    return isinstance(found, Generic) or (isinstance(found, Named) and found.symbol.name == "Any")


def _within(moment: Moment, region: tuple[int, int]) -> bool:
    return region[0] <= moment.position < region[1]
