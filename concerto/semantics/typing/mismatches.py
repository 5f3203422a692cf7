"""Words for `expected X, found Y`: the fact, a few words for the place, and what to write instead."""

from __future__ import annotations

from typing import TypeGuard

from concerto.diagnostics import did_you_mean, suggest
from concerto.semantics.model.builtins import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    ITERATOR,
    NIL,
    PROMPT,
    RANGE,
    STRING,
    array_item,
    map_parts,
    option_item,
    result_parts,
    task_item,
)
from concerto.semantics.model.symbols import (
    FunctionOf,
    Generic,
    Literals,
    Named,
    StructSymbol,
    TupleOf,
    Type,
    Unsolved,
)
from concerto.semantics.typing.coercion import fit, literal_base
from concerto.semantics.typing.unify import resolve, show, show_both, show_literal
from concerto.source import Source
from concerto.syntax import ast
from concerto.wording import counted, listed

_LONGEST_QUOTE = 30
_MADE_OF_TEXT = ("AgentError", "ToolError", "SchemaError", "EmitError")


def explain_mismatch(source: Source, node: ast.Node, expected: Type, found: Type) -> tuple[str, str, str]:
    """Message, label and help for an expression of the wrong type."""
    expected, found = resolve(expected), resolve(found)
    wanted, given = show_both(expected, found)
    message = f"expected `{wanted}`, found `{given}`"
    return message, _label(expected, found), _help(source, node, expected, found)


def condition_help(source: Source, node: ast.Node, found: Type) -> str:
    """What to write where a Bool is asked for and something else stands."""
    found = resolve(found)
    if isinstance(node, ast.Assign) and node.op == "=":
        return "`==` compares, `=` assigns"
    quoted = quote(source, node)
    if found in (INT, FLOAT):
        return f"compare it: `{quoted} != 0`"
    if found is STRING or array_item(found) is not None or map_parts(found) is not None:
        return f"ask whether there is something in it: `!{quoted}.is_empty()`"
    if option_item(found) is not None:
        return f"ask whether there is a value: `{quoted}.is_some()`"
    if result_parts(found) is not None:
        return f"ask whether it went well: `{quoted}.is_ok()`"
    return "a condition is `true` or `false`; compare the value with something"


def quote(source: Source, node: ast.Node) -> str:
    """The expression as written, ready for a postfix operator; `…` if it is long."""
    text = source.text[node.start : node.end]
    if len(text) > _LONGEST_QUOTE or "\n" in text:
        return "…"
    loose = ast.Binary | ast.Unary | ast.Pipe | ast.RangeExpr | ast.Cast | ast.Assign | ast.Closure
    return f"({text})" if isinstance(node, loose) and not is_parenthesised(text) else text


