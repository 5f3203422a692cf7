"""What a Python function takes, as JSON Schema; JSON arguments as the values that its hints ask for; and
whether a result is what they declare.

Type hints are those of pydantic: plain types, dataclasses, models, enums, `Literal`, `Optional`, dates, and
`Annotated[T, "description"]`. Descriptions come from there, or from the `Args:` section or the `:param` lines
of the docstring.
"""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from concerto.json_data import Json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_PLAIN: Mapping[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
"""Types whose schema and values are known without pydantic, which is half of what such a program loads."""
_SECTION = re.compile(r"(?m)^(?:Args|Arguments|Parameters):[ \t]*\n((?:[ \t]+.*\n?|[ \t]*\n)+)")
_IN_SECTION = re.compile(r"(?m)^[ \t]+(\w+)(?:[ \t]*\([^)\n]*\))?:[ \t]*(.+)$")
_PARAM = re.compile(r"(?m)^[ \t]*:param[ \t]+(?:[^:\n]*[ \t])?(\w+):[ \t]*(.*)\n?")


class BadValues(Exception):
    """Arguments that do not fit; the text says which."""


class BadResult(Exception):
    """A result that is not what is declared; the text says why."""


class Signature:
    """`description` and `parameters` are what a model is told. Raises TypeError for parameters that cannot be
    told."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name = name
        doc = inspect.getdoc(function) or ""
        self.description = _SECTION.sub("", _PARAM.sub("", doc)).strip() or name.replace("_", " ")
        described = {key: text.strip() for key, text in _described(doc)}
        taken = {
            parameter.name: parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        }
        hints = self._hints(function)
        self._types: dict[str, Any] = {}
        self._adapters: dict[str, TypeAdapter[Any]] = {}
        for key, parameter in taken.items():
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise TypeError(f"tool `{name}`: parameter `{key}` can only be given by position")
            self._types[key] = _bare(hints.get(key, Any))
            described[key] = _annotated(hints.get(key)) or described.get(key, "")
        self.parameters = self._schema(taken, described)
        self._declared = hints.get("return", Any)
        is_known = _is_plain(self._declared) or self._declared in (Any, object, type(None))
        self._result = None if is_known else _result_adapter(self._declared)

    def bind(self, given: Mapping[str, Json]) -> dict[str, Any]:
        """The arguments by name; raises BadValues."""
        bound, wrong = {}, []
        for key, value in given.items():
            wanted = self._types.get(key)
            if key not in self._types or (type(value) is wanted and _is_plain(wanted)):
                bound[key] = value
                continue
            from pydantic import ValidationError

            try:
                bound[key] = self._adapter(key).validate_python(value)
            except ValidationError as errors:
                for error in errors.errors(include_url=False):
                    place = "".join(f".{part}" for part in error["loc"])
                    wrong.append(f"`{key}{place}`: {error['msg']}")
        if wrong:
            raise BadValues("; ".join(wrong))
        return bound

    def require_result(self, written: Json, answer: Any = ...) -> None:
        """Raises BadResult unless a result is what the hints declare: the `answer` itself, or as it is
        `written` in JSON."""
        if self._declared in (Any, object) or self._declared in type(answer).__mro__:
            return
        from pydantic import ValidationError

        result = self._result or _result_adapter(self._declared)
        if result is None:
            return
        try:
            if answer is not ...:
                with suppress(ValidationError):
                    result.validate_python(answer, strict=True)
                    return
            result.validate_json(json.dumps(written), strict=True)
        except ValidationError as errors:
            wrong = errors.errors(include_url=False)[0]
            place = "".join(f"`{part}`: " for part in wrong["loc"])
            declared = getattr(self._declared, "__name__", str(self._declared))
            what = f"is not the `{declared}` that it declares: {place}{wrong['msg']}"
            raise BadResult(f"the result of `{self._name}` {what}") from None
        except (TypeError, ValueError, RecursionError):
            pass  # What has no JSON is said where it becomes a value of the program.

    def _hints(self, function: Callable[..., Any]) -> dict[str, Any]:
        plain = inspect.unwrap(getattr(function, "__func__", function))
        if not inspect.isfunction(plain):
            return {}
        try:
            return typing.get_type_hints(plain, include_extras=True)
        except (NameError, AttributeError, SyntaxError) as unknown:
            raise TypeError(f"tool `{self._name}`: a type hint cannot be resolved: {unknown}") from None

    def _adapter(self, key: str) -> TypeAdapter[Any]:
        if key in self._adapters:
            return self._adapters[key]
        from pydantic import PydanticUserError, TypeAdapter
        from pydantic.errors import PydanticInvalidForJsonSchema

        hint = self._types[key]
        try:
            adapter = self._adapters[key] = TypeAdapter(hint)
            adapter.json_schema()
        except (PydanticUserError, PydanticInvalidForJsonSchema) as error:
            shown = getattr(hint, "__name__", None) or str(hint)
            # The others speak of models and of settings that a tool's author has not.
            why = f": {error.message}" if error.code == "typed-dict-version" else ""
            raise TypeError(
                f"tool `{self._name}`: parameter `{key}` has type `{shown}`, which has no JSON Schema{why}"
            ) from None
        return adapter

    def _schemas(self) -> tuple[dict[str, Json], Json]:
        """What each parameter takes, and what several of them name."""
        if all(map(_is_plain, self._types.values())):
            return {key: {"type": _PLAIN[each]} for key, each in self._types.items()}, {}
        from pydantic import TypeAdapter

        schemas, defs = TypeAdapter.json_schemas(
            [(key, "validation", self._adapter(key)) for key in self._types]
        )
        return {key: plain_schema(schemas[key, "validation"]) for key in self._types}, plain_schema(defs)

    def _schema(self, taken: Mapping[str, inspect.Parameter], described: Mapping[str, str]) -> Json:
        schemas, defs = self._schemas()
        properties = {}
        for key, parameter in taken.items():
            schema = schemas[key]
            if described[key]:
                schema["description"] = described[key]
            if parameter.default is not parameter.empty and parameter.default is not None:
                default = parameter.default
                if not _is_plain(type(default)) or type(default) is not self._types[key]:
                    default = self._adapter(key).dump_python(default, mode="json", warnings=False)
                schema["default"] = default
            properties[key] = schema
        required = [key for key, parameter in taken.items() if parameter.default is parameter.empty]
        whole = {"type": "object", "properties": properties, "required": required}
        named = defs.get("$defs")
        return {**whole, "$defs": named} if named else whole


def _bare(hint: Any) -> Any:
    """A hint without the texts around a plain type."""
    told = getattr(hint, "__metadata__", ())
    bare = hint.__origin__ if told and all(isinstance(each, str) for each in told) else hint
    return bare if _is_plain(bare) else hint


def _is_plain(hint: Any) -> bool:
    return type(hint) is type and hint in _PLAIN


def _result_adapter(hint: Any) -> TypeAdapter[Any] | None:
    """What checks results of a type, if it is one that can be checked."""
    from pydantic import PydanticUserError, TypeAdapter

    try:
        return TypeAdapter(hint)
    except PydanticUserError:
        return None


def plain_schema(schema: Json) -> Json:
    """A schema of pydantic as that of a tool's method: without titles, and None is said by leaving out."""
    if not isinstance(schema, dict):
        return schema
    plain: dict[str, Json] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            plain[key] = {name: plain_schema(each) for name, each in value.items()}
        elif isinstance(value, list):
            plain[key] = [plain_schema(each) for each in value] if key in _LISTS else value
        elif key == "const":
            plain["enum"] = [value]
        elif key != "title" and not (key == "default" and value is None):
            plain[key] = plain_schema(value)
    options = [each for each in plain.get("anyOf", ()) if each != {"type": "null"}]
    if len(options) == 1:
        del plain["anyOf"]
        return {**options[0], **plain}
    return plain


_LISTS = frozenset({"anyOf", "allOf", "oneOf", "prefixItems"})


def _described(doc: str) -> list[tuple[str, str]]:
    """Parameters and their texts in a docstring."""
    found: list[tuple[str, str]] = _PARAM.findall(doc)
    for section in _SECTION.findall(doc):
        found += _IN_SECTION.findall(section)
    return found


def _annotated(hint: Any) -> str:
    """The text in `Annotated[T, "text"]`."""
    return next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, str)), "")
