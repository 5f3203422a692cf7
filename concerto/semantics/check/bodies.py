"""Checks every body of a program and fills the tables of its `Analysis`.

Bodies are independent of each other: signatures say everything that one needs to know of another. Bodies
declared inside of blocks join the list while it is walked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

# What they register is wanted: the checkers of each class of expression.
from concerto.semantics.check import blocks, paths  # noqa: F401
from concerto.semantics.check.body_checker import Body, Frame
from concerto.semantics.check.calls import functions  # noqa: F401
from concerto.semantics.check.calls.methods import pipeline_error
from concerto.semantics.check.defaults import check_default
from concerto.semantics.check.expressions import (  # noqa: F401
    closures,
    concurrency,
    control,
    failures,
    indexing,
    literals,
    operators,
    pipes,
)
from concerto.semantics.check.witnesses import find_inner_witnesses, take_witnesses
from concerto.semantics.incremental.reused_files import Loading
from concerto.semantics.model.builtins import ANY, NEVER
from concerto.semantics.model.declarations import TypeScope, World
from concerto.semantics.model.symbols import FieldSymbol, FunctionSymbol, PipelineSymbol, StageSymbol
from concerto.semantics.model.types import ERROR, Type
from concerto.source import Source
from concerto.syntax import ast


def check_bodies(world: World) -> None:
    """Check all functions, stages and default values."""
    analysis = world.analysis
    for struct in analysis.structs:
        _check_fields(world, struct.fields, world.struct_scope(struct))
    for enum in analysis.enums:
        for variant in enum.variants:
            _check_fields(world, variant.fields, world.struct_scope(enum))
    for tool in analysis.tools:
        _check_fields(world, tool.state.fields, world.module_scope(world.module_of(tool)))
        for method in tool.methods.values():
            _check_defaults(world, method)
    for server in analysis.mcps:
        for function in server.methods.values():
            _check_defaults(world, function)
    for trait in analysis.traits:
        for method in trait.methods.values():
            _check_defaults(world, method)
    _check_functions(world)
    find_inner_witnesses(world)
    for pipeline in analysis.pipelines:
        _check_pipeline(world, pipeline)
    world.check_demands()


def _check_functions(world: World) -> None:
    """Signatures of a file come before its bodies: what they depend on is its interface's business."""
    analysis = world.analysis
    counts: Counter[Source] = Counter()
    signatures = 0
    for function in analysis.functions:
        for declared in analysis.functions[signatures:]:
            _check_defaults(world, declared)
        signatures = len(analysis.functions)
        if (source := function.source) is not None:
            if source not in counts:
                analysis.files[source].interface_uses = world.modules.used_by_interface(source)
            _check_or_skip(world, function, source, counts[source])
            counts[source] += 1
    for source, record in analysis.files.items():
        record.uses = world.modules.used_by_file(source)
        if source not in counts:
            record.interface_uses = world.modules.used_by_interface(source)


def _check_or_skip(world: World, function: FunctionSymbol, source: Source, number: int) -> None:
    """Check a body, the one of this number in its file, and note what it makes be loaded; or do no more than
    load that again."""
    before = world.checked_before.get(source)
    if before is not None:
        for loading in before.loadings:
            if loading.number == number and (used := world.modules.load_file(loading.module)) is not None:
                world.loaded_by_path(world.module_of(function), used, loading.start, loading.end)
        return
    record, named, modules = world.analysis.files[source], world.paths_to_files, world.modules.looked_for()
    known = len(named)
    check_function(world, function)
    record.loadings += [Loading(number, *path) for path in named[known:]]
    if len(named) == known and world.modules.looked_for() != modules:
        record.repeatable = False


def check_function(world: World, function: FunctionSymbol) -> None:
    """Check the body of a function, if it has one."""
    declaration = function.decl
    if declaration is None or declaration.body is None or function.source is None:
        return
    frame = Frame(declaration, "function", function.result, declaration.body, function=function)
    body = Body(world, function.source, world.function_scope(function), frame)
    take_witnesses(body, function, declaration)
    parameters = iter(function.parameters)
    for node in declaration.parameters:
        if node.name.text == "self":
            own = function.self_type or ERROR
            local = body.declare("self", own, node, "self", function.receiver == "mut self")
        else:
            symbol = next(parameters, None)
            type_ = symbol.type if symbol is not None else ERROR
            local = body.declare(node.name.text, type_, node, "parameter", node.mutable)
        world.analysis.parameters[node] = local
    _check_result(body, declaration.body)


def _check_result(body: Body, block: ast.Block) -> None:
    result = body.frame.result
    found = body.infer(block, result)
    if found is not result and found is not NEVER:
        body.coerce(block.result or block, found, result)
    body.finish()


def _check_defaults(world: World, function: FunctionSymbol) -> None:
    for parameter in function.parameters:
        if parameter.default is not None:
            check_default(world, parameter)


def _check_fields(world: World, fields: Iterable[FieldSymbol], scope: TypeScope) -> None:
    for field in fields:
        if field.default is not None:
            check_default(world, field, scope)


def _check_pipeline(world: World, pipeline: PipelineSymbol) -> None:
    scope = world.module_scope(world.module_of(pipeline))
    error = pipeline_error(world, pipeline)
    fails = ANY if error == world.error_type("AgentError") else error
    for stage in pipeline.stages:
        _check_stage(world, stage, scope, fails)


def _check_stage(world: World, stage: StageSymbol, scope: TypeScope, fails: Type) -> None:
    """`fails` is what may end the pipeline; a run makes an AgentError of any error."""
    node = stage.node
    if not isinstance(node, ast.StageDecl) or stage.source is None:
        return
    for parameter in stage.parameters:
        check_default(world, parameter)
    body = Body(world, stage.source, scope, Frame(node, "stage", stage.result, node.body, fails=fails))
    for parameter_node, symbol in zip(node.parameters, stage.parameters, strict=False):
        local = body.declare(parameter_node.name.text, symbol.type, parameter_node, "parameter")
        world.analysis.parameters[parameter_node] = local
    _check_result(body, node.body)
