"""One evaluation: what is known of the program, what it has printed, and the way from a node to its value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from concerto.semantics.model.analysis import Analysis, Coercion
from concerto.semantics.model.builtins import ANY, FLOAT, NIL, option_of
from concerto.semantics.model.symbols import (
    FunctionSymbol,
    GenericSymbol,
    LocalSymbol,
    StateSymbol,
    ToolSymbol,
)
from concerto.semantics.model.types import FunctionOf, Named, Type
from concerto.syntax import ast
from tests.oracle.errors import make_error
from tests.oracle.text import text_of
from tests.oracle.traits import Traits
from tests.oracle.types import Types, converted, substitute
from tests.oracle.values import (
    Err,
    Error,
    Failure,
    Function,
    Returned,
    Some,
    Thrown,
    Tool,
    Unsupported,
    Value,
)

DEPTH = 100_000
"""How many calls may be open at once."""


class Frame:
    """An activation of a function or closure: its variables, what its generics stand for, how many `try`
    blocks are open."""

    __slots__ = ("locals", "result", "tries", "types")

    def __init__(self, types: Types, variables: dict[LocalSymbol, Value] | None = None) -> None:
        self.types = types
        self.locals: dict[LocalSymbol, Value] = {} if variables is None else variables
        self.tries = 0


Evaluate = Callable[["Run", Any, Frame], Value]
EVALUATORS: dict[type, Evaluate] = {}
E = TypeVar("E", bound=Evaluate)


def evaluates(*classes: type) -> Callable[[E], E]:
    def register(function: E) -> E:
        for each in classes:
            EVALUATORS[each] = function
        return function

    return register


class Run:
    def __init__(self, analysis: Analysis, arguments: Sequence[str] = ()) -> None:
        self.analysis = analysis
        self.arguments = tuple(arguments)
        self.traits = Traits(analysis.impls)
        self.output: list[str] = []
        self.depth = 0
        self.tools: dict[ToolSymbol, Tool] = {}
        self.states: dict[StateSymbol, Value] = {}

    def value(self, node: ast.Expr, frame: Frame) -> Value:
        """What an expression gives where it stands, implicit conversions included."""
        evaluate = EVALUATORS.get(node.__class__)
        if evaluate is None:
            raise Unsupported(type(node).__name__)
        found = evaluate(self, node, frame)
        coercions = self.analysis.coercions.get(node)
        return found if coercions is None else self.coerced(node, found, coercions, frame)

    # --- Types ---

    def type_of(self, node: ast.Node, frame: Frame) -> Type:
        """The type of an expression before its conversions."""
        return substitute(self.analysis.types.get(node, ANY), frame.types)

    def type_after(self, node: ast.Node, frame: Frame) -> Type:
        """The type of an expression where it stands."""
        type_ = self.type_of(node, frame)
        for coercion in self.analysis.coercions.get(node, ()):
            if coercion.kind == "int_to_float":
                type_ = FLOAT
            elif coercion.kind == "wrap_some":
                type_ = option_of(type_)
            elif coercion.target is not None:
                type_ = substitute(coercion.target, frame.types)
        return type_

    # --- Conversions ---

    def coerced(self, node: ast.Expr, value: Value, coercions: Sequence[Coercion], frame: Frame) -> Value:
        found = self.type_of(node, frame)
        for coercion in coercions:
            target = None if coercion.target is None else substitute(coercion.target, frame.types)
            match coercion.kind:
                case "int_to_float":
                    value = float(value)
                case "wrap_some":
                    value = Some(value)
                case "check":
                    assert target is not None
                    value = converted(value, target)
                case "function_adapter":
                    assert isinstance(target, FunctionOf) and isinstance(found, FunctionOf)
                    value = adapted(value, found, target)
                case _:
                    assert target is not None
                    value = self.error_as(value, found, target)
        return value

    def error_as(self, error: Value, source: Type, target: Type) -> Value:
        """An error as one of another type, through `From`."""
        found = self.traits.conversion(source, target)
        if found is not None:
            function, types = found
            return self.invoke(function, (error,), types)
        assert isinstance(target, Named)
        if target.symbol.name == "String":
            return text_of(error)
        return self.library_error(error, target.symbol.name)

    def library_error(self, error: Value, name: str) -> Value:
        """The conversions between the library's own errors."""
        if isinstance(error, str):
            return make_error(name, error)
        assert isinstance(error, Error)
        return make_error(name, error.fields["message"], error.fields["kind"])

    # --- Calls ---

    def invoke(
        self,
        function: FunctionSymbol,
        arguments: Sequence[Value],
        types: Types,
        changed: Callable[[Value], None] | None = None,
    ) -> Value:
        """A call of a function with a body. `changed` gets what a `mut self` method made of its receiver."""
        declaration = function.decl
        if declaration is None or declaration.body is None:
            raise Unsupported(f"`{function.qualified}`, which has no body")
        if len(arguments) != len(declaration.parameters):
            raise Failure(f"`{function.name}` is called with a wrong number of arguments", "TypeError")
        frame = Frame(types)
        own = None
        for parameter, argument in zip(declaration.parameters, arguments, strict=True):
            local = self.analysis.parameters[parameter]
            frame.locals[local] = argument
            if parameter.name.text == "self":
                own = local
        try:
            result = self.body(declaration.body, frame)
            return None if function.result is NIL else result
        finally:
            if changed is not None and own is not None:
                changed(frame.locals[own])

    def body(self, node: ast.Expr, frame: Frame) -> Value:
        """What the body of a function or closure gives: an error that leaves it becomes an `Err`."""
        if self.depth >= DEPTH:
            raise Failure("call depth exceeded", "CallDepth")
        self.depth += 1
        try:
            return self.value(node, frame)
        except Returned as returned:
            return returned.value
        except Thrown as thrown:
            return Err(thrown.error)
        finally:
            self.depth -= 1


def adapted(value: Value, found: FunctionOf, target: FunctionOf) -> Value:
    """A function as one of another type: what it gets and gives is converted on the way."""
    if not isinstance(value, Function):
        raise Failure("only a function can be called", "TypeError")

    def call(*arguments: Value) -> Value:
        if len(arguments) != len(found.parameters):
            raise Failure("`{function}` is called with a wrong number of arguments", "TypeError")
        given = [converted(a, t) for a, t in zip(arguments, found.parameters, strict=True)]
        return converted(value.call(*given), target.result)

    return Function(call)


def generics_of(function: FunctionSymbol) -> set[GenericSymbol]:
    """Everything that a call must find a type for."""
    owner = function.owner
    around = list(getattr(owner, "generics", ()))
    itself = getattr(owner, "self_generic", None)
    return {*function.generics, *around, *([itself] if itself is not None else [])}
