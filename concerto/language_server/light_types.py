"""The protocol's types, each of them made when it is used: a fifth of the time that importing them takes.

`lsprotocol` has more than 500 classes made by `attrs`, which writes and compiles the methods of each; a
conversation uses some dozens. Here they have what `attrs` gives them from their first instance on, or when
somebody asks for their fields, and without slots, `repr`, patterns and checks of assigned values. Whoever
imports this before `lsprotocol` has them so.
"""

from __future__ import annotations

from typing import Any

import attrs

_define: Any = attrs.define
_light = {"slots": False, "repr": False, "match_args": False, "on_setattr": attrs.setters.NO_OP}


class _Fields:
    """Descriptor of the fields of a class that is not made yet."""

    def __get__(self, _: object, owner: type) -> Any:
        return vars(_made(owner))["__attrs_attrs__"]


def _define_later(cls: Any = None, **options: Any) -> Any:
    if cls is None or options:
        return _define(cls, **options)
    cls.__attrs_attrs__ = _Fields()
    cls.__init__ = _first_init
    return cls


def _first_init(self: Any, *values: Any, **named: Any) -> None:
    _made(type(self))
    self.__init__(*values, **named)


def _made(cls: Any) -> type:
    del cls.__attrs_attrs__, cls.__init__
    made: type = _define(cls, auto_attribs=True, **_light)
    attrs.resolve_types(made, _names, {})
    return made


vars(attrs)["define"] = _define_later
try:
    from lsprotocol import types
finally:
    vars(attrs)["define"] = _define

from lsprotocol import _hooks  # noqa: E402

# `resolve_types` puts more into it.
_names = dict(types.ALL_TYPES_MAP)
# Its converter would ask for the fields of all types, to resolve the names in them.
vars(_hooks)["_resolved_forward_references"] = True
