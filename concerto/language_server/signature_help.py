"""Signature help: the parameters of the call around a place."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol.types import (
    MarkupContent,
    MarkupKind,
    ParameterInformation,
    SignatureHelp,
    SignatureInformation,
)

from concerto.language_server.hover import declaration_of, typed
from concerto.language_server.programs import EditedProgram
from concerto.language_server.trial import Trial, trial_at, try_it
from concerto.semantics.model.symbols import (
    FieldSymbol,
    FunctionSymbol,
    ParameterSymbol,
    PipelineSymbol,
    Symbol,
    VariantSymbol,
)
from concerto.source import Source
from concerto.syntax import ast


def signature_help(program: EditedProgram, source: Source, offset: int) -> SignatureHelp | None:
    trial = trial_at(source, offset)
    call = None if trial is None else _call_around(trial)
    if trial is None or call is None:
        return None
    tried = try_it(program, trial)
    name = _called(call)
    known = None if name is None else (tried.analysis.names or {}).get(name)
    if known is None and isinstance(call, ast.MethodCall) and isinstance(call.receiver, ast.Path):
        known = (tried.analysis.names or {}).get(call.receiver.segments[-1].name)
    parameters = None if known is None else _parameters(known[0])
    if known is None or parameters is None:
        return None
    symbol = known[0]
    labels = [_label(each) for each in parameters]
    shown = SignatureInformation(
        declaration_of(symbol).split("\n")[0],
        documentation=MarkupContent(MarkupKind.Markdown, symbol.docs.strip()) if symbol.docs else None,
        parameters=[
            ParameterInformation(label, documentation=getattr(each, "description", "") or None)
            for label, each in zip(labels, parameters, strict=True)
        ],
        active_parameter=_active(call, trial.start, [each.name for each in parameters]),
    )
    return SignatureHelp([shown], 0, shown.active_parameter)


def _call_around(trial: Trial) -> ast.Call | ast.MethodCall | None:
    for node in reversed(trial.path):
        match node:
            case ast.Call(callee=before) | ast.MethodCall(method=before) if before.end < trial.start:
                return node
            case ast.Block() | ast.Closure():
                return None
            case _:
                pass
    return None


def _called(call: ast.Call | ast.MethodCall) -> ast.Ident | None:
    match call:
        case ast.MethodCall():
            return call.method
        case ast.Call(callee=ast.Path(segments=segments)):
            return segments[-1].name
        case _:
            return None


def _parameters(symbol: Symbol) -> Sequence[ParameterSymbol | FieldSymbol] | None:
    match symbol:
        case FunctionSymbol() | PipelineSymbol():
            return symbol.parameters
        case VariantSymbol():
            return symbol.fields
        case _:
            return None


def _label(parameter: ParameterSymbol | FieldSymbol) -> str:
    return parameter.name if isinstance(parameter, ParameterSymbol) else typed(parameter.name, parameter.type)


def _active(call: ast.Call | ast.MethodCall, offset: int, names: list[str]) -> int:
    number = 0
    for number, argument in enumerate(call.arguments):
        if argument.start <= offset <= argument.end:
            if argument.name is not None and argument.name.text in names:
                return names.index(argument.name.text)
            return number
    return min(number, max(len(names) - 1, 0))
