"""Argument binding: positional, named and left out ones, brought into the order of the parameters
(E0302)."""

from __future__ import annotations

from collections.abc import Container, Sequence

from concerto.diagnostics import Edit, WrongArguments, did_you_mean
from concerto.semantics.check.body_checker import BodyChecker, useful_hint
from concerto.semantics.check.bounds import infer_by_bounds
from concerto.semantics.check.comparisons import is_comparison
from concerto.semantics.check.defaults import check_default
from concerto.semantics.check.holes import note_argument_hole
from concerto.semantics.check.other_languages import advice_on_argument, advice_on_more
from concerto.semantics.check.paths import bare_name
from concerto.semantics.model.analysis import Default, Given
from concerto.semantics.model.builtins import ANY, FLOAT, INT, NIL, OPTION, option_item
from concerto.semantics.model.symbols import (
    ERROR,
    ErrorType,
    Generic,
    GenericSymbol,
    Literals,
    Named,
    ParameterSymbol,
    Type,
    Unsolved,
)
from concerto.semantics.typing.coercion import fit, widened
from concerto.semantics.typing.unify import is_erroneous, resolve, show, substitute, unify
from concerto.source import Span
from concerto.syntax import ast
from concerto.wording import counted, first_of, listed


def check_arguments(
    checker: BodyChecker,
    callee: str,
    place: ast.Node,
    parameters: Sequence[ParameterSymbol],
    types: dict[GenericSymbol, Type],
    arguments: Sequence[ast.Argument],
    inferred: dict[ast.Expr, Type] | None = None,
    native: str | None = None,
) -> list[Given]:
    """Check every argument against its parameter. What is missing or too much is reported at `place` or at
    itself. `inferred` has types of arguments that were looked at before; `native` is the name of a function
    of the library."""
    chosen, strange = _assign(checker, callee, parameters, arguments, native)
    note_argument_hole(checker, parameters, arguments)
    closures: list[tuple[ast.Expr, Type]] = []
    inferred = {} if inferred is None else inferred
    given: list[Given] = []
    missing: list[ParameterSymbol] = []
    alike: dict[GenericSymbol, list[ast.Expr]] = {}
    for parameter in parameters:
        value = chosen.get(parameter)
        if value is not None:
            expected = substitute(parameter.type, types) if types else parameter.type
            if types and value not in inferred and isinstance(parameter.type, Generic):
                if not alike:
                    alike = _by_generic(parameters, chosen)
                same = alike[parameter.type.symbol]
                variable = resolve(expected)
                if len(same) > 1 and isinstance(variable, Unsolved):
                    _infer_together(checker, variable, same, inferred)
            if value in inferred:
                checker.coerce(value, inferred[value], expected)
            # A closure's parameters are known best when the other arguments are.
            elif value.__class__ is ast.Closure and types:
                closures.append((value, expected))
            else:
                checker.check(value, expected)
            given.append(value)
        elif parameter.default is not None:
            check_default(checker.declarations, parameter, parameters)
            given.append(Default(parameter))
        else:
            missing.append(parameter)
    if missing:
        # What the missing ones would have said, nobody knows.
        for variable in types.values():
            if isinstance(resolve(variable), Unsolved):
                unify(variable, ERROR)
    if closures:
        infer_by_bounds(checker, types)
    for value, expected in closures:
        checker.check(value, expected)
    # One with a wrong name or place, or one given twice, was most likely meant for the one that is missing.
    if missing and not strange and not any(is_comparison(checker, value) for value in chosen.values()):
        _report_missing(checker, callee, place, parameters, missing)
    return given


def _by_generic(
    parameters: Sequence[ParameterSymbol], chosen: dict[ParameterSymbol, ast.Expr]
) -> dict[GenericSymbol, list[ast.Expr]]:
    """The arguments for parameters that are of a generic parameter's type, by that."""
    found: dict[GenericSymbol, list[ast.Expr]] = {}
    for parameter in parameters:
        if isinstance(parameter.type, Generic) and parameter in chosen:
            found.setdefault(parameter.type.symbol, []).append(chosen[parameter])
    return found


def _infer_together(
    checker: BodyChecker, variable: Unsolved, values: list[ast.Expr], types: dict[ast.Expr, Type]
) -> None:
    """Find the types of arguments for one bare `T`, which becomes Float if some are Int and some Float."""
    together: Type = variable
    for value in values:
        found = types[value] = checker.infer(value, together)
        if together is variable:
            together = found
        elif {widened(together), widened(found)} == {INT, FLOAT}:
            together = FLOAT
    fit(together, variable)


def check_unknown_arguments(
    checker: BodyChecker, arguments: Sequence[ast.Argument], hint: Type = ERROR
) -> list[Given]:
    """Arguments of a call whose parameters nobody knows: of something reported, or of Any."""
    for argument in arguments:
        value = argument.value
        if hint is ANY:
            checker.check(value, ANY)
        elif isinstance(value, ast.Assign) and _is_new_name(checker, value.target):
            checker.types[value] = checker.types[value.target] = ERROR  # `f(count = 2)`
            checker.infer(value.value)
        else:
            checker.infer(value, hint)
    return [argument.value for argument in arguments]


def _is_new_name(checker: BodyChecker, target: ast.Expr) -> bool:
    name = bare_name(target)
    return name is not None and name.text not in checker.locals


