"""Calls: which function is meant, what its generics stand for, in what order its arguments are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from concerto.semantics.declare.library import library
from concerto.semantics.model import analysis as an
from concerto.semantics.model import builtins as bt
from concerto.semantics.model import symbols as sym
from concerto.semantics.model.builtins import ITERATOR, OPERATOR_TRAITS, OPERATORS, RESULT
from concerto.semantics.model.symbols import FunctionOf, Generic, Named, Type
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast
from tests.oracle import dynamic
from tests.oracle import values as v
from tests.oracle.access import Place, place_of
from tests.oracle.compare import is_number
from tests.oracle.dynamic import type_of
from tests.oracle.errors import make_error
from tests.oracle.fitting import Types, bind, plain, substitute
from tests.oracle.library import CHANGING, LIBRARY, WITH_RUN
from tests.oracle.numbers import arithmetic, negated
from tests.oracle.run import Frame, Run, generics_of
from tests.oracle.state import tool_of
from tests.oracle.text import text_of
from tests.oracle.traits import has_operator
from tests.oracle.values import Unsupported


def call(run: Run, node: ast.Expr, frame: Frame) -> v.Value:
    target = run.analysis.calls.get(node)
    if target is None and isinstance(node, ast.MethodCall | ast.Call):
        # Nobody knows the method of a value that never comes: an expression that leaves.
        return run.value(node.receiver if isinstance(node, ast.MethodCall) else node.callee, frame)
    match target:
        case an.FunctionCall():
            return _function(run, node, target, frame)
        case an.NativeCall():
            return _native(run, target, frame)
        case an.BoundCall():
            return _through_bound(run, node, target, frame)
        case an.DynamicCall():
            return _on_any(run, target, frame)
        case an.ValueCall():
            callee = run.value(target.callee, frame)
            values, _ = arguments(run, target.arguments, frame)
            if not isinstance(callee, v.Function):
                raise v.Failure(f"{v.type_name(callee)} cannot be called", "TypeError")
            return callee.call(*values)
        case an.ConstructorCall(made=made):
            return v.made(made, tuple(arguments(run, target.arguments, frame)[0]))
        case an.WrapCall():
            values, _ = arguments(run, [target.argument], frame)
            return {"Some": v.Some, "Ok": v.Ok, "Err": v.Err}[target.name](values[0])
        case an.ToolMethodCall():
            return _tool_method(run, target, frame)
        case an.EmitCall(awaited=False):
            channel = run.value(target.channel, frame)
            payload = run.value(target.payload, frame)
            run.output.append(f"[emit:{channel}] {text_of(payload)}\n")
            return None
        case an.PanicCall():
            values, _ = arguments(run, [target.message], frame)
            raise v.Panicked(values[0])
        case an.PipelineCall():
            return _pipeline(run, target, frame)
        case an.EmitCall():
            raise v.Unsupported("the world outside: an answer to an emit")
        case _:
            raise v.Unsupported(f"the world outside: {type(target).__name__}")


def arguments(
    run: Run, given: Sequence[an.Given], frame: Frame, changed: bool = False
) -> tuple[list[v.Value], Place | None]:
    """The values of arguments, evaluated as they are written, then those that were left out. With `changed`
    the first is a place: what stands there is taken when all others are known."""
    values: list[v.Value] = [None] * len(given)
    place = None
    written = [i for i, one in enumerate(given) if not isinstance(one, an.Default)]
    for i in sorted(written, key=lambda i: given[i].start):  # type: ignore[union-attr]
        node = given[i]
        assert not isinstance(node, an.Default)
        if changed and i == 0:
            place = place_of(run, node, frame)
            # An element that is not there is missed before the other arguments are looked at.
            place.get()
        else:
            values[i] = run.value(node, frame)
    for i, one in enumerate(given):
        if isinstance(one, an.Default):
            assert one.parameter.default is not None
            values[i] = run.value(one.parameter.default, Frame({}))
    if place is not None:
        values[0] = place.get()
    return values, place


def _function(run: Run, node: ast.Expr, target: an.FunctionCall, frame: Frame) -> v.Value:
    function = target.function
    owner = function.owner
    types: Types = {}
    if isinstance(owner, sym.TraitSymbol):
        function, types = _trait_function(run, owner, function, node, target.arguments, frame)
    elif isinstance(owner, sym.ImplSymbol) and owner.trait is not None and function.receiver:
        receiver = target.arguments[0]
        assert not isinstance(receiver, an.Default)
        if not bind(owner.target, plain(run.type_after(receiver, frame)), set(owner.generics), types):
            raise AssertionError(f"`{function.qualified}` is no method of its receiver's type")
    return _call(run, node, function, target.arguments, types, frame)


def operator_call(run: Run, node: ast.Expr, operands: list[v.Value], frame: Frame) -> v.Value:
    """The method behind an operator, of operands that are known already."""
    target = run.analysis.calls[node]
    assert isinstance(target, an.FunctionCall | an.BoundCall)
    function = target.function
    types: Types = {}
    if isinstance(function.owner, sym.ImplSymbol):
        left = target.arguments[0]
        assert not isinstance(left, an.Default)
        bind(function.owner.target, plain(run.type_after(left, frame)), set(function.owner.generics), types)
    else:
        assert isinstance(function.owner, sym.TraitSymbol)
        if (found := _computed(function.owner, operands)) is not None:
            return found
        function, types = _trait_function(run, function.owner, function, node, target.arguments, frame)
    return run.invoke(function, operands, types)


def _computed(trait: sym.TraitSymbol, operands: Sequence[v.Value]) -> v.Value | None:
    """What the operator of a trait makes of numbers or texts; None of other values."""
    if not all(map(is_number, operands)) and not all(isinstance(one, str) for one in operands):
        return None
    signs = [sign for sign, of_trait in OPERATORS.items() if of_trait is trait]
    return arithmetic(signs[0], *operands) if signs else negated(*operands)


def _call(
    run: Run,
    node: ast.Expr,
    function: sym.FunctionSymbol,
    given: Sequence[an.Given],
    types: Types,
    frame: Frame,
) -> v.Value:
    changes = function.receiver == "mut self"
    types = bindings(run, node, function, given, types, frame)
    values, place = arguments(run, given, frame, changes)
    return run.invoke(function, values, types, place.put if place is not None else None)


def bindings(
    run: Run,
    node: ast.Expr,
    function: sym.FunctionSymbol,
    given: Sequence[an.Given],
    types: Types,
    frame: Frame,
) -> Types:
    """What the generics of a function stand for in a call."""
    generics = generics_of(function)
    if not generics:
        return types
    types = {**types, **written_types(run, node, function, frame)}
    parameters = [parameter.type for parameter in function.parameters]
    if function.receiver:
        parameters.insert(0, function.self_type or Generic(next(iter(generics))))
    for parameter, one in zip(parameters, given, strict=True):
        if not isinstance(one, an.Default):
            bind(parameter, run.type_after(one, frame), generics, types)
    bind(function.result, run.type_of(node, frame), generics, types)
    return types


def _trait_function(
    run: Run,
    trait: sym.TraitSymbol,
    function: sym.FunctionSymbol,
    node: ast.Expr,
    given: Sequence[an.Given],
    frame: Frame,
) -> tuple[sym.FunctionSymbol, Types]:
    """The function of a trait for the type that its receiver has, or its path names, or its result is."""
    types = bindings(run, node, function, given, {}, frame)
    itself: Type | None = types.get(trait.self_generic) if trait.self_generic is not None else None
    arguments: tuple[Type, ...] = ()
    if function.receiver:
        receiver = given[0]
        assert not isinstance(receiver, an.Default)
        itself = run.type_after(receiver, frame)
        static = resolve(run.analysis.types[receiver])
        if isinstance(static, Generic):
            uses = [bound for bound in static.symbol.bounds if bound.trait is trait]
            arguments = uses[0].arguments if len(uses) == 1 else ()
    return _chosen(
        run, trait, function.name, itself, types, tuple(substitute(a, frame.types) for a in arguments)
    )


def _chosen(
    run: Run,
    trait: sym.TraitSymbol,
    name: str,
    itself: Type | None,
    types: Types,
    arguments: tuple[Type, ...] = (),
) -> tuple[sym.FunctionSymbol, Types]:
    known = arguments or tuple(types[generic] for generic in trait.generics if generic in types)
    use = sym.TraitUse(trait, known if len(known) == len(trait.generics) else ())
    found = None if itself is None else run.traits.method(use, itself, name)
    if found is None:
        raise AssertionError(f"no impl of `{trait.name}` for {itself}")
    return found


def _through_bound(run: Run, node: ast.Expr, target: an.BoundCall, frame: Frame) -> v.Value:
    """A trait's function for a type that is a generic parameter, or follows from the call."""
    function = target.function
    assert isinstance(function.owner, sym.TraitSymbol)
    if function.receiver and not isinstance(target.arguments[0], an.Default):
        static = resolve(run.type_after(target.arguments[0], frame))
        if isinstance(static, Generic) and static.symbol.accepts is not None:
            return _through_value(run, function.owner, function, target.arguments, frame)
        whole = plain(static)
        if isinstance(whole, Named) and whole.symbol is ITERATOR:
            (items,), _ = arguments(run, target.arguments, frame)
            return LIBRARY["Iterator::first"](items)
        if function.owner in OPERATOR_TRAITS:
            values, _ = arguments(run, target.arguments, frame)
            return operator_call(run, node, values, frame)
    chosen, types = _trait_function(run, function.owner, function, node, target.arguments, frame)
    return _call(run, node, chosen, target.arguments, types, frame)


