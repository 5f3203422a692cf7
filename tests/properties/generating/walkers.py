"""What is walked through: iterators of the program's own types, and those of the library."""

from __future__ import annotations

from tests.properties.generating import items
from tests.properties.generating.kinds import INT, Kind, array, option
from tests.properties.generating.maker import Callee, Form, Maker, Variable


def declare(maker: Maker, name: str) -> str:
    """A type that gives some items, each made anew. Its method makes no others of it."""
    item, owner = maker.kind(), Kind(name)
    maker.types.walkers[name] = item
    text, cost = items.body(maker, [Variable("self", owner, True)], option(item), 10)
    counted = "if self.left <= 0 { return None; } self.left -= 1;"
    maker.callees.append(Callee("next", (), option(item), owner, "mut self", cost=cost))
    maker.special[name] = [made]
    maker.kinds += [owner, owner]
    return (
        f"pub struct {name} {{ pub left: Int, pub held: {item} }} "
        f"impl Iterator<{item}> for {name} {{ fn next(mut self) -> Option<{item}> {{ {counted} {text[1:]} }}"
    )


def made(maker: Maker, kind: Kind, known: bool) -> str:
    left, item = maker.random.choice("0123"), maker.value(maker.types.walkers[kind.name], True)
    return f"({kind.name} {{ held: {item}, left: {left} }})"


def of_items(maker: Maker, kind: Kind, known: bool) -> str:
    return f"{maker.value(array(kind.arguments[0]))}.iter()"


def of_own(maker: Maker, kind: Kind, known: bool) -> str | None:
    """Where it stands for an iterator as it is."""
    own = [Kind(name) for name, item in maker.types.walkers.items() if item == kind.arguments[0]]
    declared = [owner for owner in own if owner in maker.kinds]
    return maker.value(maker.random.choice(declared)) if declared and not maker.repeats() else None


def of_numbers(maker: Maker, kind: Kind, known: bool) -> str | None:
    return f"short({maker.value(Kind('Range'))}).iter()" if kind.arguments[0] == INT else None


ITERATORS: list[Form] = [of_items, of_own, of_numbers]
