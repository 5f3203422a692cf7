"""Every opcode does the same on both tiers, shown by small programs; none is left out."""

from __future__ import annotations

import math
from typing import Any, cast

import pytest

import concerto.vm.handlers  # noqa: F401 - fills HANDLERS
from concerto.diagnostics import Problems
from concerto.ir.module import (
    Agent,
    FieldDef,
    McpServerDef,
    MethodDef,
    ModuleIR,
    ParameterDef,
    Pipeline,
    Tool,
    TypeDef,
    VariantDef,
)  # fmt: skip
from concerto.ir.opcodes import OPCODES
from concerto.ir.verifier import verify
from concerto.vm.equality import equal
from concerto.vm.host import Host
from concerto.vm.interpreter import HANDLERS
from concerto.vm.machine import Machine
from concerto.vm.operations import to_text
from concerto.vm.python_tier.instructions.registry import WRITERS
from concerto.vm.values import Range
from tests.vm.assembler import assemble
from tests.vm.hosts import TIERS, Recorder, Thing, outcome

INT, POINT, SHAPE, OPTION, MIXED, FLOAT = range(6)

TYPES = [
    TypeDef("builtin", "Int"),
    TypeDef("struct", "Point", fields=[FieldDef("x", 0), FieldDef("y", 0)], methods={"sum": 0, "grow": 1}),
    TypeDef(
        "enum",
        "Shape",
        variants=[
            VariantDef("Dot"),
            VariantDef("Line", [FieldDef("0", 0)]),
            VariantDef("Box", [FieldDef("w", 0)], True),
        ],
    ),
    TypeDef("option", items=[0]),
    TypeDef("array", items=[5]),
    TypeDef("builtin", "Float"),
]

HELPERS = """
fn sum(self)
    LOAD_LOCAL 0
    GET_FIELD 0
    LOAD_LOCAL 0
    GET_FIELD 1
    ADD_INT
    RETURN
fn grow(self, by) inout
    LOAD_LOCAL 0
    LOAD_LOCAL 0
    GET_FIELD 0
    LOAD_LOCAL 1
    ADD_INT
    SET_FIELD 0
    LOAD_NIL
    LOAD_LOCAL 0
    BUILD_TUPLE 2
    RETURN
fn plus(captured, n) captures=1 locals=2
    LOAD_LOCAL 0
    LOAD_LOCAL 1
    ADD_INT
    RETURN
fn double(n)
    LOAD_LOCAL 0
    LOAD_CONST 2
    MUL_INT
    RETURN
"""


def program(body: str, parameters: str = "") -> ModuleIR:
    """`body`, made of lines, after the helper functions."""
    helpers = HELPERS.replace("fn plus(captured, n)", "fn plus(n)")
    return assemble(f"{helpers}\nfn body({parameters}) locals=9\n{body}", TYPES)


def run_both(body: str, *arguments: Any) -> tuple[str, Any, Any]:
    """What a program gives, the same on both tiers, host requests included."""
    module = program(body, ", ".join(f"p{number}" for number in range(len(arguments))))
    problems = Problems()
    assert verify(module, problems), [problem.message for problem in problems]
    seen = []
    for tier in TIERS:
        host = Recorder()
        machine = Machine(module, cast(Host, host), tier=tier)
        index = len(module.functions) - 1
        seen.append((outcome(machine, index, list(arguments)), host.asked))
    (first, first_asked), (second, second_asked) = seen
    assert first[0] == second[0] and first[2] == second[2]
    assert to_text(first[1]) == to_text(second[1])
    assert to_text([list(asked) for asked in first_asked]) == to_text([list(asked) for asked in second_asked])
    return first


def lines(text: str) -> str:
    return text.replace("; ", "\n").replace(";", "\n")