def _through_value(
    run: Run, trait: sym.TraitSymbol, function: sym.FunctionSymbol, given: Sequence[an.Given], frame: Frame
) -> v.Value:
    """A method of a trait that is used as a type: the value tells whose."""
    values, place = arguments(run, given, frame, function.receiver == "mut self")
    chosen, types = _by_value(run, trait, function, values[0])
    return run.invoke(chosen, values, types, place.put if place is not None else None)


def _by_value(
    run: Run, trait: sym.TraitSymbol, function: sym.FunctionSymbol, receiver: v.Value
) -> tuple[sym.FunctionSymbol, Types]:
    found = run.traits.method(sym.TraitUse(trait), type_of(receiver), function.name)
    if found is None:
        raise v.Failure(f"{v.type_name(receiver)} has no method `{function.name}`", "TypeError")
    return found


def function_value(run: Run, node: ast.Path, function: sym.FunctionSymbol, frame: Frame) -> v.Value:
    """A function named where a value is wanted."""
    if function.native is not None:
        return v.Function(_body_of(run, function))
    found = run.type_of(node, frame)
    assert isinstance(found, FunctionOf)
    types = written_types(run, node, function, frame)
    generics = generics_of(function)
    parameters = [parameter.type for parameter in function.parameters]
    if function.receiver:
        parameters.insert(0, function.self_type or found.parameters[0])
    for parameter, type_ in zip(parameters, found.parameters, strict=True):
        bind(parameter, type_, generics, types)
    bind(function.result, found.result, generics, types)
    chosen = function
    if isinstance(function.owner, sym.TraitSymbol) and function.owner.self_generic is not None:
        itself = found.parameters[0] if function.receiver else types.get(function.owner.self_generic)
        trait = function.owner
        if isinstance(itself, Generic) and itself.symbol.accepts is not None:

            def by_value(*values: v.Value) -> v.Value:
                chosen, types = _by_value(run, trait, function, values[0])
                return run.invoke(chosen, values, types)

            return v.Function(by_value)
        if itself is not None and has_operator(trait, itself):
            return v.Function(lambda *values: _computed(trait, values))
        chosen, own = _chosen(run, function.owner, function.name, itself, types)
        types = {**types, **own}
    return v.Function(lambda *values: run.invoke(chosen, values, types))


