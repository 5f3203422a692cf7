"""Incremental code generation: code of single functions that a later compilation can use again.

While a function is written, `RecordingProgram` notes what it asks the tables for, in order. Asking the tables
of another program for the same in the same order gives them what writing the function there would have given;
the answers say which index takes the place of which in the code. So the linked program is the same, byte for
byte, as if every function had been written anew.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeGuard, assert_never

from concerto.emit.linking import link
from concerto.emit.program import Ordered, ProgramBuilder
from concerto.emit.types import TypeTable
from concerto.ir import module as ir
from concerto.ir.opcodes import OPCODES
from concerto.records import field, record
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.symbols import FunctionSymbol, ToolSymbol, Type, TypeSymbol
from concerto.source import Source

Table: TypeAlias = Literal["const", "type", "function", "file"]


class Code(NamedTuple):
    """A function as bytes, and the questions that were asked while it was written. `copies` are those for
    ordered types."""

    function: bytes
    questions: tuple[Question, ...]
    copies: tuple[tuple[Ordered, Code], ...] = ()


class Question(NamedTuple):
    """`asked` is a constant, type, symbol, file or the Code of a function without a name, by `kind`; the
    `answer` an index. `key` is that of a function which is made once, or the generics for which one is
    written."""

    kind: Literal["constant", "type", "general", "schema", "function", "file", "add", "once", "tool"]
    asked: Any
    answer: int
    key: Hashable = None


def _is_table(kind: str) -> TypeGuard[Table]:
    return kind in ("const", "type", "function")


_TABLES: Final[dict[str, Table]] = {
    "constant": "const",
    "type": "type",
    "general": "type",
    "schema": "type",
    "function": "function",
    "add": "function",
    "once": "function",
    "file": "file",
}
_INDEX_PLACES: Final[dict[str, list[tuple[int, Table]]]] = {
    opcode.name: [(place, kind) for place, kind in enumerate(opcode.operands, 1) if _is_table(kind)]
    for opcode in OPCODES.values()
    if any(map(_is_table, opcode.operands))
}
"""Where instructions have indices into tables."""


def emit_recorded(
    analysis: Analysis, before: Mapping[FunctionSymbol, Code]
) -> tuple[ir.ModuleIR, dict[FunctionSymbol, Code]]:
    """The linked program, and the code of each function that was written now. `before` is the code of those
    that are not to be written again."""
    program = RecordingProgram(analysis, before)
    module = link(program)
    codes = {
        symbol: code._replace(copies=tuple(program.copies.get(symbol, ())))
        for symbol, code in program.codes.items()
    }
    return module, codes


@record
class _Log:
    """`nested` is set while an answer is looked for: what that asks for follows from the question."""

    questions: list[Question] = field(default_factory=list)
    nested: bool = True

    def note(self, kind: Any, asked: Any, answer: Callable[[], int], key: Hashable = None) -> int:
        if self.nested:
            return answer()
        self.nested = True
        index = answer()
        self.nested = False
        self.questions.append(Question(kind, asked, index, key))
        return index


class _RecordingTypes(TypeTable):
    """Hands on what it is asked: types may be nested deep, and notes would stand between the levels."""

    def __init__(self, analysis: Analysis, log: _Log) -> None:
        super().__init__(analysis)
        self._log = log
        self._table = TypeTable(analysis)
        self.types = self._table.types

    def index(self, type_: Type) -> int:
        return self._log.note("type", type_, lambda: self._table.index(type_))

    def general(self, symbol: TypeSymbol) -> int:
        return self._log.note("general", symbol, lambda: self._table.general(symbol))


class RecordingProgram(ProgramBuilder):
    """`codes` has every function that was written by now, `copies` has those for ordered types."""

    def __init__(self, analysis: Analysis, before: Mapping[FunctionSymbol, Code]) -> None:
        super().__init__(analysis)
        self.codes: dict[FunctionSymbol, Code] = {}
        self.copies: dict[FunctionSymbol, list[tuple[Ordered, Code]]] = {}
        self._before = before
        self._made_codes: dict[Hashable, Code] = {}
        self._log = _Log()
        self.types = _RecordingTypes(analysis, self._log)

    # --- Functions ---

    def written_before(self, symbol: FunctionSymbol, ordered: Ordered) -> ir.Function | None:
        code = self._before.get(symbol)
        if code is not None:
            return self._use(dict(code.copies)[ordered] if ordered else code, symbol.source)
        self._log.questions, self._log.nested = [], False
        return None

    def define(self, symbol: FunctionSymbol, ordered: Ordered, function: ir.Function) -> None:
        super().define(symbol, ordered, function)
        if not self._log.nested:
            self._log.nested = True
            code = Code(_pack(function), tuple(self._log.questions))
            if ordered:
                self.copies.setdefault(symbol, []).append((ordered, code))
            else:
                self.codes[symbol] = code

    def _use(self, code: Code, source: Source | None) -> ir.Function:
        """The function, with the indices that this program has for what it refers to."""
        indices: _Indices = {"const": {}, "type": {}, "function": {}, "file": {}}
        for question in code.questions:
            index = self._ask(question, source, indices)
            if (table := _TABLES.get(question.kind)) is not None:
                indices[table][question.answer] = index
        return _unpack(code.function, indices)

    def _ask(self, question: Question, source: Source | None, indices: _Indices) -> int:
        asked = question.asked
        match question.kind:
            case "constant":
                return self.constant(asked)
            case "type":
                return self.types.index(asked)
            case "general":
                return self.types.general(asked)
            case "schema":
                return self.schema_type(asked)
            case "function":
                assert isinstance(question.key, tuple)
                return self.function(asked, question.key)
            case "file":
                return self.file(source)
            case "add":
                return self.add(_unpack(asked, indices))
            case "once":
                self._made_codes.setdefault(question.key, asked)
                return self.once(question.key, lambda: self._use(asked, None))
            case "tool":
                self.tool_used(asked)
                return question.answer
            case _:
                assert_never(question.kind)

    # --- Questions ---

    def constant(self, value: int | float | str) -> int:
        return self._log.note("constant", value, lambda: super(RecordingProgram, self).constant(value))

    def schema_type(self, type_: Type) -> int:
        return self._log.note("schema", type_, lambda: super(RecordingProgram, self).schema_type(type_))

    def file(self, source: Source | None) -> int:
        return self._log.note("file", None, lambda: super(RecordingProgram, self).file(source))

    def function(self, symbol: FunctionSymbol, ordered: Ordered = ()) -> int:
        ask = super().function
        return self._log.note("function", symbol, lambda: ask(symbol, ordered), ordered)

    def add(self, function: ir.Function) -> int:
        packed = b"" if self._log.nested else _pack(function)
        return self._log.note("add", packed, lambda: super(RecordingProgram, self).add(function))

    def tool_used(self, tool: ToolSymbol) -> None:
        super().tool_used(tool)
        self._log.note("tool", tool, lambda: 0)

    def once(self, key: Hashable, make: Callable[[], ir.Function]) -> int:
        if self._log.nested:
            return super().once(key, make)
        if key not in self._made_codes:
            questions, self._log.questions = self._log.questions, []
            function = make()
            self._made_codes[key] = Code(_pack(function), tuple(self._log.questions))
            self._log.questions = questions
            make = lambda: function  # noqa: E731
        code = self._made_codes[key]
        return self._log.note("once", code, lambda: super(RecordingProgram, self).once(key, make), key)


_Indices: TypeAlias = dict[Table, dict[int, int]]


def _pack(function: ir.Function) -> bytes:
    positions = [number for place in function.positions for number in (place.pc, place.start, place.end)]
    fields = (function.name, function.parameters, function.captures, function.locals, function.inout)
    return marshal.dumps((fields, function.code, function.file, positions))


def _unpack(packed: bytes, indices: _Indices) -> ir.Function:
    (name, parameters, captures, locals_, inout), code, file, positions = marshal.loads(packed)
    if any(old != new for table in indices.values() for old, new in table.items()):
        code = [_moved(instruction, indices) for instruction in code]
    numbers = iter(positions)
    places = [ir.Position(*place) for place in zip(numbers, numbers, numbers, strict=True)]
    file = indices["file"].get(file, file)
    return ir.Function(name, parameters, captures, locals_, code, file, places, inout)


def _moved(instruction: ir.Instr, indices: _Indices) -> ir.Instr:
    places = _INDEX_PLACES.get(instruction[0])
    if places is None:
        return instruction
    operands = list(instruction)
    for place, table in places:
        operands[place] = indices[table][operands[place]]
    return tuple(operands)
