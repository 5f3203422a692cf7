"""What types choose: impls for some arguments of a type, traits with arguments, conversions of errors."""

from __future__ import annotations

from tests.properties.generating import items
from tests.properties.generating.kinds import INT, STRING, Kind, Struct, array, option, pair, result
from tests.properties.generating.maker import Callee, Maker, Variable


def by_argument(maker: Maker, struct: Struct) -> str:
    """Methods of one name, one for each of two types that a generic struct is used with."""
    name, texts = maker.fresh("only"), []
    for argument in (INT, STRING):
        text, callee = items.method(maker, name, Kind(struct.name, (argument,)), "self")
        texts.append(f"impl {callee.receiver} {{ {text} }}")
        maker.callees.append(callee)
    return "\n".join(texts)


def generic_trait(maker: Maker, name: str) -> str:
    """A trait that types implement for several of its arguments; arguments tell which is meant."""
    asked, both = maker.fresh("conv"), maker.fresh("both")
    texts = [
        f"pub trait {name}<T> {{ fn {asked}(self, x: T) -> T; "
        f"fn {both}(self, x: T) -> (T, String) {{ (self.{asked}(x), typeof(self)) }} }}"
    ]
    arguments = maker.random.sample([INT, STRING, pair(INT, STRING), array(INT), option(STRING)], 3)
    for owner in maker.random.sample(items.owners(maker), 2):
        for argument in arguments[: maker.random.randint(1, 3)]:
            parameters = [Variable("self", owner), Variable("x", argument)]
            text, cost = items.body(maker, parameters, argument, 10)
            head = f"fn {asked}(self, x: {argument}) -> {argument}"
            texts.append(f"impl {name}<{argument}> for {owner} {{ {head} {text} }}")
            via, told = maker.fresh("via"), pair(argument, STRING)
            bound = f"<A: {name}<{argument}>>"
            texts.append(f"pub fn {via}{bound}(a: A, x: {argument}) -> {told} {{ a.{both}(x) }}")
            maker.callees += [
                Callee(asked, (argument,), argument, owner, "self", cost=cost, generic=True),
                Callee(both, (argument,), told, owner, "self", cost=cost, generic=True),
                Callee(via, (owner, argument), told, cost=cost, generic=True),
            ]
    return "\n".join(texts)


def conversions(maker: Maker, owner: Kind) -> str:
    """`impl From<…> for` a type of the program, and functions whose errors are of that type."""
    others = [kind for kind in items.owners(maker) if kind != owner]
    sources = tuple(dict.fromkeys([STRING, maker.random.choice(others)]))
    texts = []
    for source in sources:
        text, cost = items.body(maker, [Variable("error", source)], owner, 8)
        texts.append(f"impl From<{source}> for {owner} {{ fn from(error: {source}) -> {owner} {text} }}")
        maker.callees.append(Callee(f"{owner}::from", (source,), owner, cost=cost, generic=True))
    maker.conversions[owner] = sources
    maker.kinds += [result(maker.kind(), owner), result(maker.kind(), owner)]
    return "\n".join(texts)
