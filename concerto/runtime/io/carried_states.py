"""Carried states: what the tools, hashmaps, ledgers and memories of a program hold when a response has ended,
as JSON, and from where the next one of the chain goes on.

What JSON has no word for is an object with one name, which says what it is. Every tool and every declared
state is an entry of its own. What lives in a file is not carried; neither are functions, tasks, builders and
watchers: a field of a tool that holds such begins anew.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from concerto.ir.module import FieldDef, ModuleIR, Tool
from concerto.json_data import Json
from concerto.natives.agentbuilder import AgentRef, ToolRef
from concerto.natives.hashmap import HashMap, Store
from concerto.natives.ledger import Ledger
from concerto.natives.memory import Memory
from concerto.runtime.run.agent_failures import message_of
from concerto.vm.collections import Queue, Set, Stack
from concerto.vm.operations import hash_key, type_name
from concerto.vm.values import (
    NONE,
    Err,
    ErrorValue,
    NoneOption,
    Ok,
    Raised,
    Range,
    Some,
    Struct,
    Value,
    Variant,
    failure,
    parts_of,
)

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices

_TOOL = "tool"


class _Uncarried(Exception):
    """A value that is not carried; the text is its type."""


class Declared(Protocol):
    """The declared states of a run."""

    @property
    def made(self) -> Mapping[tuple[str, str], Value]:
        """Those that have been used, by kind and name."""

    def make(self, kind: str, name: str) -> Value: ...


def has_states(module: ModuleIR) -> bool:
    """Whether there is anything that a program could carry."""
    return bool(
        module.hashmaps or module.ledgers or module.memories or any(tool.fields for tool in module.tools)
    )


class CarriedStates:
    """The states that a run was given by the response before it."""

    def __init__(self, run: RunServices, declared: Declared, given: str) -> None:
        self._run = run
        self._declared = declared
        self._entries: dict[str, Json] = json.loads(given) if given else {}

    def tool(self, tool: Tool, first: Struct) -> Struct:
        """The state of a tool, which begins with `first` where nothing else was carried."""
        entry = self._entries.get(f"{_TOOL} {tool.name}")
        if entry is None:
            return first
        self._keep((_TOOL, tool.name), entry["origins"])
        reader, fields = self._reader(f"tool `{tool.name}`"), self._run.module.types[tool.type].fields
        values = [
            reader.read_as(entry["fields"][field.name], field.type) if field.name in entry["fields"] else own
            for field, own in zip(fields, parts_of(first), strict=True)
        ]
        return type(first)(*values)

    def fill(self, kind: str, name: str, type_: int, state: Value) -> None:
        """Put into a declared state, which is empty, what was carried."""
        entry = self._entries.get(f"{kind} {name}")
        if entry is None or _is_in_file(state):
            return
        reader = self._reader(f"{kind} `{name}`")
        if "uncarried" in entry:
            raise reader.misfit(f"it held {entry['uncarried']}, which is not carried")
        types: Sequence[int] = self._run.module.types[type_].items if kind == "hashmap" else ()
        reader.fill(state, entry, types)

    def written(self, tools: Mapping[str, Value]) -> str:
        """What the next response is given: the states that this run has used, of its `tools` too, and those
        that it was given and has not."""
        entries = dict(self._entries)
        shared = {id(_held(state)): key for key, state in self._declared.made.items()}
        for name, state in tools.items():
            if state.field_names:
                fields = self._fields(state, shared)
                entries[f"{_TOOL} {name}"] = {"origins": self._origins((_TOOL, name)), "fields": fields}
        for (kind, name), state in self._declared.made.items():
            if _is_in_file(state):
                continue
            try:
                entries[f"{kind} {name}"] = _Writer({}, self._origins).handle(state)
            except _Uncarried as uncarried:
                entries[f"{kind} {name}"] = {"uncarried": f"a value of type `{uncarried}`"}
            except RecursionError:
                entries[f"{kind} {name}"] = {"uncarried": "a value that is nested very deeply"}
        return json.dumps(entries) if entries else ""

    def _fields(self, state: Struct, shared: Mapping[int, tuple[str, str]]) -> dict[str, Json]:
        writer, fields = _Writer(shared, self._origins), {}
        for name, value in zip(state.field_names, parts_of(state), strict=True):
            try:
                fields[name] = writer.write(value)
            except (_Uncarried, RecursionError):
                continue
        return fields

    def _origins(self, holder: object) -> list[str]:
        return [] if self._run.trust is None else list(self._run.trust.kept_in(holder))

    def _keep(self, holder: object, origins: Sequence[str]) -> None:
        if self._run.trust is not None and origins:
            self._run.trust.keep(holder, origins)

    def _reader(self, what: str) -> _Reader:
        return _Reader(self._run, self._declared, self._keep, what)


def _held(state: Value) -> object:
    """What the views on a hashmap or a ledger share; a memory itself."""
    match state:
        case HashMap():
            return state.store
        case Ledger():
            return state.all
        case _:
            return state


def _is_in_file(state: Value) -> bool:
    match state:
        case HashMap():
            return state.store.file is not None
        case Memory():
            return bool(state.path)
        case _:
            return False


class _Writer:
    """Values as JSON; `shared` are the declared states that handles may lead to, by the id of what they
    share."""

    def __init__(self, shared: Mapping[int, tuple[str, str]], origins: Callable[[object], list[str]]) -> None:
        self._shared = shared
        self._origins = origins
        self._numbers: dict[int, int] = {}

    def write(self, value: Value) -> Json:
        match value:
            case None | bool() | int() | str():
                return value
            case float():
                return value if math.isfinite(value) else {"float": repr(value)}
            case list():
                return self._all(value)
            case NoneOption():
                return {"none": None}
            case Some():
                return {"some": self.write(value.value)}
            case Ok():
                return {"ok": self.write(value.value)}
            case Err():
                return {"err": self.write(value.value)}
            case tuple():
                return {"tuple": self._all(value)}
            case dict():
                return {"map": self._pairs(value)}
            case Set():
                return {"set": self._all(list(value.items.values()))}
            case Queue():
                return {"queue": self._all(list(value.items))}
            case Stack():
                return {"stack": self._all(value.items)}
            case Range():
                numbers = value.numbers
                return {"range": [numbers.start, numbers.stop, numbers.step, value.inclusive]}
            case Struct():
                fields = dict(zip(value.field_names, self._all(parts_of(value)), strict=True))
                return {"struct": [value.type_name, fields]}
            case Variant():
                return {"variant": [value.type_name, value.variant_name, self._all(parts_of(value))]}
            case ErrorValue():
                own = {name: self.write(each) for name, each in value.fields.items()}
                return {"error": [value.type_name, value.message, value.kind, own]}
            case AgentRef():
                return {"agent": value.name}
            case ToolRef():
                return {"reference": [value.kind, value.name, value.method]}
            case HashMap() | Ledger() | Memory():
                return {"handle": self._once(value)}
            case _:
                raise _Uncarried(type_name(value))

    def handle(self, value: HashMap | Ledger | Memory) -> dict[str, Json]:
        """What a hashmap, a ledger or a memory holds."""
        held: dict[str, Json] = {"origins": self._origins(_held(value))}
        match value:
            case HashMap():
                if value.store.file is not None:
                    raise _Uncarried(value.type_name)
                return held | {"hashmap": self._pairs(value.store.entries)}
            case Ledger():
                return held | {"ledger": [[each.identifier, each.keys, each.value] for each in value.all]}
            case Memory():
                if value.path:
                    raise _Uncarried(value.type_name)
                rest = [value.entries.maxlen, value.cut, value.first]
                return held | {"memory": list(value.entries), "rest": rest}

    def _once(self, value: HashMap | Ledger | Memory) -> dict[str, Json]:
        prefix: dict[str, Json] = {} if isinstance(value, Memory) else {"prefix": value.prefix}
        place = id(_held(value))
        if place in self._shared:
            return prefix | {"declared": self._shared[place]}
        if place in self._numbers:
            return prefix | {"again": self._numbers[place]}
        self._numbers[place] = len(self._numbers)
        return prefix | self.handle(value)

    def _all(self, values: Sequence[Value]) -> list[Json]:
        return [self.write(each) for each in values]

    def _pairs(self, values: Mapping[Value, Value]) -> list[Json]:
        return [[self.write(key), self.write(each)] for key, each in values.items()]


class _Reader:
    """Values from JSON. What another version of the program has written may not fit: that is a failure."""

    def __init__(
        self,
        run: RunServices,
        declared: Declared,
        keep: Callable[[object, Sequence[str]], None],
        what: str,
    ) -> None:
        self._machine = run.machine
        self._declared = declared
        self._keep = keep
        self._what = what
        self._handles: list[Value] = []

    def misfit(self, why: str) -> Raised:
        return failure(f"the state of {self._what} cannot be taken over: {why}", "TypeError")

    def read_as(self, data: Json, type_: int) -> Value:
        """A value of a type."""
        value = self._read(data)
        try:
            return self._machine.check(value, type_)
        except Raised as raised:
            raise self.misfit(message_of(raised.value)) from None

    def fill(self, state: Value, held: Mapping[str, Json], types: Sequence[int] = ()) -> None:
        """Put into an empty hashmap, ledger or memory what one has held."""
        self._keep(_held(state), held["origins"])
        match state:
            case HashMap():
                key_type, value_type = types or (None, None)
                state.store.entries.update(
                    (self._typed(key, key_type), self._typed(each, value_type))
                    for key, each in held["hashmap"]
                )
            case Ledger():
                for identifier, keys, value in held["ledger"]:
                    state.all.put(identifier, tuple(keys), value)
            case Memory():
                state.entries.extend([(role, text) for role, text in held["memory"]])
                _, state.cut, state.first = held["rest"]

    def _typed(self, data: Json, type_: int | None) -> Value:
        return self._read(data) if type_ is None else self.read_as(data, type_)

    def _read(self, data: Json) -> Value:
        if isinstance(data, list):
            return self._all(data)
        if not isinstance(data, dict):
            return data
        [(kind, given)] = data.items()
        match kind:
            case "float":
                return float(given)
            case "none":
                return NONE
            case "some":
                return Some(self._read(given))
            case "ok":
                return Ok(self._read(given))
            case "err":
                return Err(self._read(given))
            case "tuple":
                return tuple(self._all(given))
            case "map":
                return {self._read(key): self._read(each) for key, each in given}
            case "set":
                return Set({hash_key(each): each for each in self._all(given)})
            case "queue":
                return Queue(self._all(given))
            case "stack":
                return Stack(self._all(given))
            case "range":
                start, stop, step, inclusive = given
                return Range(range(start, stop, step), inclusive)
            case "struct":
                return self._struct(*given)
            case "variant":
                return self._variant(*given)
            case "error":
                name, message, error_kind, own = given
                fields = {field: self._read(each) for field, each in own.items()}
                return ErrorValue(name, message, error_kind, **fields)
            case "agent":
                return AgentRef(given)
            case "reference":
                return ToolRef(*given)
            case _:
                return self._handle(given)

    def _all(self, given: Sequence[Json]) -> list[Value]:
        return [self._read(each) for each in given]

    def _struct(self, name: str, given: Mapping[str, Json]) -> Value:
        definition = self._machine.classes.definition(name)
        if definition is None or [each.name for each in definition.fields] != list(given):
            raise self.misfit(f"`{name}` is declared otherwise now")
        return self._machine.classes.struct(name)(*self._parts(given.values(), definition.fields))

    def _variant(self, name: str, variant: str, given: Sequence[Json]) -> Value:
        definition = self._machine.classes.definition(name)
        for tag, each in enumerate(() if definition is None else definition.variants):
            if each.name == variant and len(each.fields) == len(given):
                made = self._machine.classes.variant(name, tag)
                return made(*self._parts(given, each.fields)) if given else made
        raise self.misfit(f"`{name}::{variant}` is declared otherwise now")

    def _parts(self, given: Iterable[Json], fields: Sequence[FieldDef]) -> list[Value]:
        return [self.read_as(each, field.type) for each, field in zip(given, fields, strict=True)]

    def _handle(self, given: Mapping[str, Json]) -> Value:
        prefix = given.get("prefix", "")
        if "declared" in given:
            try:
                known = self._declared.make(*given["declared"])
            except KeyError:
                raise self.misfit("`{}` is gone".format(given["declared"][1])) from None
            return _view(known, prefix)
        if "again" in given:
            return _view(self._handles[given["again"]], prefix)
        made: Value
        if "hashmap" in given:
            made = HashMap(store=Store({}), prefix=prefix)
        elif "ledger" in given:
            made = Ledger(prefix=prefix)
        else:
            made = Memory(given["rest"][0])
        self._handles.append(made)
        self.fill(made, given)
        return made


def _view(known: Value, prefix: str) -> Value:
    match known:
        case HashMap():
            return HashMap(store=known.store, prefix=prefix)
        case Ledger():
            return Ledger(known.all, prefix)
        case _:
            return known
