"""Sets in the open: how their library functions are written over the items alone."""

from __future__ import annotations

from concerto.vm.python_tier.expression import ACT, ARRAY, KINDS, LENGTH, READ, Expr, compound
from concerto.vm.python_tier.instructions.natives import SPECIAL, Parts, special
from concerto.vm.python_tier.unboxing import SET
from concerto.vm.python_tier.writer import FunctionWriter


@special("Set::new")
def _empty(writer: FunctionWriter, parts: Parts) -> Expr:
    return _new_set(writer, "{}", parts)


def _new_set(writer: FunctionWriter, items: str, parts: Parts, level: int = READ) -> Expr:
    return writer.closed(SET, compound(items, parts, level=level))


@special("Set::union_plain")
def _union(writer: FunctionWriter, parts: Parts) -> Expr:
    members, other = [writer.opened(SET, part) for part in parts]
    return _new_set(writer, writer.mark(f"({members} | {other})"), parts, ACT)


def _chooses(native: str, test: str) -> None:
    """A set of those elements of one that are in another, or are not."""

    def chosen(writer: FunctionWriter, parts: Parts) -> Expr | None:
        members, other = [writer.items_of(part) for part in parts]
        if not writer.inside_expression:
            members, other = writer.cheap(members, other)
        elif not (members.cheap and other.cheap):
            return None
        text = f"{{x: x for x in {members.text} if x {test} {other.text}}}"
        made = _new_set(writer, text, (members, other))
        made.chosen = members.text, test, other.text
        return made

    SPECIAL[native] = chosen


_chooses("Set::intersection_plain", "in")
_chooses("Set::difference_plain", "not in")


@special("Set::len")
def _count(writer: FunctionWriter, parts: Parts) -> Expr | None:
    """The order of a set that is only counted makes no difference."""
    if parts[0].chosen is None:
        return None
    members, test, other = parts[0].chosen
    chosen = f"{members}.keys() {'&' if test == 'in' else '-'} {other}.keys()"
    return compound(f"len({chosen})", parts, LENGTH, READ, atom=True)


@special("Set::to_array")
def _chosen_items(writer: FunctionWriter, parts: Parts) -> Expr | None:
    """The items of a set that is made for them; keys are themselves in a set that was chosen by them."""
    if parts[0].chosen is None:
        return None
    members, test, other = parts[0].chosen
    return compound(f"[x for x in {members} if x {test} {other}]", parts, ARRAY, READ, atom=True)


@special("Set::union_plain_owned")
def _grow_set(writer: FunctionWriter, parts: Parts) -> Expr | None:
    members, other = parts
    if writer.inside_expression or not members.cheap:
        return None
    update = f"{writer.opened(SET, members)}.update({writer.opened(SET, other)})"
    writer.act(writer.mark(update))
    return members


@special("Set::contains_plain")
def _contains(writer: FunctionWriter, parts: Parts) -> Expr | None:
    members, item = parts
    if min(members.level, item.level) >= READ:
        return None
    text = writer.mark(f"{item.wrapped} in {writer.opened(SET, members)}")
    return compound(text, (item, members), KINDS["bool"], READ)


@special("Set::insert_plain")
def _insert(writer: FunctionWriter, parts: Parts) -> Expr | None:
    members, item = parts
    first, again = writer.named(item)
    if writer.next_opcode() != "POP":
        if not members.cheap:
            return None
        inside = writer.opened(SET, members)
        text = writer.mark(f"({first} not in {inside} and {inside}.__setitem__({again}, {again}) is None)")
        return compound(text, parts, KINDS["bool"], ACT, atom=True)
    text = writer.mark(f"{writer.opened(SET, members)}.setdefault({first}, {again})")
    return compound(text, parts, level=ACT, atom=True)


@special("Set::remove_plain")
def _remove(writer: FunctionWriter, parts: Parts) -> Expr:
    members, item = parts
    text = f"({writer.opened(SET, members)}.pop({item.text}, MISSING) is not MISSING)"
    return compound(writer.mark(text), parts, KINDS["bool"], ACT, atom=True)
