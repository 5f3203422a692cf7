"""Calls by path or of a value: functions, constructors, `emit`, `Some`/`Ok`/`Err`, and `|>`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from concerto.diagnostics import (
    MismatchedTypes,
    NoJsonSchema,
    PrivateName,
    WrongArguments,
)
from concerto.semantics.check.assignability import require_mutable
from concerto.semantics.check.body_checker import BodyChecker, checks, useful_hint
from concerto.semantics.check.bounds import require_bounds
from concerto.semantics.check.calls.arguments import (
    check_arguments,
    check_unknown_arguments,
    prefer_result,
)
from concerto.semantics.check.conversions import check_error
from concerto.semantics.check.paths import (
    WRAPPERS,
    find_path,
    names_type,
    positional_struct,
    refuse_test,
    require_owner_bounds,
    require_visible,
    symbol_value,
    type_arguments,
    variant_type,
)
from concerto.semantics.check.witnesses import choose_match, require_witnesses
from concerto.semantics.declare.rules.json_types import Obstacle, why_no_json, why_no_schema
from concerto.semantics.model.analysis import (
    AgentCall,
    BoundCall,
    ConstructorCall,
    EmitCall,
    FunctionCall,
    Given,
    McpFunctionCall,
    NativeCall,
    PanicCall,
    ToolMethodCall,
    ValueCall,
    WrapCall,
)
from concerto.semantics.model.builtins import (
    AGENT_REF,
    ANY,
    NEVER,
    NIL,
    STRING,
    TOOL_CONTEXT,
    TOOL_REF,
    option_item,
    option_of,
    result_of,
    result_parts,
)
from concerto.semantics.model.scope import MethodMatch
from concerto.semantics.model.symbols import (
    ERROR,
    ConstSymbol,
    ErrorType,
    FunctionOf,
    FunctionSymbol,
    Generic,
    GenericSymbol,
    ImplSymbol,
    McpSymbol,
    Named,
    ParameterSymbol,
    StructSymbol,
    ToolSymbol,
    TraitSymbol,
    TupleOf,
    Type,
    Unsolved,
    VariantSymbol,
)
from concerto.semantics.typing.coercion import widened
from concerto.semantics.typing.mismatches import has_lost_bound
from concerto.semantics.typing.type_expressions import resolve_type
from concerto.semantics.typing.unify import (
    fresh,
    is_settled,
    item_of,
    resolve,
    show,
    spoil,
    substitute,
    unify,
    zonk,
)
from concerto.syntax import ast
from concerto.wording import counted

AGENT_CALLS: Final = frozenset(
    f"AgentBuilder::{name}"
    for name in ("execute", "execute_with_schema", "chat", "stream", "stream_with_schema")
)


@checks(ast.Call)
def call(checker: BodyChecker, node: ast.Call, hint: Type | None) -> Type:
    return check_call(checker, node, node.callee, node.arguments, hint)


def check_call(
    checker: BodyChecker,
    node: ast.Expr,
    callee: ast.Expr,
    arguments: Sequence[ast.Argument],
    hint: Type | None,
    awaited: bool = False,
) -> Type:
    """The call `callee(arguments)`, whose meaning is kept under `node`."""
    if not isinstance(callee, ast.Path):
        return call_value(checker, node, callee, checker.infer(callee), arguments)
    if len(callee.segments) == 1:
        name = callee.segments[0].name.text
        if name in checker.locals:
            return call_value(checker, node, callee, checker.infer(callee), arguments)
        if name == "emit":
            return _emit(checker, node, callee, arguments, awaited)
        if name in WRAPPERS:
            return _wrap(checker, node, name, arguments, hint)
    elif callee.name in ("Option::Some", "Result::Ok", "Result::Err"):
        return _wrap(checker, node, callee.segments[1].name.text, arguments, hint)
    struct = positional_struct(checker, callee)
    if struct is not None:
        return _struct(checker, node, callee, struct, arguments, hint)
    found = find_path(checker, callee)
    match found:
        case None:
            check_unknown_arguments(checker, arguments)
            return ERROR
        case MethodMatch():
            return _associated(checker, node, callee, found, arguments, hint)
        case FunctionSymbol(owner=ToolSymbol() | McpSymbol()):
            assert isinstance(found.owner, ToolSymbol | McpSymbol)
            return call_tool(checker, node, callee.segments[-1].name, found.owner, found, {}, arguments)
        case FunctionSymbol():
            checker.analysis.uses[callee] = found
            refuse_test(checker, callee, found)
            written = callee.segments[-1].arguments
            types = type_arguments(checker, callee, found) if found.generics or written else {}
            return call_function(checker, node, callee.segments[-1].name, found, types, arguments, hint)
        case VariantSymbol():
            return _variant(checker, node, callee, found, arguments, hint)
        case _:
            checker.analysis.uses[callee] = found
            return call_value(checker, node, callee, symbol_value(checker, callee, found), arguments)


# --- Functions ------------------------------------------------------------------------------------


def call_function(
    checker: BodyChecker,
    node: ast.Expr,
    name: ast.Ident,
    function: FunctionSymbol,
    types: dict[GenericSymbol, Type],
    arguments: Sequence[ast.Argument],
    hint: Type | None,
    receiver: ast.Expr | None = None,
    dynamic: bool = False,
    inferred: dict[ast.Expr, Type] | None = None,
) -> Type:
    """A function, or a method whose receiver is checked, with types for its generics and those of its
    impl. `inferred` are arguments that were looked at before."""
    checker.note(name, function)
    if types:
        prefer_result(function.result, types, hint)
    if function.reified or (function.native in AGENT_CALLS and function.generics):
        arguments = _without_types(checker, function, types, arguments)
    callee, native = f"`{function.name}`", function.native
    given = check_arguments(checker, callee, name, function.parameters, types, arguments, inferred, native)
    if receiver is not None:
        given.insert(0, receiver)
    if function.generics:
        require_bounds(checker, name, function.name, function.generics, types)
    if types:
        require_witnesses(checker, node, name, function, types)
    if dynamic:
        checker.analysis.calls[node] = BoundCall(function, given)
    elif native is None:
        checker.analysis.calls[node] = FunctionCall(function, given)
    elif native == "std::prelude::panic":
        if given:
            checker.analysis.calls[node] = PanicCall(given[0])
    else:
        _native(checker, node, name, function, given, types)
    return substitute(function.result, types) if types else function.result


def _without_types(
    checker: BodyChecker,
    function: FunctionSymbol,
    types: dict[GenericSymbol, Type],
    arguments: Sequence[ast.Argument],
) -> list[ast.Argument]:
    """The arguments of a function that is told a type, without those that were meant to tell it."""
    others = []
    for argument in arguments:
        if not names_type(checker, argument.value):
            others.append(argument)
            continue
        told = checker.text(argument.value)
        checker.types[argument.value] = checker.report(
            WrongArguments(
                checker.span(argument),
                f"`{told}` is a type, and types stand in `<…>`",
                help=f"write `{function.name}<{told}>(…)`",
            )
        )
        for variable in types.values():
            spoil(variable)
    return others


def _native(
    checker: BodyChecker,
    node: ast.Expr,
    place: ast.Node,
    function: FunctionSymbol,
    given: list[Given],
    types: dict[GenericSymbol, Type],
) -> None:
    agent = function.native in AGENT_CALLS
    if not (function.reified or (agent and function.generics)):
        checker.analysis.calls[node] = (
            AgentCall(function.name, given) if agent else NativeCall(function, given)
        )
        return
    if function.generics:
        argument = types[function.generics[-1]]
    else:
        assert isinstance(function.owner, ImplSymbol) and isinstance(function.owner.target, Named)
        parts = tuple([substitute(part, types) for part in function.owner.target.arguments])
        argument = parts[0] if len(parts) == 1 else TupleOf(parts)

    def settle() -> None:
        if not is_settled(argument):
            checker.report(
                WrongArguments(
                    checker.span(place),
                    f"nothing says which type `{function.name}` is to give",
                    help=f"name it: `{function.name}<T>(…)`",
                )
            )
            spoil(argument)
        type_ = zonk(argument, ERROR)
        if function.generics:
            _require_schema(checker, place, function, type_)
        if agent:
            checker.analysis.calls[node] = AgentCall(function.name, given, type_)
        else:
            checker.analysis.calls[node] = NativeCall(function, given, type_)

    if function.name == "stream_with_schema":  # What is partial depends on what is whole.
        settle()
    else:
        checker.later.append(settle)


def _require_schema(checker: BodyChecker, place: ast.Node, function: FunctionSymbol, type_: Type) -> None:
    """Values of the type come from JSON, or from a model, which asks for more."""
    problem = why_no_schema(type_) if function.native in AGENT_CALLS else _why_unreadable(type_)
    if problem is not None:
        message = f"`{function.name}` cannot give a `{show(type_)}`: it has no JSON Schema"
        checker.report(NoJsonSchema(checker.span(place), message, label=problem.reason, help=problem.help))


def _why_unreadable(type_: Type) -> Obstacle | None:
    match type_:
        case FunctionOf() | Generic():
            return why_no_schema(type_)
        case Named(arguments=parts) | TupleOf(items=parts):
            return next(filter(None, map(_why_unreadable, parts)), None)
        case _:
            return None


def _associated(
    checker: BodyChecker,
    node: ast.Expr,
    callee: ast.Path,
    match: MethodMatch,
    arguments: Sequence[ast.Argument],
    hint: Type | None,
) -> Type:
    """`Type::f(…)`; with a method the receiver is the first argument."""
    name = callee.segments[-1].name
    inferred: dict[ast.Expr, Type] = {}
    if match.others:
        rest = arguments[1:] if match.function.receiver else arguments
        value = checker.text(arguments[0].value) if match.function.receiver and arguments else "…"
        owner = "::".join(segment.name.text for segment in callee.segments[:-1])
        chosen = choose_match(checker, name, match, rest, hint, inferred, value, owner)
        if chosen is None:
            return ERROR
        match = chosen
    function = match.function
    if isinstance(function.owner, ToolSymbol | McpSymbol):
        return call_tool(checker, node, name, function.owner, function, {}, arguments)
    require_visible(checker, name, function)
    checker.analysis.uses[callee] = function
    types = {**match.substitution, **(type_arguments(checker, callee, function) if function.generics else {})}
    require_owner_bounds(checker, callee, function, types)
    if not function.receiver:
        return call_function(
            checker, node, name, function, types, arguments, hint, None, match.dynamic, inferred
        )
    if not arguments or arguments[0].name is not None:
        check_unknown_arguments(checker, arguments)
        return checker.report(
            WrongArguments(
                checker.span(name), f"`{callee.name}` needs the value it works on as first argument"
            )
        )
    receiver = arguments[0].value
    checker.check(receiver, substitute(function.self_type or ERROR, types))
    if function.receiver == "mut self":
        require_mutable(checker, receiver, f"call `{function.name}` on")
    return call_function(
        checker, node, name, function, types, arguments[1:], hint, receiver, match.dynamic, inferred
    )


def call_tool(
    checker: BodyChecker,
    node: ast.Expr,
    name: ast.Ident,
    owner: ToolSymbol | McpSymbol,
    method: FunctionSymbol,
    types: dict[GenericSymbol, Type],
    arguments: Sequence[ast.Argument],
) -> Type:
    """A tool's or server's function, called through the gate; the runtime fills a ToolContext. `types` are
    for the generics of a method that the tool's trait provides."""
    parameters = [parameter for parameter in method.parameters if parameter.type is not TOOL_CONTEXT]
    callee = f"`{owner.name}::{method.name}`"
    checker.note(name, method)
    given = check_arguments(checker, callee, name, parameters, types, arguments)
    if isinstance(owner, McpSymbol):
        checker.analysis.calls[node] = McpFunctionCall(owner, method, given)
        return method.result
    if method.generics:
        require_bounds(checker, name, method.name, method.generics, types)
    inside = checker.frame.function is not None and checker.frame.function.owner is owner
    if not (method.public or inside or isinstance(method.owner, TraitSymbol)):
        checker.report(
            PrivateName(
                checker.span(name),
                f"`{method.name}` is private to the tool `{owner.name}`",
                help="only `pub fn`s of a tool can be called from outside",
            )
        )
    checker.analysis.calls[node] = ToolMethodCall(owner, method, given)
    return substitute(method.result, types)


