"""The lexer: source text to raw tokens.

`scan` knows words, numbers, strings with their interpolations and comments; what depends on the
neighbours of a token is `settle`'s business. It never fails: what cannot be a token is reported and
left out, and `Lexed.mistakes` tells later stages where not to complain a second time.
"""

from __future__ import annotations

import re

from concerto.diagnostics import (
    BadEscape,
    BadInterpolation,
    BadNumber,
    Edit,
    Problem,
    Problems,
    UnclosedComment,
    UnclosedString,
    UnknownCharacter,
)
from concerto.records import field, record
from concerto.source import Source, Span
from concerto.syntax import ast
from concerto.syntax.decoding import NOT_UTF8
from concerto.syntax.foreign_words import CHARACTERS, NEEDLESS
from concerto.syntax.numbers import float_value, int_mistake, size_advice
from concerto.syntax.strings import bad_escapes, cut_indentation, unescape
from concerto.syntax.tokens import END, KEYWORDS, SIGNS, Token, ends_value

_TOKEN = re.compile(
    r"""[ \t\n\r\f]*+(?:
      ([A-Za-z_][A-Za-z0-9_]*+)(?!["\#])
    | ([()\[\]{},;]|\.\.=?|::?|->|=>|<<=?|>>=|[=!<>]=|&&|\|[|>=]?|\?\??|\*\*|[+\-*/%]=|=|\.(?![0-9])
        |[?!@<>+\-*%]|/(?![/*]))
    | "([^"\\$\n]*+)"(?!")
    | ([0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9_]+)?[A-Za-z0-9_]*)
    | (//[^\n]*)
    | ('[A-Za-z_][A-Za-z0-9_]*)(?=\s*:\s*(?:for|while|loop)\b(?!'))
    | '([^'\\$\n]*+)'
    | (\.[0-9]++)
    | (/\*)
    | (r\#*")
    | ([A-Za-z_][A-Za-z0-9_]*+)
    | (\"\"\"|["'])
    | ([^\x00-\x7f]+|.)
    | \Z)""",
    re.VERBOSE | re.DOTALL,
)
(_WORD, _SIGN, _STRING, _NUMBER, _COMMENT, _LABEL, _SINGLE, _TUPLE_FIELD, _BLOCK_COMMENT, _RAW,
 _GLUED_WORD, _QUOTE, _UNKNOWN) = range(1, 14)  # fmt: skip

_JUMP_LABEL = re.compile(r"\s*('[A-Za-z_][A-Za-z0-9_]*)(?!')")
_FLOAT = re.compile(r"[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9][0-9_]*)?")
_INT = re.compile(r"0[xX][0-9A-Za-z_]*|0[oO][0-9A-Za-z_]*|0[bB][0-9A-Za-z_]*|[0-9_]+")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_REFERENCE = re.compile(r"&(mut\s+(?!self\b))?(dyn\s+)?")
_REFERRED_SELF = re.compile(r"&(mut\s+)?self\b")
_ATTRIBUTE = re.compile(r"#!?\[[^\]\n]*\]")
_NUMBER_SUFFIX = re.compile(r"(?<=\d)(?:[iu](?:8|16|32|64|size)|f(?:32|64)?|[LlnN])$")
_FOREIGN_WORD = re.compile(r"(?:[^\W\x00-\x7f]|[\u0300-\u036f])[\w\u0300-\u036f]*")
_LIFETIME = re.compile(r"'([a-z_][A-Za-z0-9_]*)(?=[>,+\s])")
_FOREIGN_STRING = re.compile(r"[“”‘’]([^“”‘’\n]*)[“”‘’]|`([^`]*)`")
_LINE_REST = re.compile(r"(?:[)\]};,\s]+(?:\{\s*)?//.*|[)\]};,\s]*(?:\s\{)?)\Z")

# From the end of a line to the quote that closes, on a later one, a text that was meant to go on there.
_FURTHER_LINES = re.compile(r'\n[^"]*+(?="(?=[,;)\]}.+\s])[^"\n]*+(?:"[^"\n]*+"[^"\n]*+)*+(?:\n|\Z))')

# The text up to what ends a piece: the quote, `${`, or a line break where none may stand.
_PIECES = {
    '"': re.compile(r'(?:[^"\\$\n]++|\\[^\n]|\$(?!\{))*+'),
    "'": re.compile(r"(?:[^'\\$\n]++|\\[^\n]|\$(?!\{))*+"),
    '"""': re.compile(r'(?:[^"\\$]++|\\.|\$(?!\{)|"(?!""))*+', re.DOTALL),
}


