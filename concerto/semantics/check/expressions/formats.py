"""Formats in interpolations: which type has which (E0309)."""

from __future__ import annotations

from concerto.diagnostics import BadFormat
from concerto.semantics.check.body_checker import BodyChecker, checks
from concerto.semantics.model.builtins import ANY, FLOAT, INT, NEVER, NUMBER, PROMPT, STRING, option_item
from concerto.semantics.model.symbols import ErrorType, Generic, TraitUse, Type, Unsolved
from concerto.semantics.typing.coercion import widened
from concerto.semantics.typing.mismatches import quote
from concerto.semantics.typing.traits import satisfies
from concerto.semantics.typing.unify import show
from concerto.syntax import ast
from concerto.text_formats import FITTING, python_format

_FORMATTED: dict[Type, str] = {INT: "Int", FLOAT: "Float", STRING: "String", PROMPT: "String"}


@checks(ast.Formatted)
def formatted(checker: BodyChecker, node: ast.Formatted, hint: Type | None) -> Type:
    found = widened(checker.infer(node.value))
    if isinstance(found, ErrorType | Unsolved) or found is NEVER:
        return STRING
    if found is ANY:
        fits = any(python_format(name, node.format) for name in FITTING)
    elif isinstance(found, Generic):
        fits = all(python_format(name, node.format) for name in ("Int", "Float"))
        fits = fits and satisfies(checker.declarations, found, TraitUse(NUMBER))
    else:
        fits = python_format(_FORMATTED.get(found, ""), node.format) is not None
    if not fits:
        place = checker.source.span(node.end - len(node.format), node.end)
        message, advice = _format_problem(checker, node, found)
        checker.report(BadFormat(place, message, help=advice))
    return STRING


def _format_problem(checker: BodyChecker, node: ast.Formatted, found: Type) -> tuple[str, str]:
    """Message and help for a format that values of the type do not have."""
    if not node.format:
        return "a format is missing behind `:`", FITTING.get(
            _FORMATTED.get(found, ""), "write `${value}`, or as `${value:>8}`"
        )
    message = f"a value of type `{show(found)}` has no format `{node.format}`"
    if node.format in ("?", "#?"):
        return message, "`${}` shows every value; leave the format out"
    if "{" in node.format or "$" in node.format:
        return message, "a format is made of constant text; `pad_left` and `pad_right` take a computed width"
    if found is INT and python_format("Float", node.format):
        return message, f"`{node.format}f` shows an Int with decimals"
    if found is ANY:
        return message, "only Int, Float and String have formats, as `>8`, `,`, `.2f`"
    if found in _FORMATTED:
        return message, FITTING[_FORMATTED[found]]
    quoted = quote(checker.source, node.value)
    if option_item(found) is not None:
        return message, f"say what stands for `None`: `${{{quoted}.unwrap_or(…):{node.format}}}`"
    return message, (
        f"only Int, Float and String have formats; `${{{quoted}.to_string():>12}}` is the text in a width"
    )
