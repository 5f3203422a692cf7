"""Rules of decorators: where they may stand and what arguments they take (E0420), by the rows of
`concerto.vocabulary.decorators`.

Afterwards `analysis.decorators` has the arguments of every known decorator by name. `@tools` and `@validate`
refer to declarations and are read by the rules of pipelines and schemas.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from concerto.diagnostics import UnknownDecorator, did_you_mean, suggest
from concerto.semantics.declare.constants import evaluate
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.typing.constant_evaluator import NotConstant, Value
from concerto.syntax import ast
from concerto.vocabulary.decorators import (
    DECORATORS,
    PARAM_ON_PARAMETER,
    PLACE_NAMES,
    ArgumentRow,
    DecoratorRow,
    Place,
)
from concerto.vocabulary.other_frameworks import DECORATORS as FOREIGN
from concerto.vocabulary.other_frameworks import advice_on, name_here

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_WANTED: Final[Mapping[str, type | tuple[type, ...]]] = {
    "String": str, "Name": str, "Int": int, "Count": int, "Number": (int, float), "Seconds": (int, float),
    "Reference": object,
}  # fmt: skip
_SHOWN: Final[Mapping[str, str]] = {
    "String": "a `String`", "Name": "a `String`", "Int": "an `Int`", "Count": "an `Int` above zero",
    "Number": "a number", "Seconds": "a number above zero",
}  # fmt: skip
"""What completes "`max` of `@retry` is …"."""


def check_decorators(
    declarations: Declarations, decorators: Sequence[ast.Decorator], place: Place, scope: TypeScope
) -> None:
    """Check the decorators of one thing and keep their arguments."""
    seen: set[str] = set()
    for decorator in decorators:
        name = decorator.name.text
        rule = PARAM_ON_PARAMETER if place == "parameter" and name == "param" else DECORATORS.get(name)
        if rule is None:
            _report_unknown(declarations, decorator, place, scope)
        elif place not in rule.places:
            _report_misplaced(declarations, decorator, place, rule, scope)
        elif name in seen and not rule.repeats:
            message = f"`@{name}` is given twice"
            declarations.report(
                UnknownDecorator, scope.module, decorator, message, help="keep one of the two"
            )
        else:
            seen.add(name)
            declarations.analysis.decorators[decorator] = _arguments(declarations, decorator, rule, scope)


def is_broken(declarations: Declarations, decorators: Iterable[ast.Decorator], name: str) -> bool:
    """Whether there is a decorator of that name, or one that was most likely to be it, that was reported:
    what it was to say is not missing too."""
    required = {argument.name for argument in DECORATORS[name].arguments if argument.required}
    for decorator in decorators:
        given = declarations.analysis.decorators.get(decorator)
        if decorator.name.text == name:
            if given is None or not required <= given.keys():
                return True
        elif given is None and _meant(decorator.name.text) == name:
            return True
    return False


def argument_of(decorators: Iterable[ast.Decorator], name: str) -> ast.Argument | None:
    """The first argument of the decorator of that name."""
    for decorator in decorators:
        if decorator.name.text == name and decorator.arguments:
            return decorator.arguments[0]
    return None


def has_decorator(decorators: Iterable[ast.Decorator], name: str) -> bool:
    return any(decorator.name.text == name for decorator in decorators)


def _arguments(
    declarations: Declarations, decorator: ast.Decorator, rule: DecoratorRow, scope: TypeScope
) -> dict[str, object]:
    found: dict[str, object] = {}
    given: set[str] = set()
    wrong = False
    for index, argument in enumerate(decorator.arguments):
        expected = _expected(declarations, decorator, rule, index, argument, scope)
        if expected is None:
            wrong = True
            continue
        if expected.name in given:
            message = f"`@{decorator.name.text}` has `{expected.name}` twice"
            declarations.report(UnknownDecorator, scope.module, argument, message, help="keep one of the two")
            wrong = True
            continue
        given.add(expected.name)
        if expected.kind != "Reference":
            value = _value(declarations, decorator, expected, argument, scope)
            if value is None:
                wrong = True
            else:
                found[expected.name] = value
    missing = [
        argument.name for argument in rule.arguments if argument.required and argument.name not in given
    ]
    if missing and not wrong:
        declarations.report(
            UnknownDecorator,
            scope.module,
            decorator,
            f"`@{decorator.name.text}` needs `{missing[0]}`",
            help=f"write `{_form(decorator.name.text, rule)}`",
        )
    return found


def _expected(
    declarations: Declarations,
    decorator: ast.Decorator,
    rule: DecoratorRow,
    index: int,
    argument: ast.Argument,
    scope: TypeScope,
) -> ArgumentRow | None:
    name = decorator.name.text
    if argument.name is None:
        equals = isinstance(argument.value, ast.Assign)
        if index < len(rule.arguments) and not equals:
            return rule.arguments[index]
        message = f"`@{name}` takes {len(rule.arguments) or 'no'} argument{'s' * (len(rule.arguments) != 1)}"
        if equals:
            message = "the name of an argument stands before `:`"
        declarations.report(
            UnknownDecorator, scope.module, argument, message, help=f"write `{_form(name, rule)}`"
        )
        return None
    for expected in rule.arguments:
        if expected.name == argument.name.text:
            return expected
    near = suggest(argument.name.text, [expected.name for expected in rule.arguments])
    message = f"`@{name}` has no argument `{argument.name.text}`"
    help_ = did_you_mean(near, f"write `{_form(name, rule)}`")
    declarations.report(UnknownDecorator, scope.module, argument.name, message, help=help_)
    return None


def _value(
    declarations: Declarations,
    decorator: ast.Decorator,
    expected: ArgumentRow,
    argument: ast.Argument,
    scope: TypeScope,
) -> Value:
    label = f"`{expected.name}` of `@{decorator.name.text}`"
    if expected.kind in ("Word", "Words"):
        return _words(declarations, label, expected, argument.value, scope)
    try:
        value = evaluate(declarations, argument.value, scope)
    except NotConstant as problem:
        if problem.message:
            message = f"{label}: {problem.message}"
            declarations.report(UnknownDecorator, scope.module, problem.node, message, help=problem.help)
        return None
    if expected.kind == "Patterns":
        if _are_patterns(value):
            return value
        message = f'{label} is a map of arrays of strings: `{{"to": ["*@corp.example"]}}`'
        declarations.report(UnknownDecorator, scope.module, argument.value, message)
        return None
    if isinstance(value, bool) or not isinstance(value, _WANTED[expected.kind]):
        message = f"{label} is {_SHOWN[expected.kind]}"
    elif isinstance(value, str) and expected.kind == "Name" and _NAME.fullmatch(value) is None:
        message = f"{label} has letters, digits, `_` and `-`, and no more than 64"
    elif isinstance(value, str) and expected.choices and value not in expected.choices:
        choices = ", ".join(f'`"{choice}"`' for choice in expected.choices)
        message = f"{label} is one of {choices}"
    elif expected.kind in ("Count", "Seconds") and cast("float", value) <= 0:
        message = f"{label} is {_SHOWN[expected.kind]}"
    elif isinstance(value, int | float) and value < 0:
        message = f"{label} cannot be negative"
    else:
        return value
    declarations.report(UnknownDecorator, scope.module, argument.value, message)
    return None


def _words(
    declarations: Declarations, label: str, expected: ArgumentRow, node: ast.Expr, scope: TypeScope
) -> str | list[str] | None:
    """A name that stands for itself, or an array of such."""
    items = node.items if expected.kind == "Words" and isinstance(node, ast.ArrayLit) else [node]
    words = [item.name for item in items if isinstance(item, ast.Path) and len(item.segments) == 1]
    if expected.kind == "Words":
        if isinstance(node, ast.ArrayLit) and len(words) == len(items):
            return words
        message, advice = f"{label} is an array of names of parameters", "write `[to, subject]`"
    else:
        if words and words[0] in expected.choices:
            return words[0]
        near = suggest(words[0] if words else getattr(node, "value", ""), expected.choices)
        message = f"{label} is one of {', '.join(f'`{choice}`' for choice in expected.choices)}"
        advice = did_you_mean(near, "write the word alone, without quotes")
    declarations.report(UnknownDecorator, scope.module, node, message, help=advice)
    return None


def _are_patterns(value: Value) -> bool:
    return isinstance(value, dict) and all(
        isinstance(each, list) and all(isinstance(item, str) for item in each) for each in value.values()
    )


def _report_unknown(
    declarations: Declarations, decorator: ast.Decorator, place: Place, scope: TypeScope
) -> None:
    name = decorator.name.text
    advice, near = advice_on(FOREIGN, name), _meant(name)
    fitting = [f"`@{each}`" for each, rule in DECORATORS.items() if place in rule.places]
    if advice or near is not None:
        help_ = advice or did_you_mean(f"@{near}")
    elif fitting:
        help_ = f"before {_with_article(place)} may stand {', '.join(fitting)}"
    else:
        help_ = "remove it"
    declarations.report(UnknownDecorator, scope.module, decorator, f"unknown decorator `@{name}`", help=help_)


def _meant(name: str) -> str | None:
    """The decorator that another framework calls `name`, or the nearest one."""
    return name_here(FOREIGN, name) or suggest(name, DECORATORS)


def _report_misplaced(
    declarations: Declarations, decorator: ast.Decorator, place: Place, rule: DecoratorRow, scope: TypeScope
) -> None:
    message = f"`@{decorator.name.text}` does not belong before {_with_article(place)}"
    where = ", ".join(PLACE_NAMES.get(each, each) for each in rule.places)
    declarations.report(UnknownDecorator, scope.module, decorator, message, help=f"it stands before: {where}")


def _with_article(place: Place) -> str:
    article = "an" if place in ("agent", "mcp function") else "a"
    return f"{article} {PLACE_NAMES.get(place, place)}"


def _form(name: str, rule: DecoratorRow) -> str:
    """`@retry(max: …, backoff: …, delay_ms: …)`"""
    if not rule.arguments:
        return f"@{name}"
    return f"@{name}({', '.join(f'{argument.name}: …' for argument in rule.arguments)})"
