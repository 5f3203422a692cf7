"""The verifier's part for code: operands, structured nesting, stack heights, locals assigned before they are
read, values of a kind that their instruction takes, in one pass over the instructions.

After an instruction that ends its path the height is unknown until the region's next part, as in
WebAssembly; what stands there must be well formed but cannot be reached. The kind of a value is known from
where an instruction makes it until a local or the end of a region takes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from concerto.ir.kinds import CONSTANTS, KINDS
from concerto.ir.module import Function, Instr, ModuleIR
from concerto.ir.opcodes import OPCODES
from concerto.ir.stack import ENDS_PATH, OPENS_REGION, pops, pushes
from concerto.records import field, record
from concerto.wording import counted

_LARGEST = 1_000_000

_MOST_KEPT = 2**32
"""Bits that the open regions of a function may keep of its locals; real programs need some thousands."""

_NATIVE = re.compile(r"[A-Za-z_]\w*(::[A-Za-z_]\w*)*", re.ASCII)

_REFERENCES = frozenset({"agent", "tool", "method", "mcp", "host", "pipeline", "hashmap", "ledger", "memory"})


_KEEPS_TOP = frozenset({"END", "BR", "IF", "ELSE", "CASE", "DEFAULT", "CATCH"})
"""Before these the top of the stack is still what the last instruction pushed."""


class CodeFault(Exception):
    """What is wrong with the instruction at `pc`."""

    def __init__(self, pc: int, message: str) -> None:
        super().__init__(message)
        self.pc = pc


Declared: TypeAlias = dict[tuple[str, str], int]
"""What a module declares that code refers to by kind and name; of functions of tools and servers, called
`Owner::name`, how many arguments they take."""


def verify_code(module: ModuleIR, declared: Declared, function: Function) -> None:
    """Raises CodeFault for the first instruction that does not fit."""
    _CodeVerifier(module, declared, function).run()


@record
class _Region:
    """`reached` says that control can come to the END, `live` that it came to the region. Of the locals, a
    bit for each: `before` are assigned at the start, `after` on every path that comes to the END, `if_true`
    on those that come with another result than false."""

    kind: str
    height: int
    result: int
    live: bool
    before: int
    after: int = -1
    if_true: int = -1
    reached: bool = False
    part: str = ""
    local: int = -1
    labels: set[int | str] = field(default_factory=set)

    def skipped(self) -> None:
        """Control also comes from the start to the END, if it came to the start."""
        self.reached = self.live
        self.after &= self.before if self.live else -1


class _CodeVerifier:
    """`if_true` are the locals that are assigned where the top of the stack, just pushed, is true; no more
    than `assigned` is known if it is 0."""

    def __init__(self, module: ModuleIR, declared: Declared, function: Function) -> None:
        self.module = module
        self.declared = declared
        self.function = function
        self.limits = {
            "const": len(module.constants),
            "local": function.locals,
            "function": len(module.functions),
            "type": len(module.types),
            "slot": _LARGEST,
            "count": _LARGEST,
            "int": _LARGEST,
            "result": 2,
            "flag": 2,
        }
        self.regions: list[_Region] = []
        self.kinds: list[str] = []
        self.live = True
        self.assigned = (1 << function.captures + len(function.parameters)) - 1
        self.if_true = 0
        self.kept = 0
        self.pc = 0

    @property
    def height(self) -> int:
        return len(self.kinds)

    def run(self) -> None:
        for pc, instr in enumerate(self.function.code):
            self.pc = pc
            self.operands(instr)
            name = instr[0]
            if name not in _KEEPS_TOP:
                self.if_true = 0
            if self.regions and self.regions[-1].kind == "SWITCH" and not self.regions[-1].part:
                self.expect(name in ("CASE", "DEFAULT", "END"), "a SWITCH begins with a CASE")
            if name in OPENS_REGION:
                self.open(instr)
            elif name in ("ELSE", "CASE", "DEFAULT", "CATCH"):
                self.next_part(instr)
            elif name == "END":
                self.close()
            elif name in ("BR", "BR_IF"):
                self.branch(instr)
            else:
                self.plain(instr)
            if name in ENDS_PATH:
                self.live = False
        self.pc = len(self.function.code)
        self.expect(not self.regions, "a region is not closed")
        self.expect(not self.live or self.height == 0, "the function ends with values on the stack")

    def expect(self, holds: bool, otherwise: str) -> None:
        if not holds:
            raise CodeFault(self.pc, otherwise)

    # Operands

    def operands(self, instr: Instr) -> None:
        opcode = OPCODES.get(instr[0]) if instr and isinstance(instr[0], str) else None
        if opcode is None:
            raise CodeFault(self.pc, f"unknown opcode `{str(instr[0])[:40] if instr else ''}`")
        self.expect(len(instr) == len(opcode.operands) + 1, f"{opcode.name} has the wrong number of operands")
        for kind, operand in zip(opcode.operands, instr[1:], strict=True):
            if kind == "name":
                self.expect(type(operand) is str, f"{opcode.name} needs a name")
                continue
            limit = len(self.regions) if kind == "level" else self.limits[kind]
            fits = type(operand) is int and 0 <= operand < limit
            self.expect(fits, f"{opcode.name} has a {kind} operand out of range")
        check = _CHECKS.get(opcode.name)
        if check is not None:
            check(self, instr)

    # Heights

    def pop(self, count: int) -> None:
        if not self.live:
            return
        floor = self.regions[-1].height if self.regions else 0
        self.expect(self.height - count >= floor, "the stack is too low")
        if count:
            del self.kinds[-count:]

    def pop_operands(self, instr: Instr) -> None:
        """Take what the instruction takes, of the kinds that it takes."""
        count = pops(instr)
        taken = self.kinds[len(self.kinds) - count :]
        self.pop(count)
        if self.live:
            for expected, kind in zip(KINDS[instr[0]][0], taken, strict=False):
                fits = not kind or not expected or kind == expected
                self.expect(fits, f"{instr[0]} of a value of another kind")

    def plain(self, instr: Instr) -> None:
        name = instr[0]
        self.pop_operands(instr)
        left = KINDS[name][1]
        if name == "LOAD_CONST":
            left = CONSTANTS[type(self.module.constants[instr[1]])]
        elif name == "LOAD_LOCAL":
            there = not self.live or self.assigned >> instr[1] & 1
            self.expect(bool(there), "a local is read before it is assigned")
        elif name == "STORE_LOCAL":
            self.assigned |= 1 << instr[1]
        elif name == "LOAD_FALSE":
            self.if_true = -1
        self.kinds += left or [""] * pushes(instr)

    def arrive(self, region: _Region) -> None:
        """Control comes to the END of a region with what is on the stack."""
        if self.live:
            self.expect(
                self.height == region.height + region.result, "a region ends with a wrong stack height"
            )
            self.reach(region)

    def reach(self, region: _Region) -> None:
        region.reached = True
        region.after &= self.assigned
        region.if_true &= self.assigned | self.if_true

    # Regions

    def open(self, instr: Instr) -> None:
        self.pop_operands(instr)
        name = instr[0]
        result = 0 if name in ("LOOP", "FOR") else instr[1]
        self.regions.append(_Region(name, self.height, result, self.live, self.assigned))
        self.kept += self.assigned.bit_length()
        self.expect(self.kept < _MOST_KEPT, "too many locals in too many regions")
        if name == "SWITCH":
            self.live = False
        elif name == "FOR":
            self.assigned |= 1 << instr[1]
        elif name == "IF":
            self.assigned |= self.if_true
        self.if_true = 0

    def next_part(self, instr: Instr) -> None:
        name = instr[0]
        owner = {"ELSE": "IF", "CATCH": "TRY"}.get(name, "SWITCH")
        if not self.regions or self.regions[-1].kind != owner:
            raise CodeFault(self.pc, f"{name} without {owner}")
        region = self.regions[-1]
        before = self.function.code[self.pc - 1][0]
        if region.part and before in ("CASE", "DEFAULT"):
            pass
        elif owner != "SWITCH" or region.part:
            self.arrive(region)
        if name == "CASE":
            self.case(region, self.module.constants[instr[1]])
        else:
            taken = region.part if owner != "SWITCH" else ("default" in region.labels)
            self.expect(not taken, f"a second {name}")
            region.labels.add("default") if owner == "SWITCH" else None
        region.part = name
        region.local = instr[1] if name == "CATCH" else -1
        del self.kinds[region.height :]
        self.if_true = 0
        self.live = region.live
        self.assigned = region.before | (1 << region.local if name == "CATCH" else 0)

    def case(self, region: _Region, constant: int | float | str) -> None:
        if isinstance(constant, float):
            raise CodeFault(self.pc, "a CASE is an Int or a String")
        label = f"s{constant}" if isinstance(constant, str) else constant
        self.expect(label not in region.labels, "two CASEs are equal")
        region.labels.add(label)

    def close(self) -> None:
        if not self.regions:
            raise CodeFault(self.pc, "END without a region")
        region = self.regions[-1]
        if region.kind in ("LOOP", "FOR"):
            if self.live:
                self.expect(self.height == region.height, "a loop ends with values on the stack")
            region.reached = region.live and region.kind == "FOR"
            region.after = region.before
        else:
            if region.kind != "SWITCH" or region.part:
                self.arrive(region)
            self.complete(region)
        self.regions.pop()
        self.kept -= region.before.bit_length()
        self.live = region.reached
        self.assigned = region.after
        self.if_true = region.if_true if region.result else 0
        self.kinds[region.height :] = [""] * region.result

    def complete(self, region: _Region) -> None:
        """A region has all its parts: the ways without an arm of their own lead to the END too."""
        match region.kind:
            case "TRY":
                self.expect(region.part == "CATCH", "a TRY without CATCH")
            case "IF" if not region.part:
                self.expect(not region.result, "an IF with a result without ELSE")
                region.skipped()
            case "SWITCH" if "default" not in region.labels:
                self.expect(not region.result, "a SWITCH with a result without DEFAULT")
                region.skipped()
            case _:
                pass

    def branch(self, instr: Instr) -> None:
        name, level = instr
        target = self.regions[-1 - level]
        if name == "BR_IF":
            self.pop_operands(instr)
            self.expect(not target.result, "a BR_IF to a region with a result")
        if not self.live:
            return
        if target.kind in ("LOOP", "FOR"):
            return
        self.pop(target.result)
        self.kinds += [""] * target.result
        self.reach(target)


# What an opcode's operands must have to do with the tables

_Check = Callable[[_CodeVerifier, Instr], None]


def _call(verifier: _CodeVerifier, instr: Instr) -> None:
    target = verifier.module.functions[instr[1]]
    count = target.captures + len(target.parameters)
    verifier.expect(instr[2] == count, f"`{target.name[:60]}` takes {counted(count, 'argument')}")


def _function(verifier: _CodeVerifier, instr: Instr) -> None:
    target = verifier.module.functions[instr[1]]
    verifier.expect(target.captures == 0, f"`{target.name[:60]}` has captures")


def _closure(verifier: _CodeVerifier, instr: Instr) -> None:
    target = verifier.module.functions[instr[1]]
    verifier.expect(instr[2] == target.captures, f"`{target.name[:60]}` has {target.captures} captures")


def _struct(verifier: _CodeVerifier, instr: Instr) -> None:
    definition = verifier.module.types[instr[1]]
    verifier.expect(definition.kind in ("struct", "schema"), "BUILD_STRUCT of a type that is no struct")
    verifier.expect(len(definition.fields) == instr[2], "BUILD_STRUCT with a wrong number of fields")


def _variant(verifier: _CodeVerifier, instr: Instr) -> None:
    definition = verifier.module.types[instr[1]]
    verifier.expect(definition.kind == "enum", "BUILD_VARIANT of a type that is no enum")
    verifier.expect(instr[2] < len(definition.variants), "BUILD_VARIANT of an unknown variant")
    fields = definition.variants[instr[2]].fields
    verifier.expect(len(fields) == instr[3], "BUILD_VARIANT with a wrong number of fields")


def _reference(verifier: _CodeVerifier, instr: Instr) -> None:
    _, kind, name = instr
    verifier.expect(kind in _REFERENCES, "LOAD_REF of an unknown kind")
    verifier.expect((kind, name) in verifier.declared, f"the program has no {kind} `{name[:60]}`")


def _method(verifier: _CodeVerifier, instr: Instr) -> None:
    name, owner, method, count = instr
    kind = "mcp" if name == "CALL_MCP" else "tool"
    takes = verifier.declared.get((kind, f"{owner}::{method}"))
    verifier.expect(takes is not None, f"the program has no {kind} function `{owner[:60]}::{method[:60]}`")
    fits = takes == count
    verifier.expect(fits, f"`{owner[:60]}::{method[:60]}` takes {counted(takes or 0, 'argument')}")


def _pipeline(verifier: _CodeVerifier, instr: Instr) -> None:
    there = ("pipeline", instr[1]) in verifier.declared
    verifier.expect(there, f"the program has no pipeline `{instr[1][:60]}`")


def _native(verifier: _CodeVerifier, instr: Instr) -> None:
    verifier.expect(_NATIVE.fullmatch(instr[1]) is not None, f"{instr[0]} has a name that is no function's")


def _of_caught(verifier: _CodeVerifier, instr: Instr) -> None:
    caught = any(region.part == "CATCH" and region.local == instr[1] for region in verifier.regions)
    verifier.expect(caught, f"{instr[0]} of a local that holds no caught error")


def _catch(verifier: _CodeVerifier, instr: Instr) -> None:
    around = any(region.part == "CATCH" and region.local == instr[1] for region in verifier.regions[:-1])
    verifier.expect(not around, "a CATCH uses the local of a CATCH around it")


def _format(verifier: _CodeVerifier, instr: Instr) -> None:
    verifier.expect(len(instr[2]) == instr[1], "FORMAT has not one letter a value")


_CHECKS: dict[str, _Check] = {
    "CALL": _call,
    "LOAD_FUNCTION": _function,
    "MAKE_CLOSURE": _closure,
    "BUILD_STRUCT": _struct,
    "BUILD_VARIANT": _variant,
    "LOAD_REF": _reference,
    "CALL_TOOL": _method,
    "CALL_MCP": _method,
    "CALL_PIPELINE": _pipeline,
    "CALL_NATIVE": _native,
    "LOAD_NATIVE": _native,
    "RETHROW": _of_caught,
    "KEEP_SELF": _of_caught,
    "LEFT_SELF": _of_caught,
    "CATCH": _catch,
    "FORMAT": _format,
}
