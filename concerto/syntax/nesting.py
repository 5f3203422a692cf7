"""Refuses trees deeper than the later passes, which recurse, should have to bear."""

from __future__ import annotations

from concerto.syntax.tokens import CLOSERS, OPENERS, Token, ends_value, words

# Nobody nests this deep by hand; a pass may need several Python frames for each level.
MOST_LEVELS = 1_500

# What nests to its right. A binary operator behind a prefix or a comparison ends their nesting; the
# others go on to the end of the expression.
_PREFIXES = words("MINUS BANG AWAIT SPAWN")
_TAILS = words("EQUAL RETURN BREAK THROW ARROW AT ELSE")
_ENDS = words("COMMA SEMICOLON")
_OPERATORS = words("OPERATOR PLUS STAR MINUS DOT_DOT DOT_DOT_EQUAL VBAR OR_OR")
_RELEVANT = frozenset(OPENERS) | CLOSERS | _PREFIXES | _TAILS | _ENDS | _OPERATORS | {"LESSTHAN"}


def check_nesting(tokens: list[Token], start: int, end: int) -> tuple[Token | None, bool]:
    """Of the tokens from `start` to `end`, the first that would be nested too deep, counting brackets and all
    that leans right; and whether the brackets up to there are in pairs."""
    outer: list[tuple[int, int, int, str]] = []
    paired = True
    # Levels that last to the end of the expression, those that the next operator ends, and those around.
    level = prefixes = base = 0
    for position in range(start, end):
        token = tokens[position]
        kind = token.kind
        if kind not in _RELEVANT:
            continue
        if kind in OPENERS:
            outer.append((level, prefixes, base, OPENERS[kind]))
            level, prefixes = level + prefixes + 1, 0
            base = level
        elif kind in CLOSERS:
            if outer:
                level, prefixes, base, closer = outer.pop()
                paired = paired and kind == closer
            else:
                paired = False
            if kind == "RBRACE" and tokens[position + 1].kind not in ("ELSE", "OPERATOR", "EQUAL"):
                level, prefixes = base, 0
        elif kind in _ENDS:
            level, prefixes = base, 0
        elif kind == "LESSTHAN":
            prefixes += 1
        elif kind in _TAILS or token.text == "**":
            level += 1
        elif kind in _OPERATORS and ends_value(tokens, position - 1):
            prefixes = 0
        elif kind in _PREFIXES:
            prefixes += 1
        else:
            # `|` and `||` before an operand begin a closure.
            level += 1
        if level + prefixes > MOST_LEVELS:
            return token, paired
    return None, paired and not outer
