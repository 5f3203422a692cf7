"""The page of the Python API, from signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import concerto
import concerto.testing
from concerto.records import field_names, field_types
from docs.reference.markdown import fenced, joined

_QUOTED = re.compile(r"(: |-> )'([^']*)'")
_LONGEST = 88


def page() -> str:
    return joined(
        "# Python API",
        "The examples are doctests; they run with the tests of Concerto.",
        *_module(concerto),
        *_module(concerto.testing),
    )


def _module(module: ModuleType) -> Iterator[str]:
    yield f"## {module.__name__}"
    yield _prose(module)
    for name in sorted(module.__all__, key=str.lower):
        value = getattr(module, name)
        if callable(value):
            yield from _member(f"{module.__name__}.{name}", value)


def _member(path: str, value: Any) -> Iterator[str]:
    yield f"### {path}"
    if not inspect.isclass(value):
        yield fenced("python", _signature(path, value))
        yield _prose(value)
        return
    yield _construction(path, value)
    yield _prose(value)
    for extended in value.__mro__[1:]:
        if field_names(extended) is not None:
            yield _prose(extended)
    init = vars(value).get("__init__")
    if inspect.isfunction(init):
        yield _prose(init)
    for name, member in vars(value).items():
        function = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not inspect.isfunction(function) or not function.__doc__:
            continue
        yield f"#### {value.__name__}.{name}"
        if function is member:
            yield fenced("python", _signature(name, member))
        yield _prose(function)


def _construction(path: str, value: type) -> str:
    """How an instance is made, if one makes it: a record by its fields, another class by its parameters."""
    if issubclass(value, BaseException) or getattr(value, "_is_protocol", False):
        return ""
    if "named" in inspect.signature(value).parameters:
        fields = [f"    {name}: {annotation}" for name, annotation in field_types(value).items()]
        return fenced("python", "\n".join([f"class {path}:", *fields]))
    return fenced("python", _signature(path, value).removesuffix(" -> None"))


def _signature(name: str, value: Any) -> str:
    """As it would be written: annotations are texts, and long lists stand one to a line."""
    signature = inspect.signature(value)
    given = [each for each in signature.parameters.values() if each.name != "self"]
    signature = signature.replace(parameters=given)
    word = "async def " if inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value) else ""
    text = f"{word}{name}{_unquoted(signature)}"
    if len(text) <= _LONGEST:
        return text
    listed = []
    for each in given:
        if each.kind is each.KEYWORD_ONLY and "*" not in listed:
            listed.append("*")
        listed.append(_unquoted(each))
    gives = "" if signature.return_annotation is signature.empty else f" -> {signature.return_annotation}"
    return f"{word}{name}(\n" + "".join(f"    {line},\n" for line in listed) + f"){gives}"


def _unquoted(signature: inspect.Signature | inspect.Parameter) -> str:
    return _QUOTED.sub(r"\1\2", str(signature))


def _prose(value: Any) -> str:
    """A docstring with its examples fenced."""
    parts = []
    for paragraph in (inspect.cleandoc(value.__doc__ or "")).split("\n\n"):
        parts.append(fenced("pycon", paragraph) if paragraph.startswith(">>> ") else paragraph)
    return "\n\n".join(parts)
