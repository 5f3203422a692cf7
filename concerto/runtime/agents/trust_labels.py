"""Labels of trust: what a request holds, what the results of a tool have by themselves, and which texts carry
one."""

from __future__ import annotations

from collections.abc import Iterator

from concerto.ir.module import TrustRule
from concerto.json_data import Json
from concerto.records import frozen
from concerto.trust.defaults import SECRET, UNTRUSTED

SHORTEST = 12
"""Characters of an untrusted text that are looked for inside of a prompt; a shorter one says too little."""


@frozen
class Label:
    """Where the untrusted and the secret parts of a request came from, as messages name it."""

    untrusted: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()


NOTHING = Label()


def joined(one: Label, other: Label) -> Label:
    """The label of what holds both."""
    if not (other.untrusted or other.secret):
        return one
    return Label(
        tuple(dict.fromkeys([*one.untrusted, *other.untrusted])),
        tuple(dict.fromkeys([*one.secret, *other.secret])),
    )


@frozen
class KnownTool:
    """What holds for a tool in all runs; `label` is what its results have by themselves."""

    rule: TrustRule
    label: Label


def known_tool(title: str, rule: TrustRule) -> KnownTool:
    """What a rule says of the tool that messages name `title`."""
    if rule.closed or not rule.sources:
        return KnownTool(rule, NOTHING)
    name = (f"`{title}`",)
    return KnownTool(rule, Label(*[name if each in rule.sources else () for each in (UNTRUSTED, SECRET)]))


def texts_in(value: Json) -> Iterator[str]:
    """The texts in JSON that are long enough to be known again."""
    match value:
        case str():
            if len(value) >= SHORTEST:
                yield value
        case list():
            for item in value:
                yield from texts_in(item)
        case dict():
            for item in value.values():
                yield from texts_in(item)
