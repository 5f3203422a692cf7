"""Ownership: which values must be copied so that every variable behaves as if it had its own.

Values are shared until one of two holders could change them. The pass looks at each place where a value
that was read from somewhere is kept: bound, stored in a field or element, captured, returned, handed to a
parameter that keeps it. There it is copied only if

- its type holds something that can change (`aggregates.py`), and
- it may be the same object as one that somebody else still holds (its *roots*: the locals it was read
  from), and
- the new holder can change it and the root is used again, or the root changes while the new holder is
  still looked at.

Fresh values and last uses move. Calls borrow their arguments; a parameter that a function would have to
copy at its last use is *owned* instead: then the caller copies, or moves its own last use, so that an
accumulator handed down a recursion stays linear. Results may share parameters with the caller (`Summary`),
except for functions that are called through values, traits or tools, whose results are always the caller's
own.

An operand waits while those after it are computed, and a value may hold the same object twice (`(xs, xs)`):
both are watched, as is the state of a tool, which other calls change behind its methods' back.

`collect.py` walks each body once and notes uses, changes and keepings; `decide.py` settles them, callees
before their callers (`call_graph.py`). Positions stand for time: control only goes back in
loops, and each note knows its loops and branches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Final

from concerto.semantics.analyses.ownership.aggregates import Aggregates
from concerto.semantics.analyses.ownership.collect import collect_bodies
from concerto.semantics.analyses.ownership.decide import Decisions
from concerto.semantics.analyses.ownership.events import BodyEvents, Collection, Mentions
from concerto.semantics.analyses.ownership.failing import dropped_on_error, unseen_methods
from concerto.semantics.analyses.ownership.immutable import immutable_types
from concerto.semantics.analyses.ownership.origins import Summary
from concerto.semantics.analyses.ownership.plain_generics import plain_generics
from concerto.semantics.model.analysis import Analysis, MatchBinding
from concerto.semantics.model.file_records import BodyFacts, FunctionFacts, Inputs, Told
from concerto.semantics.model.symbols import (
    ERROR,
    FunctionSymbol,
    Generic,
    Named,
    ToolSymbol,
    Type,
    TypeSymbol,
)
from concerto.semantics.typing.unify import all_parts
from concerto.source import Source
from concerto.syntax import ast

__all__ = ["place_copies"]


def place_copies(analysis: Analysis, before: Mapping[Source, BodyFacts], is_whole: bool) -> set[Source]:
    """Fill `analysis.copies`, `.shallow`, `.immutable`, `.plain_generics`, `.copied_captures`, `.grown`,
    `.put_back` and `.from_any`, and the `facts` of each file if there are several. The program has no errors.

    `before` are the facts of files that were checked before. Gives those of them that must be checked again.
    `is_whole`: nothing will be added to the program that could change its values.
    """
    collection = collect_bodies(analysis, before, Aggregates())
    known = {
        function: Summary(set(facts.owned), set(facts.shares), set(facts.changes))
        for file in before.values()
        for function, facts in file.functions.items()
    }
    unseen = unseen_methods(collection) if is_whole else frozenset[FunctionSymbol]()
    dropped = dropped_on_error(collection) if is_whole else frozenset[FunctionSymbol]()
    decisions = Decisions(analysis, collection, known, unseen, dropped)
    decisions.decide()
    immutable, trees = _NONE, _NONE
    if is_whole:
        immutable, trees = immutable_types(analysis, collection, _copied(analysis, decisions))
    of_generics = is_whole and _are_generic(_copied(analysis, decisions))
    needs_all = bool(immutable) or of_generics
    is_changed = not before.keys() >= analysis.files.keys()
    if before and is_changed and (needs_all or any(file.needs_all for file in before.values())):
        # It takes all bodies to tell whether a type is immutable, or what a type parameter stands for.
        return set(before)

    def decided(aggregates: Aggregates) -> Decisions:
        found = Decisions(analysis, collect_bodies(analysis, before, aggregates), {}, unseen, dropped)
        found.decide()
        return found

    if of_generics and (plain := plain_generics(analysis)):
        analysis.plain_generics = plain
        decisions = decided(Aggregates(plain=plain))
        immutable, trees = immutable_types(analysis, collection, _copied(analysis, decisions))
    for types in filter(None, dict.fromkeys((immutable, trees))):
        again = decided(Aggregates(types, analysis.plain_generics))
        if _is_better(again, decisions, trees):
            decisions = again
            analysis.immutable = types
            break
    if before and not is_changed:
        analysis.immutable = _NONE.union(*(file.immutable for file in before.values()))
    collection = decisions.collection
    analysis.copies |= decisions.copies
    analysis.shallow |= decisions.shallow
    analysis.copied_captures |= decisions.copied_captures
    analysis.grown |= decisions.grown
    analysis.put_back |= decisions.put_back
    analysis.from_any = collection.made_from_any()
    if len(analysis.files) == 1:
        return set()
    outdated = {function.source for function in decisions.torn if function.source is not None}
    for source, bodies in _by_file(collection).items():
        inputs = _inputs(source, bodies, decisions)
        if source not in before:
            analysis.files[source].facts = _facts(source, bodies, decisions, inputs, needs_all)
        elif inputs != before[source].inputs:
            outdated.add(source)
    return outdated


_NONE: Final = frozenset[TypeSymbol]()


def _copied(analysis: Analysis, decisions: Decisions) -> Iterator[Type]:
    """The types of the values that are copied."""
    for node in decisions.copies:
        yield _type_of(analysis, node)
    for _, local in decisions.copied_captures:
        yield local.type


def _type_of(analysis: Analysis, node: ast.Node) -> Type:
    target = analysis.patterns.get(node)
    return target.local.type if isinstance(target, MatchBinding) else analysis.types.get(node, ERROR)


def _are_generic(types: Iterable[Type]) -> bool:
    return any(isinstance(part, Generic) for part in all_parts(types))


def _is_better(new: Decisions, old: Decisions, trees: Set[TypeSymbol]) -> bool:
    """Whether nothing is copied that was not before, as what holds values of the types is copied less deep;
    or fewer collections, without what they hold, than there were trees."""
    if not new.copied_captures <= old.copied_captures:
        return False
    if new.copies <= old.copies:
        return True
    added = [_type_of(new.analysis, node) for node in new.copies - old.copies]
    removed = [_type_of(new.analysis, node) for node in old.copies - new.copies]
    of_trees = [
        each
        for each in removed
        if any(isinstance(part, Named) and part.symbol in trees for part in all_parts([each]))
    ]
    return len(added) < len(of_trees) and all(new.aggregates.parts_of(each) == set() for each in added)


def _by_file(collection: Collection) -> dict[Source, dict[FunctionSymbol, BodyEvents]]:
    files: dict[Source, dict[FunctionSymbol, BodyEvents]] = {}
    for body in collection.bodies:
        if body.function is not None and body.function.source is not None:
            files.setdefault(body.function.source, {})[body.function] = body
    return files


def _inputs(source: Source, bodies: dict[FunctionSymbol, BodyEvents], decisions: Decisions) -> Inputs:
    collection, summaries = decisions.collection, decisions.summaries
    callees = {callee for body in bodies.values() for callee in body.callees}
    has_state = any(isinstance(function.owner, ToolSymbol) for function in bodies)
    return Inputs(
        kept={
            callee: _told(callee, decisions)
            for callee in callees
            if callee in summaries and callee.source is not source
        },
        as_values=frozenset(bodies.keys() & collection.as_values),
        folding=frozenset(bodies.keys() & collection.folding),
        called_by_name=frozenset({function.name for function in bodies} & collection.called_by_name),
        calling_out=frozenset(callees & collection.calling_out) if has_state else frozenset(),
        from_any=frozenset(callees & decisions.analysis.from_any),
        unseen=frozenset(bodies.keys() & decisions.unseen),
        dropped=frozenset(bodies.keys() & decisions.dropped),
    )


def _told(function: FunctionSymbol, decisions: Decisions) -> Told:
    summary, only_called = decisions.summaries[function], decisions.collection.only_called
    unchanged = decisions.collection.unchanged
    return (
        frozenset(summary.owned),
        frozenset(summary.shares),
        frozenset(summary.changes),
        only_called.get(function, frozenset()),
        frozenset(index for index in range(len(function.parameters) + 1) if (function, index) in unchanged),
    )


def _facts(
    source: Source,
    bodies: dict[FunctionSymbol, BodyEvents],
    decisions: Decisions,
    inputs: Inputs,
    needs_all: bool,
) -> BodyFacts:
    mentions = decisions.collection.mentions.get(source, Mentions())
    return BodyFacts(
        dict(_of_functions(bodies, decisions)),
        frozenset(mentions.as_values),
        frozenset(mentions.folding),
        frozenset(mentions.called_by_name),
        inputs,
        needs_all,
        frozenset(decisions.aggregates.immutable),
    )


def _of_functions(
    bodies: dict[FunctionSymbol, BodyEvents], decisions: Decisions
) -> Iterator[tuple[FunctionSymbol, FunctionFacts]]:
    for function, body in bodies.items():
        yield (
            function,
            FunctionFacts(
                *_told(function, decisions),
                frozenset(body.callees),
                frozenset(body.looks_on_error),
                frozenset(body.leaves_with_error),
                body.calls_out,
                body.from_any,
                body.catches,
            ),
        )
