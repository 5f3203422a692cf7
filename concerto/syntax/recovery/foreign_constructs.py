"""Constructs of other languages that are known by the token that does not fit and the two before it."""

from __future__ import annotations

from collections.abc import Callable

from concerto.records import frozen
from concerto.syntax.tokens import BRACES, Token, words


@frozen
class Syntax:
    """A construct that does not exist: how to know it by the kinds of the two tokens before and the
    one that does not fit, what to say, what to write instead (`{0}` is the token before). `accepts`: only
    where these could stand; `after_value`: only behind an operand; `word`: only behind one of these;
    `mendable`: one token less or another one makes sense of the rest."""

    found: Callable[[str, str, Token], bool]
    message: str
    advice: str
    after_value: bool = False
    word: str = ""
    accepts: tuple[str, ...] = ()
    mendable: bool = True


def _behind(word: str, message: str, advice: str) -> Syntax:
    """What a statement or expression of other languages begins with."""
    return Syntax(lambda last, before, _: before == "NAME" and last != "DOT", message, advice, word=word)


_TERNARY_VALUES = ("INT", "FLOAT", "STRING", "NAME", "TRUE", "FALSE")

_STRING_PREFIXES = (
    ("f", 'any string takes values: `"… ${value}"`'),
    ("b", "a String has no bytes; take its `chars()`"),
    ("u", "every string is Unicode text"),
)

_BEFORE_OPERANDS = (*words("EQUAL LPAR COMMA SEMICOLON RETURN FAT_ARROW OPERATOR"), *BRACES)
_RANGE_ENDS = words("FAT_ARROW IF RPAR RSQB COMMA SEMICOLON")
_BARE_BODIES = words("NAME RETURN BREAK CONTINUE THROW")

_HEADS = words("AGENT MCP HOST CONNECT SCHEMA STRUCT ENUM TOOL PIPELINE")
_MACROS = (
    ("vec", "an array is written `[1, 2]`"),
    ("format", 'values stand in the text: `"x is ${x}"`'),
    ("println", 'write `println(…)`, with the values in the text: `"x is ${x}"`'),
    ("print", 'write `print(…)`, with the values in the text: `"x is ${x}"`'),
    ("panic", 'write `panic(…)`, with the values in the text: `"x is ${x}"`'),
)