# --- Values ---------------------------------------------------------------------------------------


def call_value(
    checker: BodyChecker, node: ast.Expr, callee: ast.Expr, found: Type, arguments: Sequence[ast.Argument]
) -> Type:
    """A function value: its parameters have no names and no defaults."""
    function = widened(found)
    if isinstance(function, Unsolved):
        function = FunctionOf(tuple(fresh() for _ in arguments), fresh())
        unify(found, function)
    if function is ANY or isinstance(function, ErrorType):
        hint = ANY if function is ANY else ERROR
        checker.analysis.calls[node] = ValueCall(callee, check_unknown_arguments(checker, arguments, hint))
        return hint
    if not isinstance(function, FunctionOf):
        check_unknown_arguments(checker, arguments)
        if function is NEVER:
            return NEVER
        if isinstance(function, Generic) and has_lost_bound(function):
            return ERROR
        help_ = f"ask it: `{checker.text(callee)}.execute(…)`" if function == AGENT_REF else ""
        if function == TOOL_REF:
            help_ = f"call one of its methods: `{checker.text(callee)}.method(…)`"
        used = checker.analysis.uses.get(callee) if isinstance(callee, ast.Path) else None
        if isinstance(used, ConstSymbol) and not arguments:
            help_ = f"it is a constant: write `{checker.text(callee)}`"
        return checker.report(
            MismatchedTypes(
                checker.span(callee), f"expected a function, found `{show(function)}`", help=help_
            )
        )
    for argument in arguments:
        if argument.name is not None:
            checker.report(
                WrongArguments(
                    checker.span(argument.name), "the parameters of a function value have no names"
                )
            )
    parameters = [ParameterSymbol(name=str(i), type=type_) for i, type_ in enumerate(function.parameters)]
    if len(arguments) != len(parameters):
        check_unknown_arguments(checker, arguments)
        checker.report(
            WrongArguments(
                checker.span(node),
                f"`{checker.text(callee)}` takes {counted(len(parameters), 'argument')}, "
                f"{len(arguments)} given",
                help=f"its type is `{show(function)}`",
            )
        )
        return function.result
    for argument, parameter in zip(arguments, function.parameters, strict=True):
        checker.check(argument.value, parameter)
    checker.analysis.calls[node] = ValueCall(callee, [argument.value for argument in arguments])
    return function.result