# One line of instructions, and the text of what they leave.
VALUES: list[tuple[str, str]] = [
    ("LOAD_CONST 5", "5"),
    ("LOAD_CONST -7", "-7"),
    ("LOAD_CONST 'a\"b'", 'a"b'),
    ("LOAD_CONST 1.0", "1.0"),
    ("LOAD_CONST -0.0", "-0.0"),
    ("LOAD_TRUE", "true"),
    ("LOAD_FALSE", "false"),
    ("LOAD_NIL", "nil"),
    ("LOAD_NONE", "None"),
    ("LOAD_CONST 1; STORE_LOCAL 3; LOAD_LOCAL 3", "1"),
    ("LOAD_CONST 1; LOAD_CONST 2; POP", "1"),
    ("LOAD_FUNCTION double; LOAD_CONST 4; CALL_VALUE 1", "8"),
    ("LOAD_CONST 3; MAKE_CLOSURE plus 1; LOAD_CONST 4; CALL_VALUE 1", "7"),
    ("MAKE_CLOSURE double 0; LOAD_CONST 4; CALL_VALUE 1", "8"),
    ("LOAD_NATIVE Test::two; LOAD_CONST 4; LOAD_CONST 1; CALL_VALUE 2", "3"),
    ("LOAD_TYPE 3", "Option<Int>"),
    ("LOAD_REF agent Helper", '("reference", "agent", "Helper")'),
    ("LOAD_CONST 2; LOAD_CONST 3; ADD_INT", "5"),
    ("LOAD_CONST 2; LOAD_CONST 3; SUB_INT", "-1"),
    ("LOAD_CONST 2; LOAD_CONST 3; MUL_INT", "6"),
    ("LOAD_CONST -7; LOAD_CONST 2; DIV_INT", "-3"),
    ("LOAD_CONST -7; LOAD_CONST -2; DIV_INT", "3"),
    ("LOAD_CONST -7; LOAD_CONST 2; REM_INT", "-1"),
    ("LOAD_CONST 7; LOAD_CONST -2; REM_INT", "1"),
    ("LOAD_CONST 2; LOAD_CONST 10; POW_INT", "1024"),
    ("LOAD_CONST -1; LOAD_CONST 9223372036854775807; POW_INT", "-1"),
    ("LOAD_CONST 5; NEG_INT", "-5"),
    ("LOAD_CONST 6; LOAD_CONST 3; BIT_AND", "2"),
    ("LOAD_CONST 6; LOAD_CONST 3; BIT_OR", "7"),
    ("LOAD_CONST 6; LOAD_CONST 3; BIT_XOR", "5"),
    ("LOAD_CONST 5; BIT_NOT", "-6"),
    ("LOAD_CONST 1; LOAD_CONST 63; SHIFT_LEFT", "-9223372036854775808"),
    ("LOAD_CONST -8; LOAD_CONST 2; SHIFT_RIGHT", "-2"),
    ("LOAD_CONST 2.5; LOAD_CONST 0.5; ADD_FLOAT", "3.0"),
    ("LOAD_CONST 2.5; LOAD_CONST 0.5; SUB_FLOAT", "2.0"),
    ("LOAD_CONST 2.5; LOAD_CONST 2.0; MUL_FLOAT", "5.0"),
    ("LOAD_CONST 1.0; LOAD_CONST 0.0; DIV_FLOAT", "inf"),
    ("LOAD_CONST 1.0; LOAD_CONST -0.0; DIV_FLOAT", "-inf"),
    ("LOAD_CONST 0.0; LOAD_CONST 0.0; DIV_FLOAT", "nan"),
    ("LOAD_CONST -7.5; LOAD_CONST 2.0; REM_FLOAT", "-1.5"),
    ("LOAD_CONST 7.5; LOAD_CONST 0.0; REM_FLOAT", "nan"),
    ("LOAD_CONST 2.0; LOAD_CONST 0.5; POW_FLOAT", repr(math.sqrt(2))),
    ("LOAD_CONST -8.0; LOAD_CONST 0.5; POW_FLOAT", "nan"),
    ("LOAD_CONST 1e300; LOAD_CONST 2.0; POW_FLOAT", "inf"),
    ("LOAD_CONST 0.0; LOAD_CONST -1.0; POW_FLOAT", "inf"),
    ("LOAD_CONST 5.5; NEG_FLOAT", "-5.5"),
    ("LOAD_CONST 1; LOAD_CONST 2.5; ADD", "3.5"),
    ("LOAD_CONST 'a'; LOAD_CONST 'b'; ADD", "ab"),
    ("LOAD_CONST 1; LOAD_CONST 2.5; SUB", "-1.5"),
    ("LOAD_CONST 2; LOAD_CONST 3; MUL", "6"),
    ("LOAD_CONST -7; LOAD_CONST 2; DIV", "-3"),
    ("LOAD_CONST 7; LOAD_CONST 2.0; DIV", "3.5"),
    ("LOAD_CONST -7; LOAD_CONST 2; REM", "-1"),
    ("LOAD_CONST 2; LOAD_CONST 3; POW", "8"),
    ("LOAD_CONST 2.5; NEG", "-2.5"),
    ("LOAD_CONST 'a'; LOAD_CONST 'b'; CONCAT", "ab"),
    ("LOAD_TRUE; NOT", "false"),
    ("LOAD_CONST 3; INT_TO_FLOAT", "3.0"),
    ("LOAD_CONST -3.9; FLOAT_TO_INT", "-3"),
    ("LOAD_CONST 1; BUILD_ARRAY 1", "[1]"),
    ("BUILD_ARRAY 0", "[]"),
    ("LOAD_CONST 'k'; LOAD_CONST 1; LOAD_CONST 'k'; LOAD_CONST 2; BUILD_MAP 2", '{"k": 2}'),
    ("LOAD_CONST 1; BUILD_TUPLE 1", "(1,)"),
    ("LOAD_CONST 1; LOAD_CONST 's'; BUILD_TUPLE 2", '(1, "s")'),
    ("LOAD_CONST 1; LOAD_CONST 2; BUILD_STRUCT 1 2", "Point { x: 1, y: 2 }"),
    ("BUILD_VARIANT 2 0 0", "Shape::Dot"),
    ("LOAD_CONST 9; BUILD_VARIANT 2 1 1", "Shape::Line(9)"),
    ("LOAD_CONST 9; BUILD_VARIANT 2 2 1", "Shape::Box { w: 9 }"),
    ("LOAD_CONST 1; BUILD_SOME", "Some(1)"),
    ("LOAD_CONST 1; BUILD_OK", "Ok(1)"),
    ("LOAD_CONST 'e'; BUILD_ERR", 'Err("e")'),
    ("LOAD_CONST 1; LOAD_CONST 4; BUILD_RANGE 0", "1..4"),
    ("LOAD_CONST 1; LOAD_CONST 4; BUILD_RANGE 1", "1..=4"),
    ("LOAD_CONST 'a='; LOAD_CONST 1.0; LOAD_TRUE; LOAD_NIL; FORMAT 4 sf??", "a=1.0truenil"),
    ("LOAD_CONST '{'; LOAD_CONST 'x'; FORMAT 1 s; FORMAT 2 s?", "{x"),
    ("FORMAT 0", ""),
    ("LOAD_CONST 2.5; FORMAT_AS .2 f", "2.50"),
    ("LOAD_CONST 2.0; TO_STRING", "2.0"),
    ("LOAD_CONST 2; TO_STRING", "2"),
    ("LOAD_CONST 1; LOAD_CONST 2; BUILD_STRUCT 1 2; GET_FIELD 1", "2"),
    ("LOAD_CONST 1; LOAD_CONST 2; BUILD_STRUCT 1 2; GET_MEMBER y", "2"),
    ("LOAD_CONST 'k'; LOAD_CONST 1; BUILD_MAP 1; GET_MEMBER k", "1"),
    ("LOAD_CONST 1; LOAD_CONST 's'; BUILD_TUPLE 2; GET_ITEM 1", "s"),
    ("LOAD_CONST 1; LOAD_CONST 's'; BUILD_TUPLE 2; GET_ITEM_OF 1 2", "s"),
    ("LOAD_CONST 1; LOAD_CONST 's'; BUILD_TUPLE 2; LOAD_CONST 5; WITH_ITEM 0", '(5, "s")'),
    ("LOAD_CONST 1; LOAD_CONST 's'; BUILD_TUPLE 2; LOAD_CONST 0; LOAD_CONST 5; WITH_INDEX", '(5, "s")'),
    ("LOAD_CONST 1; LOAD_CONST 's'; BUILD_TUPLE 2; LOAD_CONST 5; WITH_MEMBER 0", '(5, "s")'),
    ("LOAD_CONST 1; LOAD_CONST 2; BUILD_STRUCT 1 2; OWN_MEMBER y", "2"),
    ("LOAD_CONST 9; BUILD_VARIANT 2 1 1; GET_PAYLOAD 0", "9"),
    ("LOAD_CONST 9; BUILD_SOME; UNWRAP", "9"),
    ("LOAD_CONST 7; BUILD_ARRAY 1; LOAD_CONST 0; INDEX_ARRAY", "7"),
    ("LOAD_CONST 'k'; LOAD_CONST 1; BUILD_MAP 1; LOAD_CONST 'k'; INDEX_MAP", "1"),
    ("LOAD_CONST 'héé'; LOAD_CONST 1; INDEX_STRING", "é"),
    ("LOAD_CONST 'héé'; LOAD_CONST 2; INDEX", "é"),
    ("LOAD_CONST 'abcd'; LOAD_CONST 1; LOAD_CONST 3; SLICE", "bc"),
    ("LOAD_CONST 'abcd'; LOAD_NIL; LOAD_CONST 3; SLICE", "abc"),
    ("LOAD_CONST 1; BUILD_ARRAY 1; COPY", "[1]"),
    ("LOAD_CONST 1; BUILD_ARRAY 1; COPY_ARRAY", "[1]"),
    ("LOAD_CONST 1; BUILD_ARRAY 1; COPY_OF 0", "[1]"),
    ("LOAD_CONST 9; BUILD_VARIANT 2 1 1; TAG", "1"),
    ("LOAD_NONE; IS_SOME", "false"),
    ("LOAD_CONST 1; BUILD_OK; IS_OK", "true"),
    ("LOAD_NIL; IS_NIL", "true"),
    ("LOAD_NONE; IS_EMPTY_VALUE", "true"),
    ("LOAD_CONST 0; IS_EMPTY_VALUE", "false"),
    ("LOAD_CONST 1; IS_TYPE 0", "true"),
    ("LOAD_TRUE; IS_TYPE 0", "false"),
    ("LOAD_CONST 1; CHECK 3", "Some(1)"),
    ("LOAD_CONST 1; BUILD_ARRAY 1; CHECK 4", "[1.0]"),
    ("LOAD_CONST 1; LOAD_CONST 2; BUILD_ARRAY 2; LENGTH", "2"),
    ("LOAD_CONST 4; CALL double 1", "8"),
    ("LOAD_CONST 3; LOAD_CONST 4; CALL plus 2", "7"),
    ("LOAD_CONST 9; LOAD_CONST 4; CALL_NATIVE Test::two 2", "5"),
    ("LOAD_CONST 1; LOAD_CONST 2; BUILD_STRUCT 1 2; CALL_METHOD sum 0", "3"),
    ("LOAD_CONST 'abc'; CALL_METHOD len 0", "3"),
    ("LOAD_CONST ''; CALL_NATIVE String::is_empty 1", "true"),
    ("LOAD_CONST 'abc'; CALL_NATIVE String::reverse 1", "cba"),
    ("LOAD_CONST 'abc'; CALL_NATIVE String::len 1", "3"),
    ("LOAD_CONST 'abc'; LOAD_CONST 'b'; CALL_NATIVE String::contains 2", "true"),
    ("LOAD_CONST ''; LOAD_CONST ''; CONCAT; CALL_NATIVE String::is_empty 1", "true"),
    ("LOAD_CONST 'ab'; FORMAT 1 ?; LOAD_CONST 1; INDEX_STRING", "b"),
    ("LOAD_CONST 2.5; CALL_METHOD to_string 0", "2.5"),
    ("LOAD_CONST 1; LOAD_CONST 2; BUILD_STRUCT 1 2; LOAD_CONST 5; CALL_METHOD_MUT grow 1; BUILD_TUPLE 2",
     "(nil, Point { x: 6, y: 2 })"),
    ("LOAD_CONST 1; BUILD_ARRAY 1; LOAD_CONST 2; CALL_METHOD_MUT push 1; BUILD_TUPLE 2", "(nil, [1, 2])"),
    ("LOAD_CONST 1; LOAD_CONST 2; BUILD_STRUCT 1 2; CALL_STATIC 1 sum 1", "3"),
    ("LOAD_CONST 1; CALL_TOOL Calc add 1", '("call_tool", "Calc", "add", [1])'),
    ("LOAD_CONST 1; CALL_MCP Git log 1", '("call_mcp", "Git", "log", [1])'),
    ("LOAD_CONST 'a'; LOAD_CONST 1; CALL_AGENT execute 1", '("call_agent", "a", "execute", [1])'),
    ("LOAD_CONST 1; CALL_PIPELINE Flow 1", '("call_pipeline", "Flow", [1])'),
    ("LOAD_CONST 'c'; LOAD_CONST 1; EMIT", "nil"),
    ("LOAD_CONST 'c'; LOAD_CONST 1; EMIT_AWAIT", '("emit_await", "c", 1)'),
    ("LOAD_CONST 'c'; LOAD_CONST 1; EMIT_AWAIT_AS 0", '("emit_await", "c", 1, 0)'),
    ("LOAD_CONST 3; MAKE_CLOSURE three 1; LOAD_CONST 4; MAKE_CLOSURE three 1; AWAIT_ALL 2", "(3, 4)"),
    ("LOAD_CONST 3; MAKE_CLOSURE three 1; LOAD_CONST 4; MAKE_CLOSURE three 1; RACE 2", "3"),
    ("LOAD_CONST 1; LOAD_CONST 4; BUILD_RANGE 0; LOAD_NIL; LOAD_FUNCTION double; PARALLEL_FOR", "[2, 4, 6]"),
    ("LEAVE_ENTRY; LOAD_CONST 3", "3"),
    ("LOAD_CONST 3; MAKE_CLOSURE three 1; SPAWN", "3"),
    ("LOAD_CONST 3; AWAIT", "3"),
]  # fmt: skip

