"""What a program offers to the program around it: public functions and methods, pipelines, and the types that
these speak of.
"""

from __future__ import annotations

from collections.abc import Iterator

from concerto.emit.json_constants import json_constant
from concerto.emit.program import ProgramBuilder
from concerto.ir import module as ir
from concerto.semantics.model.symbols import (
    AliasSymbol,
    EnumSymbol,
    FunctionOf,
    FunctionSymbol,
    Named,
    ParameterSymbol,
    PipelineSymbol,
    StructSymbol,
    Symbol,
    TupleOf,
    Type,
)
from concerto.semantics.typing.constant_evaluator import NotConstant


def emit_exports(program: ProgramBuilder, module: ir.ModuleIR) -> None:
    """The public functions of the root, the methods of agents, pipelines, and the types that are public in
    the root or that one of these or another type needs."""
    offered = list(_offered(program))
    types: dict[StructSymbol | EnumSymbol, None] = {}
    for name, symbol in offered:
        match symbol:
            case FunctionSymbol(is_test=False, native=None):
                module.exports.append(ir.Export(*_signature(program, name, symbol)))
                for type_ in (*(each.type for each in symbol.parameters), symbol.result):
                    _collect(type_, types)
            case StructSymbol() | EnumSymbol():
                _collect(Named(symbol), types)
            case AliasSymbol(generics=[]):
                module.exported_types.append(
                    ir.ExportedType(name, program.types.index(symbol.type), docs=symbol.docs or "")
                )
                _collect(symbol.type, types)
            case _:
                pass
    for method, exported in _methods(program):
        module.exported_methods.append(exported)
        for type_ in (*(each.type for each in method.parameters), method.result):
            _collect(type_, types)
    for owner in types:
        generics = [generic.name for generic in owner.generics]
        general = program.types.general(owner)
        module.exported_types.append(ir.ExportedType(owner.qualified, general, generics, owner.docs or ""))


def _offered(program: ProgramBuilder) -> Iterator[tuple[str, Symbol]]:
    root = program.analysis.root
    for name, symbol in root.members.items():
        if symbol.public:
            yield name, symbol
    for name in sorted(root.exported):
        if name in root.imports:
            yield name, root.imports[name]


def _methods(
    program: ProgramBuilder,
) -> Iterator[tuple[FunctionSymbol | PipelineSymbol, ir.ExportedMethod]]:
    """The public methods of all agents, and all pipelines."""
    for agent in program.analysis.agents:
        for name, symbol in agent.methods.items():
            if symbol.public and symbol.receiver and symbol.native is None:
                yield symbol, ir.ExportedMethod(*_signature(program, name, symbol), owner=agent.qualified)
    for pipeline in program.analysis.pipelines:
        parameters = [_parameter(program, parameter) for parameter in pipeline.parameters]
        result, docs = program.types.index(pipeline.result), pipeline.docs or ""
        yield pipeline, ir.ExportedMethod("run", None, parameters, result, docs, pipeline.qualified)


def _signature(
    program: ProgramBuilder, name: str, symbol: FunctionSymbol
) -> tuple[str, int | None, list[ir.ParameterDef], int, str]:
    """The fields of an Export."""
    decl = symbol.decl
    # What a bound needs to know of a type, only the compiler can pass.
    callable_ = decl is not None and not program.analysis.given_witnesses.get(decl)
    return (
        name,
        program.function(symbol) if callable_ else None,
        [_parameter(program, parameter) for parameter in symbol.parameters],
        program.types.index(symbol.result),
        symbol.docs or "",
    )


def _parameter(program: ProgramBuilder, parameter: ParameterSymbol) -> ir.ParameterDef:
    type_ = program.types.index(parameter.type)
    if parameter.default is None:
        return ir.ParameterDef(parameter.name, type_)
    try:
        default = json_constant(program.analysis, parameter.default)
    except NotConstant:
        # It is computed where the call stands, which is in no program here.
        return ir.ParameterDef(parameter.name, type_)
    return ir.ParameterDef(parameter.name, type_, has_default=True, default=default)


def _collect(type_: Type, types: dict[StructSymbol | EnumSymbol, None]) -> None:
    """Note the program's own structs and enums in a type, and in their fields."""
    match type_:
        case Named(symbol=StructSymbol() | EnumSymbol() as symbol, arguments=arguments):
            parts = list(arguments)
            if symbol not in types and not symbol.module.startswith("std::"):
                types[symbol] = None
                groups = [symbol] if isinstance(symbol, StructSymbol) else symbol.variants
                parts += [field.type for group in groups for field in group.fields]
        case Named(arguments=arguments):
            parts = list(arguments)
        case TupleOf(items=items):
            parts = list(items)
        case FunctionOf(parameters=parameters, result=result):
            parts = [*parameters, result]
        case _:
            return
    for part in parts:
        _collect(part, types)
