"""Reading directed by a type: what a model wrote becomes data that fits it, where it can mean only that.

Nothing is guessed between two values, and nothing becomes a value of another type: what is not understood
stays as it is, and does not fit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from concerto.ir.module import FieldDef, Schema, TypeDef, VariantDef
from concerto.json_data import Json
from concerto.natives.json_text import decode
from concerto.natives.lenient import Bare, Unreadable, unmarked
from concerto.vm.operations import to_text

Schemas: TypeAlias = Mapping[str, Schema]
"""By the name of their struct; the instantiations of a generic one share decorators."""

_NUMBER = re.compile(
    r"(?:(?P<sign>[-+−])(?P<apart>\s*))?(?:[$€£¥]\s*)?"
    r"(?P<whole>\d{1,3}(?:[,_' ]\d{3})+|\d+(?:_\d+)*|(?=\.\d))"
    r"(?P<rest>(?:\.\d+)?(?:[eE][-+]?\d+)?)(?:\s*/\s*(?P<below>\d+))?",
    re.ASCII,
)
_BEFORE = re.compile(r"(?:[\w.]|\d[,/–])\Z")
_AFTER = re.compile(r"[\w]|[.,/–−-]\d")
_NOTHING = ("null", "none", "nil")
_QUOTES = "\"'`"
_AROUND = " \t\r\n*_\"'`.,!?:;()"
_JOINED = re.compile(r"(?<=[^\W_])[\s_-]+(?=[^\W_])")


class Director:
    """Fits data to types. `fits` says whether data is a value of a type."""

    def __init__(
        self, types: Sequence[TypeDef], schemas: Schemas, fits: Callable[[Json, int], bool], lenient: bool
    ) -> None:
        self._types = types
        self._schemas = schemas
        self.fits = fits
        self._lenient = lenient
        self._by_form: dict[tuple[int, int], tuple[Json, Json]] = {}
        """By identity of data and type: the data, and the variant that alone fits it. Without it the ways to
        try would double with each level of a type that holds itself."""

    def fitted(self, data: Json, type_index: int, *, coerce: bool = False) -> Json:
        """Data in the form that a type has; what cannot be stays as it is. With `coerce`, texts of numbers
        and Bools are taken for these, and numbers for texts."""
        try:
            made = self._fitted(data, type_index, coerce)
        except RecursionError:
            return data
        return str(made) if isinstance(made, Bare) else made

    def _fitted(self, data: Json, type_index: int, coerce: bool) -> Json:
        definition = self._types[type_index]
        if self._lenient and isinstance(data, list) and len(data) == 1 and _is_single(definition):
            inner = self.fitted(data[0], type_index, coerce=coerce)
            return inner if self.fits(inner, type_index) else data
        match definition.kind:
            case "option":
                if isinstance(data, Bare) and data.lower() in _NOTHING:
                    return None
                return None if data is None else self.fitted(data, definition.items[0], coerce=coerce)
            case "builtin":
                return self._plain(data, definition.name, coerce)
            case "literals":
                return self._literal(data, definition, coerce)
            case "array" | "set" | "queue" | "stack":
                return self._items(data, definition.items[0], coerce)
            case "tuple" if isinstance(data, list) and len(data) == len(definition.items):
                return [self.fitted(item, kind) for item, kind in zip(data, definition.items, strict=True)]
            case "map" if isinstance(data, dict) and len(definition.items) == 2:
                item = definition.items[1]
                return {key: self.fitted(part, item, coerce=coerce) for key, part in data.items()}
            case "struct" | "schema":
                return self._struct(data, definition)
            case "enum" if self._lenient:
                return self._enum(data, definition, type_index)
            case "enum" if definition.aliases:
                return _own_name(data, definition)
            case _:
                return data

    # --- Plain values ---------------------------------------------------------------------------

    def _plain(self, data: Json, name: str, coerce: bool) -> Json:
        if name == "Any":
            return unmarked(data)
        if name in ("String", "Prompt"):
            return to_text(data) if coerce and isinstance(data, int | float) else data
        if isinstance(data, str) and (coerce or isinstance(data, Bare)):
            match name:
                case "Int" | "Float":
                    found = number(data)
                    return data if found is None else found
                case "Bool" if data.strip().lower() in ("true", "false"):
                    return data.strip().lower() == "true"
                case "Nil" if data.strip().lower() in _NOTHING:
                    return None
        return data

    def _literal(self, data: Json, definition: TypeDef, coerce: bool) -> Json:
        if any(type(each) is type(data) and each == data for each in definition.literals):
            return data
        if isinstance(data, str) and (self._lenient or coerce):
            names = {
                to_text(each): each
                for each in definition.literals
                if isinstance(each, str) or coerce or isinstance(data, Bare)
            }
            name = only_mention(data, [*names])
            return data if name is None else names[name]
        return data

    # --- Values of parts ------------------------------------------------------------------------

    def _items(self, data: Json, item: int, coerce: bool) -> Json:
        if isinstance(data, list):
            return [self.fitted(part, item, coerce=coerce) for part in data]
        if not self._lenient or data is None:
            return data
        inner = _inside(data)
        if isinstance(inner, list):
            return [self.fitted(part, item, coerce=coerce) for part in inner]
        single = self.fitted(data, item, coerce=coerce)
        return [single] if self.fits(single, item) else data

    def _struct(self, data: Json, definition: TypeDef) -> Json:
        if self._lenient:
            if isinstance(data, list) and len(data) == 1:
                data = data[0]
            data = _inside(data)
        if not isinstance(data, dict):
            return data
        schema = self._schemas.get(definition.name)
        names = self.keys(data, definition)
        result: dict[str, Json] = {}
        for key, part in data.items():
            field = names.get(key)
            if field is None:
                result[key] = part
                continue
            coerce = schema is not None and (schema.coerce or field.name in schema.coerced_fields)
            result[field.name] = self.fitted(part, field.type, coerce=coerce)
        return result

    def keys(self, data: dict[str, Json], definition: TypeDef) -> dict[str, FieldDef]:
        """The field that each key means: of keys that differ in case and marks only, the one there is."""
        fields, aliases = definition.fields, definition.aliases
        exact = {field.name: field for field in fields}
        exact |= {
            aliases[field.name]: field
            for field in fields
            if field.name in aliases and not (field.name in data and aliases[field.name] in data)
        }
        found = {key: exact[key] for key in data if key in exact}
        if not self._lenient or len(found) == len(data):
            return found
        taken = {field.name for field in found.values()}
        alike: dict[str, list[str]] = {}
        for key in data.keys() - found.keys():
            alike.setdefault(_folded(key), []).append(key)
        for field in fields:
            names = {_folded(field.name), _folded(aliases.get(field.name, field.name))}
            keys = [key for name in names for key in alike.get(name, ())] if field.name not in taken else []
            if len(keys) == 1:
                found[keys[0]] = field
        return found

    # --- Enums ----------------------------------------------------------------------------------

    def _enum(self, data: Json, definition: TypeDef, type_index: int) -> Json:
        data = _own_name(data, definition)
        by_name = {variant.name: variant for variant in definition.variants}
        own = {name: name for name in by_name} | {alias: name for name, alias in definition.aliases.items()}
        match data:
            case str():
                plain = [each for each in own if not by_name[own[each]].fields]
                found = named(data, plain)
                if found is None and len(plain) == len(own):
                    found = only_mention(data, plain)
                if found is not None or len(plain) == len(own):
                    return data if found is None else own[found]
                data = _inside(data)
            case {"variant": str(written), **others} if others.keys() <= {"data"}:
                found = named(written, own)
                if found is None:
                    return data
                name = own[found]
                payload = self._payload(others.get("data"), by_name[name])
                return {"variant": name, "data": payload} if by_name[name].fields else name
        key = (id(data), type_index)
        if key not in self._by_form:
            self._by_form[key] = (data, data)  # Meanwhile it is no variant of a variant of itself.
            fitting = [made for made in self._variants(data, definition) if self.fits(made, type_index)]
            if len(fitting) > 1:  # What fits as it is comes before what had to be made to fit.
                fitting = [made for made in fitting if made["data"] == data]
            self._by_form[key] = (data, fitting[0] if len(fitting) == 1 else data)
        return self._by_form[key][1]

    def _variants(self, data: Json, definition: TypeDef) -> Iterable[dict[str, Json]]:
        """What data may mean that does not name its variant as it should."""
        if isinstance(data, dict) and len(data) == 1:
            ((key, payload),) = data.items()
            for variant in definition.variants:
                if variant.fields and key in (variant.name, definition.aliases.get(variant.name)):
                    yield {"variant": variant.name, "data": self._payload(payload, variant)}
                    return
        for variant in definition.variants:
            if variant.fields:
                yield {"variant": variant.name, "data": self._payload(data, variant)}

    def _payload(self, data: Json, variant: VariantDef) -> Json:
        fields = variant.fields
        if variant.named:
            return self._struct(data, TypeDef("struct", "", fields=fields))
        if len(fields) == 1:
            return self.fitted(data, fields[0].type)
        if isinstance(data, list) and len(data) == len(fields):
            return [self.fitted(part, field.type) for part, field in zip(data, fields, strict=True)]
        return data


def is_word(definition: TypeDef) -> bool:
    """Whether the values of a type are a choice of words: literals, variants without data."""
    if definition.kind == "enum":
        return not any(variant.fields for variant in definition.variants)
    return definition.kind == "literals"


def _is_single(definition: TypeDef) -> bool:
    """Whether a list is never a value of a type."""
    return is_word(definition) or definition.name in ("Int", "Float", "Bool", "String")


def _own_name(data: Json, definition: TypeDef) -> Json:
    """A variant by its own name where it stands by its alias."""
    own = {alias: name for name, alias in definition.aliases.items()}
    match data:
        case str():
            return own.get(data, data)
        case {"variant": str(written), **others}:
            return {"variant": own.get(written, written), **others}
        case _:
            return data


def _inside(data: Json) -> Json:
    """The object or array that a text holds."""
    if isinstance(data, str) and data.lstrip()[:1] in ("{", "["):
        try:
            return decode(data)
        except ValueError:
            return data
    return data


def in_prose(text: str, type_index: int, types: Sequence[TypeDef]) -> Json:
    """The one plain value of a type that a text speaks of, or the text; raises Unreadable for two."""
    definition = types[type_index]
    text = text.strip()
    bare = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES else text
    match definition.kind:
        case "option" if bare.lower() in _NOTHING:
            return None
        case "option" | "array" | "set" | "queue" | "stack":
            inner = definition.items[0]
            if definition.kind != "option" and types[inner].name == "String" and "\n" in text:
                raise Unreadable("the reply is lines of text; give a JSON array")
            return in_prose(text, inner, types)
        case "enum":
            plain = [each.name for each in definition.variants if not each.fields]
            names = [definition.aliases.get(each, each) for each in plain]
            return mentioned(bare, [*dict.fromkeys(names + plain)])
        case "literals":
            words = {to_text(each): each for each in definition.literals}
            found = mentioned(bare, list(words))
            return words.get(found, found)
        case "builtin" if definition.name == "Bool":
            found = mentioned(bare, ["true", "false"])
            return found == "true" if found in ("true", "false") else found
        case "builtin" if definition.name in ("Int", "Float"):
            numbers = dict.fromkeys(each for each in _numbers(bare) if each is not None)
            return _one([*numbers]) if numbers else text
        case _:
            return text


def number(text: str) -> int | float | None:
    """The number that a text is, or the only one that it speaks of: `12,111`, `$5`, `1/2`, `3 apples`."""
    found = _NUMBER.fullmatch(text.strip())
    if found is not None:
        return _value(found)
    numbers = set(_numbers(text))
    return numbers.pop() if len(numbers) == 1 else None


def _numbers(text: str) -> Iterable[int | float | None]:
    """The numbers that a text speaks of."""
    for found in _NUMBER.finditer(text):
        before = text[max(0, found.start() - 2) : found.start()]
        if not _BEFORE.search(before) and not _AFTER.match(text, found.end()):
            value = _value(found)
            yield value
            if found["apart"] and found["sign"] != "+" and value is not None:
                yield -value  # `- 7` is an item of a list, or less than nothing.


def _value(found: re.Match[str]) -> int | float | None:
    """None for what no Float holds either."""
    whole = re.sub(r"\D", "", found["whole"] or "") or "0"
    sign = -1 if found["sign"] in ("-", "−") else 1
    try:
        value = sign * (float(whole + found["rest"]) if found["rest"] else int(whole))
        value = value / int(found["below"]) if found["below"] else value
        return value if math.isfinite(value) else None
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def named(text: str, names: Collection[str]) -> str | None:
    """The name that a text is, but for case and marks, or that it begins with: `Spam: it sells`."""
    if text in names:
        return text
    for part in (text, re.split(r"[:(.\n]|\s-\s|\s–\s", text.strip(_AROUND), maxsplit=1)[0]):
        folded = _folded(part)
        alike = [name for name in names if _folded(name) == folded]
        if folded and len(alike) == 1:
            return alike[0]
    return None


def mentioned(text: str, names: Sequence[str]) -> Json:
    """The one of some names that a text mentions, or the text; a longer name hides those inside of it. Raises
    Unreadable for two."""
    whole = named(text, names)
    if whole is not None:
        return whole
    rest, found = text, []
    for name in sorted(names, key=len, reverse=True):
        pattern = re.compile(rf"(?<![\w+-]){_spelled(name)}(?![\w+#]|[.,]\d)", re.IGNORECASE)
        rest, count = pattern.subn("\0", rest)
        if count:
            found.append(name)
    return _one(found) if found else text


def only_mention(text: str, names: Sequence[str]) -> str | None:
    """The one of some names that a text mentions, if it mentions no other."""
    try:
        found = mentioned(text, names)
    except Unreadable:
        return None
    return found if isinstance(found, str) and found in names else None


def _one(found: list[Json]) -> Json:
    if len(found) > 1:
        spoken = ", ".join(f"`{to_text(each)}`" for each in found)
        raise Unreadable(f"the reply speaks of {spoken}; give exactly one")
    return found[0]


def _spelled(name: str) -> str:
    """A pattern of a name however its words are joined: `VeryGood` is `very good`, `very_good`."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+|[^\w\s]+", name)
    return r"[\s_-]*".join(map(re.escape, words)) or re.escape(name)


def _folded(text: str) -> str:
    """A name without what surrounds it, case, accents, and what joins its words. `C++` and `-1` keep their
    signs."""
    if not text.isascii():
        from unicodedata import combining, normalize

        text = "".join(each for each in normalize("NFKD", text) if not combining(each))
    return _JOINED.sub("", text.strip(_AROUND)).casefold()
