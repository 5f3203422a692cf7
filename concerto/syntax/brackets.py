"""Bracket matching: pairs the brackets of a file before it is parsed.

The parser may then rely on it that every bracket is closed: what is missing was reported and put in,
what is too much was taken out and is in `Lexed.spare`. Where a bracket is missing shows by the
indentation of the lines around it, and never beyond the next declaration that stands at the left edge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from concerto.diagnostics import Problems, TooDeep, UnclosedPair, UnexpectedToken
from concerto.records import record
from concerto.source import Source, Span
from concerto.syntax.lexer import Lexed
from concerto.syntax.nesting import MOST_LEVELS, check_nesting
from concerto.syntax.tokens import CLOSERS, END, KEYWORDS, OPENERS, SIGNS, Token, ends_value, words

_SIGNS = {"LPAR": "(", "LSQB": "[", "LBRACE": "{", "INTERPOLATE": "${"}
_ENDS = {"RPAR": ")", "RSQB": "]", "RBRACE": "}", "TEXT_RESUME": "}"}
_ITEM_STARTS = words("FN PUB ASYNC STRUCT ENUM TRAIT IMPL SCHEMA TOOL AGENT MCP PIPELINE STAGE MOD USE CONST")
_PART_STARTS = _ITEM_STARTS | {"AT"}
# What goes on behind a block that stands as deep.
_GOES_ON = words("ELSE CATCH")
_WORD_OR_SIGN = re.compile(r"@|[a-z]++(?![\w\"#])")
_BEFORE_HEADS = words("SEMICOLON LBRACE RBRACE LPAR RPAR")
_NO_HEAD_ENDS = words("SEMICOLON COMMA LBRACE RBRACE LPAR LSQB")
# A line that begins so and ends in `{` has a block behind its brackets.
_HEAD_STARTS = words("FN PUB ASYNC STAGE IF WHILE FOR MATCH RBRACE")
_BEFORE_INNER_BRACE = words("VBAR OR_OR COMMA COLON LPAR LSQB EQUAL FAT_ARROW ARROW OPERATOR")


def balance(source: Source, lexed: Lexed, problems: Problems) -> list[Token] | None:
    """The tokens with all brackets in pairs; None if they nest too deep."""
    tokens = lexed.tokens
    if check_nesting(tokens, 0, len(tokens)) == (None, True):
        return tokens
    mended: list[Token] = []
    for start, end in _parts(source, tokens):
        deep, paired = check_nesting(tokens, start, end)
        if deep is not None:
            problems.add(
                TooDeep(
                    Span(source, deep.start, deep.end),
                    f"this is nested more than {MOST_LEVELS} levels deep",
                    help="give the inner parts a name of their own",
                )
            )
            return None
        if paired:
            mended.extend(tokens[start:end])
        else:
            lexed.unpaired.append(tokens[start].start)
            mended.extend(_Balancer(source, lexed, problems, start, end).balance())
    return mended


def begins_part(text: str, start: int) -> bool:
    """Whether a token begins a declaration at the left edge, whatever is open before it."""
    if text[start - 1 : start] not in ("", "\n"):
        return False
    found = _WORD_OR_SIGN.match(text, start)
    return found is not None and (KEYWORDS.get(found[0]) or SIGNS.get(found[0])) in _PART_STARTS


def _parts(source: Source, tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """Where the parts of a file begin and end in which brackets are paired without looking at the others."""
    start = 0
    for position, token in enumerate(tokens):
        if position > start and token.kind in _PART_STARTS and begins_part(source.text, token.start):
            yield start, position
            start = position
    yield start, len(tokens)


@record
class _Open:
    token: Token
    line: int
    indentation: int
    # Whether more of the text inside stands on its line.
    inline: bool


class _Balancer:
    """Of the tokens from `start` to `end`."""

    def __init__(self, source: Source, lexed: Lexed, problems: Problems, start: int, end: int) -> None:
        self.source = source
        self.lexed = lexed
        self.problems = problems
        self.mended: list[Token] = []
        self.open: list[_Open] = []
        self.start = start
        self.end = end
        kinds = [token.kind for token in lexed.tokens[start:end]]
        # How many `{` are missing in all, if not all the `}` can be meant.
        self.missing = kinds.count("RBRACE") - kinds.count("LBRACE")

    def balance(self) -> list[Token]:
        line = 0
        line_start: Token | None = None
        tokens = self.lexed.tokens
        for position in range(self.start, self.end):
            token = tokens[position]
            token_line = self.line(token)
            leads = token_line != line
            if leads or line_start is None:
                line, line_start = token_line, token
            if leads and (token.kind in _ITEM_STARTS or token.kind in _GOES_ON):
                self.close_before_item(token)
            elif leads and token.kind not in CLOSERS:
                self.close_before_line(token)
            if token.kind in OPENERS:
                self.close_before_block(position, line_start)
                inline = self.line(tokens[position + 1]) == line
                self.open.append(_Open(token, line, self.indentation(line), inline))
            elif token.kind in CLOSERS and not self.close(token, leads):
                self.too_many(token)
                continue
            elif token.kind == "SEMICOLON":
                self.close_before_semicolon(position)
            elif token.kind == "ARROW":
                self.close_before_arrow()
            elif token.kind == END:
                self.close_at_end()
            self.mended.append(token)
        self.unclosed(0)
        return self.mended

    # --- Decisions ---

    def close(self, closer: Token, leads: bool) -> bool:
        """Closes the opening bracket that belongs to this one, and those above it that have none."""
        if closer.kind == "RBRACE" and self.missing > 0:
            if leads and self.open_above(closer):
                return True
            if not leads and self.is_spare(closer):
                return False
        for index in range(len(self.open) - 1, -1, -1):
            opener = self.open[index]
            if OPENERS[opener.token.kind] == closer.kind and self.fits(opener, closer, leads):
                self.unclosed(index + 1)
                self.open.pop()
                return True
            if opener.token.kind == "INTERPOLATE" or (
                opener.token.kind == "LBRACE" and closer.kind != "RBRACE" and opener.line != self.line(closer)
            ):
                return False
            if opener.line == self.line(closer) and self.in_unclosed_string(opener):
                # Of the brackets of such a line only those are sure that pair off.
                return False
        return False

    def is_spare(self, closer: Token) -> bool:
        """Whether a `}` behind other text would close a block that began on an earlier line."""
        return not self.open or self.open[-1].line != self.line(closer)

    def open_above(self, closer: Token) -> bool:
        """Puts in the `{` that is missing at the end of the line above which this `}` stands under."""
        column = self.column(closer)
        if any(each.token.kind == "LBRACE" and each.indentation >= column for each in self.open):
            return False
        index = end = len(self.mended)
        while index:
            index -= 1
            token = self.mended[index]
            if index and self.line(token) == self.line(self.mended[index - 1]):
                continue
            if self.column(token) <= column:
                break
            end = index
        if not end or self.column(self.mended[index]) != column:
            return False
        last = self.mended[end - 1]
        if last.kind in _NO_HEAD_ENDS:
            return False
        self.missing -= 1
        self.lexed.mistakes.append(last.end)
        place = Span(self.source, last.end, last.end)
        self.problems.add(UnexpectedToken(place, "expected `{`", help="open the block with `{`"))
        self.mended.insert(end, Token("LBRACE", "{", last.end, last.end))
        return True

    def fits(self, opener: _Open, closer: Token, leads: bool) -> bool:
        if closer.kind != "RBRACE" or not leads:
            return True
        column = self.column(closer)
        if opener.indentation == column:
            return True
        braces = [other for other in self.open if other.token.kind == "LBRACE"]
        # No brace stands at this indentation: then the nearest is as good as any.
        return all(other.indentation != column for other in braces)

    def close_before_item(self, token: Token) -> None:
        """A declaration does not stand deeper than the bracket it would be in, nor does an `else`."""
        column = self.column(token)
        for index, opener in enumerate(self.open):
            if opener.indentation >= column:
                self.unclosed(index)
                return

    def close_before_line(self, token: Token) -> None:
        """`{"a": 1,` goes on in deeper lines, or it is not closed."""
        column = self.column(token)
        for index, opener in enumerate(self.open):
            if opener.inline and opener.token.kind == "LBRACE" and opener.indentation >= column:
                self.unclosed(index)
                return
        # `f(1` and, no deeper, a name: the next statement.
        if token.kind != "NAME" or not ends_value(self.mended, len(self.mended) - 1):
            return
        index = len(self.open)
        while index and self.open[index - 1].token.kind in ("LPAR", "LSQB"):
            index -= 1
        if index < len(self.open) and self.open[index].inline and self.open[index].indentation >= column:
            self.unclosed(index)

    def close_before_block(self, position: int, line_start: Token) -> None:
        """`fn f(a: Int {`: the brace at the line's end is the body's."""
        tokens = self.lexed.tokens
        brace, following = tokens[position], tokens[position + 1]
        if brace.kind != "LBRACE" or not self.open or not self.mended:
            return
        last, before = self.open[-1], self.mended[-1].kind
        behind = tokens[min(position + 2, len(tokens) - 1)].kind
        fields = following.kind == "RBRACE" or behind in ("COLON", "COMMA")
        ends_line = self.line(following) > self.line(brace) or not fields
        same_line = last.line == self.line(brace) and last.token.kind in ("LPAR", "LSQB")
        if ends_line and same_line and line_start.kind in _HEAD_STARTS and before not in _BEFORE_INNER_BRACE:
            index = len(self.open) - 1
            while index and self.same_head(self.open[index - 1], last):
                index -= 1
            self.unclosed(index)

    def same_head(self, outer: _Open, inner: _Open) -> bool:
        return outer.token.kind != "LBRACE" and outer.line == inner.line

    def close_before_semicolon(self, position: int) -> None:
        index = len(self.open)
        while index and self.open[index - 1].token.kind in ("LPAR", "LSQB"):
            index -= 1
        if index == len(self.open) or self.closed_on_line(position):
            return
        self.unclosed(index)

    def close_before_arrow(self) -> None:
        """`fn f(a: Int -> Int`: the result stands behind the parameters."""
        opener = self.open[-1].token if self.open else None
        if opener is None or opener.kind != "LPAR" or self.mended[-1].kind in ("RPAR", "VBAR", "OR_OR"):
            return
        before = self.mended.index(opener) - 1
        while before and self.mended[before].kind not in ("FN", *_BEFORE_HEADS):
            before -= 1
        if self.mended[before].kind == "FN":
            self.unclosed(len(self.open) - 1)

    def closed_on_line(self, position: int) -> bool:
        tokens = self.lexed.tokens
        line, wanted = self.line(tokens[position]), OPENERS[self.open[-1].token.kind]
        while self.line(tokens[position]) == line and tokens[position].kind != END:
            if tokens[position].kind == wanted:
                return True
            position += 1
        return False

    def close_at_end(self) -> None:
        if self.lexed.cut:
            # The rest of the file went into a string or comment that was reported.
            self.insert_closers(0)
        else:
            self.unclosed(0)

    # --- Changes ---

    def unclosed(self, index: int) -> None:
        """Reports and closes the open brackets from `index` on; all of them are one mistake."""
        if index >= len(self.open):
            return
        *others, last = self.open[index:]
        sign, end = _SIGNS[last.token.kind], _ENDS[OPENERS[last.token.kind]]
        if self.in_unclosed_string(last):
            self.insert_closers(index)
            return
        self.problems.add(
            UnclosedPair(
                self.span(last.token),
                f"`{sign}` is never closed",
                help=self.advice_on_comment(last.token, end) or f"close it with `{end}`",
                related=tuple((self.span(other.token), "this one neither") for other in others),
            )
        )
        self.insert_closers(index)

    def advice_on_comment(self, opener: Token, end: str) -> str:
        """What to say where the bracket's end stands in a comment, as that of `f(7 // 2)`."""
        line, comment, behind = self.source.text[opener.start :].partition("\n")[0].partition("//")
        if not comment or end not in behind or not line[1:].strip():
            return ""
        return f"its `{end}` stands in a comment, which `//` begins; `/` of two Ints gives an Int"

    def in_unclosed_string(self, opener: _Open) -> bool:
        """Whether a string that is not closed has taken in what closes a bracket."""
        for start, end in self.lexed.unclosed:
            line = self.source.line_column(start)[0]
            if line == opener.line or (opener.token.start < start and line < self.source.line_column(end)[0]):
                return True
        return False

    def insert_closers(self, index: int) -> None:
        at = self.mended[-1].end if self.mended else 0
        self.lexed.mistakes.append(at)
        while len(self.open) > index:
            opener = self.open.pop().token
            self.mended.append(Token(OPENERS[opener.kind], "", at, at))
            if opener.kind != "LBRACE":
                self.lexed.doubtful.append((opener.start, at))

    def too_many(self, closer: Token) -> None:
        self.missing -= closer.kind == "RBRACE"
        self.lexed.mistakes.append(closer.start)
        # Where a bracket was left open, a brace before this one ended what this one was to end.
        if closer.kind == "RBRACE" and any(isinstance(each, UnclosedPair) for each in self.problems):
            return
        self.lexed.spare.append(
            UnexpectedToken(
                self.span(closer),
                f"unexpected `{_ENDS[closer.kind]}`",
                label="closes nothing",
                help="remove it, or open a bracket before it",
            )
        )

    # --- Places ---

    def span(self, token: Token) -> Span:
        return Span(self.source, token.start, token.end)

    def line(self, token: Token) -> int:
        return self.source.line_column(token.start)[0]

    def column(self, token: Token) -> int:
        return self.source.line_column(token.start)[1] - 1

    def indentation(self, line: int) -> int:
        text = self.source.line_text(line)
        return len(text) - len(text.lstrip())
