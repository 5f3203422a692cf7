"""What a program offers to the program around it: its public functions, and the types that these speak of."""

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
    StructSymbol,
    Symbol,
    TupleOf,
    Type,
)
from concerto.semantics.typing.constant_evaluator import NotConstant


def emit_exports(program: ProgramBuilder, module: ir.ModuleIR) -> None:
    """The public functions of the root, and the types that are public there or that a function or another
    type needs."""
    offered = list(_offered(program))
    types: dict[StructSymbol | EnumSymbol, None] = {}
    for name, symbol in offered:
        match symbol:
            case FunctionSymbol(is_test=False, native=None):
                module.exports.append(_function(program, name, symbol))
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


def _function(program: ProgramBuilder, name: str, symbol: FunctionSymbol) -> ir.Export:
    decl = symbol.decl
    # What a bound needs to know of a type, only the compiler can pass.
    callable_ = decl is not None and not program.analysis.given_witnesses.get(decl)
    return ir.Export(
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
