"""The forms of particular types: operators, literals, interpolation, closures, loops that give nil."""

from __future__ import annotations

import re

from tests.properties.generating import general, leaves, statements
from tests.properties.generating.general import branch_frame
from tests.properties.generating.kinds import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NIL,
    STRING,
    Kind,
    Types,
    array,
    option,
    read_kind,
    result,
    substitute,
)  # fmt: skip
from tests.properties.generating.maker import Form, Loop, Maker
from tests.properties.generating.patterns import always
from tests.properties.generating.walkers import ITERATORS

_HOLE = re.compile(r"\$([^$]+)\$")


def template(text: str) -> Form:
    """A form in which `$Int$` is an Int, `$At$` a position, `$X$` of a type drawn anew, `$Itself$` of the one
    asked for."""

    def form(maker: Maker, kind: Kind, known: bool) -> str:
        given = {"X": maker.kind(), "Itself": kind, "At": INT}

        def drawn(hole: re.Match[str]) -> str:
            if hole[1] == "At" and maker.chance(0.7):
                return maker.random.choice("001")
            return maker.value(substitute(read_kind(hole[1]), given))

        return _HOLE.sub(drawn, text)

    return form


def equality(maker: Maker, kind: Kind, known: bool) -> str | None:
    compared = maker.kind()
    if maker.types.holds(compared, "fn", "T", "U"):
        return None
    return f"({maker.value(compared)} {maker.random.choice(('==', '!='))} {maker.value(compared)})"


def with_itself(maker: Maker, kind: Kind, known: bool) -> str | None:
    """Whether one and the same value equals itself: one that holds a NaN does not."""
    compared = maker.kind()
    value, comes = maker.drawn(compared)
    if not comes or maker.types.holds(compared, "fn", "T", "U"):
        return None
    name = maker.fresh("w")
    test = maker.random.choice(("{0} == {0}", "{0} != {0}", "[{0}] == [{0}]", "Some({0}) == Some({0})",
                                "[{0}].contains({0})", "({0}, 1) == ({0}, 1)"))  # fmt: skip
    return f"(match {value} {{ {name} => {test.format(name)} }})"


def order(maker: Maker, kind: Kind, known: bool) -> str:
    left, right = maker.random.choice(
        ((INT, INT), (INT, INT), (STRING, STRING), (FLOAT, INT), (FLOAT, FLOAT))
    )
    return f"({maker.value(left)} {maker.random.choice(('<', '<=', '>', '>='))} {maker.value(right)})"


def whole_numbers(maker: Maker, kind: Kind, known: bool) -> str:
    operator = maker.random.choice(("+", "+", "-", "-", "*", "/", "%"))
    return f"({maker.value(INT)} {operator} {maker.value(INT)})"


def bits(maker: Maker, kind: Kind, known: bool) -> str:
    if maker.chance(0.5):
        return f"({maker.value(INT)} {maker.random.choice('&|^')} {maker.value(INT)})"
    count = maker.random.choice(("0", "1", "2", "31", "63")) if maker.chance(0.8) else maker.value(INT)
    return f"({maker.value(INT)} {maker.random.choice(('<<', '>>'))} {count})"


def numbers(maker: Maker, kind: Kind, known: bool) -> str:
    left, right = maker.random.choice(((FLOAT, FLOAT), (FLOAT, FLOAT), (FLOAT, INT), (INT, FLOAT)))
    return f"({maker.value(left)} {maker.random.choice('+-*/%')} {maker.value(right)})"


def interpolation(maker: Maker, kind: Kind, known: bool) -> str:
    parts = ""
    for _ in range(maker.random.choice((1, 1, 2))):
        formatted = maker.chance(0.2)
        told = maker.random.choice(tuple(_FORMATS)) if formatted else _told(maker)
        form = maker.random.choice(_FORMATS[told]) if formatted else ""
        parts += maker.random.choice(("", "", "x", "é ", "%s", "{}")) + f"${{{maker.value(told)}{form}}}"
    return f'"{parts}"' if maker.weight == 1 and maker.chance(0.3) else f'cut("{parts}")'


_FORMATS = {
    INT: (":>4", ":*^7", ":04", ":+,", ":b", ":#x", ":.1f", ":.1%"),
    FLOAT: (":.2", ":>9", ":,.1", ":e", ":+g", ":08.3", ":<6.0%"),
    STRING: (":>6", ":é^5", ":.2", ":<8.3s"),
}