COMPARISONS = [
    ("LT", "<"), ("LE", "<="), ("GT", ">"), ("GE", ">="), ("EQ", "=="), ("NE", "!="),
]  # fmt: skip


def declare(module: ModuleIR) -> None:
    """What the programs refer to."""
    add, log = (MethodDef(name, None, True, False, [ParameterDef("x", INT)], INT) for name in ("add", "log"))
    module.agents = [Agent("Helper", "", {}, [], None, None, {}, [])]
    module.tools = [Tool("Calc", "", "", POINT, len(module.functions) - 1, [], [add], [])]
    module.mcp_servers = [McpServerDef("Git", "", {}, [log], [])]
    module.pipelines = [Pipeline("Flow", "", [], [], [])]


@pytest.mark.parametrize(("code", "expected"), VALUES, ids=[code for code, _ in VALUES])
def test_value(code: str, expected: str) -> None:
    three = "\nfn three() captures=1\n    LOAD_LOCAL 0\n    RETURN\n"
    body = lines(code) + "\nRETURN"
    module = assemble(
        HELPERS.replace("fn plus(captured, n)", "fn plus(n)") + three + "\nfn main() locals=9\n" + body, TYPES
    )
    declare(module)
    problems = Problems()
    assert verify(module, problems), [problem.message for problem in problems]
    for tier in TIERS:
        machine = Machine(module, cast(Host, Recorder()), tier=tier)
        kind, value, _ = outcome(machine, len(module.functions) - 1, [])
        assert kind == "value"
        if code.endswith("EMIT"):
            assert value is None or value == ("emit", "c", 1)
        else:
            assert to_text(value).replace("'", '"') == expected


