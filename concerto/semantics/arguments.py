"""Arguments of calls: positional, named and left out ones, brought into the order of the parameters
(E0302)."""

from __future__ import annotations

from collections.abc import Sequence

from concerto.diagnostics import TraitNotSatisfied, WrongArguments, suggest
from concerto.semantics.analysis import Default, Given
from concerto.semantics.builtins import ANY, OPTION, option_item
from concerto.semantics.context import Body, wanted
from concerto.semantics.defaults import check_default
from concerto.semantics.infer import is_erroneous, is_solved, resolve, show, substitute, unify
from concerto.semantics.paths import count
from concerto.semantics.symbols import (
    EnumSymbol,
    FunctionSymbol,
    GenericSymbol,
    ImplSymbol,
    ParameterSymbol,
    StructSymbol,
    TraitUse,
)
from concerto.semantics.types import ERROR, ErrorType, Generic, Literals, Named, Type, Unsolved
from concerto.source import Span
from concerto.syntax import ast


def check_arguments(
    body: Body,
    callee: str,
    place: Span,
    parameters: Sequence[ParameterSymbol],
    types: dict[GenericSymbol, Type],
    arguments: Sequence[ast.Argument],
) -> list[Given]:
    """Check every argument against its parameter. What is missing or too much is reported at `place` or at
    itself."""
    chosen, strange = _assign(body, callee, parameters, arguments)
    closures: list[tuple[ast.Expr, Type]] = []
    given: list[Given] = []
    missing: list[ParameterSymbol] = []
    for parameter in parameters:
        value = chosen.get(parameter.name)
        if value is not None:
            expected = substitute(parameter.type, types) if types else parameter.type
            # A closure's parameters are known best when the other arguments are.
            if value.__class__ is ast.Closure and types:
                closures.append((value, expected))
            else:
                body.check(value, expected)
            given.append(value)
        elif parameter.default is not None:
            check_default(body.world, parameter)
            given.append(Default(parameter))
        else:
            missing.append(parameter)
    for value, expected in closures:
        body.check(value, expected)
    # An argument with a wrong name was most likely meant for the one that is missing.
    if missing and not strange:
        _report_missing(body, callee, place, parameters, missing)
    return given


def check_unknown_arguments(body: Body, arguments: Sequence[ast.Argument], hint: Type = ERROR) -> list[Given]:
    """Arguments of a call whose parameters nobody knows: of something reported, or of Any."""
    for argument in arguments:
        body.infer(argument.value, hint)
    return [argument.value for argument in arguments]


def _assign(
    body: Body, callee: str, parameters: Sequence[ParameterSymbol], arguments: Sequence[ast.Argument]
) -> tuple[dict[str, ast.Expr], bool]:
    """The argument of each parameter by name, and whether one had an unknown name. Superfluous, unknown and
    repeated ones are reported."""
    chosen: dict[str, ast.Expr] = {}
    strange = False
    positional = 0
    named = False
    for argument in arguments:
        if argument.name is None:
            if named:
                body.report(
                    WrongArguments(body.span(argument), "a positional argument cannot follow a named one")
                )
            if positional < len(parameters):
                name = parameters[positional].name
                if name not in chosen:
                    chosen[name] = argument.value
                    positional += 1
                    continue
            else:
                _report_too_many(body, callee, argument, parameters, arguments)
                positional = len(parameters) + len(arguments)
            body.infer(argument.value)
            positional += 1
            continue
        named = True
        name = argument.name.text
        if name in chosen:
            body.report(WrongArguments(body.span(argument.name), f"the argument `{name}` is given twice"))
            body.infer(argument.value)
        elif any(parameter.name == name for parameter in parameters):
            chosen[name] = argument.value
        else:
            _report_unknown(body, callee, argument.name, parameters)
            strange = True
            body.infer(argument.value)
    return chosen, strange


def _report_too_many(
    body: Body,
    callee: str,
    first: ast.Argument,
    parameters: Sequence[ParameterSymbol],
    arguments: Sequence[ast.Argument],
) -> None:
    if any(argument.value.__class__ is ast.ErrorExpr for argument in arguments):
        return
    if first.start > arguments[-1].start:
        return
    takes = f"takes {count(len(parameters), 'argument')}" if parameters else "takes no arguments"
    body.report(
        WrongArguments(
            Span(body.source, first.start, max(arguments[-1].end, first.end)),
            f"{callee} {takes}, {len(arguments)} given",
            help=_signature(parameters),
        )
    )


