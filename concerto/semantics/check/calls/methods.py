"""Method calls and fields (E0204): on values, tools, servers, agents and pipelines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from concerto.diagnostics import (
    PrivateName,
    UnknownMember,
    UnknownName,
    WrongArguments,
)
from concerto.semantics.check.assignability import require_mutable
from concerto.semantics.check.body_checker import BodyChecker, checks
from concerto.semantics.check.calls.arguments import check_arguments, check_unknown_arguments
from concerto.semantics.check.calls.builders import check_builder_arguments, check_builder_call
from concerto.semantics.check.calls.functions import call_function, call_tool
from concerto.semantics.check.holes import note_member_hole
from concerto.semantics.check.other_languages import advice_for
from concerto.semantics.check.paths import declared_by, require_visible, written_types
from concerto.semantics.check.unknown_members import (
    owner_of,
    report_no_field,
    report_no_method,
    report_unknown,
    report_without_self,
)
from concerto.semantics.check.witnesses import choose_match
from concerto.semantics.declare.resolution import resolve_path
from concerto.semantics.model.analysis import (
    DynamicCall,
    NamedMember,
    NativeCall,
    PipelineCall,
    SlotField,
    TupleItem,
)
from concerto.semantics.model.builtins import (
    AGENT_BUILDER,
    AGENT_REF,
    ANY,
    DISPLAY,
    ITERATOR,
    MCP_REF,
    NEVER,
    TOOL_CONTEXT,
    TOOL_CONTEXT_FIELDS,
    TOOL_REF,
    VALUE_METHODS,
    result_of,
    result_parts,
)
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.symbols import (
    ERROR,
    AgentSymbol,
    AliasSymbol,
    BuiltinSymbol,
    ConstSymbol,
    EnumSymbol,
    ErrorType,
    FunctionSymbol,
    HostSymbol,
    McpSymbol,
    ModuleSymbol,
    Named,
    ParameterSymbol,
    PipelineSymbol,
    StateSymbol,
    StructSymbol,
    Symbol,
    ToolSymbol,
    TraitSymbol,
    TraitUse,
    TupleOf,
    Type,
    Unsolved,
)
from concerto.semantics.typing.coercion import widened
from concerto.semantics.typing.impl_lookup import methods_named
from concerto.semantics.typing.members import find_field, offered_methods, provided_for
from concerto.semantics.typing.mismatches import is_parenthesised
from concerto.semantics.typing.traits import satisfies
from concerto.semantics.typing.unify import resolve, show
from concerto.syntax import ast
from concerto.vocabulary.mcp_requests import MCP_REQUESTS
from concerto.wording import counted


@checks(ast.MethodCall)
def method_call(checker: BodyChecker, node: ast.MethodCall, hint: Type | None) -> Type:
    return check_method_call(checker, node, node.arguments, hint)


def check_method_call(
    checker: BodyChecker, node: ast.MethodCall, arguments: Sequence[ast.Argument], hint: Type | None
) -> Type:
    receiver = node.receiver
    symbol = declared_by(checker, receiver)
    if _is_hole(checker, node.method, receiver, symbol):
        check_unknown_arguments(checker, arguments)
        return ERROR
    if symbol is not None:
        assert isinstance(receiver, ast.Path)
        found = _call_on_declared(checker, node, receiver, symbol, arguments, hint)
        if found is not None:
            return found
    found = checker.types[receiver] if symbol is not None else checker.infer(receiver)
    plain = widened(found)
    if plain is ANY:
        return _call_on_any(checker, node, arguments)
    match = checker.find_method(plain, node.method.text)
    asked = _ASKED.get(node.method.text)
    if match is None and asked is not None and _is_asked(checker, plain, asked):
        return _asked_of_any_value(checker, node, plain, arguments)
    if match is None:
        check_unknown_arguments(checker, arguments)
        return report_no_method(checker, node, plain)
    inferred: dict[ast.Expr, Type] = {}
    if match.others:
        value = checker.text(receiver)
        value = value[1:-1] if is_parenthesised(value) else value
        chosen = choose_match(checker, node.method, match, arguments, hint, inferred, value)
        if chosen is None:
            return ERROR
        match = chosen
    function = match.function
    require_visible(checker, node.method, function)
    types = match.substitution
    if function.generics:
        types = {**types, **written_types(checker, node.type_arguments, function, node.method)}
    elif node.type_arguments:
        checker.report(
            WrongArguments(
                checker.span(node.method),
                f"`{function.name}` takes no type arguments",
                help=_with_type(checker, plain, f"{function.name}_with_schema"),
            )
        )
    if function.receiver == "mut self":
        require_mutable(checker, receiver, f"call `{function.name}` on")
    if plain is AGENT_REF or plain is AGENT_BUILDER:
        checked = check_builder_call(checker, node, function, arguments)
        if checked is not None:
            return checked
    elif not function.receiver and not isinstance(function.owner, ToolSymbol | AgentSymbol):
        check_unknown_arguments(checker, arguments)
        return report_without_self(checker, node, plain)
    given = receiver if function.receiver else None
    result = call_function(
        checker, node, node.method, function, types, arguments, hint, given, match.dynamic, inferred
    )
    if plain is AGENT_REF or plain is AGENT_BUILDER:
        check_builder_arguments(checker, node, function, arguments)
    return result


def _is_hole(checker: BodyChecker, name: ast.Ident, receiver: ast.Expr, symbol: Symbol | None) -> bool:
    """Whether the author is writing this member."""
    hole = checker.declarations.hole
    if hole is None or not hole.is_at(name):
        return False
    is_value = symbol is None or isinstance(symbol, StateSymbol | ConstSymbol | AgentSymbol | HostSymbol)
    note_member_hole(checker, name, resolve(checker.infer(receiver)) if is_value else None, symbol)
    return True


_ASKED: Final = {method.name: trait for trait, method in VALUE_METHODS.items()}


def _is_asked(checker: BodyChecker, found: Type, trait: TraitSymbol) -> bool:
    if isinstance(found, ErrorType | Unsolved):
        return False
    return trait is DISPLAY or satisfies(checker.declarations, found, TraitUse(trait))


def _asked_of_any_value(
    checker: BodyChecker, node: ast.MethodCall, found: Type, arguments: Sequence[ast.Argument]
) -> Type:
    """`to_string()`, `compare(other)`, `equals(other)` or `hash()` of a type that has no such method of its
    own."""
    function = checker.declarations.prelude.members[node.method.text]
    assert isinstance(function, FunctionSymbol)
    others = [ParameterSymbol(name="other", type=found) for _ in function.parameters[1:]]
    given = check_arguments(checker, f"`{function.name}`", node.method, others, {}, arguments)
    checker.analysis.calls[node] = NativeCall(function, [node.receiver, *given])
    return function.result


def _call_on_declared(
    checker: BodyChecker,
    node: ast.MethodCall,
    receiver: ast.Path,
    symbol: Symbol,
    arguments: Sequence[ast.Argument],
    hint: Type | None,
) -> Type | None:
    """A call on a tool, server, agent, pipeline, type or module; None if it is a value like any other."""
    name = node.method.text
    match symbol:
        case ToolSymbol() | McpSymbol():
            checker.types[receiver] = TOOL_REF if isinstance(symbol, ToolSymbol) else MCP_REF
            checker.analysis.uses[receiver] = symbol
            names = [segment.name for segment in receiver.segments]
            if len(names) > 1 and resolve_path(checker.declarations, names, checker.scope) is None:
                return ERROR  # It is private, which was reported.
            method = symbol.methods.get(name)
            if method is None and isinstance(symbol, McpSymbol) and name in MCP_REQUESTS:
                return None
            if method is None:
                check_unknown_arguments(checker, arguments)
                offered = offered_methods(symbol)
                owner = owner_of(checker, receiver, TOOL_REF)
                return report_unknown(checker, node.method, owner, "method", offered, receiver, TOOL_REF)
            types = written_types(checker, node.type_arguments, method, node.method)
            if isinstance(symbol, ToolSymbol) and symbol.trait is not None and method.owner is not symbol:
                state = checker.declarations.plain_type(symbol.state)
                types |= provided_for(symbol.trait, state)
            return call_tool(checker, node, node.method, symbol, method, types, arguments)
        case AgentSymbol():
            checker.infer(receiver)
            own = symbol.methods.get(name)
            if own is None:
                return None
            given = receiver if own.receiver else None
            types = written_types(checker, node.type_arguments, own, node.method)
            return call_function(checker, node, node.method, own, types, arguments, hint, given)
        case PipelineSymbol():
            return _call_pipeline(checker, node, receiver, symbol, arguments)
        case BuiltinSymbol() | StructSymbol() | EnumSymbol() | AliasSymbol() | ModuleSymbol() | TraitSymbol():
            check_unknown_arguments(checker, arguments)
            kind = "a module" if isinstance(symbol, ModuleSymbol) else "a type"
            return checker.report(
                UnknownName(
                    checker.span(receiver),
                    f"`{receiver.name}` is {kind}, not a value",
                    help=advice_for(receiver.name, name, "value") or f"write `{receiver.name}::{name}(…)`",
                )
            )
        case _:
            checker.infer(receiver)
            return None


def _call_pipeline(
    checker: BodyChecker,
    node: ast.MethodCall,
    receiver: ast.Path,
    pipeline: PipelineSymbol,
    arguments: Sequence[ast.Argument],
) -> Type:
    checker.analysis.uses[receiver] = pipeline
    checker.types[receiver] = ANY
    if node.method.text != "run":
        check_unknown_arguments(checker, arguments)
        owner = f"the pipeline `{pipeline.name}`"
        return report_unknown(checker, node.method, owner, "method", ["run"], node.receiver, ERROR)
    given = check_arguments(
        checker, f"`{pipeline.name}.run`", node.method, pipeline.parameters, {}, arguments
    )
    checker.analysis.calls[node] = PipelineCall(pipeline, given)
    return result_of(pipeline.result, pipeline_error(checker.declarations, pipeline))


def pipeline_error(declarations: Declarations, pipeline: PipelineSymbol) -> Type:
    """The error of a pipeline's run: that of its stages if they agree, else an AgentError."""
    found: list[Type] = []
    for stage in pipeline.stages:
        parts = result_parts(stage.result)
        if parts is not None and parts[1] not in found:
            found.append(parts[1])
    if len(found) == 1:
        return found[0]
    return declarations.error_type("AgentError") or ERROR


