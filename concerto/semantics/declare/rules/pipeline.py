"""Pipelines: stages with types that fit each other and the signature (E0430–E0432)."""

from __future__ import annotations

from itertools import pairwise

from concerto.diagnostics import DefinedTwice, PipelineSignature, StagesDoNotFit, StageWithoutType
from concerto.semantics.declare.rules.decorators import argument_of, check_decorators
from concerto.semantics.declare.rules.references import read_tools
from concerto.semantics.declare.signatures import make_parameters
from concerto.semantics.model.builtins import ANY, result_parts
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ERROR, ParameterSymbol, PipelineSymbol, StageSymbol, Type
from concerto.semantics.typing.type_expressions import resolve_type
from concerto.semantics.typing.unify import show, show_both
from concerto.syntax import ast


def fill(
    declarations: Declarations, pipeline: PipelineSymbol, node: ast.PipelineDecl, scope: TypeScope
) -> None:
    seen: dict[str, ast.Ident] = {}
    for stage in node.stages:
        first = seen.setdefault(stage.name.text, stage.name)
        if first is not stage.name:
            declarations.report(
                DefinedTwice,
                scope.module,
                stage.name,
                f"pipeline `{pipeline.name}` has two stages called `{stage.name.text}`",
                help="give one of the two another name",
                related=((declarations.at(scope.module, first), "first defined here"),),
            )
        pipeline.stages.append(_stage(declarations, pipeline, stage, scope))
    if node.parameters is not None:
        pipeline.parameters = make_parameters(declarations, node.parameters, scope)
    elif pipeline.stages:
        pipeline.parameters = pipeline.stages[0].parameters
    if node.result is not None:
        pipeline.result = unwrapped(resolve_type(declarations, node.result, scope))
    elif pipeline.stages:
        pipeline.result = unwrapped(pipeline.stages[-1].result)
    declarations.analysis.pipelines.append(pipeline)


def _stage(
    declarations: Declarations, pipeline: PipelineSymbol, node: ast.StageDecl, scope: TypeScope
) -> StageSymbol:
    result: Type = ERROR
    if node.result is not None:
        result = resolve_type(declarations, node.result, scope)
    else:
        declarations.report(
            StageWithoutType,
            scope.module,
            node.name,
            f"stage `{node.name.text}` of pipeline `{pipeline.name}` has no return type",
            help="write `-> T` with what it passes on",
        )
    return StageSymbol(
        name=node.name.text,
        node=node,
        module=scope.module.path,
        source=scope.module.source,
        docs=node.docs,
        parameters=make_parameters(declarations, node.parameters, scope),
        result=result,
    )


def unwrapped(type_: Type) -> Type:
    """What a stage passes on: the Ok value of a Result."""
    parts = result_parts(type_)
    return type_ if parts is None else parts[0]


def check(
    declarations: Declarations, pipeline: PipelineSymbol, node: ast.PipelineDecl, scope: TypeScope
) -> None:
    check_decorators(declarations, node.decorators, "pipeline", scope)
    owner = f"pipeline `{pipeline.name}`"
    listed = argument_of(node.decorators, "tools")
    if listed is not None:
        pipeline.tools = read_tools(declarations, owner, listed.value, scope)
    for stage, declared in zip(pipeline.stages, node.stages, strict=True):
        check_decorators(declarations, declared.decorators, "stage", scope)
        for parameter in declared.parameters:
            check_decorators(declarations, parameter.decorators, "other parameter", scope)
        listed = argument_of(declared.decorators, "tools")
        if listed is not None:
            stage.tools = read_tools(declarations, f"stage `{stage.name}` of {owner}", listed.value, scope)
    if not pipeline.stages:
        help_ = "add `stage name(input: T) -> U { … }`"
        declarations.report(PipelineSignature, scope.module, node.name, f"{owner} has no stages", help=help_)
        return
    for before, after in pairwise(pipeline.stages):
        _check_step(declarations, owner, before, after, scope)
    _check_signature(declarations, owner, pipeline, node, scope)


def _check_step(
    declarations: Declarations, owner: str, before: StageSymbol, after: StageSymbol, scope: TypeScope
) -> None:
    assert isinstance(after.node, ast.StageDecl)
    needed = [parameter for parameter in after.parameters if parameter.default is None]
    if len(needed) > 1 or not after.parameters:
        message = f"stage `{after.name}` of {owner} takes {len(needed)} parameters, and is passed one"
        help_ = f"it takes what stage `{before.name}` returns"
        declarations.report(StagesDoNotFit, scope.module, after.node.name, message, help=help_)
        return
    passed, taken = unwrapped(before.result), after.parameters[0]
    if _fits(passed, taken.type):
        return
    takes, returns = show_both(taken.type, before.result)
    message = (
        f"stage `{after.name}` of {owner} takes `{takes}`, and stage `{before.name}` returns `{returns}`"
    )
    help_ = f"declare `{taken.name}: {show_both(passed, taken.type)[0]}`, or put a stage between them"
    declarations.report(StagesDoNotFit, scope.module, _type_place(taken, after.node), message, help=help_)


def _check_signature(
    declarations: Declarations, owner: str, pipeline: PipelineSymbol, node: ast.PipelineDecl, scope: TypeScope
) -> None:
    first, last = pipeline.stages[0], pipeline.stages[-1]
    if node.parameters is not None:
        declared = [parameter.type for parameter in pipeline.parameters]
        taken = [parameter.type for parameter in first.parameters]
        if len(declared) != len(taken) or not all(map(_fits, declared, taken)):
            message = f"{owner} takes `({_listed(declared)})`, and its first stage takes `({_listed(taken)})`"
            help_ = f"declare what stage `{first.name}` takes, or leave the signature out"
            place = node.parameters[0] if node.parameters else node.name
            declarations.report(PipelineSignature, scope.module, place, message, help=help_)
    if node.result is not None and not _fits(unwrapped(last.result), pipeline.result):
        given, returned = show_both(pipeline.result, last.result)
        message = f"{owner} returns `{given}`, and its last stage returns `{returned}`"
        help_ = f"declare what stage `{last.name}` returns, or leave the signature out"
        declarations.report(PipelineSignature, scope.module, node.result, message, help=help_)


def _listed(types: list[Type]) -> str:
    return ", ".join(map(show, types))


def _fits(found: Type, wanted: Type) -> bool:
    """Values pass between stages as they are, so nothing is converted here."""
    return found == wanted or ERROR in (found, wanted) or wanted is ANY


def _type_place(parameter: ParameterSymbol, otherwise: ast.StageDecl) -> ast.Node:
    node = parameter.node
    return node.type if isinstance(node, ast.Parameter) and node.type is not None else otherwise.name
