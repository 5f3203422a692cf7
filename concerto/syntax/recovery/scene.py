"""The place of a syntax error, as repairs see it: the tokens around it, what would fit, and what to say."""

from __future__ import annotations

from concerto.diagnostics import Problem, UnexpectedToken
from concerto.records import frozen
from concerto.source import Source, Span
from concerto.syntax.expectation import describe, expected
from concerto.syntax.foreign_words import COMBINATIONS, WORDS, WRONG_SIGNS
from concerto.syntax.lalr import LalrParser
from concerto.syntax.recovery.foreign_constructs import NO_SUCH_SYNTAX
from concerto.syntax.tokens import BRACES, CLOSERS, END, OPENERS, SIGN_TEXTS, Token

_AHEAD = 2
OPENING = frozenset(OPENERS) | BRACES
SIGN_KINDS = (frozenset(SIGN_TEXTS) | {"OPERATOR"}) - OPENING - CLOSERS


@frozen
class TokenEdit:
    """Takes back `undo` tokens, drops `drop` more, and puts `tokens` in place. `cut` is the number of
    values on the machine's stack that the tokens taken back have become. `foreign`: what was mended is a
    habit of another language, which may show more than once in the line."""

    problem: Problem
    tokens: tuple[Token, ...] = ()
    undo: int = 0
    drop: int = 0
    cut: int = 0
    foreign: bool = False


@frozen
class Scene:
    """The machine stopped before `token`."""

    source: Source
    parser: LalrParser
    tokens: list[Token]
    position: int

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    @property
    def before(self) -> Token:
        return self.tokens[max(self.position - 1, 0)]

    def kind_ahead(self, distance: int) -> str:
        index = self.position + distance
        return self.tokens[index].kind if index < len(self.tokens) else END

    @property
    def fresh(self) -> bool:
        """Whether the token before was shifted and nothing made of it yet."""
        values = self.parser.values
        return bool(values) and values[-1] is self.before

    @property
    def on_new_line(self) -> bool:
        return "\n" in self.source.text[self.before.end : self.token.start]

    @property
    def ends_line(self) -> bool:
        return "\n" in self.source.text[self.token.end : self.tokens[self.position + 1].start]

    @property
    def continues_block(self) -> bool:
        operator = self.token.kind in ("OPERATOR", "PLUS")
        return operator and self.before.kind == "RBRACE" and self.parser.accepts("LET")

    def works(self, kinds: list[str], undo: int = 0, drop: int = 0, ahead: int = _AHEAD) -> bool:
        """Whether these kinds and the tokens that follow would be accepted; the end token stays."""
        start = self.position + drop
        if start >= len(self.tokens):
            return False
        following = [token.kind for token in self.tokens[start : start + ahead]]
        return self.parser.try_kinds([*kinds, *following], len(self.parser.states) - undo)

    def assigns(self, kind: str) -> bool:
        """Whether this would make an assignment out of what is none."""
        return kind == "EQUAL" and self.parser.accepts("OPERATOR")

    def error(self, message: str, advice: str = "", at: Token | None = None) -> Problem:
        place = at or self.token
        return UnexpectedToken(Span(self.source, place.start, place.end), message, help=advice)

    def problem(self, advice: str = "", wanted: str = "") -> Problem:
        """What to say if nothing better is known; `wanted` is the sign that is missing."""
        special = combined_signs(self) or missing_syntax(self)
        if special is not None:
            return special
        found = describe(self.source, self.token)
        signs = f"`{SIGN_TEXTS.get(wanted, wanted.lower())}`" if wanted else expected(self.parser)
        advice = advice or WRONG_SIGNS.get((self.token.text, signs.strip("`")), "")
        if self.continues_block:
            advice = "what begins a statement ends with its `}`: put it into parentheses to go on"
        return self.error(f"expected {signs}, found {found}", advice)


def combined_signs(scene: Scene) -> Problem | None:
    """Two signs that are one operator elsewhere: `++`, `===`, `:=`, `?:`."""
    for at in (scene.position - 1, scene.position):
        name, first, second = (scene.tokens[max(0, min(at + i, len(scene.tokens) - 1))] for i in (-1, 0, 1))
        advice = COMBINATIONS.get(first.text + second.text) if first.end == second.start else None
        if advice is not None and scene.token.kind in SIGN_KINDS:
            place = Span(scene.source, first.start, second.end)
            help_ = advice.replace("{0}", name.text if name.kind == "NAME" else "x")
            return UnexpectedToken(place, f"there is no `{first.text}{second.text}`", help=help_)
    return None


def missing_syntax(scene: Scene, *, to_mend: bool = False) -> Problem | None:
    """What to say about a construct that other languages have."""
    called = _called_word(scene)
    if called is not None:
        return called
    if scene.token.kind == "COLON" and scene.ends_line and scene.parser.accepts("LBRACE"):
        return scene.error("a block stands in braces", "write `{ … }` instead of the `:`")
    before_last = scene.tokens[scene.position - 2].kind if scene.position > 1 else ""
    for syntax in NO_SUCH_SYNTAX:
        if syntax.after_value and not scene.parser.accepts("OPERATOR"):
            continue
        if to_mend and not syntax.mendable:
            continue
        if syntax.word and scene.before.text != syntax.word:
            continue
        if not all(scene.parser.accepts(kind) for kind in syntax.accepts):
            continue
        if syntax.found(before_last, scene.before.kind, scene.token):
            return scene.error(syntax.message, syntax.advice.replace("{0}", scene.before.text))
    return None


def _called_word(scene: Scene) -> Problem | None:
    """`switch (x) { … }`, `items.map(function (x) { … })`: read as a call with a block behind it."""
    if scene.before.kind != "RPAR" or scene.token.kind not in BRACES:
        return None
    depth = 0
    for index in range(scene.position - 1, 0, -1):
        depth += (scene.tokens[index].kind == "RPAR") - (scene.tokens[index].kind == "LPAR")
        if depth == 0:
            break
    called = scene.tokens[max(index - 1, 0)]
    word = WORDS.get(called.text) if called.kind == "NAME" else None
    if word is None:
        return None
    in_expression = "a function inside of an expression is a closure: `|x| { … }`"
    return scene.error(
        f"there is no `{called.text}`", in_expression if word.kind == "FN" else word.advice, called
    )


def matching(tokens: list[Token], opener: int) -> int | None:
    """The bracket that closes another one."""
    depth = 0
    for index in range(opener, len(tokens)):
        depth += (tokens[index].kind in OPENING) - (tokens[index].kind in CLOSERS)
        if depth == 0:
            return index
    return None


def indentation(scene: Scene, token: Token) -> int:
    """How far the line of a token is set in."""
    text = scene.source.text
    line = text[text.rfind("\n", 0, token.start) + 1 : token.start + 1]
    return len(line) - len(line.lstrip())
