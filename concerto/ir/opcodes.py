"""The instruction set: every opcode once.

Control flow is structured, as in WebAssembly. `BLOCK LOOP FOR IF TRY SWITCH` open a region that `END`
closes; `BR n` leaves n regions and continues after the nth one's `END`, or at its start if that region
is a `LOOP` or `FOR`. The `END` of a `LOOP` or `FOR` jumps back to its start, so a `LOOP` is left by `BR`
only. A region's result count (0 or 1) is an operand; at `END` (and at a `BR` to a region that is no loop)
exactly that many values lie above the height at which the region was opened. A function whose end is
reached with nothing on the stack returns nil.

Operand kinds: `const local function type` are indices into the module's or function's tables, `slot`
a field index, `count` a number of stack values, `level` a number of regions, `result` 0 or 1, `flag` 0
or 1, `name` a string, `int` a plain number.

`stack` is the picture before and after: `a b -> c`, the top at the right; `x*n` is n values.

`python` is what the Python tier writes for an opcode that is one expression or statement: each value of the
picture once and in order (`{0} {1}`), operands by their kind (`{slot}`). Opcodes without one are written by
their own function in the tier. `gives` is the type of the result if it is always the same; `int!` has
still to be checked against 64 bits. `effect` says what order means to it: `pure` neither fails nor looks at
what can change, `read` may, `act` may also change something.
"""

from __future__ import annotations

from concerto.records import record


@record(frozen=True)
class Opcode:
    name: str
    operands: tuple[str, ...]
    stack: str
    meaning: str
    python: str = ""
    gives: str = ""
    effect: str = "act"


OPCODES: dict[str, Opcode] = {}


def _op(
    name: str, operands: str, stack: str, meaning: str, python: str = "", gives: str = "", effect: str = "act"
) -> None:
    OPCODES[name] = Opcode(name, tuple(operands.split()), stack, meaning, python, gives, effect)


# Constants, locals, references
_op("LOAD_CONST", "const", "-> value", "push a constant (Int, Float, String)")
_op("LOAD_TRUE", "", "-> true", "push true", "True", "bool", "pure")
_op("LOAD_FALSE", "", "-> false", "push false", "False", "bool", "pure")
_op("LOAD_NIL", "", "-> nil", "push nil", "None", "nil", "pure")
_op("LOAD_NONE", "", "-> None", "push the empty Option", "NONE", "option", "pure")
_op("LOAD_LOCAL", "local", "-> value", "push a local")
_op("STORE_LOCAL", "local", "value ->", "assign a local")
_op("LOAD_FUNCTION", "function", "-> fn", "push a function as a value")
_op("LOAD_NATIVE", "name", "-> fn", "push a library function as a value")
_op(
    "MAKE_CLOSURE",
    "function count",
    "captures*count -> fn",
    "push a closure; captures become the function's first locals",
)
_op("LOAD_TYPE", "type", "-> type", "push a type as a value, for functions that need one (`parse_schema<T>`)")
_op(
    "LOAD_REF",
    "name name",
    "-> handle",
    "push a declared handle: kind (agent tool method mcp host pipeline hashmap ledger memory) and name",
)
_op("POP", "", "value ->", "drop the top")

# Arithmetic. Int forms check for 64-bit overflow and zero divisors; forms without a suffix look at run-time
# types.
for _name, _word, _sign, _function in (
    ("ADD", "sum", "+", "add"),
    ("SUB", "difference", "-", "subtract"),
    ("MUL", "product", "*", "multiply"),
):
    _op(f"{_name}_INT", "", "a b -> c", _word, f"{{0}} {_sign} {{1}}", "int!", "pure")
    _op(f"{_name}_FLOAT", "", "a b -> c", _word, f"{{0}} {_sign} {{1}}", "float", "pure")
    _op(_name, "", "a b -> c", _word, f"{_function}({{0}}, {{1}})", "", "read")
_op("DIV_INT", "", "a b -> c", "quotient, truncated", gives="int!", effect="read")
_op("REM_INT", "", "a b -> c", "remainder, sign of the dividend", gives="int", effect="read")
_op("POW_INT", "", "a b -> c", "power", "power_int({0}, {1})", "int", "read")
for _name, _word, _function in (
    ("DIV", "quotient, truncated for Ints", "divide"),
    ("REM", "remainder, sign of the dividend", "remainder"),
    ("POW", "power", "power"),
):
    _op(f"{_name}_FLOAT", "", "a b -> c", _word, f"{_function}_float({{0}}, {{1}})", "float", "pure")
    _op(_name, "", "a b -> c", _word, f"{_function}({{0}}, {{1}})", "", "read")
