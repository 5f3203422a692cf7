"""One walk over each body: where locals are used and changed, and where values are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, TypeAlias

from concerto.semantics.analysis import (
    AgentCall,
    Analysis,
    Default,
    DynamicCall,
    EmitCall,
    FunctionCall,
    Given,
    MatchBinding,
    McpFunctionCall,
    NativeCall,
    PanicCall,
    PipelineCall,
    ToolMethodCall,
    ValueCall,
    VariantCall,
    WrapCall,
)
from concerto.semantics.builtins import HANDLES
from concerto.semantics.infer import resolve
from concerto.semantics.ownership.aggregates import Aggregates
from concerto.semantics.symbols import FunctionSymbol, ImplSymbol, LocalSymbol, StructSymbol
from concerto.semantics.types import ERROR, Named
from concerto.syntax import ast
from concerto.syntax.walk import children


class Keep(Enum):
    """How a value is kept: SHARE by a holder that cannot change it, OWN by one that can, RETURN by the
    caller."""

    SHARE = "share"
    OWN = "own"
    RETURN = "return"


Region: TypeAlias = tuple[int, int]

Part: TypeAlias = ast.Expr | ast.FieldInit
"""What is kept: an expression, or a short field of a struct literal, which reads the variable of its name."""


@dataclass(frozen=True, slots=True)
class Context:
    """Where something happens: its loops from outside in, the branches it stands in, whether a `try` guards
    it, and the local that the statement overwrites afterwards, with the statement's end."""

    loops: tuple[Region, ...] = ()
    branches: tuple[tuple[int, int], ...] = ()
    guarded: bool = False
    overwrites: LocalSymbol | None = None
    overwritten_at: int = 0

    def excludes(self, other: Context) -> bool:
        """Are the two in different branches of the same choice?"""
        for mine, theirs in zip(self.branches, other.branches, strict=False):
            if mine != theirs:
                return mine[0] == theirs[0]
        return False


class Moment(NamedTuple):
    position: int
    context: Context


# --- Notes --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kept:
    value: Part
    how: Keep
    into: LocalSymbol | None
    context: Context


@dataclass(frozen=True, slots=True)
class Bound:
    """A pattern binds a part of `subject`; the binding lives in `scope`."""

    node: ast.Node
    local: LocalSymbol
    subject: ast.Expr
    scope: Region


@dataclass(frozen=True, slots=True)
class Iterated:
    iterable: ast.Expr
    body: Region


@dataclass(frozen=True, slots=True)
class Passed:
    """An argument of a function with a body; kept if the parameter is owned."""

    value: ast.Expr
    function: FunctionSymbol
    index: int
    context: Context


@dataclass(frozen=True, slots=True)
class Beside:
    """An argument beside a receiver that the call may change."""

    value: ast.Expr
    receiver: LocalSymbol


@dataclass(frozen=True, slots=True)
class Captured:
    body: ast.Node
    local: LocalSymbol
    context: Context


@dataclass(frozen=True, slots=True)
class Together:
    """Parts of one value that the caller gets: no two may be the same object."""

    parts: tuple[Part, ...]


Note: TypeAlias = Together | Kept | Bound | Iterated | Passed | Beside | Captured


@dataclass(eq=False, slots=True)
class Body:
    """A function, closure or branch. `free_result`: its result must share nothing with anybody."""

    function: FunctionSymbol | None
    free_result: bool
    parameters: list[LocalSymbol] = field(default_factory=list)
    declared: dict[LocalSymbol, Context] = field(default_factory=dict)
    captured: set[LocalSymbol] = field(default_factory=set)
    uses: dict[LocalSymbol, list[Moment]] = field(default_factory=dict)
    changes: dict[LocalSymbol, list[Moment]] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Collection:
    """All bodies; `called_by_name` are methods that a dynamic call may reach, `as_values` functions used as
    values."""

    aggregates: Aggregates = field(default_factory=Aggregates)
    bodies: list[Body] = field(default_factory=list)
    called_by_name: set[str] = field(default_factory=set)
    as_values: set[FunctionSymbol] = field(default_factory=set)