NO_SUCH_SYNTAX = (
    *(
        Syntax(
            lambda _, before, token: before == "NAME" and token.kind == "BANG",
            "there are no macros",
            advice,
            after_value=True,
            word=word,
            mendable=False,
        )
        for word, advice in _MACROS
    ),
    Syntax(
        lambda last, before, token: last == "TOOL" and before == "NAME" and token.kind == "LPAR",
        "a tool is a group of methods, not a function",
        'write `tool Name { description: "…", @describe("…") pub fn … }`',
        accepts=("LBRACE",),
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: before == "TOOL" and token.kind == "FN",
        "a tool is a group of methods, not a function",
        'write `tool Name { description: "…", @describe("…") pub fn … }`',
        mendable=False,
    ),
    Syntax(
        lambda last, before, token: last in _HEADS and before == "NAME" and token.kind in ("EQUAL", "LPAR"),
        "what is declared stands in braces",
        "write `Name { … }`",
        accepts=("LBRACE",),
    ),
    Syntax(
        lambda last, before, token: last == "MOCK" and before == "NAME",
        "what a mock gives stands in braces",
        'write `mock Name { response: "…" }`',
        accepts=("LBRACE",),
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: token.kind == "NAME",
        "a pipeline consists of stages",
        "write `stage name(input: T) -> U { … }`",
        accepts=("STAGE", "RBRACE"),
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: token.kind == "STRING",
        "the name of a field stands without quotes",
        "write `name: value`",
        accepts=("NAME", "RBRACE"),
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: before == "RACE" and token.kind in (*BRACES, "LSQB"),
        "what runs a race stands in parentheses",
        "write `race (a(), b())`",
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: before == "USE" and token.kind in ("STRING", "DOT", "DOT_DOT"),
        "a module is named, not its file",
        "what `tools.conc` beside the first file has is `use tools::name;`",
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: before == "LSQB" and token.kind == "COLON",
        "a slice is not written with `:`",
        "write `items[a..b]`",
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: before in ("COLON", "ARROW") and token.kind in ("ENUM", "STRUCT", "SCHEMA"),
        "a type is declared by itself",
        'declare `enum Name { … }` or `struct Name { … }` beside it; of texts there is `"a" | "b"`',
        mendable=False,
    ),
    _behind("lambda", "there is no `lambda`", "a closure is written `|x| x + 1`"),
    _behind("assert", "`assert` is a function", "write `assert(condition)`"),
    _behind("typeof", "`typeof` is a function", "write `typeof(value)`"),
    _behind("raise", "there is no `raise`", "an error is thrown with `throw`"),
    _behind("unless", "there is no `unless`", "write `if !condition { … }`"),
    _behind("yield", "there is no `yield`", "gather the values in an array and return it"),
    _behind("with", "there is no `with`", "what is opened is closed by itself"),
    _behind("from", "there is no `from`", "write `use path::name;`"),
    _behind("case", "there is no `case`", "an arm is written `pattern => result`"),
    Syntax(
        lambda _, before, token: token.text == "not",
        "there is no operator `not in`",
        "write `!items.contains(x)`",
        after_value=True,
    ),
    Syntax(
        lambda _, before, token: before == "LSQB" and token.kind == "COLON_COLON",
        "a slice has no step",
        "write `items[a..b]`; a loop takes every second one: `for i in (0..n).step_by(2) { … }`",
    ),
    Syntax(
        lambda _, before, token: before == "CONST" and token.kind in (*BRACES, "LSQB"),
        "a constant has one name",
        "write `let Name { field, .. } = …` inside of a function",
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: before == "EQUAL" and token.kind in BRACES,
        "a type is not written with braces",
        "declare a `struct` or a `schema`: `struct Name { field: Int }`",
        accepts=("FN",),
        mendable=False,
    ),
    Syntax(
        lambda last, before, token: last in ("COLON", "ARROW") and before == "NAME" and token.kind == "QMARK",
        "a type is not made optional with `?`",
        "write `Option<T>`",
    ),
    Syntax(
        lambda _, before, token: before in ("COLON", "ARROW") and token.kind == "LSQB",
        "the type of an array is not written with brackets",
        "write `Array<T>`",
    ),
    Syntax(
        lambda last, before, token: last in ("COLON", "ARROW") and before == "NAME" and token.kind == "LSQB",
        "a type takes no brackets",
        "write `Array<T>`, `Option<T>`",
    ),
    Syntax(
        lambda _, before, token: before == "COLON" and token.kind in BRACES,
        "the type of a map is not written with braces",
        "write `Map<K, V>`, or declare a `schema` of its own",
        accepts=("FN", "LPAR", "STRING"),
    ),
    Syntax(
        lambda last, before, token: last == "COLON" and before == "NAME" and token.kind == "LPAR",
        "a type takes no parentheses",
        "the type of a function is written `fn(T) -> U`",
        accepts=("COMMA", "RPAR"),
    ),
    Syntax(
        lambda _, before, token: before == "RPAR" and token.kind == "ARROW",
        "the type of a function begins with `fn`",
        "write `fn(T) -> U`",
        mendable=False,
    ),
    Syntax(
        lambda last, before, token: (
            last in ("COLON", "ARROW", "EQUAL") and before == "NAME" and token.kind == "VBAR"
        ),
        "only literals are joined to a type with `|`",
        "what may be missing is `Option<T>`; else declare an `enum` with a variant for each type",
    ),
    Syntax(
        lambda _, before, token: before in ("COLON", "ARROW", "LESSTHAN") and token.kind == "IMPL",
        "a trait is a type without `impl`",
        "write `Trait` alone; for `impl Iterator<Item = T>` write `Iterator<T>`",
    ),
    Syntax(
        lambda last, before, token: last in ("STRUCT", "IMPL") and before == "NAME" and token.kind == "COLON",
        "a type does not name its traits",
        "write `impl Trait for Type { … }`",
    ),
    Syntax(
        lambda _, before, token: token.kind == "TYPE",
        "types are declared outside of `impl`, `trait` and `tool`",
        "it stands in the trait: `impl Iterator<Item> for Type`, `impl Add<Other, Output> for Type`",
        accepts=("FN",),
    ),
    Syntax(
        lambda _, before, token: before == "NAME" and token.kind == "EQUAL",
        "a variant has no value of its own",
        "give it one with a `match`",
        accepts=("LBRACE", "LPAR", "COMMA", "RBRACE"),
    ),
    Syntax(
        lambda _, before, token: before in _BEFORE_OPERANDS and token.kind == "STAR",
        "there is nothing to follow with `*`",
        "values are copied when needed, there are no references",
    ),
    Syntax(
        lambda _, before, token: before == "CATCH" and token.kind == "LPAR",
        "a `catch` names the type of its error",
        "write `catch ErrorType(e) { … }`, or `catch { … }` for any",
    ),
    Syntax(
        lambda last, before, token: last == "CATCH" and before == "NAME" and token.kind in ("AS", "COLON"),
        "a `catch` names the type of its error, and the error in parentheses",
        "write `catch ErrorType(e) { … }`, or `catch { … }` for any",
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: token.kind == "NAME" and token.text == "finally",
        "there is no `finally`",
        "write behind the `try` what is to happen in any case",
    ),
    Syntax(
        lambda _, before, token: token.kind == "NAME" and token.text in ("extends", "implements"),
        "there is no inheritance",
        "what types share is a `trait`: `impl Trait for Type { … }`",
    ),
    Syntax(
        lambda _, before, token: before == "NAME" and token.kind == "BANG",
        "`!` has no meaning behind a name",
        "there are no macros, write `println(…)` or `[1, 2]`; an Option gives its value by `.unwrap()`",
        after_value=True,
        mendable=False,
    ),
    Syntax(
        lambda last, before, token: last == "STRUCT" and before == "NAME" and token.kind == "SEMICOLON",
        "a struct has braces",
        "write `struct {0} {}`",
    ),
    Syntax(
        lambda _, before, token: before == "COMMA" and token.kind == "FN",
        "functions of what has fields stand in an `impl`",
        "write `impl Name { fn … }` beside it",
        accepts=("RBRACE",),
        mendable=False,
    ),
    Syntax(
        lambda last, before, token: last == "COLON" and before == "NAME" and token.kind == "BANG",
        "a type is not marked with `!`",
        "leave it out: what may be missing is an `Option<T>`, or in a schema `name?: T`",
    ),
    Syntax(
        lambda _, before, token: before in ("EQUAL", "LPAR", "COMMA") and token.kind == "FN",
        "a function inside of an expression is a closure",
        "write `|x| x + 1`",
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: token.kind == "IN",
        "there is no operator `in`",
        "write `items.contains(x)`",
        after_value=True,
    ),
    Syntax(
        lambda _, before, token: token.kind == "FOR",
        "there are no comprehensions",
        "write `items.map(|x| …)`, or first `.filter(|x| …)`",
        accepts=("OPERATOR", "RSQB"),
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: token.kind == "COLON",
        "a block stands in braces",
        "write `{ … }` instead of the `:`",
        accepts=("OPERATOR", "LBRACE"),
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: token.kind == "IF",
        "there is no `a if condition else b`",
        "write `if condition { a } else { b }`",
        accepts=("OPERATOR",),
        mendable=False,
    ),
    Syntax(
        lambda last, before, token: last == "FOR" and before == "NAME" and token.kind == "COMMA",
        "several names in a `for` stand in parentheses",
        "write `for (key, value) in map { … }`",
    ),
    Syntax(
        lambda last, before, token: last == "FOR" and before == "LPAR" and token.kind == "LET",
        "there is no `for` with three parts",
        "write `for i in 0..n { … }`",
    ),
    Syntax(
        lambda _, before, token: token.kind == "ELSE" and before in ("SEMICOLON", "LBRACE"),
        "`else` has no `if` before it",
        "a `;` behind the block ends the `if`",
    ),
    Syntax(
        lambda _, before, token: token.kind == "ELSE" and before != "RBRACE",
        "`else` has neither an `if` nor a `let` before it",
        "write `if condition { a } else { b }`, or `let Some(x) = e else { return … };`",
    ),
    Syntax(
        lambda last, before, token: (
            (before == "MUT" and token.kind in ("LPAR", "LSQB"))
            or (last == "MUT" and before == "NAME" and token.kind in ("LPAR", "COLON_COLON", *BRACES))
        ),
        "`mut` stands before a name, not before a pattern",
        "write it before each name that changes: `let (mut a, b) = …`, `let Some(mut a) = …`",
    ),
    Syntax(
        lambda _, before, token: before in ("LPAR", "COMMA") and token.kind == "MUT",
        "an argument is not `mut`",
        "leave it out: a function gets a copy, and returns what it changed",
        accepts=("STRING",),
    ),
    Syntax(
        lambda _, before, token: token.kind == "UNDERSCORE",
        "`_` stands only in patterns",
        "compare with a pattern in `if let E::A(_) = value { … }` or `match`",
        accepts=("STRING",),
        mendable=False,
    ),
    Syntax(
        lambda last, before, token: last == "NAME" and before == "LPAR" and token.kind == "RPAR",
        "a tuple struct has a field",
        "one without fields is written `struct Name {}`",
    ),
    Syntax(
        lambda _, before, token: before == "LPAR" and token.kind == "RPAR",
        "there is no empty tuple",
        "write `nil` for nothing, and leave out a result type that says nothing",
    ),
    Syntax(
        lambda last, before, token: last in BRACES and before == "NAME" and token.kind == "COMMA",
        "these braces are a block",
        "a map is written `{name: value, …}`, a struct `Name { field, … }`",
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: before == "NAME" and token.kind in ("COMMA", "RBRACE"),
        "an entry of a map has a key and a value",
        "write `name: value`",
        accepts=("COLON", "COLON_COLON", "LPAR"),
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: before == "COLON" and token.kind in ("STRING", "INT"),
        "a parameter of a closure has a type with a name",
        'give literals one: `type Kind = "a" | "b";`',
        accepts=("FN",),
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: before in ("COLON", "ARROW") and token.kind == "MUT",
        "a type is not `mut`",
        "leave it out; what changes is a `let mut name`, also of a parameter: `let mut name = name;`",
    ),
    Syntax(
        lambda last, before, token: before == "MUT" and token.kind == "NAME" and last in ("LPAR", "COMMA"),
        "a parameter cannot be `mut`",
        "shadow it in the body: `let mut name = name;`",
    ),
    Syntax(
        lambda _, before, token: before in ("DOT_DOT", "DOT_DOT_EQUAL") and token.kind in _RANGE_ENDS,
        "a range without an end stands only inside of `[…]`",
        "name its end, or count in a `loop`",
        accepts=("LPAR",),
    ),
    Syntax(
        lambda _, before, token: before in ("DOT_DOT", "DOT_DOT_EQUAL") and token.kind in _RANGE_ENDS,
        "a range in a pattern has two ends",
        "write a guard instead: `n if n >= 5 => …`",
    ),
    Syntax(
        lambda _, before, token: before in ("LPAR", "COMMA") and token.kind == "DOT_DOT",
        "a range in a pattern has two ends, and `..` alone stands only in `[…]` and `{ … }`",
        "write `_` for each value that does not matter, or a guard: `n if n <= 5 => …`",
        accepts=("UNDERSCORE",),
    ),
    *(
        Syntax(
            lambda _, before, token: token.kind in ("DOT_DOT", "DOT_DOT_EQUAL"),
            f"a range in a pattern {problem}",
            "write a guard instead: `n if n <= 5 => …`",
            accepts=(kind,),
        )
        for kind, problem in (("UNDERSCORE", "has two ends"), ("FAT_ARROW", "is between literals"))
    ),
    Syntax(
        lambda _, before, token: token.kind == "CONST",
        "a trait has no constants",
        "ask for a function: `fn limit() -> Int;`",
        accepts=("FN",),
    ),
    Syntax(
        lambda _, before, token: before == "ARROW" and token.kind == "LBRACE",
        "a type is missing behind `->`",
        "leave out the `->` of what gives nothing",
    ),
    Syntax(
        lambda _, before, token: token.text in ("step", "by") and token.kind == "NAME",
        "a range has no step of its own",
        "write `for i in (a..b).step_by(2) { … }`",
        accepts=("OPERATOR", "LBRACE"),
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: token.text == "then" and token.kind == "NAME",
        "there is no `then`",
        "the block follows the condition: `if condition { … }`",
        accepts=("OPERATOR", "LBRACE"),
    ),
    Syntax(
        lambda _, before, token: token.kind in _BARE_BODIES and (before == "RPAR" or token.kind != "NAME"),
        "a block stands in braces",
        "write `{ … }` around it",
        accepts=("OPERATOR", "LBRACE"),
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: token.kind == "FAT_ARROW",
        "expected `->`, found `=>`",
        "a result type is written behind `->`",
        accepts=("ARROW",),
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: token.kind == "FAT_ARROW" and before == "RPAR",
        "there are no arrow functions",
        "a closure is written `|x| x + 1`",
    ),
    Syntax(
        lambda _, before, token: token.kind == "FAT_ARROW" and before == "NAME",
        "there are no arrow functions",
        "a closure is written `|x| x + 1`",
        after_value=True,
    ),
    Syntax(
        lambda _, before, token: before == "LET" and token.kind in BRACES,
        "a pattern names its type",
        "write `let Name { field, .. } = …`",
        mendable=False,
    ),
    Syntax(
        lambda _, before, token: before == "QMARK" and token.kind in _TERNARY_VALUES,
        "there is no `condition ? a : b`",
        "write `if condition { a } else { b }`",
    ),
    Syntax(
        lambda last, before, token: last == "TRAIT" and before == "NAME" and token.kind == "COLON",
        "a trait cannot extend another",
        "ask for both where they are used: `T: A + B`",
    ),
    Syntax(
        lambda _, before, token: token.kind == "NAME" and token.text == "where",
        "there is no `where`",
        "write the bounds at the parameters: `fn f<T: A + B>(…)`",
    ),
    *(
        Syntax(
            lambda _, before, token: before == "NAME" and token.kind in ("STRING", "TEXT_OPEN"),
            "no letter stands before a string",
            advice,
            word=letters,
        )
        for letters, advice in _STRING_PREFIXES
    ),
    Syntax(
        lambda _, before, token: before == "NAME" and token.kind in ("STRING", "TEXT_OPEN"),
        "a call needs parentheses",
        'write `print("…")`',
        after_value=True,
    ),
    Syntax(
        lambda _, before, token: before == "STRING" and token.kind == "VBAR",
        "a setting has one value",
        "choose one of them",
        after_value=True,
    ),
    Syntax(
        lambda _, before, token: before == "LSQB" and token.kind == "SEMICOLON",
        "an array is not written with `;`",
        "separate its elements with `,`",
    ),
)
