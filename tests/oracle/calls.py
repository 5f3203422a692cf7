"""Calls: which function is meant, what its generics stand for, in what order its arguments are evaluated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import cast

from concerto.semantics.declare.library import library
from concerto.semantics.model import analysis as an
from concerto.semantics.model import builtins as bt
from concerto.semantics.model import symbols as sym
from concerto.semantics.typing.members import provided_for
from concerto.semantics.typing.traits import substitute_bound
from concerto.semantics.typing.unify import resolve, substitute
from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.fitting import Types, bind, converted, type_of
from tests.oracle.library.sequences import through
from tests.oracle.numbers import arithmetic
from tests.oracle.run import Frame, Put, Run


def call(f: Frame, node: ast.Call | ast.MethodCall | ast.Path) -> v.Value:
    match target := f.analysis.calls.get(node):
        case None if not isinstance(node, ast.Path):
            # Nobody knows the method of a value that never comes: an expression that leaves.
            return f.value(node.receiver if isinstance(node, ast.MethodCall) else node.callee)
        case an.FunctionCall(function) | an.BoundCall(function):
            values, put = arguments(f, target.arguments, function.receiver == "mut self")
            return function_meant(f, node, target)(*values, put=put)
        case an.NativeCall(function, given, of):
            values, put = arguments(f, given, function.receiver == "mut self")
            types = [] if of is None else [substitute(of, f.types)]
            return f.run.native(function, [*values, *types], put)
        case an.DynamicCall(name, given, mutable):
            (receiver, *others), put = arguments(f, given, mutable)
            return _call_method(f.run, receiver, name, others, put)
        case an.ValueCall():
            callee = f.value(target.callee)
            values, _ = arguments(f, target.arguments)
            v.demand(callable(callee), f"{v.type_name(callee)} cannot be called", "TypeError")
            return callee(*values)
        case an.ConstructorCall(kind, given):
            return v.Data(kind, *arguments(f, given)[0])
        case an.WrapCall(kind, one):
            return v.Data(kind, *arguments(f, [one])[0])
        case an.ToolMethodCall():
            return _tool_method(f, target)
        case an.EmitCall(channel, payload, awaited=False):
            f.run.output.append(f"[emit:{f.value(channel)}] {v.text_of(f.value(payload))}\n")
            return None
        case an.PanicCall(message):
            raise v.Panicked(*arguments(f, [message])[0])
        case an.PipelineCall():
            return _pipeline(f, target)
        case _:
            raise v.Unsupported(f"the world outside: {type(target).__name__}")


def arguments(f: Frame, given: Sequence[an.Given], changed: bool = False) -> tuple[list[v.Value], Put | None]:
    """Arguments as they are written, then defaults; what stands in a place that is changed comes last."""
    values: dict[an.Given, v.Value] = {}
    get = put = None
    for one in sorted(given, key=lambda one: getattr(one, "start", math.inf)):
        if isinstance(one, an.Default):
            values[one] = f.run.default(one.parameter.default)
        elif changed and one is given[0]:
            get, put = f.place(one)
            # An element that is not there is missed before the other arguments are looked at.
            get()
        else:
            values[one] = f.value(one)
    if get is not None:
        values[given[0]] = get()
    return [values[one] for one in given], put


def function_meant(f: Frame, node: ast.Expr, target: an.CallTarget) -> v.Function:
    assert isinstance(target, an.FunctionCall | an.BoundCall)
    function, known = target.function, Types()
    given = [bt.NEVER if isinstance(one, an.Default) else f.types_of(one)[-1] for one in target.arguments]
    if function.receiver and isinstance(function.owner, sym.TraitSymbol):
        # What is known of a generic is its bounds, which tell the arguments of the trait.
        static = resolve(f.analysis.types[cast(ast.Expr, target.arguments[0])])
        bounds = static.symbol.bounds if isinstance(static, sym.Generic) else []
        uses = [bound for bound in bounds if bound.trait is function.owner]
        if len(uses) == 1:
            known = provided_for(substitute_bound(uses[0], f.types), substitute(static, f.types))
    return _function(f, node, function, [*given, f.type_of(node)], known)


def function_value(f: Frame, node: ast.Node, function: sym.FunctionSymbol) -> v.Function:
    """A function named where a value is wanted."""
    if function.native is not None:
        return lambda *values: f.run.native(function, values)
    found = f.type_of(node)
    assert isinstance(found, sym.FunctionOf)
    return _function(f, node, function, [*found.parameters, found.result], {})


def _bind_by_bounds(run: Run, generics: Sequence[sym.GenericSymbol], types: Types) -> None:
    """What only bounds tell: with `V: Visitor<R>` the impl for V says what R is."""
    for generic, bound in [(one, bound) for one in generics if one in types for bound in one.bounds]:
        if all(isinstance(part, sym.Generic) and part.symbol in types for part in bound.arguments):
            continue
        for impl, held in run.impls.serving(types[generic], sym.TraitUse(bound.trait)):
            assert impl.trait is not None
            given = substitute_bound(impl.trait, held).arguments
            for part, found in zip(bound.arguments, given, strict=True):
                bind(part, found, types)


def _function(
    f: Frame, node: ast.Node, function: sym.FunctionSymbol, parts: Sequence[sym.Type], known: Types
) -> v.Function:
    """The function as the node means it, with such arguments and result: a trait's for one type."""
    run, trait = f.run, function.owner

    def generics(function: sym.FunctionSymbol, known: Types) -> Types:
        """What the generics of a function and around it stand for."""
        types = {**known, **_written(f, node, function)}
        receiver = [function.self_type or bt.NEVER] if function.receiver else []
        parameters = [*receiver, *(parameter.type for parameter in function.parameters), function.result]
        for parameter, one in zip(parameters, parts, strict=True):
            bind(parameter, one, types)
        _bind_by_bounds(f.run, function.generics, types)
        return types

    types = generics(function, known)
    if not isinstance(trait, sym.TraitSymbol) or trait.self_generic is None:
        return lambda *values, put=None: run.invoke((function, types), values, put)
    itself = parts[0] if function.receiver else types.get(trait.self_generic, bt.ANY)
    use = sym.TraitUse(trait, tuple(types[generic] for generic in trait.generics if generic in types))

    def of_trait(*values: v.Value, put: Put | None = None) -> v.Value:
        if isinstance(itself, sym.Generic) and itself.symbol.accepts is not None:
            # The trait is used as a type: the value tells whose function it is.
            found = run.impls.method(type_of(values[0]), function.name, sym.TraitUse(trait))
        else:
            found = run.impls.method(itself, function.name, use)
            found = found and (found[0], generics(*found))
        if found is not None:
            return run.invoke(found, values, put)
        if trait in bt.OPERATOR_TRAITS:
            return arithmetic(next((sign for sign, of in bt.OPERATORS.items() if of is trait), "-"), *values)
        return _call_method(run, values[0], function.name, values[1:], put)

    return of_trait


