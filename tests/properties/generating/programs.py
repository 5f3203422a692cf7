"""Whole programs: what they declare, in one file or several, and a `main` that goes on after a failure."""

from __future__ import annotations

from random import Random

from tests.properties.generating import abilities, chosen, handles, items, stages, walkers
from tests.properties.generating.general import GENERAL, jump
from tests.properties.generating.kinds import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NIL,
    RANGE,
    STRING,
    Enum,
    Kind,
    Struct,
    array,
    function,
    map_of,
    option,
    pair,
    result,
)  # fmt: skip
from tests.properties.generating.leaves import leaf
from tests.properties.generating.maker import Maker, Variable
from tests.properties.generating.special import special_forms

_PRELUDE = """\
pub fn p<T>(x: T) -> T { println("p ${x}"); x }
pub fn the<T>(x: T) -> T { x }
pub fn twice<T>(x: T) -> (T, T) { (x, x) }
pub fn either<T>(c: Bool, a: T, b: T) -> T { if c { a } else { b } }
pub fn any(x: Any) -> Any { x }
pub fn cut(s: String) -> String { if s.len() > 24 { s[..24] } else { s } }
pub fn short(r: Range) -> Range { if r.len() > 4 { 0..2 } else { r } }
"""
# Names that the library and Python know too.
_TYPE_NAMES = (
    "S0",
    "S1",
    "Message",
    "Response",
    "StreamChunk",
    "ToolCall",
    "HttpResponse",
    "LedgerEntry",
    "Box",
    "Entry",
)
_FUNCTION_NAMES = ("g0", "g1", "g2", "len", "map", "format", "sorted", "total", "list", "next", "run", "str")
_CONST_NAMES = ("LIMIT", "TABLE", "None2")


def make_program(random: Random, size: float | None = None) -> dict[str, str]:
    """The texts of a program by file, `main.conc` first. Most are small, for what fails first hides the rest,
    unless a size is given: 1 is large."""
    # In some, control leaves from everywhere.
    jumps = [jump] * random.choice((0, 0, 0, 0, 0, 6))
    maker = Maker(random, [*GENERAL, handles.asked, *jumps], {}, leaf)
    maker.waits = random.random() < 0.25
    maker.size = size or random.choice((0.1, 0.1, 0.15, 0.15, 0.2, 0.2, 0.25, 0.3, 0.4, 1.0))
    maker.kinds = _kinds(random)
    declared = _declarations(maker)
    parts = [_part(maker, f"t{index}") for index in range(1 if maker.size < 0.3 else random.randint(2, 3))]
    main = "\n".join(text for _, text in parts) + "\nfn main() {\n"
    for index, (kind, _) in enumerate(parts):
        call = f"t{index}()" if kind == NIL else f"println(t{index}())"
        main += f'    try {{ {call}; }} catch RuntimeError(e) {{ println("${{e.kind}} ${{e.message}}"); }}'
        main += ' catch { println("thrown"); }\n'
    # What fails is told with its places too.
    main += "    let _ = t0();\n}\n"
    return _files(maker, declared, main)


def _kinds(random: Random) -> list[Kind]:
    """The few types that one program is about, so that it has several values of each."""
    base = random.choice((INT, INT, STRING, FLOAT, BOOL))
    other = random.choice((INT, STRING))
    row = array(base)
    built = [
        array(row), pair(row, other), option(row), map_of(STRING, row), map_of(other, base),
        pair(base, other),
        option(base), option(option(base)), result(base), result(row), array(pair(base, other)),
        function(base, other),
        function(other), function(base, row, row), RANGE, ANY, array(ANY), map_of(BOOL, base),
        map_of(INT, row), map_of(pair(INT, STRING), base), map_of(pair(BOOL, INT), row),
        Kind("Set", (other,)), Kind("Queue", (base,)), Kind("Stack", (row,)), pair(base),
        pair(base, base, other),
        array(option(other)), result(base, INT), map_of(STRING, ANY), array(function(base, base)),
    ]  # fmt: skip
    return [INT, STRING, BOOL, FLOAT, NIL, NIL, base, row, row, *random.sample(built, 5)]