@pytest.mark.parametrize(("name", "sign"), COMPARISONS)
def test_comparisons(name: str, sign: str) -> None:
    cases: list[tuple[str, Any, Any]] = [
        ("_INT", 1, 2), ("_INT", 2, 2), ("_FLOAT", 2.0, 1.0), ("_FLOAT", math.nan, 1.0),
        ("_STRING", "a", "b"), ("_STRING", "b", "b"), ("", 1, 1.0), ("", "a", "b"),
        ("", [1, 2], [1, 3]), ("", (1, "b"), (1, "a")),
    ]  # fmt: skip
    if name in ("EQ", "NE"):
        cases += [("_BOOL", True, False), ("_BOOL", True, True)]
        cases += [("_PLAIN", (1, ["a"]), (1, ["a"])), ("_PLAIN", [True], [False])]
    for suffix, a, b in cases:
        kind, value, _ = run_both(f"LOAD_LOCAL 0\nLOAD_LOCAL 1\n{name}{suffix}\nRETURN", a, b)
        assert kind == "value" and value is eval(f"a {sign} b", {"a": a, "b": b})
        negated = run_both(f"LOAD_LOCAL 0\nLOAD_LOCAL 1\n{name}{suffix}\nNOT\nRETURN", a, b)
        assert negated[1] is (not value)


