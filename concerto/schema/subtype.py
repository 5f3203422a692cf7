"""Whether one JSON Schema is a subtype of another: every value of the one is a value of the other."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from concerto.json_data import Json
from concerto.schema.reading import (
    DEEPEST,
    MOST_STEPS,
    allowed_values,
    alternatives,
    inside,
    is_null,
    is_open,
    item_schema,
    kind_of,
    kind_of_value,
    properties,
    required,
    resolved,
)


@dataclass(frozen=True, slots=True)
class SchemaMisfit:
    """Where a schema does not fit another: the innermost place, and what stands there."""

    path: str
    given: Json
    wanted: Json


def fits(given: Json, wanted: Json, *, loose: bool = False) -> bool:
    """Whether every value of the schema `given` is one of `wanted`. What is unknown (`{}`) fits everywhere
    and takes everything. `loose` takes a number for an integer, as JSON has only one kind; the value is
    looked at later."""
    return misfit(given, wanted, loose=loose) is None


def misfit(given: Json, wanted: Json, *, loose: bool = False) -> SchemaMisfit | None:
    """Why a schema does not fit; None if it does."""
    fitting = _Fitting(given, wanted, loose)
    return None if fitting.fits(given, wanted) else fitting.found


class _Fitting:
    """Compares two documents; two places that are being compared already are taken to fit."""

    def __init__(self, given_root: Json, wanted_root: Json, loose: bool) -> None:
        self._given_root = given_root
        self._wanted_root = wanted_root
        self._loose = loose
        self._open: set[tuple[int, int]] = set()
        self._path: list[str] = []
        self._guesses = 0
        self._steps = 0
        self.found: SchemaMisfit | None = None

    def fits(self, given: Json, wanted: Json, step: str = "") -> bool:
        given = resolved(given, self._given_root)
        wanted = resolved(wanted, self._wanted_root)
        self._path.append(step)
        right = self._both_fit(given, wanted)
        if not right and self.found is None and not self._guesses:
            path = "".join(self._path).lstrip(".")
            self.found = SchemaMisfit(
                path, inside(given, self._given_root), inside(wanted, self._wanted_root)
            )
        self._path.pop()
        return right

    def _fits_one(self, given: Json, options: Iterable[Json]) -> bool:
        """Whether it fits one of several; that it does not fit another one is no news."""
        self._guesses += 1
        try:
            return any(self.fits(given, option) for option in options)
        finally:
            self._guesses -= 1

    def _both_fit(self, given: Json, wanted: Json) -> bool:
        self._steps += 1
        if self._steps > MOST_STEPS or len(self._path) > DEEPEST:
            return True  # What is left is the server's to judge.
        if wanted is False or given is False:
            return given is False
        if is_open(wanted) or is_open(given):
            return True
        if not isinstance(given, dict) or not isinstance(wanted, dict):
            return True
        place = (id(given), id(wanted))
        if place in self._open:
            return True
        self._open.add(place)
        try:
            return self._parts_fit(given, wanted)
        finally:
            self._open.discard(place)

    def _parts_fit(self, given: dict[str, Json], wanted: dict[str, Json]) -> bool:
        if isinstance(wanted.get("allOf"), list):
            return all(self.fits(given, part) for part in wanted["allOf"])
        if isinstance(given.get("allOf"), list):
            self._guesses += 1
            try:
                return any(self.fits(part, wanted) for part in given["allOf"])
            finally:
                self._guesses -= 1
        options = alternatives(given)
        if options is not None:
            return all(self.fits(option, wanted) for option in options)
        options = alternatives(wanted)
        if options is not None:
            return self._fits_one(given, options)
        return self._single_fits(given, wanted)

    def _single_fits(self, given: dict[str, Json], wanted: dict[str, Json]) -> bool:
        values, allowed = allowed_values(given), allowed_values(wanted)
        if allowed is not None:
            written = {json.dumps(value) for value in allowed}
            return values is not None and all(json.dumps(value) in written for value in values)
        if values is not None:
            return all(self._kind_fits(kind_of_value(value), kind_of(wanted)) for value in values)
        kind = kind_of(given)
        if not self._kind_fits(kind, kind_of(wanted)):
            return False
        if kind == "array":
            return self.fits(item_schema(given), item_schema(wanted), "[]")
        return kind != "object" or self._object_fits(given, wanted)

    def _kind_fits(self, given: str, wanted: str) -> bool:
        if given == wanted or not given or not wanted:
            return True
        numbers = ("integer", "number")
        return (given, wanted) == numbers or (self._loose and given in numbers and wanted in numbers)

    def _object_fits(self, given: dict[str, Json], wanted: dict[str, Json]) -> bool:
        has, takes = properties(given), properties(wanted)
        rest = wanted.get("additionalProperties", True)
        if not has:  # A map: its values have to fit wherever they may go.
            value = given.get("additionalProperties", True)
            return self.fits(value, rest) and all(
                self.fits(value, part, f".{name}") for name, part in takes.items()
            )
        sure = {*required(given), *(name for name, part in has.items() if _has_default(part))}
        if not takes:
            return all(self.fits(part, rest, f".{name}") for name, part in has.items())
        return all(name in sure for name in required(wanted)) and all(
            self.fits(self._value(name, part, wanted), takes.get(name, rest), f".{name}")
            for name, part in has.items()
        )

    def _value(self, name: str, part: Json, wanted: Json) -> Json:
        """What can stand at a property: null is as good as nothing where nothing is needed."""
        part = resolved(part, self._given_root)
        options = alternatives(part) if self._loose and isinstance(part, dict) else None
        if options is None or name in required(wanted):
            return part
        return {"anyOf": [each for each in options if not is_null(resolved(each, self._given_root))]}


def _has_default(schema: Json) -> bool:
    return isinstance(schema, dict) and "default" in schema
