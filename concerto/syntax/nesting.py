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
_CLOSURES = words("VBAR OR_OR")
# What a statement or a declaration begins with.
_BEGINNINGS = words(
    "LET FN RETURN BREAK THROW IF MATCH FOR WHILE LOOP TRY STRUCT ENUM TRAIT SCHEMA PUB USE MOD CONST TYPE"
)
_RELEVANT = (
    frozenset(OPENERS) | CLOSERS | _PREFIXES | _TAILS | _ENDS | _OPERATORS | _BEGINNINGS | {"LESSTHAN"}
)


def check_nesting(tokens: list[Token], start: int, end: int) -> tuple[Token | None, bool]:
    """Of the tokens from `start` to `end`, the first that would be nested too deep, counting brackets and all
    that leans right; and whether the brackets up to there are in pairs."""
    outer: list[tuple[int, int, int, str]] = []
    paired = True
    # Levels that last to the end of the expression, those that the next operator ends, and those around.
    level = prefixes = base = 0
    # Of each `if` that may still have an `else`: how many brackets are around it, and its levels.
    ifs: list[tuple[int, int, int]] = []
    for position in range(start, end):
        token = tokens[position]
        kind = token.kind
        if kind not in _RELEVANT:
            continue
        ends = kind in _ENDS
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
            ends = kind == "RBRACE" and tokens[position + 1].kind not in ("ELSE", "OPERATOR", "EQUAL")
        elif kind in _BEGINNINGS or kind == "EQUAL":
            ends = _begins_statement(tokens, position)
        if ends:
            level, prefixes = base, 0
            while ifs and ifs[-1][0] >= len(outer):
                ifs.pop()
        if kind == "IF":
            ifs.append((len(outer), level, prefixes))
        elif kind == "ELSE":
            # The arms of a chain stand beside each other.
            while ifs and ifs[-1][0] > len(outer):
                ifs.pop()
            is_arm = bool(ifs) and ifs[-1][0] == len(outer)
            if is_arm:
                level, prefixes = ifs.pop()[1:]
            level += not is_arm or tokens[position + 1].kind != "IF"
        elif kind == "LESSTHAN":
            prefixes += 1
        elif kind in _TAILS or token.text == "**":
            level += 1
        elif kind in _OPERATORS and ends_value(tokens, position - 1):
            prefixes = 0
        elif kind in _PREFIXES:
            prefixes += 1
        elif kind in _CLOSURES:
            level += 1
        if level + prefixes > MOST_LEVELS:
            return token, paired
    return None, paired and not outer


def _begins_statement(tokens: list[Token], position: int) -> bool:
    """Whether the word, or the name before `=`, cannot belong to what stands before, whatever that lacks."""
    if tokens[position].kind == "EQUAL":
        return tokens[position - 1].kind == "NAME" and position > 1 and ends_value(tokens, position - 2)
    if tokens[position].kind == "FN" and tokens[position + 1].kind != "LPAR":
        return True
    # A block of Python begins with a colon; types have one before `fn`.
    is_block = tokens[position - 1].kind == "COLON" and tokens[position].kind != "FN"
    return position > 0 and (is_block or ends_value(tokens, position - 1))