def test_true_is_not_one() -> None:
    assert run_both("LOAD_LOCAL 0\nLOAD_LOCAL 1\nEQ\nRETURN", True, 1)[1] is False
    assert run_both("LOAD_LOCAL 0\nLOAD_LOCAL 1\nNE\nRETURN", [1], [True])[1] is True


STATEMENTS = [
    ("LOAD_LOCAL 0; LOAD_CONST 5; SET_FIELD 1", "Point { x: 1, y: 5 }"),
    ("LOAD_LOCAL 0; LOAD_CONST 5; SET_FIELD_OF 1 1", "Point { x: 1, y: 5 }"),
    ("LOAD_LOCAL 0; LOAD_CONST 5; WITH_MEMBER x; POP", "Point { x: 5, y: 2 }"),
    ("LOAD_LOCAL 0; LOAD_CONST 8; LOAD_CONST 9; BUILD_STRUCT 1 2; REPLACE", "Point { x: 8, y: 9 }"),
]


@pytest.mark.parametrize(("code", "expected"), STATEMENTS)
def test_changes_of_a_struct(code: str, expected: str) -> None:
    made = "LOAD_CONST 1\nLOAD_CONST 2\nBUILD_STRUCT 1 2\nSTORE_LOCAL 0\n"
    assert to_text(run_both(made + lines(code) + "\nLOAD_LOCAL 0\nRETURN")[1]) == expected


