"""Calls: which function is meant, what its generics stand for, in what order its arguments are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from concerto.semantics.model.analysis import (
    BoundCall,
    Default,
    DynamicCall,
    EmitCall,
    FunctionCall,
    Given,
    NativeCall,
    PanicCall,
    PipelineCall,
    ToolMethodCall,
    ValueCall,
    VariantCall,
    WrapCall,
)
from concerto.semantics.model.symbols import FunctionSymbol, ImplSymbol, TraitSymbol, TraitUse
from concerto.semantics.model.types import FunctionOf, Generic, Named, Type
from concerto.syntax import ast
from tests.oracle import dynamic
from tests.oracle.library import CHANGING, LIBRARY, WITH_RUN
from tests.oracle.places import Place, place_of
from tests.oracle.run import Frame, Run, generics_of
from tests.oracle.state import tool_of
from tests.oracle.text import text_of
from tests.oracle.types import Types, bind, plain, substitute
from tests.oracle.values import (
    Err,
    Failure,
    Function,
    Ok,
    Panicked,
    Some,
    Unsupported,
    Value,
    Variant,
    type_name,
)


def call(run: Run, node: ast.Expr, frame: Frame) -> Value:
    target = run.analysis.calls.get(node)
    match target:
        case FunctionCall():
            return _function(run, node, target, frame)
        case NativeCall():
            return _native(run, target, frame)
        case BoundCall():
            return _through_bound(run, node, target, frame)
        case DynamicCall():
            return _on_any(run, target, frame)
        case ValueCall():
            callee = run.value(target.callee, frame)
            values, _ = arguments(run, target.arguments, frame)
            if not isinstance(callee, Function):
                raise Failure(f"{type_name(callee)} cannot be called", "TypeError")
            return callee.call(*values)
        case VariantCall():
            return Variant(target.variant, tuple(arguments(run, target.arguments, frame)[0]))
        case WrapCall():
            values, _ = arguments(run, [target.argument], frame)
            return {"Some": Some, "Ok": Ok, "Err": Err}[target.name](values[0])
        case ToolMethodCall():
            return _tool_method(run, target, frame)
        case EmitCall(awaited=False):
            channel = run.value(target.channel, frame)
            payload = run.value(target.payload, frame)
            run.output.append(f"[emit:{channel}] {text_of(payload)}\n")
            return None
        case PanicCall():
            values, _ = arguments(run, [target.message], frame)
            raise Panicked(values[0])
        case PipelineCall():
            raise Unsupported("a pipeline")
        case _:
            raise Unsupported(type(target).__name__)


def arguments(
    run: Run, given: Sequence[Given], frame: Frame, changed: bool = False
) -> tuple[list[Value], Place | None]:
    """The values of arguments, evaluated as they are written, then those that were left out. With `changed`
    the first is a place, which is read when all others are known."""
    values: list[Value] = [None] * len(given)
    place = None
    written = [i for i, one in enumerate(given) if not isinstance(one, Default)]
    for i in sorted(written, key=lambda i: given[i].start):  # type: ignore[union-attr]
        node = given[i]
        assert not isinstance(node, Default)
        if changed and i == 0:
            place = place_of(run, node, frame)
        else:
            values[i] = run.value(node, frame)
    for i, one in enumerate(given):
        if isinstance(one, Default):
            assert one.parameter.default is not None
            values[i] = run.value(one.parameter.default, Frame({}))
    if place is not None:
        values[0] = place.get()
    return values, place


# --- Functions ------------------------------------------------------------------------------------------


def _function(run: Run, node: ast.Expr, target: FunctionCall, frame: Frame) -> Value:
    function = target.function
    owner = function.owner
    types: Types = {}
    if isinstance(owner, TraitSymbol) and function.receiver:
        function, types = _trait_method(run, owner, function, node, target.arguments, frame)
    elif isinstance(owner, ImplSymbol) and owner.trait is not None and function.receiver:
        receiver = target.arguments[0]
        assert not isinstance(receiver, Default)
        if not bind(owner.target, plain(run.type_after(receiver, frame)), set(owner.generics), types):
            raise AssertionError(f"`{function.qualified}` is no method of its receiver's type")
    return _call(run, node, function, target.arguments, types, frame)


def _call(
    run: Run, node: ast.Expr, function: FunctionSymbol, given: Sequence[Given], types: Types, frame: Frame
) -> Value:
    changes = function.receiver == "mut self"
    types = bindings(run, node, function, given, types, frame)
    values, place = arguments(run, given, frame, changes)
    return run.invoke(function, values, types, place.put if place is not None else None)


def bindings(
    run: Run, node: ast.Expr, function: FunctionSymbol, given: Sequence[Given], types: Types, frame: Frame
) -> Types:
    """What the generics of a function stand for in a call."""
    generics = generics_of(function)
    if not generics:
        return types
    types = dict(types)
    parameters = [parameter.type for parameter in function.parameters]
    if function.receiver:
        parameters.insert(0, function.self_type or Generic(next(iter(generics))))
    for parameter, one in zip(parameters, given, strict=True):
        if not isinstance(one, Default):
            bind(parameter, run.type_after(one, frame), generics, types)
    bind(function.result, run.type_of(node, frame), generics, types)
    return types


def _trait_method(
    run: Run,
    trait: TraitSymbol,
    function: FunctionSymbol,
    node: ast.Expr,
    given: Sequence[Given],
    frame: Frame,
) -> tuple[FunctionSymbol, Types]:
    """The method of a trait for the type that its receiver has."""
    receiver = given[0]
    assert not isinstance(receiver, Default)
    types = bindings(run, node, function, given, {}, frame)
    known = tuple(types[generic] for generic in trait.generics if generic in types)
    use = TraitUse(trait, known if len(known) == len(trait.generics) else ())
    return method_for(run, use, run.type_after(receiver, frame), function.name)


def method_for(run: Run, use: TraitUse, type_: Type, name: str) -> tuple[FunctionSymbol, Types]:
    found = run.traits.method(use, type_, name)
    if found is None and isinstance(type_, Generic):
        raise Unsupported("a method that a trait provides, on Any")
    if found is None and isinstance(type_, Named) and isinstance(type_.symbol.node, ast.ToolDecl):
        raise Unsupported("a method that a trait provides, of a tool")
    if found is None:
        raise AssertionError(f"no impl of `{use.trait.name}` for {type_}")
    return found


def _through_bound(run: Run, node: ast.Expr, target: BoundCall, frame: Frame) -> Value:
    """A trait's function for a type that is a generic parameter, or follows from the call."""
    function = target.function
    assert isinstance(function.owner, TraitSymbol)
    if function.receiver:
        chosen, types = _trait_method(run, function.owner, function, node, target.arguments, frame)
    else:
        chosen, types = _maker(run, function.owner, function, node, target.arguments, frame)
    return _call(run, node, chosen, target.arguments, types, frame)


