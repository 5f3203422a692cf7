"""One evaluation: what is known of the program, what it has printed, and the way from a node to its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from concerto.semantics.model import symbols as sym
from concerto.semantics.model.analysis import Analysis, Coercion
from concerto.semantics.model.builtins import ANY, FLOAT, NIL, option_of
from concerto.semantics.model.symbols import FunctionOf, Named, Type
from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.errors import make_error
from tests.oracle.fitting import Types, adapted, converted, substitute
from tests.oracle.text import text_of
from tests.oracle.traits import Traits

DEPTH = 100_000
"""How many calls may be open at once."""


class Frame:
    """An activation of a function or closure: its variables, what its generics stand for, the tasks that it
    started."""

    __slots__ = ("locals", "tasks", "types")

    def __init__(self, types: Types, variables: dict[sym.LocalSymbol, v.Value] | None = None) -> None:
        self.types = types
        self.locals: dict[sym.LocalSymbol, v.Value] = {} if variables is None else variables
        self.tasks: list[v.Task] = []


Evaluate = Callable[["Run", Any, Frame], v.Value]
EVALUATORS: dict[type, Evaluate] = {}
E = TypeVar("E", bound=Evaluate)


def evaluates(*classes: type) -> Callable[[E], E]:
    def register(function: E) -> E:
        for each in classes:
            EVALUATORS[each] = function
        return function

    return register


class Run:
    def __init__(self, analysis: Analysis, environment: Mapping[str, str]) -> None:
        self.analysis = analysis
        self.environment = environment
        self.traits = Traits(analysis.impls, analysis.tools)
        self.output: list[str] = []
        self.switches = 0
        """How often something could have gone on beside what runs."""
        self.depth = 0
        self.pending: list[v.Task] = []
        self.tools: dict[sym.ToolSymbol, v.Tool] = {}
        self.states: dict[sym.StateSymbol, v.Value] = {}

    def value(self, node: ast.Expr, frame: Frame) -> v.Value:
        """What an expression gives where it stands, implicit conversions included."""
        evaluate = EVALUATORS.get(node.__class__)
        if evaluate is None:
            raise v.Unsupported(f"the world outside: {type(node).__name__}")
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

    def coerced(self, node: ast.Expr, value: v.Value, coercions: Sequence[Coercion], frame: Frame) -> v.Value:
        found = self.type_of(node, frame)
        for coercion in coercions:
            target = None if coercion.target is None else substitute(coercion.target, frame.types)
            match coercion.kind:
                case "int_to_float":
                    value = float(value)
                case "wrap_some":
                    value = v.Some(value)
                case "check":
                    assert target is not None
                    value = converted(value, target)
                case "iterate":
                    from tests.oracle.library.iterators import PURE

                    value = PURE["Iterator::iter"](value)
                case "function_adapter":
                    assert isinstance(target, FunctionOf) and isinstance(found, FunctionOf)
                    value = adapted(value, found.parameters, target.result)
                case _:
                    assert target is not None
                    value = self.error_as(value, found, target)
        return value

    def error_as(self, error: v.Value, source: Type, target: Type) -> v.Value:
        """An error as one of another type, through `From`."""
        found = self.traits.conversion(source, target)
        if found is not None:
            function, types = found
            return self.invoke(function, (error,), types)
        assert isinstance(target, Named)
        if target.symbol.name == "String":
            return text_of(error)
        return self.library_error(error, target.symbol.name)

    def library_error(self, error: v.Value, name: str) -> v.Value:
        """The conversions between the library's own errors."""
        if isinstance(error, str):
            return make_error(name, error)
        assert isinstance(error, v.Error)
        return make_error(name, error.fields["message"], error.fields["kind"])

    # --- Calls ---

    def invoke(
        self,
        function: sym.FunctionSymbol,
        arguments: Sequence[v.Value],
        types: Types,
        changed: Callable[[v.Value], None] | None = None,
    ) -> v.Value:
        """A call of a function with a body. `changed` gets what a `mut self` method made of its receiver."""
        declaration = function.decl
        if declaration is None or declaration.body is None:
            raise v.Unsupported(f"the world outside: `{function.qualified}`")
        if len(arguments) != len(declaration.parameters):
            raise v.Failure(f"`{function.name}` is called with a wrong number of arguments", "TypeError")
        frame = Frame(types)
        own = None
        for parameter, argument in zip(declaration.parameters, arguments, strict=True):
            local = self.analysis.parameters[parameter]
            frame.locals[local] = argument
            if parameter.pattern is not None:
                from tests.oracle.patterns import matches

                matches(self, parameter.pattern, argument, frame)
            if parameter.name.text == "self":
                own = local
        try:
            result = self.body(declaration.body, frame)
        finally:
            # What was changed before a failure stays changed.
            if changed is not None and own is not None:
                changed(frame.locals[own])
        return None if function.result is NIL else result

    def body(self, node: ast.Expr, frame: Frame) -> v.Value:
        """What the body of a function or closure gives: an error that leaves it becomes an `Err`."""
        if self.depth >= DEPTH:
            raise v.Failure("call depth exceeded", "CallDepth")
        self.depth += 1
        try:
            result = self.value(node, frame)
        except v.Returned as returned:
            result = returned.value
        except v.Thrown as thrown:
            result = v.Err(thrown.error)
        finally:
            self.depth -= 1
        # A task does not outlive the function that spawned it, unless it is returned.
        if frame.tasks and not set(tasks_in(result)).issuperset(frame.tasks):
            self.end_pending()
        return result

    def end_pending(self) -> None:
        """Do the work of all tasks that were started."""
        while self.pending:
            task = self.pending.pop(0)
            if task.state == "waiting":
                task.state = "running"
                try:
                    task.result = task.work()
                except v.Failure:
                    raise v.Unsupported("a task that fails") from None
                task.state = "done"


def tasks_in(value: v.Value) -> list[v.Task]:
    """The tasks that a value holds."""
    parts: Sequence[v.Value]
    match value:
        case v.Task():
            return [value]
        case v.Struct() | v.Variant():
            parts = value.fields
        case v.Some() | v.Ok() | v.Err():
            parts = (value.value,)
        case str() | v.Range():
            return []
        case _:
            parts = v.items_of(value) or ()
    return [task for part in parts for task in tasks_in(part)]


def generics_of(function: sym.FunctionSymbol) -> set[sym.GenericSymbol]:
    """Everything that a call must find a type for."""
    owner = function.owner
    around = list(getattr(owner, "generics", ()))
    itself = getattr(owner, "self_generic", None)
    return {*function.generics, *around, *([itself] if itself is not None else [])}