def collect_bodies(analysis: Analysis) -> Collection:
    collection = Collection()
    for function in analysis.functions:
        decl = function.decl
        if decl is not None and decl.body is not None:
            body = Body(function, free_result=not _called_directly(function))
            _Collector(analysis, collection, body).function(decl.parameters, decl.body)
    for pipeline in analysis.pipelines:
        for stage in pipeline.stages:
            if isinstance(stage.node, ast.StageDecl):
                body = Body(None, free_result=True)
                _Collector(analysis, collection, body).function(stage.node.parameters, stage.node.body)
    for body in collection.bodies:
        if body.function in collection.as_values:
            body.free_result = True
    return collection


def _called_directly(function: FunctionSymbol) -> bool:
    owner = function.owner
    inherent = (
        owner is None
        or isinstance(owner, StructSymbol)
        or (isinstance(owner, ImplSymbol) and owner.trait is None)
    )
    return inherent and not function.is_test


def root_of(analysis: Analysis, place: ast.Expr) -> LocalSymbol | None:
    """The local at the bottom of `a.b[i].c`."""
    while isinstance(place, ast.FieldAccess | ast.Index):
        place = place.receiver
    symbol = analysis.uses.get(place) if isinstance(place, ast.Path) else None
    return symbol if isinstance(symbol, LocalSymbol) else None


