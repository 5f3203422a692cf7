"""What the checking of one body knows while it goes: variables in sight, the function around, what was found.

Expressions are checked in both directions. `infer(node, hint)` finds a type; a hint is a type that will be
required of the value, so that literals, closures and branches can be checked against it where they are
written. `check(node, expected)` requires it and notes the conversions. `DISCARD` as a hint says that nobody
wants the value. Types are written into the tables of `Analysis` when the body is done and its variables are
solved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from concerto.diagnostics import MismatchedTypes, Problem
from concerto.records import field, record
from concerto.semantics.check.expected_answers import note_answer
from concerto.semantics.model.analysis import CheckedBody, Coercion, Witness
from concerto.semantics.model.builtins import AGENT_REF, ANY, ITERATOR, NIL, STRING
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import MethodMatch, TypeScope
from concerto.semantics.model.symbols import (
    ERROR,
    AgentSymbol,
    ErrorType,
    FieldSymbol,
    FunctionSymbol,
    GenericSymbol,
    LocalSymbol,
    Named,
    ParameterSymbol,
    Symbol,
    ToolSymbol,
    TraitUse,
    Type,
)
from concerto.semantics.typing.coercion import UNCHANGED, fit
from concerto.semantics.typing.members import find_method, provided_for
from concerto.semantics.typing.mismatches import explain_mismatch
from concerto.semantics.typing.traits import element_of
from concerto.semantics.typing.unify import is_erroneous, resolve, show, zonk
from concerto.source import Source, Span
from concerto.syntax import ast

DISCARD: Final = ErrorType()
"""The hint of an expression whose value is dropped: known by identity, accepting every type as ERROR does."""


class BreakValues(Protocol):
    """What the `break`s of a `loop` give. `broken`: one left it whose value was reported."""

    broken: bool

    def add(self, node: ast.Expr) -> None: ...

    def add_nil(self, node: ast.Expr) -> None: ...


@record(eq=False)
class LoopFrame:
    """A loop around the place; `branches` collects the values of the `break`s of a `loop`."""

    node: ast.Loop | ast.While | ast.For
    branches: BreakValues | None
    broken: bool = False


@record(eq=False)
class TryFrame:
    """A `try` around the place: what may be thrown inside, each with the expression that throws."""

    thrown: list[tuple[ast.Expr, Type]] = field(default_factory=list)


FrameKind: TypeAlias = Literal["function", "stage", "closure", "task", "branch", "constant"]


@record(eq=False)
class BodyFrame:
    """What `return` and `?` leave: a function, stage or closure; `block` is its body. A `task` (of `spawn`)
    is left by `?` alone, which makes its value a Result. A `branch` (of `await (…)`, `race`, `parallel for`)
    is a body of its own that lets errors through to where it stands; a `constant` is a default value.
    `fails` is the type of the errors that may leave a stage that gives no Result; Any for all of them."""

    node: ast.Node
    kind: FrameKind
    result: Type
    block: ast.Block | None = None
    outer: BodyFrame | None = None
    function: FunctionSymbol | None = None
    fails: Type | None = None
    loops: list[LoopFrame] = field(default_factory=list)
    tries: list[TryFrame] = field(default_factory=list)
    captures: dict[LocalSymbol, None] = field(default_factory=dict)


class BodyChecker:
    """The state of checking one function, stage or default value."""

    def __init__(
        self, declarations: Declarations, source: Source, scope: TypeScope, frame: BodyFrame
    ) -> None:
        self.declarations = declarations
        self.analysis = declarations.analysis
        self.source = source
        self.scope = scope
        declarations.here = scope.module
        self.frame = frame
        self.locals: dict[str, LocalSymbol] = {}
        self.deferred: set[LocalSymbol] = set()
        self.undeclared: set[str] = set()
        """Names that were assigned to and are no variables, which was reported."""
        self.naming: set[str] = set()
        """Names that the closures around get when they are made."""
        self.beside: tuple[Iterable[ParameterSymbol | FieldSymbol], str] = (), ""
        """What stands beside a default value, which does not see it, and what to write instead."""
        self.types: dict[ast.Node, Type] = {}
        self.pattern_types: dict[ast.Node, Type] = {}
        self.coercions: dict[ast.Node, tuple[Coercion, ...]] = {}
        self.later: list[Callable[[], None]] = []
        self.witnesses: dict[tuple[GenericSymbol, TraitUse], Witness] = {}
        self.found_witnesses: dict[tuple[Type, TraitUse], Witness | None] = {}
        self._hidden: list[tuple[str, LocalSymbol | None]] = []
        self._made: list[LocalSymbol] = []

    # --- Types of expressions ---

    def infer(self, node: ast.Expr, hint: Type | None = None) -> Type:
        """The type of an expression; transparent ones (blocks, branches) already meet the hint."""
        found = CHECKERS[node.__class__](self, node, hint)
        self.types[node] = found
        return found

    def check(self, node: ast.Expr, expected: Type) -> Type:
        """Require a type of an expression; gives the type its value has after conversion."""
        found = CHECKERS[node.__class__](self, node, expected)
        self.types[node] = found
        if found is expected or self.coerce(node, found, expected):
            return expected
        return ERROR

    def coerce(self, node: ast.Node, found: Type, expected: Type) -> bool:
        """Note how the value of `node` becomes one of the expected type, or report that it cannot."""
        coercions = fit(found, expected)
        if coercions is None:
            coercions = self._as_iterator(found, expected)
        if coercions is None:
            if not (is_erroneous(found) or is_erroneous(expected)):
                self.mismatch(node, expected, found)
            return False
        if coercions:
            self.add_coercions(node, coercions)
        return True

    def _as_iterator(self, found: Type, expected: Type) -> tuple[Coercion, ...] | None:
        """What makes an `Iterator<T>` of another value that `for` goes through; None if nothing does."""
        wanted = resolve(expected)
        if not isinstance(wanted, Named) or wanted.symbol is not ITERATOR or resolve(found) is STRING:
            return None
        item = element_of(self.declarations, found)
        fits = item is not None and fit(item, wanted.arguments[0]) == UNCHANGED
        return (Coercion("iterate"),) if fits else None

    def add_coercions(self, node: ast.Node, coercions: tuple[Coercion, ...]) -> None:
        self.coercions[node] = (*self.coercions.get(node, ()), *coercions)

    def mismatch(self, node: ast.Node, expected: Type, found: Type) -> None:
        message, label, help_ = explain_mismatch(self.source, node, expected, found)
        if expected is NIL and self._is_result(node):
            help_ = (
                f"declare what the function gives, `-> {show(found)}`, or end it with `;` to drop the value"
            )
        self.report(MismatchedTypes(self.span(node), message, label=label, help=help_))

    def _is_result(self, node: ast.Node) -> bool:
        """Whether an expression is the last one of a function that declares no result and may have one."""
        owner, block = self.frame.node, self.frame.block
        if not isinstance(owner, ast.FnDecl) or owner.result is not None or owner.name.text == "main":
            return False
        return block is not None and block.result is node

    # --- Reporting ---

    def report(self, problem: Problem) -> Type:
        """Add a problem; gives ERROR, the type of whatever it is about."""
        self.declarations.problems.add(problem)
        return ERROR

    def span(self, node: ast.Node) -> Span:
        return Span(self.source, node.start, node.end)

    def text(self, node: ast.Node) -> str:
        """The expression as written, shortened where it is long or spans lines."""
        text = self.source.text[node.start : node.end]
        return text if len(text) <= 40 and "\n" not in text else "…"

    # --- Variables ---

    def declare(
        self, name: str, type_: Type, node: ast.Node, role: LocalRole, mutable: bool = False
    ) -> LocalSymbol:
        local = LocalSymbol(
            name=name,
            node=node,
            source=self.source,
            type=type_,
            mutable=mutable,
            role=role,
            function=self.frame.node,
        )
        self._made.append(local)
        self.bind(name, local)
        if self.analysis.names is not None:
            place = getattr(node, "name", None)
            if isinstance(place, ast.Ident):
                self.note(place, local)
        return local

    def note(self, name: ast.Ident, symbol: Symbol | None) -> None:
        """Remember what a name stands for, if somebody wants to know."""
        names = self.analysis.names
        if names is not None and symbol is not None:
            names[name] = (symbol, self.source)

    def bind(self, name: str, local: LocalSymbol) -> None:
        """Make a variable visible until the scope around is left."""
        self._hidden.append((name, self.locals.get(name)))
        self.locals[name] = local

    def enter_scope(self) -> int:
        return len(self._hidden)

    def leave_scope(self, mark: int) -> None:
        hidden = self._hidden
        while len(hidden) > mark:
            name, before = hidden.pop()
            if before is None:
                del self.locals[name]
            else:
                self.locals[name] = before

    def use(self, local: LocalSymbol) -> None:
        """Note a use of a variable: bodies between it and its owner capture it."""
        frame: BodyFrame | None = self.frame
        while frame is not None and frame.node is not local.function:
            frame.captures[local] = None
            frame = frame.outer

    def enter_frame(
        self, node: ast.Node, kind: FrameKind, result: Type, block: ast.Expr | None = None
    ) -> None:
        inner = block if isinstance(block, ast.Block) else None
        self.frame = BodyFrame(node, kind, result, inner, self.frame, self.frame.function)

    def leave_frame(self) -> None:
        """Back to the body around; what was captured is noted."""
        done = self.frame
        assert done.outer is not None
        self.analysis.captures[done.node] = list(done.captures)
        self.frame = done.outer

    # --- Members ---

    def own_tool(self, receiver: Type) -> ToolSymbol | None:
        """The tool that the body is a part of, if the receiver is its `self`."""
        owner = self.frame.function.owner if self.frame.function is not None else None
        if isinstance(owner, ToolSymbol) and isinstance(receiver, Named) and receiver.symbol is owner.state:
            return owner
        return None

    def find_method(self, receiver: Type, name: str) -> MethodMatch | None:
        """The method of a value; inside of a tool or an agent's impl also those of the declaration itself."""
        owner = self.frame.function.owner if self.frame.function is not None else None
        agent = owner if isinstance(owner, AgentSymbol) and receiver is AGENT_REF else None
        inside = agent or self.own_tool(receiver)
        own = inside.methods.get(name) if inside is not None else None
        if own is None:
            return find_method(self.declarations, receiver, name)
        trait = inside.trait if isinstance(inside, ToolSymbol) and own.owner is not inside else None
        return MethodMatch(own, {} if trait is None else provided_for(trait, receiver), False)

    # --- The end ---

    def finish(self) -> None:
        """Run what waited for all types, then write solved types into the tables."""
        for action in self.later:
            action()
        analysis = self.analysis
        settled = _settler()
        for types in (self.types, self.pattern_types):
            for node in [node for node, found in types.items() if not found.closed]:
                types[node] = settled(types[node])
        analysis.types.update(self.types)
        analysis.pattern_types.update(self.pattern_types)
        nodes = [node for node in self.types if node.__class__ in _LOOKED_AT]
        if nodes:
            analysis.bodies.append(CheckedBody(self.frame.node, self.source, nodes, self.deferred))
        for local in self._made:
            found = local.type
            if found.__class__ is not Named or found.arguments:
                local.type = settled(found)
        for node, coercions in self.coercions.items():
            analysis.coercions[node] = tuple([_settled(coercion, settled) for coercion in coercions])
            last = analysis.coercions[node][-1]
            if last.kind == "check" and last.target is not None and isinstance(node, ast.Expr):
                note_answer(analysis, node, last.target)
            for coercion in analysis.coercions[node]:
                if coercion.target is not None and coercion.kind in ("check", "function_adapter"):
                    self.note_from_any(coercion.target)

    def note_from_any(self, target: Type) -> None:
        """An Any, or something with an Any inside, becomes a value of this type."""
        if not target.plain and self.frame.function is not None:
            self.analysis.from_any.add(self.frame.function)


