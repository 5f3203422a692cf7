"""What people bring along from other languages, and what to tell them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from concerto.syntax.tokens import Token

# Characters without a meaning: the message and the advice.
CHARACTERS = {
    "&": ("`&` has no meaning here", "values are copied when needed, there are no references; and is `&&`"),
    "#": ("`#` has no meaning here", "a comment starts with `//`, an attribute with `@`"),
    "$": ("`$` has no meaning outside of a string", "inside a string `${name}` inserts a value"),
    "`": ("a string stands in double quotes", 'write `"text ${value}"`'),
    "^": ("there is no operator `^`", "the power is `**`"),
    "~": ("there is no operator `~`", "the opposite of a Bool is `!x`"),
    "\\": ("`\\` has no meaning outside of a string", "an expression may simply go on in the next line"),
    "\0": ("a NUL character has no meaning here", ""),
    "“": ("strings stand in straight quotes", 'write `"…"`'),
    "”": ("strings stand in straight quotes", 'write `"…"`'),
    "‘": ("strings stand in straight quotes", 'write `"…"`'),
    "’": ("strings stand in straight quotes", 'write `"…"`'),
    "\u00a0": ("a non-breaking space has no meaning here", "use an ordinary space"),
}


@dataclass(frozen=True, slots=True)
class Word:
    """What a word of another language stands for here, as a token."""

    kind: str
    text: str
    advice: str


def _meaning(words: str, text: str, advice: str, kind: str = "") -> dict[str, Word]:
    return dict.fromkeys(words.split(), Word(kind or text.upper(), text, advice))


WORDS = {
    **_meaning("def function func fun proc", "fn", "a function is declared with `fn`"),
    **_meaning("class record", "struct", "write `struct` for the data and `impl` for the methods"),
    **_meaning("interface protocol", "trait", "an interface is a `trait`"),
    **_meaning("var val auto", "let", "a variable is declared with `let`, or `let mut` if it changes"),
    **_meaning("import include using require", "use", "write `use path::name;`"),
    **_meaning("elif elsif elseif", "if", "write `else if`"),
    **_meaning("switch when", "match", "write `match value { pattern => result, … }`"),
    **_meaning("of", "in", "write `for item in items { … }`"),
    **_meaning("foreach", "for", "write `for item in items { … }`"),
    **_meaning("raise", "throw", "an error is thrown with `throw`"),
    **_meaning("except rescue", "catch", "write `catch ErrorType(e) { … }`"),
    **_meaning("package namespace module", "mod", "write `mod name { … }`"),
    **_meaning("public export", "pub", "what others may use is marked with `pub`"),
    **_meaning("not", "!", "write `!` for the opposite of a Bool", "BANG"),
    **_meaning("and", "&&", "write `&&`", "OPERATOR"),
    **_meaning("or", "||", "write `||`", "OR_OR"),
    **_meaning("is", "==", "write `==`", "OPERATOR"),
}

# Words to leave out.
NEEDLESS = {
    "new": "write `Name { field: value }`, or call the function that builds it: `Name::new(…)`",
    "static": "a function of an `impl` without `self` needs no `static`",
    "final": "what is not `mut` does not change",
    "private": "what is not `pub` is private",
    "protected": "what is not `pub` is private",
    "unsafe": "there is nothing unsafe",
    "ref": "values are copied when needed, there are no references",
}

# Signs that stand together in other languages, and what to write instead.
COMBINATIONS = {
    "++": "write `x += 1`",
    "--": "write `x -= 1`",
    "===": "write `==`, it compares by content and type",
    "!==": "write `!=`",
    "<>": "write `!=`",
    ":=": "write `let name = value;`",
    "?:": "the value of an Option or another one is `option ?? other`",
    "?.": "write `option.map(|value| …)`, or `value?.member` inside a function that returns an Option",
    "&&=": "write `x = x && y`",
    "||=": "write `x = x || y`",
    "??=": "write `x = Some(x ?? y)`",
    "**=": "write `x = x ** y`",
    "=>>": "write `=>`",
    "...": "a range is `a..b` or, with its end, `a..=b`",
}


# What stands there, what is meant, and why.
WRONG_SIGNS = {
    (":", "->"): "a result type is written behind `->`",
    ("=", ":"): "a field is written `name: value`",
    ("->", "=>"): "an arm is written `pattern => result`",
    (":", "=>"): "an arm is written `pattern => result`",
    (";", ","): "members are separated by `,`",
    (".", "::"): "a path is written `a::b`",
    (":", "="): "a value is given with `=`",
    ("=>", "="): "a value is given with `=`",
}


@dataclass(frozen=True, slots=True)
class Syntax:
    """A construct that does not exist: how to know it by the kinds of the two tokens before and the
    one that does not fit, what to say, what to write instead. `after_value`: only behind an operand."""

    found: Callable[[str, str, Token], bool]
    message: str
    advice: str
    after_value: bool = False


_TERNARY_VALUES = ("INT", "FLOAT", "STRING", "NAME", "TRUE", "FALSE")

NO_SUCH_SYNTAX = (
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
        "there is no `let … else`",
        "write `let value = match e { Some(value) => value, None => return … };`",
    ),
    Syntax(
        lambda _, before, token: before == "MUT" and token.kind in ("LPAR", "LSQB"),
        "`mut` stands before a name, not before a pattern",
        "write it before each name that changes: `let (mut a, b) = …`",
    ),
    Syntax(
        lambda _, before, token: before == "LPAR" and token.kind == "RPAR",
        "there is no empty tuple",
        "write `nil` for nothing, and leave out a result type that says nothing",
    ),
    Syntax(
        lambda last, before, token: before == "MUT" and token.kind == "NAME" and last in ("LPAR", "COMMA"),
        "a parameter cannot be `mut`",
        "shadow it in the body: `let mut name = name;`",
    ),
    Syntax(
        lambda _, before, token: before in ("DOT_DOT", "DOT_DOT_EQUAL") and token.kind in ("FAT_ARROW", "IF"),
        "a range in a pattern has two ends",
        "write a guard instead: `n if n >= 5 => …`",
    ),
    Syntax(
        lambda _, before, token: token.kind == "FAT_ARROW" and before == "RPAR",
        "there are no arrow functions",
        "a closure is written `|x| x + 1`",
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
    Syntax(
        lambda _, before, token: before == "NAME" and token.kind in ("STRING", "TEXT_OPEN"),
        "a call needs parentheses",
        'write `print("…")`; text with values in it needs no letter before it: `"… ${value}"`',
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
