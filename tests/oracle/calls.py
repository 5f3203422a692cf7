"""Calls: which function is meant, what its generics stand for, in what order its arguments are evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from concerto.semantics.declare.library import library
from concerto.semantics.model import analysis as an
from concerto.semantics.model import builtins as bt
from concerto.semantics.model import symbols as sym
from concerto.semantics.model.symbols import FunctionOf, Generic, Named, Type
from concerto.semantics.typing.unify import resolve, substitute
from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.access import Place, place_of
from tests.oracle.dynamic import call_method
from tests.oracle.fitting import Types, bind, type_of
from tests.oracle.library import CHANGING
from tests.oracle.numbers import arithmetic, negated
from tests.oracle.run import Frame, Put, evaluates
from tests.oracle.text import text_of


@evaluates(ast.Call, ast.MethodCall)
def call(f: Frame, node: ast.Call | ast.MethodCall | ast.Path) -> v.Value:
    match target := f.analysis.calls.get(node):
        case None if not isinstance(node, ast.Path):
            # Nobody knows the method of a value that never comes: an expression that leaves.
            return f.value(node.receiver if isinstance(node, ast.MethodCall) else node.callee)
        case an.FunctionCall(function) | an.BoundCall(function):
            values, place = arguments(f, target.arguments, function.receiver == "mut self")
            return function_meant(f, node, target)(*values, put=place and place.put)
        case an.NativeCall():
            return _native(f, target)
        case an.DynamicCall(name, given, mutable):
            values, place = arguments(f, given, mutable)
            return call_method(f.run, values[0], name, values[1:], None if place is None else place.put)
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
        case an.EmitCall(awaited=False):
            channel, payload = f.value(target.channel), f.value(target.payload)
            f.run.output.append(f"[emit:{channel}] {text_of(payload)}\n")
            return None
        case an.EmitCall():
            raise v.Unsupported("the world outside: an answer to an emit")
        case an.PanicCall(message):
            raise v.Panicked(*arguments(f, [message])[0])
        case an.PipelineCall():
            return _pipeline(f, target)
        case _:
            raise v.Unsupported(f"the world outside: {type(target).__name__}")


def arguments(
    f: Frame, given: Sequence[an.Given], changed: bool = False
) -> tuple[list[v.Value], Place | None]:
    """The values of arguments, evaluated as they are written, then those that were left out. With `changed`
    the first is a place: what stands there is taken when all others are known."""
    values: dict[int, v.Value] = {}
    place = None
    written = [i for i, one in enumerate(given) if not isinstance(one, an.Default)]
    left_out = [i for i in range(len(given)) if i not in written]
    for i in sorted(written, key=lambda i: cast(ast.Expr, given[i]).start) + left_out:
        one = given[i]
        if isinstance(one, an.Default):
            values[i] = f.run.default(one.parameter.default)
        elif changed and i == 0:
            place = place_of(f, one)
            # An element that is not there is missed before the other arguments are looked at.
            place.get()
        else:
            values[i] = f.value(one)
    if place is not None:
        values[0] = place.get()
    return [values[i] for i in range(len(given))], place


# --- Which function is meant ---


def function_meant(f: Frame, node: ast.Expr, target: an.CallTarget) -> v.Function:
    assert isinstance(target, an.FunctionCall | an.BoundCall)
    function, known = target.function, Types()
    given = [None if isinstance(one, an.Default) else f.type_after(one) for one in target.arguments]
    if function.receiver and isinstance(function.owner, sym.TraitSymbol):
        # What is known of a generic is its bounds, which tell the arguments of the trait.
        static = resolve(f.analysis.types[cast(ast.Expr, target.arguments[0])])
        bounds = static.symbol.bounds if isinstance(static, Generic) else []
        uses = [bound.arguments for bound in bounds if bound.trait is function.owner]
        if len(uses) == 1:
            known = {
                g: substitute(one, f.types) for g, one in zip(function.owner.generics, *uses, strict=True)
            }
    return _Use(f, node, given, f.type_of(node)).of(function, known)


def function_value(f: Frame, node: ast.Path, function: sym.FunctionSymbol) -> v.Function:
    """A function named where a value is wanted."""
    if function.native is not None:
        return f.run.native(function.native)
    found = f.type_of(node)
    assert isinstance(found, FunctionOf)
    return _Use(f, node, found.parameters, found.result).of(function, {})


@dataclass
class _Use:
    """A node that means a function, with the types that its arguments and its result have there."""

    f: Frame
    node: ast.Expr
    given: Sequence[Type | None]
    result: Type

    def of(self, function: sym.FunctionSymbol, known: Types) -> v.Function:
        """What the function does; one of a trait for the type of receiver, path or result."""
        run, trait, types = self.f.run, function.owner, self._generics(function, known)
        if not isinstance(trait, sym.TraitSymbol) or trait.self_generic is None:
            return lambda *values, put=None: run.invoke(function, types, values, put)
        itself = self.given[0] if function.receiver else types.get(trait.self_generic)
        use = sym.TraitUse(trait, tuple(types[generic] for generic in trait.generics if generic in types))

        def of_trait(*values: v.Value, put: Put | None = None) -> v.Value:
            if (computed := _computed(trait, values)) is not None:
                return computed
            if isinstance(itself, Named) and itself.symbol is bt.ITERATOR:
                return v.first(values[0])
            if isinstance(itself, Generic) and itself.symbol.accepts is not None:
                # The trait is used as a type: the value tells whose function it is.
                found = run.traits.method(sym.TraitUse(trait), type_of(values[0]), function.name)
            else:
                found = None if itself is None else run.traits.method(use, itself, function.name)
                found = found and (found[0], self._generics(*found))
            if found is None:
                raise v.Failure(f"{v.type_name(values[0])} has no method `{function.name}`", "TypeError")
            return run.invoke(*found, values, put)

        return of_trait

    def _generics(self, function: sym.FunctionSymbol, known: Types) -> Types:
        """What the generics of a function and around it stand for."""
        itself = getattr(function.owner, "self_generic", None)
        generics = {*function.generics, *getattr(function.owner, "generics", ()), *filter(None, [itself])}
        types = {**known, **_written(self.f, self.node, function, generics)}
        parameters = [parameter.type for parameter in function.parameters]
        if function.receiver:
            parameters.insert(0, function.self_type or bt.NEVER)
        for parameter, one in zip(parameters, self.given, strict=True):
            if one is not None:
                bind(parameter, one, generics, types)
        bind(function.result, self.result, generics, types)
        return types


def _computed(trait: sym.TraitSymbol, operands: Sequence[v.Value]) -> v.Value | None:
    """What the operator of a trait makes of numbers or texts; None of other values."""
    if not all(map(v.is_number, operands)) and not all(isinstance(one, str) for one in operands):
        return None
    signs = [sign for sign, of_trait in bt.OPERATORS.items() if of_trait is trait]
    return arithmetic(*signs, *operands) if signs else negated(*operands) if trait is bt.NEG else None


# --- Bodies that are no function's ---


def _native(f: Frame, target: an.NativeCall) -> v.Value:
    name = target.function.native or ""
    values, place = arguments(f, target.arguments, name in CHANGING)
    if target.type_argument is not None:
        values.append(substitute(target.type_argument, f.types))
    if place is None:
        return f.run.native(name)(*values)
    result, changed = CHANGING[name](*values)
    place.put(changed)
    return result


def _tool_method(f: Frame, target: an.ToolMethodCall) -> v.Value:
    method = target.method
    for node in (method.node, target.tool.node):
        for decorator in node.decorators if isinstance(node, ast.FnDecl | ast.ToolDecl) else ():
            if decorator.name.text not in ("describe", "param"):
                raise v.Unsupported(f"the world outside: @{decorator.name.text}")
    values, _ = arguments(f, target.arguments)
    if len(values) != len(method.parameters):
        raise v.Unsupported("the world outside: a ToolContext")
    return f.run.invoke(method, {}, [f.run.handle(target.tool), *values] if method.receiver else values)


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
        frame = Frame(f.run, {})
        frame.take(stage.name, node.parameters, values)
        values = [frame.body(node.body)]
        match values[0]:
            case v.Data("Err") if errors and errors.count(errors[0]) == len(errors):
                return values[0]
            case v.Data("Err", (error,)):
                kind = v.field(error, "kind") if v.is_error(error) else None
                return v.err(v.make_error("AgentError", text_of(error), kind))
            case v.Data("Ok", (value,)) if bt.result_parts(stage.result):
                values = [value]
    return v.ok(values[0])


# --- Types that are written: between `<` and `>`, and at the beginning of a path ---


def _written(
    f: Frame, node: ast.Expr, function: sym.FunctionSymbol, generics: set[sym.GenericSymbol]
) -> Types:
    """What a call or a function's name says of the generics of the function."""
    path = node.callee if isinstance(node, ast.Call) else node
    types: Types = {}
    given = path.type_arguments if isinstance(path, ast.MethodCall) else []
    if isinstance(path, ast.Path):
        *around, last = path.segments
        given = last.arguments
        owners = (_named(f, part.name.text, part.arguments) for part in reversed(around))
        owner = next((found for found in owners if found not in (None, bt.ANY)), None)
        if owner is not None and function.self_type is not None:
            bind(function.self_type, owner, generics, types)
    return types | {generic: _type(f, one) for generic, one in zip(function.generics, given, strict=False)}


