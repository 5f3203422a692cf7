"""Calls: what they do with their arguments, and when these are looked at."""

from __future__ import annotations

from collections.abc import Sequence

from concerto.semantics.analyses.ownership.callbacks import callbacks_of, is_handle
from concerto.semantics.analyses.ownership.events import (
    FOLDS,
    LENDING,
    Beside,
    BodyEvents,
    Collection,
    Folded,
    Iterated,
    Keep,
    Part,
    Passed,
    Region,
    Together,
)
from concerto.semantics.analyses.ownership.recorder import Recorder, field_of, folds, leaves, root_of
from concerto.semantics.model.analysis import (
    AgentCall,
    Analysis,
    BoundCall,
    ConstructorCall,
    Default,
    DynamicCall,
    EmitCall,
    FunctionCall,
    Given,
    McpFunctionCall,
    NativeCall,
    PanicCall,
    PipelineCall,
    ToolMethodCall,
    ValueCall,
    WrapCall,
)
from concerto.semantics.model.builtins import ITERATOR
from concerto.semantics.model.symbols import (
    ERROR,
    FunctionOf,
    FunctionSymbol,
    LocalSymbol,
    Named,
    ToolSymbol,
)
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast
from concerto.syntax.walk import children

_UPDATE = "Map::update"


