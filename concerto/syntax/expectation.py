"""Expected tokens: says what could stand at a place, in the words of a person."""

from __future__ import annotations

from concerto.source import Source
from concerto.syntax.lalr import LalrParser
from concerto.syntax.tokens import BRACES, END, SIGN_TEXTS, WORD_KINDS, Token
from concerto.wording import shortened

# In the order in which they are listed; an operator could nearly always follow, so it comes last.
_ENDS = (
    "LBRACE", "SEMICOLON", "COMMA", "RPAR", "RSQB", "RBRACE", "COLON", "FAT_ARROW", "ARROW", "IN", "MORETHAN",
)  # fmt: skip
_MOST_LISTED = 4
_NAMES = {
    "STRING": "a string", "INT": "a number", "FLOAT": "a number", "LABEL": "a label", "GENERIC_OPEN": "`<`",
    "UNDERSCORE": "`_`", "TEXT_RESUME": "`}`",
}  # fmt: skip


def describe(source: Source, token: Token) -> str:
    """A token as a message names it."""
    if token.kind == END:
        return "the end of the file"
    if token.kind in ("TEXT", "TEXT_OPEN", "TEXT_CLOSE", "STRING"):
        return "a string"
    text = source.text[token.start : token.end]
    return f"`{shortened(text, 30)}`"


def expected(parser: LalrParser) -> str:
    """What the machine would accept next: `` `,` or `)` ``, `an expression`, `a type` …"""
    kinds = {kind for kind in parser.tables.actions[parser.states[-1]] if parser.accepts(kind)}
    return _join(_words(kinds))


def _words(kinds: set[str]) -> list[str]:
    if "STRUCT" in kinds and "LET" not in kinds:
        return ["a declaration"]
    if "LET" in kinds:
        return ["a statement", "`}`"] if "RBRACE" in kinds else ["a statement"]
    if "FN" in kinds and "PUB" in kinds and "INT" not in kinds:
        return [*(["a field"] if "NAME" in kinds else []), "a method", *_listed(kinds, ("COMMA", "RBRACE"))]
    if "STAGE" in kinds:
        return ["a stage", *_listed(kinds, ("RBRACE",))]
    if "UNDERSCORE" in kinds and "MATCH" not in kinds:
        return ["a pattern", *_listed(kinds, ("RPAR", "RSQB", "RBRACE", "VBAR"))]
    if {"INT", "LSQB", "NAME"} <= kinds:
        return ["an expression", *_listed(kinds, ("RPAR", "RSQB", "RBRACE", "SEMICOLON"))]
    if {"NAME", "FN", "LPAR"} <= kinds:
        return ["a type", *_listed(kinds, ("RPAR", "MORETHAN"))]
    if "NAME" in kinds:
        return ["a name", *_listed(kinds, ("RPAR", "RBRACE", "VBAR", "SELF"))]
    return _after_value(kinds)


def _after_value(kinds: set[str]) -> list[str]:
    if "OPERATOR" in kinds:
        words = _listed(kinds - {"MORETHAN"}, _ENDS)
        return [*words[: _MOST_LISTED - 1], "an operator"]
    words = _listed(kinds, _ENDS)
    others = sorted(kinds - set(_ENDS) - BRACES - {"FORMAT"})
    words += [_word(kind) for kind in others]
    return words[:_MOST_LISTED]


def _listed(kinds: set[str], wanted: tuple[str, ...]) -> list[str]:
    return [_word(kind) for kind in wanted if kind in kinds]


def _word(kind: str) -> str:
    if kind in WORD_KINDS:
        return f"`{kind.lower()}`"
    if kind == END:
        return "the end of the file"
    return _NAMES.get(kind) or f"`{SIGN_TEXTS.get(kind, kind.lower())}`"


def _join(words: list[str]) -> str:
    words = list(dict.fromkeys(words))
    if len(words) < 2:
        return words[0] if words else "nothing more"
    return f"{', '.join(words[:-1])} or {words[-1]}"
