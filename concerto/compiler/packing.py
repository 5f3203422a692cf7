"""Serialization: modules and problems as plain tuples, lists and dictionaries that `marshal` can hold.

A record becomes `(_MARK + class name, field, field, …)`. Instructions are plain tuples already and,
being most of a program, are passed through untouched, as positions are by the hundred in one flat list.
"""

from __future__ import annotations

from concerto.annotating import TYPE_CHECKING, Any
from concerto.diagnostics import Problem, Problems, all_problem_classes
from concerto.ir import module as ir
from concerto.records import field_names

if TYPE_CHECKING:
    from concerto.source import Source, Span

_MARK = "\0"
_CLASSES = {
    _MARK + name: (cls, names)
    for name, cls in vars(ir).items()
    if isinstance(cls, type) and (names := field_names(cls)) is not None
}
_TUPLE = _MARK + "tuple"
_FUNCTION = _MARK + ir.Function.__name__


def pack_module(module: ir.ModuleIR) -> Any:
    return _pack(module)


def unpack_module(packed: Any) -> ir.ModuleIR:
    module = _unpack(packed)
    assert isinstance(module, ir.ModuleIR)
    return module


def _pack(value: Any) -> Any:
    if isinstance(value, list):
        return [_pack(item) for item in value]
    if isinstance(value, dict):
        return {key: _pack(item) for key, item in value.items()}
    if isinstance(value, ir.Function):
        return _pack_function(value)
    if isinstance(value, tuple):
        return (_TUPLE, *map(_pack, value))
    mark = _MARK + type(value).__name__
    if mark not in _CLASSES:
        return value
    return (mark, *(_pack(getattr(value, name)) for name in _CLASSES[mark][1]))


def _pack_function(function: ir.Function) -> Any:
    flat = [number for place in function.positions for number in (place.pc, place.start, place.end)]
    packed = {name: getattr(function, name) for name in _CLASSES[_FUNCTION][1]}
    return (_FUNCTION, *(packed | {"positions": flat}).values())


def _unpack(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpack(item) for item in value]
    if isinstance(value, dict):
        return {key: _unpack(item) for key, item in value.items()}
    if not isinstance(value, tuple):
        return value
    mark, *parts = value
    if mark == _TUPLE:
        return tuple(map(_unpack, parts))
    cls, names = _CLASSES[mark]
    if mark != _FUNCTION:
        return cls(*map(_unpack, parts))
    values = dict(zip(names, parts, strict=True))
    numbers = iter(values["positions"])
    values["positions"] = [ir.Position(*place) for place in zip(numbers, numbers, numbers, strict=True)]
    return cls(**values)


def pack_problems(problems: Problems) -> Any:
    """Problems with the texts of the files in which they are."""
    sources: dict[Source, int] = {}

    def place(span: Span) -> tuple[int, int, int]:
        return (sources.setdefault(span.source, len(sources)), span.start, span.end)

    packed = [
        (
            problem.code,
            place(problem.span),
            problem.message,
            problem.label,
            str(problem.help),
            problem.notes,
            tuple((place(span), label) for span, label in problem.related),
        )
        for problem in problems
    ]
    return packed, [(source.path, source.text) for source in sources]


def unpack_problems(packed: Any) -> list[Problem]:
    rows, texts = packed
    if not rows:
        return []
    from concerto.source import Source, Span

    classes = all_problem_classes()
    sources = [Source(path, text) for path, text in texts]

    def span(place: tuple[int, int, int]) -> Span:
        return Span(sources[place[0]], place[1], place[2])

    return [
        classes[code](
            span(place),
            message,
            label=label,
            help=advice,
            notes=notes,
            related=tuple((span(other), text) for other, text in related),
        )
        for code, place, message, label, advice, notes, related in rows
    ]
