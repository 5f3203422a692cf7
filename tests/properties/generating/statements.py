"""Statements, and the blocks that they stand in."""

from __future__ import annotations

from collections.abc import Callable

from tests.properties.generating import general, handles, items, sharing
from tests.properties.generating.kinds import (
    ANY,
    BOOL,
    ERRORS,
    FLOAT,
    INT,
    NIL,
    STRING,
    Kind,
    array,
    map_of,
    pair,
)  # fmt: skip
from tests.properties.generating.library import library_methods
from tests.properties.generating.maker import Loop, Maker, Variable
from tests.properties.generating.patterns import always, some_pattern


def block(maker: Maker, kind: Kind, known: bool, names: list[Variable] | None = None) -> str:
    """One that gives Nil may be empty, drop its last value, or be without one."""
    with maker.scope(names), maker.scope():
        if kind == NIL and maker.chance(0.15):
            return "{}"
        inside = some(maker, maker.random.choice((0, 0, 1, 1, 2)))
        if maker.chance(0.06) and (left := general.leave(maker)):
            return f"{{ {' '.join(inside)} {left}{maker.random.choice(('', ';'))} }}"
        if kind == NIL and maker.chance(0.5):
            inside.append(dropped(maker))
            return f"{{ {' '.join(inside)} }}"
        return f"{{ {' '.join([*inside, maker.value(kind, known)])} }}"


def some(maker: Maker, count: int) -> list[str]:
    return [statement(maker) for _ in range(count)]


def statement(maker: Maker) -> str:
    for _ in range(4):
        text = maker.random.choice(_FORMS)(maker)
        if text is not None:
            return text
    return dropped(maker)


def few(maker: Maker, count: int) -> list[str]:
    """Of the kinds that small functions are made of."""
    texts = [maker.random.choice(_SMALL)(maker) for _ in range(count)]
    return [text for text in texts if text is not None]


def dropped(maker: Maker) -> str:
    """A value that nobody takes."""
    kind = maker.kind() if maker.chance(0.8) else NIL
    if maker.chance(0.4):
        form = maker.random.choice(
            (general.block, general.branch, general.matched, general.attempt, general.loop)
        )
        if text := form(maker, kind, False):
            # Without a semicolon the last one would be the value of its block.
            return f"{text[1:-1]};"
    return f"{maker.value(kind)};"


def guarded(maker: Maker) -> str:
    """What fails in it does not end everything."""
    with maker.catching((*ERRORS, ANY)), maker.scope():
        inside = some(maker, maker.random.choice((1, 1, 2)))
    return f"try {{ {' '.join(inside)} }} catch RuntimeError(e) {{ println(e.message); }} catch {{}}"


def let(maker: Maker) -> str:
    kind = maker.kind()
    text = maker.value(kind, True)
    variable = Variable(maker.name(), kind, maker.chance(0.6))
    maker.scopes[-1].append(variable)
    union = maker.types.literals.get(kind.name)
    shown = " | ".join(union) if union and maker.chance(0.5) else kind
    return f"let {'mut ' if variable.mutable else ''}{variable.name}: {shown} = {text};"


def untyped_let(maker: Maker) -> str:
    kind = maker.kind()
    text, comes = maker.drawn(kind)
    variable = Variable(maker.name() if comes else maker.fresh(), kind, maker.chance(0.6))
    if comes:
        maker.scopes[-1].append(variable)
    return f"let {'mut ' if variable.mutable else ''}{variable.name} = {text};"


def destructure(maker: Maker) -> str:
    structs = [Kind(struct.name) for struct in maker.types.structs.values() if not struct.generics]
    kind = maker.random.choice([pair(maker.kind(), maker.kind()), pair(maker.kind()), maker.kind(), *structs])
    text, comes = maker.drawn(kind)
    shown, names = always(maker, kind, 3)
    maker.scopes[-1] += names if comes else []
    return f"let {shown} = {text};"


