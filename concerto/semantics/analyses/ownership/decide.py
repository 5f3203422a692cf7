"""Settles the notes of `collect.py`: which values are copied, which parameters are owned, what results
share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, assert_never

from concerto.records import field, frozen, record
from concerto.semantics.analyses.ownership.call_graph import call_groups
from concerto.semantics.analyses.ownership.events import (
    NEVER,
    Beside,
    BodyEvents,
    Bound,
    BoundParameter,
    Capture,
    Collection,
    EventContext,
    Iterated,
    Keep,
    Kept,
    Moment,
    Part,
    Passed,
    Together,
    Waits,
)
from concerto.semantics.analyses.ownership.recorder import field_of, root_of
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
from concerto.semantics.model.builtins import ASKED_OF_VALUES, HANDLES, NIL, task_item
from concerto.semantics.model.symbols import (
    ERROR,
    FunctionOf,
    FunctionSymbol,
    Generic,
    ImplSymbol,
    LocalSymbol,
    Named,
    Type,
)
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast

SHARED: Final = LocalSymbol(name="(shared)", type=NIL, mutable=False, role="parameter")
"""The root of what others hold for good: contents of handles, values of captured and outer locals."""


@frozen
class ValueOrigin:
    """The locals that a value was read from. `doubled`: it may hold the same object in two places."""

    roots: frozenset[LocalSymbol]
    doubled: bool


NOWHERE: Final = ValueOrigin(frozenset(), False)
"""Of a value that nobody else holds."""

SHARED_ORIGIN: Final = ValueOrigin(frozenset((SHARED,)), False)


@record(eq=False)
class Summary:
    """What callers must know: parameters (self is 0 for a method) whose values the function keeps for
    itself, and those that its result may share."""

    owned: set[int] = field(default_factory=set)
    shares: set[int] = field(default_factory=set)


class Decisions:
    """`summaries` has one of every function that was settled; the `known` ones were so before. `torn` are
    known functions that call ones which are not, and are called by them."""

    def __init__(
        self, analysis: Analysis, collection: Collection, known: Mapping[FunctionSymbol, Summary]
    ) -> None:
        self.analysis = analysis
        self.collection = collection
        self.aggregates = collection.aggregates
        self.summaries: dict[FunctionSymbol, Summary] = dict(known)
        self.torn: set[FunctionSymbol] = set()
        self.copies: set[ast.Node] = set()
        self.copied_captures: set[tuple[ast.Node, LocalSymbol]] = set()

    def decide(self) -> None:
        """Callees first, so that nearly every body is gone through once: only functions that call each
        other are repeated until what they know of each other no longer changes."""
        for group in call_groups(self.collection.bodies):
            unknown = [body for body in group if body.function not in self.summaries]
            if unknown:
                self.torn.update(body.function for body in group if body.function in self.summaries)
                self._decide_group(unknown)
        for body in self.collection.bodies:
            if body.function is None and body.notes:
                _BodyDecisions(self, body).run()

    def _decide_group(self, group: Sequence[BodyEvents]) -> None:
        summaries = [self.summaries.setdefault(body.function, Summary()) for body in group if body.function]
        copies, captures = self.copies, self.copied_captures
        before: list[tuple[int, int]] | None = None
        sizes = [(0, 0)] * len(group)
        while before != sizes:
            self.copies, self.copied_captures = set(), set()
            before = sizes
            for body in group:
                if body.notes:
                    _BodyDecisions(self, body).run()
            sizes = [(len(summary.owned), len(summary.shares)) for summary in summaries]
            if len(group) == 1 and group[0].function not in group[0].callees:
                break
        copies |= self.copies
        captures |= self.copied_captures
        self.copies, self.copied_captures = copies, captures


class _BodyDecisions:
    """One body. `origins` tells of a local that was bound without a copy whose value it sees; `holders` is
    the reverse. `waits` are operands, by the locals that they come from."""

    def __init__(self, decisions: Decisions, body: BodyEvents) -> None:
        self.all = decisions
        self.analysis = decisions.analysis
        self.body = body
        self.summary = decisions.summaries.get(body.function) if body.function is not None else None
        self.origins: dict[LocalSymbol, ValueOrigin] = {}
        self.holders: dict[LocalSymbol, set[LocalSymbol]] = {}
        self.waits: dict[LocalSymbol, list[Waits]] = {}

    def run(self) -> None:
        for note in self.body.notes:
            match note:
                case Kept():
                    self._keep(note)
                case Bound():
                    self._bind(note)
                case BoundParameter(node=node, local=local, parameter=parameter):
                    if local.mutable:
                        self.all.copies.add(node)
                    elif parameter is not None:
                        self._share(local, ValueOrigin(frozenset((parameter,)), False))
                case Iterated():
                    self._iterate(note)
                case Passed(value=value, function=function, index=index, context=context):
                    summary = self.all.summaries.get(function)
                    if summary is not None and index in summary.owned:
                        for leaf in _leaves(value):
                            self._keep(Kept(leaf, Keep.OWN, None, context))
                case Beside(value=value, receiver=receiver):
                    if self._base(receiver).roots & self.origin(value).roots:
                        self.all.copies.add(value)
                case Waits():
                    self._wait(note)
                case Capture():
                    self._capture(note)
                case Together(parts=parts):
                    self._separate(parts)
                case _:
                    assert_never(note)

    # --- Decisions ---

    def _keep(self, note: Kept) -> None:
        value, how, context = note.value, note.how, note.context
        origin = self.origin(value)
        match how:
            case Keep.OWN:
                as_it_is = all(
                    self._movable(root, value, context) or self._is_given_up(root, note)
                    for root in origin.roots
                )
            case Keep.RETURN:
                as_it_is = all(self._returnable(root, value, context) for root in origin.roots)
            case Keep.SHARE:
                as_it_is = not any(self._changes(root, value.end, context) for root in origin.roots)
        if not as_it_is or (origin.doubled and how is not Keep.SHARE):
            self.all.copies.add(value)
        elif how is Keep.SHARE and note.into is not None:
            self._share(note.into, origin)

    def _bind(self, note: Bound) -> None:
        origin = self.origin(note.subject)
        if not origin.roots and note.whole is not None:
            origin = ValueOrigin(frozenset((note.whole,)), False)
        if not origin.roots:
            return
        if note.local.mutable or self._changes_part(origin.roots, note.subject, note.scope):
            self.all.copies.add(note.node)
        else:
            self._share(note.local, origin)

    def _iterate(self, note: Iterated) -> None:
        roots = self.origin(note.iterable, whole=True).roots
        if self._changes_part(roots, note.iterable, note.body):
            self.all.copies.add(note.iterable)
        else:
            self._await(Waits(note.iterable, note.body[1], frozenset()), roots)

    def _wait(self, note: Waits) -> None:
        for leaf in _leaves(note.value):
            roots = self.origin(leaf).roots
            if roots & note.changed:
                self.all.copies.add(leaf)
            else:
                self._await(note, roots)

    def _await(self, note: Waits, roots: Iterable[LocalSymbol]) -> None:
        for root in roots:
            self.waits.setdefault(root, []).append(note)

    def _capture(self, note: Capture) -> None:
        if note.local.type not in self.all.aggregates:
            return
        for root in self._base(note.local).roots:
            # The closure may live on into the next round of a loop, or in the hands of the caller.
            changes = self._changes(root, note.body.end, note.context, loops=True)
            given = note.escapes and self._is_parameter(root) and not self._own(root)
            if changes or given:
                self.all.copied_captures.add((note.body, note.local))

    def _separate(self, parts: Iterable[Part]) -> None:
        seen: frozenset[LocalSymbol] = frozenset()
        for part in parts:
            roots = self.origin(part).roots
            if roots & seen:
                self.all.copies.add(part)
            seen |= roots

    def _share(self, local: LocalSymbol, origin: ValueOrigin) -> None:
        if origin.roots:
            self.origins[local] = _either((self.origins.get(local, NOWHERE), origin))
        for root in origin.roots:
            self.holders.setdefault(root, set()).add(local)

    # --- Questions about a root ---

    def _is_parameter(self, root: LocalSymbol) -> bool:
        return root in self.body.parameters

    def _outside(self, root: LocalSymbol) -> bool:
        return root is SHARED or root not in self.body.declared

    def _movable(self, root: LocalSymbol, value: Part, context: EventContext) -> bool:
        """Can a new owner take over the root's value, as nobody looks at it afterwards?"""
        if self._outside(root) or self._is_captured(root, value, context):
            return False
        if self._used_after(root, value, context):
            return False
        if not self._is_parameter(root):
            return True
        return self._own(root)

    def _is_given_up(self, root: LocalSymbol, note: Kept) -> bool:
        """Is the value's place assigned anew before anybody looks at it?"""
        exchange = self.body.exchanges.get(note.into) if note.into is not None else None
        if exchange is None or exchange.root is not root or root in self.origins or self._outside(root):
            return False
        if self._is_captured(root, note.value, note.context):
            return False
        if any(_waits_for(wait, note.value) for wait in self.waits.get(root, ())):
            return False
        if any(
            exchange.read <= at < exchange.end
            for holder in self.holders.get(root, ())
            for at, _ in self.body.uses.get(holder, ())
        ):
            return False
        uses = [at for at, _ in self.body.uses.get(root, ()) if exchange.start <= at < exchange.end]
        when_read = sum(at < exchange.read for at in uses)
        when_assigned = sum(at >= exchange.assigned for at in uses)
        return when_read == when_assigned == exchange.reads and len(uses) == 2 * exchange.reads

    def _is_captured(self, root: LocalSymbol, value: Part, context: EventContext) -> bool:
        """May a closure that was made before hold the root's value?"""
        loops = context.loops[len(self.body.declared[root].loops) :]
        for local in (root, *self.holders.get(root, ())):
            for made in self.body.captured.get(local, ()):
                earlier = made[0] < value.end and not context.excludes(made[1])
                if earlier or any(_within(made, region) for region in loops):
                    return True
        return False

    def _own(self, parameter: LocalSymbol) -> bool:
        """Make the parameter owned if the function is only ever called directly."""
        function, summary = self.body.function, self.summary
        if function is None or summary is None or self.body.free_result:
            return False
        if function.receiver == "mut self" and parameter.role == "self":
            return False
        if function.name in self.all.collection.called_by_name or _is_asked_by_values(function):
            return False
        summary.owned.add(self.body.parameters.index(parameter))
        return True

    def _returnable(self, root: LocalSymbol, value: Part, context: EventContext) -> bool:
        if self._outside(root) or self._is_captured(root, value, context):
            return False
        if not self._is_parameter(root):
            return True
        if self.summary is None or self.body.free_result:
            return False
        index = self.body.parameters.index(root)
        if index not in self.summary.owned:
            self.summary.shares.add(index)
        return True

    def _used_after(self, root: LocalSymbol, value: Part, context: EventContext) -> bool:
        position = value.end
        if any(_waits_for(wait, value) for wait in self.waits.get(root, ())):
            return True
        replaced = context.overwrites is root and not context.guarded and not self.holders.get(root)
        if not replaced and self._repeats(root, context):
            return True
        end = context.overwritten_at if replaced else NEVER
        for local in (root, *self.holders.get(root, ())):
            for used_at, used_in in self.body.uses.get(local, ()):
                if position <= used_at < end and not context.excludes(used_in):
                    return True
        return False

    def _repeats(self, root: LocalSymbol, context: EventContext) -> bool:
        """Does the same place run again for the same root, because a loop between the two goes round?"""
        return len(context.loops) > len(self.body.declared[root].loops)

    def _changes(self, root: LocalSymbol, position: int, context: EventContext, loops: bool = False) -> bool:
        changes = self.body.changes.get(root, ())
        if any(at >= position and not context.excludes(inside) for at, inside in changes):
            return True
        if not loops or self._outside(root):
            return False
        depth = len(self.body.declared[root].loops)
        return any(_within(change, region) for region in context.loops[depth:] for change in changes)

    def _changes_part(self, roots: Iterable[LocalSymbol], value: ast.Expr, region: tuple[int, int]) -> bool:
        """Does something in a region change a value that was read from these roots? A place in a field of a
        variable's own value is not changed with its other fields."""
        part = field_of(self.analysis, value)
        own = root_of(self.analysis, value) if part is not None else None
        return any(
            _within(change, region)
            and not (root is own and {None, part}.isdisjoint(self.body.changed_parts[root, change[0]]))
            for root in roots
            for change in self.body.changes.get(root, ())
        )

    # --- Origins ---

    def _base(self, local: LocalSymbol) -> ValueOrigin:
        return self.origins.get(local) or ValueOrigin(frozenset((local,)), False)

    def origin(self, node: Part, whole: bool = False) -> ValueOrigin:
        """Where the value of an expression (or a part of it) may come from. `whole` asks also for values
        whose type holds nothing that can change."""
        if node in self.all.copies:
            return NOWHERE
        if not whole and self.analysis.types.get(node, ERROR) not in self.all.aggregates:
            return NOWHERE
        match node:
            case ast.Path() if node in self.analysis.calls:
                return self._of_call(node)
            case ast.Path() | ast.FieldInit():
                symbol = self.analysis.uses.get(node)
                return self._base(symbol) if isinstance(symbol, LocalSymbol) else NOWHERE
            case ast.FieldAccess(receiver=receiver) | ast.Index(receiver=receiver):
                if isinstance(node, ast.Index) and isinstance(node.index, ast.RangeExpr):
                    return self._of_slice(node, receiver)
                return self.origin(receiver, whole=True)
            case ast.Await(operand=operand) if task_item(self._type(operand)) is not None:
                return SHARED_ORIGIN  # Whoever else waits for the task gets the same value.
            case ast.Try(operand=operand) | ast.Await(operand=operand) | ast.Cast(operand=operand):
                return self.origin(operand)
            case ast.Binary(op="??"):
                return _either((self.origin(node.left, whole=True), self.origin(node.right)))
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
        return _either(self.origin(node) for node in nodes)

    def _together(self, nodes: Iterable[Given | ast.FieldInit]) -> ValueOrigin:
        return _both(self.origin(node) for node in nodes if not isinstance(node, Default))

    def _of_call(self, node: ast.Expr) -> ValueOrigin:
        match self.analysis.calls.get(node):
            case FunctionCall(function=function, arguments=arguments):
                summary = self.all.summaries.get(function)
                if summary is None:
                    return NOWHERE
                shared = summary.shares - summary.owned
                return self._together(arguments[i] for i in sorted(shared) if i < len(arguments))
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
        result = self._type(node)
        declared = ([function.self_type] if function.receiver else []) + [p.type for p in function.parameters]
        found: list[ValueOrigin] = []
        for argument, parameter in zip(arguments, declared, strict=False):
            if isinstance(argument, Default):
                continue
            given = self._type(argument)
            if isinstance(given, Named) and given.symbol in HANDLES:
                found.append(SHARED_ORIGIN)
            elif isinstance(given, FunctionOf):
                continue
            elif (
                isinstance(parameter, Generic) or self.all.aggregates.may_share(result, given) or _open(given)
            ):
                found.append(self.origin(argument))
        return _both(found)

    def _of_slice(self, node: ast.Expr, receiver: ast.Expr) -> ValueOrigin:
        """A slice is new, its elements are not."""
        return NOWHERE if self.all.aggregates.parts_of(self._type(node)) == set() else self.origin(receiver)

    def _type(self, node: Part) -> Type:
        return resolve(self.analysis.types.get(node, ERROR))


def _either(origins: Iterable[ValueOrigin]) -> ValueOrigin:
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


def _waits_for(wait: Waits, value: Part) -> bool:
    """Does an operand wait while the value is computed? It does not wait for itself."""
    return wait.value.end <= value.start and value.end <= wait.until


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
    return region[0] <= moment[0] < region[1]


def _is_asked_by_values(function: FunctionSymbol) -> bool:
    """Whether the machine calls it, as `to_string` of an `impl Display`."""
    owner = function.owner
    return isinstance(owner, ImplSymbol) and owner.trait is not None and owner.trait.trait in ASKED_OF_VALUES
