"""Options and Results: making them, telling their cases apart, looking inside."""

from __future__ import annotations

from concerto.ir.module import Instr
from concerto.vm.python_tier.expression import KINDS, READ, Comparison, Expr, compound
from concerto.vm.python_tier.instructions.registry import writes
from concerto.vm.python_tier.unboxing import OPTION, RESULT
from concerto.vm.python_tier.writer import FunctionWriter

_CASES = {"BUILD_SOME": "Some", "BUILD_OK": "Ok", "BUILD_ERR": "Err"}


@writes("BUILD_SOME", "BUILD_OK", "BUILD_ERR")
def _build_case(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    made = compound(writer.mark(f"{_CASES[instr[0]]}({part.text})"), (part,), atom=True)
    if instr[0] == "BUILD_ERR":
        made.opened = RESULT, f"Fail({part.text})"
    else:
        made.opened = OPTION if instr[0] == "BUILD_SOME" else RESULT, part.wrapped
    writer.push(made)


@writes("IS_SOME", "IS_OK", "IS_NIL")
def _is_case(writer: FunctionWriter, instr: Instr) -> None:
    part = writer.pop()
    writer.push(case_test(writer, {"IS_SOME": OPTION, "IS_OK": RESULT}.get(instr[0], "nil"), part))


def case_test(writer: FunctionWriter, kind: str, part: Expr) -> Expr:
    """Whether an Option is Some, a Result Ok, another value nil."""
    in_the_open = part.opened is not None and part.opened[0] == kind
    subject = part.opened[1] if part.opened is not None and in_the_open else part.wrapped
    match kind, in_the_open:
        case "option", _:
            yes, no = ("is not MISSING", "is MISSING") if in_the_open else ("is not NONE", "is NONE")
        case "result", _:
            yes, no = ("is not Fail", "is Fail") if in_the_open else ("is Ok", "is not Ok")
            subject = f"type({subject})"
        case _:
            yes, no = "is None", "is not None"
    expr = compound(writer.mark(f"{subject} {yes}"), (part,), KINDS["bool"])
    expr.opposite = writer.mark(f"{subject} {no}")
    if in_the_open and part.local >= 0:
        expr.tests = (Comparison(part, "is in", part),)
        expr.denied = (Comparison(part, "is out", part),)
    return expr


@writes("UNWRAP")
def _unwrap(writer: FunctionWriter, instr: Instr) -> None:
    """What was tested before is not looked at again."""
    part = writer.pop()
    fact = writer.known.get(part.local)
    if part.opened is None or fact is None or fact.kind not in ("is in", "is out"):
        writer.compute(f"{part.wrapped}.value", (part,), level=READ, atom=True)
    elif fact.kind == "is in":
        writer.push(Expr(part.opened[1], reads=part.reads, cheap=True))
    else:
        writer.compute(f"{part.opened[1]}.value", (part,), level=READ, atom=True)