class _Collector:
    def __init__(self, analysis: Analysis, collection: Collection, body: Body) -> None:
        self.analysis = analysis
        self.collection = collection
        self.aggregates = collection.aggregates
        self.body = body
        self.context = Context()
        self.loop_results: dict[ast.Expr, Keep | None] = {}
        collection.bodies.append(body)

    def function(self, parameters: Sequence[ast.Parameter], block: ast.Expr) -> None:
        for parameter in parameters:
            local = self.analysis.parameters.get(parameter)
            if local is not None:
                self.body.parameters.append(local)
                self.body.declared[local] = self.context
                if parameter.pattern is not None:
                    self._bind_parameter(parameter.pattern)
        self.visit(block, Keep.RETURN)

    # --- Expressions ---

    def visit(self, node: ast.Node, keep: Keep | None = None, into: LocalSymbol | None = None) -> None:
        """Visit an expression whose value is only looked at (`keep` None) or kept."""
        handler = _HANDLERS.get(type(node))
        if handler is not None:
            handler(self, node, keep, into)
            return
        for child in children(node):
            self.visit(child)
        if keep is not None:
            self._keep(node, keep, into)

    def _keep(self, node: ast.Node, keep: Keep, into: LocalSymbol | None) -> None:
        assert isinstance(node, Part)
        if self.analysis.types.get(node, ERROR) in self.aggregates:
            self.body.notes.append(Kept(node, keep, into, self.context))

    def path(
        self, node: ast.Path | ast.FieldInit, keep: Keep | None, into: LocalSymbol | None
    ) -> None:
        if isinstance(node, ast.Path) and node in self.analysis.calls:  # `x |> f`
            self.call(node, keep, into)
            return
        symbol = self.analysis.uses.get(node)
        if isinstance(symbol, LocalSymbol):
            uses = self.body.uses.get(symbol)
            if uses is None:
                uses = self.body.uses[symbol] = []
            uses.append(Moment(node.start, self.context))
            if keep is not None:
                self._keep(node, keep, into)
        elif isinstance(symbol, FunctionSymbol):
            self.collection.as_values.add(symbol)

    def leaf(self, node: ast.Expr, keep: Keep | None, into: LocalSymbol | None) -> None:
        """A literal without parts."""

    def binary(self, node: ast.Binary, keep: Keep | None, into: LocalSymbol | None) -> None:
        spine = [node]
        while isinstance(spine[-1].left, ast.Binary):
            spine.append(spine[-1].left)
        self.visit(spine[-1].left)
        for binary in reversed(spine):
            self.visit(binary.right)
        if keep is not None:
            self._keep(node, keep, into)

    def parts(self, node: ast.Expr, keep: Keep | None, into: LocalSymbol | None) -> None:
        """A literal: its parts are kept as the whole is. An unowned result is settled as a whole, by the
        caller."""
        if isinstance(node, ast.MapLit):
            for entry in node.entries:
                self.visit(entry.key)
            self._parts(node, [entry.value for entry in node.entries], keep, into)
        else:
            assert isinstance(node, ast.ArrayLit | ast.TupleLit)
            self._parts(node, node.items, keep, into)

    def struct(self, node: ast.StructLit, keep: Keep | None, into: LocalSymbol | None) -> None:
        parts: list[Part] = [init.value or init for init in node.fields]
        self._parts(node, parts if node.base is None else [*parts, node.base], keep, into)

    def _parts(
        self, node: ast.Expr, parts: Sequence[Part], keep: Keep | None, into: LocalSymbol | None
    ) -> None:
        inner = keep
        if keep is Keep.RETURN and not self.body.free_result:
            self._keep(node, keep, into)
            inner = None
        for part in parts:
            self.visit(part, inner, into)
        if inner is not keep and len(parts) > 1:
            self.body.notes.append(Together(tuple(parts)))

    def block(self, node: ast.Block, keep: Keep | None, into: LocalSymbol | None) -> None:
        for statement in node.statements:
            match statement:
                case ast.Let():
                    self._let(statement)
                case ast.ExprStmt():
                    self.visit(statement.expr)
                case ast.Mock():
                    for init in statement.fields:
                        if init.value is not None:
                            self.visit(init.value)
                case ast.ItemStmt():
                    pass
        if node.result is not None:
            self.visit(node.result, keep, into)

    def _let(self, node: ast.Let) -> None:
        target = self.analysis.patterns.get(node.pattern)
        simple = isinstance(node.pattern, ast.BindPattern) and node.pattern.pattern is None
        if simple and isinstance(target, MatchBinding):
            local = target.local
            if node.value is not None:
                keep = Keep.OWN if local.mutable else Keep.SHARE
                self.visit(node.value, keep, local)
            self.body.declared[local] = self.context
        elif node.value is not None:
            self.visit(node.value)
            self._bind(node.pattern, node.value, (node.end, 2**62))

    def choice(self, node: ast.If, keep: Keep | None, into: LocalSymbol | None) -> None:
        self.visit(node.condition)
        with_arm = self._arm(node, 0)
        if node.pattern is not None:
            self._bind(node.pattern, node.condition, (node.then.start, node.then.end))
        self.visit(node.then, keep, into)
        self.context = with_arm
        if node.otherwise is not None:
            with_arm = self._arm(node, 1)
            self.visit(node.otherwise, keep, into)
            self.context = with_arm

    def match(self, node: ast.Match, keep: Keep | None, into: LocalSymbol | None) -> None:
        self.visit(node.subject)
        for number, arm in enumerate(node.arms):
            before = self._arm(node, number)
            self._bind(arm.pattern, node.subject, (arm.start, arm.end))
            if arm.guard is not None:
                self.visit(arm.guard)
            self.visit(arm.body, keep, into)
            self.context = before

    def _arm(self, node: ast.Node, number: int) -> Context:
        """Enter a branch; gives the context to restore."""
        before = self.context
        self._enter(branches=(*before.branches, (id(node), number)))
        return before

    def _enter(
        self,
        loops: tuple[Region, ...] | None = None,
        branches: tuple[tuple[int, int], ...] | None = None,
        guarded: bool | None = None,
    ) -> None:
        old = self.context
        self.context = Context(
            old.loops if loops is None else loops,
            old.branches if branches is None else branches,
            old.guarded if guarded is None else guarded,
            old.overwrites,
            old.overwritten_at,
        )

    def loop(self, node: ast.While | ast.Loop | ast.For, keep: Keep | None, into: LocalSymbol | None) -> None:
        before = self.context
        if isinstance(node, ast.For):
            self.visit(node.iterable)
        self._enter(loops=(*before.loops, (node.start, node.end)))
        if isinstance(node, ast.While):
            self.visit(node.condition)
            if node.pattern is not None:
                self._bind(node.pattern, node.condition, (node.body.start, node.body.end))
        elif isinstance(node, ast.For):
            self.body.notes.append(Iterated(node.iterable, (node.body.start, node.body.end)))
            self._bind(node.pattern, node.iterable, (node.body.start, node.body.end))
        self.loop_results[node] = None if keep is None else Keep.OWN
        self.visit(node.body)
        self.context = before

    def jump(self, node: ast.Break, keep: Keep | None, into: LocalSymbol | None) -> None:
        loop = self.analysis.jumps.get(node)
        if node.value is not None:
            self.visit(node.value, self.loop_results.get(loop) if loop is not None else None)

    def leave(self, node: ast.Return, keep: Keep | None, into: LocalSymbol | None) -> None:
        if node.value is not None:
            self.visit(node.value, Keep.RETURN)

    def throw(self, node: ast.Throw, keep: Keep | None, into: LocalSymbol | None) -> None:
        self.visit(node.value, Keep.OWN)

    def guarded(self, node: ast.TryCatch, keep: Keep | None, into: LocalSymbol | None) -> None:
        before = self.context
        self._enter(guarded=True)
        self.visit(node.body, keep, into)
        self.context = before
        for number, catch in enumerate(node.catches):
            before = self._arm(node, number)
            for local in self._bindings(catch.pattern):
                self.body.declared[local] = self.context
            self.visit(catch.body, keep, into)
            self.context = before

    def assign(self, node: ast.Assign, keep: Keep | None, into: LocalSymbol | None) -> None:
        target = node.target
        local = self.analysis.uses.get(target) if isinstance(target, ast.Path) else None
        if node.op == "=" and isinstance(local, LocalSymbol) and local.role != "self":
            before = self.context
            self.context = Context(before.loops, before.branches, before.guarded, local, node.end)
            self.visit(node.value, Keep.OWN)
            self.context = before
            return
        self.visit(node.value, Keep.OWN if node.op == "=" else None)
        self.visit(target)
        self._change(target)

    def _change(self, place: ast.Expr) -> None:
        root = root_of(self.analysis, place)
        if root is not None:
            self.body.changes.setdefault(root, []).append(Moment(place.start, self.context))

    # --- Calls ---

    def call(
        self, node: ast.Call | ast.MethodCall | ast.Path, keep: Keep | None, into: LocalSymbol | None
    ) -> None:
        target = self.analysis.calls.get(node)
        match target:
            case FunctionCall(function=function, arguments=arguments):
                self._arguments(arguments, changes=function.receiver == "mut self", function=function)
            case NativeCall(function=function, arguments=arguments):
                self._native(function, arguments)
            case DynamicCall(name=name, arguments=arguments):
                self.collection.called_by_name.add(name)
                self._arguments(arguments, changes=True)
            case VariantCall(arguments=arguments):
                self._wrapped(node, arguments, keep, into)
                return
            case WrapCall(argument=argument):
                self._wrapped(node, [argument], keep, into)
                return
            case ValueCall(callee=callee, arguments=arguments):
                self.visit(callee)
                self._arguments(arguments)
            case EmitCall(channel=channel, payload=payload):
                self.visit(channel)
                self.visit(payload)
            case PanicCall(message=message):
                self._arguments([message])
            case (
                ToolMethodCall(arguments=arguments)
                | McpFunctionCall(arguments=arguments)
                | AgentCall(arguments=arguments)
                | PipelineCall(arguments=arguments)
            ):
                self._arguments(arguments)
            case None:
                for child in children(node):
                    self.visit(child)
        if keep is not None:
            self._keep(node, keep, into)

    def _arguments(
        self, arguments: Sequence[Given], changes: bool = False, function: FunctionSymbol | None = None
    ) -> None:
        """Borrowed arguments; with `changes` the first one is a place that the call may change."""
        for index, given in enumerate(arguments):
            if isinstance(given, Default):
                continue
            self.visit(given)
            if function is not None and self.analysis.types.get(given, ERROR) in self.aggregates:
                self.body.notes.append(Passed(given, function, index, self.context))
        if changes:
            self._receiver(arguments)

    def _receiver(self, arguments: Sequence[Given]) -> None:
        receiver = arguments[0] if arguments else None
        if receiver is None or isinstance(receiver, Default):
            return
        self._change(receiver)
        root = root_of(self.analysis, receiver)
        for given in arguments[1:]:
            if root is not None and not isinstance(given, Default):
                self.body.notes.append(Beside(given, root))

    def _native(self, function: FunctionSymbol, arguments: Sequence[Given]) -> None:
        """A library method that changes its receiver, or whose receiver is a handle, keeps its arguments."""
        keeps = function.receiver == "mut self"
        if not keeps and arguments and not isinstance(arguments[0], Default) and function.receiver:
            receiver = resolve(self.analysis.types.get(arguments[0], ERROR))
            keeps = isinstance(receiver, Named) and receiver.symbol in HANDLES
        for index, given in enumerate(arguments):
            if not isinstance(given, Default):
                self.visit(given, Keep.OWN if keeps and index else None)
        if function.receiver == "mut self":
            self._receiver(arguments)

    def _wrapped(
        self, node: ast.Expr, arguments: Sequence[Given], keep: Keep | None, into: LocalSymbol | None
    ) -> None:
        self._parts(node, [given for given in arguments if not isinstance(given, Default)], keep, into)

    def pipe(self, node: ast.Pipe, keep: Keep | None, into: LocalSymbol | None) -> None:
        self.visit(node.target, keep, into)

    # --- Bodies inside bodies ---

    def closure(self, node: ast.Closure, keep: Keep | None, into: LocalSymbol | None) -> None:
        self._capture(node)
        inner = _Collector(self.analysis, self.collection, Body(None, free_result=True))
        inner.function(node.parameters, node.body)

    def branch(self, node: ast.Expr) -> None:
        """An expression that runs as a task of its own."""
        self._capture(node)
        inner = _Collector(self.analysis, self.collection, Body(None, free_result=True))
        inner.visit(node, Keep.RETURN)

    def branches(self, node: ast.AwaitAll | ast.Race, keep: Keep | None, into: LocalSymbol | None) -> None:
        for item in node.items:
            self.branch(item)

    def spawn(self, node: ast.Spawn, keep: Keep | None, into: LocalSymbol | None) -> None:
        self._capture(node)
        self.branch(node.operand)

    def parallel(self, node: ast.ParallelFor, keep: Keep | None, into: LocalSymbol | None) -> None:
        self.visit(node.iterable)
        if node.limit is not None:
            self.visit(node.limit)
        self._capture(node)
        inner = _Collector(self.analysis, self.collection, Body(None, free_result=True))
        inner._bind_parameter(node.pattern)
        inner.visit(node.body, Keep.RETURN)

    def _capture(self, node: ast.Node) -> None:
        for local in self.analysis.captures.get(node, ()):
            self.body.uses.setdefault(local, []).append(Moment(node.start, self.context))
            self.body.captured.add(local)
            self.body.notes.append(Captured(node, local, self.context))

    # --- Patterns ---

    def _bindings(self, pattern: ast.Pattern | None) -> list[LocalSymbol]:
        return [local for _, local in self._bound_nodes(pattern)] if pattern is not None else []

    def _bound_nodes(self, pattern: ast.Node) -> list[tuple[ast.Node, LocalSymbol]]:
        found: list[tuple[ast.Node, LocalSymbol]] = []
        stack = [pattern]
        while stack:
            node = stack.pop()
            target = self.analysis.patterns.get(node)
            if isinstance(target, MatchBinding):
                found.append((node, target.local))
            stack.extend(children(node))
        return found

    def _bind(self, pattern: ast.Pattern, subject: ast.Expr, scope: Region) -> None:
        for node, local in self._bound_nodes(pattern):
            self.body.declared[local] = self.context
            if local.type in self.aggregates:
                self.body.notes.append(Bound(node, local, subject, scope))

    def _bind_parameter(self, pattern: ast.Pattern) -> None:
        for _, local in self._bound_nodes(pattern):
            self.body.parameters.append(local)
            self.body.declared[local] = self.context


