"""Settles tokens that one token of look-ahead cannot tell apart.

`settle` walks the raw tokens once. Afterwards a `{` that opens a map is MAP_OPEN and one after a
type's name STRUCT_OPEN; a `<` that opens type arguments in an expression is GENERIC_OPEN; reserved
words that are only names are WORD or NAME; and words with a meaning only in place are either their
keyword or NAME. Section 26 of the language reference says which is which.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from concerto.syntax.tokens import (
    BRACES,
    CLOSERS,
    CONTEXTUAL,
    END,
    OPENERS,
    WORD_KINDS,
    Token,
    ends_value,
    words,
)

# How far a `<` is followed to find its `>`; nobody writes longer type arguments, and it keeps the
# walk linear.
_LONGEST_TYPE_ARGUMENTS = 400
# As far is the key of a map followed to find its colon.
_LONGEST_KEY = 400

_TYPE_KINDS = words("NAME COLON_COLON COMMA FN ARROW STRING INT MINUS TRUE FALSE NIL VBAR")
_BEHIND_TYPE_ARGUMENTS = words("LPAR COLON_COLON DOT LBRACE SEMICOLON COMMA RPAR RSQB RBRACE")
_KEY_KINDS = frozenset({"NAME", "WORD", "STRING", "INT"}) | WORD_KINDS
_KEY_PARTS = frozenset({"NAME", "COLON_COLON", "INT", "FLOAT", "RPAR", "RBRACE", "TEXT_CLOSE"})
_KEY_OPENERS = frozenset({"LPAR", "LSQB", "TEXT_OPEN"}) | BRACES
_KEY_CLOSERS = frozenset({"RPAR", "RSQB", "TEXT_CLOSE", "RBRACE"})
_BLOCK_WORDS = frozenset({"ELSE", "LET_ELSE", "LOOP", "TRY", "CATCH"})
# After these `{}` is an empty block, elsewhere an empty map.
_BEFORE_BLOCK = frozenset({"LBRACE", "SEMICOLON", "FAT_ARROW", "VBAR", "OR_OR", "RBRACE", END})
_CONTEXTUAL_KINDS = frozenset(word.upper() for word in CONTEXTUAL)
_STATEMENT_STARTS = frozenset({"LBRACE", "MAP_OPEN", "STRUCT_OPEN", "SEMICOLON", "RBRACE", END})
_PYTHON_BLOCKS = frozenset({"ELSE", "TRY", "LOOP"})
_PYTHON_STATEMENTS = words("LET RETURN IF FOR WHILE MATCH BREAK CONTINUE THROW")


class _Head(Enum):
    """What the next `{` at this bracket depth is, if it is not free."""

    NONE = auto()
    BLOCK = auto()  # in the head of `if`, `while`, `match` …
    PATTERN = auto()  # between the `let` and the `=` of such a head
    TYPE = auto()  # behind `->`


def disambiguate(tokens: list[Token]) -> list[tuple[Token, str, str]]:
    """Retypes tokens in place; may split a `>=` that closes type arguments. What stands in a head and needs
    parentheses or an end there is read as it was meant: its tokens, with a message and advice."""
    walk = _Walk(tokens)
    handlers = walk.handlers()
    # The list may grow behind the position.
    for position, token in enumerate(tokens):
        handler = handlers.get(token.kind)
        if handler is not None:
            handler(position, token)
    return walk.out_of_place


class _Walk:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.head = _Head.NONE
        self.outer: list[tuple[_Head, int]] = []
        # How many `<` are open behind the last `->`; a comma among them does not end the type.
        self.angles = 0
        # The `>` that close type arguments: a `{` behind one is not behind a greater-than.
        self.generic_ends: set[Token] = set()
        self.out_of_place: list[tuple[Token, str, str]] = []
        # What was found of a `<` while one around it was followed.
        self.ends: dict[int, int | None] = {}

    def handlers(self) -> dict[str, Callable[[int, Token], None]]:
        handlers: dict[str, Callable[[int, Token], None]] = {
            "LBRACE": self.brace,
            "LESSTHAN": self.less,
            "COLON": self.colon,
            "DOT": self.dot,
            "COLON_COLON": self.colon_colon,
            "FN": self.fn,
            "AT": self.at,
            "LET": self.let,
            "ELSE": self.let_else,
            "EQUAL": self.equal,
            "COMMA": self.end_of_type,
            "VBAR": self.bar,
            "MORETHAN": self.close_angle,
            "SEMICOLON": self.end_of_head,
            "FAT_ARROW": self.end_of_head,
            "ARROW": self.arrow,
            "MODEL": self.declaration_word,
            "HOST": self.declaration_word,
            "CONNECT": self.declaration_word,
            "MOCK": self.mock,
            "RACE": self.race,
            "PARALLEL": self.parallel,
        }
        handlers |= dict.fromkeys(["LPAR", "LSQB", "INTERPOLATE"], self.open_bracket)
        handlers |= dict.fromkeys(["RPAR", "RSQB", "RBRACE", "TEXT_RESUME"], self.close_bracket)
        handlers |= dict.fromkeys(["IF", "WHILE", "MATCH", "LISTEN", "IN", "CATCH"], self.head_word)
        return handlers

    def kind(self, position: int) -> str:
        """The kind of a token; before the first one stands, as Python counts, the end."""
        return self.tokens[position].kind

    # --- Brackets and heads ---

    def open_bracket(self, position: int, token: Token) -> None:
        self.outer.append((self.head, self.angles))
        self.head = _Head.NONE

    def close_bracket(self, position: int, token: Token) -> None:
        self.head, self.angles = self.outer.pop() if self.outer else (_Head.NONE, 0)

    def head_word(self, position: int, token: Token) -> None:
        if self.kind(position + 1) != "COLON":
            self.head = _Head.BLOCK

    def let(self, position: int, token: Token) -> None:
        if self.head is _Head.BLOCK:
            self.head = _Head.PATTERN
            if self.tokens[position - 1].text == "&&":
                self.tokens[position - 1].kind = "AND_LET"

    def let_else(self, position: int, token: Token) -> None:
        """The `else` of a `let` stands behind no block."""
        depth, before = 0, position - 1
        if self.kind(before) == "RBRACE":
            return
        while before >= 0:
            kind = self.kind(before)
            depth += (kind in CLOSERS) - (kind in OPENERS or kind in BRACES)
            if depth < 0 or (not depth and kind in ("IF", "ELSE", "SEMICOLON")):
                return
            if not depth and kind == "LET":
                token.kind = "LET_ELSE"
                return
            before -= 1

    def equal(self, position: int, token: Token) -> None:
        if self.head is _Head.PATTERN:
            self.head = _Head.BLOCK
        elif self.head is _Head.TYPE:
            self.head = _Head.NONE

    def end_of_type(self, position: int, token: Token) -> None:
        if self.head is _Head.TYPE and self.angles <= 0:
            self.head = _Head.NONE

    def bar(self, position: int, token: Token) -> None:
        self.end_of_type(position, token)
        before = self.tokens[position - 1]
        if before.text == "move" and before.kind == "NAME" and not ends_value(self.tokens, position - 2):
            before.kind = "WORD"  # No variable of that name, but Rust's closures.

    def close_angle(self, position: int, token: Token) -> None:
        self.angles -= 1

    def end_of_head(self, position: int, token: Token) -> None:
        self.head = _Head.NONE

    def arrow(self, position: int, token: Token) -> None:
        if self.head is _Head.NONE:
            self.head = _Head.TYPE
            self.angles = 0

    def brace(self, position: int, token: Token) -> None:
        before = self.tokens[position - 1]
        if self.head is _Head.BLOCK and before.kind in ("DOT_DOT", "DOT_DOT_EQUAL"):
            advice = "name its end, or count in a `loop`"
            self.out_of_place.append((before, "a range without an end stands only inside of `[…]`", advice))
            # Comes by again behind it.
            self.tokens.insert(position, Token("ERROR", "", before.end, before.end))
            return
        token.kind = self.brace_kind(position)
        if token.kind == "LBRACE":
            self.head = _Head.NONE
        self.open_bracket(position, token)

    def brace_kind(self, position: int) -> str:
        before = self.kind(position - 1)
        closes_generics = self.tokens[position - 1] in self.generic_ends
        if before in _BLOCK_WORDS or self.head is _Head.TYPE:
            return "LBRACE"
        if self.tokens[position - 1].text == "finally" and self.kind(position - 2) == "RBRACE":
            return "LBRACE"
        if before == "NAME" or closes_generics:
            if self.head is _Head.BLOCK and not self.is_struct_literal(position):
                return "LBRACE"
            return "STRUCT_OPEN"
        closed = before == "RBRACE" and self.head is not _Head.BLOCK
        if ends_value(self.tokens, position - 1) and not closed:
            return "LBRACE"
        if self.opens_map(position):
            return "MAP_OPEN"
        empty = self.kind(position + 1) == "RBRACE"
        return "MAP_OPEN" if empty and before not in _BEFORE_BLOCK else "LBRACE"

    def is_struct_literal(self, position: int) -> bool:
        """Whether `Name { field: …` stands in a head, where no block begins so, or `Name { field }` before
        what stands behind no block."""
        name = self.tokens[position - 1]
        if not name.text[:1].isupper() or self.kind(position + 1) != "NAME":
            return False
        first = self.path_start(position - 1)
        behind = self.kind(position + 2)
        if behind == "RBRACE":
            goes_on = self.kind(first - 1) == "MATCH" or self.kind(position + 3) == "DOT"
        else:
            goes_on = behind in ("COLON", "COMMA")
        if not goes_on:
            return False
        message = "a struct literal in the head of a statement stands in parentheses"
        path = "".join(token.text for token in self.tokens[first:position])
        self.out_of_place.append((name, message, f"write `({path} {{ … }})`"))
        return True

    def opens_map(self, position: int) -> bool:
        """Whether a key follows and a colon: a word, a literal, a path, or any of it in brackets."""
        first = position + 1
        key = self.kind(first)
        if key == "MINUS":
            first += 1
        if key in _KEY_KINDS and self.kind(first + 1) == "COLON":
            return True
        depth, end = 0, len(self.tokens)
        if key != "TEXT_OPEN":
            end = min(first + _LONGEST_KEY, end)
        for index in range(first, end):
            kind = self.kind(index)
            depth += (kind in _KEY_OPENERS) - (kind in _KEY_CLOSERS)
            if depth:
                if depth < 0:
                    return False
            elif kind not in _KEY_PARTS:
                return kind == "COLON" and index > first
            elif kind == "NAME" and self.kind(index - 1) == "NAME":
                return False
        return False

    # --- Type arguments ---

    def less(self, position: int, token: Token) -> None:
        self.angles += 1
        # `name::<T>(…)` is no form of the language, but known for what it is.
        name = position - 2 if self.kind(position - 1) == "COLON_COLON" else position - 1
        if self.kind(name) != "NAME":
            return
        end = self.type_arguments_end(position)
        if end is None:
            return
        before = self.kind(self.path_start(name) - 1)
        if self.kind(end + 1) in _BEHIND_TYPE_ARGUMENTS or before in ("AS", "ARROW"):
            token.kind = "GENERIC_OPEN"
            self.generic_ends.add(self.tokens[end])

    def type_arguments_end(self, position: int) -> int | None:
        """The `>` that closes the `<`, if only what stands in types is between them."""
        if position in self.ends:
            return self.ends[position]
        parentheses = 0
        # The `<` that are open, each with the parentheses around it.
        opened: list[tuple[int, int]] = []
        for index in range(position, min(position + _LONGEST_TYPE_ARGUMENTS, len(self.tokens))):
            kind = self.kind(index)
            if kind == "LESSTHAN":
                opened.append((index, parentheses))
            elif kind == "MORETHAN" or (kind == "OPERATOR" and self.splits(position, index, len(opened))):
                start, outside = opened.pop()
                self.ends[start] = index if parentheses == outside else None
            elif kind == "LPAR":
                parentheses += 1
            elif kind == "RPAR" and parentheses:
                parentheses -= 1
            elif kind not in _TYPE_KINDS:
                return None
            if not opened:
                return self.ends[position]
        return None

    def splits(self, position: int, index: int, opened: int) -> bool:
        """Splits the first `>` off a sign behind the type of a declaration: `let x: Array<Int>= …`."""
        token = self.tokens[index]
        before = self.kind(self.path_start(position - 1) - 1)
        if token.text != {1: ">=", 2: ">>="}.get(opened) or before not in ("COLON", "ARROW", "TYPE"):
            return False
        rest = token.text[1:]
        self.tokens[index : index + 1] = [
            Token("MORETHAN", ">", token.start, token.start + 1),
            Token("EQUAL" if rest == "=" else "OPERATOR", rest, token.start + 1, token.end),
        ]
        return True

    def path_start(self, position: int) -> int:
        while self.kind(position - 1) == "COLON_COLON" and self.kind(position - 2) == "NAME":
            position -= 2
        return position

    # --- Words ---

    def colon(self, position: int, token: Token) -> None:
        word = position - 2 if self.kind(position - 1) == "QMARK" else position - 1
        kind = self.kind(word)
        if kind not in WORD_KINDS or kind in ("TRUE", "FALSE"):
            return
        if kind in _PYTHON_BLOCKS and self.begins_block(word - 1, position + 1):
            return
        self.tokens[word].kind = "WORD"

    def begins_block(self, before: int, after: int) -> bool:
        """Whether a word with a colon stands where a statement does: behind a `{` there may be a field."""
        if self.kind(before) != "LBRACE":
            return self.kind(before) in ("RBRACE", "SEMICOLON")
        first = self.kind(after)
        return first in _PYTHON_STATEMENTS or (
            first == "NAME" and self.kind(after + 1) in ("LPAR", "DOT", "EQUAL")
        )

    def dot(self, position: int, token: Token) -> None:
        member = self.tokens[position + 1]
        if member.kind in WORD_KINDS and member.kind != "AWAIT":
            member.kind = "NAME"

    def colon_colon(self, position: int, token: Token) -> None:
        member = self.tokens[position + 1]
        if member.kind in WORD_KINDS:
            member.kind = "NAME"

    def fn(self, position: int, token: Token) -> None:
        kind = self.kind(position + 1)
        if kind in WORD_KINDS and self.kind(position + 2) in ("LPAR", "LESSTHAN"):
            self.tokens[position + 1].kind = "NAME" if kind in _CONTEXTUAL_KINDS else "WORD"

    def at(self, position: int, token: Token) -> None:
        if self.kind(position - 1) != "NAME" and self.kind(position + 1) in WORD_KINDS:
            self.tokens[position + 1].kind = "WORD"

    def declaration_word(self, position: int, token: Token) -> None:
        before = self.kind(position - 1)
        bare_decorator = before in ("NAME", "WORD") and self.kind(position - 2) == "AT"
        begins = before in _STATEMENT_STARTS or before in ("PUB", "RPAR") or bare_decorator
        named = self.kind(position + 1) == "NAME" or self.kind(position + 1) in WORD_KINDS
        if not (begins and named and self.kind(position + 2) == "LBRACE"):
            token.kind = "NAME"
        elif token.kind == "CONNECT":
            self.tokens[position + 1].kind = "WORD"

    def mock(self, position: int, token: Token) -> None:
        begins = self.kind(position - 1) in _STATEMENT_STARTS
        if not (begins and self.kind(position + 1) in ("NAME", "STRING", "MODEL", "HOST")):
            token.kind = "NAME"

    def race(self, position: int, token: Token) -> None:
        if self.kind(position + 1) != "LPAR":
            token.kind = "NAME"

    def parallel(self, position: int, token: Token) -> None:
        if self.kind(position + 1) != "FOR":
            token.kind = "NAME"
