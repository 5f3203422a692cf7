"""Error recovery (panic mode): goes on after a syntax error.

`Recovery.repair` is called with the machine stopped at a token that fits nowhere. It reports the
mistake, at most once a place, and makes parsing possible again by the first of these that works:

1. a mend: one token put in, taken out or read as another (`mends`), where what is meant is plain;
2. an ERROR token in place of the smallest broken part, so that what surrounds it stays;
3. an ERROR_ITEM in place of a whole member or declaration.

All three change the token list or cut the machine's stacks; nothing is parsed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from concerto.diagnostics import Edit, MisplacedStatement, Problem, Problems, ReservedName, UnclosedPair
from concerto.records import replace
from concerto.source import Source, Span
from concerto.syntax.foreign_words import WORDS
from concerto.syntax.lalr import LalrParser
from concerto.syntax.lexer import Lexed
from concerto.syntax.recovery.foreign_forms import find_form
from concerto.syntax.recovery.scene import Scene, TokenEdit
from concerto.syntax.recovery.token_repair import find_edit, quote_in_string
from concerto.syntax.tokens import BRACES, CLOSERS, END, OPENERS, SIGN_TEXTS, WORD_KINDS, Token, words

_PIPELINE = "write `pipeline Name(input: T) -> U { stage first(input: T) -> U { … } }`"
_TEST = 'a test is a function: `@test("what it shows") fn name() { … }`'
_CONNECTION = "write `connect openai { … }`, or `[connections.openai]` in `Concerto.toml`"
_DECLARATIONS = {
    **dict.fromkeys(("workflow", "graph", "flow", "chain", "crew"), _PIPELINE),
    **dict.fromkeys(("test", "describe", "it"), _TEST),
    **dict.fromkeys(("client", "provider", "llm", "connection"), _CONNECTION),
    **dict.fromkeys(("assistant", "bot"), "write `agent Name { provider: openai, … }`"),
    **dict.fromkeys(("prompt", "template"), 'a prompt is a text: `fn name(…) -> String { "…" }`'),
    **dict.fromkeys(
        ("state", "global"), "what lasts is kept in a `hashmap`, a `memory`, or in a tool's fields"
    ),
    **dict.fromkeys(("server", "mcp_server"), 'write `mcp Name { command: "…", … }`'),
}
"""What declarations of other languages begin with, and what is written here."""

# More mistakes help nobody, and each costs a walk over the token list.
_DECLARED_BY = words("LET MUT FN STRUCT ENUM TRAIT SCHEMA TYPE CONST TOOL AGENT MCP PIPELINE STAGE MOD FOR")
_MOST_REPAIRS = 200
# These leave even where nothing follows them.
_LEAVING = words("RETURN BREAK CONTINUE THROW")
_BEHIND_NAMES = words(
    "RPAR RSQB COMMA SEMICOLON DOT OPERATOR PLUS STAR EQUAL QMARK LESSTHAN MORETHAN TEXT_RESUME DOT_DOT"
)

_LINE_STARTS = words(
    "LET RETURN IF WHILE FOR LOOP MATCH TRY BREAK CONTINUE THROW FN PUB ASYNC STRUCT ENUM TRAIT IMPL "
    "CONST TYPE USE MOD SCHEMA TOOL AGENT MODEL HOST MCP CONNECT PIPELINE STAGE HASHMAP LEDGER MEMORY "
    "AT MOCK LISTEN"
)
_STATEMENTS = words(
    "LET RETURN IF WHILE FOR LOOP MATCH TRY BREAK CONTINUE THROW NAME INT FLOAT STRING LPAR LSQB "
    "LBRACE MAP_OPEN TRUE FALSE NIL SELF AWAIT SPAWN MINUS BANG VBAR OR_OR TEXT_OPEN LABEL LISTEN MOCK "
    "RACE PARALLEL"
)
_ALL_OPENERS = frozenset(OPENERS) | BRACES


class Recovery:
    """`broken_line` is where text was given up last, `foreign_line` where a habit of another language was
    mended: what else does not fit there is the same mistake.
    `reserved` are words of the language that were reported as names."""

    def __init__(self, source: Source, problems: Problems, lexed: Lexed) -> None:
        self.source = source
        self.problems = problems
        self.mistakes = lexed.mistakes
        self.doubtful = lexed.doubtful
        # The lines of strings that are not closed: what is text there and what is not, nobody knows.
        self.open_strings = [
            (source.line_column(start)[0], source.line_column(end)[0]) for start, end in lexed.unclosed
        ]
        self.repairs = 0
        self.broken_line = 0
        self.foreign_line = 0
        self.mended_line = 0
        self.reserved: set[str] = set()

    def repair(self, parser: LalrParser, tokens: list[Token], position: int) -> int:
        self.repairs += 1
        if self.repairs > _MOST_REPAIRS:
            self.skip_rest(parser, tokens, position)
            return position
        silent = self.known(tokens, position)
        scene = Scene(self.source, parser, tokens, position)
        quoted = None if silent else quote_in_string(scene)
        if quoted is not None:
            self.problems.add(quoted)
            silent, self.foreign_line = True, self.line(tokens[position])
        form = find_form(scene)
        mend = form or find_edit(scene)
        line = self.line(tokens[position])
        if mend is not None:
            self.mended_line = line
            if isinstance(mend.problem, ReservedName):
                self.read_as_name(tokens, mend.problem.span)
            if not silent and self.is_worth_saying(mend.problem, scene.before):
                edits = () if form is not None else self.edits(mend, tokens, position)
                self.problems.add(replace(mend.problem, edits=edits) if edits else mend.problem)
                if form is not None or mend.foreign:
                    self.foreign_line = self.line(tokens[position])
            return self.apply(mend, parser, tokens, position)
        # Where a line was mended and still does not fit, the mend was not what was meant.
        if not silent and line != self.mended_line:
            problem = self.problem(scene)
            if self.is_new(problem) and not self.fell_out(problem):
                self.problems.add(problem)
        self.broken_line = self.line(tokens[position])
        self.replace_part(parser, tokens, position)
        return position

    # --- Reports ---

    def is_worth_saying(self, problem: Problem, before: Token) -> bool:
        """Whether it is no repetition, and not what else differs in a line of another language."""
        line = self.source.line_column(problem.span.start)[0]
        return line != self.foreign_line and not self.repeats(problem, before) and self.is_new(problem)

    def repeats(self, problem: Problem, before: Token) -> bool:
        """Whether a reserved word is only used again, after it was reported as a name."""
        if not isinstance(problem, ReservedName):
            return False
        word = self.source.text[problem.span.start : problem.span.end]
        if word in self.reserved and before.kind not in _DECLARED_BY:
            return True
        self.reserved.add(word)
        return False

    def is_new(self, problem: Problem) -> bool:
        """Whether this was not said of the same line before: who writes an arm with `:` writes all so."""
        line = self.source.line_column(problem.span.start)[0]
        return not any(
            each.message == problem.message
            and each.span.source is self.source
            and self.source.line_column(each.span.start)[0] == line
            for each in self.problems
        )

    def fell_out(self, problem: Problem) -> bool:
        """Whether a statement that is set in stands outside of a function because a bracket before it has no
        partner."""
        start = problem.span.start
        return (
            isinstance(problem, MisplacedStatement)
            and self.source.line_column(start)[1] > 1
            and any(isinstance(each, UnclosedPair) and each.span.start < start for each in self.problems)
        )

    def read_as_name(self, tokens: list[Token], declared: Span) -> None:
        """A word that was declared as a name is one where it is used, too."""
        for token, behind in pairwise(tokens):
            again = token.start >= declared.start and token.text == declared.text
            if again and behind.kind in _BEHIND_NAMES and token.kind not in _LEAVING:
                token.kind = "NAME"

    def known(self, tokens: list[Token], position: int) -> bool:
        """Whether the mistake follows from one that was reported."""
        token, before = tokens[position], tokens[max(position - 1, 0)]
        line = self.line(token)
        if line in (self.broken_line, self.foreign_line):
            return True
        if any(first <= line <= last for first, last in self.open_strings):
            return True
        if any(start <= token.start <= end for start, end in self.doubtful):
            return True
        return any(before.start <= mistake <= token.end for mistake in self.mistakes)

    def problem(self, scene: Scene) -> Problem:
        parser, token = scene.parser, scene.token
        if parser.accepts("STRUCT") and parser.accepts(END) and token.kind in _STATEMENTS:
            word = WORDS.get(token.text) if token.kind == "NAME" else None
            advice = _DECLARATIONS.get(token.text, "") if word is None else word.advice
            if advice:
                return scene.error(f"there is no `{token.text}`", advice)
            constant = ", or declare a `const`" if token.kind == "LET" else ""
            return MisplacedStatement(
                Span(self.source, token.start, token.end),
                "a statement stands outside of a function",
                help=f"put it into `fn main() {{ … }}`{constant}",
            )
        return scene.problem()

    def line(self, token: Token) -> int:
        return self.source.line_column(token.start)[0]

    # --- Mends ---

    def apply(self, mend: TokenEdit, parser: LalrParser, tokens: list[Token], position: int) -> int:
        if mend.cut:
            parser.cut(len(parser.states) - mend.cut)
        position -= mend.undo
        tokens[position : position + mend.undo + mend.drop] = mend.tokens
        return position

    def edits(self, mend: TokenEdit, tokens: list[Token], position: int) -> tuple[Edit, ...]:
        """The change of the text that is what the mend does, if that is plain."""
        texts = [_written(token) for token in mend.tokens]
        # A word of another language is known by what stands behind it.
        is_word = mend.undo == 1 and not mend.drop and tokens[position - 1].start == mend.problem.span.start
        if (mend.undo and not (is_word and mend.foreign)) or "" in texts:
            return ()
        replaced = tokens[position - mend.undo : position + mend.drop]
        start = replaced[0].start if replaced else tokens[max(position - 1, 0)].end
        end = replaced[-1].end if replaced else start
        text = " ".join(texts)
        if not text and replaced:
            end += self.source.text[end:].startswith(" ")
        if text[:1].isalnum() and not replaced:
            text = f" {text} "
        return (Edit(Span(self.source, start, end), text),)

    # --- Replacing what is broken ---

    def replace_part(self, parser: LalrParser, tokens: list[Token], position: int) -> None:
        """Puts ERROR in place of the smallest part that lets the text go on."""
        for depth in range(len(parser.states), 0, -1):
            found = self.replacement(parser, tokens, position, depth)
            if found is not None:
                stand_in, end = found
                start = tokens[position].start
                at = tokens[end - 1].end if end > position else start
                parser.cut(depth)
                tokens[position:end] = [Token(kind, "", min(start, at), at) for kind in stand_in]
                return
        self.skip_rest(parser, tokens, position)

    def replacement(
        self, parser: LalrParser, tokens: list[Token], position: int, depth: int
    ) -> tuple[tuple[str, ...], int] | None:
        """What to put in, and before which token, if the stack is cut to `depth`."""
        if parser.accepts("ERROR", depth) and not self.breaks_a_list(parser, depth):
            level = self.opened_above(parser, depth)
            end = self.next_fit(parser, tokens, position, depth, level)
            if end is not None:
                return ("ERROR",), end
            end = self.statement_end(tokens, position, level)
            if parser.try_kinds(["ERROR", "SEMICOLON", tokens[end].kind], depth):
                return ("ERROR", "SEMICOLON"), end
        if parser.accepts("ERROR_ITEM", depth):
            end = self.item_end(parser, tokens, position, depth)
            if end is not None:
                return ("ERROR_ITEM",), end
        return None

    def item_end(self, parser: LalrParser, tokens: list[Token], position: int, depth: int) -> int | None:
        """Where something begins that may follow an ERROR_ITEM."""
        end = self.statement_end(tokens, position, self.opened_above(parser, depth))
        while not parser.try_kinds(["ERROR_ITEM", tokens[end].kind], depth):
            # Every statement outside of a function is a mistake of its own.
            if end > position and tokens[end].kind in _STATEMENTS and parser.accepts(END, depth):
                return end
            if tokens[end].kind in CLOSERS or tokens[end].kind == END:
                return None
            end = self.statement_end(tokens, end, 0)
        return end

    def breaks_a_list(self, parser: LalrParser, depth: int) -> bool:
        """Whether cutting here would forget elements that were parsed well, to no use."""
        return depth < len(parser.states) and isinstance(parser.values[depth - 1], list)

    def opened_above(self, parser: LalrParser, depth: int) -> int:
        """How many brackets are open in the part of the stack that would be cut."""
        kinds = [value.kind for value in parser.values[depth - 1 :] if isinstance(value, Token)]
        return sum((kind in _ALL_OPENERS) - (kind in CLOSERS) for kind in kinds)

    def next_fit(
        self, parser: LalrParser, tokens: list[Token], position: int, depth: int, level: int
    ) -> int | None:
        """The next token of the same bracket that may follow an ERROR, not beyond the statement."""
        for index, inside in _walk(tokens, position, level):
            kind = tokens[index].kind
            if inside > 0 or (inside == 0 and kind in CLOSERS):
                continue
            if parser.try_kinds(["ERROR", kind], depth):
                return index
            if inside < 0 or kind in (END, "SEMICOLON"):
                return None
            if index > position and self.starts_statement(tokens, index):
                return None
        return None

    def statement_end(self, tokens: list[Token], position: int, level: int) -> int:
        """The first token behind the statement or member that `position` is in."""
        for index, inside in _walk(tokens, position, level):
            token = tokens[index]
            if inside < 0 or token.kind == END:
                return index
            if inside > 0:
                continue
            if token.kind == "SEMICOLON":
                return index + 1
            if index > position and self.starts_statement(tokens, index):
                return index
            if token.kind == "RBRACE" and self.on_new_line(tokens, index + 1):
                return index + 1
        raise AssertionError("the tokens have no end token")

    def starts_statement(self, tokens: list[Token], index: int) -> bool:
        return tokens[index].kind in _LINE_STARTS and self.on_new_line(tokens, index)

    def on_new_line(self, tokens: list[Token], index: int) -> bool:
        return "\n" in self.source.text[tokens[index - 1].end : tokens[index].start]

    def skip_rest(self, parser: LalrParser, tokens: list[Token], position: int) -> None:
        """Leaves out the rest of the file."""
        parser.cut(2 if len(parser.states) > 1 and parser.try_kinds([END], 2) else 1)
        del tokens[position:-1]


def _written(token: Token) -> str:
    """A token as it is written; empty if nobody knows."""
    if token.kind in WORD_KINDS:
        return token.text or token.kind.lower()
    return SIGN_TEXTS.get(token.kind) or (token.text if token.kind in ("NAME", "OPERATOR") else "")


def _walk(tokens: list[Token], position: int, level: int) -> Iterator[tuple[int, int]]:
    """Positions from `position` on with their bracket level; 0 is the level of the part that is to
    be replaced, below 0 the bracket around it closes. A bracket's own tokens are outside of it."""
    for index in range(position, len(tokens)):
        kind = tokens[index].kind
        if kind in CLOSERS:
            level -= 1
            yield index, level
        else:
            yield index, level
            if kind in _ALL_OPENERS:
                level += 1
