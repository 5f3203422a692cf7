"""Patterns of a type, with the variables that they bind."""

from __future__ import annotations

from typing import TypeAlias

from tests.properties.generating.kinds import BOOL, FLOAT, INT, NIL, STRING, Kind, Struct, array
from tests.properties.generating.maker import Maker, Variable

Shown: TypeAlias = tuple[str, list[Variable]]

_NAMED = Struct("", (), ())

_LITERALS = {
    INT: ("0", "1", "2", "7", "-1", "9223372036854775807", "-9223372036854775808"),
    FLOAT: ("0.0", "1.0", "2.5", "-2.25", "1", "3"),
    STRING: ('""', '"a"', '"bc"', '"é😀"', '"low"'),
    BOOL: ("true", "false"),
    NIL: ("nil",),
}
_FLOAT_RANGES = ("-1.5..=2.5", "0.5..3.0", "-2.5..=-0.5")
_RANGES = (
    "0..3",
    "1..=7",
    "-5..0",
    "-3..=-1",
    "-9223372036854775808..=0",
    "2..=9223372036854775807",
    "0..=0",
)


def cases(maker: Maker, kind: Kind) -> list[tuple[str, list[Variable], bool]]:
    """Patterns that together match every value of the type, with their variables and whether guarded."""
    found = []
    for _ in range(maker.random.randint(0, 3)):
        shown, names = some_pattern(maker, kind)
        found.append((shown, names, maker.chance(0.25)))
    complete = [
        (shown, names, False) for shown, names in _all_forms(maker, kind)
    ] or [(*always(maker, kind), False)]  # fmt: skip
    if found and maker.chance(0.3):
        maker.random.shuffle(complete)
        return [*complete[:-1], *found, complete[-1]]
    return [*found, *complete]


def some_pattern(maker: Maker, kind: Kind, depth: int = 2) -> Shown:
    """A pattern that may not match."""
    roll = maker.random.random()
    if depth == 0 or roll < 0.15:
        return _simple(maker, kind)
    if roll < 0.25:
        return _alternatives(maker, kind, depth)
    if roll < 0.35:
        shown, names = some_pattern(maker, kind, depth - 1)
        if " | " in shown:
            shown = f"({shown})"
        variable = _bound(maker, kind)
        # One of both changing would be no other than the other.
        return f"{_written(variable)} @ {shown}", [variable, *names]
    return _inside(maker, kind, depth)


def always(maker: Maker, kind: Kind, depth: int = 2) -> Shown:
    """A pattern that matches every value."""
    if depth and maker.chance(0.6):
        if kind.name == "(":
            return _list(maker, "({})", [always(maker, item, depth - 1) for item in kind.arguments])
        if kind.name in maker.types.structs:
            fields = maker.types.structs[kind.name].fields_of(kind)
            return _fields(maker, kind.name, fields, depth, always)
        if maker.chance(0.2):
            variable = _bound(maker, kind)
            shown, names = always(maker, kind, depth - 1)
            return f"{_written(variable)} @ {shown}", [variable, *names]
        if maker.chance(0.15):
            return "(true | false)" if kind == BOOL else "(_ | _)", []
    if maker.chance(0.25):
        return "_", []
    variable = _bound(maker, kind)
    return _written(variable), [variable]


def parameter(maker: Maker, kind: Kind) -> Variable:
    """A name, or a pattern that begins with a bracket or a type."""
    shown, names = always(maker, kind)
    if shown[0] in "(_[" or shown.startswith((f"{kind.name} {{", f"{kind.name}(")):
        return Variable(shown, kind, parts=names)
    return Variable(maker.fresh("a"), kind)


def _simple(maker: Maker, kind: Kind) -> Shown:
    literals = maker.types.literals.get(kind.name) or _LITERALS.get(kind)
    if literals and maker.chance(0.6):
        return maker.random.choice(literals), []
    return always(maker, kind, 0)


def _alternatives(maker: Maker, kind: Kind, depth: int) -> Shown:
    """Alternatives bind the same names: none, or those of a pair turned round."""
    if kind.name == "(" and len(kind.arguments) == 2 and kind.arguments[0] == kind.arguments[1]:
        shown, names = some_pattern(maker, kind.arguments[0], depth - 1)
        other, _ = _without_names(maker, kind.arguments[0], depth - 1)
        if " | " in shown:
            shown = f"({shown})"
        return f"(({shown}, {other}) | ({other}, {shown}))", names
    several = [_without_names(maker, kind, depth - 1)[0] for _ in range(maker.random.choice((2, 2, 3)))]
    return f"({' | '.join(several)})", []


def _without_names(maker: Maker, kind: Kind, depth: int) -> Shown:
    for _ in range(6):
        shown, names = some_pattern(maker, kind, depth)
        if not names:
            return shown, []
    return "_", []


