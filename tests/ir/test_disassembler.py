"""What `concertoc dis` prints."""

from __future__ import annotations

from concerto.ir.disassembler import disassemble
from concerto.ir.module import Function, ModuleIR, Position, SourceFile
from tests.ir.test_codec import full_module
from tests.vm.assembler import assemble

SOURCE = "fn pick(n) {\n    match n { 1 => 2, _ => 3 }\n}"


def test_regions_are_indented_and_lines_shown() -> None:
    module = assemble(
        "fn pick(n)\nLOAD_LOCAL 0\nSWITCH 1\nCASE 1\nLOAD_CONST 2\nDEFAULT\nLOAD_CONST 'x'\nEND\nRETURN"
    )
    module.files = [SourceFile("pick.conc", SOURCE)]
    module.functions[0].positions = [Position(0, SOURCE.index("match"), SOURCE.index("}"))]
    assert disassemble(module).splitlines() == [
        "module test  (test.conc)",
        "",
        "fn 0 pick(n)  1 locals",
        "  ; pick.conc:2  match n { 1 => 2, _ => 3 }",
        "      0  LOAD_LOCAL v0",
        "      1  SWITCH 1",
        "      2    CASE 1",
        "      3      LOAD_CONST 2",
        "      4    DEFAULT",
        "      5      LOAD_CONST 'x'",
        "      6  END",
        "      7  RETURN",
    ]


def test_declarations_are_listed() -> None:
    text = disassemble(full_module())
    for line in ("agent A", "tool Calc", "mcp M", "pipeline P", "hashmap h", "type 1: enum E { A }"):
        assert line in text.splitlines()


def test_unverified_code_is_printed_too() -> None:
    code = [("END",), ("NO_SUCH", 1), ("LOAD_CONST", 7), ("CALL", 9, 0), ("CASE", -1)]
    module = ModuleIR("m", "m.conc", functions=[Function("f", [], 0, 0, list(code), 5, [])])
    assert "NO_SUCH 1" in disassemble(module)
