"""Declarations: types, traits with their impls, functions, tools and constants, in files and in blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.properties.generating import leaves, patterns, statements
from tests.properties.generating.kinds import (
    BOOL,
    FLOAT,
    INT,
    NIL,
    STRING,
    Enum,
    Kind,
    Struct,
    array,
    map_of,
    option,
    pair,
    result,
)  # fmt: skip
from tests.properties.generating.maker import Callee, Maker, Variable
from tests.properties.generating.special import trait_value

_FUEL = 26
_SIMPLE = (INT, STRING, BOOL, FLOAT)


def body(
    maker: Maker, parameters: list[Variable], result_: Kind, fuel: int = _FUEL, count: int = 3
) -> tuple[str, int]:
    """A function's body, with what a call of it costs. Nothing around it is seen but constants."""
    fuel, count = max(6, int(fuel * maker.size)), max(2, int(count * maker.size))
    before = maker.scopes, maker.frame, maker.weight, maker.cost, maker.fuel, maker.depth
    maker.scopes, maker.frame = [parameters], leaves.frame_of(result_)
    maker.weight, maker.cost, maker.fuel, maker.depth = 1, 1, fuel, 0
    inside = []
    for _ in range(maker.random.randint(count // 2, count)):
        # What comes late is to be as large as what comes first.
        maker.fuel = max(maker.fuel, fuel // 4)
        inside += statements.some(maker, 1)
    if result_ == NIL:
        text = f"{{ {' '.join(inside)} }}"
    else:
        text = f"{{ {' '.join(inside)} {maker.value(result_, True)} }}"
    cost = maker.cost
    maker.scopes, maker.frame, maker.weight, maker.cost, maker.fuel, maker.depth = before
    return text, cost


def parameter_list(parameters: list[Variable], defaults: list[str] = []) -> str:  # noqa: B006
    plain = len(parameters) - len(defaults)
    written = [f"{variable.name}: {variable.kind}" for variable in parameters]
    given = [f"{text} = {default}" for text, default in zip(written[plain:], defaults, strict=True)]
    return ", ".join([*written[:plain], *given])


def bound(parameters: list[Variable]) -> list[Variable]:
    """The variables that a body has from its parameters."""
    parts = [[variable] if variable.parts is None else variable.parts for variable in parameters]
    return [part for some in parts for part in some]


def argument_names(parameters: list[Variable]) -> tuple[str, ...]:
    """Those that arguments can be given by, if all have one."""
    named = all(variable.parts is None for variable in parameters)
    return tuple(variable.name for variable in parameters) if named else ()


def function(maker: Maker, name: str) -> str:
    parameters = [
        patterns.parameter(maker, maker.kind()) for _ in range(maker.random.choice((0, 1, 1, 2, 3)))
    ]
    result_ = maker.random.choice(
        (maker.kind(), maker.kind(), NIL, result(maker.kind()), option(maker.kind()))
    )
    defaults = []
    if parameters and parameters[-1].kind in _SIMPLE and parameters[-1].parts is None and maker.chance(0.6):
        defaults = [constant(maker, parameters[-1].kind)]
    text, cost = body(maker, bound(parameters), result_)
    kinds = tuple(p.kind for p in parameters)
    maker.callees.append(
        Callee(name, kinds, result_, names=argument_names(parameters), defaults=len(defaults), cost=cost)
    )
    shown = "" if result_ == NIL and maker.chance(0.7) else f" -> {result_}"
    word = "async fn" if maker.chance(0.1) else "fn"
    return f"pub {word} {name}({parameter_list(parameters, defaults)}){shown} {text}"


def small_function(maker: Maker, name: str) -> str:
    """One that may be written where it is called."""
    parameters = [patterns.parameter(maker, maker.kind()) for _ in range(maker.random.choice((0, 1, 1, 2)))]
    result_ = maker.random.choice((maker.kind(), maker.kind(), pair(maker.kind()), option(maker.kind())))
    before = maker.scopes, maker.frame, maker.weight, maker.cost, maker.fuel, maker.depth
    maker.scopes, maker.frame = [bound(parameters)], leaves.frame_of(result_)
    maker.weight, maker.cost, maker.fuel, maker.depth = 1, 1, 5, 2
    inside = statements.few(maker, maker.random.choice((0, 0, 1, 2)))
    maker.fuel = max(maker.fuel, 2)
    text = f"{{ {' '.join(inside)} {maker.value(result_, True)} }}"
    cost = maker.cost
    maker.scopes, maker.frame, maker.weight, maker.cost, maker.fuel, maker.depth = before
    kinds = tuple(parameter.kind for parameter in parameters)
    maker.callees.append(Callee(name, kinds, result_, names=argument_names(parameters), cost=cost))
    return f"pub fn {name}({parameter_list(parameters)}) -> {result_} {text}"


def generic_function(maker: Maker, name: str) -> str:
    """Its values of type T come from its parameters; each type it is called with makes a callee."""
    free = Kind("T")
    kinds, maker.kinds = (
        maker.kinds,
        [free, free, INT, BOOL, array(free), option(free), pair(free, INT), STRING],
    )
    first, second = Variable(maker.fresh("a"), free), Variable(maker.fresh("a"), maker.kind())
    result_ = maker.random.choice((free, array(free), option(free), pair(free, free), map_of(STRING, free)))
    text, cost = body(maker, [first, second], result_)
    maker.kinds = kinds
    for kind in maker.random.sample(kinds, 3):
        if not maker.types.holds(kind, "T"):
            given = {"T": kind}
            parts = tuple(_filled(part, given) for part in (first.kind, second.kind))
            shown = maker.random.choice((name, f"{name}<{kind}>"))
            names = (first.name, second.name)
            maker.callees.append(
                Callee(shown, parts, _filled(result_, given), names=names, cost=cost, generic=shown == name)
            )
    return f"pub fn {name}<T>({parameter_list([first, second])}) -> {result_} {text}"


def _filled(kind: Kind, given: dict[str, Kind]) -> Kind:
    if kind.name in given:
        return given[kind.name]
    return replace(kind, arguments=tuple(_filled(argument, given) for argument in kind.arguments))


def constant(maker: Maker, kind: Kind) -> str:
    """What may stand where a constant is needed."""
    known = [const.name for const in maker.consts if const.kind == kind]
    if known and maker.chance(0.3):
        return maker.random.choice(known)
    if kind == INT:
        return maker.random.choice(
            ("0", "3", "-7", "2 * 3 + 1", "-(1 + 2) * 4", "-9223372036854775808", "9223372036854775807")
        )
    if kind == FLOAT:
        return maker.random.choice(("0.5", "-1.25", "3.0", "1.0 / 4.0", "-0.0", "1 * 2.5"))
    if kind == STRING:
        return maker.random.choice(('"a"', '"é😀"', '"abc"', '"<k1>"', '"a" + "b"'))
    if kind == BOOL:
        return maker.random.choice(("true", "false", "!true"))
    if kind.name == "(":
        return leaves.written_tuple([constant(maker, item) for item in kind.arguments])
    assert kind.name == "Array"
    return f"[{', '.join(constant(maker, kind.arguments[0]) for _ in range(maker.random.choice((1, 2, 3))))}]"


def const(maker: Maker, name: str) -> str:
    simple = maker.random.choice(_SIMPLE)
    kind = maker.random.choice((simple, simple, array(simple), pair(STRING, INT), pair(simple, array(INT))))
    shown = f": {kind}" if maker.chance(0.8) else ""
    value = constant(maker, kind)
    maker.consts.append(Variable(name, kind))
    return f"pub const {name}{shown} = {value};"


# --- Types --------------------------------------------------------------------------------------------


def struct(maker: Maker, name: str) -> str:
    generics = ("T",) if maker.chance(0.35) else ()
    kinds = [maker.kind() for _ in range(maker.random.randint(1, 3))]
    if generics:
        kinds[0] = maker.random.choice((Kind("T"), array(Kind("T")), pair(Kind("T"), INT)))
    positional = maker.chance(0.25)
    names = maker.random.sample(("f0", "f1", "item", "count", "len", "model", "match"), len(kinds))
    if not generics and not positional and maker.chance(0.2):
        kinds.append(option(Kind(name)))
        names.append("rest")
    names = list(map(str, range(len(kinds)))) if positional else names
    fields = tuple(zip(names, kinds, strict=True))
    plain = [(field, kind) for field, kind in fields if kind in _SIMPLE]
    defaults = {} if positional else {f: constant(maker, kind) for f, kind in plain if maker.chance(0.3)}
    maker.types.structs[name] = Struct(name, generics, fields, frozenset(defaults), positional)
    _add_kinds(maker, name, generics)
    head = f"pub struct {name}{'<T>' if generics else ''}"
    if positional:
        return f"{head}({', '.join(f'pub {kind}' for kind in kinds)});"
    written = ", ".join(
        f"pub {field}: {kind}" + (f" = {defaults[field]}" if field in defaults else "")
        for field, kind in fields
    )
    return f"{head} {{ {written} }}"


def schema(maker: Maker, name: str) -> str:
    """A struct whose fields have forms in JSON."""
    simple = maker.random.choice(_SIMPLE)
    kinds = [simple, array(simple), option(simple), map_of(STRING, simple), array(array(INT))]
    fields = tuple((f"f{index}", kind) for index, kind in enumerate(maker.random.sample(kinds, 2)))
    maker.types.structs[name] = Struct(name, (), fields)
    _add_kinds(maker, name, ())
    return f"pub schema {name} {{ {', '.join(f'pub {field}: {kind}' for field, kind in fields)} }}"


def enum(maker: Maker, name: str) -> str:
    generics = ("T",) if maker.chance(0.25) else ()
    kinds = [maker.kind() for _ in range(3)]
    if generics:
        kinds[0] = Kind("T")
    variants = (
        ("A", (), ()),
        ("B", tuple(kinds[:2]), ()),
        ("C", (kinds[2],), ("x",)),
        ("None2", (kinds[0],), ()),
    )
    chosen = tuple(variants[: maker.random.randint(2 if generics else 1, 4)])
    maker.types.enums[name] = Enum(name, generics, chosen)
    _add_kinds(maker, name, generics)
    written = []
    for variant, parts, names in chosen:
        if names:
            written.append(f"{variant} {{ x: {parts[0]} }}")
        else:
            written.append(f"{variant}({', '.join(map(str, parts))})" if parts else variant)
    return f"pub enum {name}{'<T>' if generics else ''} {{ {', '.join(written)} }}"


def _add_kinds(maker: Maker, name: str, generics: tuple[str, ...]) -> None:
    if not generics:
        maker.kinds += [Kind(name), Kind(name), array(Kind(name))]
    else:
        maker.kinds += [Kind(name, (INT,)), Kind(name, (STRING,))]


def literal_union(maker: Maker, name: str) -> str:
    literals = maker.random.choice(
        (
            ('"low"', '"high"'),
            ('"a"', '"b"', '"c"'),
            ("0", "1", "-1"),
            ("1", '"auto"', "true"),
            ("nil", '"a"'),
        )
    )
    maker.types.literals[name] = literals
    maker.kinds.append(Kind(name))
    return f"pub type {name} = {' | '.join(literals)};"


# --- Methods ------------------------------------------------------------------------------------------


def method(maker: Maker, name: str, owner: Kind, receiving: str, public: str = "pub ") -> tuple[str, Callee]:
    parameters = [patterns.parameter(maker, maker.kind()) for _ in range(maker.random.choice((0, 1, 1, 2)))]
    result_ = maker.kind()
    head, callee = _signature(name, owner, receiving, parameters, result_)
    itself = Variable("self", owner, receiving == "mut self")
    text, cost = body(maker, [itself, *bound(parameters)], result_, 16)
    return f"{public}{head} {text}", replace(callee, cost=cost)


def _signature(
    name: str, owner: Kind, receiving: str, parameters: list[Variable], result_: Kind
) -> tuple[str, Callee]:
    written = f"{receiving}, {parameter_list(parameters)}" if parameters else receiving
    kinds = tuple(parameter.kind for parameter in parameters)
    callee = Callee(name, kinds, result_, owner, receiving, argument_names(parameters))
    return f"fn {name}({written}) -> {result_}", callee


def inherent(maker: Maker, owner: Kind) -> str:
    """Methods of an own type, at times with the name of one of a trait."""
    texts = []
    if maker.chance(0.4):
        kind = maker.random.choice(_SIMPLE)
        texts.append(f"pub const LIMIT: {kind} = {constant(maker, kind)};")
        maker.consts.append(Variable(f"{owner}::LIMIT", kind))
    for name, receiving in (("next", "mut self"), ("area", "self"), (maker.fresh("m"), "self")):
        if maker.chance(0.7):
            text, callee = method(maker, name, owner, receiving)
            texts.append(text)
            maker.callees.append(callee)
    made, cost = body(maker, [], owner, 8)
    texts.append(f"pub fn make() -> {owner} {made}")
    maker.callees.append(Callee(f"{owner}::make", (), owner, cost=cost))
    return f"impl {owner} {{ {' '.join(texts)} }}"


def trait(maker: Maker, name: str) -> str:
    """A trait, its impls for several types, and functions that call its methods through a bound. They are
    called in no other way, so that other methods may have their names."""
    parameters = [Variable("by", maker.kind())] if maker.chance(0.5) else []
    result_ = maker.kind()
    asked = maker.random.choice(("area", "next", "name", "len"))
    changing = asked == "next"
    receiving = "mut self" if changing else "self"
    head, _ = _signature(asked, Kind("Self"), receiving, parameters, result_)
    arguments = ", ".join(parameter.name for parameter in parameters)
    provided = f"fn told({parameter_list([Variable('self', Kind('Self'))])[:4]}"
    given = f", {parameter_list(parameters)}" if parameters else ""
    call = f"self.{asked}({arguments})"
    before = "let mut other = self; " if changing else ""
    call = call.replace("self.", "other.") if changing else call
    provided = f'fn told(self{given}) -> String {{ {before}cut("${{typeof(self)}} ${{{call}}}") }}'
    texts = [f"pub trait {name} {{ {head}; {provided} }}"]
    found = owners(maker)
    found = maker.random.sample(found, maker.random.randint(2, min(4, len(found))))
    for owner in found:
        text, _ = _implementation(maker, asked, owner, receiving, parameters, result_)
        extra = "fn told(self" + given + ') -> String { "own" }' if maker.chance(0.2) else ""
        texts.append(f"impl {name} for {owner} {{ {text} {extra} }}")
    texts.append(_through_bound(maker, name, asked, found, parameters, result_, changing))
    if maker.chance(0.5):
        _as_type(maker, Kind(name), found, Callee(asked, tuple(p.kind for p in parameters), result_, cost=20))
    return "\n".join(texts)


def _as_type(maker: Maker, trait_: Kind, found: list[Kind], callee: Callee) -> None:
    """From here on, values may be of the trait alone."""
    maker.types.traits[trait_.name] = found
    maker.special[trait_.name] = [trait_value]
    maker.kinds += [trait_, trait_, array(trait_), option(trait_)]
    receiving = "mut self" if callee.name == "next" else "self"
    told = replace(callee, name="told", result=STRING, receiver=trait_, receiving="self")
    maker.callees += [replace(callee, receiver=trait_, receiving=receiving), told]


def owners(maker: Maker) -> list[Kind]:
    """Types that traits are implemented for: no two overlap."""
    own = [kind for kind in maker.kinds if kind.name in maker.types.structs or kind.name in maker.types.enums]
    owners = [
        INT,
        STRING,
        array(INT),
        array(STRING),
        option(INT),
        option(STRING),
        pair(INT, STRING),
        *own,
        *own,
    ]
    return list(dict.fromkeys(owners))


def _implementation(
    maker: Maker, name: str, owner: Kind, receiving: str, parameters: list[Variable], result_: Kind
) -> tuple[str, int]:
    itself = Variable("self", owner, receiving == "mut self")
    text, cost = body(maker, [itself, *parameters], result_, 14)
    head, _ = _signature(name, owner, receiving, parameters, result_)
    return f"{head} {text}", cost


def _through_bound(
    maker: Maker,
    trait_: str,
    asked: str,
    owners: list[Kind],
    parameters: list[Variable],
    result_: Kind,
    changing: bool,
) -> str:
    name, told = maker.fresh("via"), maker.fresh("told")
    arguments = ", ".join(parameter.name for parameter in parameters)
    given = f", {parameter_list(parameters)}" if parameters else ""
    start = "let mut y = x; " if changing else "let y = x; "
    for owner in owners:
        parts = (owner, *(parameter.kind for parameter in parameters))
        maker.callees.append(Callee(name, parts, result_, cost=20, generic=True))
        maker.callees.append(Callee(told, parts, STRING, cost=20, generic=True))
    return (
        f"pub fn {name}<T: {trait_}>(x: T{given}) -> {result_} {{ {start}y.{asked}({arguments}) }}\n"
        f"pub fn {told}<T: {trait_}>(x: T{given}) -> String {{ x.told({arguments}) }}"
    )


def tool(maker: Maker, name: str) -> str:
    """Called directly: its state lives as long as the run."""
    texts = []
    for index in range(2):
        parameter, result_ = Variable("n", maker.random.choice(_SIMPLE)), maker.random.choice(_SIMPLE)
        text, cost = body(maker, [parameter], result_, 10)
        text = f"{{ self.count += 1; println(self.count); {text} }}"
        texts.append(
            f'@describe("d") @param("n", "n") '
            f"pub fn m{index}(mut self, n: {parameter.kind}) -> {result_} {text}"
        )
        maker.callees.append(Callee(f"{name}.m{index}", (parameter.kind,), result_, names=("n",), cost=cost))
    return f'pub tool {name} {{ description: "d", count: Int = 0, {" ".join(texts)} }}'


# --- In blocks ----------------------------------------------------------------------------------------


def without_choice(maker: Maker, kind: Kind) -> str:
    """A value of the type from nothing around."""
    before, maker.scopes = maker.scopes, [[]]
    text = maker.small(kind, True)
    maker.scopes = before
    return text


def local_item(maker: Maker) -> str | None:
    """Declared and used at once; nothing after it knows of it."""
    if maker.depth > 4 or maker.fuel < 4:
        return None
    kind, name = maker.kind(), maker.fresh("I")
    if maker.types.holds(kind, "T", "U"):
        kind = INT
    variable = Variable(maker.fresh(), kind, maker.chance(0.5))
    text = maker.random.choice(_LOCAL)(maker, name, kind)
    maker.scopes[-1].append(variable)
    return text.replace("$LET", f"let {'mut ' if variable.mutable else ''}{variable.name}")


def _local_function(maker: Maker, name: str, kind: Kind) -> str:
    text = _apart(maker, [Variable("x", kind)], kind)
    return f"fn {name.lower()}(x: {kind}) -> {kind} {text} $LET = {name.lower()}({maker.value(kind, True)});"


def _apart(maker: Maker, parameters: list[Variable], kind: Kind) -> str:
    """The body of a function in a block, which calls no other and knows no generics around it."""
    callees, kinds = maker.callees, maker.kinds
    maker.callees, maker.kinds = [], [kind for kind in kinds if not maker.types.holds(kind, "T")]
    text, _ = body(maker, parameters, kind, 6)
    maker.callees, maker.kinds = callees, kinds
    return text


def _local_struct(maker: Maker, name: str, kind: Kind) -> str:
    return f"struct {name} {{ x: {kind} }} $LET = ({name} {{ x: {maker.value(kind, True)} }}).x;"


def _local_enum(maker: Maker, name: str, kind: Kind) -> str:
    value = maker.value(kind, True)
    return f"enum {name} {{ A({kind}) }} $LET = match {name}::A({value}) {{ {name}::A(inner) => inner }};"


def _local_trait(maker: Maker, name: str, kind: Kind) -> str:
    method = name.lower()
    text = _apart(maker, [Variable("self", INT), Variable("x", kind)], kind)
    return (
        f"trait {name} {{ fn {method}(self, x: {kind}) -> {kind}; }} "
        f"impl {name} for Int {{ fn {method}(self, x: {kind}) -> {kind} {text} }} "
        f"$LET = 1.{method}({maker.value(kind, True)});"
    )


def _local_const(maker: Maker, name: str, kind: Kind) -> str:
    declared = f"const {name}: Int = {constant(maker, INT)};"
    return f"{declared} println({name}); $LET: {kind} = {maker.value(kind, True)};"


def _local_alias(maker: Maker, name: str, kind: Kind) -> str:
    return f"type {name} = {kind}; $LET: {name} = {maker.value(kind, True)};"


def _local_use(maker: Maker, name: str, kind: Kind) -> str:
    use = maker.random.choice((f"use std::collections::Set as {name};", f"use std::math as {name.lower()};"))
    return f"{use} $LET: {kind} = {maker.value(kind, True)};"


_LOCAL: tuple[Callable[[Maker, str, Kind], str], ...] = (
    _local_function, _local_struct, _local_enum, _local_trait, _local_const, _local_alias, _local_use,
)  # fmt: skip
