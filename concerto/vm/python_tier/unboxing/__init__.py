"""Unboxing: Options and Results that are never made, a value in the open instead of one in `Some` or `Ok`.

In the open, an Option is its content or MISSING, a Result is its content or a `Fail` with the error. Neither
MISSING nor a `Fail` is a value of the language, so what is inside may be anything. A local is kept in the
open if all that is stored in it is made on the spot and all that is done with it looks inside; a function
returns in the open if all that it returns is made on the spot. Everybody else sees such a function as usual
(`text`). Of Sets, which `sets` finds, the open form is the dict of their items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from concerto.ir.module import Function, Instr, ModuleIR
from concerto.vm.copying import Copies
from concerto.vm.dispatch import is_of_classes
from concerto.vm.native import find_native
from concerto.vm.python_tier.private_functions import private_functions
from concerto.vm.python_tier.results import ResultFacts
from concerto.vm.python_tier.small_functions import find_small
from concerto.vm.python_tier.tables import find_tables
from concerto.vm.python_tier.tree import Arm, Exit, Node, Region, Step, grow
from concerto.vm.python_tier.unboxing.sets import RETURNED, find_open_sets

DEEPEST = 60
"""A function of more regions in one another is left to the interpreter: CPython's tokenizer refuses 100
levels of indentation."""

OPTION, RESULT, SET = "option", "result", "set"

_MAKES = {"BUILD_SOME": OPTION, "LOAD_NONE": OPTION, "BUILD_OK": RESULT, "BUILD_ERR": RESULT}

_GIVES_OPEN = {
    "Option::map": OPTION, "Option::and_then": OPTION, "Option::or_else": OPTION, "Option::ok_or": RESULT,
    "Result::map": RESULT, "Result::and_then": RESULT, "Result::map_err": RESULT, "Result::or_else": RESULT,
    "Result::ok": OPTION, "Result::err": OPTION,
    "String::index_of": OPTION, "String::to_digit": OPTION, "String::from_code_point": OPTION,
    "String::parse_int": RESULT,
    "Array::try_map": RESULT, "Array::collect_results": RESULT, "Array::collect_options": OPTION,
}  # fmt: skip
"""Natives that are written so that they give Options and Results in the open."""

_LOOKS_INSIDE = frozenset({"IS_SOME", "IS_OK", "UNWRAP"})

_Key = TypeVar("_Key", int, str)

Kinds: TypeAlias = dict[int, str]
"""Number of a function or local → OPTION or RESULT, "" if nothing says so yet, "-" if it is not in the open.
"""


@dataclass(frozen=True, slots=True)
class Openings:
    """The functions of a module that return in the open, and of each function the locals that are kept so;
    `trees` are the functions, `methods` those of traits that return in the open, for all types alike,
    `tables` the functions that give the same at every call, `small` those that are written where they are
    called; `results` tell of all functions."""

    copies: Copies
    trees: list[Region]
    methods: dict[str, str]
    functions: Kinds
    locals: list[Kinds]
    tables: frozenset[int]
    results: ResultFacts
    small: frozenset[int]

    def takes_items(self, index: int, count: int) -> Sequence[int]:
        """Which of so many arguments of a function without captures are Sets in the open."""
        own = self.locals[index]
        return [number for number in range(count) if number in own] if own else ()


@dataclass(slots=True)
class _Uses:
    """The instructions that make what a function stores in its locals and what it returns, None where that is
    more than one; `shown` are the locals that are not only looked into."""

    stored: dict[int, list[Instr | None]] = field(default_factory=dict)
    returned: list[Instr | None] = field(default_factory=list)
    shown: set[int] = field(default_factory=set)


def find_openings(module: ModuleIR, copies: Copies) -> Openings:
    """Assume the best of all functions and locals, and take back what others contradict."""
    trees = [grow(function.code, copies) for function in module.functions]
    uses = [_uses(function, tree) for function, tree in zip(module.functions, trees, strict=True)]
    functions = dict.fromkeys(range(len(uses)), "")
    locals_: list[Kinds] = [
        _first_kinds(function, found) for function, found in zip(module.functions, uses, strict=True)
    ]
    methods = _methods(module)
    changed = True
    while changed:
        changed = False
        for index, found in enumerate(uses):
            own = locals_[index]
            for local, makers in found.stored.items():
                changed |= _meet(own, local, makers, own, functions, methods)
            changed |= _meet(functions, index, found.returned, own, functions, methods)
    opened, open_functions = [_opened(kinds) for kinds in locals_], _opened(functions)
    private = private_functions(module)
    written = {index: tree for index, tree in enumerate(trees) if tree.depth <= DEEPEST}
    for index, place in find_open_sets(module, written, copies, private):
        if place == RETURNED:
            open_functions[index] = SET
        else:
            opened[index][place] = SET
    alike = {method: _of_method(indices, functions) for method, indices in methods.items()}
    results = ResultFacts(module, [each.returned for each in uses], [each.stored for each in uses], methods)
    tables, small = find_tables(module), find_small(module)
    return Openings(copies, trees, _opened(alike), open_functions, opened, tables, results, small)


def _first_kinds(function: Function, uses: _Uses) -> Kinds:
    given = function.captures + len(function.parameters)
    return {local: "-" if local < given or local in uses.shown else "" for local in uses.stored}


def _opened(kinds: dict[_Key, str]) -> dict[_Key, str]:
    return {number: kind for number, kind in kinds.items() if kind in (OPTION, RESULT)}


def _meet(
    kinds: Kinds,
    number: int,
    makers: list[Instr | None],
    own: Mapping[int, str],
    functions: Mapping[int, str],
    methods: Mapping[str, Sequence[int]],
) -> bool:
    """Take what is made into account; true if that changes the kind."""
    before = kinds[number]
    for instr in makers:
        made = "-" if instr is None else _made(instr, own, functions, methods)
        if made and kinds[number] and made != kinds[number]:
            made = "-"
        kinds[number] = made or kinds[number]
    return kinds[number] != before


def _methods(module: ModuleIR) -> dict[str, list[int]]:
    """The methods of traits that are looked up in classes, and their functions."""
    found: dict[str, list[int]] = {}
    for definition in module.types:
        for method, index in definition.methods.items():
            found.setdefault(method, []).append(index)
    return {method: indices for method, indices in found.items() if is_of_classes(module, method)}


def _of_method(indices: Sequence[int], functions: Mapping[int, str]) -> str:
    """The kind in which all functions of a method return."""
    kinds = {functions[index] for index in indices} - {""}
    return "-" if len(kinds) > 1 else next(iter(kinds), "")


def _made(
    instr: Instr,
    own: Mapping[int, str],
    functions: Mapping[int, str],
    methods: Mapping[str, Sequence[int]],
) -> str:
    match instr:
        case ("CALL_METHOD" | "CALL_METHOD_MUT", method, _):
            return _of_method(methods[method], functions) if method in methods else "-"
        case ("LOAD_LOCAL", local):
            return own.get(local, "-")
        case ("CALL", index, _):
            return functions[index]
        case ("CALL_NATIVE", native, _):
            found = find_native(native)
            return OPTION if found is not None and found.opens is not None else _GIVES_OPEN.get(native, "-")
        case _:
            return _MAKES.get(instr[0], "-")


def _uses(function: Function, tree: Region) -> _Uses:
    uses = _Uses()
    if tree.arms[0].falls or function.captures or tree.depth > DEEPEST:
        uses.returned.append(None)
    if tree.depth <= DEEPEST:
        _look(tree, uses)
    return uses


def _look(region: Region, uses: _Uses) -> None:
    if region.kind in ("FOR", "TRY"):
        uses.stored.setdefault(region.local, []).append(None)
    for arm in region.arms:
        for place, node in enumerate(arm.nodes):
            match node:
                case Region():
                    _look(node, uses)
                case Step(instr=("STORE_LOCAL", local)):
                    uses.stored.setdefault(local, []).extend(_makers(arm.nodes, place))
                case Step(instr=("RETURN",)):
                    uses.returned.extend(_makers(arm.nodes, place))
                case Step(instr=("LOAD_LOCAL", local)) if not _is_inside(arm, place + 1):
                    uses.shown.add(local)
                case _:
                    pass


def _is_inside(arm: Arm, place: int) -> bool:
    """Whether the instruction at a place looks into an Option or Result, or passes it on as it is."""
    match arm.nodes[place] if place < len(arm.nodes) else None:
        case Step(instr=("CALL_NATIVE", native, _)):
            found = find_native(native)
            return found is not None and found.looks_inside
        case Step(instr=(name, *_)):
            return name in _LOOKS_INSIDE or name in ("RETURN", "STORE_LOCAL")
        case _:
            return False


def _makers(nodes: list[Node], place: int) -> Iterator[Instr | None]:
    """The instructions whose result is on top of the stack before a place."""
    match nodes[place - 1] if place else None:
        case Step(instr=("STORE_LOCAL", _)) if place > 1:
            # Of the two that such a call gives, the changed receiver is on top.
            below = nodes[place - 2]
            yield below.instr if isinstance(below, Step) and below.instr[0] == "CALL_METHOD_MUT" else None
        case Step(instr=("CALL_METHOD_MUT", *_)):
            yield None
        case Step(instr=instr):
            yield instr
        case Region(result=1) as region:
            for arm in region.arms:
                if arm.falls:
                    yield from _makers(arm.nodes, len(arm.nodes))
            yield from _delivered(region, region)
        case _:
            yield None


def _delivered(region: Region, target: Region) -> Iterator[Instr | None]:
    """What branches take to the end of a region."""
    for arm in region.arms:
        for place, node in enumerate(arm.nodes):
            match node:
                case Region() if target.number in node.escapes:
                    yield from _delivered(node, target)
                case Exit() if node.target is target:
                    yield from _makers(arm.nodes, place)
                case _:
                    pass


def closed_text(kind: str, first: str, again: str) -> str:
    """The usual value for one in the open, which is written as `first` the first time."""
    if kind == SET:
        return f"Set({first})" if first != "{}" else "Set()"
    if kind == OPTION:
        return f"(Some({again}) if ({first}) is not MISSING else NONE)"
    return f"(Ok({again}) if type({first}) is not Fail else Err({again}.value))"
