"""Collects what happens in every body of a program, or takes it from an earlier compilation."""

from __future__ import annotations

from collections.abc import Mapping

from concerto.semantics.analyses.ownership.aggregates import Aggregates
from concerto.semantics.analyses.ownership.callbacks import find_only_called
from concerto.semantics.analyses.ownership.collector import BodyCollector
from concerto.semantics.analyses.ownership.events import (
    BodyEvents,
    Collection,
    Mentions,
)
from concerto.semantics.analyses.ownership.failing import unchanged_on_error
from concerto.semantics.model.analysis import (
    Analysis,
)
from concerto.semantics.model.builtins import ASKED_OF_VALUES
from concerto.semantics.model.file_records import BodyFacts
from concerto.semantics.model.symbols import (
    FunctionSymbol,
    ImplSymbol,
    StructSymbol,
    ToolSymbol,
)
from concerto.source import Source
from concerto.syntax import ast


def collect_bodies(
    analysis: Analysis, before: Mapping[Source, BodyFacts], aggregates: Aggregates
) -> Collection:
    """All bodies of the program. The methods of tools come last: only they have state that others change
    behind their back, so that they must know which functions may do so."""
    collection = Collection(
        frozenset(node for node, found in analysis.coercions.items() if found[-1].kind == "iterate"),
        find_only_called(analysis, before),
        unchanged_on_error(analysis, before),
        aggregates,
    )
    for source, facts in before.items():
        collection.mentions[source] = Mentions(
            set(facts.as_values), set(facts.folding), set(facts.called_by_name)
        )
    of_tools = [function for function in analysis.functions if isinstance(function.owner, ToolSymbol)]
    for function in analysis.functions:
        if not isinstance(function.owner, ToolSymbol):
            _collect(analysis, collection, function, before)
    collection.find_callers_out()
    for function in of_tools:
        _collect(analysis, collection, function, before)
    collection.enter(None)
    for pipeline in analysis.pipelines:
        for stage in pipeline.stages:
            if isinstance(stage.node, ast.StageDecl):
                body = BodyEvents(None, free_result=True)
                BodyCollector(analysis, collection, body).function(stage.node.parameters, stage.node.body)
    collection.join_mentions()
    for body in collection.bodies:
        if body.function in collection.as_values or body.function in collection.folding:
            body.free_result = True
        if body.function in collection.folding and body.function not in collection.as_values:
            body.given.update(body.parameters[:1])
    return collection


def _collect(
    analysis: Analysis,
    collection: Collection,
    function: FunctionSymbol,
    before: Mapping[Source, BodyFacts],
) -> None:
    decl, source = function.decl, function.source
    assert decl is not None and decl.body is not None and source is not None, "a body was noted for it"
    body = BodyEvents(function, free_result=not _called_directly(function))
    if source in before:
        facts = before[source].functions[function]
        body.calls_out, body.callees = facts.calls_out, set(facts.callees)
        body.from_any, body.catches = facts.from_any, facts.catches
        body.looks_on_error |= facts.looks_on_error
        body.leaves_with_error |= facts.leaves_with_error
        collection.bodies.append(body)
    else:
        body.from_any = function in analysis.from_any
        collection.enter(source)
        BodyCollector(analysis, collection, body).function(decl.parameters, decl.body)


def _called_directly(function: FunctionSymbol) -> bool:
    owner = function.owner
    inherent = (
        owner is None
        or isinstance(owner, StructSymbol)
        or (isinstance(owner, ImplSymbol) and owner.trait is None)
    )
    return inherent and not function.is_test


def is_asked_by_values(function: FunctionSymbol) -> bool:
    """Whether the machine calls it, as `to_string` of an `impl Display`."""
    owner = function.owner
    return isinstance(owner, ImplSymbol) and owner.trait is not None and owner.trait.trait in ASKED_OF_VALUES
