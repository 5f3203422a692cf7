"""Entry points: which public function is meant, and its arguments as values of the program.

What is wrong with a call is the caller's mistake: LookupError for a name, TypeError for arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from concerto.diagnostics.suggestions import did_you_mean, suggest
from concerto.ir.module import Export, ModuleIR, ParameterDef
from concerto.vm.classes import ClassTable
from concerto.vm.json_values import from_json
from concerto.vm.type_checks import Misfit, type_text
from concerto.vm.values import Value
from concerto.wording import counted, with_article


def find_export(module: ModuleIR, name: str) -> Export:
    """The public function of a name."""
    for export in module.exports:
        if export.name == name:
            if export.function is None:
                raise TypeError(f"{cannot_be_called(name)}: it is generic with bounds; {WRAP}")
            return export
    if any(function.name == name for function in module.functions):
        raise LookupError(f"`{name}` is not public: write `pub fn {name}`")
    near = suggest(name, [export.name for export in module.exports])
    advice = did_you_mean(near, "`pub fn` makes a function public")
    raise LookupError(f"the program has no public function `{name}`; {advice}")


WRAP = "give it a public function around it that takes and gives plain types"


def cannot_be_called(name: str) -> str:
    return f"`{name}` cannot be called from Python"


def bound(
    name: str, parameters: Sequence[ParameterDef], given: Sequence[Any], named: Mapping[str, Any]
) -> list[tuple[ParameterDef, Any, bool]]:
    """Each parameter with its argument, or its default; whether it was given."""
    names = [parameter.name for parameter in parameters]
    if len(given) > len(names):
        takes = f"{counted(len(names), 'argument')} ({', '.join(names)})" if names else "no arguments"
        raise TypeError(f"`{name}` takes {takes}, {len(given)} were given")
    values = dict(zip(names, given, strict=False))
    for key, value in named.items():
        if key not in names:
            near = did_you_mean(suggest(key, names), f"it takes {', '.join(names) or 'none'}")
            raise TypeError(f"`{name}` has no argument `{key}`; {near}")
        if key in values:
            raise TypeError(f"`{name}` got its argument `{key}` twice")
        values[key] = value
    missing = [each.name for each in parameters if each.name not in values and not each.has_default]
    if missing:
        raise TypeError(f"`{name}` needs its argument {' and '.join(f'`{each}`' for each in missing)}")
    return [
        (each, values[each.name], True) if each.name in values else (each, each.default, False)
        for each in parameters
    ]


def json_arguments(
    module: ModuleIR, classes: ClassTable, export: Export, given: Sequence[Any], named: Mapping[str, Any]
) -> list[Value]:
    """Arguments that are JSON, as values."""
    values = []
    for parameter, value, _ in bound(export.name, export.parameters, given, named):
        try:
            values.append(from_json(value, parameter.type, module.types, classes))
        except Misfit as misfit:
            raise misfits(export, parameter, module, misfit) from None
    return values


def misfits(export: Export, parameter: ParameterDef, module: ModuleIR, misfit: Misfit) -> TypeError:
    """What is told of an argument of a wrong type."""
    expected = type_text(module.types, parameter.type)
    what = f"`{export.name}` takes {with_article(expected)} as `{parameter.name}`"
    return TypeError(f"{what}: {'; '.join(map(str, (misfit, *misfit.beside)))}")
