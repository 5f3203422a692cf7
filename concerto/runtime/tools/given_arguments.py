"""A model's arguments against what a tool declares: what a schema coerces or calls otherwise is no misfit."""

from __future__ import annotations

from collections.abc import Mapping

from concerto.ir.module import MethodDef
from concerto.json_data import Json
from concerto.natives.schema import SchemaReader
from concerto.runtime.tools.toolbox import BoundTool
from concerto.schema.validate import complaints
from concerto.vm.machine import Machine


def misfits(machine: Machine, tool: BoundTool, given: Mapping[str, Json]) -> list[str]:
    """What does not fit, for the model; types that coerce are asked where the JSON Schema objects."""
    found = complaints(given, tool.offer.parameters)
    if found and _fits_types(SchemaReader(machine), tool, given):
        return []
    return found


def _fits_types(reader: SchemaReader, tool: BoundTool, given: Mapping[str, Json]) -> bool:
    if not reader.adjusts:
        return False
    if tool.input_type is not None:
        return reader.fits(reader.coerced(dict(given), tool.input_type), tool.input_type)
    if tool.declared is None:
        return False
    parameters = {each.name: each for each in tool.declared.parameters if not each.context}
    return given.keys() <= parameters.keys() and all(
        (given.get(name) is None and each.has_default)
        or reader.fits(reader.coerced(given.get(name), each.type), each.type)
        for name, each in parameters.items()
    )


def as_declared(machine: Machine, method: MethodDef, given: Mapping[str, Json]) -> Mapping[str, Json]:
    """Arguments as those whose code is elsewhere get them: coerced, under the program's own names."""
    reader = SchemaReader(machine)
    if not reader.adjusts:
        return given
    types = {each.name: each.type for each in method.parameters}
    return {
        name: reader.coerced(part, types[name]) if name in types else part for name, part in given.items()
    }
