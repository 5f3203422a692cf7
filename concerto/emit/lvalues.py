"""Lvalues, or assignment: to locals, and to fields and elements at any depth.

The right side comes first, then the place: its containers and indices, for `+=` its present value. Where
nobody can tell, the value is computed last: it is on top of the stack when it is stored.

Containers are reached by reference and changed in place. A tuple is not changed but replaced, and so is what
an `inout` call gives back; an `Lvalue` that was prepared once can therefore be stored to without evaluating
its parts again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeGuard

from concerto.emit.function import FunctionBuilder, effect_of, value_of
from concerto.emit.instructions import INDEX, LOAD_NIL, POP, REPLACE, WITH_INDEX, operation
from concerto.emit.names import get_field, index_suffix
from concerto.emit.operators import call_of_operator
from concerto.records import frozen
from concerto.semantics.model.analysis import NamedMember, SlotField, TupleItem
from concerto.semantics.model.builtins import BOOL, FLOAT, INT, STRING
from concerto.semantics.model.symbols import LocalSymbol, Named, StructSymbol
from concerto.syntax import ast


@effect_of(ast.Assign)
def assign(b: FunctionBuilder, node: ast.Assign) -> None:
    target = node.target
    if node in b.program.analysis.put_back:
        return
    if node in b.program.analysis.late_places:
        b.compute_early(node.value)
        evaluate_indices(b, target)
    elif not _comes_last(b, node):
        b.compute_early(node.value)
    if isinstance(target, ast.Path):
        _assign_local(b, node, target)
    elif node.op == "=" and _is_dynamic(target, b):
        whole = _whole(b, target.receiver)
        whole.load()
        if isinstance(target, ast.Index):
            b.operand(target.index)
        b.operand(node.value)
        _put(b, target)
        whole.store()
    elif isinstance(b.fields.get(target), TupleItem) or _is_dynamic(target, b):
        place = prepare(b, target)
        _new_value(b, node, place.load)
        place.store()
    else:
        _assign_part(b, node, target)


@value_of(ast.Assign)
def assign_value(b: FunctionBuilder, node: ast.Assign) -> None:
    assign(b, node)
    b.emit(LOAD_NIL)


def _assign_local(b: FunctionBuilder, node: ast.Assign, target: ast.Path) -> None:
    local = b.uses[target]
    assert isinstance(local, LocalSymbol)
    slot = b.declare(local)
    if local.role == "self" and b.self_slot is None:
        b.load(slot)
        _new_value(b, node, lambda: b.load(slot))
        b.emit(REPLACE)
    else:
        _new_value(b, node, lambda: b.load(slot))
        b.store(slot)


def _assign_part(b: FunctionBuilder, node: ast.Assign, target: ast.Expr) -> None:
    """Into a struct, array or map: the container (and index), the new value, the store."""
    if node.op == "=":
        match target:
            case ast.FieldAccess(receiver=receiver):
                b.value(receiver)
            case ast.Index(receiver=receiver, index=index):
                b.value(receiver)
                b.operand(index)
            case _:
                raise AssertionError("the parser lets only places be assigned")
        b.operand(node.value)
        _store_part(b, target)
        return
    place = prepare(b, target)
    place.container()
    _new_value(b, node, place.load)
    _store_part(b, target)


_LITERALS: Final = (ast.IntLit, ast.FloatLit, ast.StringLit, ast.BoolLit, ast.NilLit)
_PLAIN: Final = (INT, FLOAT, STRING, BOOL)


def _comes_last(b: FunctionBuilder, node: ast.Assign) -> bool:
    """Whether nobody can tell that the place is reached before the value, which changes none of the place's
    variables."""
    target = node.target
    if isinstance(node.value, _LITERALS) or isinstance(target, ast.Path):
        return True
    if not _is_plain_place(target):
        return False
    if _is_quiet(b, node.value):
        return True
    match target:
        case ast.Index(receiver=receiver, index=index) if node.op == "=":
            return index not in b.coercions and _never_fails(b, receiver)
        case ast.FieldAccess(receiver=receiver) if node.op == "=":
            return _never_fails(b, receiver)
        case _:
            return _never_fails(b, target)


def _is_quiet(b: FunctionBuilder, node: ast.Expr) -> bool:
    """Whether a value is computed without doing or failing anything."""
    match node:
        case ast.Path():
            return isinstance(b.uses.get(node), LocalSymbol) and node not in b.coercions
        case ast.Binary(left=left, right=right) if node not in b.coercions:
            plain = b.types[left] in _PLAIN and b.types[right] in _PLAIN and b.types[node] in _PLAIN
            return plain and b.types[node] is not INT and _is_quiet(b, left) and _is_quiet(b, right)
        case ast.Unary(operand=operand):
            return isinstance(operand, _LITERALS)
        case _:
            return isinstance(node, _LITERALS)


def _is_plain_place(node: ast.Expr) -> bool:
    """Whether a place is reached through fields and by indices that are variables or literals."""
    while isinstance(node, ast.FieldAccess | ast.Index):
        if isinstance(node, ast.Index) and not isinstance(node.index, (ast.Path, *_LITERALS)):
            return False
        node = node.receiver
    return isinstance(node, ast.Path)


def _never_fails(b: FunctionBuilder, place: ast.Expr) -> bool:
    """Whether a place is a variable, or declared fields of one."""
    while isinstance(place, ast.FieldAccess) and not isinstance(b.fields[place], NamedMember):
        place = place.receiver
    return isinstance(place, ast.Path)


def _new_value(b: FunctionBuilder, node: ast.Assign, load: Callable[[], None]) -> None:
    """What is assigned; for `+=` and the others from the present value."""
    if node.op == "=":
        b.operand(node.value)
        return
    load()
    if node in b.program.analysis.calls:
        call_of_operator(b, node, node.value)
        return
    b.operand(node.value)
    b.mark(node)
    b.emit(operation(node.op[:-1], b.type_of(node.target), b.type_of(node.value)))


def _store_part(b: FunctionBuilder, target: ast.Expr) -> None:
    """Store the top of the stack; below it is the container, and the index if there is one."""
    b.mark(target)
    if isinstance(target, ast.Index):
        b.emit(("SET_INDEX" + index_suffix(b.type_of(target.receiver)),))
        return
    part = b.fields[target]
    assert isinstance(part, SlotField) and isinstance(target, ast.FieldAccess), "other parts make a new whole"
    match b.type_of(target.receiver):
        case Named(StructSymbol() as struct):
            b.emit(("SET_FIELD_OF", part.field.index, b.program.types.general(struct)))
        case _:
            b.emit(("SET_FIELD", part.field.index))


def _is_dynamic(part: ast.Expr, b: FunctionBuilder) -> TypeGuard[ast.FieldAccess | ast.Index]:
    """Whether only the running program knows what a place is a part of, and so which values fit it."""
    if isinstance(part, ast.Index):
        return part not in b.fields and not index_suffix(b.type_of(part.receiver))
    return isinstance(part, ast.FieldAccess) and isinstance(b.fields[part], NamedMember)


def _put(b: FunctionBuilder, part: ast.FieldAccess | ast.Index) -> None:
    """Replace a whole, the index if there is one, and a new part by the changed whole."""
    b.mark(part)
    b.emit(WITH_INDEX if isinstance(part, ast.Index) else ("WITH_MEMBER", part.name.text))


def evaluate_indices(b: FunctionBuilder, place: ast.Expr) -> None:
    """Evaluate the indices of a place and leave its containers for later. What is not there is missed now."""
    if isinstance(place, ast.FieldAccess | ast.Index):
        evaluate_indices(b, place.receiver)
        if isinstance(place, ast.Index) and not isinstance(place.index, _LITERALS):
            require(b, place.receiver)
            b.compute_early(place.index)


def require(b: FunctionBuilder, place: ast.Expr) -> None:
    """Fail if there is nothing in a place."""
    if not _never_fails(b, place):
        b.effect(place)


# --- Places that are read and stored ------------------------------------------------------------


@frozen
class Lvalue:
    """`load` pushes the present value, `container` what the place is a part of (and its index), `store`
    stores the top of the stack. All may be called several times."""

    load: Callable[[], None]
    container: Callable[[], None]
    store: Callable[[], None]


_CHANGELESS: Final = (ast.IntLit, ast.StringLit, ast.BoolLit)


def is_place(b: FunctionBuilder, node: ast.Expr) -> bool:
    """Can a changed value be stored back to where the expression read it?"""
    while isinstance(node, ast.FieldAccess | ast.Index):
        node = node.receiver
    return isinstance(node, ast.Path) and isinstance(b.uses.get(node), LocalSymbol)


def prepare(b: FunctionBuilder, node: ast.Expr) -> Lvalue:
    """Evaluate what must be evaluated only once of a place, and say how to read and store it."""
    match node:
        case ast.Path():
            return _local_place(b, node)
        case ast.FieldAccess() if isinstance(b.fields[node], TupleItem):
            return _tuple_place(b, node, node.receiver)
        case ast.Index() if isinstance(b.fields.get(node), TupleItem):
            return _tuple_place(b, node, node.receiver)
        case ast.FieldAccess() | ast.Index() if _is_dynamic(node, b):
            return _dynamic_place(b, node)
        case ast.FieldAccess(receiver=receiver):
            return _field_place(b, node, _once(b, receiver))
        case ast.Index(receiver=receiver, index=index):
            return _index_place(b, node, _once(b, receiver), _once(b, index))
    raise AssertionError("only places are prepared")


def _local_place(b: FunctionBuilder, node: ast.Path) -> Lvalue:
    local = b.uses[node]
    assert isinstance(local, LocalSymbol)
    slot = b.declare(local)

    def store() -> None:
        if local.role == "self" and b.self_slot is None:
            changed = b.spill()
            b.load(slot)
            b.load(changed)
            b.emit(REPLACE)
        else:
            b.store(slot)

    return Lvalue(lambda: b.load(slot), lambda: None, store)


def _field_place(b: FunctionBuilder, node: ast.FieldAccess, container: Callable[[], None]) -> Lvalue:
    def load() -> None:
        container()
        get_field(b, node)

    return Lvalue(load, container, lambda: _store_kept(b, node, container))


def _index_place(
    b: FunctionBuilder, node: ast.Index, receiver: Callable[[], None], index: Callable[[], None]
) -> Lvalue:
    def container() -> None:
        receiver()
        index()

    def load() -> None:
        container()
        b.mark(node)
        b.emit(("INDEX" + index_suffix(b.type_of(node.receiver)),))

    return Lvalue(load, container, lambda: _store_kept(b, node, container))


def _store_kept(b: FunctionBuilder, node: ast.Expr, container: Callable[[], None]) -> None:
    changed = b.spill()
    container()
    b.load(changed)
    _store_part(b, node)


def _tuple_place(b: FunctionBuilder, node: ast.FieldAccess | ast.Index, receiver: ast.Expr) -> Lvalue:
    """An item of a tuple: storing makes a new tuple and stores that into the tuple's own place."""
    target = b.fields[node]
    assert isinstance(target, TupleItem)
    whole = prepare(b, receiver)

    def load() -> None:
        whole.load()
        b.emit(("GET_ITEM", target.index))

    def store() -> None:
        changed = b.spill()
        whole.load()
        b.load(changed)
        b.emit(("WITH_ITEM", target.index))
        whole.store()

    return Lvalue(load, lambda: None, store)