# A format, from its `:` to the brace behind it, or to where the string ends.
_FORMATS = {
    '"': re.compile(r'[^}"\n]*+'),
    "'": re.compile(r"[^}'\n]*+"),
    '"""': re.compile(r'[^}"\n]*+'),
}


@record
class Lexed:
    """`docs` holds `///` texts by the start of the token they stand before; `mistakes` are the
    offsets of reported problems and `doubtful` stretches whose brackets had to be guessed; `unclosed`
    are the strings that nothing ends; `spare` are closing brackets without an opening one, to
    be reported where nothing else is wrong; `unpaired` are the starts of the parts whose brackets were
    mended; `cut` says that an unclosed string or comment took the rest."""

    tokens: list[Token] = field(default_factory=list)
    comments: list[ast.Comment] = field(default_factory=list)
    docs: dict[int, ast.Comment] = field(default_factory=dict)
    mistakes: list[int] = field(default_factory=list)
    doubtful: list[tuple[int, int]] = field(default_factory=list)
    unclosed: list[tuple[int, int]] = field(default_factory=list)
    spare: list[Problem] = field(default_factory=list)
    unpaired: list[int] = field(default_factory=list)
    cut: bool = False


@record
class _OpenString:
    """A string whose end was not met yet; `brackets` counts those open inside its interpolation, `bars` are
    the `|` outside of them."""

    quote: str
    first: int
    start: int
    pieces: list[Token] = field(default_factory=list)
    brackets: int = 0
    interpolation: int = 0
    bars: list[int] = field(default_factory=list)


def scan(source: Source, problems: Problems) -> Lexed:
    return _Scanner(source, problems).scan()