_op("NEG_INT", "", "a -> b", "negation", "-{0}", "int!", "pure")
_op("NEG_FLOAT", "", "a -> b", "negation", "-{0}", "float", "pure")
_op("NEG", "", "a -> b", "negation", "negate({0})", "", "read")
for _name, _word, _sign in (("AND", "and", "&"), ("OR", "or", "|"), ("XOR", "exclusive or", "^")):
    _op(f"BIT_{_name}", "", "a b -> c", f"{_word} of the bits of Ints", f"{{0}} {_sign} {{1}}", "int", "pure")
_op("BIT_NOT", "", "a -> b", "the bits of an Int turned around", "~{0}", "int", "pure")
_op(
    "SHIFT_LEFT",
    "",
    "a b -> c",
    "Int shifted by 0 to 63 bits, 64 are kept",
    "shift_left({0}, {1})",
    "int",
    "read",
)
_op(
    "SHIFT_RIGHT",
    "",
    "a b -> c",
    "Int shifted by 0 to 63 bits, sign kept",
    "shift_right({0}, {1})",
    "int",
    "read",
)
_op("CONCAT", "", "a b -> c", "joined strings; RuntimeError if they are too long", "", "str", "read")
_op("NOT", "", "a -> b", "logical not", "not {0}", "bool", "pure")
_op("INT_TO_FLOAT", "", "a -> b", "Int as Float", "float({0})", "float", "pure")
_op(
    "FLOAT_TO_INT",
    "",
    "a -> b",
    "Float truncated to Int; RuntimeError if it does not fit",
    "float_to_int({0})",
    "int",
    "read",
)


def _plain(name: str, sign: str) -> None:
    told = f"a {sign} b, plain values of one type"
    _op(f"{name}_PLAIN", "", "a b -> bool", told, f"{{0}} {sign} {{1}}", "bool", "read")


# Comparison. Suffixed forms know their operands; the others compare by content with Int == Float allowed and
# true != 1. Plain are enums without payload, and arrays and tuples of these, Ints, Strings and Bools.
for _name, _sign, _dynamic in (
    ("LT", "<", "less({0}, {1})"),
    ("LE", "<=", "less_or_equal({0}, {1})"),
    ("GT", ">", "greater({0}, {1})"),
    ("GE", ">=", "greater_or_equal({0}, {1})"),
):
    for _suffix in ("_INT", "_FLOAT", "_STRING"):
        _op(_name + _suffix, "", "a b -> bool", f"a {_sign} b", f"{{0}} {_sign} {{1}}", "bool", "pure")
    _plain(_name, _sign)
    _op(_name, "", "a b -> bool", f"a {_sign} b", _dynamic, "bool", "read")
for _name, _sign, _dynamic in (("EQ", "==", "equal({0}, {1})"), ("NE", "!=", "not equal({0}, {1})")):
    for _suffix in ("_INT", "_FLOAT", "_STRING", "_BOOL"):
        _op(_name + _suffix, "", "a b -> bool", f"a {_sign} b", f"{{0}} {_sign} {{1}}", "bool", "pure")
    _plain(_name, _sign)
    _op(_name, "", "a b -> bool", f"a {_sign} b", _dynamic, "bool", "read")

# Building values
_op("BUILD_ARRAY", "count", "x*count -> array", "new array")
_op("BUILD_MAP", "count", "(k v)*count -> map", "new map, later keys win")
_op("BUILD_TUPLE", "count", "x*count -> tuple", "new tuple")
_op("BUILD_STRUCT", "type count", "x*count -> struct", "new struct, fields in declared order")
_op("BUILD_VARIANT", "type int count", "x*count -> enum", "new enum value of variant number int")
_op("BUILD_SOME", "", "x -> option", "Some(x)", "Some({0})", "option", "pure")
_op("BUILD_OK", "", "x -> result", "Ok(x)", "Ok({0})", "result", "pure")
_op("BUILD_ERR", "", "x -> result", "Err(x)", "Err({0})", "result", "pure")
_op("BUILD_RANGE", "flag", "low high -> range", "low..high, or low..=high if flag")
_op(
    "FORMAT",
    "count name",
    "x*count -> string",
    "texts of the values joined (interpolation); a letter a value: `i f s` of an Int, Float, String",
)
_op(
    "FORMAT_AS",
    "name name",
    "x -> string",
    "an Int, Float or String in a format (`${x:.2}`), and its letter; TypeError if it has no such format",
    "format_as({0}, {name})",
    "str",
    "read",
)
_op("TO_STRING", "", "x -> string", "text of a value")