def let_else(maker: Maker) -> str | None:
    """Leaves where the pattern does not match."""
    kind = maker.kind()
    text, comes = maker.drawn(kind)
    with maker.scope():
        inside = some(maker, maker.random.choice((0, 0, 1)))
        left = general.leave(maker)
    if left is None:
        return None
    shown, names = some_pattern(maker, kind)
    maker.scopes[-1] += names if comes else []
    return f"let {shown} = {text} else {{ {' '.join([*inside, left])}; }};"


def assigned_later(maker: Maker) -> str:
    """A variable without a value gets one on every path."""
    kind = maker.kind()
    name = maker.fresh("w")
    condition = maker.value(BOOL)
    ways = []
    for _ in range(2):
        with maker.scope():
            before = some(maker, maker.random.choice((0, 0, 1)))
            ways.append(f"{{ {' '.join([*before, f'{name} = {maker.value(kind, True)};'])} }}")
    maker.scopes[-1].append(Variable(name, kind, maker.chance(0.3)))
    mutable = "mut " if maker.scopes[-1][-1].mutable else ""
    return f"let {mutable}{name}: {kind}; if {condition} {ways[0]} else {ways[1]}"


def assign(maker: Maker) -> str | None:
    found = assignment(maker)
    return None if found is None else f"{found};"


def assignment(maker: Maker) -> str | None:
    own = [c for c in maker.operators if c.parameters[1:] and c.parameters[0] == c.result]
    if own and maker.chance(0.3):
        chosen = maker.random.choice(own)
        place = maker.place(lambda kind: kind == chosen.result)
        if place is not None and maker.affordable(chosen):
            maker.pay(chosen)
            return f"{place[0]} {chosen.name}= {maker.value(chosen.parameters[1])}"
    if maker.chance(0.5):
        kind = maker.random.choice((INT, INT, FLOAT, STRING))
        place = maker.place(lambda other: other == kind)
        if place is not None:
            operator = "+=" if kind == STRING else maker.random.choice(("+=", "-=", "*=", "/=", "%="))
            if kind == INT and maker.chance(0.3):
                operator = maker.random.choice(("&=", "|=", "^=", "<<=", ">>="))
            value = f"cut({maker.value(STRING)})" if kind == STRING else maker.value(kind)
            if kind == STRING and maker.weight > 1:
                return f"{place[0]} = cut({place[0]} + {value})"
            return f"{place[0]} {operator} {value}"
    place = maker.place(lambda _: True)
    if place is None:
        return None
    return f"{place[0]} = {maker.value(place[1], True)}"


def change(maker: Maker) -> str | None:
    """A method that changes what it is called on."""
    place = maker.place(lambda kind: kind.name in _CHANGING)
    if place is None:
        return None
    owner = place[1]
    methods = [m for m in library_methods() if m.owner.name == owner.name and m.receiver == "mut self"]
    found = maker.random.choice(methods)
    given = {name: maker.kind() for name in found.free}
    given.update(zip((argument.name for argument in found.owner.arguments), owner.arguments, strict=True))
    text = general.library_call(maker, found, given)
    return None if text is None else f"{text};"


_CHANGING = ("Array", "Map", "Set", "Queue", "Stack")


def handle_change(maker: Maker) -> str | None:
    return handles.change(maker)


def own_change(maker: Maker) -> str | None:
    own = [callee for callee in maker.callees if callee.receiving == "mut self" and maker.affordable(callee)]
    if not own:
        return None
    text = general.called(maker, maker.random.choice(own))
    return None if text is None else f"println({text});"


def called_small(maker: Maker) -> str | None:
    """What a small function gives, taken apart, shown or kept."""
    small = [
        callee for callee in maker.callees if callee.name.startswith("small") and maker.affordable(callee)
    ]
    if not small:
        return None
    chosen = maker.random.choice(small)
    jumps = maker.jumps
    text = general.called(maker, chosen)
    if text is None or jumps != maker.jumps or maker.chance(0.3):
        return text and f"println({text});"
    shown, names = always(maker, chosen.result, 3)
    maker.scopes[-1] += names
    told = "".join(f" println({variable.name});" for variable in names if maker.chance(0.5))
    return f"let {shown} = {text};{told}"


def show(maker: Maker) -> str:
    """`println` takes any value, but items that are Any by their place alone have none in an array there,
    and what a closure is given is Any."""
    kind = maker.kind()
    known = not maker.types.holds(kind, "Any", "fn")
    return f"println({maker.value(kind, known)});"


