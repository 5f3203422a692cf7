"""A module as text for people (`concertoc dis`): functions with their source lines, declarations by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from concerto.ir.module import (
    Agent,
    ConnectionDef,
    Function,
    HostDef,
    Instr,
    McpServerDef,
    ModuleIR,
    Pipeline,
    Schema,
    State,
    Tool,
)
from concerto.ir.opcodes import OPCODES
from concerto.ir.stack import OPENS_REGION
from concerto.source import Source
from concerto.wording import shortened

Named: TypeAlias = Agent | HostDef | Tool | McpServerDef | Schema | ConnectionDef | State | Pipeline

_LONGEST = 60


def disassemble(module: ModuleIR, only: int | None = None) -> str:
    """All of a module, or one function; regions are indented, each source line is shown before what it
    became."""
    if only is not None:
        function = module.functions[only]
        file = module.files[function.file] if 0 <= function.file < len(module.files) else None
        source = Source(file.path, file.text) if file is not None else None
        return "\n".join(_function(module, only, function, source)) + "\n"
    lines = [f"module {module.module}  ({module.source_file})"]
    sources = [Source(file.path, file.text) for file in module.files]
    for index, definition in enumerate(module.types):
        if definition.kind in ("struct", "schema", "enum"):
            parts = [field.name for field in definition.fields] or [v.name for v in definition.variants]
            lines.append(f"type {index}: {definition.kind} {definition.name} {{ {', '.join(parts)} }}")
    sections: tuple[tuple[str, Sequence[Named]], ...] = (
        ("agent", module.agents), ("host", module.hosts), ("tool", module.tools), ("mcp", module.mcp_servers),
        ("schema", module.schemas), ("connection", module.connections), ("hashmap", module.hashmaps),
        ("ledger", module.ledgers), ("memory", module.memories), ("pipeline", module.pipelines),
    )  # fmt: skip
    for section, members in sections:
        lines += [f"{section} {member.name}" for member in members]
    for index, function in enumerate(module.functions):
        source = sources[function.file] if 0 <= function.file < len(sources) else None
        lines += ["", *_function(module, index, function, source)]
    return "\n".join(lines) + "\n"


def _function(module: ModuleIR, index: int, function: Function, source: Source | None) -> Iterator[str]:
    entry = "  (entry)" if module.entry == index else ""
    captures = f", {function.captures} captures" if function.captures else ""
    inout = ", inout" if function.inout else ""
    parameters = ", ".join(function.parameters)
    yield f"fn {index} {function.name}({parameters})  {function.locals} locals{captures}{inout}{entry}"
    starts = {place.pc: place.start for place in function.positions}
    regions: list[str] = []
    shown = -1
    for pc, instr in enumerate(function.code):
        if source is not None and pc in starts:
            line, _ = source.line_column(min(starts[pc], len(source.text)))
            if line != shown:
                shown = line
                yield f"  ; {source.path}:{line}  {source.line_text(line).strip()}"
        name = instr[0]
        if name == "END" and regions:
            regions.pop()
        # The parts of a SWITCH stand inside it, those of an IF or TRY at its own depth.
        depth = len(regions) - (name in ("ELSE", "CATCH"))
        depth += sum(region == "SWITCH" for region in regions[: -1 if name in ("CASE", "DEFAULT") else None])
        yield f"  {pc:5}  {'  ' * max(depth, 0)}{_instruction(module, instr)}"
        if name in OPENS_REGION:
            regions.append(name)


def _instruction(module: ModuleIR, instr: Instr) -> str:
    opcode = OPCODES.get(instr[0])
    kinds = opcode.operands if opcode is not None else ("int",) * (len(instr) - 1)
    operands = [_operand(module, kind, operand) for kind, operand in zip(kinds, instr[1:], strict=False)]
    return " ".join([instr[0], *operands])


def _operand(module: ModuleIR, kind: str, operand: int | str) -> str:
    match kind, operand:
        case "const", int() if 0 <= operand < len(module.constants):
            constant = module.constants[operand]
            text = repr(constant) if isinstance(constant, str) else str(constant)
            return shortened(text, _LONGEST + 1)
        case "function", int() if 0 <= operand < len(module.functions):
            return module.functions[operand].name
        case "type", int() if 0 <= operand < len(module.types):
            definition = module.types[operand]
            return f"{definition.name or definition.kind}#{operand}"
        case "local", int():
            return f"v{operand}"
        case _:
            return str(operand)
