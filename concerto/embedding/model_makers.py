"""Code generation for models: what makes one of a struct or a variant is a function written for its class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Way = Callable[[Any], Any]

_SOURCE = """
def make(value):
    made = new(model)
    put(made, "__dict__", {{{entries}}})
    put(made, "__pydantic_fields_set__", set(names))
    put(made, "__pydantic_extra__", None)
    put(made, "__pydantic_private__", None)
    return made
"""


def model_maker(
    model: Any, names: Sequence[str], ways: Sequence[Way | None], fixed: Mapping[str, str]
) -> Way:
    """What makes a model as `model_construct` does, but for defaults: what a program gives is complete and
    fits. Fields have the names and go the ways of the value's parts; those without a way are as they are.
    Some more are `fixed`."""
    entries = [f"{name!r}: {text!r}" for name, text in fixed.items()]
    for slot, (name, way) in enumerate(zip(names, ways, strict=True)):
        entries.append(f"{name!r}: value.f{slot}" if way is None else f"{name!r}: way{slot}(value.f{slot})")
    known = {"model": model, "new": model.__new__, "put": object.__setattr__}
    known |= {"names": frozenset({*fixed, *names})}
    known |= {f"way{slot}": way for slot, way in enumerate(ways)}
    exec(_SOURCE.format(entries=", ".join(entries)), known)
    made: Way = known["make"]
    return made
