"""Expressions of any type: what has branches, jumps, calls, waits, or takes a value apart."""

from __future__ import annotations

from dataclasses import replace

from tests.properties.generating import leaves, statements
from tests.properties.generating.kinds import (
    ANY,
    BOOL,
    ERRORS,
    INT,
    NIL,
    STRING,
    Kind,
    array,
    function,
    map_of,
    option,
    pair,
    result,
    substitute,
    unify,
)  # fmt: skip
from tests.properties.generating.library import COUNTING, GROWING, Method, library_methods
from tests.properties.generating.maker import Callee, Form, Frame, Loop, Maker, Variable
from tests.properties.generating.patterns import cases, some_pattern


def variable(maker: Maker, kind: Kind, known: bool) -> str:
    return leaves.leaf(maker, kind, known)


def block(maker: Maker, kind: Kind, known: bool) -> str:
    text = statements.block(maker, kind, known)
    # In parentheses it would be an empty map.
    return "({ nil })" if text == "{}" else f"({text})"


def branch(maker: Maker, kind: Kind, known: bool) -> str:
    """`if` with one or two conditions, each of either sort."""
    text = ""
    for _ in range(1 if maker.chance(0.8) else 2):
        head, names = condition(maker)
        text += f"if {head} {statements.block(maker, kind, known, names)} else "
    return f"({text}{statements.block(maker, kind, known)})"


def condition(maker: Maker) -> tuple[str, list[Variable]]:
    """Of `if` and `while`: a Bool, a `let`, or a chain of them, each with the names of those before it."""
    parts: list[str] = []
    names: list[Variable] = []
    for _ in range(1 if maker.chance(0.75) else maker.random.choice((2, 2, 3))):
        with maker.scope(names):
            if maker.chance(0.6):
                parts.append(maker.value(BOOL))
                continue
            subject = maker.kind()
            shown, bound = some_pattern(maker, subject)
            value, comes = maker.drawn(subject)
        parts.append(f"let {shown} = {value}")
        names = [*names, *(bound if comes else [])]
    return " && ".join(parts), names


def matched(maker: Maker, kind: Kind, known: bool) -> str:
    subject = maker.kind()
    value, comes = maker.drawn(subject)
    arms = []
    for shown, bound, guarded in cases(maker, subject):
        names = bound if comes else []
        with maker.scope(names):
            guard = f" if {maker.value(BOOL)}" if guarded else ""
        if maker.chance(0.5):
            arms.append(f"{shown}{guard} => {statements.block(maker, kind, known, names)}")
        else:
            with maker.scope(names):
                arms.append(f"{shown}{guard} => {maker.value(kind, known)},")
    return f"(match {value} {{ {' '.join(arms)} }})"


def attempt(maker: Maker, kind: Kind, known: bool) -> str:
    """The last `catch` takes all, unless errors may leave the body around."""
    caught = maker.random.sample(ERRORS, maker.random.randint(0, 2))
    through = STRING in maker.frame.thrown and STRING not in caught and maker.chance(0.3)
    errors = tuple(error for error in (STRING, *caught) if error in caught or through) if through else ERRORS
    with maker.catching(errors):
        text = f"try {statements.block(maker, kind, known)}"
    for error in caught:
        shown, names = "", []
        if maker.chance(0.8):
            names = [Variable(maker.fresh("e"), error)]
            shown = f"({names[0].name})"
        elif maker.chance(0.5):
            shown = "(_)"
        text += f" catch {error}{shown} {statements.block(maker, kind, known, names)}"
    if not through or not caught:
        text += f" catch {statements.block(maker, kind, known)}"
    return f"({text})"


def loop(maker: Maker, kind: Kind, known: bool) -> str | None:
    """Ends at the end of its body, or after some turns where that may not be reached."""
    if maker.repeats():
        return None
    label = maker.fresh("l") if maker.chance(0.4) else None
    fuel = maker.fresh("n") if maker.chance(0.3) else None
    with maker.loop(Loop(label, kind, fuel is not None), 2), maker.scope():
        inside = " ".join(statements.some(maker, 2))
        named = f" '{label}" if label and maker.chance(0.7) else ""
        jump = f"break{named} {maker.value(kind, known)};"
    head = f"'{label}: " if label else ""
    if fuel is None:
        return f"({head}loop {{ {inside} {jump} }})"
    stop = f"if {fuel} == 0 {{ break {maker.small(kind, known)}; }} {fuel} -= 1;"
    return f"({{ let mut {fuel} = 2; {head}loop {{ {stop} {inside} {jump} }} }})"