def _inside(maker: Maker, kind: Kind, depth: int) -> Shown:
    """Takes the value apart."""
    types = maker.types
    if kind.name in types.structs:
        return _fields(maker, kind.name, types.structs[kind.name].fields_of(kind), depth, some_pattern)
    if kind.name in types.enums:
        forms = _variants(maker, kind, depth)
        return maker.random.choice(forms)
    match kind:
        case Kind("Int"):
            return (maker.random.choice(_RANGES), []) if maker.chance(0.5) else _simple(maker, kind)
        case Kind("Float"):
            return (maker.random.choice(_FLOAT_RANGES), []) if maker.chance(0.3) else _simple(maker, kind)
        case Kind("(", items):
            return _list(maker, "({})", [some_pattern(maker, item, depth - 1) for item in items])
        case Kind("Array", (item,)):
            return _array(maker, item, depth)
        case Kind("Option", (item,)):
            if maker.chance(0.3):
                return "None", []
            return _list(maker, "Some({})", [some_pattern(maker, item, depth - 1)])
        case Kind("Result", (value, error)):
            if maker.chance(0.3):
                return _list(maker, "Err({})", [some_pattern(maker, error, depth - 1)])
            return _list(maker, "Ok({})", [some_pattern(maker, value, depth - 1)])
        case Kind("Any"):
            inner = maker.random.choice((INT, STRING, BOOL, NIL, FLOAT))
            literals = _LITERALS[inner]
            return maker.random.choice(literals), []
        case _:
            return _simple(maker, kind)


def _array(maker: Maker, item: Kind, depth: int) -> Shown:
    parts = [some_pattern(maker, item, depth - 1) for _ in range(maker.random.randint(0, 2))]
    if maker.chance(0.5):
        rest = maker.fresh("r")
        shown = maker.random.choice(("..", f"..{rest}"))
        names = [Variable(rest, array(item))] if shown != ".." else []
        parts.insert(maker.random.randint(0, len(parts)), (shown, names))
    return "[" + ", ".join(shown for shown, _ in parts) + "]", [name for _, names in parts for name in names]


def _variants(maker: Maker, kind: Kind, depth: int) -> list[Shown]:
    found = []
    for name, parts, names in maker.types.enums[kind.name].variants_of(kind):
        path = f"{kind.name}::{name}"
        if names:
            found.append(_fields(maker, path, list(zip(names, parts, strict=True)), depth, some_pattern))
        elif parts:
            found.append(
                _list(maker, path + "({})", [some_pattern(maker, part, depth - 1) for part in parts])
            )
        else:
            found.append((path, []))
    return found


def _fields(maker: Maker, path: str, fields: list[tuple[str, Kind]], depth: int, draw: object) -> Shown:
    """Fields by name, in any order, some left out behind `..`; a name alone binds itself."""
    assert draw in (always, some_pattern)
    if maker.types.structs.get(path, _NAMED).positional:
        inner_of = always if draw is always else some_pattern
        return _list(maker, path + "({})", [inner_of(maker, kind, depth - 1) for _, kind in fields])
    chosen = [field for field in fields if maker.chance(0.75)]
    maker.random.shuffle(chosen)
    written, names = [], []
    for name, kind in chosen:
        inner, bound = (always if draw is always else some_pattern)(maker, kind, depth - 1)
        written.append(f"{name}: {inner}")
        names += bound
    rest = "" if len(chosen) == len(fields) and maker.chance(0.6) else ".."
    return f"{path} {{ {', '.join([*written, *([rest] if rest else [])])} }}", names


def _all_forms(maker: Maker, kind: Kind) -> list[Shown]:
    """One pattern for each form that a value can have, empty where there is no such list."""
    if maker.chance(0.4):
        return []
    types = maker.types
    if kind.name in types.literals:
        return [(literal, []) for literal in types.literals[kind.name]]
    if kind.name in types.enums:
        found = []
        for name, parts, names in types.enums[kind.name].variants_of(kind):
            path = f"{kind.name}::{name}"
            if names:
                found.append(_fields(maker, path, list(zip(names, parts, strict=True)), 1, always))
            else:
                inner = [always(maker, part, 1) for part in parts]
                found.append(_list(maker, path + "({})", inner) if parts else (path, []))
        return found
    match kind:
        case Kind("Bool"):
            return [("true", []), ("false", [])]
        case Kind("Option", (item,)):
            return [_list(maker, "Some({})", [always(maker, item, 1)]), ("None", [])]
        case Kind("Result", (value, error)):
            return [
                _list(maker, "Ok({})", [always(maker, value, 1)]),
                _list(maker, "Err({})", [always(maker, error, 1)]),
            ]
        case Kind("Array", (item,)):
            first, last = always(maker, item, 1), always(maker, item, 1)
            rest = maker.fresh("r")
            longer = _list(maker, f"[{{}}, ..{rest}]", [first])
            return [
                ("[]", []),
                (longer[0], [*longer[1], Variable(rest, kind)]),
                _list(maker, "[.., {}]", [last]),
            ]
        case _:
            return []


def _list(maker: Maker, form: str, parts: list[Shown]) -> Shown:
    shown = ", ".join(part for part, _ in parts)
    if form == "({})" and len(parts) == 1:
        shown += ","
    return form.replace("{}", shown), [name for _, names in parts for name in names]


def _bound(maker: Maker, kind: Kind) -> Variable:
    return Variable(maker.name(pattern=True), kind, maker.chance(0.3))


def _written(variable: Variable) -> str:
    return f"mut {variable.name}" if variable.mutable else variable.name