_LOOKED_AT: Final = frozenset(
    {ast.Match, ast.Block, ast.For, ast.ParallelFor, ast.Closure, ast.Assign, ast.If, ast.While,
     ast.LetCondition}
)  # fmt: skip
"""What later passes look at: see `CheckedBody`."""

LocalRole: TypeAlias = Literal["let", "parameter", "self", "pattern"]


def _settler() -> Callable[[Type], Type]:
    """Gives types without variables. Many have the very same parts; those that were looked at are kept, so
    that their ids stay theirs."""
    known: dict[int, Type] = {}
    kept: list[Type] = []

    def settled(found: Type) -> Type:
        kept.append(found)
        return zonk(found, ANY, known)

    return settled


def _settled(coercion: Coercion, settled: Callable[[Type], Type]) -> Coercion:
    if coercion.target is None:
        return coercion
    return Coercion(coercion.kind, settled(coercion.target), coercion.function, coercion.witnesses)


# --- Registry -----------------------------------------------------------------------------------

CHECKERS: dict[type[ast.Node], Callable[..., Type]] = {}
"""How to find the type of each kind of expression, by its class."""

Registered = TypeVar("Registered", bound=Callable[..., Type])


def checks(*kinds: type[ast.Node]) -> Callable[[Registered], Registered]:
    """Register the checker of an expression class: `(body, node, hint) -> Type`."""

    def register(checker: Registered) -> Registered:
        for kind in kinds:
            CHECKERS[kind] = checker
        return checker

    return register


def useful_hint(hint: Type | None) -> Type | None:
    """The hint if it says anything: not for a dropped value and not for a type yet unknown."""
    if hint is None or hint is DISCARD:
        return None
    hint = resolve(hint)
    return None if isinstance(hint, ErrorType) else hint


def spoilt(hint: Type | None) -> bool:
    """Whether the type that is asked for was reported: then whatever stands there will do."""
    return hint is not None and hint is not DISCARD and isinstance(resolve(hint), ErrorType)