def _call_method(run: Run, receiver: v.Value, name: str, arguments: v.Values, put: Put | None) -> v.Value:
    """Of a value of type Any: a method of its type, then what all values have, then one of an iterator."""
    native = _library_methods().get((v.type_name(receiver), name))
    if native is None and (own := run.impls.method(type_of(receiver), name)) is not None:
        function, types = own
        given = _given(run, function, types, arguments)
        for parameter, value in zip(function.parameters, given, strict=True):
            bind(parameter.type, type_of(value), types)
        return run.invoke((function, types), [receiver, *given], put)
    if native is None and len(arguments) == _OF_ALL.get(name):
        return run.library[f"std::prelude::{name}"](receiver, *arguments)
    if native is None and name != "next" and not isinstance(receiver, str) and through(receiver) is not None:
        native = _library_methods().get(("Iterator", name))
    if native is None:
        raise v.Failure(f"{v.type_name(receiver)} has no method `{name}`", "TypeError")
    given = [receiver, *_given(run, native, {}, arguments), *([bt.ANY] if native.reified else [])]
    return run.native(native, given, put)


_OF_ALL = {"to_string": 0, "compare": 1, "equals": 1, "hash": 0}
"""Methods of all values, with their number of arguments."""


def _given(run: Run, function: sym.FunctionSymbol, types: Types, arguments: v.Values) -> list[v.Value]:
    """The arguments as their parameters want them, defaults for those that were left out."""
    left_out = [parameter.default for parameter in function.parameters[len(arguments) :]]
    if len(arguments) > len(function.parameters) or None in left_out:
        v.same_number(function.name, arguments, function.parameters)
    known = types if isinstance(function.owner, sym.TraitSymbol) else {}
    # The library knows no more of a generic than an Any tells.
    of = function.self_type
    parts = of.arguments if function.native is not None and isinstance(of, sym.Named) else ()
    generics = [*function.generics, *(part.symbol for part in parts if isinstance(part, sym.Generic))]
    known = known if function.native is None else dict.fromkeys(generics, bt.ANY)
    wanted = [substitute(parameter.type, known) for parameter in function.parameters]
    return [*map(converted, arguments, wanted), *map(run.default, left_out)]


@cache
def _library_methods() -> Mapping[tuple[str, str], sym.FunctionSymbol]:
    """The methods of built-in types, by the type's name and their own."""
    impls = library().declarations.analysis.impls
    methods = {(impl.name, name): method for impl in impls for name, method in impl.methods.items()}
    return {names: method for names, method in methods.items() if method.receiver}


def own_method(run: Run, value: v.Value, trait: sym.TraitSymbol) -> v.Function | None:
    """What an impl of a trait of the machine's has for a struct or enum."""
    if not isinstance(value, v.Data) or isinstance(value.kind, str) or trait not in run.impls.traits:
        return None
    for impl, types in run.impls.serving(type_of(value), sym.TraitUse(trait)):
        (function,) = impl.methods.values()
        return lambda *others, changed=None: run.invoke((function, types), [value, *others], changed)
    return None