def _told(maker: Maker) -> Kind:
    """Nil has no place in a text where it is known to be no value."""
    kind = maker.kind()
    return INT if kind == NIL else kind


def typed_array(maker: Maker, kind: Kind, known: bool) -> str:
    items = [maker.value(kind.arguments[0], known) for _ in range(maker.random.choice((1, 2, 2, 3)))]
    return f"[{', '.join(items)}]"


def parallel(maker: Maker, kind: Kind, known: bool) -> str | None:
    if not maker.waits or maker.repeats():
        return None
    jumps = maker.jumps
    iterable, item = statements.walkable(maker)
    shown, names = always(maker, item)
    names = names if jumps == maker.jumps else []
    limit = f", limit: {maker.value(INT)}" if maker.chance(0.3) else ""
    with maker.body(branch_frame(maker), times=3):
        inside = statements.block(maker, kind.arguments[0], False, names)
    return f"(parallel for {shown} in {iterable}{limit} {inside})"


def typed_map(maker: Maker, kind: Kind, known: bool) -> str:
    keys = dict.fromkeys(leaves.key(maker, kind.arguments[0]) for _ in range(2))
    entries = [(key, maker.value(kind.arguments[1], known)) for key in keys]
    return leaves.map_of_entries(entries, kind, known)


def tuple_literal(maker: Maker, kind: Kind, known: bool) -> str:
    return leaves.written_tuple([maker.value(item, known) for item in kind.arguments])


def waited_for(maker: Maker, kind: Kind, known: bool) -> str | None:
    if len(kind.arguments) < 2 or not maker.waits:
        return None
    with maker.body(branch_frame(maker)):
        items = [maker.value(item) for item in kind.arguments]
    return f"(await {leaves.written_tuple(items)})"


def some_value(maker: Maker, kind: Kind, known: bool) -> str:
    """An Option may be a plain value where one is expected."""
    inner = kind.arguments[0]
    if known and inner.name not in ("Option", "Any", "Nil", *maker.types.traits) and maker.chance(0.3):
        return maker.value(inner, True)
    return f"Some({maker.value(inner)})"


def outcome(maker: Maker, kind: Kind, known: bool) -> str:
    value, error = kind.arguments
    text = f"Err({maker.value(error)})" if maker.chance(0.3) else f"Ok({maker.value(value)})"
    return leaves.exact(text, kind, known)


def struct_literal(maker: Maker, kind: Kind, known: bool) -> str:
    return leaves.struct(maker, kind, known, small=False)


def updated(maker: Maker, kind: Kind, known: bool) -> str | None:
    fields = maker.types.structs[kind.name].fields_of(kind)
    chosen = maker.random.sample(fields, maker.random.randint(0, len(fields)))
    inits = "".join(f"{name}: {maker.value(part)}, " for name, part in chosen)
    return f"({kind.name} {{ {inits}..{maker.value(kind)} }})"


def variant(maker: Maker, kind: Kind, known: bool) -> str:
    return leaves.variant(maker, kind, known, small=False)


def trait_value(maker: Maker, kind: Kind, known: bool) -> str:
    return leaves.trait_value(maker, kind, known, small=False)


def closure(maker: Maker, kind: Kind, known: bool) -> str:
    return leaves.closure(maker, kind, known, small=False)


def anything(maker: Maker, kind: Kind, known: bool) -> str:
    inner = maker.kind()
    if maker.types.holds(inner, "T", "U"):
        inner = INT
    return maker.value(inner) if known and maker.chance(0.5) else f"any({maker.value(inner)})"


def of_any(maker: Maker, kind: Kind, known: bool) -> str:
    """What an Any holds is looked at when it is used."""
    inner = maker.random.choice((INT, FLOAT, STRING))
    operator = maker.random.choice(
        ("+", "<", "==") if inner == STRING else ("+", "-", "*", "/", "%", "<", "==")
    )
    text = f"(any({maker.value(inner)}) {operator} {maker.value(inner)})"
    return f"any({text})"


def taken_out(maker: Maker, kind: Kind, known: bool) -> str | None:
    """`?` on what may be a Result, an Option or neither."""
    if ANY not in maker.frame.thrown:
        return None
    inner = maker.random.choice((maker.kind(), option(maker.kind()), result(maker.kind())))
    return None if maker.types.holds(inner, "T", "U") else f"any(any({maker.value(inner)})?)"


