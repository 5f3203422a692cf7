"""What a call that changes its receiver leaves when it fails: the changes that were made before.

What is changed in place needs nothing. An `inout` function that may fail after it gave `self` a new value
notes that on the error; its caller stores it back where somebody may see the place afterwards, and throws on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from concerto.emit.function import FunctionBuilder
from concerto.emit.lvalues import Lvalue
from concerto.ir.module import Position
from concerto.semantics.model.symbols import LocalSymbol
from concerto.syntax import ast

_LOOPS: Final = frozenset({"LOOP", "FOR"})
_CANNOT_FAIL: Final = frozenset({"LOAD_LOCAL", "LOAD_CONST", "LOAD_NIL", "LOAD_TRUE", "LOAD_FALSE",
                                 "BUILD_TUPLE", "END", "BR", "ELSE", "RETURN"})  # fmt: skip


def attach_self_on_failure(b: FunctionBuilder, self_slot: int) -> None:
    """Put the body of an `inout` function into a region that notes its self on what leaves it."""
    if not _fails_changed(b, self_slot):
        return
    error = b.temporary()
    b.code.insert(0, ("TRY", 0))
    b.positions = [Position(place.pc + 1, place.start, place.end) for place in b.positions]
    b.code += [
        ("CATCH", error),
        ("LOAD_LOCAL", self_slot),
        ("KEEP_SELF", error),
        ("RETHROW", error),
        ("END",),
    ]


def _fails_changed(b: FunctionBuilder, self_slot: int) -> bool:
    """Whether a body may fail after it gave self a new value."""
    store = ("STORE_LOCAL", self_slot)
    if store not in b.code:
        return False
    after = b.code[b.code.index(store) + 1 :]
    loops = any(instr[0] in _LOOPS for instr in b.code)
    return loops or any(instr[0] not in _CANNOT_FAIL and instr != store for instr in after)


def is_seen_after(b: FunctionBuilder, place: ast.Expr) -> bool:
    """Whether somebody can look at a place when a call in this function has failed: a `catch` around it, or
    the caller, if the place is in self."""
    while isinstance(place, ast.FieldAccess | ast.Index):
        place = place.receiver
    local = b.uses.get(place) if isinstance(place, ast.Path) else None
    return isinstance(local, LocalSymbol) and (b.guarded > 0 or local.role == "self")


def changing(b: FunctionBuilder, place: Lvalue, call: Callable[[], None], *, gives: bool) -> None:
    """Do what `call` does, which pushes a value if it `gives` one; if it fails, store what it has left of the
    place."""
    b.open(("TRY", int(gives)))
    call()
    error = b.temporary()
    b.part(("CATCH", error))
    place.load()
    b.emit(("LEFT_SELF", error))
    place.store()
    b.leave(("RETHROW", error))
    b.close()