def _maker(
    run: Run,
    trait: TraitSymbol,
    function: FunctionSymbol,
    node: ast.Expr,
    given: Sequence[Given],
    frame: Frame,
) -> tuple[FunctionSymbol, Types]:
    """A trait's function without `self`, for the type that its path names or its result has."""
    types = bindings(run, node, function, given, {}, frame)
    assert trait.self_generic is not None
    path = node.callee if isinstance(node, ast.Call) else node
    if isinstance(path, ast.Path):
        named = path.segments[0].name.text
        for generic, type_ in frame.types.items():
            if generic.name == named:
                types[trait.self_generic] = type_
    if trait.self_generic not in types or not all(generic in types for generic in trait.generics):
        raise Unsupported("a trait's function without `self` whose type only the checker knows")
    use = TraitUse(trait, tuple(types[generic] for generic in trait.generics))
    return method_for(run, use, types[trait.self_generic], function.name)


def function_value(run: Run, node: ast.Path, function: FunctionSymbol, frame: Frame) -> Value:
    """A function named where a value is wanted."""
    if function.native is not None:
        return Function(_body_of(run, function))
    found = run.type_of(node, frame)
    assert isinstance(found, FunctionOf)
    types: Types = {}
    generics = generics_of(function)
    parameters = [parameter.type for parameter in function.parameters]
    if function.receiver:
        parameters.insert(0, function.self_type or found.parameters[0])
    for parameter, type_ in zip(parameters, found.parameters, strict=True):
        bind(parameter, type_, generics, types)
    bind(function.result, found.result, generics, types)
    chosen = function
    if isinstance(function.owner, TraitSymbol) and function.receiver:
        known = tuple(types[generic] for generic in function.owner.generics if generic in types)
        use = TraitUse(function.owner, known if len(known) == len(function.owner.generics) else ())
        chosen, own = method_for(run, use, found.parameters[0], function.name)
        types = {**types, **own}
    return Function(lambda *values: run.invoke(chosen, values, types))


# --- The library, tools, Any -----------------------------------------------------------------------------


def _native(run: Run, target: NativeCall, frame: Frame) -> Value:
    changing = CHANGING.get(target.function.native or "")
    values, place = arguments(run, target.arguments, frame, changing is not None)
    if target.type_argument is not None:
        values.append(substitute(target.type_argument, frame.types))
    if changing is None or place is None:
        return _body_of(run, target.function)(*values)
    result, changed = changing(*values)
    place.put(changed)
    return result


def _body_of(run: Run, function: FunctionSymbol) -> Callable[..., Value]:
    name = function.native or ""
    if name in WITH_RUN:
        return partial(WITH_RUN[name], run)
    if name not in LIBRARY:
        raise Unsupported(f"the library's `{name}`")
    return LIBRARY[name]


def _tool_method(run: Run, target: ToolMethodCall, frame: Frame) -> Value:
    method = target.method
    declaration = method.decl
    if declaration is None or declaration.body is None:
        raise Unsupported(f"the tool method `{method.qualified}`, which has no body")
    for decorator in [*declaration.decorators, *(target.tool.node.decorators if target.tool.node else ())]:  # type: ignore[attr-defined]
        if decorator.name.text not in ("describe", "param"):
            raise Unsupported(f"@{decorator.name.text}")
    values, _ = arguments(run, target.arguments, frame)
    if len(values) != len(method.parameters):
        raise Unsupported("a ToolContext")
    types: Types = {}
    if method.receiver:
        values.insert(0, tool_of(run, target.tool))
    return run.invoke(method, values, types)


def _on_any(run: Run, target: DynamicCall, frame: Frame) -> Value:
    """By the value that is there."""
    values, place = arguments(run, target.arguments, frame, target.mutable)
    put: Callable[[Value], None] = place.put if place is not None else lambda value: None
    return dynamic.call_method(run, values[0], target.name, values[1:], put)
