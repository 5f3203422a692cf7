"""The smallest expressions of a type: variables and literals."""

from __future__ import annotations

from tests.properties.generating.kinds import ANY, BOOL, FLOAT, INT, NIL, RANGE, STRING, Kind
from tests.properties.generating.maker import Frame, Maker, Variable
from tests.properties.generating.patterns import always

_INTS = ("0", "0", "1", "1", "2", "3", "7", "-1", "-3", "0x10", "1_000")
_LARGE = ("9223372036854775807", "-9223372036854775808", "9223372036854775806", "4611686018427387904",
          "3037000500", "-4611686018427387905", "9007199254740993")  # fmt: skip
_FLOATS = ("0.0", "1.0", "0.5", "-2.25", "1e10", "3.0", "-0.0", "2.5", "1e308", "9007199254740992.0", "0.1")
_NO_NUMBERS = ("(0.0 / 0.0)", "(0.0 / 0.0)", "(1.0 / 0.0)")
_STRINGS = ('""', '"a"', '"bc"', '"é😀"', '"<k1>"', "'q'", '"12"', '"a b"', 'r"\\x"', '"\\u{1F600}\\n\\"z"',
            '"%s{0}"', '"ß"')  # fmt: skip
_KEYS = {INT: ("0", "1", "2"), STRING: ('"a"', '"b"', '"c"'), BOOL: ("true", "false")}


def leaf(maker: Maker, kind: Kind, known: bool = False) -> str:
    readable = readable_parts(maker, kind)
    if readable and maker.chance(0.75):
        return readable[-1] if maker.chance(0.3) else maker.random.choice(readable)
    return literal(maker, kind, known)


def readable_parts(maker: Maker, kind: Kind) -> list[str]:
    """Variables of the type, and parts of variables that are there for certain."""
    found = [const.name for const in maker.consts if const.kind == kind and maker.chance(0.3)]
    for variable in maker.visible():
        if variable.kind == kind:
            found.append(variable.name)
        elif struct := maker.types.structs.get(variable.kind.name):
            fields = struct.fields_of(variable.kind)
            found += [f"{variable.name}.{name}" for name, part in fields if part == kind]
        elif maker.types.walkers.get(variable.kind.name) == kind:
            found.append(f"{variable.name}.held")
        elif variable.kind.name == "(":
            parts = variable.kind.arguments
            found += [f"{variable.name}.{index}" for index, part in enumerate(parts) if part == kind]
    return found


def literal(maker: Maker, kind: Kind, known: bool = False) -> str:
    if kind in _PLAIN:
        return plain(maker, kind)
    if kind == ANY:
        inner = maker.small(maker.random.choice((INT, STRING, FLOAT, BOOL, NIL)))
        return inner if known else f"any({inner})"
    if kind.name in maker.types.literals:
        chosen = maker.random.choice(maker.types.literals[kind.name])
        return exact(f"({chosen})" if known and chosen.startswith("-") else chosen, kind, known)
    if kind.name in maker.types.structs:
        return struct(maker, kind, known)
    if kind.name in maker.types.enums:
        return variant(maker, kind, known)
    if kind.name in maker.types.traits:
        return trait_value(maker, kind, known)
    if kind.name in maker.types.walkers:
        held = maker.small(maker.types.walkers[kind.name], True)
        return f"({kind.name} {{ left: {maker.random.choice('012')}, held: {held} }})"
    if kind.name == "fn":
        return closure(maker, kind)
    if kind.name == "(":
        return written_tuple([maker.small(item, known) for item in kind.arguments])
    return built(maker, kind, known)


_PLAIN = (INT, FLOAT, STRING, BOOL, NIL, RANGE)


def plain(maker: Maker, kind: Kind) -> str:
    choose = maker.random.choice
    match kind.name:
        case "Int":
            text = choose(_LARGE if maker.chance(0.04) else _INTS)
        case "Float":
            text = choose(_NO_NUMBERS if maker.chance(0.05) else _FLOATS)
        case "String":
            return choose(_STRINGS)
        case "Bool":
            return choose(("true", "false"))
        case "Nil":
            return "nil"
        case _:
            return f"({choose('012')}{choose(('..', '..='))}{choose('1234')})"
    return f"({text})" if text.startswith("-") else text


def key(maker: Maker, kind: Kind) -> str:
    return maker.random.choice(_KEYS[kind]) if kind in _KEYS else maker.small(kind)


