"""Types of answers that an agent is asked for: a program's own, or any that pydantic knows."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pydantic

from concerto.embedding.calls import Loaded
from concerto.json_data import Json
from concerto.runtime.agents.asked import JsonOutput
from concerto.runtime.agents.structured import WRAPPED, Misread, output_schema
from concerto.runtime.llm.requests import OutputSchema
from concerto.runtime.run.run import Run
from concerto.vm.json_values import to_json
from concerto.vm.values import Value


def answer_type(loaded: Loaded, schema: Any) -> tuple[Callable[[Run], Value], Callable[[Value], Any]]:
    """What a run is asked for, and the way of an answer to Python. A schema of the program is read by its
    own rules (`@coerce`, `@validate`), every other type by pydantic's."""
    index = _schema_index(loaded, schema)
    if index is not None:
        return lambda run: run.machine.type_value(index), loaded.conversions.to_python(index)
    output = PydanticOutput(schema)
    return lambda _: output, output.give


def _schema_index(loaded: Loaded, wanted: Any) -> int | None:
    """The type of the program's schema that a class is of."""
    module, classes = loaded.program.module, loaded.conversions.models.classes
    for each in module.schemas:
        definition = module.types[each.type]
        if definition.kind == "schema" and not definition.items and classes.get(definition.name) is wanted:
            return each.type
    return None


class PydanticOutput(JsonOutput):
    """An answer that pydantic takes for a type."""

    def __init__(self, wanted: Any) -> None:
        try:
            self._adapter, schema, is_wrapped = _known(wanted, repr(wanted))
        except TypeError:  # It cannot be kept in mind.
            self._adapter, schema, is_wrapped = _known.__wrapped__(wanted, "")
        self._made: tuple[Json, Any] | None = None
        super().__init__(schema, WRAPPED * is_wrapped)

    def give(self, answer: Value) -> Any:
        """An answer that fits, as a value of the type."""
        known, self._made = self._made, None
        if known is not None and known[0] is answer:
            return known[1]
        return self._adapter.validate_json(json.dumps(to_json(answer)))

    def _fitting(self, data: Json) -> Json:
        if self.wrapper and isinstance(data, dict) and set(data) == {self.wrapper}:
            data = data[self.wrapper]
        try:
            self._made = data, self._adapter.validate_json(json.dumps(data))
        except pydantic.ValidationError as error:
            raise Misread("; ".join(map(_complaint, error.errors(include_url=False)))) from None
        return data


@lru_cache(64)
def _known(wanted: Any, shown: str) -> tuple[pydantic.TypeAdapter[Any], OutputSchema, bool]:
    """What reads a type, its JSON Schema, and whether that is wrapped. Types that are equal are not `shown`
    alike where the order of their parts differs."""
    try:
        adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(wanted)
        found = adapter.json_schema()
    except pydantic.PydanticUserError as error:
        reason = str(error).partition(". ")[0]
        raise TypeError(f"`{wanted!r}` is no type that an answer may have: {reason}") from None
    return adapter, *output_schema(getattr(wanted, "__name__", "") or "answer", found)


def _complaint(error: Any) -> str:
    path = ".".join(map(str, error["loc"]))
    return f"`{path}`: {error['msg']}" if path else str(error["msg"])
