"""Statements in which one value goes by two names before one of them changes: closures that captured it,
folds, what is taken out of a place and put back, what is walked through while it changes, what is an Any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.properties.generating import leaves, statements
from tests.properties.generating.kinds import ANY, INT, Kind, array, map_of, option, pair, result
from tests.properties.generating.maker import Loop, Maker, Variable

_GROWTHS = {"Array": "concat", "Map": "merge", "Set": "union"}

_WALKED = ("Array", "Set", "Queue", "Stack")


def captured(maker: Maker) -> str | None:
    """A closure keeps what a variable, `self` included, held when it was made."""
    held = _held(maker)
    if held is None or maker.repeats():
        return None
    name, given = maker.fresh("f"), maker.fresh("p")
    with maker.body(leaves.frame_of(held.kind), [Variable(given, INT)], times=3):
        first = f"println({maker.value(INT)}); " if maker.chance(0.3) else ""
    made = f"let {name} = |{given}: Int| -> {held.kind} {{ {first}{held.name} }};"
    calls = [f"println({name}({maker.small(INT)}));" for _ in range(maker.random.choice((1, 2)))]
    return f"{made} {' '.join(_mixed(maker, [*calls, f'println({held.name});'], held))}"


def folded(maker: Maker) -> str | None:
    """`fold`, `reduce` or `map` with a closure that changes a copy of what it was given, or adds to it."""
    if maker.repeats():
        return None
    item, kind = maker.kind(), _collection(maker)
    if any(maker.types.holds(each, "fn", "T", "U", *maker.types.traits) for each in (kind, item)):
        return None
    walked, into = maker.small(array(item)), maker.fresh()
    start, comes = maker.drawn(kind)
    if not comes:
        return None
    before = _named(maker, kind)
    if before and maker.chance(0.6):
        start = maker.random.choice(before)
    gathered = Variable(maker.fresh("acc"), kind, True)
    given = Variable("it", item)
    with maker.body(leaves.frame_of(kind), [gathered, given], times=3):
        changes = _changes(maker, gathered)
        text = f"let mut {gathered.name} = {gathered.name}; {' '.join(changes)} {gathered.name}"
    iterated = maker.random.choice(("", ".iter()"))
    folding = f"|{gathered.name}: {kind}, it: {item}| -> {kind} {{ {text} }}"
    shown = "".join(f" println({name});" for name in before[:2])
    maker.scopes[-1].append(Variable(into, kind, True))
    return f"let mut {into} = {walked}{iterated}.fold({start}, {folding}); println({into});{shown}"


def put_back(maker: Maker) -> str | None:
    """A value leaves its place for a variable, changes there, and comes back, at times to another place."""
    if maker.repeats():
        return None
    times = 3 if maker.chance(0.4) else 1
    with maker.loop(Loop(None, None), times):
        found = maker.place(lambda kind: not maker.types.holds(kind, "fn", "Iterator"))
        if found is None:
            return None
        place, kind = found
        taken = Variable(maker.fresh("t"), kind, True)
        meanwhile = f"{place} = {maker.small(kind, True)};" if maker.chance(0.5) else ""
        with maker.scope([taken]):
            changes = _changes(maker, taken)
    back = f"{place} = {taken.name};" if maker.chance(0.7) else ""
    inside = [f"let mut {taken.name} = {place};", meanwhile, *changes, back, f"println({taken.name});"]
    return f"for _ in 0..{times} {{ {' '.join(inside)} println({place}); }}"


def walked_while_changed(maker: Maker) -> str | None:
    """`for` meets what was there when it began."""
    walkable = [v for v in maker.changeable() if v.kind.name in _WALKED]
    if not walkable or maker.repeats():
        return None
    chosen = maker.random.choice(walkable)
    if maker.types.holds(chosen.kind, "fn", "T", "U", "Iterator"):
        return None
    item = Variable("it", chosen.kind.arguments[0], True)
    with maker.loop(Loop(None, None), 3), maker.scope([item]):
        changes = [*_changes(maker, chosen), *(_changes(maker, item) if maker.chance(0.6) else ())]
        maker.random.shuffle(changes)
        # What grows while it is walked through ends because the walk does not see it.
        text = " ".join([*changes, "println(it);"])
    return f"for it in {chosen.name} {{ let mut it = it; {text} }} println({chosen.name});"


def seen_as_any(maker: Maker) -> str | None:
    """A variable of type Any that is given values of others, and these change."""
    held = _held(maker)
    if held is None or maker.types.holds(held.kind, *maker.types.traits):
        return None
    seen = maker.fresh("a")
    other = f"{seen} = {maker.value(ANY, True)};"
    parts = [f"println({seen});", other, f"println({held.name});"]
    if maker.chance(0.5):
        parts.append(f"if {maker.small(Kind('Bool'))} {{ {seen} = {held.name}; }}")
    if maker.chance(0.3):
        parts.append(f"let mut b{seen} = {seen}; {seen} = b{seen};")
    maker.scopes[-1].append(Variable(seen, ANY, True))
    text = f"let mut {seen}: Any = {held.name}; {' '.join(_mixed(maker, parts, held))}"
    return f"{text} println({seen});"


def put_into_any(maker: Maker) -> str | None:
    """A collection behind Any takes in what a variable holds, and this changes."""
    found = _declared(maker)
    if found is None:
        return None
    declaration, held = found
    name = maker.fresh("a")
    start, takes = maker.random.choice((
        ("[]", ("push({})", "insert(0, {})", "extend([{}])")),
        ("Queue::new()", ("enqueue({})",)), ("Stack::new()", ("push({})",)),
        ("{}", ('set("k", {})', 'insert("m", {})', 'merge({{"n": {}}})')),
    ))  # fmt: skip
    taken = [maker.random.choice(takes).format(held.name) for _ in range(maker.random.choice((1, 2)))]
    parts = [*(f"{name}.{each};" for each in taken), f"println({name});"]
    text = f"{declaration} let mut {name}: Any = {start}; {' '.join(_mixed(maker, parts, held))}"
    return f"{text} println({name}); println({held.name});"


def made_by_function_value(maker: Maker) -> str | None:
    """A constructor in a variable is called with what a variable holds, and this changes."""
    found = _declared(maker)
    if found is None:
        return None
    declaration, held = found
    made = [("Some", option(held.kind)), ("Ok", result(held.kind, INT)), ("Err", result(INT, held.kind))]
    if held.kind.name == "Array":
        made += [(f"{each}::from", Kind(each, held.kind.arguments)) for each in ("Queue", "Stack")]
    path, kind = maker.random.choice(made)
    function, name = maker.fresh("f"), maker.fresh()
    parts = [f"let mut {name} = {function}({held.name});", f"println({name});"]
    text = f"let {function}: fn({held.kind}) -> {kind} = {path}; {' '.join(_mixed(maker, parts, held))}"
    maker.scopes[-1].append(Variable(name, kind, True))
    return f"{declaration} {text} println({name}); println({held.name});"


def assigned_as_a_whole(maker: Maker) -> str | None:
    """A variable of which no part changes holds in turn what others have, which change."""
    held = _held(maker)
    if held is None or maker.repeats():
        return None
    name = maker.fresh("w")
    taken = Variable(maker.fresh("t"), held.kind, True)
    start = maker.small(held.kind) if maker.chance(0.4) else held.name
    with maker.loop(Loop(None, None), 3):
        with maker.scope([taken]):
            changes = " ".join(_changes(maker, taken))
        took = f"let mut {taken.name} = {name}; {changes} println({taken.name});"
        parts = [f"{name} = {held.name};", f"println({name});", *([took] if maker.chance(0.6) else [])]
        maker.random.shuffle(parts)
        inside = " ".join(_mixed(maker, parts, held) if maker.chance(0.5) else parts)
    return f"let mut {name}: {held.kind} = {start}; for _ in 0..3 {{ {inside} }} println({name});"


def lent(maker: Maker) -> str | None:
    """A closure that a library function calls gives what it gets or a part of that, and then either
    changes."""
    inner = _collection(maker)
    if maker.repeats() or maker.types.holds(inner, "fn", "T", "U", "Iterator", *maker.types.traits):
        return None
    item = maker.random.choice((inner, pair(inner, INT)))
    held, given = (
        Variable(maker.fresh(), array(item), True),
        Variable(maker.fresh("g"), item, maker.chance(0.3)),
    )
    part = given.name if item is inner else f"{given.name}.0"
    method, kind, gives, shown = maker.random.choice((
        ("map(", array(inner), inner, part), ("filter_map(", array(inner), option(inner), f"Some({part})"),
        ("flat_map(", array(inner), array(inner), f"[{part}]"), ("first().map(", option(inner), inner, part),
        ("last().and_then(", option(inner), option(inner), f"Some({part})"),
        (f"fold({maker.small(inner)}, ", inner, inner, part),
        ("fold([], ", array(inner), array(inner), f"acc.concat([{part}])"),
    ))  # fmt: skip
    with maker.body(leaves.frame_of(gives), [given], times=3):
        first = " ".join(_changes(maker, given)) if given.mutable else ""
    gathered = f"acc: {gives}, " if method.startswith("fold") else ""
    mutable = "mut " if given.mutable else ""
    closure = f"|{gathered}{mutable}{given.name}: {item}| -> {gives} {{ {first} {shown} }}"
    declaration = f"let mut {held.name}: {held.kind} = {maker.small(held.kind)};"
    got = Variable(maker.fresh(), kind, True)
    maker.scopes[-1] += [held, got]
    parts = [f"println({got.name});", *_changes(maker, got), f"println({held.name});"]
    text = f"let mut {got.name}: {kind} = {held.name}.{method}{closure});"
    return f"{declaration} {text} {' '.join(_mixed(maker, parts, held))} println({got.name});"


def _held(maker: Maker) -> Variable | None:
    """A variable that may change and can be shown."""
    found = [v for v in maker.changeable() if not maker.types.holds(v.kind, "fn", "T", "U", "Iterator")]
    return maker.random.choice(found) if found else None


def _declared(maker: Maker) -> tuple[str, Variable] | None:
    """A new variable with parts that can change, and its declaration."""
    kind = _collection(maker)
    if maker.repeats() or maker.types.holds(kind, "fn", "T", "U", "Iterator", *maker.types.traits):
        return None
    held = Variable(maker.fresh(), kind, True)
    declaration = f"let mut {held.name}: {kind} = {maker.small(kind)};"
    maker.scopes[-1].append(held)
    return declaration, held


def _mixed(maker: Maker, parts: list[str], changing: Variable) -> list[str]:
    """Statements in any order, with changes of a variable between them."""
    mixed = []
    for part in parts:
        mixed += [*_changes(maker, changing), part]
    return mixed


def _changes(maker: Maker, variable: Variable) -> list[str]:
    """Up to three changes of it, or of places in it; of `self`, of what it holds."""
    found = []
    for _ in range(maker.random.choice((1, 1, 2, 3))):
        if variable.kind.name in _GROWTHS and variable.name != "self" and maker.chance(0.2):
            added = maker.small(variable.kind)
            if variable.kind.name == "Array":  # Not twice as many in each of many rounds.
                added = f"{added}.take(2)"
            more = f"{variable.name}.{_GROWTHS[variable.kind.name]}({added})"
            found.append(f"{variable.name} = {more};")
            continue
        with _alone(maker, variable):
            form = maker.random.choice((statements.assign, statements.change, statements.change))
            if text := form(maker) or statements.assign(maker):
                found.append(text)
    return found


@contextmanager
def _alone(maker: Maker, variable: Variable) -> Iterator[None]:
    """Within it no other variable may change."""
    others = [other for other in maker.changeable() if other is not variable]
    for other in others:
        other.mutable = False
    yield
    for other in others:
        other.mutable = True


def _collection(maker: Maker) -> Kind:
    item = maker.kind()
    structs = [Kind(each.name) for each in maker.types.structs.values() if not each.generics]
    kinds = [array(item), array(array(INT)), map_of(Kind("String"), item), pair(array(item), INT),
             Kind("Set", (INT,)), Kind("Queue", (item,)), maker.kind(), *structs]  # fmt: skip
    return maker.random.choice(kinds)


def _named(maker: Maker, kind: Kind) -> list[str]:
    return [variable.name for variable in maker.visible() if variable.kind == kind]


FORMS = (
    captured, folded, put_back, walked_while_changed, seen_as_any, put_into_any, made_by_function_value,
    assigned_as_a_whole, lent,
)  # fmt: skip
