"""What members of other languages are called here, or what is written instead.

A help is given only where it helps: `METHODS` names methods that the type has to have, `ADVICE` what to write
where there is no such method. `Type::name` stands before `name`, `enum::name` is that of any enum of the
program, `::name` is asked of a type itself, `function::name` is an argument, and `Type::function()` has one
too many. `{0}` is what the member was asked of, `{1}` its type, `{2}` the name.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from concerto.semantics.typing.type_expressions import CONSTANTS

_OF_MANY: Final = ("addAll", "add_all", "append_all", "extend_from_slice", "push_all")

METHODS: Final[dict[str, tuple[str, ...]]] = {
    "add": ("push", "insert", "append", "enqueue", "set"), "push": ("enqueue",), "pop": ("dequeue",),
    "dequeue": ("pop",), "enqueue": ("push",), "top": ("peek",), "front": ("peek", "first"),
    "back": ("last",), "pop_front": ("dequeue",), "pop_back": ("pop",), "insert": ("set",),
    "remove": ("delete",), "contains_key": ("has",), "as_int": ("code_point",), "charCodeAt": ("code_point",),
    "ord": ("code_point",), "is_numeric": ("is_digit",), "is_ascii_digit": ("is_digit",),
    "is_alpha": ("is_alphabetic",), "isalpha": ("is_alphabetic",), "isdigit": ("is_digit",),
    "isspace": ("is_whitespace",), "isupper": ("is_uppercase",), "islower": ("is_lowercase",),
    "max_by": ("max_by_key",), "min_by": ("min_by_key",), "sliding": ("windows",),
    **dict.fromkeys(_OF_MANY, ("extend",)),
    "append": ("push", "extend", "enqueue"), "ask": ("execute",), "call": ("execute",),
    "acall": ("execute",), "ainvoke": ("execute",), "arun": ("execute",), "completion": ("execute",),
    "create": ("execute",), "kickoff": ("execute", "run"), "message": ("execute", "text"),
    "predict": ("execute",), "query": ("execute",), "run_sync": ("execute",), "send": ("execute",),
    "start": ("execute", "run"), "execute_as": ("execute_with_schema",), "extract": ("execute_with_schema",),
    "generate_object": ("execute_with_schema",), "structured": ("execute_with_schema",),
    "with_structured_output": ("execute_with_schema",), "add_tool": ("with_tools",),
    "bind_tools": ("with_tools",), "register_tool": ("with_tools",), "with_instructions": ("with_system",),
    "with_max_turns": ("with_max_iterations",), "answer": ("text",), "content": ("text",),
    "data": ("text",), "final_output": ("text",), "output": ("text",), "status_code": ("status",),
    "finish_reason": ("stop_reason",), "history": ("messages",), "with_messages": ("chat",),
    "with_history": ("chat",), "delete": ("remove",),
    "collect": ("to_array",), "complete": ("execute",), "concat": ("union", "merge"),
    "contains": ("contains_key", "has"), "containsKey": ("contains_key",), "count": ("len",),
    "difference_update": ("difference",), "endsWith": ("ends_with",),
    "endswith": ("ends_with",), "error": ("err",), "every": ("all",),
    "execute_with": ("execute_with_schema",), "find": ("index_of",),
    "findIndex": ("position", "index_of"), "find_index": ("position", "index_of"), "flatMap": ("flat_map",),
    "fold_left": ("fold",), "generate": ("execute",), "getOrDefault": ("get",), "has": ("contains",),
    "hasOwnProperty": ("contains_key",), "has_key": ("contains_key",), "head": ("first",),
    "includes": ("contains", "contains_key"), "index": ("index_of",), "indexOf": ("index_of",),
    "inject": ("fold",), "invoke": ("execute", "run"), "execute": ("run",), "isEmpty": ("is_empty",),
    "is_error": ("is_err",),
    "is_nil": ("is_none",), "is_null": ("is_none",), "is_present": ("is_some",), "is_success": ("is_ok",),
    "isdisjoint": ("intersection",), "issubset": ("is_subset",), "items": ("entries",),
    "iteritems": ("entries",), "length": ("len",), "lower": ("to_lower",),
    "lstrip": ("trim_start",), "rfind": ("last_index_of",), "removeprefix": ("strip_prefix",),
    "removesuffix": ("strip_suffix",), "nth": ("get",),
    "offer": ("enqueue",), "padEnd": ("pad_right",), "padStart": ("pad_left",),
    "parse": ("parse_int", "parse_float", "execute_with_schema"), "poll": ("dequeue",),
    "popleft": ("dequeue",),
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
    "unwrap_err": ("err",), "delta": ("text",), "sequence": ("collect",), "transpose": ("collect",),
    "try_collect": ("collect",), "uniq": ("unique",), "upper": ("to_upper",),
}  # fmt: skip

_ITSELF = "leave it out: `{0}` itself has `map` and `filter`, and `for` goes through it"
_AT_ONCE = "leave it out: `map`, `filter` and the like give their result at once"
_OWN = "leave it out: every value is a copy of its own"
_LOOP = "write a loop: `for item in {0} {{ … }}`"
_OF_OPTIONS = 'write `{0}.with_options({{"max_tokens": 500, "timeout": 30}})`'
_MESSAGE = 'write `Message {{ role: "user", content: "…" }}`'
_READ = "write `parse_schema<{1}>(text)?`"
_WRITTEN = "write `use std::json;` at the top of the file, and `json::stringify({0})`"
_TOKENS = "it has `tokens_in`, `tokens_out` and `cost_usd`"
_DECLARED = "declare the function in the `mcp` block, and call it: `{0}.name(…)`"
_STARTED = "leave it out: a run starts and ends its servers"
_WAITED = "wait for it: `{0}.await`"
_TYPE_OF_ANSWER = "the type is named in the call: `execute_with_schema<T>(prompt)`"
_CHATS = "a conversation is a list of messages: `chat(messages)`"
_BEFORE = 'say it before the call: `with_options({{"{2}": …}}).execute(prompt)`'
_CHECKED = (
    "operators stop where a result does not fit: `try {{ Some({0} {3} …) }} catch {{ None }}` asks for it"
)
_WRAPPED = "if it fits into 64 bits, cut off those that are too many: `({0} {3} …) & 0xFFFFFFFF`"
_CLAMPED = "keep it within bounds with `{0}.clamp(low, high)`"
_ORDERED = "write `{0}.compare(…)`"
_MISSING = "put in what is missing: `{0}[key] = {0}.get(key) ?? …`"
_CHARACTER = "index it: `{0}[…]`; an Option of a character is `{0}.chars().{2}(…)`"
_LARGER = "ask which is larger: `if {0} < … {{ … }} else {{ … }}`"
_IN_PLACE = "everything is a value, and changed where it is: `{0}[{2}].…`, `{0}[{2}] = …`"
_BY_KEYS = "go through the keys: `for key in {0}.keys() {{ {0}[key].… }}`"
_PUT_BACK = "take it out and put it back: `if let {2}(mut x) = {0} {{ …; {0} = {2}(x); }}`"
_FILLED = "assign to it: `{0} = Some(…)`; its value before is a copy: `let before = {0};`"
_TAKEN_OUT = "take the value out with `?`, with `{0} ?? …` or with `match`"
_OF_MATH = "write `use std::math;` at the top of the file, and `math::{2}({0})`"

ADVICE: Final[dict[str, str]] = {
    "AgentRef::batch": "write `parallel for prompt in prompts, limit: 4 {{ {0}.execute(prompt) }}`",
    "AgentRef::mock": 'write `mock {0} {{ response: "…" }}` in a `@test`',
    "AgentRef::with_max_tokens": _OF_OPTIONS,
    "AgentRef::with_retries": "the agent says it: `retry_policy: {{ max_attempts: 3 }}`",
    "AgentRef::with_timeout": _OF_OPTIONS,
    "Any::is_nil": "compare it: `{0} == nil`",
    "Any::is_null": "compare it: `{0} == nil`",
    "Array::first_mut": _IN_PLACE.replace("{2}", "0"),
    "Array::get_mut": _IN_PLACE.replace("{2}", "i"),
    "Array::last_mut": _IN_PLACE.replace("{2}", "{0}.len() - 1"),
    "Map::get_mut": _IN_PLACE.replace("{2}", "key"),
    **dict.fromkeys(("Map::iter_mut", "Map::values_mut"), _BY_KEYS),
    **dict.fromkeys(("Option::as_mut", "Option::as_deref_mut"), _PUT_BACK.replace("{2}", "Some")),
    "Option::get_or_insert_with": "`{0} ?? …` gives another value for `None`; keep it: `{0} = Some(…)`",
    **dict.fromkeys(("Option::insert", "Option::replace"), _FILLED),
    "Result::as_mut": _PUT_BACK.replace("{2}", "Ok"),
    "Array::flatten": "what is in Options, without the `None`s, is `{0}.filter_map(|item| item)`",
    "Array::join": "make texts of its items first: `{0}.map(|item| item.to_string())`",
    "Array::drain": "what was in it is a copy: `let all = {0};`, then `{0}.clear()`",
    "Array::retain": "keep some of it: `{0} = {0}.filter(|item| …)`",
    **dict.fromkeys(("Array::mean", "Array::average", "Array::avg"), "divide its `sum()` by its `len()`"),
    "Array::binary_search": "`{0}.index_of(…)` finds an item, `{0}.position(|item| …)` one of its kind",
    "Array::rotate_left": "write `{0}.skip(n).concat({0}.take(n))`",
    **dict.fromkeys(("Array::shift", "Array::pop_front"), "take the first one away with `{0}.remove(0)`"),
    **dict.fromkeys(("Array::unshift", "Array::push_front"), "put it in front with `{0}.insert(0, …)`"),
    **CONSTANTS,
    **dict.fromkeys([f"Float::{name}" for name in ("sin", "cos", "tan", "exp", "ln", "log10")], _OF_MATH),
    "Float::parse": "a String has it: `text.parse_float()?`",
    **dict.fromkeys(("Int::checked_add", "Int::checked_mul", "Int::checked_sub"), _CHECKED),
    **dict.fromkeys(("Int::saturating_add", "Int::saturating_mul", "Int::saturating_sub"), _CLAMPED),
    **dict.fromkeys(("Int::wrapping_add", "Int::wrapping_mul", "Int::wrapping_sub"), _WRAPPED),
    "Int::count_ones": 'count them in its text: `"${{{0}:b}}".chars().filter(|bit| bit == "1").len()`',
    "Int::abs_diff": "write `({0} - …).abs()`",
    "Int::is_negative": "compare it: `{0} < 0`",
    "Int::is_positive": "compare it: `{0} > 0`",
    "Int::rem_euclid": "write `({0} % divisor + divisor) % divisor`",
    "Int::parse": "a String has it: `text.parse_int()?`",
    "Int::sqrt": "make it a Float first: `{0}.to_float().sqrt()`",
    **dict.fromkeys(
        ("HashMap::entry", "HashMap::get_mut"), "write `{0}.update(key, |old| …)`, where `old` is an Option"
    ),
    **dict.fromkeys(("Map::entry", "Map::setdefault", "Map::get_or_insert"), _MISSING),
    "Map::retain": "keep some of it: `{0} = {0}.filter(|key, value| …)`",
    **dict.fromkeys(("Map::get_or", "Map::get_or_default"), "write `{0}.get(…).unwrap_or(…)`"),
    "Option::filter": "`{0}.and_then(|x| if … {{ Some(x) }} else {{ None }})` keeps some values only",
    "Option::get": _TAKEN_OUT,
    "Option::is_some_and": "write `{0}.map(|x| …) ?? false`",
    "Option::map_or": "write `{0}.map(|x| …) ?? …`",
    "Option::zip": "look at both: `if let Some(a) = {0} && let Some(b) = … {{ … }}`",
    "Option::take": "look at it, then write `{0} = None`",
    "Option::or": "`{0} ?? …` gives another Option",
    "Option::value": _TAKEN_OUT,
    "Array::repeat": "write `(0..n).map(|_| …)`, with the item in place of `…`",
    "enum::name": "`match` says a name for each variant; `${{{0}}}` is the text `Type::Variant`",
    "Float::round()": 'as text: `"${{x:.2}}"`; as a Float: `(x * 100.0).round() as Float / 100.0`',
    "Map::get()": "another value for `None` is given by `get(key).unwrap_or(…)`",
    "HashMap::get()": "another value for `None` is given by `get(key).unwrap_or(…)`",
    "Array::get()": "another value for `None` is given by `get(index).unwrap_or(…)`",
    "Array::product": "write `{0}.fold(1, |all, item| all * item)`",
    "Range::reverse": "count down through a turned copy: `{0}.to_array().reverse()`",
    "Range::rev": "count down through a turned copy: `{0}.to_array().reverse()`",
    "Result::catch": "another value for an `Err` is given by `unwrap_or_else` or `or_else`",
    "Result::unwrap_or_default": "say which value to take: `{0}.unwrap_or(…)`",
    "Result::value": "take the value out with `?`, with `{0}.unwrap_or(…)` or with `match`",
    "String::append": "join strings with `+`, or put one into the other with `${{…}}`",
    "String::bytes": "its characters are numbers by `{0}.chars().map(|c| c.code_point())`",
    "String::char_indices": "write `{0}.chars().enumerate()`",
    "String::enumerate": "write `{0}.chars().enumerate()`",
    "String::charAt": "index it: `{0}[…]`",
    "String::char_at": "index it: `{0}[…]`",
    "String::concat": "join strings with `+`, or put one into the other with `${{…}}`",
    "String::from": "a text in quotes is a String already; any value has `to_string()`",
    "String::new": 'an empty one is `""`',
    **dict.fromkeys(("String::max", "String::min"), _LARGER),
    **dict.fromkeys(("String::get", "String::first", "String::last"), _CHARACTER),
    **dict.fromkeys(("String::at", "String::nth"), "index it: `{0}[…]`"),
    "String::format": "put values into the text with `${{…}}`",
    "String::join": "an array joins its items: `items.join({0})`",
    "String::trim_matches": "loop over `strip_prefix` and `strip_suffix`; `trim` cuts off white space",
    "String::splitn": "cut it once with `{0}.split_once(…)`; `split` gives all parts",
    "String::take": "write `{0}[..n]`, where `n` is at most its length",
    "String::skip": "write `{0}[n..]`, where `n` is at most its length",
    "Iterator::rev": "turn a copy around: `{0}.to_array().reverse()`",
    "String::push": "join strings with `+`, or put one into the other with `${{…}}`",
    "String::push_str": "join strings with `+`, or put one into the other with `${{…}}`",
    **dict.fromkeys(("Response::usage", "Response::total_tokens"), _TOKENS),
    "Response::choices": "the answer is its `text`",
    **dict.fromkeys(("Message::new", "Message::user", "Message::system", "Message::assistant"), _MESSAGE),
    "HttpResponse::json": "write `use std::json;` at the top of the file, and `json::parse({0}.body)?`",
    "HttpResponse::ok": "compare its `status`: `{0}.status < 400`",
    "HttpResponse::text": "its text is `{0}.body`",
    **dict.fromkeys(("Task::join", "Task::result", "Task::get", "Task::wait"), _WAITED),
    "Task::all": "wait for each: `tasks.map(|task| task.await)`",
    **dict.fromkeys(
        ("ToolRef::call_tool", "ToolRef::list_tools", "ToolRef::call", "ToolRef::tools"), _DECLARED
    ),
    **dict.fromkeys(
        ("ToolRef::connect", "ToolRef::start", "ToolRef::close", "ToolRef::initialize"), _STARTED
    ),
    **dict.fromkeys(
        (
            "from_json",
            "from_str",
            "parse_obj",
            "parse_raw",
            "model_validate",
            "model_validate_json",
            "::parse",
        ),
        _READ,
    ),
    **dict.fromkeys(("asdict", "json", "model_dump", "model_dump_json", "to_dict", "to_json"), _WRITTEN),
    **dict.fromkeys(
        (
            "execute::schema",
            "execute::output_type",
            "execute::result_type",
            "execute::response_model",
            "execute::response_format",
        ),
        _TYPE_OF_ANSWER,
    ),
    **dict.fromkeys(("execute::history", "execute::messages", "execute::message_history"), _CHATS),
    **dict.fromkeys(
        ("execute::temperature", "execute::max_tokens", "execute::model", "execute::timeout"), _BEFORE
    ),
    "execute::tools": "say it before the call: `with_tools([…]).execute(prompt)`",
    **dict.fromkeys(
        ("execute::system", "execute::system_prompt", "execute::instructions"),
        "say it before the call: `with_system(text).execute(prompt)`",
    ),
    **dict.fromkeys(
        ("execute::deps", "execute::context"), "say it before the call: `with_data({{…}}).execute(prompt)`"
    ),
    "as_ref": _OWN,
    "as_str": _OWN,
    "clone": _OWN,
    "cloned": _OWN,
    "cmp": _ORDERED,
    "partial_cmp": _ORDERED,
    "collect": _AT_ONCE,
    "copied": _OWN,
    "copy": _OWN,
    "each": _LOOP,
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
    sign = {"add": "+", "sub": "-"}.get(name.rpartition("_")[2], "*")
    return advice.format(receiver, owner, name, sign)


def advice_on_argument(function: str, name: str) -> str:
    """What to write instead of an argument of a name that the function does not know."""
    return ADVICE.get(f"{function}::{name}", "").format("", function, name)


def advice_on_more(native: str) -> str:
    """What to write instead of more arguments than a function of the library takes."""
    return ADVICE.get(f"{native}()", "").format()
