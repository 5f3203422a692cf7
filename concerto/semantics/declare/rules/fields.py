"""Reader of the settings of a declaration, by the rows of its fields (E0412, E0203).

Fields that name other declarations are left to the rules of the declaration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from concerto.diagnostics import BadDeclarationField, DefinedTwice, did_you_mean, suggest
from concerto.semantics.declare.constants import evaluate
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.typing.constant_evaluator import NotConstant, Value
from concerto.syntax import ast
from concerto.vocabulary.fields import Field as Field
from concerto.vocabulary.fields import Kind, Rows
from concerto.vocabulary.other_frameworks import FIELDS, advice_on, name_here
from concerto.vocabulary.values import accepts

_WITH_ENV: Final = (Kind.SECRET, Kind.ENV_MAP)
"""`env("NAME")` may take the place of a String; it is kept as `{"env": "NAME"}`."""
_IN_CALLS: Final = {"system_prompt": "with_system", "model": "with_model", "temperature": "with_temperature"}
"""Methods of an agent that give another value of a field for one call."""


def read_settings(
    declarations: Declarations,
    owner: str,
    settings: Sequence[ast.Setting],
    table: Rows,
    scope: TypeScope,
) -> tuple[dict[str, object], dict[str, ast.Setting]]:
    """The values of the settings, and the settings of reference fields. `owner` is as in "agent `A`"."""
    values: dict[str, object] = {}
    references: dict[str, ast.Setting] = {}
    seen: dict[str, ast.Ident] = {}
    for setting in settings:
        name = setting.name.text
        field = table.get(name)
        if field is None:
            _report_unknown(declarations, owner, setting.name, table, scope)
            continue
        first = seen.setdefault(name, setting.name)
        if first is not setting.name:
            declarations.report(
                DefinedTwice,
                scope.module,
                setting.name,
                f"{owner} has `{name}` twice",
                help="keep one of the two",
                related=((declarations.at(scope.module, first), "first given here"),),
            )
        elif field.source is Kind.REFERENCE:
            references[name] = setting
        else:
            found = _value(declarations, owner, name, setting.value, field, scope)
            if found is not None:
                values[name] = found[0]
    return values, references


def is_misspelt(word: str, name: str, settings: Sequence[ast.Setting], table: Rows) -> bool:
    """Whether an unknown setting, which was reported, was most likely to be `name`: then that is not missing
    too."""
    return any(
        setting.name.text not in table and _meant(word, setting.name.text, table) == name
        for setting in settings
    )


def report_value(
    declarations: Declarations,
    owner: str,
    name: str,
    node: ast.Node,
    expects: str,
    scope: TypeScope,
    help_: str = "",
) -> None:
    """E0412: a field has a value of the wrong kind."""
    message = f"`{name}` of {owner} is {expects}"
    declarations.report(BadDeclarationField, scope.module, node, message, help=help_)


def _report_unknown(
    declarations: Declarations, owner: str, name: ast.Ident, table: Rows, scope: TypeScope
) -> None:
    word, _, quoted = owner.partition(" ")
    advice = advice_on(FIELDS.get(word, {}), name.text, quoted.strip("`"))
    listed = f"its fields are {', '.join(f'`{each}`' for each in table)}"
    help_ = advice or did_you_mean(_meant(word, name.text, table), listed)
    message = f"{owner} has no field `{name.text}`"
    declarations.report(BadDeclarationField, scope.module, name, message, help=help_)


def _meant(word: str, name: str, table: Rows) -> str | None:
    """The field that another framework calls `name`, or the nearest one."""
    return name_here(FIELDS.get(word, {}), name) or suggest(name, table)


def _value(
    declarations: Declarations, owner: str, name: str, node: ast.Expr, field: Field, scope: TypeScope
) -> tuple[Value] | None:
    if field.parts is not None and isinstance(node, ast.MapLit):
        return _parts(declarations, owner, name, node, field.parts, scope)
    try:
        value = (
            _with_env(declarations, node, scope)
            if field.source in _WITH_ENV
            else evaluate(declarations, node, scope)
        )
    except NotConstant as problem:
        if problem.message:
            message = f"`{name}` of {owner}: {problem.message}"
            help_ = problem.help
            if problem.fault == "computed" and name in _IN_CALLS:
                help_ += f"; for one call it is computed by `{owner.split('`')[1]}.{_IN_CALLS[name]}(…)`"
            declarations.report(BadDeclarationField, scope.module, problem.node, message, help=help_)
        return None
    if not accepts(field, value):
        help_ = ""
        if field.source is Kind.SECRET and isinstance(value, str):
            help_ = "name the variable of the environment that holds it; a key does not stand in a program"
        elif field.source is Kind.TEXTS and isinstance(value, str):
            help_ = "put it into an array: `[…]`"
        report_value(declarations, owner, name, node, field.expects, scope, help_)
        return None
    return (value,)


def _parts(
    declarations: Declarations,
    owner: str,
    name: str,
    node: ast.MapLit,
    parts: Rows,
    scope: TypeScope,
) -> tuple[Value] | None:
    found: dict[str, Value] = {}
    for entry in node.entries:
        key = entry.key.value if isinstance(entry.key, ast.StringLit) else ""
        part = parts.get(key)
        if part is None:
            near = suggest(key, parts)
            help_ = did_you_mean(near, f"its keys are {', '.join(f'`{k}`' for k in parts)}")
            message = f"`{name}` of {owner} has no key `{key}`"
            declarations.report(BadDeclarationField, scope.module, entry.key, message, help=help_)
            continue
        if part.source is Kind.REFERENCE:
            continue
        value = _value(declarations, owner, f"{name}.{key}", entry.value, part, scope)
        if value is not None:
            found[key] = value[0]
    given = {entry.key.value for entry in node.entries if isinstance(entry.key, ast.StringLit)}
    for key, part in parts.items():
        if part.required and key not in given:
            message = f"`{name}` of {owner} lacks `{key}`, {part.meaning}"
            declarations.report(BadDeclarationField, scope.module, node, message)
    return (found,)


def _with_env(declarations: Declarations, node: ast.Expr, scope: TypeScope) -> Value:
    """A constant in which `env("NAME")` may stand for a String, to be read when the program runs."""
    match node:
        case ast.Call(callee=ast.Path(name="env"), arguments=[ast.Argument(value=ast.StringLit(value=name))]):
            return {"env": name}
        case ast.MapLit():
            keys = evaluate(
                declarations,
                ast.MapLit(node.start, node.end, [_keyed(entry) for entry in node.entries]),
                scope,
            )
            return dict(
                zip(
                    keys, [_with_env(declarations, entry.value, scope) for entry in node.entries], strict=True
                )
            )
        case _:
            return evaluate(declarations, node, scope)


def _keyed(entry: ast.MapEntry) -> ast.MapEntry:
    return ast.MapEntry(entry.start, entry.end, entry.key, ast.NilLit(entry.start, entry.end))
