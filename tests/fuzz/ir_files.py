"""Spoilt IR files: the reader or the verifier refuses them with one E06xx, or they run and both tiers do the
same."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from io import StringIO
from random import Random
from tempfile import TemporaryDirectory
from warnings import catch_warnings, simplefilter

from concerto.diagnostics import Problems, render
from concerto.ir.codec import decode, encode
from concerto.ir.module import ModuleIR
from concerto.ir.opcodes import OPCODES
from concerto.ir.verifier import verify
from concerto.json_data import Json
from concerto.program import Program, Runtime
from tests.fuzz.machines import CUT, Ending, endings, little_memory, well_typed
from tests.fuzz.mutating import spoilt_bytes, spoilt_json
from tests.fuzz.sources import compiled
from tests.properties.checks import Broken, corpus

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")

_DECLARATIONS = (
    "agents", "tools", "schemas", "connections", "hashmaps", "ledgers", "memories", "pipelines", "providers",
)  # fmt: skip


def bytes_are_refused_or_run(random: Random) -> None:
    """A file with some bytes changed."""
    _refused_or_alike(spoilt_bytes(_file(random), random, _file(random)))


def parts_are_refused_or_run(random: Random) -> None:
    """A file with parts of its JSON changed, anywhere."""
    _refused_or_alike(_written(spoilt_json(json.loads(_file(random)), random)))


def code_is_refused_or_runs(random: Random) -> None:
    """A file with instructions changed so that most of it is still code."""
    document = json.loads(_file(random))
    codes = [function["code"] for function in document["functions"] if function["code"]]
    for _ in range(random.choice((1, 1, 2, 3))):
        _spoil_code(random.choice(codes), random.choice(codes), document, random)
    _refused_or_alike(_written(document))


def declarations_are_refused_or_run(random: Random) -> None:
    """A file with declarations changed, run as `concerto run --mock` would."""
    full: list[str] = []
    while not full:
        document = json.loads(_file(random))
        if not document["mcp_servers"] and not document["hosts"]:
            full = [section for section in _DECLARATIONS if document[section]]
    section = random.choice(full)
    document[section] = spoilt_json(document[section], random)
    data = _written(document)
    out, errors = StringIO(), StringIO()
    try:
        module = load(data)
        if module is None or module.entry is None:
            return
        with TemporaryDirectory() as folder, catch_warnings():
            simplefilter("ignore", UserWarning)  # A guard that protects nothing without a manifest.
            runtime = Runtime(
                Program(module), mock=True, quiet=True, environment={}, folder=folder, timeout=5.0,
                output=out, errors=errors,
            )  # fmt: skip
            result = runtime.run()
    except Exception as crash:
        raise Broken(f"{type(crash).__name__}: {crash}", data.decode("utf-8", "backslashreplace")) from crash
    if result.kind == "InternalError":  # A sleep may have become longer than the run may be.
        raise Broken(f"{result!r}", data.decode("utf-8", "backslashreplace"))


def _spoil_code(code: list[Json], other: list[Json], document: Json, random: Random) -> None:
    place = random.randrange(len(code))
    instr = code[place]
    match random.randrange(6):
        case 0 if len(code) > 1:
            del code[place]
        case 1:
            code.insert(place, list(instr))
        case 2:
            code.insert(place, list(random.choice(other)))
        case 3:
            like = [name for name, row in OPCODES.items() if row.stack == OPCODES[instr[0]].stack]
            code[place] = [random.choice(like), *instr[1:]]
        case 4 if len(instr) > 1 and isinstance(instr[-1], int):
            instr[random.randrange(1, len(instr))] = random.randrange(12)
        case 5 if document["constants"]:
            constants = document["constants"]
            constants[random.randrange(len(constants))] = random.choice((0, -1, 2**63 - 1, 0.5, "", "x"))
        case _:
            following = random.randrange(len(code))
            code[place], code[following] = code[following], code[place]


def load(data: bytes) -> ModuleIR | None:
    """The module of a file if it may run; what is wrong with it must be one error of the IR."""
    problems = Problems()
    module = decode(data, "main.conc-ir", problems)
    if module is not None and not verify(module, problems, "main.conc-ir"):
        module = None
    found = list(problems)
    assert [problem.code[:3] for problem in found] == ([] if module is not None else ["E06"])
    render(problems)
    return module


def _refused_or_alike(data: bytes) -> None:
    try:
        with little_memory():
            module = load(data)
            if module is None or module.entry is None:
                return
            one, other = endings(module).values()
    except Exception as crash:
        raise Broken(f"{type(crash).__name__}: {crash}", data.decode("utf-8", "backslashreplace")) from crash
    if not _alike(one, other) and well_typed(module):
        raise Broken(f"{one}\n{other}", data.decode("utf-8", "backslashreplace"))


_WRONG_CALL = re.compile(r"(?:a method|`[^`]*`) is(?= called with a wrong number of arguments)")
"""Only spoilt code calls so, and which function it was is not always known."""

_SPOILT = "an operation does not fit its value"
"""What is said of a value that is of no kind that an instruction takes."""


def _alike(one: Ending, other: Ending) -> bool:
    """What is said of a failure that only spoilt code has may be less on one tier than on the other, and
    what belongs to no type may be noticed at another place, or printed with its address."""
    one, other = _without_addresses(one), _without_addresses(other)
    # A program may catch such a failure and go on: up to there both do the same.
    for said, answer in zip(one.asked, other.asked, strict=False):
        if _SPOILT in said or _SPOILT in answer:
            return True
        if said != answer:
            break
    if one.kind == other.kind == "TypeError":
        return True
    if one.how == other.how == "error" and one.kind == other.kind:
        return one.asked == other.asked
    return one == other or CUT in (one.how, other.how)


def _without_addresses(ending: Ending) -> Ending:
    said = [_WRONG_CALL.sub("a function is", _ADDRESS.sub("", text)) for text in ending.asked]
    return replace(ending, what=_ADDRESS.sub("", ending.what), asked=said)


def _written(document: Json) -> bytes:
    return json.dumps(document).encode()


def _file(random: Random) -> bytes:
    """The IR of a test program that needs no other file."""
    texts = corpus()
    while (data := compiled_program(random.randrange(len(texts)))) is None:
        pass
    return data


@cache
def compiled_program(number: int) -> bytes | None:
    module = compiled(corpus()[number].encode("utf-8", "surrogatepass"))
    return encode(module) if module is not None and module.entry is not None else None