def _type(f: Frame, node: ast.TypeExpr) -> Type:
    match node:
        case ast.PathType() if (found := _named(f, node.segments[-1].text, node.arguments)) is not None:
            return found
        case ast.TupleType():
            return sym.TupleOf(tuple(_type(f, item) for item in node.items))
        case ast.FnType():
            result = bt.NIL if node.result is None else _type(f, node.result)
            return FunctionOf(tuple(_type(f, part) for part in node.parameters), result)
        case _:
            raise v.Unsupported("a literal union or an unknown type between `<` and `>`")


def _named(f: Frame, name: str, arguments: Sequence[ast.TypeExpr]) -> Type | None:
    """The type of a name with its arguments; None for a module, and without the arguments that it needs."""
    symbol = _find(f, name)
    given = tuple(_type(f, part) for part in arguments)
    match symbol:
        case sym.GenericSymbol():
            return f.types[symbol]
        case sym.TraitSymbol():
            return bt.ANY  # Values of it are what they are.
        case sym.BuiltinSymbol() if symbol.arity == len(given):
            return bt.PLAIN_TYPES.get(symbol) or Named(symbol, given)
        case sym.StructSymbol() | sym.EnumSymbol() if len(symbol.generics) == len(given):
            return Named(symbol, given)
        case sym.AliasSymbol() if len(symbol.generics) == len(given):
            return substitute(symbol.type, dict(zip(symbol.generics, given, strict=True)))
        case _:
            return None


def _find(f: Frame, name: str) -> object:
    """The meaning of a name, if it has but one in the program."""
    members = [member for module in f.analysis.modules for member in module.members.values()]
    declared: list[sym.Symbol] = [*f.analysis.structs, *f.analysis.enums, *f.analysis.traits]
    declared += [member for member in members if isinstance(member, sym.AliasSymbol)]
    found = [symbol for symbol in (*reversed(f.types), *declared) if symbol.name == name]
    if len(found) > 1 and not isinstance(found[0], sym.GenericSymbol):
        raise v.Unsupported(f"several types named `{name}`")
    return found[0] if found else library().prelude.members.get(name)
