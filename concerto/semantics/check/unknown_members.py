"""What is said about a method or field that a value does not have (E0204).

Each `report_…` adds one problem and gives ERROR; nothing is said about a value that was reported before.
"""

from __future__ import annotations

from collections.abc import Sequence

from concerto.diagnostics import MismatchedTypes, PrivateName, TraitNotSatisfied, UnknownMember, did_you_mean
from concerto.semantics.check.body_checker import BodyChecker
from concerto.semantics.check.other_languages import advice_for, method_for
from concerto.semantics.model.builtins import (
    ITERATOR,
    NEVER,
    STRING,
    VALUE_METHODS,
    array_of,
    map_parts,
    option_item,
    result_parts,
)
from concerto.semantics.model.symbols import (
    ERROR,
    AgentSymbol,
    EnumSymbol,
    ErrorType,
    FunctionOf,
    Generic,
    HostSymbol,
    McpSymbol,
    Named,
    StructSymbol,
    ToolSymbol,
    TraitUse,
    Type,
    Unsolved,
)
from concerto.semantics.typing.members import field_names, find_field, member_names, why_not
from concerto.semantics.typing.mismatches import has_lost_bound, quote
from concerto.semantics.typing.traits import advice, element_of, is_own
from concerto.semantics.typing.unify import is_erroneous, is_settled, resolve, show
from concerto.syntax import ast
from concerto.wording import counted


def report_no_method(checker: BodyChecker, node: ast.MethodCall, receiver: Type) -> Type:
    name = node.method.text
    if receiver is NEVER:
        return NEVER
    if is_erroneous(receiver) or name in checker.declarations.lost_methods:
        return ERROR
    if isinstance(receiver, Unsolved):
        return report_unknown_type(checker, node.receiver, f"to find `{name}`")
    quoted = quote(checker.source, node.receiver)
    reason = why_not(checker.declarations, receiver, name)
    if reason is not None:
        message, advice_ = reason
        help_ = advice_for(_type_name(receiver), name, quoted) or advice_
        return checker.report(TraitNotSatisfied(checker.span(node.method), message, help=help_))
    shown = f"`{show(receiver)}`"
    field = find_field(receiver, name)
    if field is not None:
        called = isinstance(resolve(field[1]), FunctionOf)
        return _report(
            checker,
            node.method,
            f"`{name}` is a field of {shown}, not a method",
            f"call the function in it: `({quoted}.{name})(…)`"
            if called
            else f"leave the parentheses out: `{quoted}.{name}`",
        )
    inside = _inside(checker, receiver, name)
    if inside:
        return _report(checker, node.method, f"{shown} has no method `{name}`", _take_out(quoted, inside))
    own = is_own(receiver) or (isinstance(receiver, Named) and receiver.symbol is ITERATOR)
    item = element_of(checker.declarations, receiver) if own else None
    if item is not None and checker.find_method(array_of(item), name) is not None:
        help_ = f"make it an array first: `{quoted}.to_array().{name}(…)`"
        return _report(checker, node.method, f"{shown} has no method `{name}`", help_)
    asked = next((trait for trait, method in VALUE_METHODS.items() if method.name == name), None)
    if asked is not None and isinstance(receiver, Named | Generic) and not _lost(receiver):
        help_ = advice(receiver, TraitUse(asked))
        return _report(checker, node.method, f"{shown} has no method `{name}`", help_)
    if isinstance(receiver, Generic):
        if _lost(receiver):
            return ERROR
        help_ = f"say what it can do: `{show(receiver)}: Trait`, with `{name}` in the trait"
        if receiver.symbol.accepts is not None:
            way_out = f"declare `{name}` in it" if receiver.symbol.source else "ask for a type that has more"
            help_ = f"of a value of type {shown} only the methods of the trait are known: {way_out}"
        return _report(checker, node.method, f"{shown} has no method `{name}`", help_)
    names = _method_names(checker, receiver)
    if name == "append" and node.arguments and isinstance(node.arguments[0].value, ast.ArrayLit):
        names = [each for each in names if each != "push"]  # All of them are meant.
    owner = owner_of(checker, node.receiver, receiver)
    return report_unknown(checker, node.method, owner, "method", names, node.receiver, receiver)


def _lost(receiver: Type) -> bool:
    return isinstance(receiver, Generic) and has_lost_bound(receiver)