class _Scanner:
    def __init__(self, source: Source, problems: Problems) -> None:
        self.source = source
        self.text = source.text
        self.problems = problems
        self.lexed = Lexed()
        self.tokens = self.lexed.tokens
        self.strings: list[_OpenString] = []
        self.pending_docs: list[Token] = []
        self.foreign_names: set[str] = set()

    def scan(self) -> Lexed:
        position: int | None = 0
        while position is not None:
            position = self.scan_from(position)
        return self.finish()

    def scan_from(self, position: int) -> int | None:
        """Takes tokens up to one after which the text goes on elsewhere: there; None at the end."""
        strings, docs, add, new = self.strings, self.pending_docs, self.tokens.append, Token.__new__
        keywords, signs = KEYWORDS, SIGNS
        # The expression matches everywhere, so it leaves nothing out.
        for found in _TOKEN.finditer(self.text, position):
            kind = found.lastindex
            if kind is None:
                return None
            start, end = found.span(kind)
            text = found[kind]
            if kind > _STRING or (kind == _SIGN and strings):
                behind = self.rarer(kind, text, start, end)
                if behind != found.end():
                    self.attach_docs_to_last()
                    return behind
            else:
                # `Token(…)` would take twice as long.
                token = new(Token)
                token.text = text
                if kind == _WORD:
                    token.kind = keywords.get(text, "NAME")
                elif kind == _SIGN:
                    token.kind = signs[text]
                else:
                    token.kind = "STRING"
                    start -= 1
                    end += 1
                token.start = start
                token.end = end
                add(token)
            if docs:
                self.attach_docs_to_last()
        raise AssertionError("a text has an end")

    def rarer(self, kind: int, text: str, start: int, end: int) -> int:
        """Takes a token that `scan_from` does not take itself; the offset behind it."""
        if kind == _SIGN:
            return self.sign_in_interpolation(text, start, end)
        elif kind == _NUMBER:
            self.number(text, start, end)
        elif kind == _COMMENT:
            self.line_comment(text, start, end)
        elif kind == _LABEL:
            self.tokens.append(Token("LABEL", text, start, end))
        elif kind == _SINGLE:
            return self.single_quoted(text, start - 1, end + 1)
        elif kind == _TUPLE_FIELD:
            self.tokens.append(Token("TUPLE_FIELD", text[1:], start, end))
        elif kind == _BLOCK_COMMENT:
            return self.block_comment(start)
        elif kind == _RAW:
            return self.raw_string(start)
        elif kind == _GLUED_WORD:
            self.tokens.append(Token(KEYWORDS.get(text, "NAME"), text, start, end))
        elif kind == _QUOTE:
            return self.open_string(text, start, end)
        else:
            return self.unknown(text, start, end)
        return end

    def report(self, problem: Problem) -> None:
        self.problems.add(problem)
        self.lexed.mistakes.append(problem.span.start)

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    # --- Numbers, comments, strange characters ---

    def number(self, text: str, start: int, end: int) -> None:
        integer = _INT.fullmatch(text)
        if integer:
            # Eighteen digits fit whatever they are.
            mistake = int_mistake(text) if len(text) > 18 or text[0] == "0" else None
            self.tokens.append(Token("INT", text if mistake is None else "0", start, end))
        else:
            mistake = None if _FLOAT.fullmatch(text) else f"`{text}` is not a number"
            if mistake is None and float_value(text) == float("inf"):
                mistake = f"`{text}` does not fit into a Float"
            self.tokens.append(Token("FLOAT", text if mistake is None else "0.0", start, end))
        if mistake:
            advice = ""
            if "is not" in mistake:
                suffix = _NUMBER_SUFFIX.search(text)
                advice = (
                    f"a number says its type by its form: `{text[: suffix.start()]}`"
                    if suffix
                    else "a name cannot start with a digit"
                )
            elif integer and "does not fit" in mistake:
                advice = size_advice(text)
            self.report(BadNumber(self.span(start, end), mistake, help=advice))

    def line_comment(self, text: str, start: int, end: int) -> None:
        if text.startswith("///") and not text.startswith("////"):
            self.pending_docs.append(Token("DOC", text[3:].removeprefix(" ").rstrip(), start, end))
        else:
            self.lexed.comments.append(ast.Comment(start, end, text.rstrip()))

    def block_comment(self, start: int) -> int:
        depth = 0
        for edge in _COMMENT_EDGE.finditer(self.text, start):
            depth += 1 if edge[0] == "/*" else -1
            if depth == 0:
                self.lexed.comments.append(ast.Comment(start, edge.end(), self.text[start : edge.end()]))
                return edge.end()
        self.report(
            UnclosedComment(self.span(start, start + 2), "comment is not closed", help="close it with `*/`")
        )
        self.lexed.cut = True
        return len(self.text)

    def attach_docs_to_last(self) -> None:
        """Docs are those of the first token behind them."""
        docs, tokens = self.pending_docs, self.tokens
        if not docs or not tokens or tokens[-1].start < docs[-1].end:
            return
        start = tokens[-1].start
        text = "\n".join(doc.text for doc in docs)
        self.lexed.docs[start] = ast.Comment(docs[0].start, docs[-1].end, text)
        docs.clear()

    def unknown(self, text: str, start: int, end: int) -> int:
        attribute = _ATTRIBUTE.match(self.text, start)
        if attribute is not None:
            advice = "leave it out: every value can be copied, compared and printed; tests are marked `@test`"
            message = "there are no attributes"
            self.report(UnknownCharacter(self.span(start, attribute.end()), message, help=advice))
            return attribute.end()
        word = _FOREIGN_WORD.match(self.text, start)
        if word is not None:
            return self.foreign_name(word.end(), start)
        if text[0] in "\ufffd\0" and any(problem.message == NOT_UTF8 for problem in self.problems):
            self.lexed.mistakes.append(start)
            return end
        if text in "&^" and ends_value(self.tokens, len(self.tokens) - 1):
            end += self.text[end : end + 1] == "="
            self.tokens.append(Token("OPERATOR", self.text[start:end], start, end))
            return end
        message, advice = CHARACTERS.get(text, ("", ""))
        if not message:
            shown = text if text.isprintable() else f"U+{ord(text[0]):04X}"
            message = f"`{shown}` has no meaning here"
        receiver = _REFERRED_SELF.match(self.text, start)
        if receiver is not None:
            advice = f"write `{'mut ' if receiver[1] else ''}self`"
        reference = _REFERENCE.match(self.text, start)
        if reference is not None and reference[2] is not None:
            end, advice = reference.end(), NEEDLESS["dyn"]
        elif reference is not None and reference[1] is not None:
            end, advice = reference.end(), NEEDLESS["&mut"]
        edits = (Edit(self.span(start, reference.end()), ""),) if reference is not None else ()
        self.report(UnknownCharacter(self.span(start, end), message, help=advice, edits=edits))
        if text == "#":
            line_end = self.text.find("\n", end)
            return len(self.text) if line_end < 0 else line_end
        quoted = _FOREIGN_STRING.match(self.text, start)
        if quoted is None:
            return end
        self.tokens.append(Token("STRING", quoted[quoted.lastindex or 1], start, quoted.end()))
        return quoted.end()

    def foreign_name(self, end: int, start: int) -> int:
        """A name with letters of other alphabets: one token, and one error however often it comes."""
        begin = start
        if self.tokens and self.tokens[-1].end == start and self.tokens[-1].text.isidentifier():
            begin = self.tokens.pop().start
        text = self.text[begin:end]
        self.tokens.append(Token("NAME", text, begin, end))
        if text not in self.foreign_names:
            self.foreign_names.add(text)
            message = f"`{text}` is no name here"
            advice = "names are made of the letters a to z, digits and `_`; write other text in quotes"
            self.report(UnknownCharacter(self.span(start, end), message, help=advice))
        return end

    # --- Strings ---

    def lifetime(self, start: int) -> int | None:
        """Where `'a` ends behind the `<` of a declaration, or behind a `&`, which is reported."""
        found = _LIFETIME.match(self.text, start)
        if found is None or start == 0:
            return None
        kinds = [token.kind for token in self.tokens[-3:]]
        if self.text[start - 1] == "&":
            return found.end()
        if kinds[-1:] != ["LESSTHAN"] or not (kinds[:1] == ["FN"] or {"STRUCT", "ENUM", "IMPL"} & set(kinds)):
            return None
        advice = "leave it out: values are copied when needed, there are no references"
        self.report(UnknownCharacter(self.span(start, found.end()), "there are no lifetimes", help=advice))
        self.tokens.append(Token("NAME", found[1], start, found.end()))
        return found.end()

    def single_quoted(self, text: str, start: int, end: int) -> int:
        after = self.lifetime(start)
        if after is not None:
            return after
        if self.tokens and self.tokens[-1].kind in ("BREAK", "CONTINUE"):
            label = _JUMP_LABEL.match(self.text, start)
            if label:
                self.tokens.append(Token("LABEL", label[1], start, label.end()))
                return label.end()
        self.tokens.append(Token("STRING", text, start, end))
        return end

    def raw_string(self, start: int) -> int:
        opening = self.text.index('"', start) + 1
        closing = '"' + "#" * (opening - start - 2)
        end = self.text.find(closing, opening)
        if end < 0:
            self.report(
                UnclosedString(
                    self.span(start, opening), "raw string is not closed", help=f"close it with `{closing}`"
                )
            )
            self.lexed.cut = True
            end = len(self.text)
        behind = min(end + len(closing), len(self.text))
        self.tokens.append(Token("STRING", self.text[opening:end], start, behind))
        return behind

    def open_string(self, quote: str, start: int, end: int) -> int:
        after = self.lifetime(start) if quote == "'" else None
        if after is not None:
            return after
        if quote == "'" and self.tokens and self.tokens[-1].kind in ("BREAK", "CONTINUE"):
            label = _JUMP_LABEL.match(self.text, start)
            if label:
                self.tokens.append(Token("LABEL", label[1], start, label.end()))
                return label.end()
        if self.closes_interpolated_string(quote, end):
            return self.force_interpolation_end(start)
        self.strings.append(_OpenString(quote, len(self.tokens), start))
        self.tokens.append(Token("TEXT_OPEN", quote, start, end))
        return self.piece(end)

    def piece(self, start: int) -> int:
        """Reads text of the innermost open string; the offset where ordinary tokens go on."""
        string = self.strings[-1]
        found = _PIECES[string.quote].match(self.text, start)
        assert found is not None
        end = found.end()
        self.tokens.append(Token("TEXT", found[0], start, end))
        string.pieces.append(self.tokens[-1])
        if self.text.startswith("${", end):
            self.tokens.append(Token("INTERPOLATE", "${", end, end + 2))
            string.brackets, string.interpolation, string.bars = 0, end, []
            return end + 2
        if self.text.startswith(string.quote, end):
            return self.close_string(end, end + len(string.quote))
        return self.unclosed_string(string, start, end)

    def unclosed_string(self, string: _OpenString, start: int, end: int) -> int:
        """Ends a string at its line's end, but leaves `);`, `{` and the like outside of it; one that goes
        on ends where it is closed."""
        further = None
        if string.quote == '"""':
            self.lexed.cut = True
        else:
            rest = _LINE_REST.search(self.text, start, end)
            assert rest is not None
            if string.quote == '"' and not rest[0].strip(", "):
                further = _FURTHER_LINES.match(self.text, end)
            end = rest.start()
            piece = self.tokens[-1]
            piece.text, piece.end = self.text[start:end], end
        place = self.span(string.start, string.start + len(string.quote) if string.quote == '"""' else end)
        advice = f"close it with `{string.quote}`"
        if string.quote == '"':
            advice += ', or write `"""` for text of several lines'
        self.lexed.unclosed.append((string.start, end))
        self.report(UnclosedString(place, "string is not closed", help=advice))
        if further is not None:
            return self.close_string(further.end(), further.end() + 1)
        return self.close_string(end, end)

    def close_string(self, start: int, end: int) -> int:
        string = self.strings.pop()
        tokens = self.tokens
        pieces = string.pieces
        self.check_escapes(pieces)
        texts = [piece.text for piece in pieces]
        if string.quote == '"""':
            texts = cut_indentation(texts)
        for piece, text in zip(pieces, texts, strict=True):
            piece.text = unescape(text)
        if len(pieces) == 1:
            del tokens[string.first :]
            tokens.append(Token("STRING", pieces[0].text, string.start, end))
        else:
            tokens.append(Token("TEXT_CLOSE", string.quote, start, end))
        return end

    def check_escapes(self, pieces: list[Token]) -> None:
        for piece in pieces:
            if "\\" not in piece.text:
                continue
            for start, end in bad_escapes(piece.text):
                place = self.span(piece.start + start, piece.start + end)
                self.report(
                    BadEscape(
                        place,
                        f"`{place.text}` is no escape",
                        help=r"write `\\` for a backslash; there are `\n \r \t \0 \" \' \$ \u{1F600}`",
                    )
                )

    # --- Interpolations ---

    def sign_in_interpolation(self, sign: str, start: int, end: int) -> int:
        string = self.strings[-1]
        if sign in "([{":
            string.brackets += 1
        elif sign == "}" and not string.brackets:
            return self.end_interpolation(start, end)
        elif sign in ")]}":
            string.brackets = max(string.brackets - 1, 0)
        elif sign == ":" and not string.brackets and self.is_format():
            found = _FORMATS[string.quote].match(self.text, end)
            assert found is not None
            end = found.end()
            self.tokens.append(Token("FORMAT", found[0], start, end))
            return self.force_interpolation_end(end) if self.text.startswith(string.quote, end) else end
        elif sign == "|" and not string.brackets:
            string.bars.append(len(self.tokens))
        self.tokens.append(Token(SIGNS[sign], sign, start, end))
        return end

    def is_format(self) -> bool:
        """Whether a `:` outside of all brackets of an interpolation has an operand on its left, rather than a
        label or the parameter of a closure."""
        in_parameters = False
        for position in self.strings[-1].bars:
            in_parameters = not in_parameters and not ends_value(self.tokens, position - 1)
        return not in_parameters and self.tokens[-1].kind != "LABEL"

    def end_interpolation(self, start: int, end: int) -> int:
        if self.tokens[-1].kind == "INTERPOLATE":
            self.report(
                BadInterpolation(
                    self.span(self.tokens[-1].start, end),
                    "interpolation is empty",
                    help=r"write an expression between the braces, or `\${` for the text itself",
                )
            )
            self.tokens.append(Token("ERROR", "", start, start))
        self.tokens.append(Token("TEXT_RESUME", "}", start, end))
        return self.piece(end)

    def closes_interpolated_string(self, quote: str, end: int) -> bool:
        """Whether this quote, inside `${`, opens nothing and so ends the string around it."""
        if not self.strings or self.strings[-1].quote != quote or quote == '"""':
            return False
        found = _PIECES[quote].match(self.text, end)
        assert found is not None
        return not self.text.startswith((quote, "${"), found.end())

    def force_interpolation_end(self, start: int) -> int:
        string = self.strings[-1]
        self.unclosed_interpolation(string)
        self.lexed.mistakes.append(start)
        self.tokens.append(Token("TEXT_RESUME", "", start, start))
        self.tokens.append(Token("TEXT", "", start, start))
        string.pieces.append(self.tokens[-1])
        return self.close_string(start, start + len(string.quote))

    def unclosed_interpolation(self, string: _OpenString) -> None:
        if self.tokens[-1].kind == "INTERPOLATE":
            self.tokens.append(Token("ERROR", "", self.tokens[-1].end, self.tokens[-1].end))
        self.report(
            BadInterpolation(
                self.span(string.interpolation, string.interpolation + 2),
                "interpolation is not closed",
                help=r"close it with `}`, or write `\${` for the text itself",
            )
        )

    def finish(self) -> Lexed:
        end = len(self.text)
        while self.strings:
            self.unclosed_interpolation(self.strings[-1])
            self.lexed.cut = True
            self.tokens.append(Token("TEXT_RESUME", "", end, end))
            self.tokens.append(Token("TEXT", "", end, end))
            self.strings[-1].pieces.append(self.tokens[-1])
            self.close_string(end, end)
        self.tokens.append(Token(END, "", end, end))
        self.attach_docs_to_last()
        return self.lexed