def changed_late(maker: Maker, kind: Kind, known: bool) -> str | None:
    """Changes inside of what is seen as an Any."""
    item = maker.kind()
    if maker.types.holds(item, "fn", "T", "U"):
        return None
    name, index = maker.fresh("w"), maker.random.choice("001")
    structs = [each for each in maker.types.structs.values() if not each.generics and not each.positional]
    if structs and maker.chance(0.5):
        declared = maker.random.choice(structs)
        field, item = maker.random.choice(declared.fields)
        value, changes = maker.value(Kind(declared.name)), f"{name}.{field} = {maker.value(item)};"
    else:
        value, first, second = (maker.value(each) for each in (array(item), item, item))
        changes = f"{name}[{index}] = {first}; {name}.push({second});"
    return f"({{ let mut {name} = any({value}); {changes} println({name}); }})"


def assigned(maker: Maker, kind: Kind, known: bool) -> str | None:
    text = statements.assignment(maker)
    return None if text is None else f"({text})"


def repeated(maker: Maker, kind: Kind, known: bool) -> str | None:
    text = statements.walked(maker)
    return None if text is None else f"({text})"


def while_loop(maker: Maker, kind: Kind, known: bool) -> str | None:
    """As a value: the fuel is declared in a block around it."""
    text = statements.repeated(maker)
    return None if text is None else f"({{ {text} }})"


def printed(maker: Maker, kind: Kind, known: bool) -> str:
    return statements.show(maker).rstrip(";")


def once(maker: Maker, kind: Kind, known: bool) -> str | None:
    if maker.repeats():
        return None
    head = maker.value(BOOL)
    with maker.loop(Loop(None, None, False), 1), maker.scope():
        inside = statements.some(maker, 1)
    return f"(while {head} {{ {inside[0]} break; }})"


def chosen(maker: Maker, kind: Kind, known: bool) -> str:
    return f"({statements.chosen(maker).rstrip(';')})"


def widened(maker: Maker, kind: Kind, known: bool) -> str | None:
    """An Int is a Float where one is expected."""
    return maker.value(INT) if known else None


_INTS = [
    whole_numbers, whole_numbers, whole_numbers, bits, template("(!$Int$)"), template("(-$Int$)"),
    template("$Array<X>$.len()"), template("($Float$ as Int)"), template("($Int$ ** $Int$)"),
    template("(any($Int$) as Int)"), template("$String$.len()"), template("$Range$.len()"),
]  # fmt: skip
_FLOATS = [
    numbers, numbers, widened, template("($Int$ as Float)"), template("(-$Float$)"),
    template("($Float$ ** $Int$)"),
    template("($Float$ / 0.0)"), template("$Int$.to_float()"),
]  # fmt: skip
_STRINGS = [
    interpolation, interpolation, template("cut($String$ + $String$)"), template("$String$[$At$]"),
    template("$String$[$At$..$At$]"), template("typeof($X$)"), template("to_string($X$)"),
    template("the<String>($X$.to_string())"), template("$Nil$.to_string()"),
]  # fmt: skip
_BOOLS = [
    equality, equality, with_itself, order, order, template("($Bool$ && $Bool$)"),
    template("($Bool$ || $Bool$)"), template("(!$Bool$)"),
]  # fmt: skip
_RANGES = [
    template("($Int$..$Int$)"), template("($Int$..=$Int$)"), template("$Range$.step_by($Int$)"),
]  # fmt: skip
_ARRAYS = [
    typed_array, typed_array, parallel, template("$Itself$[$At$..]"), template("$Itself$[..$At$]"),
    template("$Itself$[..=$At$]"), template("$Itself$[$At$..$At$]"), template("$Itself$[..]"),
]  # fmt: skip


def special_forms(types: Types) -> dict[str, list[Form]]:
    """The forms by the name of the type."""
    forms: dict[str, list[Form]] = {
        "Int": _INTS, "Float": _FLOATS, "String": _STRINGS, "Bool": _BOOLS, "Range": _RANGES,
        "Nil": [assigned, assigned, repeated, while_loop, once, printed, chosen, changed_late],
        "Any": [anything, anything, of_any, taken_out, taken_out, general.found_late, general.found_late],
        "Array": _ARRAYS, "Map": [typed_map], "fn": [closure],
        "(": [tuple_literal, tuple_literal, waited_for],
        "Option": [some_value], "Result": [outcome], "Iterator": [*ITERATORS, general.method, general.method],
    }  # fmt: skip
    for name, struct in types.structs.items():
        forms[name] = [struct_literal] if struct.positional else [struct_literal, updated]
    for name in types.enums:
        forms[name] = [variant]
    return forms