_HANDLERS: dict[type[ast.Node], Callable[..., None]] = {
    ast.Path: _Collector.path,
    ast.FieldInit: _Collector.path,
    ast.IntLit: _Collector.leaf,
    ast.FloatLit: _Collector.leaf,
    ast.StringLit: _Collector.leaf,
    ast.BoolLit: _Collector.leaf,
    ast.NilLit: _Collector.leaf,
    ast.Binary: _Collector.binary,
    ast.ArrayLit: _Collector.parts,
    ast.TupleLit: _Collector.parts,
    ast.MapLit: _Collector.parts,
    ast.StructLit: _Collector.struct,
    ast.Block: _Collector.block,
    ast.If: _Collector.choice,
    ast.Match: _Collector.match,
    ast.While: _Collector.loop,
    ast.Loop: _Collector.loop,
    ast.For: _Collector.loop,
    ast.Break: _Collector.jump,
    ast.Return: _Collector.leave,
    ast.Throw: _Collector.throw,
    ast.TryCatch: _Collector.guarded,
    ast.Assign: _Collector.assign,
    ast.Call: _Collector.call,
    ast.MethodCall: _Collector.call,
    ast.Pipe: _Collector.pipe,
    ast.Closure: _Collector.closure,
    ast.AwaitAll: _Collector.branches,
    ast.Race: _Collector.branches,
    ast.Spawn: _Collector.spawn,
    ast.ParallelFor: _Collector.parallel,
}
