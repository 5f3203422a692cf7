"""Iterators that are never made: who asks for all elements in the same expression has a comprehension with
the closures in it, and a loop goes through what the iterator would."""

from __future__ import annotations

from concerto.vm.python_tier.expression import ACT, ARRAY, PURE, Expr, compound
from concerto.vm.python_tier.inlining import comprehension, gathered_in_loop
from concerto.vm.python_tier.instructions import write_step
from concerto.vm.python_tier.instructions.natives import SPECIAL, write_with
from concerto.vm.python_tier.instructions.registry import listed
from concerto.vm.python_tier.writer import FunctionWriter


def _begins(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr:
    """Nothing changes between here and the end of the same expression, so that no copy is needed."""
    (items,) = parts
    made = compound(
        writer.mark(f"{writer.names.native('Iterator::iter')}({items.text})"), parts, level=ACT, atom=True
    )
    made.walk = items, ()
    return made


def _paired(together: str) -> None:
    """For loops over the elements of arrays."""

    def written(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
        sources = [part.walk[0] for part in parts if part.walk is not None and not part.walk[1]]
        if len(sources) < len(parts) or any(source.fact != ARRAY for source in sources):
            return None
        text = f"{writer.names.native(f'Iterator::{together}')}({listed(parts)})"
        made = compound(writer.mark(text), parts, level=ACT, atom=True)
        pairs = _pairs(together, sources)
        read = [writer.only_read(source.copied or source) for source in sources]
        if all(source.cheap for source in read):
            pairs.copied = _pairs(together, read)
        made.walk = pairs, ()
        return made

    write_with(f"Iterator::{together}", 1 if together == "enumerate" else 2, written)


def _pairs(together: str, sources: list[Expr]) -> Expr:
    pairs = compound("", tuple(sources), level=ACT)
    pairs.pairs = together, tuple([source.text for source in sources])
    pairs.width = 2
    return pairs


def _parts(method: str, template: str) -> None:
    """The first elements of an array, or all but these."""

    def written(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
        items, number = parts
        if items.walk is None or items.walk[1] or number.fact.kind != "int" or number.fact.low < 0:
            return None
        source = writer.only_read(items.walk[0].copied or items.walk[0])
        if source.fact != ARRAY or not number.cheap:
            return None
        text = f"{writer.names.native(f'Iterator::{method}')}({listed(parts)})"
        made = compound(writer.mark(text), parts, level=ACT, atom=True)
        text = template.format(items=source.wrapped, number=number.text)
        made.walk = compound(text, (source, number), ARRAY, ACT, atom=True), ()
        return made

    write_with(f"Iterator::{method}", 2, written)


def _goes_on(method: str) -> None:
    def written(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
        items, closure = parts
        if items.walk is None or closure.closure is None:
            return None
        text = f"{writer.names.native(f'Iterator::{method}')}({items.text}, {closure.text})"
        made = compound(writer.mark(text), parts, level=ACT, atom=True)
        source, steps = items.walk
        made.walk = source, (*steps, (method, closure))
        return made

    write_with(f"Iterator::{method}", 2, written)


def _ends(method: str) -> None:
    """What is asked of all elements together, as of an array."""
    plain = SPECIAL.get(f"Iterator::{method}")

    def written(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
        place = next((place for place, part in enumerate(parts) if part.walk is not None), None)
        # The elements come after the arguments.
        if place is None or any(part.level > PURE for part in parts[place + 1 :]):
            return None if plain is None else plain(writer, parts)
        alone = len(parts) == 1 and method in ("to_array", "collect")
        gathered = _gathered(writer, parts[place], as_it_is=not alone)
        if gathered is None and all(part.cheap for part in parts[:place]):
            gathered = gathered_in_loop(writer, parts[place])
        if gathered is None:
            return None if plain is None else plain(writer, parts)
        if alone:
            return gathered
        writer.stack += (*parts[:place], gathered, *parts[place + 1 :])
        write_step(writer, ("CALL_NATIVE", f"Array::{method}", len(parts)))
        return writer.pop()

    SPECIAL[f"Iterator::{method}"] = written


def _gathered(writer: FunctionWriter, items: Expr, *, as_it_is: bool) -> Expr | None:
    """All elements; `as_it_is` if nobody changes the array."""
    assert items.walk is not None
    source, steps = items.walk
    whole = writer.only_read(source.copied or source)
    if as_it_is and not steps and whole.fact == ARRAY and whole.text and whole.characters is None:
        return whole
    found = comprehension(writer, "Iterator::to_array", items, None)
    if found is None:
        return None
    rounds, element = found
    gathered = rounds.finished(writer.mark(f"[{element.text} {rounds.whole}]"), (items,), ARRAY)
    gathered.fresh = True
    return gathered


write_with("Iterator::iter", 1, _begins)
for _name in ("map", "filter", "filter_map", "flat_map", "skip_while", "take_while"):
    _goes_on(_name)
_parts("take", "{items}[:{number}]")
_parts("skip", "{items}[{number}:]")
for _name in ("enumerate", "zip"):
    _paired(_name)
for _name in (
    "collect", "group_by", "join", "last", "max", "max_by_key", "max_float", "max_plain", "min", "min_by_key",
    "min_float", "min_plain", "sum", "to_array", "to_set",
):  # fmt: skip
    _ends(_name)