# --- Jumps: expressions of type Never -----------------------------------------------------------------


def jump(maker: Maker, kind: Kind, known: bool) -> str | None:
    """Leaves in the middle of an expression: where all the rest is waited for, mostly in a branch."""
    left = leave(maker) if maker.chance(0.6) else None
    if left is None:
        return None
    if maker.chance(0.4):
        return f"({left})"
    return f"(if {maker.value(BOOL)} {{ {left} }} else {{ {maker.value(kind, known)} }})"


def leave(maker: Maker) -> str | None:
    ways = []
    frame = maker.frame
    if frame.result is not None:
        ways += ["return"]
    counted = [loop for loop in frame.loops if loop.counted and (loop.label or loop is frame.loops[-1])]
    if frame.loops:
        ways += ["break"]
    if counted:
        ways += ["continue"]
    if frame.thrown:
        ways += ["throw"]
    if not ways:
        return None
    maker.jumps += 1
    match maker.random.choice(ways):
        case "return":
            assert frame.result is not None
            return "return" if frame.result == NIL else f"return {maker.value(frame.result, True)}"
        case "throw":
            if counted and maker.chance(0.1):
                return f"throw (continue{_label(maker, maker.random.choice(counted))})"
            return f"throw {maker.value(maker.random.choice(frame.thrown))}"
        case "continue":
            return "continue" + _label(maker, maker.random.choice(counted))
        case _:
            target = maker.random.choice(frame.loops)
            label = _label(maker, target)
            if not label:
                target = frame.loops[-1]
            return f"break{label}{'' if target.value is None else ' ' + maker.value(target.value)}"


def _label(maker: Maker, target: Loop) -> str:
    """`break` and `continue` without a label mean the innermost loop."""
    if target is maker.frame.loops[-1] and maker.chance(0.5):
        return ""
    return "" if target.label is None else f" '{target.label}"


# --- Parts ------------------------------------------------------------------------------------------------


def element(maker: Maker, kind: Kind, known: bool) -> str:
    """An element of an array or a map, mostly one that is there."""
    if maker.chance(0.7):
        index = maker.random.choice("00001") if maker.chance(0.75) else maker.value(INT)
        return f"{maker.value(array(kind))}[{index}]"
    key = maker.random.choice((STRING, INT, BOOL))
    index = leaves.key(maker, key) if maker.chance(0.7) else maker.value(key)
    return f"{maker.value(map_of(key, kind))}[{index}]"


def part(maker: Maker, kind: Kind, known: bool) -> str:
    """A field of a struct, or an item of a tuple by its number in either way."""
    holders = [
        (Kind(struct.name), name)
        for struct in maker.types.structs.values()
        if not struct.generics
        for name, type_ in struct.fields
        if type_ == kind
    ]
    if holders and maker.chance(0.6):
        holder, name = maker.random.choice(holders)
        return f"{maker.value(holder)}.{name}"
    if maker.chance(0.5):
        first = maker.kind()
        return f"{maker.value(pair(first, kind))}{maker.random.choice(('.1', '[1]'))}"
    return f"{maker.value(pair(kind, maker.kind()))}.0"


def cast(maker: Maker, kind: Kind, known: bool) -> str | None:
    if kind.name == "fn" or maker.types.holds(kind, "fn", "T", "U", *maker.types.traits):
        return None
    return f"(any({maker.value(kind)}) as {kind})"


def unwrapped(maker: Maker, kind: Kind, known: bool) -> str:
    """`a ?? b`, or an Option or a Result that says what it holds."""
    return f"({maker.value(option(kind))} ?? {maker.value(kind)})"