def test_changes_of_collections() -> None:
    body = lines("LOAD_LOCAL 0; LOAD_CONST 1; LOAD_CONST 9; {}; LOAD_LOCAL 0; RETURN")
    for opcode in ("SET_INDEX_ARRAY", "WITH_INDEX; POP"):
        assert equal(run_both(body.format(lines(opcode)), [1, 2])[1], [1, 9])
    for opcode in ("SET_INDEX_MAP", "WITH_INDEX; POP"):
        assert equal(run_both(body.format(lines(opcode)), {0: 0})[1], {0: 0, 1: 9})


def test_payload_is_changed_in_place() -> None:
    body = """
        LOAD_CONST 9
        BUILD_VARIANT 2 1 1
        STORE_LOCAL 0
        LOAD_LOCAL 0
        LOAD_CONST 4
        SET_PAYLOAD 0
        LOAD_LOCAL 0
        RETURN
    """
    assert to_text(run_both(body)[1]) == "Shape::Line(4)"


FAILURES = [
    ("LOAD_CONST 9223372036854775807; LOAD_CONST 1; ADD_INT", "integer overflow"),
    ("LOAD_LOCAL 0; LOAD_LOCAL 0; MUL_INT", "integer overflow"),
    ("LOAD_CONST -9223372036854775808; NEG_INT", "integer overflow"),
    ("LOAD_CONST -9223372036854775808; LOAD_CONST -1; DIV_INT", "integer overflow"),
    ("LOAD_LOCAL 0; LOAD_CONST 0; DIV_INT", "division by zero"),
    ("LOAD_LOCAL 0; LOAD_CONST 0; REM_INT", "division by zero"),
    ("LOAD_CONST 2; LOAD_CONST 10000000000; POW_INT", "integer overflow"),
    ("LOAD_CONST 1; LOAD_CONST 64; SHIFT_LEFT", "a shift is by 0 to 63 bits, found 64"),
    ("LOAD_CONST 2; LOAD_CONST -1; POW_INT", "an Int cannot be raised to a negative power"),
    ("LOAD_CONST 1e300; FLOAT_TO_INT", "1e+300 does not fit in an Int"),
    ("LOAD_CONST 1; LOAD_CONST 'a'; ADD", "`+` is not defined for Int and String"),
    ("LOAD_TRUE; LOAD_CONST 1; LT", "`<` is not defined for Bool and Int"),
    ("BUILD_ARRAY 0; LOAD_CONST 0; INDEX_ARRAY", "index 0 is out of bounds for length 0"),
    ("LOAD_CONST 1; BUILD_ARRAY 1; LOAD_CONST -1; INDEX_ARRAY", "index -1 is out of bounds for length 1"),
    ("LOAD_CONST 1; BUILD_ARRAY 1; LOAD_LOCAL 0; LOAD_CONST 1; SET_INDEX_ARRAY; LOAD_NIL",
     "index 9223372036854775807 is out of bounds for length 1"),
    ("BUILD_MAP 0; BUILD_ARRAY 0; LOAD_CONST 8; INDEX_ARRAY; BUILD_ARRAY 0; LOAD_CONST 9; INDEX_ARRAY;"
     " SET_INDEX_MAP; LOAD_NIL", "index 8 is out of bounds for length 0"),
    ("BUILD_ARRAY 0; LOAD_CONST 8; INDEX_ARRAY; LOAD_CONST 'k'; BUILD_ARRAY 0; LOAD_CONST 9; INDEX_ARRAY;"
     " SET_INDEX_MAP; LOAD_NIL", "index 8 is out of bounds for length 0"),
    ("LOAD_CONST 'ab'; LOAD_CONST 2; INDEX_STRING", "index 2 is out of bounds for length 2"),
    ("BUILD_MAP 0; LOAD_CONST 'k'; INDEX_MAP", "the map has no key `k`"),
    ("BUILD_MAP 0; GET_MEMBER k", "the map has no key `k`"),
    ("LOAD_CONST 1; GET_MEMBER k", "Int has no member `k`"),
    ("BUILD_MAP 0; GET_MEMBER message", "the map has no key `message`"),
    ("LOAD_CONST 1; GET_MEMBER kind", "Int has no member `kind`"),
    ("LOAD_CONST 'a'; LOAD_CONST 1; LOAD_CONST 5; SLICE", "the slice 1..5 is out of bounds for length 1"),
    ("LOAD_CONST 'a'; CHECK 0", "expected `Int`, found `String`"),
    ("LOAD_CONST 1; CALL_METHOD nothing 0", "Int has no method `nothing`"),
    ("LOAD_CONST 1; CALL_VALUE 0", "Int cannot be called"),
    ("LOAD_FUNCTION double; CALL_VALUE 0", "`double` is called with a wrong number of arguments"),
    ("CALL_NATIVE Test::missing 0", "the library has no function `Test::missing`"),
    ("LOAD_CONST 'gone'; THROW; LOAD_NIL", "gone"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "message"), FAILURES, ids=[code for code, _ in FAILURES])