def _declarations(maker: Maker) -> list[str]:
    """Types before what uses them; the order in the text is another matter."""
    random = maker.random
    texts = []
    names = random.sample(_TYPE_NAMES, 3)
    if maker.now_and_then(0.5):
        texts.append(items.literal_union(maker, "Level"))
    texts.append(items.struct(maker, names[0]))
    if maker.now_and_then(0.6):
        texts.append(items.enum(maker, names[1]))
    if maker.now_and_then(0.4):
        texts.append(maker.random.choice((items.struct, items.struct, items.schema))(maker, names[2]))
    maker.special.update(special_forms(maker.types))
    texts += [handles.declare(maker, name) for name in ("ages", "facts") if maker.now_and_then(0.15)]
    texts += [items.const(maker, name) for name in random.sample(_CONST_NAMES, random.randint(0, 2))]
    declared: list[Struct | Enum] = [*maker.types.structs.values(), *maker.types.enums.values()]
    own = [Kind(type_.name) for type_ in declared if not type_.generics]
    texts += [items.inherent(maker, owner) for owner in own if maker.now_and_then(0.5)]
    texts += _chosen(maker)
    texts += _able(maker)
    if maker.now_and_then(0.25):
        texts.append(walkers.declare(maker, "Walk"))
    functions = random.sample(_FUNCTION_NAMES, 4)
    if maker.now_and_then(0.25):
        texts.append(stages.recursive(maker, functions.pop()))
    if maker.now_and_then(0.4):
        texts.append(items.generic_function(maker, functions.pop()))
    if maker.chance(0.25):
        texts += [items.small_function(maker, f"small{number}") for number in range(random.randint(3, 8))]
    count = random.randint(1, 2) if maker.size > 0.2 else 1
    texts += [items.function(maker, name) for name in functions[:count]]
    if maker.now_and_then(0.15):
        texts.append(items.tool(maker, "Notes"))
    if maker.now_and_then(0.15):
        texts.append(stages.pipeline(maker, "Steps"))
    return texts


def _able(maker: Maker) -> list[str]:
    """What own types do as the built-in ones do by themselves."""
    texts = []
    declared: list[Struct | Enum] = [*maker.types.structs.values(), *maker.types.enums.values()]
    for type_ in declared:
        if type_.generics:
            continue
        if maker.now_and_then(0.3):
            texts.append(abilities.operators(maker, Kind(type_.name)))
        if maker.now_and_then(0.2):
            texts.append(abilities.text(maker, type_))
        if isinstance(type_, Struct) and maker.now_and_then(0.2):
            texts += [abilities.order(maker, type_), *abilities.equality(maker, type_)]
        elif {INT, STRING, BOOL}.issuperset(maker.types.parts(Kind(type_.name))):
            maker.kinds.append(map_of(Kind(type_.name), maker.kind()))
    if any(text.startswith("impl Display") for text in texts) and maker.chance(0.2):
        texts.append("pub trait Display { fn to_string(self) -> String }")
    return texts


def _chosen(maker: Maker) -> list[str]:
    """What a program leaves to the types of values."""
    texts = [
        chosen.by_argument(maker, struct)
        for struct in maker.types.structs.values()
        if struct.generics and maker.now_and_then(0.4)
    ]
    declared: list[Struct | Enum] = [*maker.types.structs.values(), *maker.types.enums.values()]
    own = [Kind(type_.name) for type_ in declared if not type_.generics]
    if own and maker.now_and_then(0.35):
        texts.append(chosen.conversions(maker, maker.random.choice(own)))
    traits = maker.random.choice((0, 0, 1, 2) if maker.size > 0.2 else (0, 0, 1))
    texts += [items.trait(maker, f"Tr{number}") for number in range(traits)]
    if maker.now_and_then(0.25):
        texts.append(chosen.generic_trait(maker, "Con"))
    return texts


def _part(maker: Maker, name: str) -> tuple[Kind, str]:
    """Not all variables are told of at the end: the value of one that is not used again may be moved."""
    kind = maker.random.choice((NIL, NIL, NIL, result(maker.kind()), option(maker.kind()), maker.kind()))
    kind = NIL if maker.types.holds(kind, "fn") else kind
    variables: list[Variable] = []
    text, _ = items.body(maker, variables, kind, 32, 10)
    text = text[:-2].rstrip() if kind == NIL else text
    if kind == NIL:
        shown = [variable.name for variable in variables if maker.chance(0.7)]
        text += "".join(f" println({name});" for name in shown) + " }"
    return kind, f"fn {name}() -> {kind} {text}" if kind != NIL else f"fn {name}() {text}"


def _files(maker: Maker, texts: list[str], main: str) -> dict[str, str]:
    """In one file, a module of it, another file, or two of which one uses the other."""
    if maker.chance(0.1):
        half = maker.random.randint(1, len(texts))
        return {
            "main.conc": f"use base::*;\nuse parts::more::*;\n{main}",
            "base.conc": "\n".join([_PRELUDE, *_shuffled(maker, texts[:half])]),
            "parts.conc": "pub mod more;",
            "parts/more.conc": "\n".join(["use base::*;", *_shuffled(maker, texts[half:])]),
        }
    declared = "\n".join(_shuffled(maker, texts))
    if maker.chance(0.75):
        return {"main.conc": f"{_PRELUDE}{declared}\n{main}"}
    if maker.chance(0.3):
        return {"main.conc": f"mod parts {{\n{_PRELUDE}{declared}\n}}\nuse parts::*;\n{main}"}
    use = "use parts::*;" if maker.chance(0.5) else "use parts::{self, *};"
    return {"main.conc": f"use parts::*;\n{main}" if use else main, "parts.conc": _PRELUDE + declared}


def _shuffled(maker: Maker, texts: list[str]) -> list[str]:
    return maker.random.sample(texts, len(texts))