# Reading and writing parts. Places are reached by reference; writes change the value in place.
_op("GET_FIELD", "slot", "struct -> x", "field of a struct or tool state", "{0}.f{slot}", "", "read")
_op("SET_FIELD", "slot", "struct x ->", "assign a field", "{0}.f{slot} = {1}")
_op("SET_FIELD_OF", "slot type", "struct x ->", "assign a field of a struct of the type", "{0}.f{slot} = {1}")
_op(
    "GET_MEMBER",
    "name",
    "any -> x",
    "member by name: errors, Response, Any holding a struct or a map",
    "get_member({0}, {name})",
    "",
    "read",
)
_op(
    "OWN_MEMBER",
    "name",
    "any -> x",
    "as GET_MEMBER, to be changed and put back by WITH_MEMBER: a copy, unless any value may stand there",
    "own_member({0}, {name})",
)
_op(
    "WITH_MEMBER",
    "name",
    "any x -> any",
    "the value with a member, changed in place where it can be; TypeError if the field has another type",
    "with_member({0}, {name}, {1})",
)
_op("GET_ITEM", "slot", "tuple -> x", "element of a tuple", "{0}[{slot}]", "", "read")
_op("GET_ITEM_OF", "slot count", "tuple -> x", "element of a tuple of so many", "{0}[{slot}]", "", "read")
_op(
    "WITH_ITEM",
    "slot",
    "tuple x -> tuple",
    "the tuple with one element replaced",
    "with_item({0}, {slot}, {1})",
    "tuple",
    "read",
)
_op("GET_PAYLOAD", "slot", "enum -> x", "payload field of the current variant", "{0}.f{slot}", "", "read")
_op("SET_PAYLOAD", "slot", "enum x ->", "assign a payload field", "{0}.f{slot} = {1}")
_op("UNWRAP", "", "some|ok|err -> x", "the content; the case was tested before", "{0}.value", "", "read")
_op("INDEX_ARRAY", "", "array i -> x", "element; RuntimeError out of bounds", effect="read")
_op(
    "INDEX_MAP",
    "",
    "map k -> x",
    "value of a key; RuntimeError if missing",
    "{0}[{1}]",
    "",
    "read",
)
_op("INDEX_STRING", "", "string i -> string", "one code point; RuntimeError out of bounds", effect="read")
_op("INDEX", "", "any i -> x", "by run-time type", "index({0}, {1})", "", "read")
_op("SET_INDEX_ARRAY", "", "array i x ->", "assign an element")
_op("SET_INDEX_MAP", "", "map k x ->", "assign or insert", "{0}[{1}] = {2}")
_op(
    "WITH_INDEX",
    "",
    "any i x -> any",
    "the value with an element, changed in place where it can be",
    "with_index({0}, {1}, {2})",
)
_op(
    "SLICE",
    "",
    "x low high -> y",
    "copy of a part of an array or string; nil is an open end, high is exclusive",
    "slice_of({0}, {1}, {2})",
    "",
    "read",
)
_op(
    "COPY",
    "",
    "x -> y",
    "an independent value, deep as far as parts can change",
    "copy_value({0})",
    "",
    "read",
)
_op("COPY_OF", "type", "x -> y", "as COPY, of a value of the type", effect="read")
_op(
    "COPY_ARRAY",
    "",
    "array|map -> y",
    "another array or map of the same elements",
    "{0}.copy()",
    "",
    "read",
)
_op("REPLACE", "", "struct x ->", "make a struct's fields those of x, in place", "replace({0}, {1})")

# Tests
_op("TAG", "", "enum -> int", "number of the variant", "{0}.tag", "int", "read")
_op("IS_SOME", "", "option -> bool", "is it Some", "{0} is not NONE", "bool", "pure")
_op("IS_OK", "", "result -> bool", "is it Ok", "type({0}) is Ok", "bool", "pure")
_op("IS_NIL", "", "any -> bool", "is it nil", "{0} is None", "bool", "pure")
_op(
    "IS_EMPTY_VALUE", "", "any -> bool", "is it None or nil (for `??`)", "{0} in EMPTY_VALUES", "bool", "pure"
)
_op("IS_TYPE", "type", "any -> bool", "does the value fit the type")
_op(
    "CHECK",
    "type",
    "any -> x",
    "the value, converted as an implicit conversion would; RuntimeError of kind TypeError if it does not fit",
)
_op("LENGTH", "", "array -> int", "number of elements", "len({0})", "length", "read")