def _dynamic_place(b: FunctionBuilder, node: ast.FieldAccess | ast.Index) -> Lvalue:
    """A part of an Any. What is changed is its own until it is stored, for it may not fit there: then nothing
    has happened."""
    whole = _whole(b, node.receiver)
    index = None
    if isinstance(node, ast.Index):
        index = _once(b, node.index)
    whole.load()
    if isinstance(node, ast.FieldAccess):
        b.mark_range(node.name.start, node.name.end)
        b.emit(("OWN_MEMBER", node.name.text))
    elif index is not None:
        index()
        b.mark(node)
        b.emit(INDEX)
    held = b.spill()

    def store() -> None:
        changed = b.spill()
        whole.load()
        if index is not None:
            index()
        b.load(changed)
        _put(b, node)
        whole.store()

    return Lvalue(lambda: b.load(held), lambda: None, store)


def _whole(b: FunctionBuilder, node: ast.Expr) -> Lvalue:
    """What a place is a part of; a fresh value is stored nowhere."""
    if is_place(b, node):
        return prepare(b, node)
    return Lvalue(_once(b, node), lambda: None, lambda: b.emit(POP))


def _once(b: FunctionBuilder, node: ast.Expr) -> Callable[[], None]:
    """How to push a value several times: again from its place if that is as good, else from a local."""
    if node not in b.early and _is_stable(b, node):
        return lambda: b.value(node)
    b.operand(node)
    slot = b.spill()
    return lambda: b.load(slot)


def _is_stable(b: FunctionBuilder, node: ast.Expr) -> bool:
    """Reads a local, a literal or a field of a local: nothing happens by reading it again at once."""
    while isinstance(node, ast.FieldAccess):
        node = node.receiver
    return isinstance(node, _CHANGELESS) or (
        isinstance(node, ast.Path) and isinstance(b.uses.get(node), LocalSymbol)
    )
