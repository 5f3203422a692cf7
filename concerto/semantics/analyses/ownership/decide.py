"""Settles the notes of `collect.py`: which values are copied, which parameters are owned, what results
share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, assert_never

from concerto.semantics.analyses.ownership.call_graph import call_groups
from concerto.semantics.analyses.ownership.collect import is_asked_by_values
from concerto.semantics.analyses.ownership.events import (
    SHARED,
    Beside,
    BodyEvents,
    Bound,
    BoundParameter,
    Capture,
    Collection,
    EventContext,
    Exchange,
    Folded,
    Grown,
    Iterated,
    Keep,
    Kept,
    Moment,
    Part,
    Passed,
    PutBack,
    Taker,
    Together,
    Waits,
)
from concerto.semantics.analyses.ownership.exchange import is_undisturbed
from concerto.semantics.analyses.ownership.lifetimes import ValueLifetimes
from concerto.semantics.analyses.ownership.loops import changed_fields, holder_of, is_unseen
from concerto.semantics.analyses.ownership.origins import (
    INSIDE,
    NOWHERE,
    SHARED_ORIGIN,
    Summary,
    ValueOrigin,
    either,
)
from concerto.semantics.analyses.ownership.put_back import is_there
from concerto.semantics.analyses.ownership.recorder import leaves
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.builtins import ARRAY, MAP
from concerto.semantics.model.symbols import ERROR, FunctionSymbol, LocalSymbol, Named
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast

_NAMES: Final = (ast.Path, ast.FieldInit)
_MOST_ROOTS: Final = 32  # A variable that would share with more gets a copy.


class Decisions:
    """`summaries` has one of every function that was settled; the `known` ones were so before. `torn` are
    known functions that call ones which are not, and are called by them. `unseen` are methods that may leave
    their receiver half changed when they fail, `dropped` when they give an error. `refused` parameters are
    not owned: a function that calls itself with parts of what it was given, and keeps nothing where it does,
    would copy these each time, for the `burdens` of its callers."""

    def __init__(
        self,
        analysis: Analysis,
        collection: Collection,
        known: Mapping[FunctionSymbol, Summary],
        unseen: AbstractSet[FunctionSymbol],
        dropped: AbstractSet[FunctionSymbol],
    ) -> None:
        self.analysis = analysis
        self.collection = collection
        self.aggregates = collection.aggregates
        self.summaries: dict[FunctionSymbol, Summary] = dict(known)
        self.unseen = unseen
        self.dropped = dropped
        self.torn: set[FunctionSymbol] = set()
        self.refused: set[tuple[FunctionSymbol, int]] = set()
        self.burdens: set[tuple[FunctionSymbol, int]] = set()
        self.copies: set[ast.Node] = set()
        self.shallow: set[ast.Node] = set()
        self.copied_captures: set[tuple[ast.Node, LocalSymbol]] = set()
        self.grown: set[ast.Expr] = set()
        self.lent: set[ast.Expr] = set()
        self.put_back: set[ast.Node] = set()

    def decide(self) -> None:
        """Callees first, so that nearly every body is gone through once: only functions that call each
        other are repeated until what they know of each other no longer changes."""
        for group in call_groups(self.collection.bodies):
            unknown = [body for body in group if body.function not in self.summaries]
            if unknown:
                self.torn.update(body.function for body in group if body.function in self.summaries)
                self._decide_group(unknown)
        lent = {inner for body in self.collection.bodies for inner in body.lent.values()}
        for body in self.collection.bodies:
            if body.function is None and body not in lent:
                _BodyDecisions(self, body).run()

    def _decide_group(self, group: Sequence[BodyEvents]) -> None:
        summaries = [self.summaries.setdefault(body.function, Summary()) for body in group if body.function]
        copies, captures = self.copies, self.copied_captures
        refused = -1
        while refused != len(self.refused):
            refused = len(self.refused)
            for summary in summaries:
                summary.clear()
            self._repeat_group(group, summaries)
            self.refused |= self.burdens
        copies |= self.copies
        captures |= self.copied_captures
        self.copies, self.copied_captures, self.burdens = copies, captures, set()

    def _repeat_group(self, group: Sequence[BodyEvents], summaries: Sequence[Summary]) -> None:
        before: list[tuple[int, int, int]] | None = None
        sizes = [(0, 0, 0)] * len(group)
        while before != sizes:
            self.copies, self.copied_captures, self.burdens = set(), set(), set()
            before = sizes
            for body in group:
                _BodyDecisions(self, body).run()
            sizes = [summary.size for summary in summaries]
            if len(group) == 1 and group[0].function not in group[0].callees:
                break


class _BodyDecisions(ValueLifetimes):
    """One body. `given` are the parameters that it takes over, `inside` the closures in it that lend what
    they get, which `shares` says of this one. The `refused` variables share what they hold no more.
    `kept` is where parameters are taken over, `passed` are parts of them that are copied for calls of the
    same function."""

    def __init__(self, decisions: Decisions, body: BodyEvents) -> None:
        super().__init__(decisions.analysis, body, decisions.aggregates, decisions.summaries, decisions.lent)
        self.all = decisions
        self.summary = decisions.summaries.get(body.function) if body.function is not None else None
        self.captures: set[tuple[ast.Node, LocalSymbol]] = set()
        self.refused: set[LocalSymbol] = set()
        self.kept: dict[LocalSymbol, list[Moment]] = {}
        self.passed: set[Passed] = set()
        self.given: AbstractSet[LocalSymbol] = frozenset() if body.lends else body.given
        self.inside: list[_BodyDecisions] = []
        self.undisturbed: set[PutBack] = set()
        self.shares = False

    def run(self) -> None:
        """Decide, and tell everybody."""
        if self.body.notes or self.body.lent:
            self._decide()
            self._tell()
        if self.summary is not None:
            for local, at in self.body.changed_places:
                if local.role == "self":
                    self.summary.changes |= changed_fields(
                        self.analysis, self.body, self.summaries, local, at
                    )

    def _tell(self) -> None:
        self.all.copies |= self.copies
        self.all.copied_captures |= self.captures
        for found in {each.put_back for each in self.body.exchanges.values() if each.put_back is not None}:
            if found in self.undisturbed and is_there(self.body, found, self.copies):
                self.all.put_back.add(found.node)
            else:
                self.all.put_back.discard(found.node)
        for note in self.passed:
            kept = self.kept.get(self.body.parameters[note.index], ())
            if all(self._is_apart(moment, (note.value.start, note.context)) for moment in kept):
                self.all.burdens.add((note.function, note.index))
        for each in self.inside:
            each._tell()

    def _is_apart(self, kept: Moment, passed: Moment) -> bool:
        """Does what keeps a value happen in another branch, or before a jump?"""
        at, inside = kept
        later = passed[0]
        return inside.excludes(passed[1]) or any(
            start <= at < end <= later for start, end, loop in self.body.exits if loop == 0
        )

    def _decide(self) -> None:
        for node, inner in self.body.lent.items():
            self._lend(node, inner)
        self._repeat()

    def _repeat(self) -> None:
        """A variable holds at the beginning of a loop what it is assigned at its end, so that the last pass
        knows beforehand what is shared."""
        before: tuple[dict[LocalSymbol, ValueOrigin], int] | None = None
        while before != (self.rebound, len(self.refused)):
            before = dict(self.rebound), len(self.refused)
            for each in (
                self.copies, self.captures, self.waits, self.origins, self.holders, self.sharing,
                self.undisturbed, self.kept, self.passed, self.elements,
            ):  # fmt: skip
                each.clear()
            self.forget()
            for local, origin in self.rebound.items():
                self._hold(local, origin)
            self._settle()

    def _lend(self, node: ast.Closure, body: BodyEvents) -> None:
        """A closure whose result the call around it gives. That of a fold takes over what it gets if it would
        have to copy something otherwise, or changes it."""
        body.lends = not any(local.mutable for local in body.given)
        found = _BodyDecisions(self.all, body)
        found._decide()
        if body.given and body.lends and (found.copies or found.captures):
            body.lends = False
            inside = found.inside  # They know nothing of the closure around them.
            found = _BodyDecisions(self.all, body)
            found.inside = inside
            found._repeat()
        self.inside.append(found)
        if found.shares or (body.given and body.lends):
            self.all.lent.add(node)
        else:
            self.all.lent.discard(node)

    def _settle(self) -> None:
        for note in self.body.notes:
            match note:
                case Kept():
                    self._keep(note)
                case Bound():
                    self._bind(note)
                case BoundParameter(node=node, local=local, parameter=parameter):
                    if local in self.given:
                        pass
                    elif local.mutable:
                        self.copies.add(node)
                    elif parameter is not None:
                        self.share(local, ValueOrigin(frozenset((parameter,)), False))
                case Iterated():
                    self._iterate(note)
                case Folded(combine=combine, start=start, context=context):
                    for leaf in start if combine not in self.lent else ():
                        self._keep(Kept(leaf, Keep.OWN, None, context))
                case Passed():
                    self._pass(note)
                case Beside(value=value, receiver=receiver):
                    if self.base(receiver).roots & self.origin(value).roots:
                        self.copies.add(value)
                case Waits():
                    self._wait(note)
                case Capture():
                    self._capture(note)
                case Grown():
                    self._grow(note)
                case Together(parts=parts):
                    self._separate(parts)
                case _:
                    assert_never(note)

    # --- Decisions ---

    def _keep(self, note: Kept) -> None:
        value, how, context = note.value, note.how, note.context
        origin = self.origin(value)
        if self._is_shared_meanwhile(note, origin):
            return
        match how:
            case Keep.OWN | Keep.GIVE:
                as_it_is = all(
                    (root is SHARED and how is Keep.GIVE)
                    or self._movable(root, value, context)
                    or self._is_given_up(root, note)
                    for root in origin.roots
                )
            case Keep.RETURN:
                as_it_is = all(self._returnable(root, value, context) for root in origin.roots)
            case Keep.SHARE:
                changing = {root for root in origin.roots if self._changes_under(note, root)}
                if changing and all(self._is_given_up(root, note) for root in origin.roots):
                    return
                as_it_is = not changing
        if not as_it_is or (origin.doubled and how in (Keep.OWN, Keep.RETURN)):
            self.copies.add(value)
            if self._share_elements(note, origin):
                self.all.shallow.add(value)
            else:
                self.all.shallow.discard(value)
            self._refuse(origin.roots, note.context)
        elif how is Keep.SHARE and note.into is not None:
            self.share(note.into, origin)

    def _is_shared_meanwhile(self, note: Kept, origin: ValueOrigin) -> bool:
        """Does a variable that is only assigned as a whole share what others have until it is assigned again?
        What nobody else looks at any more it takes over."""
        local = note.into
        if note.how is not Keep.OWN or local is None or not self._is_only_rebound(local):
            return False
        if not 0 < len(origin.roots) <= _MOST_ROOTS:
            return False
        if not origin.doubled and all(
            not self._is_parameter(root) and self._movable(root, note.value, note.context)
            for root in origin.roots
        ):
            return False
        for root in origin.roots:
            for at, inside in self.body.changes.get(root, ()):
                comes_again = self._comes_again(local, at, note.context)
                is_after = self.timeline.changed_at(root, at) >= note.value.end
                later = is_after and not note.context.excludes(inside)
                if (comes_again or later) and self._outlasts(local, root, (at, inside)):
                    return False
        shared = either((self.rebound.get(local, NOWHERE), origin))
        self.rebound[local] = ValueOrigin(shared.roots | {local}, shared.doubled)
        self._hold(local, self.rebound[local])
        return True

    def _share_elements(self, note: Kept, origin: ValueOrigin) -> bool:
        """Does a variable that begins with a copy of a collection change no more than which elements it has,
        so that it may share these?"""
        local, found = note.into, resolve(self.analysis.types.get(note.value, ERROR))
        if note.how is not Keep.OWN or local is None or not isinstance(found, Named):
            return False
        body = self.body
        if (
            found.symbol not in (ARRAY, MAP)
            or note.value in self.analysis.coercions
            or local in body.assigned
            or local in body.changed_inside
            or local in body.captured
            or len(origin.roots) > _MOST_ROOTS
            or any(self._changes_under(note, root) for root in origin.roots)
        ):
            return False
        self._hold(local, ValueOrigin(origin.roots | {local}, origin.doubled))
        self.sharing[local] = origin
        self.forget()
        return True

    def _is_only_rebound(self, local: LocalSymbol) -> bool:
        return (
            local.mutable
            and local in self.body.declared
            and local not in self.body.changes
            and local not in self.body.captured
            and local not in self.body.growing
            and local not in self.refused
            and not self._is_parameter(local)
        )

    def _hold(self, local: LocalSymbol, origin: ValueOrigin) -> None:
        self.share(local, ValueOrigin(origin.roots - {local}, False))
        self.origins[local] = origin
        self.forget()

    def _refuse(self, roots: Iterable[LocalSymbol], context: EventContext) -> None:
        """What is copied each time that a loop goes round is better copied when it is assigned."""
        for root in roots:
            if root in self.rebound and len(context.loops) > len(self.body.declared[root].loops):
                self.refused.add(root)
                del self.rebound[root]

    def _bind(self, note: Bound) -> None:
        if note.subject in self.elements:
            self.elements[note.local] = self.elements[note.subject]
        origin = SHARED_ORIGIN if note.hidden else self.origin(note.subject)
        if not origin.roots and note.whole is not None:
            origin = ValueOrigin(frozenset((note.whole,)), False)
        if not origin.roots:
            return
        if note.local.mutable and self._is_taken(note, origin):
            return
        if note.local.mutable or self._changes_part(origin.roots, note):
            if not self._is_part_given_up(note, origin):
                self.copies.add(note.node)
                self._refuse(origin.roots, self.body.declared[note.local])
        else:
            self.share(note.local, origin)

    def _is_taken(self, note: Bound, origin: ValueOrigin) -> bool:
        """Does a variable of a pattern get a part of what nobody looks at afterwards?"""
        context = self.body.declared[note.local] if note.subject in self.elements else note.taken
        if context is None or note.whole is not None or origin.doubled:
            return False
        return all(self._movable(root, note.subject, context) for root in origin.roots)

    def _iterate(self, note: Iterated) -> None:
        if isinstance(holder_of(self.analysis, note.iterable), ast.Path | ast.FieldAccess | ast.Index):
            self.elements[note.iterable] = note
        roots = self.origin(note.iterable, whole=True).roots
        changes = self._changes_in(roots, note.iterable, note.body)
        if all(is_unseen(self.analysis, self.body, note, roots, *change) for change in changes):
            self._await(Waits(note.iterable, note.body[1], frozenset()), roots)
        else:
            self.copies.add(note.iterable)

    def _wait(self, note: Waits) -> None:
        for leaf in leaves(note.value):
            roots = self.origin(leaf).roots
            if roots & note.changed:
                self.copies.add(leaf)
            else:
                self._await(note, roots)

    def _await(self, note: Waits, roots: Iterable[LocalSymbol]) -> None:
        for root in roots:
            self.waits.setdefault(root, []).append(note)

    def _grow(self, note: Grown) -> None:
        """Nobody notices that a value is changed which only the variable holds."""
        is_alone = self.origin(note.receiver).roots == {note.local} and not self._is_parameter(note.local)
        if is_alone and self._movable(note.local, note.receiver, note.context):
            self.all.grown.add(note.call)
        else:
            self.all.grown.discard(note.call)

    def _capture(self, note: Capture) -> None:
        if note.local.type not in self.aggregates:
            return
        for root in self.base(note.local).roots:
            if note.held is not None:
                first, last = note.held
                changes = bool(self.timeline.changes(root, first, last + 1))
            else:
                # The closure may live on into the next round of a loop, or in the hands of the caller.
                changes = self._changes(root, note.body.end, note.context, loops=True)
            given = note.escapes and self._is_parameter(root) and not self._own(root)
            if changes or given:
                self.captures.add((note.body, note.local))

    def _pass(self, note: Passed) -> None:
        """What the function keeps must be no part of what else it gets."""
        summary = self.summaries.get(note.function)
        if summary is None or note.index not in summary.owned:
            return
        others = {root for other in note.others for root in self.origin(other).roots}
        for leaf in leaves(note.value):
            has_part = self._has_part(leaf)
            if not self._is_regained(note):
                self._keep(Kept(leaf, Keep.OWN, None, note.context))
            if not self.origin(leaf).roots.isdisjoint(others):
                self.copies.add(leaf)
            if has_part and leaf in self.copies and note.function is self.body.function:
                self.passed.add(note)

    def _is_regained(self, note: Passed) -> bool:
        """Is the value that of a variable which is as it was where the call gives an error, and gets another
        one where it does not?"""
        root = self.analysis.uses.get(note.value) if isinstance(note.value, ast.Path) else None
        taker = note.function, note.index
        if not isinstance(root, LocalSymbol) or note.value not in self.body.regained:
            return False
        if taker not in self.all.collection.unchanged:
            return False
        if self.base(root).roots != {root} or self._is_parameter(root) or self._outside(root):
            return False
        if self._is_captured(root, note.value, note.context):
            return False
        if any(wait.lasts_over(note.value) for wait in self.waits.get(root, ())):
            return False
        if any(self.timeline.uses(each, note.value.start) for each in self.holders.get(root, ())):
            return False
        return self._are_lent(self.all.collection.unchanged[taker])

    def _has_part(self, value: Part) -> bool:
        """Is the value a part of a parameter, and not one itself?"""
        name = self.analysis.uses.get(value) if isinstance(value, _NAMES) else None
        return name not in self.body.parameters and any(map(self._is_parameter, self.origin(value).roots))

    def _separate(self, parts: Iterable[Part]) -> None:
        seen: frozenset[LocalSymbol] = frozenset()
        for part in parts:
            roots = self.origin(part).roots
            if roots & seen:
                self.copies.add(part)
            seen |= roots

    # --- Who has it afterwards ---

    def _movable(self, root: LocalSymbol, value: Part, context: EventContext) -> bool:
        """Can a new owner take over the root's value, as nobody looks at it afterwards?"""
        if self._outside(root) or self._is_captured(root, value, context):
            return False
        if self._used_after(root, value, context):
            return False
        if not self._is_parameter(root):
            return True
        if not self._own(root):
            return False
        self.kept.setdefault(root, []).append((value.start, context))
        return True

    def _is_given_up(self, root: LocalSymbol, note: Kept) -> bool:
        """Is the value's place assigned anew before anybody looks at it?"""
        exchanges = self.body.exchanges
        for exchange in (exchanges.get(note.value), exchanges.get(note.into) if note.into else None):
            if exchange is not None and not exchange.parts:
                is_read = exchange.start <= note.value.start and note.value.end <= exchange.read
                if is_read and self._is_exchanged(root, exchange, note.value, note.context):
                    return True
        part = self.analysis.uses.get(note.value) if isinstance(note.value, _NAMES) else None
        exchange = self.body.exchanges.get(part) if isinstance(part, LocalSymbol) else None
        if exchange is None or not isinstance(part, LocalSymbol) or self._repeats(part, note.context):
            return False
        has_part = part in exchange.parts or not exchange.parts
        has_part = has_part and part not in self.body.assigned
        return has_part and self._is_exchanged(root, exchange, note.value, note.context, part)

    def _is_part_given_up(self, note: Bound, origin: ValueOrigin) -> bool:
        """Is the place that a pattern takes apart assigned anew before anybody looks at it?"""
        exchange = self.body.exchanges.get(note.local)
        if exchange is None or origin.doubled:
            return False
        inside = self.body.declared[note.local]
        return all(self._is_exchanged(root, exchange, note.subject, inside) for root in origin.roots)

    def _is_exchanged(
        self,
        root: LocalSymbol,
        exchange: Exchange,
        value: Part,
        context: EventContext,
        part: LocalSymbol | None = None,
    ) -> bool:
        """`part`: the value is a variable of a pattern, that nobody looks at any more until then."""
        if exchange.root is not root or root in self.origins or self._outside(root):
            return False
        if self._is_parameter(root) and not exchange.is_whole and not self._may_be_left(exchange):
            return False
        if self._is_captured(root, value, context):
            return False
        if any(wait.lasts_over(value) for wait in self.waits.get(root, ())):
            return False
        begin = min(exchange.start, exchange.assigned)
        if not is_undisturbed(exchange, context, self.timeline.uses(root, begin, exchange.end)):
            return False
        taken = min(max(exchange.read, value.end), exchange.assigned)
        for holder in self.holders.get(root, set()) - (exchange.parts - {part}):
            if any(at != value.start for at, _ in self.timeline.uses(holder, taken, exchange.end)):
                return False
        if exchange.put_back is not None:
            self.undisturbed.add(exchange.put_back)
        return True

    def _may_be_left(self, exchange: Exchange) -> bool:
        """Does nobody see the receiver of the method when that is left before the place is assigned?"""
        function = self.body.function
        if function not in self.all.unseen or (exchange.errs and function not in self.all.dropped):
            return False
        known = self.summaries
        if any(index in known[each].shares for each, index in exchange.assumes if each in known):
            return False
        return self._are_lent(exchange.lends)

    def _are_lent(self, takers: Iterable[Taker]) -> bool:
        """Do none of the parameters keep what they are given?"""
        known = self.summaries
        return not any(index in known[each].owned for each, index in takers if each in known)

    def _own(self, parameter: LocalSymbol) -> bool:
        """Make the parameter owned if the function is only ever called directly, or whoever calls it has no
        more what it gives."""
        function, summary = self.body.function, self.summary
        given = parameter in self.given
        if function is None or summary is None or (self.body.free_result and not given):
            return given
        if function.receiver == "mut self" and parameter.role == "self":
            return False
        if function.name in self.all.collection.called_by_name or is_asked_by_values(function):
            return False
        index = self.body.parameters.index(parameter)
        if (function, index) in self.all.refused:
            return False
        summary.owned.add(index)
        return True

    def _returnable(self, root: LocalSymbol, value: Part, context: EventContext) -> bool:
        if root is SHARED:
            return self._gives_inside()
        if self._outside(root) or self._is_captured(root, value, context):
            return False
        if not self._is_parameter(root):
            return True
        if root in self.given:
            return self._own(root)
        if self.body.lends:
            self.shares = True
            return True
        if self.summary is None or self.body.free_result:
            return False
        index = self.body.parameters.index(root)
        if index not in self.summary.owned:
            self.summary.shares.add(index)
        return True

    def _gives_inside(self) -> bool:
        """Tell the callers, if all of them ask, that the result may be what nobody may change."""
        function, summary = self.body.function, self.summary
        if function is None or summary is None or self.body.free_result:
            return False
        if function.name in self.all.collection.called_by_name:
            return False
        summary.shares.add(INSIDE)
        return True
