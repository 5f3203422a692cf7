"""What the verifier refuses; what it lets through cannot make the executors stumble."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concerto import compile_source
from concerto.compiler.compiled import load_compiled
from concerto.diagnostics import Problems
from concerto.emit.linking import _library_structs
from concerto.ir import module as ir
from concerto.ir.codec import encode
from concerto.ir.module import Function, Instr, ModuleIR, TypeDef
from concerto.ir.opcodes import OPCODES
from concerto.ir.verifier import LIBRARY_STRUCTS, verify
from concerto.vm.host import Host
from concerto.vm.machine import Machine
from concerto.vm.values import Panic, Raised
from tests.ir.test_codec import full_module
from tests.vm.assembler import assemble
from tests.vm.hosts import TIERS, Recorder
from tests.vm.random_programs import ProgramMaker


def fault(module: ModuleIR) -> str:
    problems = Problems()
    if verify(module, problems):
        return ""
    assert len(problems) == 1
    return next(iter(problems)).message


def test_the_broken_file_is_named_and_not_its_source(tmp_path: Path) -> None:
    problems = Problems()
    program = compile_source("fn main() { println(1); }", path="main.conc")
    file = tmp_path / "broken.conc-ir"
    file.write_bytes(encode(program.module).replace(b'"entry": 0', b'"entry": 7'))
    assert load_compiled(file, problems) is None
    (problem,) = problems
    assert problem.code == "E0603"
    assert problem.span.source.path.endswith("broken.conc-ir")


def code_fault(code: str) -> str:
    """What is wrong with the code of a function."""
    return fault(assemble("fn f() locals=2\n" + code.replace(";", "\n"))).rpartition("`f`, instruction ")[2]


_UNASSIGNED = "a local is read before it is assigned"

_IF_BOTH = (
    "LOAD_TRUE; IF 1; LOAD_NIL; STORE_LOCAL 0; LOAD_TRUE; ELSE; LOAD_FALSE; END; IF 0; LOAD_LOCAL 0; POP; END"
)
"""What a match writes of a pattern that binds: the local is assigned where the result is true."""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ADD_INT", "0: the stack is too low"),
        ("LOAD_NIL", "1: the function ends with values on the stack"),
        ("LOAD_TRUE; IF 0; POP; END", "2: the stack is too low"),
        ("BLOCK 1; END", "1: a region ends with a wrong stack height"),
        ("BLOCK 0; LOAD_NIL; END", "2: a region ends with a wrong stack height"),
        ("BLOCK 0", "1: a region is not closed"),
        ("END", "0: END without a region"),
        ("ELSE", "0: ELSE without IF"),
        ("LOAD_TRUE; IF 0; ELSE; ELSE; END", "3: a second ELSE"),
        ("LOAD_TRUE; IF 1; LOAD_NIL; END; POP", "3: an IF with a result without ELSE"),
        ("TRY 0; END", "1: a TRY without CATCH"),
        ("TRY 0; CATCH 0; CATCH 0; END", "2: a second CATCH"),
        ("LOAD_NIL; SWITCH 0; LOAD_NIL; END", "2: a SWITCH begins with a CASE"),
        ("LOAD_NIL; SWITCH 0; CASE 1; CASE 1; END", "3: two CASEs are equal"),
        ("LOAD_NIL; SWITCH 0; CASE 1.5; END", "2: a CASE is an Int or a String"),
        ("LOAD_NIL; SWITCH 1; CASE 1; LOAD_NIL; END; POP", "4: a SWITCH with a result without DEFAULT"),
        ("LOAD_NIL; SWITCH 0; DEFAULT; DEFAULT; END", "3: a second DEFAULT"),
        ("BR 0", "0: BR has a level operand out of range"),
        ("BLOCK 1; LOAD_TRUE; BR_IF 0; LOAD_NIL; END; POP", "2: a BR_IF to a region with a result"),
        ("BLOCK 1; BR 0; END; POP", "1: the stack is too low"),
        ("LOOP; LOAD_NIL; END", "2: a loop ends with values on the stack"),
        ("LOAD_LOCAL 2", "0: LOAD_LOCAL has a local operand out of range"),
        ("LOAD_LOCAL -1", "0: LOAD_LOCAL has a local operand out of range"),
        ("BLOCK 2; END", "0: BLOCK has a result operand out of range"),
        ("RETHROW 0", "0: RETHROW of a local that holds no caught error"),
        ("LOAD_NIL; KEEP_SELF 0", "1: KEEP_SELF of a local that holds no caught error"),
        ("CALL f 1", "0: `f` takes 0 arguments"),
        ("LOAD_NIL; MAKE_CLOSURE f 1; POP", "1: `f` has 0 captures"),
        ("LOAD_REF os system", "0: LOAD_REF of an unknown kind"),
        ("CALL_NATIVE os.system 0; POP", "0: CALL_NATIVE has a name that is no function's"),
        *[
            (f"LOAD_REF {kind} Nobody", f"0: the program has no {kind} `Nobody`")
            for kind in ("agent", "tool", "method", "mcp", "host", "pipeline", "hashmap", "ledger", "memory")
        ],
        ("CALL_TOOL Calc add 0", "0: the program has no tool function `Calc::add`"),
        ("CALL_MCP Git log 0", "0: the program has no mcp function `Git::log`"),
        ("CALL_PIPELINE Flow 0", "0: the program has no pipeline `Flow`"),
        ("LOAD_CONST 'x'; LOAD_CONST 1; ADD_INT", "2: ADD_INT of a value of another kind"),
        ("LOAD_CONST 1; LOAD_CONST 'x'; LT_STRING", "2: LT_STRING of a value of another kind"),
        ("LOAD_CONST 1; NOT", "1: NOT of a value of another kind"),
        ("LOAD_CONST 1; IF 0; END", "1: IF of a value of another kind"),
        ("BLOCK 0; LOAD_NIL; BR_IF 0; END", "2: BR_IF of a value of another kind"),
        ("BUILD_ARRAY 0; LOAD_CONST 1.5; INDEX_ARRAY", "2: INDEX_ARRAY of a value of another kind"),
        ("LOAD_LOCAL 0", f"0: {_UNASSIGNED}"),
        ("LOAD_TRUE; IF 0; LOAD_NIL; STORE_LOCAL 0; END; LOAD_LOCAL 0", f"5: {_UNASSIGNED}"),
        ("LOAD_TRUE; IF 0; LOAD_NIL; STORE_LOCAL 0; ELSE; LOAD_LOCAL 0", f"5: {_UNASSIGNED}"),
        ("BUILD_ARRAY 0; FOR 0; END; LOAD_LOCAL 0", f"3: {_UNASSIGNED}"),
        ("TRY 0; LOAD_NIL; STORE_LOCAL 0; CATCH 1; LOAD_LOCAL 0", f"4: {_UNASSIGNED}"),
        ("TRY 0; LOAD_NIL; STORE_LOCAL 0; CATCH 1; END; LOAD_LOCAL 1", f"5: {_UNASSIGNED}"),
        ("LOAD_CONST 1; SWITCH 0; CASE 1; LOAD_NIL; STORE_LOCAL 0; END; LOAD_LOCAL 0",
         f"6: {_UNASSIGNED}"),
        ("BLOCK 0; LOAD_TRUE; BR_IF 0; LOAD_NIL; STORE_LOCAL 0; END; LOAD_LOCAL 0",
         f"6: {_UNASSIGNED}"),
        (_IF_BOTH.replace("LOAD_FALSE", "LOAD_TRUE"), f"9: {_UNASSIGNED}"),
        (_IF_BOTH.replace("IF 0; LOAD", "POP; LOAD_TRUE; IF 0; LOAD"), f"11: {_UNASSIGNED}"),
    ],
)  # fmt: skip
def test_refused_code(code: str, expected: str) -> None:
    assert code_fault(code) == expected


@pytest.mark.parametrize(
    "code",
    [
        "LOAD_NIL; RETURN; ADD_INT; POP; POP",
        "BLOCK 0; BR 0; ADD_INT; LOAD_TRUE; IF 1; ELSE; END; END",
        "LOOP; END; ADD_INT",
        "BLOCK 1; LOOP; LOAD_NIL; BR 1; END; END; POP",
        "LOAD_NIL; SWITCH 0; CASE 1; CASE 2; DEFAULT; CASE 'x'; END",
        "TRY 1; LOAD_NIL; CATCH 0; RETHROW 0; END; RETURN",
        "LOAD_TRUE; IF 0; LOAD_NIL; STORE_LOCAL 0; ELSE; LOAD_NIL; RETURN; END; LOAD_LOCAL 0; POP",
        "LOOP; LOAD_NIL; STORE_LOCAL 0; LOAD_LOCAL 0; BR_IF 0; LOAD_LOCAL 0; POP; END",
        "BLOCK 0; LOOP; LOAD_NIL; STORE_LOCAL 0; BR 1; END; END; LOAD_LOCAL 0; POP",
        "LOAD_CONST 1; SWITCH 0; CASE 1; LOAD_NIL; STORE_LOCAL 0; DEFAULT; LOAD_NIL; STORE_LOCAL 0; END; "
        "LOAD_LOCAL 0; POP",
        _IF_BOTH,
    ],
)
def test_accepted_code(code: str) -> None:
    assert code_fault(code) == ""


@pytest.mark.parametrize(
    ("instr", "expected"),
    [
        (("NO_SUCH",), "unknown opcode `NO_SUCH`"),
        ((5,), "unknown opcode `5`"),
        ((), "unknown opcode ``"),
        (("LOAD_CONST",), "LOAD_CONST has the wrong number of operands"),
        (("LOAD_CONST", "0"), "LOAD_CONST has a const operand out of range"),
        (("LOAD_CONST", True), "LOAD_CONST has a const operand out of range"),
        (("CALL_NATIVE", 5, 0), "CALL_NATIVE needs a name"),
        (("BUILD_STRUCT", 0, 0), "BUILD_STRUCT of a type that is no struct"),
        (("BUILD_VARIANT", 0, 0, 0), "BUILD_VARIANT of a type that is no enum"),
    ],
)
def test_refused_instruction(instr: Instr, expected: str) -> None:
    function = Function("f", [], 0, 0, [instr], 0, [])
    module = ModuleIR("m", "m.conc", constants=[1], types=[TypeDef("builtin", "Int")], functions=[function])
    assert fault(module).endswith(f"instruction 0: {expected}")


def test_refused_tables() -> None:
    def faults_of(**changes: object) -> str:
        module = ModuleIR("m", "m.conc")
        for name, value in changes.items():
            setattr(module, name, value)
        return fault(module).removeprefix("the compiled program is not valid: ")

    assert faults_of(constants=[2**63]) == "constant 0 is no Int of 64 bits"
    assert faults_of(constants=[True]) == "constant 0 is no Int, Float or String"
    assert faults_of(types=[TypeDef("array", items=[1])]) == "type 0 names type 1 of 1"
    assert faults_of(types=[TypeDef("array")]) == "type 0 has 0 parts"
    assert faults_of(types=[TypeDef("magic")]) == "type 0 is of an unknown kind"
    for name in ("__class__()", "<std>", "a::", "::a", "a/", "{1}", "a b", "<std>::<std>::a"):
        assert faults_of(types=[TypeDef("struct", "S", methods={name: 0})]).endswith("is no name"), name
    assert faults_of(entry=0) == "the program's entry names function 0 of 0"
    assert faults_of(tests=[ir.Test("t", -1)]) == "test `t` names function -1 of 0"


def test_the_runtime_makes_the_structs_that_the_verifier_knows() -> None:
    made = {struct.name: " ".join(field.name for field in struct.fields) for struct in _library_structs()}
    assert made == LIBRARY_STRUCTS
    changed = TypeDef("struct", "Message", fields=[ir.FieldDef("role", 0)])
    module = ModuleIR("m", "m.conc", types=[changed])
    assert fault(module).endswith("type 0 is not `Message` as the library has it")


def test_a_tool_of_the_program_gets_the_arguments_it_takes() -> None:
    program = compile_source(
        'tool T { description: "x", @describe("a") @param("n", "x") pub fn add('
        "self, n: Int, c: ToolContext) -> Int { n } }\n"
        "fn main() { println(T.add(1)); }",
        path="main.conc",
    )
    module = program.module
    assert fault(module) == ""
    for function in module.functions:
        function.code = [
            (*instr[:-1], instr[-1] + 1) if instr[0] == "CALL_TOOL" else instr for instr in function.code
        ]
    assert fault(module).endswith("`T::add` takes 1 argument")


def test_huge_code_is_no_problem() -> None:
    deep = [("BLOCK", 0)] * 50_000 + [("END",)] * 50_000
    long = [("LOAD_NIL",), ("POP",)] * 100_000
    for code in (deep, long):
        assert fault(ModuleIR("m", "m.conc", functions=[Function("f", [], 0, 0, list(code), 0, [])])) == ""


def test_a_full_module_is_checked_throughout() -> None:
    module = full_module()
    assert "schema `S` needs a function of 1 parameters" not in fault(module)


@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False))
def test_changed_code_is_refused_or_runs(random: Random) -> None:
    """No change of a program can make an executor fail in another way than programs do."""
    module = ProgramMaker(random).make()
    function = module.functions[-1]
    for _ in range(random.randint(1, 3)):
        place = random.randrange(len(function.code))
        if random.random() < 0.5:
            del function.code[place]
        else:
            opcode = random.choice(list(OPCODES.values()))
            operands = ["Test::note" if kind == "name" else random.randint(0, 3) for kind in opcode.operands]
            function.code.insert(place, (opcode.name, *operands))
    if fault(module):
        return
    for tier in TIERS:
        machine = Machine(module, cast(Host, Recorder()), tier=tier)
        with suppress(Raised, Panic):
            machine.call(len(module.functions) - 1, [1, 2])