def report_no_field(checker: BodyChecker, node: ast.FieldAccess, receiver: Type) -> Type:
    name = node.name.text
    if is_erroneous(receiver):
        return ERROR
    if isinstance(receiver, Unsolved):
        return report_unknown_type(checker, node.receiver, f"to find `{name}`")
    shown, quoted = owner_of(checker, node.receiver, receiver), quote(checker.source, node.receiver)
    if _is_tool_state(checker, node):
        message = f"`{name}` is state of {shown}, which only its methods see"
        return checker.report(
            PrivateName(checker.span(node.name), message, help="add a method that returns it")
        )
    tool = checker.analysis.uses.get(node.receiver) if isinstance(node.receiver, ast.Path) else None
    if isinstance(tool, ToolSymbol) and name in tool.methods:
        help_ = f'call it: `{quoted}.{name}(…)`; a script of a mock has its name: `"{tool.name}::{name}"`'
        return _report(checker, node.name, f"`{name}` is a method of {shown}", help_)
    match = checker.find_method(receiver, name)
    if match is not None:
        given = "…" if any(each.default is None for each in match.function.parameters) else ""
        help_ = f"call it: `{quoted}.{name}({given})`"
        return _report(checker, node.name, f"`{name}` is a method of {shown}", help_)
    parts = map_parts(receiver)
    if parts is not None and parts[0] is STRING:
        help_ = f'a value of a map is read by its key: `{quoted}["{name}"]`'
        return _report(checker, node.name, f"{shown} has no field `{name}`", help_)
    inside = _inside(checker, receiver, name)
    if inside:
        return _report(checker, node.name, f"{shown} has no field `{name}`", _take_out(quoted, inside))
    if name.isdigit() and isinstance(receiver, Named) and isinstance(receiver.symbol, StructSymbol):
        held = len(receiver.symbol.fields) if receiver.symbol.positional else 0
        help_ = f"it has {counted(held, 'value')}, counted from 0" if held else "its fields have names"
        return _report(checker, node.name, f"{shown} has no field `{name}`", help_)
    names = _method_names(checker, receiver)
    return report_unknown(checker, node.name, shown, "field", names, node.receiver, receiver)


def report_without_self(checker: BodyChecker, node: ast.MethodCall, receiver: Type) -> Type:
    """A function of a type that is called on one of its values."""
    name = node.method.text
    owner = receiver.symbol.name if isinstance(receiver, Named) else show(receiver)
    message = f"`{name}` is a function of `{owner}`, not of its values"
    return _report(checker, node.method, message, f"call it as `{owner}::{name}(…)`")


def report_unknown(
    checker: BodyChecker,
    name: ast.Ident,
    owner: str,
    what: str,
    names: Sequence[str],
    asked: ast.Expr,
    type_: Type,
) -> Type:
    """`asked` has the `type_` that has no such member, only `names`."""
    if what == "method":
        fields = field_names(type_)
        names = [each for each in names if each not in fields] if fields else names
    foreign = method_for(name.text, names)
    help_ = "" if foreign else advice_for(_type_name(type_), name.text, quote(checker.source, asked))
    near = foreign or checker.declarations.problems.nearest(name.text, names)
    if not help_ and near:
        is_call = foreign is not None and what == "field" and find_field(type_, foreign) is None
        help_ = did_you_mean(f"{near}()" if is_call else near)
    known = sorted(set(names))
    if not help_ and known and len(known) <= 8:
        help_ = f"it has {', '.join(f'`{one}`' for one in known)}"
    if not help_ and not known and what == "method" and is_own(type_):
        help_ = f"declare it: `impl {show(type_)} {{ fn {name.text}(self) {{ … }} }}`"
    return _report(checker, name, f"{owner} has no {what} `{name.text}`", help_)


def report_unknown_type(checker: BodyChecker, node: ast.Expr, purpose: str) -> Type:
    """A member of something whose type nothing has said so far; that of what never comes never comes."""
    if is_settled(checker.types[node]):
        return NEVER
    name = checker.text(node)
    return checker.report(
        MismatchedTypes(
            checker.span(node),
            f"the type of `{name}` must be known here {purpose}",
            help=f"write its type where it is declared: `{name}: …`" if isinstance(node, ast.Path) else "",
        )
    )


def owner_of(checker: BodyChecker, receiver: ast.Expr, type_: Type) -> str:
    """What a member is missing from: the declaration that the receiver names, or the type of its value."""
    symbol = checker.analysis.uses.get(receiver) if isinstance(receiver, ast.Path) else None
    match symbol:
        case AgentSymbol() | HostSymbol():
            return f"the agent `{symbol.name}`"
        case ToolSymbol():
            return f"the tool `{symbol.name}`"
        case McpSymbol():
            return f"the server `{symbol.name}`"
        case _:
            return f"`{show(type_)}`"


def _is_tool_state(checker: BodyChecker, node: ast.FieldAccess) -> bool:
    tool = checker.analysis.uses.get(node.receiver) if isinstance(node.receiver, ast.Path) else None
    return isinstance(tool, ToolSymbol) and any(field.name == node.name.text for field in tool.state.fields)


def _inside(checker: BodyChecker, receiver: Type, name: str) -> str:
    """What must be taken out of an Option or Result for the member to be there."""
    parts = result_parts(receiver)
    inner = resolve(option_item(receiver) or (parts[0] if parts is not None else ERROR))
    if isinstance(inner, ErrorType | Unsolved):
        return ""
    if find_field(inner, name) is None and checker.find_method(inner, name) is None:
        return ""
    return show(inner)


def _take_out(quoted: str, inside: str) -> str:
    return f"take the `{inside}` out first: `{quoted}?`, or with `match`"


def _method_names(checker: BodyChecker, receiver: Type) -> list[str]:
    tool = checker.own_tool(receiver)
    return [*member_names(checker.declarations, receiver), *(tool.methods if tool is not None else ())]


def _type_name(type_: Type) -> str:
    if is_own(type_) and isinstance(type_, Named) and isinstance(type_.symbol, EnumSymbol):
        return "enum"
    name = type_.symbol.name if isinstance(type_, Named) else ""
    return "AgentRef" if name == "AgentBuilder" else name


def _report(checker: BodyChecker, place: ast.Ident, message: str, help_: str) -> Type:
    return checker.report(UnknownMember(checker.span(place), message, help=help_))