def passed_on(maker: Maker, kind: Kind, known: bool) -> str | None:
    """`e?`"""
    errors = [error for error in maker.frame.thrown if error.name not in ("RuntimeError", "AgentError")]
    errors += [source for error in maker.frame.thrown for source in maker.conversions.get(error, ())]
    if maker.frame.missing and maker.chance(0.6):
        passing = option(kind)
    elif errors:
        passing = result(kind, maker.random.choice(errors))
    else:
        return None
    text, comes = maker.drawn(passing)
    return f"({text})?" if comes else None


# --- Calls --------------------------------------------------------------------------------------------------


def call(maker: Maker, kind: Kind, known: bool) -> str | None:
    fitting = [callee for callee in maker.callees if callee.result == kind and maker.affordable(callee)]
    return called(maker, maker.random.choice(fitting)) if fitting else None


def own_operator(maker: Maker, kind: Kind, known: bool) -> str | None:
    fitting = [callee for callee in maker.operators if callee.result == kind and maker.affordable(callee)]
    if not fitting:
        return None
    chosen = maker.random.choice(fitting)
    maker.pay(chosen)
    first, *others = [maker.value(parameter) for parameter in chosen.parameters]
    return f"({first} {chosen.name} {others[0]})" if others else f"({chosen.name}{first})"


def called(maker: Maker, callee: Callee) -> str | None:
    maker.pay(callee)
    receiver, jumps = "", maker.jumps
    if callee.receiving == "mut self":
        place = maker.place(lambda kind: kind == callee.receiver)
        if place is None:
            return None
        receiver = f"{place[0]}."
    elif callee.receiver is not None and callee.receiving:
        receiver = f"{maker.value(callee.receiver)}."
    given = arguments(maker, callee)
    # What never comes has no type to see.
    return None if callee.generic and jumps != maker.jumps else f"{receiver}{callee.name}({given})"


def arguments(maker: Maker, callee: Callee) -> str:
    """Some of the last ones by name, in another order, or left out."""
    if callee.first:
        rest = arguments(maker, replace(callee, first="", names=()))
        return f"{callee.first}, {rest}" if rest else callee.first
    given = len(callee.parameters) - (maker.random.randint(0, callee.defaults))
    values = [maker.value(parameter, not callee.generic) for parameter in callee.parameters[:given]]
    if not callee.names or maker.chance(0.6):
        return ", ".join(values)
    plain = maker.random.randint(0, given)
    named = [f"{name}: {value}" for name, value in zip(callee.names, values, strict=False)][plain:]
    maker.random.shuffle(named)
    return ", ".join([*values[:plain], *named])


def generic(maker: Maker, kind: Kind, known: bool) -> str:
    """The functions of every program that take any type; `p` tells when it is called."""
    jumps = maker.jumps
    value = maker.value(kind)
    # What never comes has no type.
    shown = "" if jumps == maker.jumps and maker.chance(0.6) else f"<{kind}>"
    match maker.random.randrange(6):
        case 0 | 1 | 2:
            return f"p{shown}({value})"
        case 3:
            return f"either{shown}({maker.value(BOOL)}, {value}, {maker.value(kind)})"
        case 4:
            return f"twice{shown}({value}).{maker.random.choice('01')}"
        case _:
            return f"the<{kind}>({value})"


def closure_call(maker: Maker, kind: Kind, known: bool) -> str:
    """A closure, a variable that holds one, or whatever gives one, called at once."""
    parameters = [maker.kind() for _ in range(maker.random.choice((0, 1, 1, 2)))]
    made = leaves.closure(maker, Kind("fn", (*parameters, kind)), small=False)
    if maker.chance(0.4):
        whole, comes = maker.drawn(function(kind, kind))
        # What never comes cannot be called.
        made, parameters = (f"({whole})", [kind]) if comes else (made, parameters)
    holding = [v for v in maker.visible() if v.kind.name == "fn" and v.kind.arguments[-1] == kind]
    if holding and maker.chance(0.5):
        chosen = maker.random.choice(holding)
        made, parameters = chosen.name, list(chosen.kind.arguments[:-1])
    return f"{made}({', '.join(maker.value(parameter, True) for parameter in parameters)})"


