"""Token repair of plain slips: one token too few, too many or wrong, where the rest of the line shows what is
meant.

`find_edit` tries the kinds of slips in order. Each function looks at a `Scene` and gives a `TokenEdit`,
or None if the slip is not of its kind; a mend is only offered if the tokens behind it then fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from concerto.diagnostics import Problem, ReservedName, UnexpectedToken, did_you_mean, suggest
from concerto.records import replace
from concerto.source import Span
from concerto.syntax.expectation import describe
from concerto.syntax.foreign_words import NEEDLESS, WORDS, WRONG_SIGNS
from concerto.syntax.recovery.scene import (
    OPENING,
    SIGN_KINDS,
    Scene,
    TokenEdit,
    combined_signs,
    indentation,
    matching,
    missing_syntax,
)
from concerto.syntax.tokens import (
    BRACES,
    CLOSERS,
    END,
    RESERVED_KINDS,
    SIGN_TEXTS,
    WORD_KINDS,
    Token,
    words,
)

_AHEAD = 2
_DIVISOR = re.compile(r"[ ]*//[ ]*[\w(.)]+[ ]*;")
# Brackets are in pairs already, so no mend takes one away.
_BRACKETS = OPENING | CLOSERS
_AWAITS_OPERAND = words("OPERATOR PLUS MINUS STAR BANG LESSTHAN EQUAL COLON COMMA DOT DOT_DOT DOT_DOT_EQUAL")
# A word in place of these is more likely a name than the statement it could begin.
_NAMED_BY = words(
    "LET MUT FN STRUCT ENUM TRAIT SCHEMA TYPE CONST TOOL AGENT MCP PIPELINE STAGE MOD FOR VBAR COMMA LPAR"
)
_DECLARING_KINDS = words("TOOL AGENT MCP PIPELINE STAGE HASHMAP LEDGER MEMORY SCHEMA TYPE LISTEN ENUM TRAIT")
_WRONG_SIGNS = ("COLON", "EQUAL", "FAT_ARROW", "ARROW", "COMMA", "COLON_COLON", "SEMICOLON")
_MISSING_SIGNS = ("COLON", "EQUAL", "FAT_ARROW", "IN")
_LITERALS = words("INT FLOAT STRING TRUE FALSE NIL")
_NEWLINE_STATEMENTS = words("LET RETURN WHILE FOR LOOP MATCH TRY BREAK CONTINUE THROW RBRACE")
_DECLARING_WORDS = (
    "fn", "struct", "enum", "trait", "impl", "schema", "type", "pub", "use", "mod", "const", "tool",
    "agent", "mcp", "pipeline", "host", "model", "connect", "hashmap", "ledger", "memory", "async",
)  # fmt: skip
_STATEMENT_WORDS = ("let", "return", "match", "while", "break", "continue", "throw", "spawn", "await")


def find_edit(scene: Scene) -> TokenEdit | None:
    for slip in _SLIPS:
        mend = slip(scene)
        if mend is not None:
            return replace(mend, foreign=slip in _FOREIGN)
    return None


def _reserved_name(scene: Scene) -> TokenEdit | None:
    token = scene.token
    reserved = token.kind in RESERVED_KINDS or token.kind in ("WORD", "LET_ELSE")
    if not reserved or not scene.parser.accepts("NAME"):
        return None
    in_expression = scene.parser.accepts("INT") and scene.before.kind not in _NAMED_BY
    if in_expression and token.kind not in _DECLARING_KINDS:
        return None
    name = Token("NAME", token.text, token.start, token.end)
    if not scene.works(["NAME"], drop=1, ahead=1) or scene.on_new_line:
        return None
    return TokenEdit(_reserved(scene, token), (name,), drop=1)


def _reserved_operand(scene: Scene) -> TokenEdit | None:
    """`memory.len()`, where `memory` was taken for the start of a declaration."""
    before = scene.before
    if before.kind not in _DECLARING_KINDS or not scene.fresh:
        return None
    # Decorators and `pub`, none of either, stand before the word on the stack.
    cut = 3 if scene.parser.values[-3:-1] == [[], None] else 1
    if not scene.works(["NAME"], undo=cut):
        return None
    name = Token("NAME", before.text, before.start, before.end)
    return TokenEdit(_reserved(scene, before), (name,), undo=1, cut=cut)


def _reserved(scene: Scene, token: Token) -> Problem:
    return ReservedName(
        Span(scene.source, token.start, token.end),
        f"`{token.text}` is a word of the language and cannot be a name",
        help=f"call it `{token.text}_` or find another name",
    )


def _foreign_word_before(scene: Scene) -> TokenEdit | None:
    before, token = scene.before, scene.token
    if token.kind == "WORD" and token.text == "move":
        return TokenEdit(scene.error("there is no `move`", NEEDLESS["move"], token), drop=1)
    if before.kind != "NAME" or not scene.fresh:
        return None
    if before.text in NEEDLESS and scene.works([], undo=1, ahead=1):
        return TokenEdit(
            scene.error(f"there is no `{before.text}`", NEEDLESS[before.text], before), undo=1, cut=1
        )
    word = WORDS.get(before.text)
    if word is not None and scene.works([word.kind], undo=1, ahead=1):
        stand_in = Token(word.kind, word.text, before.start, before.end)
        _open_block(scene, word.kind)
        return TokenEdit(
            scene.error(f"there is no `{before.text}`", word.advice, before), (stand_in,), undo=1, cut=1
        )
    return _type_first(scene)


def _type_first(scene: Scene) -> TokenEdit | None:
    """`String s = …`"""
    before, name = scene.before, scene.token
    if name.kind != "NAME" or scene.kind_ahead(1) not in ("EQUAL", "SEMICOLON") or scene.on_new_line:
        return None
    if not scene.works(["LET"], undo=1):
        return None
    advice = f"write `let {name.text}: {before.text} = …`"
    stand_in = Token("LET", "let", before.start, before.end)
    return TokenEdit(scene.error("a variable is declared with `let`", advice), (stand_in,), undo=1, cut=1)


def _foreign_word_here(scene: Scene) -> TokenEdit | None:
    token = scene.token
    word = WORDS.get(token.text) if token.kind == "NAME" else None
    # A brace behind a name was taken for that of a struct literal.
    ahead = 0 if scene.kind_ahead(1) == "STRUCT_OPEN" else 1
    if word is None or not scene.works([word.kind], drop=1, ahead=ahead):
        return None
    stand_in = Token(word.kind, word.text, token.start, token.end)
    _open_block(scene, word.kind)
    return TokenEdit(scene.error(f"there is no `{token.text}`", word.advice), (stand_in,), drop=1)


def _open_block(scene: Scene, kind: str) -> None:
    """Behind the head that a mended word begins comes a block, whatever `settle` saw there."""
    if kind not in ("IF", "MATCH", "FOR", "CATCH", "IN", "ARROW"):
        return
    for token in scene.tokens[scene.position :]:
        if token.kind in ("LBRACE", "SEMICOLON"):
            return
        if token.kind in ("STRUCT_OPEN", "MAP_OPEN"):
            token.kind = "LBRACE"
            return


def _misspelt_word(scene: Scene) -> TokenEdit | None:
    """`fucntion main`, `retrun x`: a name where only a word of the language makes sense."""
    here, before = scene.token, scene.before
    if here.kind == "NAME" and scene.parser.accepts("STRUCT") and not scene.parser.accepts("INT"):
        word = _meant(here.text, _DECLARING_WORDS)
        if word and scene.works([word.upper()], drop=1, ahead=1):
            problem = scene.error(f"unexpected `{here.text}`", did_you_mean(word))
            return TokenEdit(problem, (Token(word.upper(), word, here.start, here.end),), drop=1)
    if before.kind == "NAME" and scene.fresh and not scene.on_new_line and here.kind != "BANG":
        word = _meant(before.text, (*_STATEMENT_WORDS, *_DECLARING_WORDS))
        if word and scene.works([word.upper()], undo=1):
            problem = scene.error(f"unexpected `{before.text}`", did_you_mean(word), before)
            stand_in = Token(word.upper(), word, before.start, before.end)
            return TokenEdit(problem, (stand_in,), undo=1, cut=1)
    return None


def _meant(text: str, words: tuple[str, ...]) -> str | None:
    meant = suggest(text, (*words, *WORDS))
    return WORDS[meant].text.rpartition(" ")[2] if meant in WORDS else meant


def _combination(scene: Scene) -> TokenEdit | None:
    problem, token = combined_signs(scene), scene.token
    if problem is None:
        return None
    error = Token("ERROR", "", token.start, token.end)
    for drop in (1, 0):
        for stand_in in ((), (error,)):
            if (drop or stand_in) and scene.works([error.kind for error in stand_in], drop=drop, ahead=1):
                return TokenEdit(problem, stand_in, drop=drop)
    return None


def _turbofish(scene: Scene) -> TokenEdit | None:
    """`items.collect::<T>()`, `parse::<T>(text)`"""
    tokens, at = scene.tokens, scene.position
    if scene.token.kind == "COLON_COLON" and scene.kind_ahead(1) == "GENERIC_OPEN":
        colons, undo, drop = scene.token, 0, 1
    elif scene.before.kind == "COLON_COLON" and scene.token.kind == "GENERIC_OPEN" and scene.fresh:
        colons, undo, drop = scene.before, 1, 0
    else:
        return None
    if not scene.works([], undo=undo, drop=drop):
        return None
    name = tokens[at - 1 - undo].text
    advice = f"leave them out, or write `{name}<…>{'::…' if name[0].isupper() else '(…)'}`"
    problem = scene.error("type arguments stand right behind the name", advice, colons)
    return TokenEdit(problem, undo=undo, drop=drop, cut=undo)


def _matches_macro(scene: Scene) -> TokenEdit | None:
    """`matches!(value, pattern)`"""
    if scene.before.text != "matches" or scene.token.kind != "BANG" or not scene.fresh:
        return None
    end = matching(scene.tokens, scene.position + 1) if scene.kind_ahead(1) == "LPAR" else None
    if end is None:
        return None
    advice = "write `match value { pattern => true, _ => false }`"
    error = Token("ERROR", "", scene.before.start, scene.tokens[end].end)
    problem = scene.error("there is no `matches!`", advice, scene.before)
    return TokenEdit(problem, (error,), undo=1, drop=end - scene.position + 1, cut=1)


def _body_behind_colon(scene: Scene) -> TokenEdit | None:
    """`if x:` and the lines below that are set further in, or the rest of the line."""
    if scene.token.kind != "COLON" or not scene.works(["LBRACE"], drop=1, ahead=0):
        return None
    if scene.before.kind == "LSQB":
        return None
    tokens, at = scene.tokens, scene.position
    end = at + 1
    if scene.ends_line:
        around = indentation(scene, scene.token)
        while tokens[end].kind != END and indentation(scene, tokens[end]) > around:
            end += 1
    elif scene.works(["LBRACE"], drop=1, ahead=1):
        line = scene.source.text.find("\n", scene.token.end)
        while tokens[end].kind not in (END, "RBRACE") and tokens[end].start < line:
            end += 1
        if any(token.kind in BRACES for token in tokens[at:end]):
            return None
    else:
        return None
    for index in range(at + 1, end + 1):
        # A word before a colon was taken for a name.
        if tokens[index].kind == "WORD" and tokens[index].text in ("else", "try", "loop"):
            tokens[index].kind = tokens[index].text.upper()
    start, stop = scene.token.start, tokens[end - 1].end
    body = (Token("LBRACE", "{", start, start), *tokens[at + 1 : end], Token("RBRACE", "}", stop, stop))
    problem = scene.error("a block stands in braces", "write `{ … }` instead of the `:`")
    return TokenEdit(problem, body, drop=end - at)


def _no_such_syntax(scene: Scene) -> TokenEdit | None:
    """Constructs that do not exist: the message says so, the recovery does the rest."""
    problem = missing_syntax(scene, to_mend=True)
    ways = _ways_on(scene, problem) if problem else []
    return ways[0] if ways else None


def _ways_on(scene: Scene, problem: Problem) -> list[TokenEdit]:
    token = scene.token
    error = Token("ERROR", "", token.start, token.start)
    ways = []
    if scene.works(["ERROR"]):
        ways.append(TokenEdit(problem, (error,)))
    if token.kind not in _BRACKETS and scene.works([], drop=1):
        ways.append(TokenEdit(problem, drop=1))
    if scene.fresh and scene.before.kind not in _BRACKETS and scene.works([], undo=1):
        ways.append(TokenEdit(problem, undo=1, cut=1))
    end = matching(scene.tokens, scene.position) if token.kind == "LSQB" else None
    if end is not None and scene.works([], drop=end - scene.position + 1):
        ways.append(TokenEdit(problem, drop=end - scene.position + 1))
    return ways


def _parenthesised_head(scene: Scene) -> TokenEdit | None:
    """`for (x in xs) { … }`"""
    tokens, at = scene.tokens, scene.position
    kinds = [token.kind for token in tokens[max(at - 3, 0) : at + 1]]
    if kinds != ["FOR", "LPAR", "NAME", "IN"]:
        return None
    values = scene.parser.values
    cut = len(values) - next(index for index, value in enumerate(values) if value is tokens[at - 2])
    end = matching(tokens, at - 2)
    if end is None:
        return None
    problem = scene.error(
        "the head of a loop stands without parentheses", "write `for x in xs { … }`", tokens[at - 2]
    )
    _open_block(scene, "FOR")
    return TokenEdit(problem, tuple(tokens[at - 1 : end]), undo=2, drop=end - at + 1, cut=cut)


def _mut_before_pattern(scene: Scene) -> TokenEdit | None:
    """`let mut (a, b) = …`, `let mut E::A(b) = …`"""
    tokens, at = scene.tokens, scene.position
    named = scene.before.kind == "NAME"
    if not scene.fresh or at < 2 or tokens[at - 1 - named].kind != "MUT":
        return None
    opener = at
    while tokens[opener].kind == "COLON_COLON" and tokens[opener + 1].kind == "NAME":
        opener += 2
    problem = missing_syntax(scene)
    end = matching(tokens, opener)
    if problem is None or end is None:
        return None
    stand_in = tokens[at - named : opener]
    for index in range(opener, end + 1):
        token = tokens[index]
        if token.kind == "NAME" and tokens[index + 1].kind in ("COMMA", "RPAR", "RSQB", "RBRACE"):
            stand_in.append(Token("MUT", "mut", token.start, token.start))
        stand_in.append(token)
    undo = 1 + named
    return TokenEdit(problem, tuple(stand_in), undo=undo, drop=end - at + 1, cut=undo)


def _missing_semicolon(scene: Scene) -> TokenEdit | None:
    token = scene.token
    if not scene.works(["SEMICOLON"], ahead=1):
        return None
    if not scene.on_new_line and token.kind not in _NEWLINE_STATEMENTS and token.kind != END:
        return None
    at = scene.before.end
    place = Span(scene.source, at, at)
    advice = "end the statement with `;`"
    if _DIVISOR.match(scene.source.text, at):
        advice = "`//` begins a comment; `/` of two Ints gives an Int"
    problem = UnexpectedToken(place, "expected `;`", help=advice)
    return TokenEdit(problem, (_sign("SEMICOLON", at),))


def _missing_comma(scene: Scene) -> TokenEdit | None:
    if not scene.works(["COMMA"], ahead=1) or missing_syntax(scene) is not None:
        return None
    at = scene.before.end
    found = describe(scene.source, scene.token)
    problem = UnexpectedToken(
        Span(scene.source, at, at), f"expected `,` before {found}", help="separate the two with `,`"
    )
    return TokenEdit(problem, (_sign("COMMA", at),))


def _untyped_parameter(scene: Scene) -> TokenEdit | None:
    name = scene.before
    with_default = scene.token.kind == "EQUAL" and scene.parser.try_kinds(["COLON", "FN"])
    if name.kind != "NAME" or not (with_default or scene.token.kind in ("COMMA", "RPAR")):
        return None
    if scene.parser.accepts("OPERATOR") or not scene.works(["COLON", "ERROR"], ahead=1):
        return None
    advice = f"write the type behind it: `{name.text}: Int`"
    if name.text == "this":
        advice = "the value that a method is called on is `self`"
    problem = scene.error(f"`{name.text}` needs a type", advice, name)
    at = name.end
    return TokenEdit(problem, (_sign("COLON", at), Token("ERROR", "", at, at)))


def _wrong_sign(scene: Scene) -> TokenEdit | None:
    token = scene.token
    if token.kind not in SIGN_KINDS:
        return None
    in_index = token.kind == "COLON" and scene.parser.accepts("RSQB")
    if token.kind == "COLON" and scene.ends_line and scene.parser.accepts("LBRACE"):
        return None
    # `E.A` in a pattern is more likely a path than an arm that was begun with a dot.
    kinds = ("COLON_COLON", *_WRONG_SIGNS) if token.kind == "DOT" else _WRONG_SIGNS
    for kind in ("DOT_DOT",) if in_index else kinds:
        ahead = 1 if kind == "ARROW" else _AHEAD
        if kind != token.kind and scene.works([kind], drop=1, ahead=ahead) and not scene.assigns(kind):
            _open_block(scene, kind)
            advice = WRONG_SIGNS.get((token.text, SIGN_TEXTS[kind]), "")
            return TokenEdit(
                scene.problem(advice), (Token(kind, SIGN_TEXTS[kind], token.start, token.end),), drop=1
            )
    return None


def _missing_arrow(scene: Scene) -> TokenEdit | None:
    """`fn f(a: Int) Int { … }`"""
    if scene.before.kind != "RPAR" or scene.token.kind != "NAME" or not scene.works(["ARROW"], ahead=1):
        return None
    if missing_syntax(scene) is not None:
        return None
    _open_block(scene, "ARROW")
    problem = scene.error("a result type is written behind `->`", f"write `-> {scene.token.text}`")
    return TokenEdit(problem, (_sign("ARROW", scene.before.end),))


def _missing_sign(scene: Scene) -> TokenEdit | None:
    at = scene.before.end
    # `let a 5` is a value: the type `5` is rare.
    signs = sorted(_MISSING_SIGNS, key=lambda kind: kind != "EQUAL" or scene.token.kind not in _LITERALS)
    for ahead in (_AHEAD, 1):
        for kind in signs:
            if scene.works([kind], ahead=ahead) and not scene.assigns(kind):
                _open_block(scene, kind)
                is_type = kind == "COLON" and scene.parser.try_kinds(["COLON", "FN"])
                advice = "write `:` between the two" if is_type else ""
                return TokenEdit(scene.problem(advice, wanted=kind), (_sign(kind, at),))
    return None


def _stray_sign(scene: Scene) -> TokenEdit | None:
    token = scene.token
    if token.kind not in SIGN_KINDS or scene.continues_block or not scene.works([], drop=1):
        return None
    if token.kind == "SEMICOLON":
        if scene.before.kind in _AWAITS_OPERAND:
            return None
        return TokenEdit(scene.error("unexpected `;`", "remove it"), drop=1)
    return TokenEdit(scene.problem(), drop=1)


def quote_in_string(scene: Scene) -> Problem | None:
    """`"say "hello" to"`: what should stand in a string follows right behind it."""
    before, token = scene.before, scene.token
    if before.kind not in ("STRING", "TEXT_CLOSE") or before.end != token.start:
        return None
    if token.kind not in ("NAME", "WORD", "INT", "FLOAT") and token.kind not in WORD_KINDS:
        return None
    place = Span(scene.source, before.end - 1, before.end)
    quote = place.text
    other = "'…'" if quote == '"' else '"…"'
    return UnexpectedToken(
        place,
        f"this `{quote}` ends the string",
        help=f"write `\\{quote}` for one inside of it, or `{other}` around it",
    )


def _sign(kind: str, at: int) -> Token:
    return Token(kind, SIGN_TEXTS.get(kind, kind.lower()), at, at)


_SLIPS: tuple[Callable[[Scene], TokenEdit | None], ...] = (
    _reserved_name,
    _reserved_operand,
    _combination,
    _parenthesised_head,
    _mut_before_pattern,
    _turbofish,
    _matches_macro,
    _body_behind_colon,
    _no_such_syntax,
    _foreign_word_before,
    _foreign_word_here,
    _missing_semicolon,
    _untyped_parameter,
    _misspelt_word,
    _missing_comma,
    _wrong_sign,
    _missing_arrow,
    _missing_sign,
    _stray_sign,
)

_FOREIGN = (_combination, _no_such_syntax, _foreign_word_before, _foreign_word_here)