def _variant(
    checker: BodyChecker,
    node: ast.Expr,
    callee: ast.Path,
    variant: VariantSymbol,
    arguments: Sequence[ast.Argument],
    hint: Type | None,
) -> Type:
    checker.analysis.uses[callee] = variant
    enum, types = variant_type(checker, callee, variant)
    if variant.named or not variant.fields:
        check_unknown_arguments(checker, arguments)
        if variant.named:
            fields = ", ".join(f"{field.name}: …" for field in variant.fields)
            help_ = f"write `{callee.name} {{ {fields} }}`"
        else:
            help_ = f"write `{callee.name}`"
        message = f"the variant `{variant.name}` {'has named fields' if variant.named else 'holds nothing'}"
        checker.report(WrongArguments(checker.span(node), message, help=help_))
        return enum
    return _constructed(checker, node, callee, variant, enum, types, arguments, hint)


def _struct(
    checker: BodyChecker,
    node: ast.Expr,
    callee: ast.Path,
    built: Named,
    arguments: Sequence[ast.Argument],
    hint: Type | None,
) -> Type:
    struct = built.symbol
    assert isinstance(struct, StructSymbol)
    checker.analysis.uses[callee] = struct
    types = dict(zip(struct.generics, built.arguments, strict=True))
    return _constructed(checker, node, callee, struct, built, types, arguments, hint)