def method(maker: Maker, kind: Kind, known: bool) -> str | None:
    """A method of the library that gives the type."""
    found = maker.random.choice(_methods_giving(kind.name))
    given: dict[str, Kind] = {}
    if not unify(found.result, kind, given, found.free):
        return None
    return library_call(maker, found, given)


def library_call(maker: Maker, found: Method, given: dict[str, Kind], handle: str = "") -> str | None:
    """A call of a method, on `handle` where that is what it is for."""
    owner = _owner(maker, found, given)
    if owner is None:
        return None
    if found.name == "collect" and found.result.name == "Array" and given["T"].name in _COLLECTED:
        return None  # These have methods of that name.
    if "K" in given and found.name in ("group_by", "collect") and given["K"] not in (INT, STRING, BOOL):
        return None
    jumps = maker.jumps
    if found.receiver == "mut self":
        place = maker.place(lambda kind: kind == owner)
        if place is None:
            return None
        receiver = place[0]
    elif found.receiver:
        receiver = handle or maker.value(owner)
    else:
        receiver = ""
    if found.name == "collect" and jumps != maker.jumps:
        return None  # What never comes says nothing of what it is collected into.
    jumps = maker.jumps
    values = [_argument(maker, found, parameter, given) for parameter, _ in found.parameters]
    if jumps != maker.jumps and any(parameter.name == "fn" for parameter, _ in found.parameters):
        return None  # A closure may have its types from what never comes.
    if found.parameters and found.parameters[-1][1] and maker.chance(0.3):
        values.pop()
    start = f"{receiver}.{found.name}" if receiver else f"{owner}::{found.name}"
    if found.own and maker.chance(0.3):
        start += f"<{', '.join(str(given[name]) for name in found.own)}>"
    text = f"{start}({', '.join(values)})"
    return f"cut({text})" if found.result == STRING and found.name in GROWING | COUNTING else text


def _owner(maker: Maker, found: Method, given: dict[str, Kind]) -> Kind | None:
    """The type that has the method, after drawing what is still free, if all can do what is asked of them."""
    for name in sorted(found.free - given.keys()):
        given[name] = maker.kind()
    if any(not _meets(maker, given[name], bound) for name, bound in found.bounds):
        return None
    if found.name in GROWING and maker.weight > 1 and maker.chance(0.7):
        return None
    owner = substitute(found.owner, given)
    has_key = owner.name != "Map" or _meets(maker, owner.arguments[0], "Hash")
    return owner if has_key else None


def found_late(maker: Maker, kind: Kind, known: bool) -> str | None:
    """A method of the library on what is seen as an Any."""
    found = maker.random.choice(library_methods() if kind == ANY else _methods_giving(kind.name))
    given: dict[str, Kind] = {}
    if kind != ANY and not unify(found.result, kind, given, found.free):
        return None
    owner = _owner(maker, found, given) if found.receiver == "self" else None
    if owner is None or "Iterator" in (owner.name, found.result.name):
        return None
    if any(maker.types.holds(part, "T", "U", *maker.types.traits) for part in (kind, *given.values())):
        return None
    receiver = maker.value(owner)
    values = [_argument(maker, found, part, given, typed=True) for part, _ in found.parameters]
    text = f"any(any({receiver}).{found.name}({', '.join(values)}))"
    return text if kind == ANY else f"({text} as {kind})"


_COLLECTED = ("Option", "Result", "(")


def _argument(
    maker: Maker, found: Method, declared: Kind, given: dict[str, Kind], typed: bool = False
) -> str:
    """A closure's types may be left out where the declaration says that there is one."""
    kind = substitute(declared, given)
    if kind == INT and found.name in COUNTING and maker.chance(0.9):
        return maker.random.choice(("0", "1", "2", "2", "3", "4", "(-1)", "p(1)"))
    if kind == INT and found.name in ("repeat", "pad_left", "pad_right"):
        return f"({maker.value(INT)} % 9)"
    if declared.name == "fn" and not typed and maker.chance(0.7):
        return leaves.closure(maker, kind, known=True, small=False)
    return maker.value(kind, False)


