"""One evaluation: the program and what it printed; how a node gives its value, its place, its bindings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from concerto.semantics.model import analysis as an
from concerto.semantics.model import builtins as bt
from concerto.semantics.model import symbols as sym
from concerto.semantics.typing.traits import base_type
from concerto.semantics.typing.unify import show, substitute
from concerto.syntax import ast
from tests.oracle import fitting as fit
from tests.oracle import values as v
from tests.oracle.library import LIBRARY, by_name
from tests.oracle.numbers import at_least

DEPTH = 100_000
"""How many calls may be open at once."""

Put = Callable[[v.Value], None]
Place = tuple[Callable[[], v.Value], Put]
"""How what stands there is read, and how something else is put there."""
EVALUATORS: dict[type, Callable[[Frame, Any], v.Value]] = {}
"""For each class of expressions, filled in by `expressions`."""


class Run:
    def __init__(self, analysis: an.Analysis, environment: Mapping[str, str]) -> None:
        self.analysis = analysis
        self.impls = fit.Impls(analysis)
        self.library: v.Functions = LIBRARY | _library(self, environment)
        self.output: list[str] = []
        self.switches = 0
        """How often something could have gone on beside what runs."""
        self.depth = 0
        self.pending: list[v.Task] = []
        self.given: list[v.Task] = []
        """Tasks in what functions returned, whose callers have them now."""
        self.handle = cache(self._handle)

    def invoke(self, method: fit.Method, given: v.Values, changed: Put | None = None) -> v.Value:
        """A call of a function with a body. `changed` gets what a `mut self` method made of its receiver."""
        function, types = method
        declaration = function.decl
        if declaration is None or declaration.body is None:
            raise v.Unsupported(f"the world outside: `{function.qualified}`")
        frame = Frame(self, types)
        try:
            result = frame.call(function.name, declaration, given)
        finally:
            # What was changed before a failure stays changed.
            if changed is not None and function.receiver == "mut self":
                changed(frame.locals[self.analysis.parameters[declaration.parameters[0]]])
        return None if function.result is bt.NIL else result

    def native(self, function: sym.FunctionSymbol, given: v.Values, changed: Put | None = None) -> v.Value:
        """A call of a function of the library."""
        if function.native not in self.library:
            raise v.Unsupported(f"the library's `{function.native}`")
        result = self.library[function.native](*given)
        if function.receiver == "mut self":
            result, receiver = result
            if changed is not None:
                changed(receiver)
        return None if function.result is bt.NIL else result

    def default(self, node: ast.Expr | None) -> v.Value:
        """What stands for something that was left out."""
        return v.NONE if node is None else Frame(self, {}).value(node)

    def _handle(self, symbol: sym.ToolSymbol | sym.StateSymbol) -> v.Value:
        """The tool, hashmap, ledger or memory that a declaration made."""
        if isinstance(symbol, sym.ToolSymbol):
            return v.Tool(symbol.name, [self.default(field.default) for field in symbol.state.fields])
        if "persistence" in symbol.settings:
            raise v.Unsupported("the world outside: files")
        assert isinstance(symbol.type, sym.Named)
        return self.library[f"{symbol.type.symbol.name}::new"](*symbol.settings.values())

    def end_pending(self) -> None:
        """Do the work of all tasks that were started."""
        while self.pending:
            task = self.pending.pop(0)
            try:
                task.results.append(task.work())
            except v.Failure:
                raise v.Unsupported("a task that fails") from None


def _library(run: Run, variables: Mapping[str, str]) -> v.Functions:
    """The functions that know of the run, and what look outside, as far as they need not."""
    environment = v.Map(variables.items())

    def require(name: str) -> v.Value:
        error = v.make_error("EnvError", f"the environment variable `{name}` is not set", "NotSet", name=name)
        return LIBRARY["Option::ok_or"](environment.get(name), error)

    def sleep(milliseconds: int) -> None:
        """Nobody sees how time passes while nothing runs beside."""
        at_least(0, milliseconds, "a time to sleep cannot be negative")
        if run.switches:
            raise v.Unsupported("the world outside: time")

    return by_name({
        "std::prelude": {
            "print": lambda value: run.output.append(v.text_of(value)),
            "println": lambda value: run.output.append(v.text_of(value) + "\n"), "env": environment.get,
        },
        "std::env": {
            "get": environment.get, "require": require, "all": lambda: environment,
            "has": lambda name: name in variables,
        },
        "std::time": {"sleep": sleep},
    })  # fmt: skip


class Frame:
    """An activation of a function or closure: its variables, its types by generics, the tasks it started."""

    def __init__(self, run: Run, types: fit.Types, variables: Mapping[sym.LocalSymbol, v.Value] = {}) -> None:
        self.run = run
        self.analysis = run.analysis
        self.types = types
        self.locals = dict(variables)
        self.tasks: list[v.Task] = []

    def value(self, node: ast.Node | None) -> v.Value:
        """What an expression gives where it stands, implicit conversions included; nil if there is none."""
        if node is None:
            return None
        evaluate = EVALUATORS.get(node.__class__)
        if evaluate is None:
            raise v.Unsupported(f"the world outside: {type(node).__name__}")
        return self.coerced(node, evaluate(self, node))

    def call(self, name: str, node: ast.FnDecl | ast.Closure | ast.StageDecl, given: v.Values) -> v.Value:
        """What the body gives when the arguments are its variables."""
        v.same_number(name, given, node.parameters)
        for parameter, argument in zip(node.parameters, given, strict=True):
            self.locals[self.analysis.parameters[parameter]] = argument
            if parameter.pattern is not None:
                self.matches(parameter.pattern, argument)
        return self.body(node.body)

    def body(self, node: ast.Expr | None) -> v.Value:
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
        # A task does not outlive the function that spawned it, unless returned: then it is the caller's.
        own = {*self.tasks, *self.run.given[given:]}
        del self.run.given[given:]
        if own.issubset(_tasks_in(result)):
            self.run.given.extend(own)
        else:
            self.run.end_pending()
        return result

    def type_of(self, node: ast.Node) -> sym.Type:
        """The type of an expression before its conversions."""
        return substitute(self.analysis.types.get(node, bt.ANY), self.types)

    def types_of(self, node: ast.Node) -> list[sym.Type]:
        """The type of an expression before its conversions and after each of them."""
        types = [self.type_of(node)]
        for coercion in self.analysis.coercions.get(node, ()):
            made: dict[str, sym.Type] = {"int_to_float": bt.FLOAT, "wrap_some": bt.option_of(types[-1])}
            target = coercion.target or made.get(coercion.kind, types[-1])
            types.append(substitute(target, self.types))
        return types

    def coerced(self, node: ast.Node, value: v.Value) -> v.Value:
        found, *targets = self.types_of(node)
        for coercion, target in zip(self.analysis.coercions.get(node, ()), targets, strict=True):
            match coercion.kind:
                case "wrap_some":
                    value = v.some(value)
                case "check" | "int_to_float":
                    value = fit.converted(value, target)
                case "iterate":
                    value = LIBRARY["Iterator::iter"](value)
                case "function_adapter":
                    assert isinstance(target, sym.FunctionOf) and isinstance(found, sym.FunctionOf)
                    value = fit.adapted(value, found.parameters, target.result)
                case _:
                    value = self.error_as(value, found, target)
        return value

    def error_as(self, error: v.Value, source: sym.Type, target: sym.Type) -> v.Value:
        """An error as one of another type: through `From`, as a text, or as another one of the library's."""
        found = self.run.impls.method(target, "from", sym.TraitUse(bt.FROM, (base_type(source),)))
        if found is not None:
            return self.run.invoke(found, [error])
        if target == bt.STRING:
            return v.text_of(error)
        kind = None if isinstance(error, str) else v.field(error, "kind")
        return v.make_error(show(target), v.text_of(error), kind)

    def place(self, node: ast.Expr) -> Place:
        """The place an expression names: its indices are evaluated, what stands there is not yet read."""
        match node:
            case ast.Path() if isinstance(symbol := self.analysis.uses.get(node), sym.LocalSymbol):
                return lambda: self.locals[symbol], lambda value: self.locals.update({symbol: value})
            case ast.Index(index=ast.RangeExpr()):
                pass
            case ast.FieldAccess() | ast.Index():
                (get, put), at = self.place(node.receiver), self.analysis.fields.get(node)
                if isinstance(node, ast.Index) and at is None:
                    # What is not there is missed before what follows is looked at.
                    get()
                    at = self.value(node.index)
                return lambda: fit.element(get(), at), lambda value: put(fit.with_element(get(), at, value))
        # A fresh value: what happens to it nobody sees.
        fresh = self.value(node)
        return lambda: fresh, lambda value: None

    def matches(self, node: ast.Node, value: v.Value) -> bool:
        """Binds names as far as it gets."""
        match self.analysis.patterns.get(node):
            case an.MatchBinding(local):
                self.locals[local] = value
            case an.MatchConst(const) if not v.equal(value, fit.constant(const.value, const.type)):
                return False
            case an.MatchBuiltin(kind) | an.MatchVariant(kind) | an.MatchStruct(kind):
                if not isinstance(value, v.Data) or value.kind != kind:
                    return False
        match node:
            case ast.BindPattern(pattern=ast.Node() as inner):
                return self.matches(inner, value)
            case ast.LiteralPattern():
                return v.equal(value, self.value(node.value))
            case ast.RangePattern():
                low, high = self.value(node.low), self.value(node.high)
                alike = low.__class__ is value.__class__ or (v.is_number(low) and v.is_number(value))
                below = "<=" if node.inclusive else "<"
                return alike and v.compare("<=", low, value) and v.compare(below, value, high)
            case ast.TuplePattern():
                return isinstance(value, tuple) and self._all_match(node.items, value)
            case ast.ArrayPattern():
                return isinstance(value, list) and self._all_match(node.items, value)
            case ast.VariantPattern(arguments=list() as arguments):
                return self._all_match(arguments, value.parts)
            case ast.StructPattern():
                fields = self.analysis.pattern_fields
                return all(self.matches(p.pattern or p, value.parts[fields[p].index]) for p in node.fields)
            case ast.OrPattern():
                return any(self.matches(each, value) for each in node.alternatives)
            case _:
                return True

    def _all_match(self, patterns: Sequence[ast.Node], values: v.Values) -> bool:
        """Each its value; `..` takes what is left between those before and after it."""
        rest = next((i for i, one in enumerate(patterns) if isinstance(one, ast.RestPattern)), None)
        if rest is not None and len(values) >= len(patterns) - 1:
            end = len(values) - (len(patterns) - rest - 1)
            values = (*values[:rest], values[rest:end], *values[end:])
        same = len(patterns) == len(values)
        return same and all(self.matches(p, part) for p, part in zip(patterns, values, strict=True))


def _tasks_in(value: v.Value) -> list[v.Task]:
    if isinstance(value, v.Task):
        return [value]
    parts = value.pairs() if isinstance(value, v.Map) else getattr(value, "parts", value)
    return [task for part in parts for task in _tasks_in(part)] if isinstance(parts, list | tuple) else []
