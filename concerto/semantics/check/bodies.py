"""The type checker's driver: checks every body of a program and fills the tables of its `Analysis`.

Bodies are independent of each other: signatures say everything that one needs to know of another. Bodies
declared inside of blocks join the list while it is walked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from concerto.semantics.check import blocks, paths  # noqa: F401
from concerto.semantics.check.body_checker import BodyChecker, BodyFrame
from concerto.semantics.check.calls import functions  # noqa: F401
from concerto.semantics.check.calls.methods import pipeline_error
from concerto.semantics.check.defaults import check_default
from concerto.semantics.check.expressions import (  # noqa: F401
    closures,
    concurrency,
    control,
    error_handling,
    formats,
    indexing,
    literals,
    operators,
    pipes,
)
from concerto.semantics.check.patterns import bind_pattern
from concerto.semantics.check.witnesses import declare_witnesses, find_inner_witnesses
from concerto.semantics.model.builtins import ANY, NEVER
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.file_records import Loading
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import (
    ERROR,
    FieldSymbol,
    FunctionSymbol,
    PipelineSymbol,
    StageSymbol,
    Type,
)

# What they register is wanted: the checkers of each class of expression.
from concerto.semantics.typing.demands import check_demands
from concerto.source import Source
from concerto.syntax import ast


def check_bodies(declarations: Declarations) -> None:
    """Check all functions, stages and default values."""
    check_field_defaults(declarations)
    _check_functions(declarations)
    find_inner_witnesses(declarations)
    check_demands(declarations)


def check_body(declarations: Declarations, owner: FunctionSymbol | PipelineSymbol) -> None:
    """Check one function, or the stages of a pipeline."""
    if isinstance(owner, PipelineSymbol):
        _check_pipeline(declarations, owner)
    else:
        check_defaults(declarations, owner)
        check_function(declarations, owner)
    check_demands(declarations)


def check_field_defaults(declarations: Declarations) -> None:
    """The defaults of fields, and those of the parameters of what may have no body."""
    analysis = declarations.analysis
    for struct in analysis.structs:
        _check_fields(declarations, struct.fields, declarations.scope_of(struct))
    for enum in analysis.enums:
        for variant in enum.variants:
            _check_fields(declarations, variant.fields, declarations.scope_of(enum))
    for tool in analysis.tools:
        _check_fields(
            declarations, tool.state.fields, declarations.module_scope(declarations.module_of(tool))
        )
        for method in tool.methods.values():
            check_defaults(declarations, method)
    for server in analysis.mcps:
        for function in server.methods.values():
            check_defaults(declarations, function)
    for trait in analysis.traits:
        for method in trait.methods.values():
            check_defaults(declarations, method)


def _check_functions(declarations: Declarations) -> None:
    """Signatures of a file come before its bodies: what they depend on is its interface's business."""
    analysis = declarations.analysis
    counts: Counter[Source] = Counter()
    signatures = 0
    for function in _functions_and_stages(declarations):
        for declared in analysis.functions[signatures:]:
            check_defaults(declarations, declared)
        signatures = len(analysis.functions)
        if (source := function.source) is not None:
            if source not in counts:
                analysis.files[source].interface_uses = declarations.modules.used_by_interface(source)
            _check_or_skip(declarations, function, source, counts[source])
            counts[source] += 1
    for source, record in analysis.files.items():
        record.uses = declarations.modules.used_by_file(source)
        if source not in counts:
            record.interface_uses = declarations.modules.used_by_interface(source)


def _functions_and_stages(declarations: Declarations) -> Iterator[FunctionSymbol]:
    """All functions; the stages of pipelines are checked on the way, for they may declare some too."""
    known, given = declarations.analysis.functions, 0
    for pipeline in chain([None], declarations.analysis.pipelines):
        if pipeline is not None:
            _check_pipeline(declarations, pipeline)
        while given < len(known):
            yield known[given]
            given += 1


def _check_or_skip(declarations: Declarations, function: FunctionSymbol, source: Source, number: int) -> None:
    """Check a body, the one of this number in its file, and note what it makes be loaded; or do no more than
    load that again."""
    before = declarations.checked_before.get(source)
    if before is not None:
        for loading in before.loadings:
            if (
                loading.number == number
                and (used := declarations.modules.load_file(loading.module)) is not None
            ):
                node = ast.Node(loading.start, loading.end)
                declarations.modules.load_by_path(declarations.module_of(function), used, node)
        return
    record, named, modules = (
        declarations.analysis.files[source],
        declarations.paths_to_files,
        declarations.modules.looked_for(),
    )
    known = len(named)
    check_function(declarations, function)
    record.loadings += [Loading(number, *path) for path in named[known:]]
    if len(named) == known and declarations.modules.looked_for() != modules:
        record.repeatable = False


def check_function(declarations: Declarations, function: FunctionSymbol) -> None:
    """Check the body of a function, if it has one."""
    declaration = function.decl
    if declaration is None or declaration.body is None or function.source is None:
        return
    frame = BodyFrame(declaration, "function", function.result, declaration.body, function=function)
    checker = BodyChecker(declarations, function.source, declarations.scope_of(function), frame)
    declare_witnesses(checker, function, declaration)
    parameters = iter(function.parameters)
    for node in declaration.parameters:
        if node.name.text == "self":
            own = function.self_type or ERROR
            local = checker.declare("self", own, node, "self", function.receiver == "mut self")
        else:
            symbol = next(parameters, None)
            type_ = symbol.type if symbol is not None else ERROR
            local = checker.declare(node.name.text, type_, node, "parameter", node.mutable)
            if node.pattern is not None:
                bind_pattern(checker, node.pattern, type_, "pattern")
        declarations.analysis.parameters[node] = local
    _check_result(checker, declaration.body)


def _check_result(checker: BodyChecker, block: ast.Block) -> None:
    result = checker.frame.result
    found = checker.infer(block, result)
    if found is not result and found is not NEVER:
        checker.coerce(block.result or block, found, result)
    checker.finish()


def check_defaults(declarations: Declarations, function: FunctionSymbol) -> None:
    """Check the default values of a function's parameters."""
    for parameter in function.parameters:
        if parameter.default is not None:
            check_default(declarations, parameter, function.parameters)


def _check_fields(declarations: Declarations, fields: Sequence[FieldSymbol], scope: TypeScope) -> None:
    for field in fields:
        if field.default is not None:
            check_default(declarations, field, fields, scope)


def _check_pipeline(declarations: Declarations, pipeline: PipelineSymbol) -> None:
    scope = declarations.module_scope(declarations.module_of(pipeline))
    error = pipeline_error(declarations, pipeline)
    fails = ANY if error == declarations.error_type("AgentError") else error
    for stage in pipeline.stages:
        _check_stage(declarations, stage, scope, fails)


def _check_stage(declarations: Declarations, stage: StageSymbol, scope: TypeScope, fails: Type) -> None:
    """`fails` is what may end the pipeline; a run makes an AgentError of any error."""
    node = stage.node
    if not isinstance(node, ast.StageDecl) or stage.source is None:
        return
    for parameter in stage.parameters:
        check_default(declarations, parameter, stage.parameters)
    checker = BodyChecker(
        declarations, stage.source, scope, BodyFrame(node, "stage", stage.result, node.body, fails=fails)
    )
    for parameter_node, symbol in zip(node.parameters, stage.parameters, strict=False):
        local = checker.declare(parameter_node.name.text, symbol.type, parameter_node, "parameter")
        declarations.analysis.parameters[parameter_node] = local
    _check_result(checker, node.body)