def _methods_giving(name: str) -> list[Method]:
    found = _GIVING.get(name)
    if found is None:
        methods = library_methods()
        found = [m for m in methods if m.result.name == name or m.result.name in m.free]
        # What gives this very type is rarer than what gives any.
        found += [m for m in found if m.result.name == name] * 3
        _GIVING[name] = found
    return found


_GIVING: dict[str, list[Method]] = {}


def _meets(maker: Maker, kind: Kind, bound: str) -> bool:
    names = {
        "Ord": ("Int", "Float", "String", "Bool"),
        "Number": ("Int", "Float"),
        "Hash": ("Int", "String", "Bool"),
    }
    if kind.name == "(" and bound != "Number":
        return all(_meets(maker, item, bound) for item in kind.arguments)
    return kind.name in names[bound] or (bound == "Ord" and kind.name in maker.types.ordered)


def pipe(maker: Maker, kind: Kind, known: bool) -> str | None:
    """Into a function, a call, a method or what a variable holds."""
    fitting = [
        c for c in maker.callees
        if c.result == kind and c.parameters and not c.receiving and maker.affordable(c)
        and not c.generic and not c.first
    ]  # fmt: skip
    if not fitting or maker.chance(0.3):
        name = maker.random.choice(
            ("p", "p()", f"the<{kind}>()", f"p<{kind}>()", f"the<{kind}>().await", "either", "?")
        )
        jumps = maker.jumps
        if name == "?" and STRING in maker.frame.thrown:
            return f"({maker.value(result(kind))} |> the<{result(kind)}>()?)"
        name = "p" if name == "?" else name
        if name == "either":
            text = f"({maker.value(BOOL)} |> either<{kind}>({maker.value(kind)}, {maker.value(kind)}))"
        else:
            text = f"({maker.value(kind)} |> {name})"
        return None if name in ("p", "p()") and jumps != maker.jumps else text
    callee = maker.random.choice(fitting)
    maker.pay(callee)
    rest = replace(callee, parameters=callee.parameters[1:], names=())
    rest = replace(rest, defaults=min(callee.defaults, len(rest.parameters)))
    shown = arguments(maker, rest)
    target = (
        f"{callee.name}({shown})"
        if rest.parameters or maker.chance(0.5) or "." in callee.name
        else callee.name
    )
    return f"({maker.value(callee.parameters[0])} |> {target})"


# --- Waiting -----------------------------------------------------------------------------------------------


def branch_frame(maker: Maker) -> Frame:
    """Errors pass through the branch of an `await (…)` to the body around."""
    return Frame(thrown=maker.frame.thrown)


def awaited(maker: Maker, kind: Kind, known: bool) -> str:
    """A plain value is ready."""
    text = task(maker, kind) if maker.waits and maker.chance(0.6) else maker.value(kind)
    if maker.chance(0.1) and (left := leave(maker)):
        text = f"({left})"
    # `await (a, b)` waits for both.
    return f"{text}.await" if maker.chance(0.5) or kind.name == "(" else f"(await {text})"


def task(maker: Maker, kind: Kind) -> str:
    """A task, at times by way of what gives back what it is given."""
    with maker.body(Frame()):
        text = f"(spawn {maker.value(kind)})"
    ways = (
        f"the({text})", f"({{ {text} }})", f"({text},).0", f"[{text}][0]", f"(match {text} {{ t => t }})",
        f"({{ let t = {text}; t }})", f"(loop {{ break {text}; }})",
        f"(|| -> Task<{kind}> {{ return {text}; }})()",
        f"(None ?? {text})",
    )  # fmt: skip
    return maker.random.choice(ways) if maker.chance(0.6) else text


def raced(maker: Maker, kind: Kind, known: bool) -> str | None:
    if not maker.waits:
        return None
    with maker.body(branch_frame(maker)):
        return f"(race ({maker.small(kind)}, {maker.small(kind)}))"


GENERAL: list[Form] = [
    variable, variable, block, branch, matched, attempt, loop, jump, element, part, cast, unwrapped,
    passed_on, passed_on, raced, call, call, own_operator, generic, generic, closure_call,
    method, method, method, found_late, pipe, awaited,
]  # fmt: skip
