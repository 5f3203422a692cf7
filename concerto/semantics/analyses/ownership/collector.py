"""One walk over each body: where locals are used and changed, and where values are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from concerto.records import replace
from concerto.semantics.analyses.ownership.calls import CallCollector
from concerto.semantics.analyses.ownership.events import (
    GROWTHS,
    NEVER,
    BodyEvents,
    BoundParameter,
    Capture,
    EventContext,
    Exchange,
    Grown,
    Iterated,
    Keep,
    Part,
    Region,
    Way,
)
from concerto.semantics.analyses.ownership.exchange import (
    assigned_places,
    find_exchange,
    find_kept,
    find_matched,
    find_parted,
    find_passed_on,
    find_regained,
    is_only_looked_at,
)
from concerto.semantics.analyses.ownership.leaving import errors_of, takes_all
from concerto.semantics.analyses.ownership.loops import keyed_elements
from concerto.semantics.analyses.ownership.recorder import root_of
from concerto.semantics.model.analysis import (
    BoundCall,
    FunctionCall,
    MatchBinding,
    MatchBuiltin,
    NativeCall,
    SlotField,
)
from concerto.semantics.model.builtins import ANY, ITERATOR, result_parts
from concerto.semantics.model.symbols import (
    ERROR,
    BuiltinSymbol,
    FunctionSymbol,
    LocalSymbol,
    Named,
    ToolSymbol,
    TraitSymbol,
    VariantSymbol,
)
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast
from concerto.syntax.walk import children


class BodyCollector(CallCollector):
    """`_innermost` is where the innermost loop begins, `_assigning` the assignment whose value is visited, if
    no loop lies between."""

    _innermost = 0
    _assigning: ast.Assign | None = None

    def function(self, parameters: Sequence[ast.Parameter], block: ast.Expr) -> None:
        for parameter in parameters:
            local = self.analysis.parameters.get(parameter)
            if local is not None:
                self.body.declared[local] = self.context
                if self._is_own(parameter, local):
                    self.body.notes.append(BoundParameter(parameter, local, None))
                else:
                    self.body.parameters.append(local)
                if local.role == "self" and self.body.function is not None:
                    self.state = local if isinstance(self.body.function.owner, ToolSymbol) else None
                if parameter.pattern is not None:
                    self.bind_parameter(parameter.pattern, local if self.body.function is not None else None)
        self.leaving_with |= set(errors_of(self.analysis, block))
        self.visit(block, Keep.RETURN)
        if any(each.root.role == "self" for each in self.body.exchanges.values()):
            self.body.leaves_with_error |= self.dropping  # Their variables may have parts of it.

    def _is_own(self, parameter: ast.Parameter, local: LocalSymbol) -> bool:
        """Whether a parameter of a closure (`|mut x|`) is a variable of its own, which begins with a copy."""
        named = parameter.mutable and local.role == "parameter" and local not in self.body.given
        return named and local.type in self.aggregates

    # --- Expressions ---

    def visit(self, node: ast.Node, keep: Keep | None = None, into: LocalSymbol | None = None) -> None:
        """Visit an expression whose value is only looked at (`keep` None) or kept."""
        if node in self.collection.iterated:
            keep, into = Keep.OWN, None
        handler = _HANDLERS.get(node.__class__)
        if handler is not None:
            handler(self, node, keep, into)
            return
        self.in_turn(children(node))
        if keep is not None:
            self.note_kept(node, keep, into)

    def path(self, node: ast.Path | ast.FieldInit, keep: Keep | None, into: LocalSymbol | None) -> None:
        if isinstance(node, ast.Path) and node in self.analysis.calls:  # `x |> f`
            self.call(node, keep, into)
            return
        symbol = self.analysis.uses.get(node)
        if isinstance(symbol, LocalSymbol):
            uses = self.body.uses.get(symbol)
            if uses is None:
                uses = self.body.uses[symbol] = []
            uses.append((node.start, self.context))
            if keep is not None:
                self.note_kept(node, keep, into)
        elif isinstance(symbol, FunctionSymbol):
            here = self.collection.here
            (here.folding if node in self.folding else here.as_values).add(symbol)
            if isinstance(symbol.owner, TraitSymbol):
                self.collection.called_by_name.add(symbol.name)
        elif isinstance(symbol, VariantSymbol) and any(
            each.type in self.aggregates for each in symbol.fields
        ):
            self.collection.changed_types.add(symbol.enum)  # Nobody sees what its values are made of.

    def leaf(self, node: ast.Node, keep: Keep | None, into: LocalSymbol | None) -> None:
        """A name, or a literal without parts."""

    def field(self, node: ast.FieldAccess, keep: Keep | None, into: LocalSymbol | None) -> None:
        self.visit(node.receiver)
        is_own = isinstance(node.receiver, ast.Path) and isinstance(self.analysis.fields.get(node), SlotField)
        if is_own and self.analysis.types.get(node, ERROR) not in self.aggregates:
            self.body.read_fields[node.start] = node.name.text
        if keep is not None:
            self.note_kept(node, keep, into)

    def binary(self, node: ast.Binary, keep: Keep | None, into: LocalSymbol | None) -> None:
        spine = [node]
        while isinstance(spine[-1].left, ast.Binary):
            spine.append(spine[-1].left)
        for binary in spine:
            self.own_operator(binary)
        self.in_turn([spine[-1].left, *(binary.right for binary in reversed(spine))])
        if keep is not None:
            self.note_kept(node, keep, into)

    def unary(self, node: ast.Unary, keep: Keep | None, into: LocalSymbol | None) -> None:
        self.own_operator(node)
        self.visit(node.operand)

    def own_operator(self, node: ast.Expr) -> None:
        """The method that an operator calls: it gives something new, and owns no operand."""
        target = self.analysis.calls.get(node)
        if isinstance(target, FunctionCall | BoundCall):
            self.collection.here.as_values.add(target.function)
            self.body.callees.add(target.function)
            if isinstance(target, BoundCall):
                self.collection.here.called_by_name.add(target.function.name)

    def parts(self, node: ast.Expr, keep: Keep | None, into: LocalSymbol | None) -> None:
        """A literal: its parts are kept as the whole is. An unowned result is settled as a whole, by the
        caller."""
        if isinstance(node, ast.MapLit):
            self.keep_parts(
                node, [part for each in node.entries for part in (each.key, each.value)], keep, into
            )
        else:
            assert isinstance(node, ast.ArrayLit | ast.TupleLit)
            self.keep_parts(node, node.items, keep, into)

    def struct(self, node: ast.StructLit, keep: Keep | None, into: LocalSymbol | None) -> None:
        parts: list[Part] = [init.value or init for init in node.fields]
        self.keep_parts(node, parts if node.base is None else [*parts, node.base], keep, into)

    def block(self, node: ast.Block, keep: Keep | None, into: LocalSymbol | None) -> None:
        before = self.context
        self.context = self._before(node)
        self._statements(node, keep, into)
        self.context = before

    def _before(self, node: ast.Expr) -> EventContext:
        """Before the first statement of a block, or another expression."""
        way = Way(self.context.way)
        for statement in node.statements if isinstance(node, ast.Block) else ():
            if isinstance(statement, ast.ExprStmt) and isinstance(statement.expr, ast.Assign):
                local = self._overwritten(statement.expr)
                if local is not None:
                    way.assigned.setdefault(local, []).append(statement.expr.end)
        return replace(self.context, way=way) if way.assigned else self.context

    def _overwritten(self, node: ast.Assign) -> LocalSymbol | None:
        """The local that an assignment gives another value as a whole."""
        local = self.analysis.uses.get(node.target) if isinstance(node.target, ast.Path) else None
        is_whole = node.op == "=" and isinstance(local, LocalSymbol) and local.role != "self"
        return local if is_whole and isinstance(local, LocalSymbol) else None

    def _statements(self, node: ast.Block, keep: Keep | None, into: LocalSymbol | None) -> None:
        assigned = assigned_places(self.analysis, node) if not self.context.guarded else []
        for number, statement in enumerate(node.statements):
            for kept in find_kept(self.analysis, self.aggregates, node, number, assigned) if assigned else ():
                self._note_exchange(*kept)
            match statement:
                case ast.Let():
                    self._let(statement, node, number)
                case ast.ExprStmt():
                    self.visit(statement.expr)
                    self._note_exit(node, statement.expr)
                case ast.Mock():
                    for init in statement.fields:
                        self.visit(init.value or init)
                case ast.ItemStmt():
                    pass
        if node.result is not None:
            self.visit(node.result, keep, into)
            self._note_exit(node, node.result)

    def _note_exit(self, node: ast.Expr, last: ast.Expr) -> None:
        """Note what comes to its end with a jump."""
        loop = self.analysis.jumps.get(last) if isinstance(last, ast.Break) else None
        if isinstance(last, ast.Return) or loop is not None:
            self.body.exits.append((node.start, last.end, 0 if loop is None else loop.start))

    def _let(self, node: ast.Let, block: ast.Block, number: int) -> None:
        if node.otherwise is not None:
            assert node.value is not None
            self.visit(node.value)
            before = self.enter_arm(node, 0)
            self.visit(node.otherwise)
            self.context = before
            self.enter_arm(node, 1)
            self.bind(node.pattern, node.value, (node.end, NEVER), self.context)
            self.context = before
            self._find_parted(node.pattern, node.value, block, number + 1)
            return
        target = self.analysis.patterns.get(node.pattern)
        simple = isinstance(node.pattern, ast.BindPattern) and node.pattern.pattern is None
        if simple and isinstance(target, MatchBinding):
            local = target.local
            if node.value is not None:
                keep = Keep.OWN if local.mutable else Keep.SHARE
                self.visit(node.value, keep, local)
                if local.type in self.aggregates and not self.context.guarded:
                    self._find_exchange(local, block, number)
            self.body.declared[local] = self.context
        elif node.value is not None:
            self.visit(node.value)
            self.bind(node.pattern, node.value, (node.end, NEVER), self.context)
            self._find_parted(node.pattern, node.value, block, number + 1)

    def _find_exchange(self, local: LocalSymbol, block: ast.Block, number: int) -> None:
        exchange = find_exchange(self.analysis, block, number, self.collection.unchanged)
        if exchange is not None:
            self._note_exchange(local, exchange)

    def _find_parted(self, pattern: ast.Pattern, subject: ast.Expr, body: ast.Expr, number: int = 0) -> None:
        for part, value in self.paired(pattern, subject):
            self._find_parted_alone(part, value, body, number)

    def _find_parted_alone(
        self, pattern: ast.Pattern, subject: ast.Expr, body: ast.Expr, number: int
    ) -> None:
        bound = [each for each in self._bound_nodes(pattern) if each.local.type in self.aggregates]
        if not bound or self.context.guarded or any(each.whole or each.hidden for each in bound):
            return
        found, unchanged = [each.local for each in bound], self.collection.unchanged
        exchange = find_parted(self.analysis, pattern, subject, found, body, number, unchanged)
        if exchange is None and self._assigning is not None:
            exchange = find_matched(self.analysis, self._assigning, subject, found, unchanged)
        if exchange is not None:
            for each in bound:
                self._note_exchange(each.local, exchange)

    def _note_exchange(self, taken: LocalSymbol | ast.Expr, exchange: Exchange) -> None:
        is_own = exchange.root not in self.body.parameters
        if exchange.root is not self.state and (is_own or exchange.is_whole or exchange.stays):
            self.body.exchanges[taken] = exchange

    def _is_error(self, pattern: ast.Pattern) -> bool:
        target = self.analysis.patterns.get(pattern)
        return isinstance(target, MatchBuiltin) and target.name in ("Err", "None")

    def _gives_all(self, pattern: ast.Pattern) -> bool:
        """Whether the pattern is one of all values that are no errors: `Ok(x)`."""
        target = self.analysis.patterns.get(pattern)
        is_fine = isinstance(target, MatchBuiltin) and target.name in ("Ok", "Some")
        inner = pattern.arguments if isinstance(pattern, ast.VariantPattern) else None
        return is_fine and all(takes_all(self.analysis, each) for each in inner or [pattern])

    def _find_regained(self, subject: ast.Expr, arms: list[ast.Expr]) -> None:
        if arms and not self.context.guarded:
            for call in errors_of(self.analysis, subject):
                self.body.regained |= find_regained(self.analysis, call, arms)

    def choice(self, node: ast.If, keep: Keep | None, into: LocalSymbol | None) -> None:
        if node.pattern is not None and self._gives_all(node.pattern):
            self._find_regained(node.condition, [node.then])
        self.visit(node.condition)
        with_arm = self.enter_arm(node, 0)
        if node.pattern is not None:
            scope = (node.then.start, node.then.end)
            self.bind(node.pattern, node.condition, scope, self._before(node.then))
            self._find_parted(node.pattern, node.condition, node.then)
        for condition, rest in _conditions(node.condition):
            bound = self.bindings(condition.pattern)
            has_parts = any(local.type in self.aggregates for local in bound)
            if has_parts and is_only_looked_at(self.analysis, bound, rest, self.collection.unchanged):
                self._find_parted(condition.pattern, condition.value, node.then)
        self.visit(node.then, keep, into)
        self.context = with_arm
        if node.otherwise is not None:
            with_arm = self.enter_arm(node, 1)
            self.visit(node.otherwise, keep, into)
            self.context = with_arm

    def let_condition(self, node: ast.LetCondition, keep: Keep | None, into: LocalSymbol | None) -> None:
        self.visit(node.value)
        self.bind(node.pattern, node.value, (node.end, NEVER))

    def match(self, node: ast.Match, keep: Keep | None, into: LocalSymbol | None) -> None:
        if all(arm.guard is None for arm in node.arms):
            fine = [arm.body for arm in node.arms if not self._is_error(arm.pattern)]
            self._find_regained(node.subject, fine)
        self.visit(node.subject)
        before_arms = len(self.body.notes)
        changed: set[LocalSymbol] = set()
        for number, arm in enumerate(node.arms):
            before = self.enter_arm(node, number)
            taken = self._before(arm.body) if arm.guard is None else None
            self.bind(arm.pattern, node.subject, (arm.start, arm.end), taken)
            if arm.guard is None:
                self._find_parted(arm.pattern, node.subject, arm.body)
            else:
                mark = len(self.changed)
                with self.unordered(arm.guard):  # A guard that fails must have taken nothing.
                    self.visit(arm.guard)
                changed.update(self.changed[mark:])
            self.visit(arm.body, keep, into)
            self.context = before
        if changed:
            self.note_waiting(node.subject, node.end, frozenset(changed), before_arms)

    def loop(self, node: ast.While | ast.Loop | ast.For, keep: Keep | None, into: LocalSymbol | None) -> None:
        subject = None
        if isinstance(node, ast.For):
            subject = self.lend_through(node.iterable, node.body.end)
            iterated, key = keyed_elements(self.analysis, node)
            if key is not None:
                self.keys[iterated] = key
            self.visit(node.iterable)
            self._run_own_iterator(node)
        assigning, self._assigning = self._assigning, None
        with self.unordered(node):
            if isinstance(node, ast.While):
                self.visit(node.condition)
                if node.pattern is not None:
                    scope = (node.body.start, node.body.end)
                    self.bind(node.pattern, node.condition, scope, self._before(node.body))
            elif isinstance(node, ast.For):
                region = node.body.start, node.body.end
                if subject is None:
                    self.body.notes.append(Iterated(node.iterable, region, key))
                self.bind(node.pattern, subject or node.iterable, region)
            before, self._innermost = self._innermost, node.start
            self.visit(node.body)
            self._innermost = before
        self._assigning = assigning

    def _run_own_iterator(self, node: ast.For) -> None:
        """Where an iterator's elements come from is code of the program."""
        found = resolve(self.analysis.types.get(node.iterable, ERROR))
        symbol = found.symbol if isinstance(found, Named) else None
        if not isinstance(symbol, BuiltinSymbol) or found is ANY or symbol is ITERATOR:
            self.call_out(node, [])

    def jump(self, node: ast.Break, keep: Keep | None, into: LocalSymbol | None) -> None:
        if node.value is not None:
            self.visit(node.value, Keep.OWN)
        self._leave_loop(node)

    def go_on(self, node: ast.Continue, keep: Keep | None, into: LocalSymbol | None) -> None:
        self._leave_loop(node)

    def _leave_loop(self, node: ast.Break | ast.Continue) -> None:
        self.body.leaves.append((node.end, self._innermost if node.label is None else 0))

    def leave(self, node: ast.Return, keep: Keep | None, into: LocalSymbol | None) -> None:
        if node.value is not None:
            self.leaving_with |= set(errors_of(self.analysis, node.value))
            self.visit(node.value, Keep.RETURN)
            self._note_exit(node, node)

    def throw(self, node: ast.Throw, keep: Keep | None, into: LocalSymbol | None) -> None:
        self.visit(node.value, Keep.OWN)

    def guarded(self, node: ast.TryCatch, keep: Keep | None, into: LocalSymbol | None) -> None:
        before = self.context
        self.body.catches = True
        self.context = replace(before, guarded=True)
        self.visit(node.body, keep, into)
        self.context = before
        for number, catch in enumerate(node.catches):
            before = self.enter_arm(node, number)
            for local in self.bindings(catch.pattern):
                self.body.declared[local] = self.context
            self.visit(catch.body, keep, into)
            self.context = before

    def question(self, node: ast.Try, keep: Keep | None, into: LocalSymbol | None) -> None:
        """The error that `?` passes on is kept by whoever gets it."""
        parts = result_parts(resolve(self.analysis.types.get(node.operand, ERROR)))
        passes_on = None
        if parts is not None and parts[1] in self.aggregates:
            passes_on = Keep.OWN if self.context.guarded else Keep.RETURN
        self.leaving_with |= set(errors_of(self.analysis, node.operand))
        self.visit(node.operand, passes_on)
        if keep is not None:
            self.note_kept(node, keep, into)

    def assign(self, node: ast.Assign, keep: Keep | None, into: LocalSymbol | None) -> None:
        target = node.target
        local = self._overwritten(node)
        if local is not None:
            before = self.context
            self.context = replace(before, overwrites=local, overwritten_at=node.end)
            self.visit(node.value, Keep.OWN, local)
            self._note_growth(node.value, local)
            self.context = before
            self.changed.append(local)
            self.body.assigned.add(local)
            return
        self.own_operator(node)
        is_new = node.op == "=" and not self.context.guarded
        if is_new:
            unchanged = self.collection.unchanged
            for passed_on in find_passed_on(self.analysis, self.aggregates, node, unchanged):
                self._note_exchange(*passed_on)
        mark = len(self.changed)
        around, self._assigning = self._assigning, node if is_new else None
        self.visit(node.value, Keep.OWN if node.op == "=" else None)
        self._assigning = around
        computed = len(self.changed)
        self.place(target, Keep.OWN if node.op == "=" else None)
        self.look_up_late(node, target, mark)
        if len(self.changed) > computed:
            self.note_waiting(node.value, node.end, frozenset(self.changed[computed:]))
        of_elements = isinstance(target, ast.Index) and isinstance(target.receiver, ast.Path)
        self.change(target, node.end, of_elements=of_elements)
        root = root_of(self.analysis, target)
        if root is not None and not isinstance(target, ast.Path):
            name = target.name.text if isinstance(target, ast.FieldAccess) else None
            self.body.assigned_places[root, target.start] = name

    def _note_growth(self, node: ast.Expr, local: LocalSymbol) -> None:
        call = self.analysis.calls.get(node)
        if not isinstance(node, ast.MethodCall) or not isinstance(call, NativeCall):
            return
        is_same = isinstance(node.receiver, ast.Path) and self.analysis.uses.get(node.receiver) is local
        declared = self.body.declared.get(local)
        if call.function.native in GROWTHS and is_same and declared is not None:
            self.body.notes.append(Grown(node, local, node.receiver, self.context))
            if len(self.context.loops) > len(declared.loops):
                self.body.growing.add(local)

    def pipe(self, node: ast.Pipe, keep: Keep | None, into: LocalSymbol | None) -> None:
        self.visit(node.target, keep, into)

    # --- Bodies inside bodies ---

    def closure(self, node: ast.Closure, keep: Keep | None, into: LocalSymbol | None) -> None:
        inner = self._inner()
        if node in self.folding and node.parameters:
            inner.give(node.parameters[0])
        inner.function(node.parameters, node.body)
        if node in self.lending and not self._binds_whole(node):
            self.body.lent[node] = inner.body
        if not inner.body.calls_out and not inner.body.callees & self.collection.calling_out:
            self.quiet.add(node)
        held = None if inner.body.makes_bodies else self.borrowed.get(node)
        self._made(node, inner, escapes=held is None, held=held)

    def _binds_whole(self, node: ast.Closure) -> bool:
        """Whether a parameter gives a value and parts of it names (`whole @ (a, b)`)."""
        patterns = [parameter.pattern for parameter in node.parameters if parameter.pattern is not None]
        return any(bound.whole is not None for each in patterns for bound in self._bound_nodes(each))

    def branches(self, node: ast.AwaitAll | ast.Race, keep: Keep | None, into: LocalSymbol | None) -> None:
        for item in node.items:
            self._branch(item, escapes=False)
        self.call_out(node, [])

    def spawn(self, node: ast.Spawn, keep: Keep | None, into: LocalSymbol | None) -> None:
        self._branch(node.operand, escapes=True)
        self.call_out(node, [])

    def parallel(self, node: ast.ParallelFor, keep: Keep | None, into: LocalSymbol | None) -> None:
        self.visit(node.iterable)
        if node.limit is not None:
            self.visit(node.limit)
        inner = self._inner()
        inner.bind_parameter(node.pattern)
        inner.visit(node.body, Keep.RETURN)
        self._made(node, inner, escapes=False)
        self.call_out(node, [node.iterable])

    def wait(self, node: ast.Await, keep: Keep | None, into: LocalSymbol | None) -> None:
        self.visit(node.operand)
        self.call_out(node, [])
        if keep is not None:
            self.note_kept(node, keep, into)

    def _branch(self, node: ast.Expr, escapes: bool) -> None:
        """An expression that runs as a task of its own."""
        inner = self._inner()
        inner.visit(node, Keep.RETURN)
        self._made(node, inner, escapes)

    def _inner(self) -> BodyCollector:
        body = BodyEvents(None, free_result=True)
        return BodyCollector(self.analysis, self.collection, body, self.state)

    def _made(self, node: ast.Node, inner: BodyCollector, escapes: bool, held: Region | None = None) -> None:
        """What the body inside does, this body may be said to do."""
        self.body.makes_bodies |= held is None
        self.body.catches |= inner.body.catches
        self.body.calls_out |= inner.body.calls_out
        self.body.callees |= inner.body.callees
        for local in self.analysis.captures.get(node, ()):
            self.body.uses.setdefault(local, []).append((node.start, self.context))
            capture = Capture(node, local, self.context, escapes, held)
            self.body.captured.setdefault(local, []).append(capture)
            self.body.notes.append(capture)