def test_failure(code: str, message: str) -> None:
    kind, found, _ = run_both(lines(code) + "\nRETURN", 2**63 - 1)
    assert (kind, found) == ("error", message)


def test_panic_is_not_caught() -> None:
    body = """
        TRY 0
          LOAD_CONST "all is lost"
          PANIC
        CATCH 1
        END
        LOAD_NIL
        RETURN
    """
    assert run_both(body) == ("panic", "all is lost", None)


def test_error_thrown_again_is_the_same() -> None:
    body = """
        TRY 0
          TRY 0
            BUILD_ARRAY 0
            LOAD_LOCAL 0
            INDEX_ARRAY
            POP
          CATCH 1
            LOAD_CONST 0
            STORE_LOCAL 0
            RETHROW 1
          END
        CATCH 2
          LOAD_LOCAL 2
          GET_MEMBER message
          RETURN
        END
        LOAD_NIL
        RETURN
    """
    assert run_both(body, 4)[1] == "index 4 is out of bounds for length 0"


def test_a_caught_error_says_once_how_it_left_self() -> None:
    body = """
        TRY 0
          TRY 0
            BUILD_ARRAY 0
            LOAD_LOCAL 0
            INDEX_ARRAY
            POP
          CATCH 1
            LOAD_CONST 1
            KEEP_SELF 1
            RETHROW 1
          END
        CATCH 2
          LOAD_LOCAL 0
          LEFT_SELF 2
          LOAD_LOCAL 0
          LEFT_SELF 2
          BUILD_TUPLE 2
          RETURN
        END
        LOAD_NIL
        RETURN
    """
    assert run_both(body, 4)[1] == (1, 4)