def _constructed(
    checker: BodyChecker,
    node: ast.Expr,
    callee: ast.Path,
    made: VariantSymbol | StructSymbol,
    whole: Named,
    types: dict[GenericSymbol, Type],
    arguments: Sequence[ast.Argument],
    hint: Type | None,
) -> Type:
    prefer_result(whole, types, hint)
    if types:
        require_bounds(checker, callee, whole.symbol.name, list(types), types)
    parameters = [ParameterSymbol(name=field.name, type=field.type) for field in made.fields]
    given = check_arguments(checker, f"`{made.name}`", callee.segments[-1].name, parameters, types, arguments)
    checker.analysis.calls[node] = ConstructorCall(made, given)
    return whole


def _wrap(
    checker: BodyChecker, node: ast.Expr, name: str, arguments: Sequence[ast.Argument], hint: Type | None
) -> Type:
    """`Some(x)`, `Ok(x)`, `Err(x)`"""
    if len(arguments) != 1 or arguments[0].name is not None or name == "None":
        check_unknown_arguments(checker, arguments)
        if name == "None":
            message, help_ = "`None` holds nothing", "write `None`"
        else:
            message = f"`{name}` takes 1 argument, {len(arguments)} given"
            help_ = "the empty value is `nil`: `Ok(nil)`" if name == "Ok" and not arguments else ""
        return checker.report(WrongArguments(checker.span(node), message, help=help_))
    value = arguments[0].value
    expected = useful_hint(hint)
    if name == "Some":
        checker.analysis.calls[node] = WrapCall("Some", value)
        return _wrap_some(checker, value, expected)
    checker.analysis.calls[node] = WrapCall("Ok" if name == "Ok" else "Err", value)
    return _wrap_result(checker, value, name, expected)


