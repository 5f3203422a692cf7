"""Which functions own tasks: those that start some, and those that may be given some by what they call."""

from __future__ import annotations

from concerto.emit.function import FunctionBuilder
from concerto.semantics.model.builtins import TASK
from concerto.semantics.model.symbols import Named, TupleOf, Type, TypeSymbol, field_types
from concerto.syntax import ast


def own_tasks(b: FunctionBuilder, node: ast.Expr) -> None:
    """Note that the function now has the tasks in the value of a call or a concurrent construct."""
    if not b.owns_tasks and _may_hold(b.types[node], b.program.task_types):
        b.owns_tasks = True


def _may_hold(type_: Type, known: dict[Type | TypeSymbol, bool]) -> bool:
    """Whether a task is somewhere in the values of a type, as far as types tell."""
    key = _key(type_)
    found = known.get(key)
    if found is None:
        found = known[key] = _reaches_task(type_, known)
    return found


def _reaches_task(type_: Type, known: dict[Type | TypeSymbol, bool]) -> bool:
    """Look through the types in a type. Of those on the way to a task nothing is known but that; where there
    is none, none of them holds one."""
    todo, seen = [type_], {type_}
    while todo:
        part = todo.pop()
        key = _key(part)
        if _is_task(part) or known.get(key):
            return True
        if key not in known:
            new = [each for each in dict.fromkeys(_parts(part)) if each not in seen]
            seen.update(new)
            todo += new
    known.update(dict.fromkeys(map(_key, seen), False))
    return False


def _key(type_: Type) -> Type | TypeSymbol:
    """A symbol is looked up faster than a type with parts."""
    return type_.symbol if type_.__class__ is Named and not type_.arguments else type_


def _is_task(type_: Type) -> bool:
    return isinstance(type_, Named) and type_.symbol is TASK


def _parts(type_: Type) -> list[Type]:
    match type_:
        case Named():
            return [*type_.arguments, *field_types(type_.symbol)]
        case TupleOf():
            return list(type_.items)
        case _:
            return []
