"""Interprocedural facts: what is known of the results of functions, by the instructions that make them.

Assumes the best of all functions and locals and takes back what others contradict, so that functions that
call themselves are known too. Bounds are those of constants only, so that there is an end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TypeAlias

from concerto.ir.kinds import KINDS as PICTURES
from concerto.ir.module import Function, Instr, ModuleIR
from concerto.vm.native import find_native
from concerto.vm.python_tier.expression import CHARACTER, KINDS, LENGTH, TOLD, UNKNOWN, Fact

Makers: TypeAlias = Sequence[Instr | None]
"""The instructions that make what a function returns, or what a local holds; None is more than one."""

_BY_TYPE = {int: "int", float: "float", str: "str"}


class ResultFacts:
    """What is known of each function's result."""

    def __init__(
        self,
        module: ModuleIR,
        returned: Sequence[Makers],
        stored: Sequence[Mapping[int, Makers]],
        methods: Mapping[str, Sequence[int]],
    ) -> None:
        self._module = module
        self._methods = methods
        self._results: list[Fact | None] = [None] * len(returned)
        self._locals: list[dict[int, Fact | None]] = [
            dict.fromkeys(range(_given(function)), UNKNOWN) for function in module.functions
        ]
        changed = True
        while changed:
            changed = False
            for index, locals_ in enumerate(self._locals):
                for local, makers in stored[index].items():
                    before = locals_.get(local)
                    locals_[local] = self._joined(before, makers, locals_)
                    changed |= locals_[local] != before
                before = self._results[index]
                self._results[index] = self._joined(before, returned[index], locals_)
                changed |= self._results[index] != before

    def of(self, function: int) -> Fact:
        return self._results[function] or UNKNOWN

    def of_method(self, method: str) -> Fact:
        """What all functions of a trait's method give."""
        functions = self._methods.get(method)
        return _all([self.of(function) for function in functions]) if functions else UNKNOWN

    def _joined(self, fact: Fact | None, makers: Makers, own: Mapping[int, Fact | None]) -> Fact | None:
        for instr in makers:
            made = UNKNOWN if instr is None else self._made(instr, own)
            if made is not None:
                fact = made if fact is None else fact.join(made)
        return fact

    def _made(self, instr: Instr, own: Mapping[int, Fact | None]) -> Fact | None:
        match instr:
            case ("LOAD_CONST", index):
                return _constant(self._module.constants[index])
            case ("LOAD_LOCAL", local):
                return own.get(local)
            case ("CALL", index, _):
                return self._results[index]
            case ("CALL_NATIVE", native, _):
                found = find_native(native)
                return UNKNOWN if found is None else TOLD.get(found.gives, UNKNOWN)
            case ("CALL_METHOD", method, _):
                functions = self._methods.get(method)
                if functions is None:
                    return UNKNOWN
                known = [fact for function in functions if (fact := self._results[function]) is not None]
                return _all(known) if known else None
            case ("BUILD_TUPLE", count):
                return Fact("tuple", count, count)
            case ("INDEX_STRING",):
                return CHARACTER
            case ("LENGTH",):
                return LENGTH
            case _:
                left = PICTURES[instr[0]][1]
                return TOLD.get(left[0], UNKNOWN) if len(left) == 1 else UNKNOWN


def _all(facts: Sequence[Fact]) -> Fact:
    return reduce(Fact.join, facts)


def _constant(value: float | str) -> Fact:
    kind = _BY_TYPE[type(value)]
    return Fact(kind, value, value) if type(value) is int else KINDS[kind]


def _given(function: Function) -> int:
    return function.captures + len(function.parameters)