def chosen(maker: Maker) -> str:
    """`if` without a value, with or without `else`."""
    head, names = general.condition(maker)
    text = f"if {head} {block(maker, NIL, True, names)}"
    if maker.chance(0.5):
        text += f" else {block(maker, NIL, True)}"
    return text + maker.random.choice(("", ";"))


def repeated(maker: Maker) -> str | None:
    """`while` and `while let` with any condition: fuel ends it."""
    if maker.repeats():
        return None
    fuel = maker.fresh("n")
    label = maker.fresh("l") if maker.chance(0.3) else None
    with maker.loop(Loop(None, None), 3):
        # No jump may leave the condition.
        maker.frame.loops.pop()
        head, names = general.condition(maker)
        maker.frame.loops.append(Loop(label, None))
        inside = block(maker, NIL, True, names)
    stop = f"if {fuel} == 0 {{ break; }} {fuel} -= 1;"
    return f"let mut {fuel} = 2; {_label(label)}while {head} {{ {stop} {inside} }}"


def walked(maker: Maker) -> str | None:
    if maker.repeats():
        return None
    jumps = maker.jumps
    iterable, item = walkable(maker)
    shown, names = always(maker, item)
    names = names if jumps == maker.jumps else []
    label = maker.fresh("l") if maker.chance(0.3) else None
    with maker.loop(Loop(label, None), 3):
        inside = block(maker, NIL, True, names)
    return f"{_label(label)}for {shown} in {iterable} {inside}"


def walkable(maker: Maker) -> tuple[str, Kind]:
    """What `for` can walk through, and what it meets there."""
    item = maker.kind()
    own = [name for name in maker.types.walkers if Kind(name) in maker.kinds]
    if own and maker.chance(0.3):
        chosen = Kind(maker.random.choice(own))
        return maker.value(chosen), maker.types.walkers[chosen.name]
    match maker.random.randrange(10):
        case 0:
            return (
                maker.random.choice("012") + maker.random.choice(("..", "..=")) + maker.random.choice("0123"),
                INT,
            )
        case 1:
            return f"short({maker.value(Kind('Range'))})", INT
        case 2:
            return maker.value(map_of(STRING, item)), pair(STRING, item)
        case 3:
            return maker.value(STRING), STRING
        case 4:
            name = maker.random.choice(("Queue", "Stack"))
            return maker.value(Kind(name, (item,))), item
        case 5:
            return maker.value(Kind("Set", (INT,))), INT
        case 6:
            return f"any({maker.value(array(INT))})", ANY
        # A stream might break: that is an error of its own, which not every `try` takes.
        case 7 if not maker.frame.thrown or ERRORS[-1] in maker.frame.thrown:
            return maker.value(Kind("Iterator", (item,))), item
        case _:
            walked = [v.kind.arguments[0] for v in maker.visible() if v.kind.name == "Array"]
            item = maker.random.choice(walked) if walked and maker.chance(0.6) else item
            return maker.value(array(item)), item


def _label(label: str | None) -> str:
    return f"'{label}: " if label else ""


def leave(maker: Maker) -> str | None:
    left = general.leave(maker)
    if left is None:
        return None
    if maker.chance(0.1):
        return f"{left};"
    return f"if {maker.value(BOOL)} {{ {left}; }}"


def shared(maker: Maker) -> str | None:
    return maker.random.choice(sharing.FORMS)(maker)


def declaration(maker: Maker) -> str | None:
    return items.local_item(maker)


_FORMS: list[Callable[[Maker], str | None]] = [
    guarded, guarded, guarded, show, let_else,
    let, let, untyped_let, untyped_let, destructure, assigned_later, assign, assign, assign,
    change, change, handle_change,
    own_change, called_small, called_small, called_small, shared, shared, shared, show, show, chosen, chosen,
    repeated, walked, walked, leave,
    declaration, dropped,
]  # fmt: skip
_SMALL: list[Callable[[Maker], str | None]] = [
    let, untyped_let, destructure, let_else, leave, assign, chosen, called_small,
]  # fmt: skip
