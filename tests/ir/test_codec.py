"""The IR file: the same bytes for the same module, and one problem for whatever is no IR file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concerto.diagnostics import Problems
from concerto.ir import codec
from concerto.ir import module as ir
from concerto.ir.codec import SECTIONS, decode, encode


def full_module() -> ir.ModuleIR:
    """A module with something in every section."""
    method = ir.MethodDef(
        "add", 0, True, True, [ir.ParameterDef("a", 0, True, 3)], 0, [ir.DecoratorDef("retry", {"max": 2})]
    )
    use = ir.ToolUse("method", "Calc", "add")
    return ir.ModuleIR(
        "main",
        "main.conc",
        constants=[1, -(2**63), 2.5, float("inf"), float("-inf"), "é\n\"'\u2028"],
        types=[
            ir.TypeDef("builtin", "Int"),
            ir.TypeDef("enum", "E", variants=[ir.VariantDef("A", [ir.FieldDef("0", 0)])], methods={"m": 0}),
            ir.TypeDef("literals", literals=["a", 1, True, None]),
        ],
        functions=[
            ir.Function(
                "f",
                ["a"],
                0,
                2,
                [("LOAD_LOCAL", 0), ("RETURN",)],
                0,
                [ir.Position(0, 0, 3), ir.Position(1, 4, 5)],
                True,
            )
        ],
        agents=[ir.Agent("A", "", {"model": "m"}, [use], [use], "notes", {"m": 0}, [])],
        hosts=[ir.HostDef("H", "", {"connector": "x"}, [])],
        tools=[
            ir.Tool(
                "Calc", "", "d", 1, 0, [ir.FieldDef("n", 0, False, True, [1])], [method], [{"a": {"b": 1.5}}]
            )
        ],
        mcp_servers=[ir.McpServerDef("M", "", {}, [method], [])],
        schemas=[ir.Schema("S", 0, {"type": "object"}, True, True, ["a"], [(["a", "b"], 0)])],
        connections=[ir.ConnectionDef("openai", {})],
        hashmaps=[ir.State("h", 0, {})],
        ledgers=[ir.State("l", 0, {})],
        memories=[ir.State("m", 0, {"capacity": 5})],
        pipelines=[ir.Pipeline("P", "", [ir.Stage("s", 0, 0, [use], [])], [], [])],
        providers=[ir.ToolProvider(1, "p", "id", [method], [])],
        tests=[ir.Test("t", 0, True, "part")],
        files=[ir.SourceFile("main.conc", "fn f(a)")],
        entry=0,
        metadata={"compiler": "1"},
    )


def refusals(data: bytes) -> list[str]:
    """The problems of bytes that are no IR file."""
    problems = Problems()
    assert decode(data, "x.conc-ir", problems) is None
    return [f"{problem.code} {problem.message}" for problem in problems]


def test_round_trip() -> None:
    module = full_module()
    problems = Problems()
    data = encode(module)
    assert decode(data, "x.conc-ir", problems) == module
    assert encode(full_module()) == data
    assert not problems.errors


def test_sections_come_in_the_order_of_the_reference() -> None:
    document = json.loads(encode(full_module()))
    assert list(document) == [
        "version",
        "module",
        "source_file",
        *SECTIONS,
        "entry",
        "source_map",
        "metadata",
    ]
    assert document["functions"][0]["code"][0] == ["LOAD_LOCAL", 0]


def test_lone_surrogates_survive() -> None:
    module = ir.ModuleIR("m", "m.conc", constants=["\ud800"])
    assert decode(encode(module), "x", Problems()) == module


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "E0601 `x.conc-ir` is not a readable IR file: expecting value at line 1, column 1"),
        (b"\xff\xfe", "E0601 `x.conc-ir` is not a readable IR file: it is not UTF-8 at byte 0"),
        (b"[1]", "E0601 `x.conc-ir` is not a readable IR file: it has no `version`"),
        (b'{"version": 99}', "E0602 `x.conc-ir` has IR version 99, this compiler reads version 1"),
        (b'{"version": true}', "E0601 `x.conc-ir` is not a readable IR file: `version` is not an integer"),
        (b'{"version": "1"}', "E0601 `x.conc-ir` is not a readable IR file: `version` is not an integer"),
        (b'{"version": NaN}', "E0601 `x.conc-ir` is not a readable IR file: nan is no json"),
        (b"[" * 200_000, "E0601 `x.conc-ir` is not a readable IR file: it is nested too deeply"),
        (b'{"version": ' + b"9" * 5000 + b"}", "E0601 `x.conc-ir` is not a readable IR file"),
        (b'{"version": 1}', "E0601 `x.conc-ir` is not a readable IR file: `the document` is not complete"),
    ],
)  # fmt: skip
def test_refused(data: bytes, message: str) -> None:
    found = refusals(data)
    assert len(found) == 1 and found[0].startswith(message)


def test_a_wrong_shape_is_named() -> None:
    document = json.loads(encode(full_module()))
    document["functions"][0]["code"][0] = ["LOAD_LOCAL", [0]]
    shape = "an instruction: a list of a name and numbers or strings"
    assert refusals(json.dumps(document).encode()) == [
        f"E0601 `x.conc-ir` is not a readable IR file: `functions[0].code[0]` is not {shape}"
    ]


@pytest.mark.parametrize("length", range(0, 2500, 61))
def test_truncated(length: int) -> None:
    assert len(refusals(encode(full_module())[:length])) == 1


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every member of every list and object in a document."""
    members = list(enumerate(value)) if isinstance(value, list) else list(value.items())
    inner = [place for _, item in members if isinstance(item, list | dict) for place in _places(item)]
    return [(value, key) for key, _ in members] + inner


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_changed_document_is_read_or_refused(data: st.DataObject) -> None:
    document = json.loads(encode(full_module()))
    owner, key = data.draw(st.sampled_from(_places(document)))
    owner[key] = data.draw(
        st.sampled_from([None, True, 0, -1, 2**70, 1.5, "x", "", [], {}, [[]], {"a": 1}, [0, 0, 0]])
    )
    problems = Problems()
    module = decode(json.dumps(document).encode(), "x.conc-ir", problems)
    assert (module is None) == problems.errors and len(problems) <= 1


def test_every_section_of_a_module_is_in_the_file() -> None:
    names = set(ir.ModuleIR.__dataclass_fields__)
    assert names == {
        "module",
        "source_file",
        *codec.SECTIONS,
        *codec.OPTIONAL_SECTIONS,
        "files",
        "entry",
        "metadata",
        "trust",
    }
