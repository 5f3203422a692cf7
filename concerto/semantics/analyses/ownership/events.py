"""What the walk over a body notes for the decisions: uses, changes, and places where values are kept."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Final, TypeAlias

from concerto.records import field, frozen, record
from concerto.semantics.analyses.ownership.aggregates import Aggregates
from concerto.semantics.model.builtins import NIL
from concerto.semantics.model.symbols import FunctionSymbol, ImplSymbol, LocalSymbol, TypeSymbol
from concerto.source import Source
from concerto.syntax import ast


class Keep(Enum):
    """How a value is kept: SHARE by a holder that cannot change it, OWN by one that can, RETURN by the
    caller, GIVE by a value that nobody can change."""

    SHARE = "share"
    OWN = "own"
    RETURN = "return"
    GIVE = "give"


NEVER: Final = sys.maxsize
"""A position after every other."""

FOLDS: Final = frozenset({"Array::fold", "Array::reduce", "Iterator::fold", "Iterator::reduce"})
"""They give what they begin with, and then each result, to their function for good."""

LENDING: Final = frozenset(
    {f"Array::{name}" for name in ("map", "filter_map", "flat_map", "fold", "reduce")}
    | {f"Array::{name}_by_key" for name in ("sort", "min", "max")}
    | {f"{owner}::{name}" for owner in ("Option", "Result") for name in ("map", "and_then")}
    | {"Map::map_values"}
)
"""What they give may share parts with what a closure that is written there gets from them."""

GROWTHS: Final = frozenset({"Array::concat", "Map::merge", "Set::union"})
"""They give their receiver and more; `…_owned` change it."""

SHARED: Final = LocalSymbol(name="(shared)", type=NIL, mutable=False, role="parameter")
"""The root of what others hold for good: contents of handles, values of captured and outer locals, parts of
immutable types."""

Region: TypeAlias = tuple[int, int]

Taker: TypeAlias = tuple[FunctionSymbol, int]
"""A parameter, by its function and its number."""

Unchanged: TypeAlias = Mapping[Taker, frozenset[Taker]]
"""Parameters whose values are as they were where their functions give an error, if these others do not keep
what they are given."""

Part: TypeAlias = ast.Expr | ast.FieldInit
"""What is kept: an expression, or a short field of a struct literal, which reads the variable of its name."""


@record(eq=False)
class Way:
    """The locals that the statements of a block assign as a whole, with where these end, in their order.
    `around` is what the block is a part of, as far as no loop lies between."""

    around: Way | None
    assigned: dict[LocalSymbol, list[int]] = field(default_factory=dict)


@frozen
class EventContext:
    """Where something happens: its loops from outside in, the branches it stands in, whether a `try` guards
    it, the local that the statement overwrites afterwards, with the statement's end, and what comes after it
    in the same round of a loop."""

    loops: tuple[Region, ...] = ()
    branches: tuple[tuple[int, int], ...] = ()
    guarded: bool = False
    overwrites: LocalSymbol | None = None
    overwritten_at: int = 0
    way: Way | None = None

    def excludes(self, other: EventContext) -> bool:
        """Are the two in different branches of the same choice?"""
        for mine, theirs in zip(self.branches, other.branches, strict=False):
            if mine != theirs:
                return mine[0] == theirs[0]
        return False


Moment: TypeAlias = tuple[int, EventContext]
"""A position and where it is."""

ChangedPlace: TypeAlias = tuple[ast.Expr | None, FunctionSymbol | None]
"""A place, and the method that changes what is there, if that is known."""


# --- Notes --------------------------------------------------------------------------------------


@frozen
class Kept:
    value: Part
    how: Keep
    into: LocalSymbol | None
    context: EventContext


@frozen
class Bound:
    """A pattern binds a part of `subject`, and of what `name @ …` around it has bound; the binding lives in
    `scope`. `taken` is where, if the subject may be given up for it; `hidden` says that the part is one of a
    value that hides its parts."""

    node: ast.Node
    local: LocalSymbol
    subject: ast.Expr
    whole: LocalSymbol | None
    scope: Region
    taken: EventContext | None
    hidden: bool


@frozen
class Iterated:
    """`key` is what the loop binds to the index, or key, of each element."""

    iterable: ast.Expr
    body: Region
    key: LocalSymbol | None = None


@frozen
class Folded:
    """What a fold with a closure begins with, put together from `start`."""

    combine: ast.Closure
    start: tuple[Part, ...]
    context: EventContext


@frozen
class Passed:
    """An argument of a function with a body, beside the others; kept if the parameter is owned."""

    value: ast.Expr
    function: FunctionSymbol
    index: int
    others: tuple[ast.Expr, ...]
    context: EventContext


@frozen
class Beside:
    """An argument beside a receiver that the call may change."""

    value: ast.Expr
    receiver: LocalSymbol


@frozen
class Waits:
    """An operand that waits while other code runs, which changes locals."""

    value: Part
    until: int
    changed: frozenset[LocalSymbol]

    def lasts_over(self, value: Part) -> bool:
        """Does the operand wait while the value is computed? It does not wait for itself."""
        return self.value.end <= value.start and value.end <= self.until


@frozen
class Capture:
    """`escapes`: the capturing body may run when the function that made it has returned. `held`: it is gone
    after this region, and outside of it nobody cares what it holds."""

    body: ast.Node
    local: LocalSymbol
    context: EventContext
    escapes: bool
    held: Region | None


@frozen
class BoundParameter:
    """A pattern binds a part of what a body was given, of a function its `parameter`; or `mut` all of it."""

    node: ast.Node
    local: LocalSymbol
    parameter: LocalSymbol | None


@frozen
class Together:
    """Parts of one value that the caller gets: no two may be the same object."""

    parts: tuple[Part, ...]


@frozen
class Grown:
    """A variable is assigned what a call makes of it, which may change it instead."""

    call: ast.Expr
    local: LocalSymbol
    receiver: ast.Expr
    context: EventContext


Note: TypeAlias = (
    Grown | Together | Kept | Bound | BoundParameter | Iterated | Folded | Passed | Beside | Waits | Capture
)  # fmt: skip


@frozen
class PutBack:
    """An assignment that stores what is there: the struct that `names` stand for, one after the other, if it
    is copied at none of the nodes `taken`."""

    node: ast.Assign
    names: frozenset[LocalSymbol]
    taken: frozenset[ast.Node]


@frozen
class Exchange:
    """A value is read from a part of the root that is assigned before anybody looks at it again. The root is
    named `reads` times on the way there; the value is read from `start` to `read`, the part is assigned by
    what stands from `assigned` to `end`, which the value may be read in. Uses `beside` it are of other
    fields. `is_whole`: nothing can fail when the value was changed. `stays`: nothing but a failure or an
    error leaves the function in between; `errs`: an error does. `assumes` are parameters that get the value,
    whose functions must not give parts of it with their errors, `lends` those that must not keep it. `parts`
    are the variables of a pattern that get parts of the value, `put_back` tells that the same value is put
    there again."""

    root: LocalSymbol
    reads: int
    start: int
    read: int
    assigned: int
    end: int
    beside: frozenset[int]
    is_whole: bool = False
    stays: bool = False
    errs: bool = False
    assumes: frozenset[Taker] = frozenset()
    lends: frozenset[Taker] = frozenset()
    parts: frozenset[LocalSymbol] = frozenset()
    put_back: PutBack | None = None


@record(eq=False)
class BodyEvents:
    """A function, closure or branch. `free_result`: its result must share nothing with anybody, but with
    what it was given if it `lends`. `lent` are closures that may do so, by where they stand. `calls_out`:
    it may run code that changes the state of tools. `from_any`: it makes values of type parameters of an
    Any. `makes_bodies`: there are closures or tasks in it that may outlive the call they are given to.
    `catches`: there is a `try` in it. `looks_on_error` are methods whose receiver may be looked at after they
    have given an error, `leaves_with_error` those that are called on parts of the receiver, which is not.
    `given` are parameters whose values the caller has no more. `exchanges` are by the variables that take
    values out of their places, or the expressions that read them. `regained` are arguments that are
    variables which get another value where the call gives no error. `leaves` are where loops are left or go
    on early, with where these begin. `changed_places` are the places in a local that are changed at a
    position, None for all that it holds; `changed_at` is when, if that is after the position, and
    `assigned_places` tells of those that are only assigned which field it is, None for an element.
    `read_fields` are fields of locals that cannot change by themselves, by where they are read. `exits` are
    where what begins at the first position ends with a jump at the second, out of the loop that begins at
    the third or the function. `growing` are variables that grow in loops which they outlive, `assigned`
    those that are assigned as a whole, `changed_inside` those of which more changes than which elements they
    have."""

    function: FunctionSymbol | None
    free_result: bool
    lends: bool = False
    calls_out: bool = False
    from_any: bool = False
    makes_bodies: bool = False
    catches: bool = False
    callees: set[FunctionSymbol] = field(default_factory=set)
    looks_on_error: set[FunctionSymbol] = field(default_factory=set)
    leaves_with_error: set[FunctionSymbol] = field(default_factory=set)
    parameters: list[LocalSymbol] = field(default_factory=list)
    given: set[LocalSymbol] = field(default_factory=set)
    declared: dict[LocalSymbol, EventContext] = field(default_factory=dict)
    captured: dict[LocalSymbol, list[Capture]] = field(default_factory=dict)
    uses: dict[LocalSymbol, list[Moment]] = field(default_factory=dict)
    changes: dict[LocalSymbol, list[Moment]] = field(default_factory=dict)
    changed_places: dict[tuple[LocalSymbol, int], list[ChangedPlace]] = field(default_factory=dict)
    changed_at: dict[tuple[LocalSymbol, int], int] = field(default_factory=dict)
    assigned_places: dict[tuple[LocalSymbol, int], str | None] = field(default_factory=dict)
    read_fields: dict[int, str] = field(default_factory=dict)
    leaves: list[tuple[int, int]] = field(default_factory=list)
    exits: list[tuple[int, int, int]] = field(default_factory=list)
    growing: set[LocalSymbol] = field(default_factory=set)
    assigned: set[LocalSymbol] = field(default_factory=set)
    changed_inside: set[LocalSymbol] = field(default_factory=set)
    lent: dict[ast.Closure, BodyEvents] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    exchanges: dict[LocalSymbol | Part, Exchange] = field(default_factory=dict)
    regained: set[Part] = field(default_factory=set)


@record(eq=False)
class Mentions:
    """What the bodies of a file do with functions but calling them: `as_values` are used as values, `folding`
    only as the functions of folds, `called_by_name` are names of methods that a dynamic call may reach."""

    as_values: set[FunctionSymbol] = field(default_factory=set)
    folding: set[FunctionSymbol] = field(default_factory=set)
    called_by_name: set[str] = field(default_factory=set)


@record(eq=False)
class Collection:
    """All bodies. Those of files that were checked before have no notes. `calling_out` are functions that may
    run code of tools, in whatever depth. `here` is for the file of the body that is walked, `mentions` are
    those of each file; `called_by_name`, `as_values` and `folding` join them in the end. `iterated` become
    iterators, which go through them later. `only_called` are the parameters that functions only
    call, `unchanged` those whose values have not changed where their functions give an error. `changed_types`
    are the types of values of which a part is changed in its place."""

    iterated: frozenset[ast.Node] = frozenset()
    only_called: Mapping[FunctionSymbol, frozenset[int]] = field(default_factory=dict)
    unchanged: Unchanged = field(default_factory=dict)
    aggregates: Aggregates = field(default_factory=Aggregates)
    changed_types: set[TypeSymbol] = field(default_factory=set)
    bodies: list[BodyEvents] = field(default_factory=list)
    mentions: dict[Source | None, Mentions] = field(default_factory=dict)
    here: Mentions = field(default_factory=Mentions)
    called_by_name: set[str] = field(default_factory=set)
    as_values: set[FunctionSymbol] = field(default_factory=set)
    folding: set[FunctionSymbol] = field(default_factory=set)
    calling_out: set[FunctionSymbol] = field(default_factory=set)

    def enter(self, source: Source | None) -> None:
        """The next body is one of this file."""
        self.here = self.mentions.setdefault(source, Mentions())

    def join_mentions(self) -> None:
        for mentions in self.mentions.values():
            self.as_values |= mentions.as_values
            self.folding |= mentions.folding
            self.called_by_name |= mentions.called_by_name

    def find_callers_out(self) -> None:
        """Fill `calling_out` from the bodies collected so far."""
        self.calling_out |= self._callers(lambda body: body.calls_out, lambda function: [function])

    def made_from_any(self) -> set[FunctionSymbol]:
        """The functions that make values of type parameters of an Any, in whatever depth. A method of a trait
        stands for its impls; who knows all types passes nothing on."""
        return self._callers(lambda body: body.from_any, _with_trait)

    def _callers(
        self,
        does: Callable[[BodyEvents], bool],
        called_as: Callable[[FunctionSymbol], Iterable[FunctionSymbol]],
    ) -> set[FunctionSymbol]:
        """Functions that do something, and those that call them in whatever depth."""
        named = [(body.function, body) for body in self.bodies if body.function is not None]
        waiting = [function for function, body in named if does(body)]
        callers: dict[FunctionSymbol, list[FunctionSymbol]] = {}
        for function, body in named if waiting else ():
            for callee in body.callees:
                callers.setdefault(callee, []).append(function)
        found = set[FunctionSymbol]()
        while waiting:
            for function in called_as(waiting.pop()):
                if function not in found:
                    found.add(function)
                    waiting.extend(callers.get(function, ()))
        return found


def _with_trait(function: FunctionSymbol) -> Iterator[FunctionSymbol]:
    """A function that does not know all types of its signature, and the method of a trait that it stands
    for."""
    own, owner = function.self_type, function.owner
    types = [function.result, *(parameter.type for parameter in function.parameters)]
    if not all(type_.plain for type_ in (types if own is None else [*types, own])):
        yield function
        if isinstance(owner, ImplSymbol) and owner.trait is not None:
            yield owner.trait.trait.methods[function.name]
