"""The small ways in which a module can be broken.

`changes_of` lists the places of a module in order; `broken` makes one of the changes. Nothing of the compiler
is imported here: the changes are made before it is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
# What makes a value one's own, or looks whether it is allowed.
_UNWRAPPED = frozenset(
    ("copied", "copy", "copy_value", "checked", "check", "list", "dict", "tuple", "set", "frozenset",
     "sorted", "reversed", "abs", "float", "int", "str", "bool", "widened")
)  # fmt: skip
# What is written for people or for the machine's own bookkeeping.
_LEFT_OUT = frozenset(("__slots__", "__all__", "TYPE_CHECKING"))


@dataclass(frozen=True)
class Change:
    """The `number`th change that a module offers: what it does, and where."""

    path: str
    number: int
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} #{self.number} {self.what}"


def changes_of(path: Path) -> list[Change]:
    places = _places(ast.parse(path.read_bytes()))
    return [Change(str(path), number, line, what) for number, (line, what, _) in enumerate(places)]


def broken(text: bytes, number: int) -> ast.Module:
    tree = ast.parse(text)
    for position, (_, _, apply) in enumerate(_places(tree)):
        if position == number:
            apply()
            break
    return ast.fix_missing_locations(tree)


_Place = tuple[int, str, Callable[[], None]]


def _places(tree: ast.Module) -> Iterator[_Place]:
    """All is found before anything is changed; bodies of functions and the tables of a module."""
    yield from list(_below(tree))


def _below(node: ast.AST) -> Iterator[_Place]:
    yield from _here(node)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_comment", "type_params", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_no_code(child):
                yield from _below(child)


def _is_no_code(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Raise() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name in _LEFT_OUT or "TypeAlias" in ast.dump(node)[:4000]
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case _:
            return False


def _here(node: ast.AST) -> Iterator[_Place]:
    line = node.body[0].lineno if isinstance(node, ast.match_case) else getattr(node, "lineno", 0)
    for what, apply in _changes(node):
        yield line, what, apply


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[], None]]]:
    """What can be done to one node."""
    match node:
        case ast.If() | ast.While() | ast.IfExp():
            yield f"not ({_shown(node.test)})", lambda: _set(node, "test", ast.UnaryOp(ast.Not(), node.test))
            if isinstance(node, ast.If) and all(isinstance(inner, ast.Raise) for inner in node.body):
                yield f"no check ({_shown(node.test)})", lambda: _set(node, "test", ast.Constant(False))
        case ast.comprehension(ifs=[first, *_]):
            yield f"all, not only if {_shown(first)}", lambda: _set(node, "ifs", node.ifs[1:])
        case ast.Compare(ops=[operator]) if type(operator) in _COMPARED:
            other = _COMPARED[type(operator)]
            yield f"{other.__name__} in {_shown(node)}", lambda: _set(node, "ops", [other()])
        case ast.BoolOp():
            other_op = ast.Or if isinstance(node.op, ast.And) else ast.And
            yield f"{other_op.__name__} in {_shown(node)}", lambda: _set(node, "op", other_op())
        case ast.BinOp(op=operator) if type(operator) in _COMPUTED:
            computed = _COMPUTED[type(operator)]
            yield f"{computed.__name__} in {_shown(node)}", lambda: _set(node, "op", computed())
            if isinstance(operator, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod):
                yield f"operands swapped in {_shown(node)}", lambda: _swap(node)
        case ast.Constant(value=bool() as known):
            yield f"{not known}", lambda: _set(node, "value", not known)
        case ast.Constant(value=int() as number):
            yield f"{number + 1} for {number}", lambda: _set(node, "value", number + 1)
        case ast.Constant(value=str() as text) if "{0}" in text and "{1}" in text:
            turned = text.replace("{0}", "\0").replace("{1}", "{0}").replace("\0", "{1}")
            yield f"{turned!r}", lambda: _set(node, "value", turned)
        case ast.Call():
            yield from _of_call(node)
        case _:
            pass
    for body in ("body", "orelse", "finalbody"):
        statements = getattr(node, body, None)
        if isinstance(statements, list) and not isinstance(node, ast.Module | ast.ClassDef):
            for position, statement in enumerate(statements):
                if _may_go(statement):
                    yield f"without {_shown(statement)}", _dropper(statements, position)


def _of_call(node: ast.Call) -> Iterator[tuple[str, Callable[[], None]]]:
    plain = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    # A class in the place of a value would be noticed by anybody.
    if (
        name not in ("isinstance", "cast")
        and len(plain) == len(node.args) >= 2
        and _shown(plain[-1]) != _shown(plain[-2])
    ):
        turned = [*plain[:-2], plain[-1], plain[-2]]
        yield f"arguments swapped in {_shown(node)}", lambda: _set(node, "args", turned)
    if name in _UNWRAPPED and len(plain) == 1 and not node.keywords:

        def unwrap() -> None:
            node.func = ast.Lambda(
                ast.arguments([], [ast.arg("value")], None, [], [], None, []), ast.Name("value", ast.Load())
            )

        yield f"no {name} of {_shown(plain[0])}", unwrap


def _may_go(statement: ast.stmt) -> bool:
    """A call for its effect, or a change of something that is there already."""
    match statement:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Delete():
            return True
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case _:
            return False


def _dropper(statements: list[ast.stmt], position: int) -> Callable[[], None]:
    def drop() -> None:
        statements[position] = ast.Pass()

    return drop


def _set(node: ast.AST, field: str, value: object) -> None:
    setattr(node, field, value)


def _swap(node: ast.BinOp) -> None:
    node.left, node.right = node.right, node.left


def _shown(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 70 else text[:67] + "..."