# Regions
_op("BLOCK", "result", "->", "open a region to break out of")
_op("LOOP", "", "->", "open a loop for ever")
_op(
    "FOR",
    "local",
    "iterable ->",
    "open a loop that puts each element into a local; map gives (key, value) tuples",
)
_op("IF", "result", "bool ->", "open a region for the true case")
_op("ELSE", "", "->", "the false case; an IF with a result has one")
_op(
    "SWITCH",
    "result",
    "int|string ->",
    "open a region of CASEs; what comes before the first CASE is empty",
)
_op(
    "CASE",
    "const",
    "->",
    "the case equal to an Int or String constant; a case does not fall through; CASEs without instructions "
    "between them share the next body",
)
_op("DEFAULT", "", "->", "the other cases; a SWITCH with a result has one")
_op("TRY", "result", "->", "open a guarded region")
_op(
    "CATCH",
    "local",
    "->",
    "what runs when the guarded part throws; the error is in the local, which no CATCH inside uses too",
)
_op("END", "", "->", "close the region")
_op("BR", "level", "->", "leave regions (value on the stack if the target has a result)")
_op("BR_IF", "level", "bool ->", "BR if true; the target has no result")
_op(
    "THROW",
    "",
    "error ->",
    "to the nearest TRY of this function; every instruction after it up to END is dead",
)
_op("RETHROW", "local", "->", "throw a caught error again with its first place and stack")
_op("KEEP_SELF", "local", "self ->", "note on a caught error how it leaves the self of an `inout` function")
_op(
    "LEFT_SELF", "local", "self -> self", "what a caught error says of the self of the call that failed, once"
)
_op("LEAVE_ENTRY", "", "->", "note that `main` is left here, for who asks where its Err came from")
_op("RETURN", "", "value ->", "leave the function")

# Calls
_op("CALL", "function count", "x*count -> y", "a function; an `inout` one gives the tuple (result, self)")
_op("CALL_VALUE", "count", "fn x*count -> y", "a function value")
_op("CALL_NATIVE", "name count", "x*count -> y", "a library function")
_op(
    "CALL_METHOD",
    "name count",
    "self x*count -> y",
    "by the run-time type of self: library methods, then impl methods, then host handles",
)
_op(
    "CALL_METHOD_MUT",
    "name count",
    "self x*count -> y self",
    "as CALL_METHOD for a `mut self` method; the second value is the changed self",
)
_op(
    "CALL_STATIC",
    "type name count",
    "x*count -> y",
    "associated function or method of a type by name",
)
_op("CALL_TOOL", "name name count", "x*count -> y", "a tool's public method through the gate: tool, method")
_op("CALL_MCP", "name name count", "x*count -> y", "an mcp function through the gate: server, function")
_op(
    "CALL_AGENT",
    "name count",
    "agent x*count -> y",
    "execute, execute_with_schema, chat, stream, stream_with_schema of an agent or builder",
)
_op("CALL_PIPELINE", "name count", "x*count -> y", "run a pipeline")
_op("EMIT", "", "channel payload -> nil", "tell the host", "emit({0}, {1})", "nil")
_op("EMIT_AWAIT", "", "channel payload -> result", "ask the host", "emit_await({0}, {1})", "result")
_op("EMIT_AWAIT_AS", "type", "channel payload -> result", "ask the host for an answer that fits the type")
_op("AWAIT_ALL", "count", "fn*count -> tuple", "run the closures at once, wait for all")
_op("RACE", "count", "fn*count -> x", "run the closures at once, first one wins")
_op(
    "PARALLEL_FOR",
    "",
    "iterable limit|nil fn -> array",
    "run the closure for every element at once, results in order",
    "parallel_for({0}, {1}, {2})",
    "array",
)
_op("SPAWN", "", "fn -> task", "start the closure as a task", "spawn({0})")
_op("AWAIT", "", "x -> y", "a task's result; anything else is itself", "await_task({0})")
_op("PANIC", "", "message ->", "end the run", "panic({0})")