def _native(run: Run, target: an.NativeCall, frame: Frame) -> v.Value:
    changing = CHANGING.get(target.function.native or "")
    values, place = arguments(run, target.arguments, frame, changing is not None)
    if target.type_argument is not None:
        values.append(substitute(target.type_argument, frame.types))
    if changing is None or place is None:
        return _body_of(run, target.function)(*values)
    result, changed = changing(*values)
    place.put(changed)
    return result


def _body_of(run: Run, function: sym.FunctionSymbol) -> Callable[..., v.Value]:
    name = function.native or ""
    if name in WITH_RUN:
        return partial(WITH_RUN[name], run)
    if name not in LIBRARY:
        raise v.Unsupported(f"the library's `{name}`")
    return LIBRARY[name]


def _tool_method(run: Run, target: an.ToolMethodCall, frame: Frame) -> v.Value:
    method = target.method
    declaration = method.decl
    if declaration is None or declaration.body is None:
        raise v.Unsupported(f"the world outside: `{method.qualified}`")
    around = target.tool.node
    for decorator in [
        *declaration.decorators,
        *(around.decorators if isinstance(around, ast.ToolDecl) else ()),
    ]:
        if decorator.name.text not in ("describe", "param"):
            raise v.Unsupported(f"the world outside: @{decorator.name.text}")
    values, _ = arguments(run, target.arguments, frame)
    if len(values) != len(method.parameters):
        raise v.Unsupported("the world outside: a ToolContext")
    types: Types = {}
    if method.receiver:
        values.insert(0, tool_of(run, target.tool))
    return run.invoke(method, values, types)


def _pipeline(run: Run, target: an.PipelineCall, frame: Frame) -> v.Value:
    """Each stage gets what the one before gives, the Ok of a Result; the first error is the pipeline's."""
    values, _ = arguments(run, target.arguments, frame)
    stages = target.pipeline.stages
    errors = [stage.result.arguments[1] for stage in stages if _is_result(stage.result)]  # type: ignore[union-attr]
    for stage in stages:
        node = stage.node
        assert isinstance(node, ast.StageDecl)
        if node.decorators:
            raise v.Unsupported(f"the world outside: @{node.decorators[0].name.text}")
        locals_ = [run.analysis.parameters[parameter] for parameter in node.parameters]
        result = run.body(node.body, Frame({}, dict(zip(locals_, values, strict=True))))
        if isinstance(result, v.Err):
            agree = bool(errors) and all(e == errors[0] for e in errors)
            return result if agree else v.Err(_agent_error(run, result.value))
        values = [result.value if isinstance(result, v.Ok) and _is_result(stage.result) else result]
    return v.Ok(values[0])


