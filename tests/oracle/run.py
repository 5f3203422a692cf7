"""One evaluation: what is known of the program, what it has printed, and the way from a node to its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from concerto.semantics.model import symbols as sym
from concerto.semantics.model.analysis import Analysis, Coercion
from concerto.semantics.model.builtins import ANY, FLOAT, NIL, STRING, option_of
from concerto.semantics.model.symbols import FunctionOf, Named, Type
from concerto.semantics.typing.unify import substitute
from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.access import matches
from tests.oracle.fitting import Traits, Types, adapted, converted
from tests.oracle.library import LIBRARY, of_run
from tests.oracle.library.state import HashMap, Ledger, Memory
from tests.oracle.text import text_of

DEPTH = 100_000
"""How many calls may be open at once."""

Put = Callable[[v.Value], None]
E = TypeVar("E", bound=Callable[["Frame", Any], v.Value])
EVALUATORS: dict[type, Callable[[Frame, Any], v.Value]] = {}


def evaluates(*classes: type) -> Callable[[E], E]:
    def register(function: E) -> E:
        EVALUATORS.update(dict.fromkeys(classes, function))
        return function

    return register


class Run:
    def __init__(self, analysis: Analysis, environment: Mapping[str, str]) -> None:
        self.analysis = analysis
        self.environment = environment
        self.traits = Traits(analysis)
        self.library: v.Functions = {**LIBRARY, **of_run(self)}
        self.output: list[str] = []
        self.switches = 0
        """How often something could have gone on beside what runs."""
        self.depth = 0
        self.pending: list[v.Task] = []
        self.given: list[v.Task] = []
        """Tasks in what functions returned, whose callers have them now."""
        self._handles: dict[sym.Symbol, v.Value] = {}

    def invoke(
        self, function: sym.FunctionSymbol, types: Types, given: Sequence[v.Value], changed: Put | None = None
    ) -> v.Value:
        """A call of a function with a body. `changed` gets what a `mut self` method made of its receiver."""
        declaration = function.decl
        if declaration is None or declaration.body is None:
            raise v.Unsupported(f"the world outside: `{function.qualified}`")
        frame = Frame(self, types)
        frame.take(function.name, declaration.parameters, given)
        try:
            result = frame.body(declaration.body)
        finally:
            # What was changed before a failure stays changed.
            if changed is not None and function.receiver == "mut self":
                changed(frame.locals[self.analysis.parameters[declaration.parameters[0]]])
        return None if function.result is NIL else result

    def native(self, name: str) -> v.Function:
        if name not in self.library:
            raise v.Unsupported(f"the library's `{name}`")
        return self.library[name]

    def default(self, node: ast.Expr | None) -> v.Value:
        """What stands for something that was left out."""
        return v.NONE if node is None else Frame(self, {}).value(node)

    def handle(self, symbol: sym.ToolSymbol | sym.StateSymbol) -> v.Value:
        """The tool, hashmap, ledger or memory that a declaration made."""
        if symbol not in self._handles:
            self._handles[symbol] = self._made(symbol)
        return self._handles[symbol]

    def _made(self, symbol: sym.ToolSymbol | sym.StateSymbol) -> v.Value:
        if isinstance(symbol, sym.ToolSymbol):
            return v.Tool(symbol.name, [self.default(field.default) for field in symbol.state.fields])
        if "persistence" in symbol.settings:
            raise v.Unsupported("the world outside: files")
        if symbol.keyword == "memory":
            return Memory(int(str(symbol.settings.get("capacity", 0))))
        return {"hashmap": HashMap, "ledger": Ledger}[symbol.keyword](str(symbol.settings.get("scope", "")))

    def end_pending(self) -> None:
        """Do the work of all tasks that were started."""
        while self.pending:
            task = self.pending.pop(0)
            try:
                task.result = task.work()
            except v.Failure:
                raise v.Unsupported("a task that fails") from None
            task.done = True


class Frame:
    """An activation of a function or closure: its variables, what its generics stand for, the tasks that it
    started."""

    def __init__(self, run: Run, types: Types, variables: Mapping[sym.LocalSymbol, v.Value] = {}) -> None:
        self.run = run
        self.analysis = run.analysis
        self.types = types
        self.locals = dict(variables)
        self.tasks: list[v.Task] = []

    def value(self, node: ast.Expr) -> v.Value:
        """What an expression gives where it stands, implicit conversions included."""
        evaluate = EVALUATORS.get(node.__class__)
        if evaluate is None:
            raise v.Unsupported(f"the world outside: {type(node).__name__}")
        return self.coerced(node, evaluate(self, node))

    def values(self, nodes: Sequence[ast.Expr]) -> tuple[v.Value, ...]:
        return tuple([self.value(node) for node in nodes])

    def take(self, name: str, parameters: Sequence[ast.Parameter], arguments: Sequence[v.Value]) -> None:
        """The arguments of a call become its variables."""
        v.same_number(name, arguments, parameters)
        for parameter, argument in zip(parameters, arguments, strict=True):
            self.locals[self.analysis.parameters[parameter]] = argument
            if parameter.pattern is not None:
                matches(self, parameter.pattern, argument)

    def body(self, node: ast.Expr) -> v.Value:
        """What the body of a function or closure gives: an error that leaves it becomes an `Err`."""
        v.demand(self.run.depth < DEPTH, "call depth exceeded", "CallDepth")
        self.run.depth += 1
        given = len(self.run.given)
        try:
            result = self.value(node)
        except v.Leave as left:
            result = v.err(left.value) if left.how == "throw" else left.value
        finally:
            self.run.depth -= 1
        # A task does not outlive the function that spawned it, unless it is returned: then it is the caller's.
        own = {*self.tasks, *self.run.given[given:]}
        del self.run.given[given:]
        if own.issubset(_tasks_in(result)):
            self.run.given.extend(own)
        else:
            self.run.end_pending()
        return result

    # --- Types and conversions ---

    def type_of(self, node: ast.Node) -> Type:
        """The type of an expression before its conversions."""
        return substitute(self.analysis.types.get(node, ANY), self.types)

    def type_after(self, node: ast.Node) -> Type:
        """The type of an expression where it stands."""
        type_ = self.type_of(node)
        for coercion in self.analysis.coercions.get(node, ()):
            type_ = self._target(coercion, type_)
        return type_

    def _target(self, coercion: Coercion, type_: Type) -> Type:
        if coercion.target is not None:
            return substitute(coercion.target, self.types)
        return {"int_to_float": FLOAT, "wrap_some": option_of(type_)}.get(coercion.kind, type_)

    def coerced(self, node: ast.Node, value: v.Value) -> v.Value:
        for coercion in self.analysis.coercions.get(node, ()):
            found = self.type_of(node)
            target = self._target(coercion, found)
            match coercion.kind:
                case "int_to_float":
                    value = float(value)
                case "wrap_some":
                    value = v.some(value)
                case "check":
                    value = converted(value, target)
                case "iterate":
                    value = LIBRARY["Iterator::iter"](value)
                case "function_adapter":
                    assert isinstance(target, FunctionOf) and isinstance(found, FunctionOf)
                    value = adapted(value, found.parameters, target.result)
                case _:
                    value = self.error_as(value, found, target)
        return value

    def error_as(self, error: v.Value, source: Type, target: Type) -> v.Value:
        """An error as one of another type: through `From`, as a text, or as another one of the library's."""
        found = self.run.traits.conversion(source, target)
        if found is not None:
            return self.run.invoke(*found, [error])
        assert isinstance(target, Named)
        if target == STRING or isinstance(error, str):
            return text_of(error) if target == STRING else v.make_error(target.symbol.name, error)
        return v.make_error(target.symbol.name, v.field(error, "message"), v.field(error, "kind"))


def _tasks_in(value: v.Value) -> list[v.Task]:
    """The tasks that a value holds."""
    if isinstance(value, v.Task):
        return [value]
    parts = v.items_of(value) if isinstance(value, tuple | v.Map) else getattr(value, "parts", ())
    return [task for part in parts or () for task in _tasks_in(part)]