def is_parenthesised(text: str) -> bool:
    """Whether one pair of parentheses is around all of it."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place == len(text) - 1 and place > 0
    return False


def bare_key(node: ast.Node) -> TypeGuard[ast.StringLit]:
    """Whether the key of a map is a name without quotes."""
    return isinstance(node, ast.StringLit) and node.end - node.start == len(node.value)


def bare_key_help(node: ast.StringLit) -> str:
    return f"as a key, a bare name is a String; `({node.value})` is the value of that name"


def _label(expected: Type, found: Type) -> str:
    if isinstance(expected, Literals) and (found is STRING or isinstance(found, Literals)):
        return f"one of {listed([show_literal(value) for _, value in expected.values])} is asked for"
    if (
        isinstance(expected, TupleOf)
        and isinstance(found, TupleOf)
        and len(expected.items) != len(found.items)
    ):
        return f"{counted(len(found.items), 'element')} instead of {len(expected.items)}"
    return ""


def _help(source: Source, node: ast.Node, expected: Type, found: Type) -> str:
    quoted = quote(source, node)
    if found is STRING and bare_key(node):
        return bare_key_help(node)
    if map_parts(found) is not None and isinstance(expected, Named) and expected.symbol.name == "HashMap":
        return "braces make a `Map`; a hashmap, which all share, begins as `HashMap::new()`"
    if isinstance(node, ast.Call) and isinstance(node.callee, ast.Path) and node.callee.name == "emit":
        return f"wait for the answer: `{quoted}.await?`"
    base = found if not isinstance(found, Literals) else literal_base(found) or found
    if isinstance(expected, Generic) and expected.symbol.accepts is not None:
        return f"write `impl {show(expected)} for {show(base)} {{ … }}`"
    inside = option_item(base)
    if inside is not None and _would_fit(inside, expected):
        return f"give a value for `None`: `{quoted} ?? …`, or pass it on with `{quoted}?`"
    parts, wanted = result_parts(base), result_parts(expected)
    if parts is not None and (resolve(parts[0]) is ANY or _would_fit(parts[0], expected)):
        return f"take the value out: `{quoted}?`, or `match` on `Ok` and `Err`"
    if parts is not None and expected in (STRING, PROMPT) and show(resolve(parts[0])) == "Response":
        return f"take the text of the answer: `{quoted}?.text`"
    if parts is not None and isinstance(resolve(parts[0]), Unsolved) and wanted is None and _is_err(node):
        return f"say that it may fail: `-> Result<{show(expected)}, {show(parts[1])}>`"
    task = task_item(base)
    if task is not None and _would_fit(task, expected):
        # A point binds tighter than `spawn`.
        waiting = f"await {quoted}" if isinstance(node, ast.Spawn) else f"{quoted}.await"
        return f"wait for it: `{waiting}`"
    if isinstance(base, FunctionOf) and _would_fit(base.result, expected):
        return f"call it: `{quoted}({', '.join('…' for _ in base.parameters)})`"
    if parts is not None and show(resolve(parts[0])) == "Response":
        if wanted is not None and resolve(wanted[0]) is STRING:
            return f"take the text of the answer: `Ok({quoted}?.text)`"
        asked = resolve(expected if wanted is None else wanted[0])
        if isinstance(asked, Named):
            return f"ask for a value of the type: `execute_with_schema<{show(asked)}>(…)`"
    item = array_item(base)
    if (
        wanted is not None
        and array_item(wanted[0]) is not None
        and item is not None
        and result_parts(resolve(item))
    ):
        return f"make one Result of them: `{quoted}.collect()`"
    if wanted is not None and (isinstance(resolve(wanted[0]), Unsolved) or _would_fit(base, wanted[0])):
        if isinstance(node, ast.Break):
            return f"leave with a value: `{_source_text(source, node)} Ok(nil)`"
        return f"wrap it: `Ok({_source_text(source, node)})`"
    if wanted is not None and _would_fit(base, wanted[1]):
        return f"a failure is `Err({_source_text(source, node)})`"
    advice = _conversion_help(quoted, expected, base) or _collection_help(quoted, node, expected, base)
    if base is FLOAT and expected is INT and isinstance(node, ast.Binary) and node.op == "-":
        # A difference that is cut says of values that are close that they are equal.
        sides = f"{_source_text(source, node.left)}, {_source_text(source, node.right)}"
        return f"to order by it, write `compare({sides})`; else {advice}"
    return advice


def _conversion_help(quoted: str, expected: Type, found: Type) -> str:
    match expected, found:
        case _ if found is STRING and expected is INT:
            return f"parse it with `{quoted}.parse_int()?`"
        case _ if found is STRING and expected is FLOAT:
            return f"parse it with `{quoted}.parse_float()?`"
        case _ if found is FLOAT and expected is INT:
            return f"cut it with `{quoted} as Int`, or round it with `{quoted}.round()`"
        case _ if quoted == "nil" and option_item(expected) is not None:
            return "a value that is missing is `None`"
        case _ if quoted in ("nil", "None"):
            return f"what may be missing is an `Option<{show(expected)}>`, and then `None`"
        case _ if expected in (STRING, PROMPT) and show(found) == "Response":
            return f"take the text of the answer: `{quoted}.text`"
        case _ if expected is PROMPT and _is_conversation(found):
            return "a conversation is a list of messages: `chat(…)` in place of `execute(…)`"
        case _ if found is STRING and isinstance(expected, Named) and expected.symbol.name in _MADE_OF_TEXT:
            return f"make one of the text: `{show(expected)}::new({quoted})`"
        case _ if expected in (STRING, PROMPT) and found is not NIL:
            return f"make it text with `{quoted}.to_string()`"
        case _ if expected is BOOL and found is INT:
            return f"compare it: `{quoted} != 0`"
        case _ if expected is NIL:
            return "end it with `;` to drop the value"
        case _:
            return ""


def _is_err(node: ast.Node) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.callee, ast.Path) and node.callee.name == "Err"


def _is_conversation(found: Type) -> bool:
    item = array_item(found)
    return item is not None and (show(resolve(item)) == "Message" or map_parts(resolve(item)) is not None)


def _collection_help(quoted: str, node: ast.Node, expected: Type, found: Type) -> str:
    if found is BOOL and expected is INT and isinstance(node, ast.Binary) and node.op in ("<", ">"):
        return "to say an order, give a negative Int, 0 or a positive one; `sort_by_key` needs no comparison"
    struct = expected.symbol if isinstance(expected, Named) else None
    if isinstance(node, ast.MapLit) and isinstance(struct, StructSymbol):
        return f"write `{struct.name} {{ {', '.join(f'{field.name}: …' for field in struct.fields[:4])} }}`"
    item = array_item(expected)
    if (
        item is not None
        and isinstance(node, ast.MethodCall)
        and node.method.text == "collect"
        and map_parts(found)
    ):
        return "`collect()` of pairs makes a map; `to_array()` gives the array"
    if item is not None and isinstance(found, Named) and found.symbol in (ITERATOR, RANGE.symbol):
        return f"make an array of it: `{quoted}.to_array()`"
    if item is not None and (resolve(item) is ANY or _would_fit(found, item)):
        return "put it into an array: `[…]`"
    if isinstance(expected, Literals) and found is STRING and isinstance(node, ast.StringLit):
        near = suggest(node.value, [value for _, value in expected.values if isinstance(value, str)])
        return did_you_mean(near and show_literal(near))
    if isinstance(expected, Literals) and found is STRING:
        return (
            "name the type where the literals stand (`let x: T = …`); turn other text into one with `match`"
        )
    return ""


def _source_text(source: Source, node: ast.Node) -> str:
    text = source.text[node.start : node.end]
    return text if len(text) <= _LONGEST_QUOTE and "\n" not in text else "…"


def _would_fit(found: Type, expected: Type) -> bool:
    """Whether one would do for the other, asked only of types that are known and plain."""
    found, expected = resolve(found), resolve(expected)
    if isinstance(found, Unsolved) or isinstance(expected, Unsolved) or found is ANY or expected is ANY:
        return False
    return fit(found, expected) is not None


def has_lost_bound(type_: Generic) -> bool:
    """Whether a bound of the parameter was reported, so that nobody knows what the type can do."""
    declared = type_.symbol.node
    return isinstance(declared, ast.GenericParam) and len(declared.bounds) > len(type_.symbol.bounds)
