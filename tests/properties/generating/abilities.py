"""What values of own types can do: operators, text, order and equality of their own."""

from __future__ import annotations

from tests.properties.generating import items
from tests.properties.generating.kinds import BOOL, FLOAT, INT, STRING, Enum, Kind, Struct, map_of
from tests.properties.generating.maker import Callee, Maker, Variable

_METHODS = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "%": "Rem"}


def operators(maker: Maker, owner: Kind) -> str:
    """Impls of one or two operators, whose right sides and results are of any type."""
    texts = []
    for sign in maker.random.sample(tuple(_METHODS), maker.random.choice((1, 2))):
        operand = maker.random.choice((owner, owner, INT, FLOAT, STRING))
        result = maker.random.choice((owner, owner, maker.kind()))
        taken = [owner, operand, result]
        while len(taken) > 1 and taken[-1] == owner:
            taken.pop()
        given = f"<{', '.join(map(str, taken[1:]))}>" if len(taken) > 1 else ""
        text, cost = items.body(maker, [Variable("self", owner), Variable("other", operand)], result, 8)
        trait = _METHODS[sign]
        head = f"fn {trait.lower()}(self, other: {operand}) -> {result}"
        texts.append(f"impl {trait}{given} for {owner} {{ {head} {text} }}")
        maker.operators.append(Callee(sign, (owner, operand), result, cost=cost))
    if maker.chance(0.4):
        text, cost = items.body(maker, [Variable("self", owner)], owner, 8)
        texts.append(f"impl Neg for {owner} {{ fn neg(self) -> {owner} {text} }}")
        maker.operators.append(Callee("-", (owner,), owner, cost=cost))
    return "\n".join(texts)


def text(maker: Maker, declared: Struct | Enum) -> str:
    """Who looks at the text of a value is told by what it prints."""
    told = f"${{self.{declared.fields[0][0]}}}" if isinstance(declared, Struct) else "of an enum"
    if isinstance(declared, Struct) and maker.types.holds(declared.fields[0][1], "fn", "Nil"):
        told = "not told"
    shown = f'println("asked for text"); "<{told}>"'
    return f"impl Display for {declared.name} {{ fn to_string(self) -> String {{ {shown} }} }}"


def order(maker: Maker, declared: Struct) -> str:
    """By an Int among the fields; the difference of large ones fails."""
    numbers = [name for name, kind in declared.fields if kind == INT]
    if not numbers:
        return ""
    field, name = numbers[0], declared.name
    maker.types.ordered.add(name)
    compared = f"fn compare(self, other: {name}) -> Int {{ p(self.{field} - other.{field}) }}"
    return f"impl Ord for {name} {{ {compared} }}"


def equality(maker: Maker, declared: Struct) -> list[str]:
    """With a hash the values are keys, and nothing tells how often such are compared."""
    name = declared.name
    field, kind = min(declared.fields, key=lambda field: field[1] not in _HASHED)
    if maker.types.holds(kind, "fn"):
        return []
    hashed = _HASHED.get(kind) if maker.chance(0.6) else None
    compared = f"self.{field} == other.{field}" if hashed else f"p(self.{field} == other.{field})"
    texts = [f"impl Eq for {name} {{ fn equals(self, other: Self) -> Bool {{ {compared} }} }}"]
    if hashed is not None:
        number = hashed.format(f"self.{field}")
        texts.append(f"impl Hash for {name} {{ fn hash(self) -> Int {{ {number} }} }}")
        maker.kinds += [Kind("Set", (Kind(name),)), map_of(Kind(name), maker.kind())]
    return texts


_HASHED = {INT: "{} % 3", STRING: "{}.len()", BOOL: "if {} {{ 1 }} else {{ 0 }}"}