def built(maker: Maker, kind: Kind, known: bool) -> str:
    """A collection, an Option or a Result; at times empty, which must be told its type."""
    inside, empty = kind.arguments[0] if kind.arguments else NIL, maker.chance(0.25)
    match kind.name:
        case "Array":
            count = 0 if empty else maker.random.choice((1, 2, 2, 3))
            text = f"[{', '.join(maker.small(inside, known) for _ in range(count))}]"
            return text if count else exact(text, kind, known)
        case "Map":
            keys = [] if empty else list(dict.fromkeys(key(maker, inside) for _ in range(2)))
            entries = [(name, maker.small(kind.arguments[1], known)) for name in keys]
            return map_of_entries(entries, kind, known) if keys else exact("({})", kind, known)
        case "Option":
            return exact("None", kind, known) if empty else f"Some({maker.small(inside, known)})"
        case "Result":
            failed = maker.chance(0.3)
            text = (
                f"Err({maker.small(kind.arguments[1], known)})"
                if failed
                else f"Ok({maker.small(inside, known)})"
            )
            return exact(text, kind, known)
        case "Iterator":
            return f"{maker.small(Kind('Array', kind.arguments))}.iter()"
        case "Set" | "Queue" | "Stack":
            items = ", ".join(maker.small(inside) for _ in range(0 if empty else 2))
            return exact(f"{kind.name}::from([{items}])" if items else f"{kind.name}::new()", kind, known)
        case "RuntimeError" | "AgentError":
            return f"{kind.name}::new({maker.small(STRING, True)})"
        case _:
            variables = [variable.name for variable in maker.visible() if variable.kind == kind]
            assert variables, f"nothing is of type {kind}"
            return maker.random.choice(variables)


def map_of_entries(entries: list[tuple[str, str]], kind: Kind, known: bool) -> str:
    """A literal, whose keys are literals too, or collected from pairs."""
    if kind.arguments[0] in _KEYS:
        return f"({{{', '.join(f'{key}: {value}' for key, value in entries)}}})"
    pairs = ", ".join(f"({key}, {value})" for key, value in entries)
    return f"the<{kind}>(the<Array<{Kind('(', kind.arguments)}>>([{pairs}]).collect())"


def exact(text: str, kind: Kind, known: bool) -> str:
    """An expression that does not show its type, where nothing else does."""
    return text if known else f"the<{kind}>({text})"


def struct(maker: Maker, kind: Kind, known: bool, small: bool = True) -> str:
    declared = maker.types.structs[kind.name]
    draw = maker.small if small else maker.value
    fields = declared.fields_of(kind)
    if declared.positional:
        values = [draw(part, known or not declared.generics) for _, part in fields]
        return exact(f"{kind.name}({', '.join(values)})", kind, known or not declared.generics)
    maker.random.shuffle(fields)
    inits = []
    for name, part in fields:
        if name in declared.defaults and maker.chance(0.4):
            continue
        shown = known or not declared.generics
        inits.append(name if (name, part) in _named(maker) else f"{name}: {draw(part, shown)}")
    return exact(f"({kind.name} {{ {', '.join(inits)} }})", kind, known or not declared.generics)


def _named(maker: Maker) -> set[tuple[str, Kind]]:
    return {(variable.name, variable.kind) for variable in maker.visible()}


def variant(maker: Maker, kind: Kind, known: bool, small: bool = True) -> str:
    declared = maker.types.enums[kind.name]
    draw = maker.small if small else maker.value
    shown = known or not declared.generics
    name, parts, names = maker.random.choice(declared.variants_of(kind))
    values = [draw(part, shown) for part in parts]
    if names:
        inits = ", ".join(f"{field}: {value}" for field, value in zip(names, values, strict=True))
        text = f"({kind.name}::{name} {{ {inits} }})"
    else:
        text = f"{kind.name}::{name}({', '.join(values)})" if parts else f"{kind.name}::{name}"
    return exact(text, kind, shown)


def trait_value(maker: Maker, kind: Kind, known: bool, small: bool = True) -> str:
    """A value of any type that has the trait."""
    owner = maker.random.choice(maker.types.traits[kind.name])
    return exact(maker.small(owner) if small else maker.value(owner), kind, known)


def closure(maker: Maker, kind: Kind, known: bool = False, small: bool = True) -> str:
    """Its types are written, or left out where the place knows them; then its value must show its own."""
    *parameters, result = kind.arguments
    typed = not known or maker.chance(0.5)
    inner, written = [], []
    for parameter in parameters:
        shown, names = always(maker, parameter) if maker.chance(0.15) else ("|", [])
        if "|" in shown:
            names = [Variable(maker.fresh("p"), parameter)]
            shown = names[0].name
        inner += names
        written.append(f"{shown}: {parameter}" if typed else shown)
    frame = frame_of(result) if typed else Frame()
    before = ""
    with maker.body(frame, inner, times=3):
        if not small and maker.chance(0.25):
            before = _first(maker)
        body = before + (maker.small(result, typed) if small else maker.value(result, typed))
    shown = ", ".join(written)
    if typed:
        return f"(|{shown}| -> {result} {{ {body} }})"
    return f"(|{shown}| {{ {body} }})" if before else f"(|{shown}| {body})"


def _first(maker: Maker) -> str:
    """A variable for what comes after it."""
    kind = maker.kind()
    value, comes = maker.drawn(kind)
    name = maker.fresh("c")
    maker.scopes[-1] += [Variable(name, kind)] if comes else []
    return f"let {name} = {value}; "


def frame_of(result: Kind) -> Frame:
    """A body that returns values of the type: what may leave it early."""
    thrown = (result.arguments[1],) if result.name == "Result" else ()
    return Frame(result, thrown=thrown, missing=result.name == "Option")


def written_tuple(items: list[str]) -> str:
    return f"({', '.join(items)}{',' * (len(items) == 1)})"
