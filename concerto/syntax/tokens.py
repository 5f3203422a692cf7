"""Tokens, and the words and signs of the language with the names they have in the grammar."""

from __future__ import annotations


class Token:
    """A piece of source text. `kind` is a terminal of the grammar; `text` is what stands in the
    source, except for strings, where it is their value."""

    __slots__ = ("end", "kind", "start", "text")

    def __init__(self, kind: str, text: str, start: int, end: int) -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"{self.kind}({self.text!r})@{self.start}"


def words(text: str) -> frozenset[str]:
    """A set of kinds, written as one text."""
    return frozenset(text.split())


END = "$END"

RESERVED = (
    "let", "mut", "const", "fn", "struct", "enum", "trait", "impl", "schema", "type", "pub", "use",
    "mod", "if", "else", "match", "for", "while", "loop", "break", "continue", "return", "try",
    "catch", "throw", "async", "await", "spawn", "true", "false", "nil", "self", "as", "in", "tool",
    "agent", "mcp", "pipeline", "stage", "hashmap", "ledger", "memory", "listen",
)  # fmt: skip

# Words with a meaning only in place; `settle` makes names of them everywhere else.
CONTEXTUAL = ("model", "host", "connect", "race", "parallel", "mock")

KEYWORDS = {word: word.upper() for word in (*RESERVED, *CONTEXTUAL)} | {"_": "UNDERSCORE"}

RESERVED_KINDS = frozenset(word.upper() for word in RESERVED)
WORD_KINDS = frozenset(word.upper() for word in (*RESERVED, *CONTEXTUAL))

SIGNS = {
    "(": "LPAR",
    ")": "RPAR",
    "[": "LSQB",
    "]": "RSQB",
    "{": "LBRACE",
    "}": "RBRACE",
    ",": "COMMA",
    ";": "SEMICOLON",
    ":": "COLON",
    "::": "COLON_COLON",
    ".": "DOT",
    "..": "DOT_DOT",
    "..=": "DOT_DOT_EQUAL",
    "->": "ARROW",
    "=>": "FAT_ARROW",
    "=": "EQUAL",
    "?": "QMARK",
    "!": "BANG",
    "@": "AT",
    "|": "VBAR",
    "||": "OR_OR",
    "<": "LESSTHAN",
    ">": "MORETHAN",
    "+": "PLUS",
    "-": "MINUS",
    "*": "STAR",
} | dict.fromkeys(
    [
        "/",
        "%",
        "**",
        "==",
        "!=",
        "<=",
        ">=",
        "&&",
        "??",
        "|>",
        "+=",
        "-=",
        "*=",
        "/=",
        "%=",
        "|=",
        "<<",
        "<<=",
        ">>=",
    ],
    "OPERATOR",
)

SIGN_TEXTS = {kind: text for text, kind in SIGNS.items() if kind != "OPERATOR"}

OPENERS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE", "INTERPOLATE": "TEXT_RESUME"}
CLOSERS = frozenset(OPENERS.values())
_VALUE_ENDS = words(
    "NAME WORD STRING INT FLOAT TRUE FALSE NIL SELF RPAR RSQB RBRACE QMARK TEXT_CLOSE TUPLE_FIELD"
)
BRACES = frozenset({"LBRACE", "MAP_OPEN", "STRUCT_OPEN"})


def ends_value(tokens: list[Token], position: int) -> bool:
    """Whether an operand may end with this token; a sign behind it is a binary operator."""
    if position < 0:
        return False
    token = tokens[position]
    if position > 0 and tokens[position - 1].kind == "DOT" and token.text.isidentifier():
        return True  # Words are names of fields there.
    return token.kind in _VALUE_ENDS
