"""The `.conc-ir` file: one JSON document, the same bytes for the same module.

`decode` trusts nothing: whatever the bytes are, they become a `ModuleIR` of the right shape or one problem.
Shape is all that is checked here; whether the parts fit together is the verifier's question.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from concerto.diagnostics import Problems
from concerto.ir.module import IR_VERSION, Function, Instr, ModuleIR, Position, SourceFile
from concerto.json_data import Json
from concerto.records import field_names
from concerto.source import Source

SECTIONS = (
    "constants", "types", "functions", "agents", "hosts", "tools", "mcp_servers", "schemas", "connections",
    "hashmaps", "ledgers", "memories", "pipelines", "providers", "served", "tests",
)  # fmt: skip
"""The parts of the document after its head, in their order; `entry`, `source_map` and `metadata` follow,
and `trust` if there is such a table."""
OPTIONAL_SECTIONS = ("definitions", "exports", "exported_methods", "exported_types")
"""Sections that stand behind the others where they hold something."""


def encode(module: ModuleIR) -> bytes:
    """The document: a line for each section, and for each member of the long ones."""
    parts: list[tuple[str, Json]] = [
        ("version", IR_VERSION),
        ("module", module.module),
        ("source_file", module.source_file),
        *[(section, [_plain(member) for member in getattr(module, section)]) for section in SECTIONS],
        *[
            (each, [_plain(member) for member in found])
            for each in OPTIONAL_SECTIONS
            if (found := getattr(module, each))
        ],
        ("entry", module.entry),
        ("source_map", _source_map(module)),
        ("metadata", module.metadata),
    ]
    if module.trust is not None:
        parts.append(("trust", _plain(module.trust)))
    text = "{\n" + ",\n".join([f"{_dump(name)}: {_section(value)}" for name, value in parts]) + "\n}\n"
    return text.encode()


def _section(value: Json) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join([_dump(member) for member in value]) + "\n]"
    return _dump(value)


def _dump(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    # A lone surrogate has no UTF-8.
    return text if text.isascii() or text.isprintable() else json.dumps(value, separators=(", ", ": "))


def _plain(value: Any) -> Json:
    """A part of a module as JSON."""
    match value:
        case Function():
            return {
                "name": value.name,
                "parameters": value.parameters,
                "captures": value.captures,
                "locals": value.locals,
                "inout": value.inout,
                "code": value.code,
            }
        case float() if not math.isfinite(value):
            return {"float": repr(value)}
        case list() | tuple():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case _ if (names := field_names(type(value))) is not None:
            return {name: _plain(getattr(value, name)) for name in names}
        case _:
            return value


def _source_map(module: ModuleIR) -> Json:
    return {
        "files": [{"path": file.path, "text": file.text} for file in module.files],
        "functions": [
            {
                "file": function.file,
                "positions": [[place.pc, place.start, place.end] for place in function.positions],
            }
            for function in module.functions
        ],
    }


class _Unfit(Exception):
    """A part of the document has not the shape it must have: `path` from the inside out."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.path: list[str] = []


def decode(data: bytes, path: str, problems: Problems) -> ModuleIR | None:
    """The module in the bytes of a file; None, and one problem, if they hold none."""
    from concerto.diagnostics import IrVersion, UnreadableIr

    span = Source(path, "").span(0, 0)
    try:
        document = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError, MemoryError) as error:
        problems.add(UnreadableIr(span, f"`{path}` is not a readable IR file: {_reason(error)}"))
        return None
    if not isinstance(document, dict) or "version" not in document:
        problems.add(UnreadableIr(span, f"`{path}` is not a readable IR file: it has no `version`"))
        return None
    version = document["version"]
    if type(version) is not int:
        problems.add(UnreadableIr(span, f"`{path}` is not a readable IR file: `version` is not an integer"))
        return None
    if version != IR_VERSION:
        problems.add(
            IrVersion(
                span,
                f"`{path}` has IR version {str(version)[:20]}, this compiler reads version {IR_VERSION}",
                help="compile the source again",
            )
        )
        return None
    try:
        return _module(document)
    except _Unfit as unfit:
        where = "".join(reversed(unfit.path)).lstrip(".") or "the document"
        problems.add(UnreadableIr(span, f"`{path}` is not a readable IR file: `{where}` is not {unfit}"))
    except RecursionError:
        problems.add(UnreadableIr(span, f"`{path}` is not a readable IR file: it is nested too deeply"))
    return None


