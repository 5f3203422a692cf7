"""The code of one function while it is being written: slots, regions, positions, and two ways to emit a node.

`value(node)` leaves exactly one value on the stack, with the checker's coercions and the ownership pass's
copy applied; `effect(node)` leaves none. What a node class does is registered by the modules of this package.
After an instruction that never continues (`RETURN`, `BR`, `THROW`) the builder is `dead` until the region
ends, and statements are not emitted any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

from concerto.emit.instructions import (
    COPY,
    COPY_ARRAY,
    END,
    LEAVE_ENTRY,
    LOAD_NIL,
    LOAD_NONE,
    PAIR,
    POP,
    RETURN,
)
from concerto.emit.program import ProgramBuilder
from concerto.ir.module import Function, Instr, Position
from concerto.records import frozen, replace
from concerto.semantics.model.analysis import Coercion
from concerto.semantics.model.builtins import ANY, ARRAY, FLOAT, MAP, option_item
from concerto.semantics.model.symbols import LocalSymbol, Named, Type
from concerto.semantics.typing.coercion import widened
from concerto.syntax import ast

NodeClass: TypeAlias = type[ast.Node]
Emitter = TypeVar("Emitter", bound=Callable[..., None])

VALUES: dict[NodeClass, Callable[[FunctionBuilder, ast.Node], None]] = {}
EFFECTS: dict[NodeClass, Callable[[FunctionBuilder, ast.Node], None]] = {}
COERCIONS: dict[str, Callable[[FunctionBuilder, ast.Node, Coercion], None]] = {}


def value_of(*classes: NodeClass) -> Callable[[Emitter], Emitter]:
    """Register what pushes the value of an expression class."""

    def register(emitter: Emitter) -> Emitter:
        VALUES.update(dict.fromkeys(classes, emitter))
        return emitter

    return register


def effect_of(*classes: NodeClass) -> Callable[[Emitter], Emitter]:
    """Register what runs a node class for its effect alone; without one its value is dropped."""

    def register(emitter: Emitter) -> Emitter:
        EFFECTS.update(dict.fromkeys(classes, emitter))
        return emitter

    return register


def coercion_of(*kinds: str) -> Callable[[Emitter], Emitter]:
    """Register how the value on the stack is converted for a kind of `Coercion`."""

    def register(emitter: Emitter) -> Emitter:
        COERCIONS.update(dict.fromkeys(kinds, emitter))
        return emitter

    return register


@frozen
class LoopRegions:
    """The depths that `break` and `continue` leave for; a `valued` loop takes a value with each `break`."""

    outside: int
    inside: int
    valued: bool = False


class FunctionBuilder:
    """`slots` maps locals to their numbers, `loops` knows the regions of the loops around the code being
    written, `guarded` counts its TRY regions. `around` is set in a concurrent branch: the code that it
    stands in, whose TRY regions guard it too; `throws_return` says that an error leaves that code. `piped` is
    the bare function name that a `|>` is about to call. `self_slot` is set in an `inout` function: every
    return then gives (result, self). `owns_tasks`: it starts tasks, or is given some by what it calls.
    `is_entry`: it is called from outside, as `main` is, and may return an Err. `early` are operands that were
    computed before their turn, with their locals."""

    __slots__ = (
        "_end", "_start", "around", "calls", "code", "coercions", "copies", "dead", "depth", "early", "emit",
        "fields", "file", "fixed", "guarded", "is_entry", "locals", "loops", "name",
        "owns_tasks", "piped", "positions", "program", "self_slot", "shallow", "slots", "throws_return",
        "types", "uses",
    )  # fmt: skip

    def __init__(
        self, program: ProgramBuilder, name: str, file: int, around: FunctionBuilder | None = None
    ) -> None:
        self.program = program
        self.name = name
        self.file = file
        self.code: list[Instr] = []
        self.emit = self.code.append
        self.positions: list[Position] = []
        self.slots: dict[LocalSymbol, int] = {}
        self.early: dict[ast.Expr, int] = {}
        self.locals = 0
        self.depth = 0
        self.loops: dict[ast.Node, LoopRegions] = {}
        self.around = around
        self.guarded: int = 0 if around is None else around.guarded
        self.throws_return = False
        self.self_slot: int | None = None
        self.is_entry = False
        self.owns_tasks = False
        self.piped: ast.Path | None = None
        self.dead = False
        self.fixed = 0
        self.coercions = program.analysis.coercions
        self.copies = program.analysis.copies
        self.shallow = program.analysis.shallow
        self.types = program.analysis.types
        self.uses = program.analysis.uses
        self.fields = program.analysis.fields
        self.calls = program.analysis.calls
        self._start = self._end = -1

    # --- Nodes ---

    def value(self, node: ast.Expr | ast.FieldInit) -> None:
        """Push the value of an expression, as its surroundings want it."""
        VALUES[node.__class__](self, node)
        if node in self.coercions:
            self.coerce(node, self.coercions[node])
        if node in self.copies:
            if node in self.coercions:
                self.emit(COPY)
            elif node in self.shallow:
                self.emit(COPY_ARRAY)
            else:
                self.copy(self.types.get(node))

    def copy(self, kind: Type | None) -> None:
        """Make the value on the stack, of a known type, an independent one."""
        if self._is_flat(kind):
            self.emit(COPY_ARRAY)
        else:
            self.emit(COPY if kind is None else ("COPY_OF", self.program.types.index(kind)))

    def _is_flat(self, kind: Type | None) -> bool:
        """Whether it is an array or map of elements that never change."""
        match kind:
            case Named(symbol, items) if symbol is ARRAY or symbol is MAP:
                return not any(item in self.program.aggregates for item in items)
            case _:
                return False

    def coerce(self, node: ast.Node, coercions: Iterable[Coercion]) -> None:
        """Turn the value on the stack into what its surroundings want."""
        for coercion in coercions:
            COERCIONS[coercion.kind](self, node, coercion)

    def compute_early(self, node: ast.Expr) -> None:
        """Compute an operand before its turn, unless that was done."""
        if node not in self.early:
            self.value(node)
            self.early[node] = self.spill()

    def operand(self, node: ast.Expr) -> None:
        """Push the value of an operand that may have been computed early."""
        slot = self.early.get(node)
        if slot is None:
            self.value(node)
        else:
            self.load(slot)

    def effect(self, node: ast.Node) -> None:
        """Run a statement or expression and leave nothing."""
        emitter = EFFECTS.get(node.__class__)
        if emitter is not None:
            emitter(self, node)
        else:
            VALUES[node.__class__](self, node)
            self.emit(POP)

    def default(self, default: ast.Expr | None, type_: Type) -> None:
        """Push what stands for a value that was left out. Its source may be another file, so the place stays
        that of the code that left it out."""
        self.fixed += 1
        if default is not None:
            self.value(default)
        elif option_item(type_) is not None:
            self.emit(LOAD_NONE)
        else:
            self.emit(LOAD_NIL)
        self.fixed -= 1

    def type_of(self, node: ast.Expr) -> Type:
        """The type of an expression after its coercions, literal unions widened."""
        coercions = self.coercions.get(node)
        if coercions:
            last = coercions[-1]
            if last.kind == "int_to_float":
                return FLOAT
            return ANY if last.target is None else widened(last.target)
        return widened(self.types[node])

    # --- Locals ---

    def declare(self, local: LocalSymbol) -> int:
        """The slot of a local that is bound here."""
        slot = self.slots.get(local)
        if slot is None:
            slot = self.slots[local] = self.locals
            self.locals += 1
        return slot

    def temporary(self) -> int:
        self.locals += 1
        return self.locals - 1

    def load(self, slot: int) -> None:
        self.emit(("LOAD_LOCAL", slot))

    def store(self, slot: int) -> None:
        self.emit(("STORE_LOCAL", slot))

    def spill(self) -> int:
        """Move the top of the stack into a new local."""
        slot = self.temporary()
        self.emit(("STORE_LOCAL", slot))
        return slot

    def constant(self, value: int | float | str) -> None:
        self.emit(("LOAD_CONST", self.program.constant(value)))

    # --- Regions ---

    def open(self, instruction: Instr) -> int:
        """Open a region; its depth is the address for `branch_to`."""
        self.emit(instruction)
        self.depth += 1
        return self.depth

    def part(self, *instructions: Instr) -> None:
        """The next part of the open region: ELSE, CATCH, DEFAULT, the CASEs that share it."""
        if self.code[-1][0] == "CASE":
            # Else the empty body before would be shared with this one.
            self.branch_to(self.depth)
        for instruction in instructions:
            self.emit(instruction)
        self.dead = False

    def close(self) -> None:
        self.emit(END)
        self.depth -= 1
        self.dead = False

    def branch_to(self, depth: int) -> None:
        self.leave(("BR", self.depth - depth))

    def branch_to_if(self, depth: int) -> None:
        self.emit(("BR_IF", self.depth - depth))

    def leave(self, instruction: Instr) -> None:
        """An instruction after which nothing of this region runs."""
        self.emit(instruction)
        self.dead = True

    def return_top(self) -> None:
        """Return the top of the stack from the function."""
        if self.self_slot is not None:
            self.load(self.self_slot)
            self.emit(PAIR)
        if self.is_entry:
            self.emit(LEAVE_ENTRY)
        self.leave(RETURN)

    # --- Positions ---

    def mark(self, node: ast.Node) -> None:
        """What is emitted next comes from this node."""
        self.mark_range(node.start, node.end)

    def mark_range(self, start: int, end: int) -> None:
        if (start == self._start and end == self._end) or self.fixed:
            return
        self._start, self._end = start, end
        pc = len(self.code)
        positions = self.positions
        if positions and positions[-1].pc == pc:
            positions[-1] = Position(pc, start, end)
        else:
            positions.append(Position(pc, start, end))

    def finish(self, parameters: list[str], *, captures: int = 0, inout: bool = False) -> Function:
        made = Function(
            self.name, parameters, captures, self.locals, self.code, self.file, self.positions, inout
        )
        return self._in_task_scope(made) if self.owns_tasks else made

    def _in_task_scope(self, made: Function) -> Function:
        """A function that runs the body of another one and ends when the tasks that it started have ended."""
        given = made.captures + len(made.parameters)
        body = self.program.add(replace(made, parameters=[], captures=given, inout=False))
        code: list[Instr] = [("LOAD_LOCAL", slot) for slot in range(given)]
        code.append(("MAKE_CLOSURE", body, given) if given else ("LOAD_FUNCTION", body))
        code += [("CALL_NATIVE", "Task::scope", 1), RETURN]
        return replace(made, locals=given, code=code, positions=[])