def _conditions(node: ast.Expr) -> Iterator[tuple[ast.LetCondition, list[ast.Node]]]:
    """The `let p = e` of a chain of conditions, with what follows them in it."""
    rest: list[ast.Node] = []
    while isinstance(node, ast.Binary) and node.op == "&&":
        if isinstance(node.right, ast.LetCondition):
            yield node.right, rest
        rest = [node.right, *rest]
        node = node.left
    if isinstance(node, ast.LetCondition):
        yield node, rest


_HANDLERS: dict[type[ast.Node], Callable[..., None]] = {
    ast.Path: BodyCollector.path,
    ast.FieldInit: BodyCollector.path,
    ast.FieldAccess: BodyCollector.field,
    ast.Ident: BodyCollector.leaf,
    ast.IntLit: BodyCollector.leaf,
    ast.FloatLit: BodyCollector.leaf,
    ast.StringLit: BodyCollector.leaf,
    ast.BoolLit: BodyCollector.leaf,
    ast.NilLit: BodyCollector.leaf,
    ast.Binary: BodyCollector.binary,
    ast.Unary: BodyCollector.unary,
    ast.ArrayLit: BodyCollector.parts,
    ast.TupleLit: BodyCollector.parts,
    ast.MapLit: BodyCollector.parts,
    ast.StructLit: BodyCollector.struct,
    ast.Block: BodyCollector.block,
    ast.If: BodyCollector.choice,
    ast.LetCondition: BodyCollector.let_condition,
    ast.Match: BodyCollector.match,
    ast.While: BodyCollector.loop,
    ast.Loop: BodyCollector.loop,
    ast.For: BodyCollector.loop,
    ast.Break: BodyCollector.jump,
    ast.Continue: BodyCollector.go_on,
    ast.Return: BodyCollector.leave,
    ast.Throw: BodyCollector.throw,
    ast.TryCatch: BodyCollector.guarded,
    ast.Try: BodyCollector.question,
    ast.Await: BodyCollector.wait,
    ast.Assign: BodyCollector.assign,
    ast.Call: BodyCollector.call,
    ast.MethodCall: BodyCollector.call,
    ast.Pipe: BodyCollector.pipe,
    ast.Closure: BodyCollector.closure,
    ast.AwaitAll: BodyCollector.branches,
    ast.Race: BodyCollector.branches,
    ast.Spawn: BodyCollector.spawn,
    ast.ParallelFor: BodyCollector.parallel,
}
