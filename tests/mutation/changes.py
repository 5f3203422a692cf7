"""The small ways in which a module can be broken.

`changes_of` lists the places of a module in order; `broken` makes one of the changes. Nothing of the compiler
is imported here: the changes are made before it is."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
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
# Of these the order does not matter, or anybody would notice.
_EITHER_WAY = frozenset(("isinstance", "cast", "min", "max"))
# What is written for people or for the machine's own bookkeeping.
_LEFT_OUT = frozenset(("__slots__", "__all__", "TYPE_CHECKING"))


@dataclass(frozen=True)
class Change:
    """The `number`th change that a module offers: what it does, in which function. `reached` is the line of
    the statement that must run before anything differs; None where that is the import of the module."""

    path: str
    number: int
    function: str
    line: int
    reached: int | None
    what: str

    @property
    def name(self) -> str:
        """Stays the same while the function does."""
        return f"{self.path} {self.function}: {self.what}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.function}: {self.what}"


def changes_of(root: Path, path: str) -> list[Change]:
    changes = []
    seen: Counter[tuple[str, str]] = Counter()
    for number, (at, what, _) in enumerate(_places(ast.parse((root / path).read_bytes()))):
        seen[at.function, what] += 1
        again = f" ({seen[at.function, what]})" if seen[at.function, what] > 1 else ""
        changes.append(Change(path, number, at.function or "module", at.line, at.reached, what + again))
    return changes


def broken(text: bytes, number: int) -> ast.Module:
    tree = ast.parse(text)
    for position, (_, _, apply) in enumerate(_places(tree)):
        if position == number:
            apply()
            break
    return ast.fix_missing_locations(tree)


@dataclass(frozen=True)
class _At:
    """A place in a module; `inside` a function, `reached` as a change has it."""

    function: str = ""
    inside: bool = False
    line: int = 0
    reached: int | None = None

    def body_of(self, node: ast.AST) -> _At:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                name = f"{self.function}.{node.name}" if self.function else node.name
                inside = self.inside or not isinstance(node, ast.ClassDef)
                return replace(self, function=name, inside=inside)
            case _:
                return self

    def at(self, node: ast.AST) -> _At:
        line = getattr(node, "lineno", self.line)
        reached = line if self.inside and isinstance(node, ast.stmt) else self.reached
        return replace(self, line=line, reached=reached)


_Place = tuple[_At, str, Callable[[], None]]


def _places(tree: ast.Module) -> Iterator[_Place]:
    """All is found before anything is changed; bodies of functions and the tables of a module."""
    yield from list(_below(tree, _At()))


def _below(node: ast.AST, at: _At) -> Iterator[_Place]:
    for what, apply in _changes(node):
        yield at, what, apply
    body = at.body_of(node)
    yield from _dropped(node, body)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_comment", "type_params", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_no_code(child):
                yield from _below(child, (body if field == "body" else at).at(child))


def _dropped(node: ast.AST, at: _At) -> Iterator[_Place]:
    for statements in _bodies(node):
        for position, statement in enumerate(statements):
            if _may_go(statement):
                yield at.at(statement), f"without {_shown(statement)}", _dropper(statements, position)


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    if not isinstance(node, ast.Module | ast.ClassDef):
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if isinstance(statements, list):
                yield statements


def marked(text: bytes) -> ast.Module:
    """The module, telling in its global `__reached__` at which lines statements of functions ran."""
    tree = ast.parse(text)
    for node in list(ast.walk(tree)):
        for statements in _bodies(node):
            if statements:
                # A docstring stays the first.
                first = int(_is_no_code(statements[0]) and isinstance(statements[0], ast.Expr))
                statements[first:] = [
                    each for statement in statements[first:] for each in (_mark(statement), statement)
                ]
    return ast.fix_missing_locations(tree)


def _mark(statement: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.parse(f"__reached__[{statement.lineno}] = 1").body[0], statement)


def _is_no_code(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Raise() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.Expr(value=ast.Constant()) | ast.keyword(arg="strict"):
            return True
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name in _LEFT_OUT or "TypeAlias" in ast.dump(node)[:4000]
        case (
            ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Call(func=ast.Name(id="lru_cache" | "dataclass"))
        ):
            return True
        case _:
            return False


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


def _of_call(node: ast.Call) -> Iterator[tuple[str, Callable[[], None]]]:
    plain = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if (
        name not in _EITHER_WAY
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