def _wrap_some(checker: BodyChecker, value: ast.Expr, expected: Type | None) -> Type:
    item = option_item(expected) if expected is not None else None
    if item is not None and not isinstance(resolve(item), Unsolved):
        checker.check(value, item)
        return option_of(item)
    return option_of(item_of(checker.infer(value)))


def _wrap_result(checker: BodyChecker, value: ast.Expr, name: str, expected: Type | None) -> Type:
    if expected is not None:
        expected = resolve(option_item(expected) or expected)
    ok, error = (result_parts(expected) if expected is not None else None) or (fresh(), fresh())
    if name == "Ok":
        if isinstance(resolve(ok), Unsolved):
            unify(ok, checker.infer(value))
        else:
            checker.check(value, ok)
        return result_of(ok, error)
    if isinstance(resolve(error), Unsolved):
        unify(error, checker.infer(value))
    else:
        check_error(checker, value, error)
    return result_of(ok, error)


# --- emit -----------------------------------------------------------------------------------------


def _emit(
    checker: BodyChecker, node: ast.Expr, callee: ast.Path, arguments: Sequence[ast.Argument], awaited: bool
) -> Type:
    """`emit(channel, payload)`, `emit<Schema>(channel, payload)`"""
    written = callee.segments[0].arguments
    schema = resolve_type(checker.declarations, written[0], checker.scope) if written else None
    names = ("channel", "payload")
    parameters = [
        ParameterSymbol(name=name, type=type_)
        for name, type_ in zip(names, (STRING, schema or ANY), strict=True)
    ]
    given = check_arguments(checker, "`emit`", callee, parameters, {}, arguments)
    if len(given) == 2:
        channel, payload = given
        assert isinstance(channel, ast.Node) and isinstance(payload, ast.Node)
        checker.analysis.calls[node] = EmitCall(channel, payload, awaited, schema)
        checker.later.append(lambda: _require_json(checker, payload))
    if not awaited:
        return NIL
    return result_of(ANY, checker.declarations.error_type("EmitError") or ERROR)


def _require_json(checker: BodyChecker, payload: ast.Expr) -> None:
    """What is told to the world can be written."""
    found = zonk(checker.types[payload], ANY)
    problem = why_no_json(found)
    if problem is not None:
        message = f"`emit` tells `{show(found)}`, which has no JSON form"
        checker.report(NoJsonSchema(checker.span(payload), message, label=problem.reason, help=problem.help))
