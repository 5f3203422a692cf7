r"""Colours for programs: the Pygments lexer `concerto`, for the documentation and for the source lines of
diagnostics.

It never fails: any text comes back whole, and what no program may contain is an `Error` token. The words are
grouped here by what they mean to a reader; a test holds them, and those of `editors/vscode`, against the
words of the compiler.

>>> from pygments.token import Keyword
>>> [text for kind, text in ConcertoLexer().get_tokens("agent A { model: fast }") if kind in Keyword]
['agent']
"""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, include, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
)

DECLARING = (
    "const", "fn", "struct", "enum", "trait", "impl", "schema", "type", "let", "tool", "agent", "mcp",
    "pipeline", "stage", "hashmap", "ledger", "memory", "listen",
)  # fmt: skip
"""Words that begin a declaration."""

CONTROLLING = (
    "if", "else", "match", "for", "while", "loop", "break", "continue", "return", "try", "catch", "throw",
    "async", "await", "spawn", "as", "in", "mut", "pub",
)  # fmt: skip

IMPORTING = ("use", "mod")
CONSTANTS = ("true", "false", "nil")
RECEIVER = "self"

IN_PLACE = {
    "model": r"(?=\s+[A-Za-z_]\w*\s*\{)",
    "host": r"(?=\s+[A-Za-z_]\w*\s*\{)",
    "connect": r"(?=\s+[A-Za-z_]\w*\s*\{)",
    "mock": r"""(?=\s+(?:[A-Za-z_]\w*|"[^"\n]*"|'[^'\n]*')\s*\{)""",
    "race": r"(?=\s*\()",
    "parallel": r"(?=\s+for\b)",
}
"""Words that mean something only before what follows them here."""

# No reserved word but a plain name: after a point, and as the name of a field or argument.
_NOT_A_NAME = r"(?!\s*:(?!:))"


class ConcertoLexer(RegexLexer):
    """Tokens of Concerto programs (`*.conc`)."""

    name = "Concerto"
    aliases: ClassVar = ["concerto", "conc"]
    filenames: ClassVar = ["*.conc"]
    mimetypes: ClassVar = ["text/x-concerto"]

    tokens: ClassVar = {
        "root": [
            (r"\s+", Whitespace),
            (r"///(?!/)[^\n]*", String.Doc),
            (r"//[^\n]*", Comment.Single),
            (r"/\*", Comment.Multiline, "comment"),
            (r'r"[^"]*"', String.Other),
            (r'(?s)r(#+)".*?"\1', String.Other),
            (r"(break|continue)(\s+)('[A-Za-z_]\w*)(?!')", bygroups(Keyword, Whitespace, Name.Label)),
            (r"'[A-Za-z_]\w*(?=\s*:\s*(?:for|while|loop)\b(?!'))", Name.Label),
            (r'"""', String.Double, "text"),
            (r'"', String.Double, "double"),
            (r"'", String.Single, "single"),
            (r"@[A-Za-z_]\w*", Name.Decorator),
            (r"0[xX][0-9A-Fa-f_]+|0[oO][0-7_]+|0[bB][01_]+", Number),
            (r"[0-9][0-9_]*(?:\.[0-9][0-9_]*(?:[eE][+-]?[0-9_]+)?|[eE][+-]?[0-9_]+)", Number.Float),
            (r"[0-9][0-9_]*", Number.Integer),
            (r"(?<!\.)(\.)(\s*)(await)\b", bygroups(Punctuation, Whitespace, Keyword)),
            (r"(?<!\.)(\.)(\s*)([A-Za-z_]\w*)", bygroups(Punctuation, Whitespace, Name.Attribute)),
            (r"(fn|stage)(\s+)([A-Za-z_]\w*)", bygroups(Keyword.Declaration, Whitespace, Name.Function)),
            (words(CONSTANTS, suffix=r"\b"), Keyword.Constant),
            (words(IMPORTING, suffix=rf"\b{_NOT_A_NAME}"), Keyword.Namespace),
            (words(DECLARING, suffix=rf"\b{_NOT_A_NAME}"), Keyword.Declaration),
            (words(CONTROLLING, suffix=rf"\b{_NOT_A_NAME}"), Keyword),
            *((rf"{word}\b{place}", Keyword) for word, place in IN_PLACE.items()),
            (rf"{RECEIVER}\b", Name.Builtin.Pseudo),
            (r"[A-Z]\w*", Name.Class),
            (r"[a-z_]\w*(?=\s*(?:::\s*<[^;{}()]*>)?\()", Name.Function),
            (r"[a-z_]\w*", Name),
            (r"\.\.=?|->|=>|<<=?|>>=?|[=!<>+\-*/%&|^]=|\*\*|&&?|\|[|>]?|\?\??|[@=!<>+\-*/%^]", Operator),
            (r"\{", Punctuation, "braces"),
            (r"[()\[\],;:.}]", Punctuation),
        ],
        "braces": [(r"\}", Punctuation, "#pop"), include("root")],
        "comment": [
            (r"[^*/]+", Comment.Multiline),
            (r"/\*", Comment.Multiline, "#push"),
            (r"\*/", Comment.Multiline, "#pop"),
            (r"[*/]", Comment.Multiline),
        ],
        "escapes": [
            (r"\\(?:u\{[0-9A-Fa-f]{1,6}\}|[\\\"'nrt0$])", String.Escape),
            (r"\$\{", String.Interpol, "interpolation"),
            (r"\$", String),
        ],
        "interpolation": [
            (r"\}", String.Interpol, "#pop"),
            (r":(?!:)[^{}()\"\n]*(?=\})", String.Interpol),
            include("root"),
        ],
        "double": [
            (r'"', String.Double, "#pop"),
            (r'[^"\\$\n]+', String.Double),
            include("escapes"),
        ],
        "single": [
            (r"'", String.Single, "#pop"),
            (r"[^'\\$\n]+", String.Single),
            include("escapes"),
        ],
        "text": [
            (r'"""', String.Double, "#pop"),
            (r'[^"\\$]+|"', String.Double),
            include("escapes"),
        ],
    }