def _call_on_any(checker: BodyChecker, node: ast.MethodCall, arguments: Sequence[ast.Argument]) -> Type:
    for argument in arguments:
        if argument.name is not None:
            checker.report(
                WrongArguments(checker.span(argument.name), "a call on `Any` takes no named arguments")
            )
    given = check_unknown_arguments(checker, arguments, ANY)
    name = node.method.text
    methods = list(_methods_of_any(checker, name))
    mutable = any(method.receiver == "mut self" for method in methods)
    if mutable:
        require_mutable(checker, node.receiver, f"call `{name}` on")
    results = [method.result for method in methods]
    lazy = any(isinstance(result, Named) and result.symbol is ITERATOR for result in results)
    checker.analysis.calls[node] = DynamicCall(name, [node.receiver, *given], mutable, lazy)
    return ANY


def _methods_of_any(checker: BodyChecker, name: str) -> Iterator[FunctionSymbol]:
    """The methods of this name of the library's types and the program's: it may be that type's value that is
    behind `Any`."""
    own, library = checker.declarations, checker.declarations.library
    tables = [own.impls] if library is None else [library.declarations.impls, own.impls]
    for impls in tables:
        yield from methods_named(impls, name)


# --- Fields ---------------------------------------------------------------------------------------


def _with_type(checker: BodyChecker, receiver: Type, name: str) -> str:
    """The method that would take a type argument."""
    return f"write `{name}<T>(…)`" if checker.find_method(receiver, name) is not None else ""