def _refuse(word: str) -> Json:
    raise ValueError(f"{word} is no JSON")


def _reason(error: Exception) -> str:
    match error:
        case json.JSONDecodeError():
            return f"{error.msg.lower()} at line {error.lineno}, column {error.colno}"
        case UnicodeDecodeError():
            return f"it is not UTF-8 at byte {error.start}"
        case RecursionError():
            return "it is nested too deeply"
        case _:
            return str(error).split(";")[0].lower()[:100]


def _module(document: dict[str, Json]) -> ModuleIR:
    trust = document.pop("trust", None)
    known = {"version", "module", "source_file", *SECTIONS, "entry", "source_map", "metadata"}
    if document.keys() - OPTIONAL_SECTIONS != known:
        odd = min((document.keys() - OPTIONAL_SECTIONS) ^ known)
        raise _Unfit("complete" if odd in known else f"known to have `{odd[:40]}`")
    hints = get_type_hints(ModuleIR)
    module = ModuleIR(
        _at("module", _text, document["module"]), _at("source_file", _text, document["source_file"])
    )
    module.constants = _at("constants", _constants, document["constants"])
    module.functions = _at("functions", _list_of(_function), document["functions"])
    for section in (*SECTIONS[1:], *[each for each in OPTIONAL_SECTIONS if each in document]):
        if section != "functions":
            setattr(module, section, _at(section, _reader(hints[section]), document[section]))
    module.entry = _at("entry", _reader(hints["entry"]), document["entry"])
    module.metadata = _at("metadata", _reader(hints["metadata"]), document["metadata"])
    module.trust = _at("trust", _reader(hints["trust"]), trust)
    _at("source_map", lambda data: _read_source_map(module, data), document["source_map"])
    return module


# Readers: JSON to a part of the module, or _Unfit

Read: TypeAlias = Callable[[Json], Any]


def _at(name: str, read: Read, data: Json) -> Any:
    try:
        return read(data)
    except _Unfit as unfit:
        unfit.path.append(f".{name}")
        raise