def _tool_method(f: Frame, target: an.ToolMethodCall) -> v.Value:
    method = target.method
    for node in (method.node, target.tool.node):
        for decorator in node.decorators if isinstance(node, ast.FnDecl | ast.ToolDecl) else ():
            if decorator.name.text not in ("describe", "param"):
                raise v.Unsupported(f"the world outside: @{decorator.name.text}")
    values, _ = arguments(f, target.arguments)
    if len(values) != len(method.parameters):
        raise v.Unsupported("the world outside: a ToolContext")
    trait = target.tool.trait
    types = {} if trait is None else provided_for(trait, sym.Named(target.tool.state))
    for parameter, given in zip(method.parameters, target.arguments, strict=True):
        if not isinstance(given, an.Default):
            bind(parameter.type, f.types_of(given)[-1], types)
    return f.run.invoke((method, types), [f.run.handle(target.tool), *values] if method.receiver else values)


def _pipeline(f: Frame, target: an.PipelineCall) -> v.Value:
    """Each stage gets what the one before gives, the Ok of a Result; the first error is the pipeline's."""
    values, _ = arguments(f, target.arguments)
    stages = target.pipeline.stages
    errors = [found[1] for stage in stages if (found := bt.result_parts(stage.result))]
    for stage in stages:
        node = stage.node
        assert isinstance(node, ast.StageDecl)
        if node.decorators:
            raise v.Unsupported(f"the world outside: @{node.decorators[0].name.text}")
        values = [Frame(f.run, {}).call(stage.name, node, values)]
        match values[0]:
            case v.Data("Err") if errors and errors.count(errors[0]) == len(errors):
                return values[0]
            case v.Data("Err", (error,)):
                kind = v.field(error, "kind") if v.is_error(error) else None
                return v.err(v.make_error("AgentError", v.text_of(error), kind))
            case v.Data("Ok", (value,)) if bt.result_parts(stage.result):
                values = [value]
    return v.ok(values[0])


def _written(f: Frame, node: ast.Node, function: sym.FunctionSymbol) -> Types:
    """What a call or a function's name says of the generics: between `<` and `>`, or before the last `::`."""
    path = node.callee if isinstance(node, ast.Call) else node
    types: Types = {}
    given = path.type_arguments if isinstance(path, ast.MethodCall) else []
    if isinstance(path, ast.Path):
        *around, last = path.segments
        given = last.arguments
        owners = (_named(f, part.name.text, part.arguments) for part in reversed(around))
        owner = next((found for found in owners if found not in (None, bt.ANY)), None)
        if owner is not None and function.self_type is not None:
            bind(function.self_type, owner, types)
    return types | {generic: _type(f, one) for generic, one in zip(function.generics, given, strict=False)}


def _type(f: Frame, node: ast.TypeExpr) -> sym.Type:
    match node:
        case ast.PathType() if (found := _named(f, node.segments[-1].text, node.arguments)) is not None:
            return found
        case ast.TupleType():
            return sym.TupleOf(tuple(_type(f, item) for item in node.items))
        case ast.FnType():
            result = bt.NIL if node.result is None else _type(f, node.result)
            return sym.FunctionOf(tuple(_type(f, part) for part in node.parameters), result)
        case _:
            raise v.Unsupported("a literal union or an unknown type between `<` and `>`")


def _named(f: Frame, name: str, arguments: Sequence[ast.TypeExpr]) -> sym.Type | None:
    """The type of a name with its arguments; None for a module, and without the arguments that it needs."""
    kinds = sym.StructSymbol | sym.EnumSymbol | sym.TraitSymbol | sym.AliasSymbol
    declared = [one for part in f.analysis.modules for one in part.members.values() if isinstance(one, kinds)]
    found = [symbol for symbol in (*reversed(f.types), *declared) if symbol.name == name]
    if len(found) > 1 and not isinstance(found[0], sym.GenericSymbol):
        raise v.Unsupported(f"several types named `{name}`")
    symbol: object = found[0] if found else library().prelude.members.get(name)
    given = tuple(_type(f, part) for part in arguments)
    match symbol:
        case sym.GenericSymbol():
            return f.types[symbol]
        case sym.TraitSymbol():
            return bt.ANY  # Values of it are what they are.
        case sym.BuiltinSymbol() if symbol.arity == len(given):
            return bt.PLAIN_TYPES.get(symbol) or sym.Named(symbol, given)
        case sym.StructSymbol() | sym.EnumSymbol() if len(symbol.generics) == len(given):
            return sym.Named(symbol, given)
        case sym.AliasSymbol() if len(symbol.generics) == len(given):
            return substitute(symbol.type, dict(zip(symbol.generics, given, strict=True)))
        case _:
            return None
