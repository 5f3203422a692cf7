"""A tiny assembler, so that tests can show IR.

    fn fib(n) locals=1
        LOAD_LOCAL 0
        LOAD_CONST 2
        LT_INT
        IF 0
            ...

Constants are written as Python literals, functions by name, other operands as numbers or words.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Sequence

from concerto.ir.module import Function, Instr, ModuleIR, Position, SourceFile, TypeDef
from concerto.ir.opcodes import OPCODES

_HEADER = re.compile(r"fn (\w+)\(([^)]*)\)((?: \w+(?:=\d+)?)*)\s*$")


def assemble(text: str, types: Sequence[TypeDef] = ()) -> ModuleIR:
    """A module of the functions in a text; `main`, if there is one, is the entry."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.split("#")[0].strip()]
    names = [match[1] for _, line in lines if (match := _HEADER.match(line.strip()))]
    module = ModuleIR("test", "test.conc", types=list(types), files=[SourceFile("test.conc", text)])
    starts = [0]
    for line in text.splitlines():
        starts.append(starts[-1] + len(line) + 1)
    for number, line in lines:
        stripped = line.split("#")[0].strip()
        if header := _HEADER.match(stripped):
            module.functions.append(_function(header))
        else:
            function = module.functions[-1]
            start = starts[number - 1] + len(line) - len(line.lstrip())
            function.positions.append(Position(len(function.code), start, start + len(stripped)))
            function.code.append(_instr(stripped, module, names))
    module.entry = names.index("main") if "main" in names else None
    return module


def _function(header: re.Match[str]) -> Function:
    parameters = [name.strip() for name in header[2].split(",") if name.strip()]
    options = dict(option.partition("=")[::2] for option in header[3].split())
    captures = int(options.get("captures", 0))
    locals_ = int(options.get("locals", captures + len(parameters)))
    return Function(header[1], parameters, captures, locals_, [], 0, [], "inout" in options)


def _instr(line: str, module: ModuleIR, names: list[str]) -> Instr:
    name, _, rest = line.partition(" ")
    kinds = OPCODES[name].operands
    words = rest.split(None, len(kinds) - 1) if kinds else []
    if kinds[-1:] == ("name",):
        words += [""] * (len(kinds) - len(words))
    assert len(words) == len(kinds), line
    return (
        name,
        *[_operand(kind, word.strip(), module, names) for kind, word in zip(kinds, words, strict=True)],
    )


def _operand(kind: str, word: str, module: ModuleIR, names: list[str]) -> int | str:
    match kind:
        case "const":
            value = literal_eval(word)
            for index, constant in enumerate(module.constants):
                if type(constant) is type(value) and repr(constant) == repr(value):
                    return index
            module.constants.append(value)
            return len(module.constants) - 1
        case "function":
            return names.index(word)
        case "name":
            return word
        case _:
            return int(word)