def _assign(
    checker: BodyChecker,
    callee: str,
    parameters: Sequence[ParameterSymbol],
    arguments: Sequence[ast.Argument],
    native: str | None,
) -> tuple[dict[ParameterSymbol, ast.Expr], bool]:
    """The argument of each parameter, and whether one had a name that is unknown or given twice, or had to
    have one. Superfluous, unknown and repeated ones are reported."""
    chosen: dict[ParameterSymbol, ast.Expr] = {}
    strange = False
    positional = 0
    named = False
    for argument in arguments:
        value = argument.value
        name = argument.name or _named_by_equals(checker, value, parameters)
        if name is None:
            if named:
                checker.report(
                    WrongArguments(checker.span(argument), "a positional argument cannot follow a named one")
                )
                strange = True
            if positional < len(parameters):
                parameter = parameters[positional]
                if parameter not in chosen:
                    chosen[parameter] = value
                    positional += 1
                    continue
            elif positional == len(parameters):
                _report_too_many(checker, callee, argument, parameters, arguments, native)
            checker.infer(value)
            positional += 1
            continue
        named = True
        if argument.name is None and isinstance(value, ast.Assign):
            value = value.value
        named_one = next((each for each in parameters if each.name == name.text), None)
        if named_one in chosen:
            checker.report(WrongArguments(checker.span(name), f"the argument `{name.text}` is given twice"))
            strange = True
            checker.infer(value)
        elif named_one is not None:
            chosen[named_one] = value
            checker.note(name, named_one)
        else:
            _report_unknown(checker, callee, name, parameters, chosen)
            strange = True
            checker.infer(value)
    return chosen, strange


def _named_by_equals(
    checker: BodyChecker, value: ast.Expr, parameters: Sequence[ParameterSymbol]
) -> ast.Ident | None:
    """The name in `f(count = 2)`, which is reported if there is such a parameter."""
    if not isinstance(value, ast.Assign) or value.op != "=":
        return None
    name = bare_name(value.target)
    meant = None if name is None else next((each for each in parameters if each.name == name.text), None)
    if name is None or (name.text in checker.locals and (meant is None or _takes_nil(meant))):
        return None
    if meant is not None:
        equals = Span(checker.source, value.target.end, value.value.start)
        checker.report(
            WrongArguments(
                checker.span(value),
                "the name of an argument stands before `:`",
                help=f"write `{name.text}: {checker.text(value.value)}`",
                edits=(Edit(equals, ": "),),
            )
        )
    return name


def _takes_nil(parameter: ParameterSymbol) -> bool:
    return isinstance(parameter.type, Generic) or fit(NIL, parameter.type) is not None


_ONE_TEXT = 'put all values into one text: `"${a} and ${b}"`'


def _report_too_many(
    checker: BodyChecker,
    callee: str,
    first: ast.Argument,
    parameters: Sequence[ParameterSymbol],
    arguments: Sequence[ast.Argument],
    native: str | None,
) -> None:
    if any(argument.value.__class__ is ast.ErrorExpr for argument in arguments):
        return
    if first.start > arguments[-1].start:
        return
    advice = _ONE_TEXT if callee in ("`print`", "`println`") else advice_on_more(native or "")
    takes = f"takes {counted(len(parameters), 'argument')}" if parameters else "takes no arguments"
    checker.report(
        WrongArguments(
            Span(checker.source, first.start, max(arguments[-1].end, first.end)),
            f"{callee} {takes}, {len(arguments)} given",
            help=advice or _signature(parameters),
        )
    )


def _report_missing(
    checker: BodyChecker,
    callee: str,
    place: ast.Node,
    parameters: Sequence[ParameterSymbol],
    missing: list[ParameterSymbol],
) -> None:
    names = listed([_shown(parameter) for parameter in missing])
    noun = "an argument" if len(missing) == 1 else "arguments"
    checker.report(
        WrongArguments(checker.span(place), f"{callee} needs {noun} for {names}", help=_signature(parameters))
    )


def _report_unknown(
    checker: BodyChecker,
    callee: str,
    name: ast.Ident,
    parameters: Sequence[ParameterSymbol],
    chosen: Container[ParameterSymbol],
) -> None:
    near = checker.declarations.problems.nearest(
        name.text, [parameter.name for parameter in parameters if parameter not in chosen]
    )
    advice = advice_on_argument(callee.strip("`"), name.text)
    help_ = advice or did_you_mean(near) or _signature(parameters)
    checker.report(WrongArguments(checker.span(name), f"{callee} has no parameter `{name.text}`", help=help_))


def _signature(parameters: Sequence[ParameterSymbol]) -> str:
    if not parameters:
        return ""
    shown = [f"{_shown(parameter)}{'' if parameter.default is None else ' = …'}" for parameter in parameters]
    return f"its parameters are `({first_of(shown, ', ')})`"


def _shown(parameter: ParameterSymbol) -> str:
    """A parameter as declared, without a type that was reported; a variant's values have types only."""
    if is_erroneous(parameter.type):
        return parameter.name
    type_ = show(parameter.type)
    return type_ if parameter.name.isdigit() else f"{parameter.name}: {type_}"


# --- Generics -------------------------------------------------------------------------------------


def prefer_result(result: Type, types: dict[GenericSymbol, Type], hint: Type | None) -> None:
    """Let an expected `Option<Float>` decide the generics before the arguments are looked at. A bare `T` is
    left to the arguments: its value can still be converted afterwards."""
    expected = useful_hint(hint)
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
