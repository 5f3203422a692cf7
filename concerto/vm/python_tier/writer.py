"""Code writer: the text of one function under way, lines, the symbolic stack, what is known of locals,
temporaries.

An instruction that only computes leaves a text on the symbolic stack; an instruction that does something
becomes a statement. Before a statement is written, everything below on the stack that it could affect, or
that could fail after it instead of before, is put into temporaries, so that the order of evaluation is that
of the stack machine. Generated names: `v` locals, `t` temporaries, `q` flags, `e` caught exceptions; what
comes from outside a function has its name from `Names`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import replace
from functools import cached_property

from concerto.ir.module import ModuleIR
from concerto.vm.python_tier.expression import (
    ACT,
    CHARACTER,
    INT,
    KINDS,
    PURE,
    READ,
    UNKNOWN,
    Expr,
    Fact,
    Facts,
    Shared,
    compound,
    literal_int,
    local,
    name,
    refine,
)
from concerto.vm.python_tier.loop_ranges import Rounds
from concerto.vm.python_tier.names import Names
from concerto.vm.python_tier.strings import string_text
from concerto.vm.python_tier.unboxing import OPTION, SET, Openings, closed_text
from concerto.vm.values import Value

_DEEPEST = 20
_LONGEST = 1500

MARK_OPEN, MARK_SPLIT, MARK_CLOSE = "\x01", "\x02", "\x03"

_MARKS = re.compile(f"{MARK_OPEN}[^{MARK_SPLIT}]*{MARK_SPLIT}|{MARK_CLOSE}")

_CALL = re.compile(r"\b(?!(?:len|list)\()\w+\(")

_QUIET = re.compile(r"[vtx][\d_]+(\.f\d+)+")


def unmarked(text: str) -> str:
    return _MARKS.sub("", text)


def is_longer(text: str, most: int) -> bool:
    """Whether a text has more characters, marks left out: with and without them the same is written."""
    return len(text) > most and len(unmarked(text)) > most


ANY_DEPTH = 1000
"""Of no part of what is read anything is kept."""


class FunctionWriter:
    """`general` are the functions that are called in their general form, because the arguments may be any.
    `calls` are the calls of functions by name, with what is known of the arguments. `caught` names the
    exceptions that were caught into locals. `given` is what stands for locals of a function that is written
    into another one, and `way` leads to it, by calls.

    `marked` puts marks around what each instruction becomes and notes its operands; the code is the
    same."""

    def __init__(
        self,
        module: ModuleIR,
        index: int,
        names: Names,
        openings: Openings,
        rounds: Rounds,
        *,
        general: Container[int] = (),
        marked: bool = False,
    ) -> None:
        self.module = module
        self.index = index
        self.function = module.functions[index]
        self.openings = openings
        self.returns = openings.functions.get(index, "")
        self.open_locals = openings.locals[index]
        self.names = names
        self.lines: list[str] = []
        self.indent = 1
        self.stack: list[Expr] = []
        self.facts: Facts | None = {}
        self.pc = 0
        self.inside_expression = 0
        self.needs_statements = False
        self.guarded = 0
        self.caught: dict[int, str] = {}
        self.marked = marked
        self.general = general
        self.calls: list[tuple[int, tuple[Fact, ...]]] = []
        self.rounds = rounds
        self.operands: dict[tuple[tuple[int, int], ...], Sequence[str]] = {}
        self.given: dict[int, Expr] = {}
        self.way: tuple[int, ...] = (index,)
        self.definitions: dict[str, str] = {}
        self.temporaries = 0
        self.explained = 0

    @cached_property
    def loads(self) -> Counter[int]:
        """How often each local is loaded."""
        return Counter([instr[1] for instr in self.function.code if instr[0] == "LOAD_LOCAL"])

    @property
    def known(self) -> Facts:
        """The facts of reachable code."""
        assert self.facts is not None, "code is written where none can be reached"
        return self.facts

    # Lines

    def line(self, text: str) -> None:
        self.lines.append(" " * self.indent + text)

    def takes_statements(self) -> bool:
        """Whether statements can be written here; a function that is better off with some is not written into
        an expression."""
        self.needs_statements |= bool(self.inside_expression)
        return not self.inside_expression

    def mark(self, text: str) -> str:
        """A text as the work of the current instruction."""
        if not self.marked:
            return text
        place = f"{self.index}.{self.pc}.{len(self.way) // 2}"
        return f"{MARK_OPEN}{place}{MARK_SPLIT}{text}{MARK_CLOSE}"

    def note_operands(self, *texts: str) -> None:
        """The operands of the current instruction, which explain a failure."""
        self.explained += 1
        if self.marked:
            self.operands[(self.index, self.pc),] = texts

    def next_opcode(self) -> str:
        """The name of the instruction after the current one."""
        code = self.function.code
        return code[self.pc + 1][0] if self.pc + 1 < len(code) else ""

    # The symbolic stack

    def push(self, expr: Expr) -> None:
        if (
            expr.shared is None
            and not self.inside_expression
            and (expr.depth > _DEEPEST or is_longer(expr.text, _LONGEST))
        ):
            self.stack.append(expr)
            self.spill(len(self.stack) - 1)
        else:
            self.stack.append(expr)

    def pop(self) -> Expr:
        return self.stack.pop()

    def pop_many(self, count: int) -> list[Expr]:
        if not count:
            return []
        values = self.stack[-count:]
        del self.stack[-count:]
        return values

    def compute(self, text: str, parts: tuple[Expr, ...], fact: Fact = UNKNOWN, level: int = PURE, *,
                atom: bool = False) -> None:  # fmt: skip
        """Push an expression over popped ones."""
        self.push(compound(self.mark(text), parts, fact, level, atom))

    def temporary(self) -> str:
        self.temporaries += 1
        return f"t{self.temporaries}"

    def only_read(self, expr: Expr, levels: int = 0) -> Expr:
        """A popped value of which nothing is changed or kept but parts that never change."""
        shared = expr.shared
        if shared is None or shared.levels > levels:
            return expr
        cheap = not shared.is_part
        return Expr(self.defined(shared), expr.fact, READ, expr.reads, expr.depth, cheap=cheap)

    def defined(self, shared: Shared) -> str:
        """A constant of the module, or a part of one."""
        self.definitions[shared.name] = shared.definition
        return shared.text

    def spill(self, place: int) -> None:
        """Compute an entry of the stack now, and all below it that have to come first."""
        self.materialize(below=place)
        self._keep(place, self.stack[place])

    def _keep(self, place: int, expr: Expr) -> None:
        """Compute an entry of the stack."""
        made = self.temporary()
        if expr.opened is not None and expr.opened[0] == SET:
            self.line(f"{made} = {expr.opened[1]}")
            self.stack[place] = self.closed(SET, name(made))
        else:
            self.line(f"{made} = {expr.text}")
            self.stack[place] = name(made, expr.fact)

    def materialize(self, stores: int = 0, below: int | None = None, *, pure_too: bool = False) -> None:
        """Compute those entries of the stack that must come before a statement which assigns the locals
        `stores`; with `pure_too` all but literals and names, because other code comes between."""
        assert not self.inside_expression, "a statement is written inside an expression"
        for place, expr in enumerate(self.stack[:below]):
            if expr.stable:
                continue
            if expr.level >= READ or expr.reads & stores or (pure_too and expr.local < 0):
                self._keep(place, expr)

    def act(self, text: str, stores: int = 0) -> None:
        """Write a statement."""
        self.materialize(stores)
        self.line(text)

    def cheap(self, *parts: Expr) -> list[Expr]:
        """Popped values, computed now as far as they cannot be written twice."""
        self.stack += parts
        for place in range(len(self.stack) - len(parts), len(self.stack)):
            if not self.stack[place].cheap:
                self.spill(place)
        return self.pop_many(len(parts))

    def is_quiet(self, *parts: Expr) -> bool:
        """Whether values may be computed in any order: locals, literals, and fields of locals."""
        return all(part.cheap or _QUIET.fullmatch(unmarked(part.text)) for part in parts)

    def named(self, expr: Expr) -> tuple[str, str]:
        """How to write a value first and how again after that, in one expression."""
        if expr.cheap:
            return expr.text, expr.text
        return self.renamed(expr)

    def explainable(self, expr: Expr) -> tuple[str, str]:
        """The same, for what is computed again to explain a failure unless it has a name: equality and texts
        of types of the program, which are only read otherwise, run its code."""
        if self.runs_nothing(expr):
            return expr.wrapped, expr.text
        return self.renamed(expr)

    def runs_nothing(self, expr: Expr) -> bool:
        """Whether code of the program is not run if a value is computed once more."""
        return expr.cheap or (expr.level < ACT and not _CALL.search(unmarked(expr.text)))

    def renamed(self, expr: Expr) -> tuple[str, str]:
        """The same with a new name in any case."""
        made = self.temporary()
        return f"({made} := {expr.text})", made

    # Options and Results in the open

    def closed(self, kind: str, opened: Expr) -> Expr:
        """The usual value for one in the open, which is kept for those who look inside."""
        first, again = self.named(opened) if kind != SET else (opened.text, "")
        made = compound(closed_text(kind, first, again), (opened,), level=opened.level, atom=True)
        made.opened = kind, opened.text
        made.local = opened.local
        if kind == SET:
            made.cheap, made.stable = opened.cheap, opened.stable
        return made

    def items_of(self, expr: Expr) -> Expr:
        """A Set in the open."""
        made = compound(self.opened(SET, expr), (expr,), atom=True)
        made.cheap = expr.cheap
        return made

    def opened(self, kind: str, expr: Expr) -> str:
        """How a value is written in the open; a Set as an atom."""
        if expr.opened is not None and expr.opened[0] == kind:
            return expr.opened[1]
        if kind == SET:
            return f"{expr.wrapped}.items"
        first, again = self.named(expr)
        if kind == OPTION:
            return f"({again}.value if {first} is not NONE else MISSING)"
        return f"({again}.value if type({first}) is Ok else Fail({again}.value))"

    def snapshot(self) -> tuple[list[Expr], Facts]:
        """The stack and the facts, to `resume` from in another arm."""
        return list(self.stack), dict(self.known)

    def resume(self, state: tuple[list[Expr], Facts], condition: Expr | None = None) -> None:
        """Go on from a snapshot, knowing that a condition holds."""
        stack, facts = state
        self.stack = list(stack)
        self.facts = dict(facts)
        if condition is not None:
            refine(self.facts, condition.tests)

    # Locals

    def load(self, number: int) -> None:
        fact = self.known.get(number, UNKNOWN)
        given = self.given.get(number)
        loaded = local(number, fact) if given is None else replace(given, fact=fact, local=number)
        if number in self.open_locals:
            self.push(self.closed(self.open_locals[number], loaded))
        elif fact.kind == "int" and fact.low == fact.high and not self.rounds.changes(number):
            self.push(literal_int(fact.low))
        else:
            self.push(loaded)

    def store(self, number: int, expr: Expr) -> None:
        self.materialize(1 << number)
        self.rounds.note_store(number, dict(expr.steps).get(number))
        kind = self.open_locals.get(number)
        if kind is not None:
            text = self.opened(kind, expr)
            if text != f"v{number}":
                self.line(f"v{number} = {text}")
            self.known.pop(number, None)
            return
        if expr.unchecked is not None and not self.guarded:
            # Nobody sees the local if the check fails, and a statement costs less than an expression.
            self.compute_checked(f"v{number}", *expr.unchecked)
        elif expr.text != f"v{number}":
            self.line(f"v{number} = {expr.text}")
        self.learn(number, expr.fact)

    def compute_checked(self, target: str, text: str, check: str, beyond: str) -> None:
        self.line(f"{target} = {text}")
        self.line(f"if {target}{beyond}: {check.format(target)}")

    def learn(self, number: int, fact: Fact) -> None:
        if fact.kind:
            self.known[number] = fact
        else:
            self.known.pop(number, None)

    # Constants

    def constant(self, index: int) -> Expr:
        value: Value = self.module.constants[index]
        if type(value) is int:
            return literal_int(value)
        if type(value) is float and value == value and abs(value) != float("inf"):
            text = repr(value)
            text = f"({text})" if text[0] == "-" else text
            return Expr(text, Fact("float"), cheap=True, stable=True, literal=True)
        if type(value) is str:
            fact = CHARACTER if len(value) == 1 else KINDS["str"]
            return Expr(string_text(index), fact, cheap=True, stable=True, literal=True)
        return Expr(self.names.constant(index), Fact("float"), cheap=True, stable=True, literal=True)

    def checked(self, expr: Expr) -> Expr:
        """An Int expression that fails if the result has no 64 bits; as it is if the bounds exclude that."""
        low, high = expr.fact.low, expr.fact.high
        if INT.low <= low and high <= INT.high:
            return expr
        fact = Fact("int", max(low, INT.low), min(high, INT.high))
        if low < INT.low and high > INT.high:
            inside, beyond = ".bit_length() < 64", ".bit_length() > 63"
        elif low < INT.low:
            inside, beyond = f" >= {INT.low}", f" < {INT.low}"
        else:
            inside, beyond = f" <= {INT.high}", f" > {INT.high}"
        text = f"(t if (t := {expr.text}){inside} else checked(t))"
        made = Expr(self.mark(text), fact, max(expr.level, READ), expr.reads, expr.depth + 1)
        made.unchecked = expr.text, self.mark("checked({})"), beyond
        made.steps = expr.steps
        return made