@checks(ast.FieldAccess)
def field_access(checker: BodyChecker, node: ast.FieldAccess, hint: Type | None) -> Type:
    receiver = node.receiver
    symbol = declared_by(checker, receiver)
    if _is_hole(checker, node.name, receiver, symbol):
        return ERROR
    if isinstance(symbol, StructSymbol | EnumSymbol | BuiltinSymbol | ModuleSymbol | AliasSymbol):
        assert isinstance(receiver, ast.Path)
        kind = "a module" if isinstance(symbol, ModuleSymbol) else "a type"
        return checker.report(
            UnknownName(
                checker.span(receiver),
                f"`{receiver.name}` is {kind}, not a value",
                help=f"write `{receiver.name}::{node.name.text}`",
            )
        )
    return field_of(checker, node, resolve(checker.infer(receiver)))


def field_of(checker: BodyChecker, node: ast.FieldAccess, receiver: Type) -> Type:
    name = node.name.text
    if name.isdigit() and isinstance(receiver, TupleOf):
        return tuple_item(checker, node, node.name, receiver, int(name))
    if receiver is ANY:
        checker.analysis.fields[node] = NamedMember(name)
        return ANY
    if receiver is NEVER:
        return NEVER
    if isinstance(receiver, ErrorType):
        return ERROR
    if receiver is TOOL_CONTEXT and name in TOOL_CONTEXT_FIELDS:
        checker.analysis.fields[node] = NamedMember(name)
        return TOOL_CONTEXT_FIELDS[name]
    found = find_field(receiver, name)
    if found is None:
        return report_no_field(checker, node, receiver)
    field, type_ = found
    checker.note(node.name, field)
    struct = receiver.symbol if isinstance(receiver, Named) else None
    is_error = isinstance(struct, StructSymbol) and struct.is_error
    if not (is_error or checker.declarations.may_use(field, checker.scope) or checker.own_tool(receiver)):
        owner = show(receiver)
        checker.report(
            PrivateName(
                checker.span(node.name),
                f"the field `{name}` of `{owner}` is private",
                help=f"declare it `pub {name}`, or add a method that returns it",
            )
        )
    checker.analysis.fields[node] = NamedMember(name) if is_error else SlotField(field)
    return type_


def tuple_item(checker: BodyChecker, node: ast.Expr, place: ast.Node, receiver: TupleOf, index: int) -> Type:
    """`t.0` and `t[0]`"""
    if index < len(receiver.items):
        checker.analysis.fields[node] = TupleItem(index)
        return receiver.items[index]
    return checker.report(
        UnknownMember(
            checker.span(place),
            f"`{show(receiver)}` has no element {index}",
            help=f"it has {counted(len(receiver.items), 'element')}, counted from 0",
        )
    )