REGIONS = """
    BLOCK 0
      LOAD_LOCAL 0
      LOAD_CONST 3
      GT_INT
      BR_IF 0
      LOAD_CONST 0
      STORE_LOCAL 1
      LOOP
        LOAD_LOCAL 1
        LOAD_LOCAL 0
        EQ_INT
        BR_IF 1
        LOAD_LOCAL 1
        LOAD_CONST 1
        ADD_INT
        STORE_LOCAL 1
      END
    END
    LOAD_LOCAL 0
    SWITCH 1
      CASE 1
      CASE 2
        LOAD_CONST "few"
      CASE 3
        LOAD_CONST "three"
      DEFAULT
        LOAD_CONST "many"
    END
    STORE_LOCAL 2
    LOAD_CONST 0
    STORE_LOCAL 3
    LOAD_CONST 0
    LOAD_LOCAL 0
    BUILD_RANGE 1
    FOR 4
      LOAD_LOCAL 4
      LOAD_CONST 1
      EQ_INT
      BR_IF 0
      LOAD_LOCAL 3
      LOAD_LOCAL 4
      ADD_INT
      STORE_LOCAL 3
    END
    LOAD_LOCAL 2
    LOAD_LOCAL 3
    LOAD_LOCAL 0
    LOAD_CONST 2
    LT_INT
    IF 1
      LOAD_CONST "small"
    ELSE
      LOAD_CONST "large"
    END
    BUILD_TUPLE 3
    RETURN
"""


@pytest.mark.parametrize(
    ("n", "expected"), [(1, ("few", 0, "small")), (3, ("three", 5, "large")), (4, ("many", 9, "large"))]
)
def test_regions(n: int, expected: tuple[str, int, str]) -> None:
    assert run_both(REGIONS, n)[1] == expected


def test_methods_of_handles_go_to_the_host() -> None:
    thing = Thing()
    assert run_both("LOAD_LOCAL 0\nCALL_METHOD wave 0\nRETURN", thing)[1] == (
        "call_handle",
        thing,
        "wave",
        [],
    )


def test_iteration_over_every_collection() -> None:
    body = """
        BUILD_ARRAY 0
        STORE_LOCAL 1
        LOAD_LOCAL 0
        FOR 2
          LOAD_LOCAL 1
          LOAD_LOCAL 2
          CALL_NATIVE Array::push 2
          POP
        END
        LOAD_LOCAL 1
        RETURN
    """
    assert run_both(body, "héy")[1] == ["h", "é", "y"]
    assert run_both(body, {"a": 1})[1] == [("a", 1)]
    assert run_both(body, [1, 2])[1] == [1, 2]
    assert run_both(body, Range(range(3), False))[1] == [0, 1, 2]
    assert run_both(body, 5)[1] == "`for` cannot go through Int"


def test_every_opcode_is_carried_out_by_both_tiers() -> None:
    jumps = {"BLOCK", "LOOP", "FOR", "IF", "ELSE", "CASE", "DEFAULT", "TRY", "CATCH", "END", "BR", "BR_IF"}
    ends = {"SWITCH", "THROW", "RETHROW", "RETURN", "PANIC"}
    assert OPCODES.keys() - HANDLERS.keys() == jumps
    assert OPCODES.keys() - WRITERS.keys() == (jumps | ends) - {"PANIC"}


def test_no_opcode_is_left_out() -> None:
    shown = "\n".join(
        [*[code for code, _ in VALUES], *[code for code, _ in FAILURES], *[c for c, _ in STATEMENTS]]
    )
    shown += (
        REGIONS
        + "SET_INDEX_ARRAY SET_INDEX_MAP SET_PAYLOAD TRY CATCH RETHROW KEEP_SELF LEFT_SELF PANIC "
        + "RETURN THROW BR"
    )
    words = set(shown.replace(";", " ").split())
    compared = {
        name for name in OPCODES if name[:2] in ("LT", "LE", "GT", "GE", "EQ", "NE") and name[:3] != "NEG"
    }
    assert OPCODES.keys() - compared - words == set()
