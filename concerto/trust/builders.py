"""Which agents, with which tools, may stand at a place where an agent is executed.

A walk over a function's code follows the values that are agents, builders, tools and arrays of tools: through
the stack, through locals, and on demand through parameters and results. What cannot be followed is UNKNOWN:
any agent of the program, with every tool.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from concerto.ir.module import Agent, Function, Instr, ModuleIR, TypeDef
from concerto.ir.stack import ENDS_PATH, OPENS_REGION, pops, pushes
from concerto.records import field, frozen, record, replace


@frozen
class Ref:
    """A declared agent, tool, method or server; of kind `text` a tool by its name in words."""

    kind: str
    name: str


@frozen
class Items:
    """An array."""

    items: tuple[Traced, ...]


@frozen
class BuilderStep:
    """A builder made from another by one of its methods."""

    base: Traced
    method: str
    argument: Traced | None = None


@frozen
class Local:
    """What a local of the function holds."""

    slot: int


@frozen
class Result:
    """What a function of the program returns."""

    function: int


@frozen
class OneOf:
    """One of several, as a branch decides."""

    options: tuple[Traced, ...]


@frozen
class Opaque:
    """Anything."""


Traced: TypeAlias = Ref | Items | BuilderStep | Local | Result | OneOf | Opaque
UNKNOWN = Opaque()

_MOST_STEPS = 2_000
"""So many steps are made for one site."""
_BUILDER = "AgentBuilder::"
_SHAPING = frozenset({"with_tools", "without_tools", "with_allowed_tools", "with_tool_discovery"})


@record
class CodeTrace:
    """What a walk over one function has met: the executed value of each site, what each local is given, the
    arguments of each call, what is returned. `used` are locals that something else may have changed."""

    sites: dict[int, Traced] = field(default_factory=dict)
    stores: dict[int, list[Traced]] = field(default_factory=dict)
    calls: list[tuple[int, tuple[Traced, ...]]] = field(default_factory=list)
    returns: list[Traced] = field(default_factory=list)
    used: set[int] = field(default_factory=set)


@frozen
class Shape:
    """An agent as it is executed; `agent` is None for any. `tools` and `allowed` are references; None among
    `tools` is every tool, `allowed` None all of them. `static` says whether the agent's own tools count."""

    agent: str | None
    static: bool = True
    tools: frozenset[Ref | None] = frozenset()
    allowed: frozenset[Ref | None] | None = None
    discovery: bool = False


ANY_AGENT = Shape(None, True, frozenset({None}), None, True)