def _report_missing(
    body: Body,
    callee: str,
    place: Span,
    parameters: Sequence[ParameterSymbol],
    missing: list[ParameterSymbol],
) -> None:
    names = ", ".join(f"`{_shown(parameter)}`" for parameter in missing)
    noun = "an argument" if len(missing) == 1 else "arguments"
    body.report(WrongArguments(place, f"{callee} needs {noun} for {names}", help=_signature(parameters)))


def _report_unknown(body: Body, callee: str, name: ast.Ident, parameters: Sequence[ParameterSymbol]) -> None:
    near = suggest(name.text, (parameter.name for parameter in parameters))
    help_ = f"did you mean `{near}`?" if near else _signature(parameters)
    body.report(WrongArguments(body.span(name), f"{callee} has no parameter `{name.text}`", help=help_))


def _signature(parameters: Sequence[ParameterSymbol]) -> str:
    if not parameters:
        return ""
    shown = (f"{_shown(parameter)}{'' if parameter.default is None else ' = …'}" for parameter in parameters)
    return f"its parameters are `({', '.join(shown)})`"


def _shown(parameter: ParameterSymbol) -> str:
    """A parameter as declared; a variant's values have types only."""
    type_ = show(parameter.type)
    return type_ if parameter.name.isdigit() else f"{parameter.name}: {type_}"


# --- Generics -------------------------------------------------------------------------------------


def prefer_result(result: Type, types: dict[GenericSymbol, Type], hint: Type | None) -> None:
    """Let an expected `Option<Float>` decide the generics before the arguments are looked at. A bare `T` is
    left to the arguments: its value can still be converted afterwards."""
    expected = wanted(hint)
    if expected is None or expected is ANY or isinstance(expected, Unsolved) or not types:
        return
    if isinstance(result, Generic) or not isinstance(result, Named):
        return
    if isinstance(expected, Named) and expected.symbol is OPTION and result.symbol is not OPTION:
        expected = resolve(option_item(expected) or ERROR)
    if not isinstance(expected, Named) or expected.symbol is not result.symbol or not result.arguments:
        return
    instance = substitute(result, types)
    assert isinstance(instance, Named)
    for open_part, wanted_part in zip(instance.arguments, expected.arguments, strict=True):
        part = resolve(open_part)
        if isinstance(part, Unsolved) and not _is_loose(wanted_part):
            unify(part, wanted_part)


def _is_loose(part: Type) -> bool:
    """Types that other types turn into by themselves say too little about an argument."""
    part = resolve(part)
    return part is ANY or isinstance(part, ErrorType | Literals | Unsolved)


def require_bounds(
    body: Body,
    place: Span,
    symbol: FunctionSymbol | StructSymbol | EnumSymbol | ImplSymbol,
    types: dict[GenericSymbol, Type],
) -> None:
    """Check what the generics must be able to do, when all is known."""
    bounded = [generic for generic in symbol.generics if generic.bounds and generic in types]
    if bounded:
        body.later.append(lambda: _check_bounds(body, place, symbol.name, bounded, types))


def _check_bounds(
    body: Body,
    place: Span,
    name: str,
    bounded: list[GenericSymbol],
    types: dict[GenericSymbol, Type],
) -> None:
    for generic in bounded:
        type_ = resolve(types[generic])
        if not is_solved(type_) or is_erroneous(type_):
            continue
        for bound in generic.bounds:
            use = TraitUse(bound.trait, tuple(substitute(part, types) for part in bound.arguments))
            if not body.world.satisfies(type_, use):
                body.report(
                    TraitNotSatisfied(
                        place,
                        f"`{name}` needs `{generic.name}: {bound.trait.name}`, and `{show(type_)}` is not",
                        help=_bound_help(type_, bound),
                    )
                )


def _bound_help(type_: Type, bound: TraitUse) -> str:
    if isinstance(type_, Generic):
        return f"ask for it: `{type_.symbol.name}: {bound.trait.name}`"
    if bound.trait.methods:
        return f"write `impl {bound.trait.name} for {show(type_)} {{ … }}`"
    return ""