class CallCollector(Recorder):
    """`borrowed` are closures that are gone when the call that they are given to has returned, with the
    region in which nothing that they hold may change; `quiet` those that call no tool; `folding` functions
    of folds; `lending` closures that may share what they give with what they get. `lent` are calls that give
    the iterator of a loop, which is gone after it, with its end; `keys` are bound by loops to the indexes of
    what these go through. `leaving_with` are calls whose error leaves the body,
    `dropping` methods on variables of its own that it leaves with their error."""

    def __init__(
        self, analysis: Analysis, collection: Collection, body: BodyEvents, state: LocalSymbol | None = None
    ) -> None:
        super().__init__(analysis, collection, body, state)
        self.borrowed: dict[ast.Expr, Region] = {}
        self.quiet: set[ast.Expr] = set()
        self.folding: set[ast.Expr] = set()
        self.lending: set[ast.Expr] = set()
        self.lent: dict[ast.Expr, int] = {}
        self.keys: dict[ast.Expr, LocalSymbol] = {}
        self.leaving_with: set[ast.Expr] = set()
        self.dropping: set[FunctionSymbol] = set()

    def visit(self, node: ast.Node, keep: Keep | None = None, into: LocalSymbol | None = None) -> None:
        """Visit an expression whose value is only looked at (`keep` None) or kept."""
        raise NotImplementedError

    def in_turn(
        self, nodes: Sequence[ast.Node], keep: Keep | None = None, into: LocalSymbol | None = None
    ) -> None:
        """Operands in the order of their evaluation: each waits for those after it."""
        if len(nodes) < 2:
            for node in nodes:
                self.visit(node, keep, into)
            return
        notes, changed = self.body.notes, self.changed
        marks = []
        for node in nodes:
            self.visit(node, keep, into)
            marks.append((len(notes), len(changed)))
        if marks[0] == marks[-1]:
            return
        until = nodes[-1].end
        later: frozenset[LocalSymbol] = frozenset()
        changes = len(changed)
        for node, (noted, mark) in zip(reversed(nodes[:-1]), reversed(marks[:-1]), strict=True):
            later |= frozenset(changed[mark:changes])
            changes = mark
            self.note_waiting(node, until, later, noted)

    def keep_parts(
        self, node: ast.Expr, parts: Sequence[Part], keep: Keep | None, into: LocalSymbol | None
    ) -> None:
        if self.is_immutable(node):
            self.in_turn(parts, Keep.GIVE)
            return
        settled_whole = keep is Keep.RETURN and not self.body.free_result
        self.in_turn(parts, None if settled_whole else keep)
        if keep is Keep.RETURN and len(parts) > 1:
            self.body.notes.append(Together(tuple(parts)))
        if keep is Keep.SHARE or (settled_whole and keep is not None):
            self.note_kept(node, keep, into)

    def place(self, node: ast.Expr, key: Keep | None = None) -> None:
        """What is evaluated on the way to a place, the index of the place itself kept as the `key` of a map.
        Its containers wait for nothing: if they are changed meanwhile, the place is looked up late."""
        if isinstance(node, ast.FieldAccess | ast.Index):
            self.place(node.receiver)
            if isinstance(node, ast.Index):
                self.visit(node.index, key)
        else:
            self.visit(node)

    def call(
        self, node: ast.Call | ast.MethodCall | ast.Path, keep: Keep | None, into: LocalSymbol | None
    ) -> None:
        target = self.analysis.calls.get(node)
        match target:
            case FunctionCall(function=function, arguments=arguments):
                changes = function.receiver == "mut self"
                for index in self.collection.only_called.get(function, ()):
                    given = arguments[index]
                    if isinstance(given, ast.Closure):
                        self.borrowed[given] = (min(node.start, given.start), node.end)
                self._arguments(node, arguments, changes=changes, function=function)
                self.body.callees.add(function)
                if changes:
                    self._note_error(node, function, arguments[0])
                if function in self.collection.calling_out or isinstance(function.owner, ToolSymbol):
                    self.call_out(node, arguments[changes:])
            case NativeCall(function=function, arguments=arguments):
                self._native(node, function, arguments)
            case DynamicCall(name=name, arguments=arguments, mutable=mutable, lazy=lazy):
                self.collection.here.called_by_name.add(name)
                if lazy and not mutable:
                    self.in_turn([given for given in arguments if not isinstance(given, Default)], Keep.OWN)
                else:  # What changes may be of the library, and keeps what it is given.
                    self._arguments(node, arguments, changes=mutable, keep=Keep.OWN if mutable else None)
                self.call_out(node, arguments[mutable:])
            case BoundCall(function=function, arguments=arguments):
                self.collection.here.called_by_name.add(function.name)
                self.body.callees.add(function)
                changes = function.receiver == "mut self"
                self._arguments(node, arguments, changes=changes)
                self.call_out(node, arguments[changes:])
            case ConstructorCall(arguments=arguments):
                self._wrapped(node, arguments, keep, into)
                return
            case WrapCall(argument=argument):
                self._wrapped(node, [argument], keep, into)
                return
            case ValueCall(callee=callee, arguments=arguments):
                self._arguments(node, [callee, *arguments])
                self.call_out(node, arguments)
            case EmitCall(channel=channel, payload=payload):
                self._arguments(node, [channel, payload])
                self.call_out(node, [])
            case PanicCall(message=message):
                self._arguments(node, [message])
            case (
                ToolMethodCall(arguments=arguments)
                | McpFunctionCall(arguments=arguments)
                | AgentCall(arguments=arguments)
                | PipelineCall(arguments=arguments)
            ):
                self._arguments(node, arguments)
                self.call_out(node, arguments)
            case None:
                for child in children(node):
                    self.visit(child)
        if keep is not None:
            self.note_kept(node, keep, into)

    def _note_error(self, node: ast.Expr, function: FunctionSymbol, receiver: Given) -> None:
        """Note who may look at the receiver of a method after an error: nobody where that leaves the body."""
        root = None if isinstance(receiver, Default) else root_of(self.analysis, receiver)
        if root is None:
            return
        if node not in self.leaving_with:
            self.body.looks_on_error.add(function)
        elif root.role == "self":
            self.body.leaves_with_error.add(function)
        else:
            self.dropping.add(function)

    def _arguments(
        self,
        node: ast.Expr,
        arguments: Sequence[Given],
        changes: bool = False,
        function: FunctionSymbol | None = None,
        keep: Keep | None = None,
    ) -> None:
        """Arguments, borrowed unless `keep` says otherwise of those after the first; with `changes` the first
        one is a place that the call may change, or a value that nobody else may see."""
        given = [argument for argument in arguments if not isinstance(argument, Default)]
        starts = [argument.start for argument in given]
        if len(starts) < 2 or starts == sorted(starts):
            self._evaluate(node, given, changes, keep)
            self._pass(arguments, function)
        else:
            with self.unordered(node):
                self._evaluate(node, given, changes, keep)
                self._pass(arguments, function)
        if changes:
            call = self.analysis.calls.get(node)
            of_elements = isinstance(call, NativeCall) and isinstance(given[0], ast.Path)
            if isinstance(call, NativeCall) and call.function.native == _UPDATE:
                of_elements = False  # What an element is made of may be the element, changed.
            self._change_receiver(given, node.end, function, of_elements)

    def _evaluate(self, node: ast.Expr, given: Sequence[ast.Expr], changes: bool, keep: Keep | None) -> None:
        if changes and given:
            receiver = given[0]
            if root_of(self.analysis, receiver) is None:
                self.visit(receiver, Keep.OWN)
                self.in_turn(given[1:], keep)
                return
            mark = len(self.changed)
            self.place(receiver)
            self.in_turn(given[1:], keep)
            self.look_up_late(node, receiver, mark)
        elif keep is not None and given:
            self.in_turn(given[:1])
            self.in_turn(given[1:], keep)
        else:
            self.in_turn(given)

    def _pass(self, arguments: Sequence[Given], function: FunctionSymbol | None) -> None:
        if function is None:
            return
        passed = [
            (index, given)
            for index, given in enumerate(arguments)
            if not isinstance(given, Default) and self.analysis.types.get(given, ERROR) in self.aggregates
        ]
        for index, given in passed:
            others = tuple([other for number, other in passed if number != index])
            self.body.notes.append(Passed(given, function, index, others, self.context))

    def _change_receiver(
        self, given: Sequence[ast.Expr], end: int, method: FunctionSymbol | None, of_elements: bool
    ) -> None:
        root = root_of(self.analysis, given[0])
        if root is not None:
            self.change(given[0], end, method, of_elements)
            beside = [value for value in given[1:] if not self._are_apart(value, given[0])]
            self.body.notes.extend(Beside(value, root) for value in beside)

    def _are_apart(self, one: ast.Expr, other: ast.Expr) -> bool:
        """Are two places in different fields of the same variable?"""
        fields = field_of(self.analysis, one), field_of(self.analysis, other)
        is_same = root_of(self.analysis, one) is root_of(self.analysis, other)
        return is_same and None not in fields and fields[0] != fields[1]

    def _native(self, node: ast.Expr, function: FunctionSymbol, arguments: Sequence[Given]) -> None:
        """A library method that changes its receiver, or whose receiver is a handle, keeps its arguments, but
        of functions only the handle does."""
        changes = function.receiver == "mut self"
        keeps, of_handle = changes, False
        if isinstance(function.result, Named) and function.result.symbol is ITERATOR:
            operands = [given for given in arguments if not isinstance(given, Default)]
            if node in self.lent:
                self._lend(function, operands, self.lent[node])
            else:
                self.in_turn(operands, Keep.OWN)
            return
        receiver = arguments[0] if arguments and function.receiver else None
        if receiver is not None and not isinstance(receiver, Default):
            if self.analysis.types.get(node, ERROR) not in self.aggregates:
                self.lend_through(receiver, node.end)  # What is given is no part of it.
            of_handle = is_handle(self.analysis, receiver)
            keeps = keeps or of_handle
        if not of_handle:
            for given in callbacks_of(function, arguments):
                if isinstance(given, ast.Closure):
                    self.borrowed[given] = (node.start if changes else given.start, node.end)
        if function.native in LENDING:
            self.lending.update(given for given in arguments if isinstance(given, ast.Closure))
        if function.native == _UPDATE:
            self._update(arguments)
        start = self._fold(arguments) if function.native in FOLDS else None
        self._arguments(node, arguments, changes, keep=Keep.OWN if keeps else None)
        if start is not None:
            self._note_start(start, arguments[-1])
        if self._runs_other_code(function, arguments):
            self.call_out(node, arguments)

    def lend_through(self, node: ast.Expr, end: int) -> ast.Expr | None:
        """Let what goes through `values.iter()` until the end, with methods of iterators on the way, go
        through the values themselves; gives these."""
        chain = []
        while True:
            target = self.analysis.calls.get(node)
            if not isinstance(target, NativeCall):
                return None
            native = target.function.native or ""
            receiver = target.arguments[0] if native.startswith("Iterator::") else None
            if receiver is None or isinstance(receiver, Default):
                return None
            chain.append(node)
            if native == "Iterator::iter":
                self.lent.update(dict.fromkeys(chain, end))
                return receiver
            node = receiver

    def _lend(self, function: FunctionSymbol, given: Sequence[ast.Expr], end: int) -> None:
        """What the iterator of a loop goes through is not its own, but may not change before the end."""
        receiver, *others = given
        self.visit(receiver)
        if function.native == "Iterator::iter":
            self.body.notes.append(Iterated(receiver, (receiver.end, end), self.keys.get(receiver)))
        self.in_turn(others, Keep.OWN)

    def _update(self, arguments: Sequence[Given]) -> None:
        """A closure gets for good what a map has, unless somebody may look at the map when it fails."""
        place, _, change = arguments
        root = None if isinstance(place, Default) else root_of(self.analysis, place)
        is_own = root is not None and root in self.body.declared and root not in self.body.parameters
        if is_own and isinstance(change, ast.Closure) and not self.context.guarded:
            self.folding.add(change)

    def _fold(self, arguments: Sequence[Given]) -> ast.Expr | None:
        """What a fold begins with, if its function keeps that."""
        _, start, combine = arguments
        if isinstance(start, Default) or isinstance(combine, Default) or not folds(self.analysis, combine):
            return None
        self.folding.add(combine)
        return start

    def _note_start(self, start: ast.Expr, combine: Given) -> None:
        if isinstance(combine, ast.Closure) and combine in self.lending:
            aggregates = [
                leaf for leaf in leaves(start) if self.analysis.types.get(leaf, ERROR) in self.aggregates
            ]
            self.body.notes.append(Folded(combine, tuple(aggregates), self.context))
            return
        for leaf in leaves(start):
            self.note_kept(leaf, Keep.OWN, None)

    def _runs_other_code(self, function: FunctionSymbol, arguments: Sequence[Given]) -> bool:
        """May a library function run code of the program, or wait for the world while other code runs?"""
        native = function.native or ""
        if native.startswith("Iterator::"):
            return True
        if native.startswith("std::") and not native.startswith("std::prelude::"):
            return True
        for given in arguments:
            if isinstance(given, Default) or given in self.quiet:
                continue
            if isinstance(resolve(self.analysis.types.get(given, ERROR)), FunctionOf):
                return True
        return False

    def call_out(self, node: ast.Expr, arguments: Sequence[Given]) -> None:
        """Code runs that may call the methods of tools: their state may be another one afterwards. A receiver
        that the call changes is no argument: it is the place itself."""
        self.body.calls_out = True
        if self.state is not None:
            self.note_change(self.state, node.end)
            for given in arguments:
                if not isinstance(given, Default):
                    self.note_waiting(given, node.end, frozenset((self.state,)))

    def _wrapped(
        self, node: ast.Expr, arguments: Sequence[Given], keep: Keep | None, into: LocalSymbol | None
    ) -> None:
        self.keep_parts(node, [given for given in arguments if not isinstance(given, Default)], keep, into)