def _is_result(type_: Type) -> bool:
    return isinstance(type_, Named) and type_.symbol is RESULT


def _agent_error(run: Run, error: v.Value) -> v.Value:
    return make_error("AgentError", text_of(error), getattr(error, "fields", {}).get("kind"))


def _on_any(run: Run, target: an.DynamicCall, frame: Frame) -> v.Value:
    """By the value that is there."""
    values, place = arguments(run, target.arguments, frame, target.mutable)
    put: Callable[[v.Value], None] = place.put if place is not None else lambda value: None
    return dynamic.call_method(run, values[0], target.name, values[1:], put)


# --- Types that are written in expressions ---


def written_types(run: Run, node: ast.Expr, function: sym.FunctionSymbol, frame: Frame) -> Types:
    """What is written between `<` and `>`, and the type whose function a path names."""
    types: Types = {}
    path = node.callee if isinstance(node, ast.Call) else node
    if isinstance(path, ast.MethodCall):
        given = path.type_arguments
    elif isinstance(path, ast.Path):
        given = path.segments[-1].arguments
        owner = next((found for part in path.segments[-2::-1] if (found := _named(run, part, frame))), None)
        itself = getattr(function.owner, "self_generic", None)
        if owner is not None and itself is not None:
            types[itself] = owner
        elif owner is not None and function.self_type is not None:
            bind(function.self_type, owner, generics_of(function), types)
    else:
        given = []
    for generic, one in zip(function.generics, given, strict=False):
        types[generic] = _type(run, one, frame)
    return types


def _named(run: Run, part: ast.PathSegment, frame: Frame) -> sym.Type | None:
    """The type that a part of a path names, with all its arguments; None for a module or a trait."""
    symbol = _find(run, part.name.text, frame)
    if isinstance(symbol, sym.GenericSymbol):
        return frame.types[symbol]
    count = symbol.arity if isinstance(symbol, sym.BuiltinSymbol) else len(getattr(symbol, "generics", ()))
    if symbol is None or isinstance(symbol, sym.TraitSymbol) or count != len(part.arguments):
        return None
    return _applied(run, symbol, part.arguments, frame)


def _type(run: Run, node: ast.TypeExpr, frame: Frame) -> sym.Type:
    match node:
        case ast.PathType():
            symbol = _find(run, node.segments[-1].text, frame)
            if isinstance(symbol, sym.GenericSymbol):
                return frame.types[symbol]
            return _applied(run, symbol, node.arguments, frame)
        case ast.TupleType():
            return sym.TupleOf(tuple(_type(run, item, frame) for item in node.items))
        case ast.FnType():
            result = bt.NIL if node.result is None else _type(run, node.result, frame)
            return sym.FunctionOf(tuple(_type(run, part, frame) for part in node.parameters), result)
        case _:
            raise Unsupported("a literal union between `<` and `>`")


def _applied(run: Run, symbol: object, written: list[ast.TypeExpr], frame: Frame) -> sym.Type:
    arguments = tuple(_type(run, part, frame) for part in written)
    match symbol:
        case sym.AliasSymbol():
            return substitute(symbol.type, dict(zip(symbol.generics, arguments, strict=True)))
        case sym.BuiltinSymbol() if not arguments:
            return bt.PLAIN_TYPES.get(symbol) or sym.Named(symbol)
        case sym.BuiltinSymbol() | sym.StructSymbol() | sym.EnumSymbol():
            return sym.Named(symbol, arguments)
        case sym.TraitSymbol():
            return bt.ANY  # Values of it are what they are.
        case _:
            raise Unsupported("a written type of an unknown name")


def _find(run: Run, name: str, frame: Frame) -> object:
    """The meaning of a name, if it has but one in the program."""
    for generic in reversed(frame.types):
        if generic.name == name:
            return generic
    analysis = run.analysis
    declared = [each for each in (*analysis.structs, *analysis.enums, *analysis.traits) if each.name == name]
    declared += [
        member
        for module in analysis.modules
        if isinstance(member := module.members.get(name), sym.AliasSymbol)
    ]
    if len(declared) > 1:
        raise Unsupported(f"several types named `{name}`")
    return declared[0] if declared else library().prelude.members.get(name)
