"""What all functions of a program share while it is emitted: tables of constants, types, functions and files.

A function has its index from the moment somebody refers to it and its code when its turn comes, so that
indices do not depend on who calls whom first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property

from concerto.annotating import TypeAlias
from concerto.emit.instructions import COPY, RETURN
from concerto.emit.types import TypeTable
from concerto.ir.module import Function, Instr, SourceFile
from concerto.semantics.analyses.ownership.aggregates import Aggregates
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.builtins import ASKED_OF_VALUES
from concerto.semantics.model.symbols import (
    EnumSymbol,
    FunctionSymbol,
    GenericSymbol,
    ImplSymbol,
    Named,
    StructSymbol,
    ToolSymbol,
    Type,
    TypeSymbol,
    VariantSymbol,
)
from concerto.source import Source
from concerto.syntax import ast

Ordered: TypeAlias = tuple[GenericSymbol, ...]
"""Generics of a function that stand for types whose values Python orders as the language does."""


class ProgramBuilder:
    """`broken_loops` are the loops that a `break` leaves; `schema_types` the types that texts are read into;
    `library_tools` the tools of the library that the program uses; `task_types` says of types that were asked
    about whether their values may hold tasks, `plain_types` whether Python compares them right, and
    `results_of_sums` of generic functions whether what they give may be a sum."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.types = TypeTable(analysis)
        self.aggregates = Aggregates(analysis.immutable, analysis.plain_generics)
        self.constants: list[int | float | str] = []
        self.files: list[SourceFile] = []
        self.broken_loops = {loop for jump, loop in analysis.jumps.items() if isinstance(jump, ast.Break)}
        self.schema_types: dict[Type, int] = {}
        self.library_tools: dict[ToolSymbol, None] = {}
        self.task_types: dict[Type | TypeSymbol, bool] = {}
        self.plain_types: dict[Type, bool] = {}
        self.results_of_sums: dict[FunctionSymbol, bool] = {}
        self.ordered: Ordered = ()
        self.waiting: list[tuple[FunctionSymbol, Ordered]] = []
        self._functions: list[Function | None] = []
        self._function_indices: dict[tuple[FunctionSymbol, Ordered], int] = {}
        self._made: dict[Hashable, int] = {}
        self._constant_indices: dict[tuple[type, int | str], int] = {}
        self._file_indices: dict[Source, int] = {}

    # --- Constants, types, files ---

    def constant(self, value: int | float | str) -> int:
        # `1`, `1.0`, `0.0` and `-0.0` are four constants.
        key = (value.__class__, repr(value) if isinstance(value, float) else value)
        index = self._constant_indices.get(key)
        if index is None:
            index = self._constant_indices[key] = len(self.constants)
            self.constants.append(value)
        return index

    def schema_type(self, type_: Type) -> int:
        """The entry of a type that a text or a model's answer is read into; it gets a JSON Schema."""
        index = self.schema_types[type_] = self.types.index(type_)
        return index

    def file(self, source: Source | None) -> int:
        """The entry of a source file; code that nobody wrote is at the first one."""
        if source is None:
            return 0
        index = self._file_indices.get(source)
        if index is None:
            index = self._file_indices[source] = len(self.files)
            self.files.append(SourceFile(source.path, source.text))
        return index

    def tool_used(self, tool: ToolSymbol) -> None:
        if tool.library:
            self.library_tools[tool] = None

    def has_equality(self, symbol: StructSymbol | EnumSymbol) -> bool:
        """Whether an impl says which values of a struct or an enum are equal."""
        return not {(symbol, "Eq"), (None, "Eq")}.isdisjoint(self._impls)

    def compares(self, type_: Type, trait: str) -> FunctionSymbol | None:
        """The function that compares values of a type, by its only impl of `Eq` or `Ord`."""
        match type_:
            case Named(StructSymbol() | EnumSymbol() as symbol, ()):
                impl = self._impls.get((symbol, trait))
                return None if impl is None or impl.generics else next(iter(impl.methods.values()))
            case _:
                return None

    @cached_property
    def _impls(self) -> dict[tuple[TypeSymbol | None, str], ImplSymbol]:
        """The impls of traits that values are asked by; those for built-in and for all types are at None."""
        return {
            (impl.target.symbol if isinstance(impl.target, Named) else None, impl.trait.trait.name): impl
            for impl in self.analysis.impls
            if impl.trait is not None and impl.trait.trait in ASKED_OF_VALUES
        }

    # --- Functions ---

    @property
    def functions(self) -> list[Function]:
        return [function for function in self._functions if function is not None]

    def function(self, symbol: FunctionSymbol, ordered: Ordered = ()) -> int:
        """The index of a function with a body, written for any types or for some that are ordered."""
        index = self._function_indices.get((symbol, ordered))
        if index is None:
            index = self._function_indices[symbol, ordered] = len(self._functions)
            self._functions.append(None)
            self.waiting.append((symbol, ordered))
        return index

    def written_before(self, symbol: FunctionSymbol, ordered: Ordered) -> Function | None:
        """The code of a function, if an earlier compilation left it."""
        return None

    def define(self, symbol: FunctionSymbol, ordered: Ordered, function: Function) -> None:
        self._functions[self._function_indices[symbol, ordered]] = function

    def add(self, function: Function) -> int:
        """The index of a function that has no name of its own."""
        self._functions.append(function)
        return len(self._functions) - 1

    def once(self, key: Hashable, make: Callable[[], Function]) -> int:
        """The index of a function that the compiler makes, made when it is first asked for."""
        index = self._made.get(key)
        if index is None:
            index = self._made[key] = self.add(make())
        return index

    def build(self, made: VariantSymbol | StructSymbol) -> Instr:
        """The instruction that makes a struct or a variant of all its fields."""
        if isinstance(made, VariantSymbol):
            return "BUILD_VARIANT", self.types.general(made.enum), made.index, len(made.fields)
        return "BUILD_STRUCT", self.types.general(made), len(made.fields)

    def constructor(self, made: VariantSymbol | StructSymbol) -> int:
        """A function that builds a variant or a tuple struct, for where its name is used as a function. What
        it gives is new, as what every function value gives."""
        name = f"{made.enum.qualified}::{made.name}" if isinstance(made, VariantSymbol) else made.qualified
        return self.once(
            ("build", name),
            lambda: passing_on(name, [field.name for field in made.fields], self.build(made), COPY),
        )

    def method(self, symbol: FunctionSymbol) -> int:
        """A function of a type of the library, as a function of its receiver, if any, and its parameters."""
        name = symbol.native
        assert name is not None
        parameters = [*(["self"] if symbol.receiver else []), *(p.name for p in symbol.parameters)]
        call = (("CALL_NATIVE", name, len(parameters)), COPY)
        return self.once(name, lambda: passing_on(name, parameters, *call))

    def wrapper(self, name: str) -> int:
        """`Some`, `Ok` or `Err` as a function."""
        return self.once(name, lambda: passing_on(name, ["value"], (f"BUILD_{name.upper()}",), COPY))


def passing_on(name: str, parameters: list[str], *instructions: Instr, captures: int = 0) -> Function:
    """A function that does one thing with its captures and parameters."""
    given = captures + len(parameters)
    code: list[Instr] = [("LOAD_LOCAL", slot) for slot in range(given)]
    return Function(name, parameters, captures, given, [*code, *instructions, RETURN], 0, [])
