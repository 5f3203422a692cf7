"""Lvalues: what can be assigned to or changed by a `mut self` method (E0205, E0207)."""

from __future__ import annotations

from concerto.diagnostics import CaptureAssigned, Edit, ImmutableChange
from concerto.semantics.check.body_checker import BodyChecker
from concerto.semantics.model.builtins import HANDLES, STRING
from concerto.semantics.model.symbols import ConstSymbol, ErrorType, LocalSymbol, Named, Type
from concerto.semantics.typing.coercion import widened
from concerto.semantics.typing.copies import WITHOUT_PARTS, copied_from, place_of, put_back
from concerto.semantics.typing.unify import resolve
from concerto.source import Span
from concerto.syntax import ast


def is_place(checker: BodyChecker, target: ast.Expr, found: Type) -> bool:
    """Report a target that exists but is no place to assign to."""
    match target:
        case ast.Index(receiver=receiver, index=index):
            holder = widened(checker.types[receiver])
            if isinstance(index, ast.RangeExpr):
                checker.report(
                    ImmutableChange(checker.span(target), "a slice is a copy and cannot be assigned to")
                )
                return False
            if holder is STRING:
                checker.report(
                    ImmutableChange(
                        checker.span(target),
                        "the characters of a String cannot be assigned to",
                        help="build a new one with `replace` or `slice`",
                    )
                )
                return False
            return True
        case ast.Path():
            symbol = checker.analysis.uses.get(target)
            # A constant is refused like a variable that does not change.
            if isinstance(found, ErrorType) or isinstance(symbol, LocalSymbol | ConstSymbol):
                return True
            text = checker.text(target)
            checker.report(
                ImmutableChange(
                    checker.span(target),
                    f"cannot assign to `{text}`: it is a declaration",
                    help=f"assign to a variable that holds it: `let mut chosen = {text};`",
                )
            )
            return False
        case ast.FieldAccess():
            return True
        case _:
            return not isinstance(found, ErrorType)


def require_mutable(checker: BodyChecker, place: ast.Expr, change: str) -> bool:
    """Report a change of something that may not change. `change` says what happens to it: "assign to", "call
    `push` on". A fresh value may be changed by a method, which may do more than that."""
    root, slice_ = _root(checker, place)
    if root is None:
        return True
    if not isinstance(root, ast.Path):
        return root is place or change != "assign to" or _require_place(checker, root, place)
    if slice_ is not None:
        text = checker.text(slice_)
        checker.report(
            ImmutableChange(
                checker.span(slice_),
                f"cannot {change} {'' if slice_ is place else 'a part of '}`{text}`: a slice is a copy",
                label="the change would be lost",
                help=f"keep it in a variable: `let mut part = {text};`",
            )
        )
        return False
    symbol = checker.analysis.uses.get(root)
    if isinstance(symbol, LocalSymbol):
        return _require_mutable_local(checker, root, symbol, whole=root is place, change=change)
    if isinstance(symbol, ConstSymbol):
        checker.report(
            ImmutableChange(
                checker.span(root),
                f"cannot {change} `{symbol.name}`: it is a constant",
                help=f"copy it into a variable: `let mut copy = {symbol.name};`",
            )
        )
        return False
    return True


def _require_place(checker: BodyChecker, root: ast.Expr, place: ast.Expr) -> bool:
    """Report an assignment to a part of what is no variable, unless something is wrong with it already."""
    if isinstance(checker.types.get(root), ErrorType):
        return True
    text, part = checker.text(root), checker.text(place)[len(checker.text(root)) :]
    there = place_of(root, checker.source, checker.types)
    back = put_back(root, "value", checker.source, checker.types)
    help_ = "change it in a variable, and put it where it is wanted"
    if there and back != f"{there} = value;":
        help_ = f"change a copy and put it back: `let mut value = {text}; value{part} = …; {back}`"
    elif there:
        help_ = f"change it where it is: `{there}{part} = …;`"
    elif "…" not in text + part:
        change = f"let mut value = {text}; value{part} = …;"
        help_ = f"change it in a variable (`{change}`), and put it where it is wanted"
    checker.report(
        ImmutableChange(
            checker.span(root),
            "cannot assign to a part of this value: no variable holds it",
            label="the change would be lost",
            help=help_,
        )
    )
    return False


def _root(checker: BodyChecker, place: ast.Expr) -> tuple[ast.Expr | None, ast.Index | None]:
    """What a place is a part of, a variable in most cases, and the first slice on the way to the place. Parts
    behind a handle belong to the handle: they have none."""
    slice_ = None
    while isinstance(place, ast.FieldAccess | ast.Index):
        found = resolve(checker.types[place.receiver]) if place.receiver in checker.types else None
        if isinstance(found, Named) and found.symbol in HANDLES:
            return None, slice_
        if isinstance(place, ast.Index) and isinstance(place.index, ast.RangeExpr):
            slice_ = place
        place = place.receiver
    return place, slice_


def _require_mutable_local(
    checker: BodyChecker, root: ast.Path, local: LocalSymbol, whole: bool, change: str
) -> bool:
    what = f"`{local.name}`" if whole else f"a part of `{local.name}`"
    if local.function is not checker.frame.node:
        checker.report(
            CaptureAssigned(
                checker.span(root),
                f"cannot {change} {what} here: it is a captured copy",
                label="the variable outside would not change",
                help="return the new value from the closure, or write a loop or a `match` in its place"
                if isinstance(checker.frame.node, ast.Closure)
                else "give the new value as the result; what tasks share is kept in a `hashmap`",
                related=_declaration(local),
            )
        )
        return False
    if local.mutable or (whole and local in checker.deferred):
        return True
    checker.report(
        ImmutableChange(
            checker.span(root),
            f"cannot {change} {what}: it is not mutable",
            help=_how_to_change(checker, local),
            related=_declaration(local),
            edits=_made_mutable(checker, local),
        )
    )
    return False


def _how_to_change(checker: BodyChecker, local: LocalSymbol) -> str:
    match local.role:
        case "self":
            return "declare the method with `mut self`"
        case "parameter":
            has_parts = widened(local.type) not in WITHOUT_PARTS
            returned = ", and return it for the caller to keep" if has_parts else ""
            return f"parameters do not change; copy it: `let mut {local.name} = {local.name};`{returned}"
        case "pattern":
            copy, bound = copied_from(local, checker.types), f"bind it as `mut {local.name}`"
            if copy is None:
                return bound
            what = f"it is a copy of what is in `{copy.of}`"
            if copy.put_back:
                return f"{what}: {bound}, and {copy.advice}"
            return f"{what}: {copy.advice}; `mut {local.name}` changes only the copy"
        case "let":
            return f"declare it `let mut {local.name}`"


def _made_mutable(checker: BodyChecker, local: LocalSymbol) -> tuple[Edit, ...]:
    if local.node is None or local.source is None or local.role == "parameter":
        return ()
    if local.role == "pattern" and copied_from(local, checker.types) is not None:
        return ()  # The change would be one of a copy.
    if not isinstance(local.node, ast.BindPattern | ast.Parameter):
        return ()
    return (Edit(local.source.span(local.node.start, local.node.start), "mut "),)


def _declaration(local: LocalSymbol) -> tuple[tuple[Span, str], ...]:
    if local.node is None or local.source is None or local.role == "self":
        return ()
    name = local.node.name if isinstance(local.node, ast.BindPattern | ast.Parameter) else local.node
    return ((local.source.span(name.start, name.end), "declared here"),)
