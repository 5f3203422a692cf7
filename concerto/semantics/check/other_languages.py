"""What members of other languages are called here, or what is written instead.

A help is given only where it helps: `METHODS` names methods that the type has to have, `ADVICE` what to write
where there is no such method. `Type::name` stands before `name`; `{0}` is what the member was asked of.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

METHODS: Final[dict[str, tuple[str, ...]]] = {
    "add": ("push", "insert"), "as_int": ("code_point",), "charCodeAt": ("code_point",),
    "ord": ("code_point",), "is_numeric": ("is_digit",), "is_ascii_digit": ("is_digit",),
    "is_alpha": ("is_alphabetic",), "isalpha": ("is_alphabetic",), "isdigit": ("is_digit",),
    "isspace": ("is_whitespace",), "isupper": ("is_uppercase",), "islower": ("is_lowercase",),
    "max_by": ("max_by_key",), "min_by": ("min_by_key",), "sliding": ("windows",),
    "append": ("push", "extend"), "ask": ("execute",), "call": ("execute",),
    "collect": ("to_array",), "complete": ("execute",), "concat": ("union", "merge"),
    "contains": ("contains_key",), "containsKey": ("contains_key",), "count": ("len",),
    "difference_update": ("difference",), "endsWith": ("ends_with",),
    "endswith": ("ends_with",), "entry": ("entries",), "error": ("err",), "every": ("all",),
    "execute_with": ("execute_with_schema",), "find": ("index_of",),
    "findIndex": ("position", "index_of"), "find_index": ("position", "index_of"), "flatMap": ("flat_map",),
    "fold_left": ("fold",), "generate": ("execute",), "getOrDefault": ("get",), "has": ("contains",),
    "hasOwnProperty": ("contains_key",), "has_key": ("contains_key",), "head": ("first",),
    "includes": ("contains", "contains_key"), "index": ("index_of",), "indexOf": ("index_of",),
    "inject": ("fold",), "invoke": ("execute",), "isEmpty": ("is_empty",), "is_error": ("is_err",),
    "is_nil": ("is_none",), "is_null": ("is_none",), "is_present": ("is_some",), "is_success": ("is_ok",),
    "isdisjoint": ("intersection",), "issubset": ("is_subset",), "items": ("entries",),
    "iteritems": ("entries",), "length": ("len",), "lower": ("to_lower",),
    "lstrip": ("trim_start",), "nth": ("get",),
    "offer": ("enqueue",), "padEnd": ("pad_right",), "padStart": ("pad_left",),
    "parse": ("parse_int", "parse_float"), "poll": ("dequeue",), "popleft": ("dequeue",),
    "prompt": ("execute",), "push_back": ("push", "enqueue"),
    "put": ("set", "enqueue"), "replaceAll": ("replace",), "replace_all": ("replace",),
    "reversed": ("reverse",), "rjust": ("pad_left",), "rstrip": ("trim_end",), "run": ("execute",),
    "shift": ("dequeue",), "size": ("len",), "some": ("any",), "sort_by_key": ("sort_by",),
    "sorted": ("sort",), "splitlines": ("lines",), "startsWith": ("starts_with",),
    "startswith": ("starts_with",), "str": ("to_string",), "strip": ("trim",), "substr": ("slice",),
    "substring": ("slice",), "tail": ("skip",), "toLowerCase": ("to_lower",), "toUpperCase": ("to_upper",),
    "to_float": ("parse_float",), "to_int": ("parse_int", "round"), "to_list": ("to_array",),
    "to_lowercase": ("to_lower",), "to_str": ("to_string",), "to_uppercase": ("to_upper",),
    "toString": ("to_string",), "to_vec": ("to_array",), "trimEnd": ("trim_end",),
    "trimStart": ("trim_start",), "trim_left": ("trim_start",), "trim_right": ("trim_end",),
    "unwrap_err": ("err",), "uniq": ("unique",), "upper": ("to_upper",),
}  # fmt: skip

_ITSELF = "leave it out: `{0}` itself has `map` and `filter`, and `for` goes through it"
_AT_ONCE = "leave it out: `map`, `filter` and the like give their result at once"
_OWN = "leave it out: every value is a copy of its own"
_LOOP = "write a loop: `for item in {0} {{ … }}`"
_TAKEN_OUT = "take the value out with `?`, with `{0} ?? …` or with `match`"

ADVICE: Final[dict[str, str]] = {
    "Any::is_nil": "compare it: `{0} == nil`",
    "Any::is_null": "compare it: `{0} == nil`",
    "Array::flatten": "what is in Options, without the `None`s, is `{0}.filter_map(|item| item)`",
    "Array::join": "make texts of its items first: `{0}.map(|item| item.to_string())`",
    "Array::shift": "take the first one away with `{0}.remove(0)`",
    "Array::unshift": "put it in front with `{0}.insert(0, …)`",
    "Float::parse": "a String has it: `text.parse_float()?`",
    "Int::parse": "a String has it: `text.parse_int()?`",
    "Int::sqrt": "make it a Float first: `{0}.to_float().sqrt()`",
    "Option::filter": "`{0}.and_then(|x| if … {{ Some(x) }} else {{ None }})` keeps some values only",
    "Option::get": _TAKEN_OUT,
    "Option::or": "`{0} ?? …` gives another Option",
    "Option::value": _TAKEN_OUT,
    "Result::catch": "another value for an `Err` is given by `unwrap_or_else` or `or_else`",
    "Result::unwrap_or_default": "say which value to take: `{0}.unwrap_or(…)`",
    "Result::value": "take the value out with `?`, with `{0}.unwrap_or(…)` or with `match`",
    "String::append": "join strings with `+`, or put one into the other with `${{…}}`",
    "String::charAt": "index it: `{0}[…]`",
    "String::char_at": "index it: `{0}[…]`",
    "String::concat": "join strings with `+`, or put one into the other with `${{…}}`",
    "String::from": "a text in quotes is a String already; any value has `to_string()`",
    "String::new": 'an empty one is `""`',
    "String::format": "put values into the text with `${{…}}`",
    "String::join": "an array joins its items: `items.join({0})`",
    "String::push": "join strings with `+`, or put one into the other with `${{…}}`",
    "String::push_str": "join strings with `+`, or put one into the other with `${{…}}`",
    "as_ref": _OWN,
    "as_str": _OWN,
    "clone": _OWN,
    "cloned": _OWN,
    "collect": _AT_ONCE,
    "copied": _OWN,
    "copy": _OWN,
    "forEach": _LOOP,
    "for_each": _LOOP,
    "into": "name the type that is wanted, `Type::from({0})`; errors become others at `?` by themselves",
    "into_iter": _ITSELF,
    "is_nil": "it always holds a value; what may be missing is an `Option`",
    "is_null": "it always holds a value; what may be missing is an `Option`",
    "iter_mut": "go through its indices: `for i in 0..{0}.len() {{ … }}`",
    "toString": "every value has `to_string()`",
    "to_fixed": "`round`, `floor` and `ceil` give an Int; the text of a Float is `to_string()`",
    "toFixed": "`round`, `floor` and `ceil` give an Int; the text of a Float is `to_string()`",
    "to_list": _AT_ONCE,
    "to_owned": _OWN,
    "to_vec": _AT_ONCE,
    "unwrap_or_default": "say which value to take: `{0} ?? …`, or `{0}.unwrap_or(…)`",
}


def method_for(name: str, names: Collection[str]) -> str | None:
    """The method among `names` that another language calls `name`."""
    return next((here for here in METHODS.get(name, ()) if here in names), None)


def advice_for(owner: str, name: str, receiver: str) -> str:
    """What to write instead of a member of a value of the type `owner`; empty if nobody knows."""
    advice = ADVICE.get(f"{owner}::{name}") or ADVICE.get(name, "")
    return advice.format(receiver)