class Builders:
    """The shapes at every site of a program."""

    def __init__(self, module: ModuleIR) -> None:
        self._module = module
        self._traces: dict[int, CodeTrace] = {}
        self._callers: dict[int, set[int]] | None = None
        self._as_values: set[int] = set()
        self._steps = 0

    def shapes(self, function: int, pc: int) -> set[Shape]:
        """What may be executed by the instruction of that number."""
        value = self._trace(function).sites.get(pc, UNKNOWN)
        self._steps = 0
        return set(self._shapes(value, function, ())) or {ANY_AGENT}

    # --- From values to shapes ---

    def _shapes(self, value: Traced, function: int, path: tuple[object, ...]) -> Iterator[Shape]:
        for place, option in self._followed(value, function, path):
            match option:
                case Ref(kind="agent" | "host", name=name):
                    yield Shape(name)
                case BuilderStep():
                    # A step that leads to itself, in a loop, adds nothing when it is made once more.
                    if (place, option) in path:
                        continue
                    for shape in self._shapes(option.base, place, (*path, (place, option))):
                        yield self._changed(shape, option, place, path)
                case _:
                    yield ANY_AGENT

    def _changed(self, shape: Shape, change: BuilderStep, function: int, path: tuple[object, ...]) -> Shape:
        match change.method:
            case "with_tools":
                return replace(shape, tools=shape.tools | self._references(change.argument, function, path))
            case "with_allowed_tools":
                return replace(shape, allowed=self._references(change.argument, function, path))
            case "without_tools":
                return replace(shape, static=False)
            case "with_tool_discovery":
                return replace(shape, discovery=True)
            case _:
                return shape

    def _references(
        self, value: Traced | None, function: int, path: tuple[object, ...]
    ) -> frozenset[Ref | None]:
        """The tools in an array; None among them if some cannot be told."""
        found: set[Ref | None] = set()
        options = list(self._followed(value or UNKNOWN, function, path)) or [(function, UNKNOWN)]
        for place, option in options:
            if isinstance(option, Items):
                for item in option.items:
                    for _, each in self._followed(item, place, path):
                        found.add(each if isinstance(each, Ref) else None)
            else:
                found.add(None)
        return frozenset(found)

    def _followed(
        self, value: Traced, function: int, path: tuple[object, ...]
    ) -> Iterator[tuple[int, Traced]]:
        """The values behind locals, parameters and results, each with the function that it stands in."""
        step = (function, value)
        self._steps += 1
        if self._steps > _MOST_STEPS:
            yield function, UNKNOWN
            return
        if step in path:
            return
        path = (*path, step)
        match value:
            case OneOf():
                for option in value.options:
                    yield from self._followed(option, function, path)
            case Local():
                yield from self._of_local(value.slot, function, path)
            case Result():
                returned = self._trace(value.function).returns or [UNKNOWN]
                for option in returned:
                    yield from self._followed(option, value.function, path)
            case _:
                yield function, value

    def _of_local(self, slot: int, function: int, path: tuple[object, ...]) -> Iterator[tuple[int, Traced]]:
        trace, definition = self._trace(function), self._module.functions[function]
        given = len(definition.parameters) + definition.captures
        options = [(function, stored) for stored in trace.stores.get(slot, ())]
        if slot < given:
            options += self._arguments(function, slot) or [(function, UNKNOWN)]
        changed = slot in trace.used
        for place, option in options or [(function, UNKNOWN)]:
            for where, each in self._followed(option, place, path):
                # An array may have been changed in place; agents and builders never change.
                yield where, UNKNOWN if changed and isinstance(each, Items) else each

    def _arguments(self, function: int, slot: int) -> list[tuple[int, Traced]]:
        """What the callers of a function give for one of its parameters; none if they are not all known."""
        if self._callers is None:
            self._callers = self._all_callers()
        if function in self._as_values:
            return []
        return [
            (caller, arguments[slot])
            for caller in self._callers.get(function, ())
            for callee, arguments in self._trace(caller).calls
            if callee == function and slot < len(arguments)
        ]

    def _all_callers(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for index, function in enumerate(self._module.functions):
            for instr in function.code:
                if instr[0] == "CALL":
                    found.setdefault(instr[1], set()).add(index)
                elif instr[0] in ("LOAD_FUNCTION", "MAKE_CLOSURE"):
                    self._as_values.add(instr[1])
        owners: list[TypeDef | Agent] = [*self._module.types, *self._module.agents]
        for owner in owners:
            self._as_values.update(owner.methods.values())
        self._as_values.update(stage.function for each in self._module.pipelines for stage in each.stages)
        return found

    # --- From code to values ---

    def _trace(self, index: int) -> CodeTrace:
        found = self._traces.get(index)
        if found is None:
            found = self._traces[index] = _Walk(self._module, self._module.functions[index]).walk()
        return found


@record
class _Region:
    opcode: str
    height: int
    result: bool
    values: list[Traced] = field(default_factory=list)


class _Walk:
    """One walk over a function's code."""

    def __init__(self, module: ModuleIR, function: Function) -> None:
        self._module = module
        self._function = function
        self._stack: list[Traced] = []
        self._regions: list[_Region] = []
        self._dead = False
        self._trace = CodeTrace()

    def walk(self) -> CodeTrace:
        for pc, instr in enumerate(self._function.code):
            opcode = instr[0]
            if opcode in OPENS_REGION:
                self._open(instr)
            elif opcode in ("ELSE", "CASE", "DEFAULT", "CATCH", "END"):
                self._arm(instr)
            elif not self._dead:
                self._step(pc, instr)
        return self._trace

    def _open(self, instr: Instr) -> None:
        taken = [] if self._dead else self._take(pops(instr))
        if instr[0] == "FOR":
            items = taken[0] if taken else UNKNOWN
            each = _either(list(items.items)) if isinstance(items, Items) else UNKNOWN
            self._trace.stores.setdefault(instr[1], []).append(each)
        result = instr[0] in ("BLOCK", "IF", "SWITCH", "TRY") and bool(instr[1])
        self._regions.append(_Region(instr[0], len(self._stack), result))

    def _arm(self, instr: Instr) -> None:
        region = self._regions[-1]
        if region.result and not self._dead and len(self._stack) > region.height:
            region.values.append(self._stack[-1])
        del self._stack[region.height :]
        self._dead = False
        if instr[0] == "CATCH":
            self._trace.stores.setdefault(instr[1], []).append(UNKNOWN)
        elif instr[0] == "END":
            self._regions.pop()
            if region.result:
                self._stack.append(_either(region.values))

    def _step(self, pc: int, instr: Instr) -> None:
        opcode, trace = instr[0], self._trace
        match opcode:
            case "LOAD_REF":
                self._stack.append(Ref(instr[1], instr[2]))
            case "LOAD_CONST":
                value = self._module.constants[instr[1]]
                self._stack.append(Ref("text", value) if isinstance(value, str) else UNKNOWN)
            case "LOAD_LOCAL":
                self._stack.append(Local(instr[1]))
            case "STORE_LOCAL":
                trace.stores.setdefault(instr[1], []).append(self._take(1)[0])
            case "COPY" | "COPY_ARRAY" | "COPY_OF":
                pass
            case "BUILD_ARRAY":
                self._stack.append(Items(tuple(self._take(instr[1]))))
            case "CALL":
                arguments = tuple(self._take(instr[2]))
                trace.calls.append((instr[1], arguments))
                self._stack.append(Result(instr[1]))
            case "CALL_NATIVE" if instr[1].startswith(_BUILDER):
                base, *given = self._take(instr[2])
                method = instr[1].removeprefix(_BUILDER)
                change = BuilderStep(base, method, given[0] if given and method in _SHAPING else None)
                self._stack.append(change)
            case "CALL_AGENT":
                receiver, *given = self._take(instr[2] + 1)
                trace.sites[pc] = receiver
                self._use(given)
                self._stack.append(UNKNOWN)
            case "BR" | "BR_IF":
                self._use(self._take(pops(instr)))
                target = self._regions[-1 - instr[1]] if instr[1] < len(self._regions) else None
                if target is not None and target.result and self._stack:
                    target.values.append(self._stack[-1])
                self._dead = opcode == "BR"
            case "RETURN":
                trace.returns.append(self._take(1)[0])
                self._dead = True
            case _:
                self._use(self._take(pops(instr)))
                self._stack += [UNKNOWN] * pushes(instr)
                self._dead = opcode in ENDS_PATH

    def _take(self, count: int) -> list[Traced]:
        if not count:
            return []
        taken = self._stack[-count:]
        del self._stack[-count:]
        return [UNKNOWN] * (count - len(taken)) + taken

    def _use(self, values: list[Traced]) -> None:
        """Something else than an agent gets the values, and may change an array among them."""
        for value in values:
            if isinstance(value, Local):
                self._trace.used.add(value.slot)


def _either(values: list[Traced]) -> Traced:
    if not values:
        return UNKNOWN
    return values[0] if len(values) == 1 else OneOf(tuple(values))