@cache
def _reader(hint: Any) -> Read:
    """What reads JSON into a type of the module's dataclasses."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in (Any, object):  # As `concerto.annotating` has it.
        return lambda data: data
    if hint in (str, int, bool, float):
        return _exactly(hint)
    if origin in (Union, UnionType):
        readers = [_reader(argument) for argument in arguments if argument is not NoneType]
        assert len(readers) == 1 and NoneType in arguments
        return lambda data: None if data is None else readers[0](data)
    if origin is list:
        return _list_of(_reader(arguments[0]))
    if origin is dict:
        return _dict_of(_reader(arguments[1]))
    if origin is tuple:
        return _tuple_of([_reader(argument) for argument in arguments])
    assert is_dataclass(hint), hint
    return _object_of(hint)


def _exactly(cls: type) -> Read:
    words = {str: "a string", int: "an integer", bool: "true or false", float: "a number"}

    def read(data: Json) -> Any:
        if type(data) is cls:
            return data
        raise _Unfit(words[cls])

    return read


_text = _exactly(str)
_integer = _exactly(int)


def _list_of(read_item: Read) -> Read:
    def read(data: Json) -> list[Any]:
        if type(data) is not list:
            raise _Unfit("a list")
        items = []
        for place, item in enumerate(data):
            try:
                items.append(read_item(item))
            except _Unfit as unfit:
                unfit.path.append(f"[{place}]")
                raise
        return items

    return read


def _dict_of(read_item: Read) -> Read:
    def read(data: Json) -> dict[str, Any]:
        if type(data) is not dict:
            raise _Unfit("an object")
        return {key: _at(key[:40], read_item, item) for key, item in data.items()}

    return read


def _tuple_of(readers: list[Read]) -> Read:
    def read(data: Json) -> tuple[Any, ...]:
        if type(data) is not list or len(data) != len(readers):
            raise _Unfit(f"a list of {len(readers)}")
        return tuple([read_item(item) for read_item, item in zip(readers, data, strict=True)])

    return read


def _object_of(cls: Any) -> Read:
    hints = get_type_hints(cls)
    readers = {field.name: _lazily(hints[field.name]) for field in fields(cls)}
    optional = {
        field.name
        for field in fields(cls)
        if field.default is not MISSING or field.default_factory is not MISSING
    }

    def read(data: Json) -> Any:
        if (
            type(data) is not dict
            or not data.keys() <= readers.keys()
            or not readers.keys() - optional <= data.keys()
        ):
            raise _Unfit(f"an object with {', '.join(readers)}")
        return cls(**{name: _at(name, readers[name], item) for name, item in data.items()})

    return read


def _lazily(hint: Any) -> Read:
    """A reader that is made when it is needed: the classes may be many, a file uses few."""
    return lambda data: _reader(hint)(data)


def _constants(data: Json) -> list[int | float | str]:
    constants: list[int | float | str] = _list_of(_constant)(data)
    return constants


def _constant(data: Json) -> int | float | str:
    match data:
        case bool():
            pass
        case int() | float() | str():
            return data
        case {"float": "inf" | "-inf" | "nan" as word} if len(data) == 1:
            return float(word)
        case _:
            pass
    raise _Unfit("an Int, a Float or a String")


_FUNCTION_KEYS = {"name", "parameters", "captures", "locals", "inout", "code"}


def _function(data: Json) -> Function:
    if type(data) is not dict or data.keys() != _FUNCTION_KEYS:
        raise _Unfit(f"an object with {', '.join(sorted(_FUNCTION_KEYS))}")
    return Function(
        name=_at("name", _text, data["name"]),
        parameters=_at("parameters", _list_of(_text), data["parameters"]),
        captures=_at("captures", _integer, data["captures"]),
        locals=_at("locals", _integer, data["locals"]),
        code=_at("code", _list_of(_instr), data["code"]),
        file=0,
        positions=[],
        inout=_at("inout", _exactly(bool), data["inout"]),
    )


def _instr(data: Json) -> Instr:
    if type(data) is list and data and type(data[0]) is str:
        for operand in data[1:]:
            if type(operand) is not int and type(operand) is not str:
                break
        else:
            return tuple(data)
    raise _Unfit("an instruction: a list of a name and numbers or strings")


def _read_source_map(module: ModuleIR, data: Json) -> None:
    if type(data) is not dict or data.keys() != {"files", "functions"}:
        raise _Unfit("an object with files, functions")
    module.files = _at("files", _list_of(_reader(SourceFile)), data["files"])
    maps = _at("functions", _list_of(_function_map), data["functions"])
    if len(maps) != len(module.functions):
        raise _Unfit("of as many functions as the program has")
    for function, (file, positions) in zip(module.functions, maps, strict=True):
        function.file = file
        function.positions = positions


def _function_map(data: Json) -> tuple[int, list[Position]]:
    if type(data) is not dict or data.keys() != {"file", "positions"}:
        raise _Unfit("an object with file, positions")
    return _at("file", _integer, data["file"]), _at("positions", _list_of(_position), data["positions"])


def _position(data: Json) -> Position:
    if type(data) is list and len(data) == 3 and all(type(number) is int for number in data):
        return Position(*data)
    raise _Unfit("three integers")
