"""Whole constructs of other languages: one error each, and the rest of the file is read as if all were right.

`find_form` takes a `Scene` as `find_edit` does, before that one: a form is known by several tokens at once.
"""

from __future__ import annotations

from collections.abc import Callable

from concerto.diagnostics import Edit, Problem
from concerto.records import replace
from concerto.syntax.foreign_words import COMBINATIONS, WORDS
from concerto.syntax.recovery.scene import Scene, TokenEdit, indentation, matching
from concerto.syntax.tokens import BRACES, CLOSERS, END, OPENERS, Token

_TYPES = ("class", "interface", "protocol", "record")
_TOGETHER = {
    **dict.fromkeys(
        ("parallel", "concurrent", "concurrently", "gather"),
        "write `await (a(), b())`, or `parallel for item in items { … }`",
    ),
    "race": "write `race (a(), b())`",
}
_ELSE_IFS = ("elif", "elsif", "elseif")
_BEFORE_VALUES = ("EQUAL", "LPAR", "LSQB", "COMMA", "RETURN", "FAT_ARROW", "OPERATOR")
_FUNCTION_TRAITS = ("Fn", "FnMut", "FnOnce")
_LONGEST_RESULT = 30
_LONGEST_ADVICE = 80
_STATEMENTS = {
    "del": "`map.remove(key)` and `array.remove(index)` take something away",
    "delete": "`map.remove(key)` and `array.remove(index)` take something away",
    "global": "what all functions know is a `const`; what changes is kept in a `hashmap` or a `memory`",
    "nonlocal": "a closure has copies of what is around it; return the new value",
}


def find_form(scene: Scene) -> TokenEdit | None:
    return next((mend for form in _FORMS if (mend := form(scene)) is not None), None)


def _type(scene: Scene) -> TokenEdit | None:
    """`interface X { a: T; }`, `class A(B):`, if the body is not one that `struct` or `trait` could have."""
    tokens, at, undo = _from_word(scene, _TYPES)
    word = tokens[at]
    if word.text not in _TYPES or tokens[at + 1].kind != "NAME":
        return None
    opener = at + 2
    while tokens[opener].kind not in ("COLON", "SEMICOLON", END) and tokens[opener].kind not in BRACES:
        opener += 1
    if tokens[opener].kind == "COLON":
        end = _last_below(scene, opener)
    else:
        found = matching(tokens, opener) if tokens[opener].kind in BRACES else None
        if found is None or _is_ours(word, [token.kind for token in tokens[at + 2 : found]]):
            return None
        end = found
    drop = end + 1 - at - undo
    if not scene.works(["ERROR_ITEM"], undo=undo, ahead=0):
        return None
    problem = scene.error(f"there is no `{word.text}`", WORDS[word.text].advice, word)
    error = Token("ERROR_ITEM", "", word.start, tokens[end].end)
    return TokenEdit(problem, (error,), undo=undo, drop=drop, cut=undo)


def _from_word(scene: Scene, texts: tuple[str, ...]) -> tuple[list[Token], int, int]:
    """The tokens, where one of these words is, and how many to take back: it stands before the place, or
    there."""
    behind = scene.fresh and scene.before.kind == "NAME" and scene.before.text in texts
    return scene.tokens, scene.position - behind, int(behind)


def _is_ours(word: Token, kinds: list[str]) -> bool:
    """Whether what stands behind the name would do behind `struct` or `trait`."""
    if WORDS[word.text].text == "trait":
        return "FN" in kinds
    return kinds[0] in BRACES and not {"LPAR", "SEMICOLON"} & set(kinds)


def _last_below(scene: Scene, colon: int) -> int:
    """The last token of the lines behind a colon that are set further in than its own."""
    tokens = scene.tokens
    around, end = indentation(scene, tokens[colon]), colon
    while tokens[end + 1].kind != END and indentation(scene, tokens[end + 1]) > around:
        end += 1
    return end


def _export(scene: Scene) -> TokenEdit | None:
    """`export default …`, `export interface …`: the rest is looked at by itself."""
    tokens, at, undo = _from_word(scene, ("export",))
    word, token = tokens[at], tokens[min(at + 1, len(tokens) - 1)]
    if word.text != "export" or token.kind != "NAME" or not (token.text == "default" or token.text in WORDS):
        return None
    default = token.text == "default"
    problem = scene.error(
        f"there is no `export{' default' if default else ''}`", WORDS["export"].advice, word
    )
    end = at + 1 + default
    if not default or tokens[end].kind != "NAME" or tokens[end].text in WORDS:
        return TokenEdit(problem, undo=undo, drop=end - at - undo, cut=undo)
    while tokens[end].kind not in ("SEMICOLON", END):
        end += 1
    end += tokens[end].kind == "SEMICOLON"
    error = Token("ERROR_ITEM", "", word.start, tokens[end - 1].end)
    return TokenEdit(problem, (error,), undo=undo, drop=end - at - undo, cut=undo)


def _import_of_python(scene: Scene) -> TokenEdit | None:
    """`import a.b as c`, `from a import b`: a line without an end."""
    tokens, at, undo = _from_word(scene, ("import", "from"))
    word, end = tokens[at], at
    if word.text not in ("import", "from") or not _on_new_line(scene, tokens, at):
        return None
    while tokens[end + 1].kind != END and not _on_new_line(scene, tokens, end + 1):
        end += 1
    drop = end + 1 - at - undo
    if tokens[end].kind == "SEMICOLON" or not scene.works(["ERROR_ITEM"], undo=undo, drop=drop, ahead=0):
        return None
    problem = scene.error(f"there is no `{word.text}`", WORDS["import"].advice, word)
    error = Token("ERROR_ITEM", "", word.start, tokens[end].end)
    return TokenEdit(problem, (error,), undo=undo, drop=drop, cut=undo)


def _arrow_function(scene: Scene) -> TokenEdit | None:
    """`(x: T): U => …`, `() => …`"""
    tokens, at = scene.tokens, scene.position
    if scene.token.kind == "COLON" and scene.before.kind == "NAME":
        opener = at - 2
    elif scene.token.kind == "RPAR" and scene.before.kind == "LPAR":
        opener = at - 1
    else:
        return None
    close = matching(tokens, opener) if tokens[opener].kind == "LPAR" else None
    if close is None:
        return None
    arrow = close + 1
    while tokens[arrow].kind not in ("FAT_ARROW", "SEMICOLON", END) and arrow < close + _LONGEST_RESULT:
        arrow += 1
    direct = tokens[close + 1].kind in ("FAT_ARROW", "COLON", "ARROW")
    cut = _values_from(scene, tokens[opener])
    if tokens[arrow].kind != "FAT_ARROW" or not direct or cut is None:
        return None
    end = _end_of_value(tokens, arrow + 1)
    error = Token("ERROR", "", tokens[opener].start, tokens[end - 1].end)
    if not scene.works(["ERROR"], undo=cut, drop=end - at, ahead=1):
        return None
    problem = scene.error("there are no arrow functions", "a closure is written `|x| x + 1`", tokens[arrow])
    return TokenEdit(problem, (error,), undo=at - opener, drop=end - at, cut=cut)


def _end_of_value(tokens: list[Token], start: int) -> int:
    """Behind the block that begins there, or the expression."""
    if tokens[start].kind in BRACES:
        end = matching(tokens, start)
        return len(tokens) - 1 if end is None else end + 1
    depth, end = 0, start
    while tokens[end].kind != END:
        kind = tokens[end].kind
        if depth == 0 and (kind in CLOSERS or kind in ("COMMA", "SEMICOLON")):
            break
        depth += (kind in OPENERS or kind in BRACES) - (kind in CLOSERS)
        end += 1
    return end


def _values_from(scene: Scene, token: Token) -> int | None:
    """How many values of the machine's stack a token and what follows it have become."""
    values = scene.parser.values
    places = (i for i, value in enumerate(values) if getattr(value, "start", None) == token.start)
    return next((len(values) - i for i in places), None)


def _async_closure(scene: Scene) -> TokenEdit | None:
    if scene.token.kind != "ASYNC" or not scene.parser.accepts("VBAR") or scene.kind_ahead(1) == "FN":
        return None
    advice = "a closure is written `|x| x + 1`, and whatever waits may be called everywhere"
    return TokenEdit(scene.error("a closure is not marked `async`", advice), drop=1)


def _closure_default(scene: Scene) -> TokenEdit | None:
    """`|x: Int, y: Int = 2| …`: the default is left out."""
    tokens, at = scene.tokens, scene.position
    if scene.token.kind != "EQUAL" or not scene.parser.accepts("VBAR"):
        return None
    start, depth = at, 0
    while start > 0 and not (depth == 0 and tokens[start].kind == "VBAR"):
        kind = tokens[start].kind
        depth += (kind in CLOSERS) - (kind in OPENERS)
        if depth < 0 or kind == "SEMICOLON" or kind in BRACES:
            return None
        start -= 1
    end = at + 1
    while tokens[end].kind not in (END, "SEMICOLON") and (depth or tokens[end].kind not in ("COMMA", "VBAR")):
        depth += (tokens[end].kind in OPENERS) - (tokens[end].kind in CLOSERS)
        end += 1
    if not start or not scene.works([], drop=end - at):
        return None
    advice = "the caller of a closure gives it all arguments; a `fn` may have defaults"
    return TokenEdit(scene.error("a closure's parameter has no default", advice), drop=end - at)


def _for_head(scene: Scene) -> TokenEdit | None:
    """`for (const x of xs) { … }`, `for (let i = 0; i < n; i++) { … }`"""
    tokens, at = scene.tokens, scene.position
    if scene.before.kind != "LPAR" or tokens[at - 2].kind != "FOR" or not scene.fresh:
        return None
    if scene.token.kind not in ("CONST", "LET") and scene.token.text not in ("var", "int"):
        return None
    end, name, sign = matching(tokens, at - 1), tokens[at + 1], tokens[at + 2]
    if end is None or name.kind != "NAME":
        return None
    if tokens[end + 1].kind in BRACES:
        tokens[end + 1].kind = "LBRACE"
    through = Token("IN", "in", sign.start, sign.end)
    if any(token.kind == "SEMICOLON" for token in tokens[at:end]):
        problem = scene.error("there is no `for` with three parts", "write `for i in 0..n { … }`")
        items = [Token("ERROR", "", sign.start, tokens[end].start)]
    elif sign.kind == "IN" or sign.text == "of":
        problem = scene.error(
            "the head of a loop stands without parentheses", "write `for x in xs { … }`", scene.before
        )
        items = tokens[at + 3 : end]
    else:
        return None
    return TokenEdit(problem, (name, through, *items), undo=1, drop=end - at + 1, cut=1)


def _mut_let(scene: Scene) -> TokenEdit | None:
    """`mut let name = value`"""
    mut, let = (
        scene.tokens[scene.position : scene.position + 2] if scene.token.kind == "MUT" else (None, None)
    )
    if mut is None or let is None or let.kind != "LET" or not scene.works(["LET", "MUT"], drop=2, ahead=1):
        return None
    return TokenEdit(scene.error("`mut` stands behind `let`", "write `let mut name = …`"), (let, mut), drop=2)


def _const_fn(scene: Scene) -> TokenEdit | None:
    """`const fn name() { … }`"""
    if scene.before.kind != "CONST" or scene.token.kind != "FN" or not scene.works([], undo=1):
        return None
    advice = "leave `const` out: a constant is made of literals and arithmetic, without calls"
    return TokenEdit(scene.error("there is no `const fn`", advice, scene.before), undo=1, cut=1)


def _repeated_array(scene: Scene) -> TokenEdit | None:
    """`[0; n]`, `[[0; columns]; rows]`, `vec![0; n]`"""
    tokens, at = scene.tokens, scene.position
    if scene.before.text == "vec" and scene.token.kind == "BANG" and scene.kind_ahead(1) == "LSQB":
        opener, first = at + 1, at - 1
        message = "there are no macros"
    elif scene.token.kind == "SEMICOLON":
        opener = _innermost(tokens, at)
        while (
            tokens[opener - 1].kind == "LSQB"
            and tokens[(matching(tokens, opener) or 0) + 1].kind == "SEMICOLON"
        ):
            opener -= 1
        first = opener
        message = "an array is not repeated with `;`"
    else:
        return None
    close = matching(tokens, opener) if tokens[opener].kind == "LSQB" else None
    cut = _values_from(scene, tokens[first])
    advice = None if close is None else _repetition(scene, opener, close)
    if close is None or cut is None or advice is None:
        return None
    if not scene.works(["ERROR"], undo=cut, drop=close + 1 - at, ahead=1):
        return None
    if len(advice) > _LONGEST_ADVICE or "\n" in advice:
        advice = "(0..n).map(|_| value)"
    problem = scene.error(message, f"write `{advice}`")
    error = Token("ERROR", "", tokens[first].start, tokens[close].end)
    return TokenEdit(problem, (error,), undo=at - first, drop=close + 1 - at, cut=cut)


def _innermost(tokens: list[Token], at: int) -> int:
    """The bracket around a token; 0 if there is none."""
    opener, depth = at - 1, 0
    while opener > 0 and not (
        depth == 0 and (tokens[opener].kind in OPENERS or tokens[opener].kind in BRACES)
    ):
        kind = tokens[opener].kind
        depth += (kind in CLOSERS) - (kind in OPENERS or kind in BRACES)
        opener -= 1
    return opener


def _repetition(scene: Scene, opener: int, close: int) -> str | None:
    """What is written for `[value; number]`; None for what is no such array."""
    tokens, text = scene.tokens, scene.source.text
    semicolons = (i for i in range(opener + 1, close) if tokens[i].kind == "SEMICOLON")
    sign = next((i for i in semicolons if _innermost(tokens, i) == opener), None)
    if sign is None:
        return None
    inner = matching(tokens, opener + 1) == sign - 1 if tokens[opener + 1].kind == "LSQB" else False
    value = (_repetition(scene, opener + 1, sign - 1) if inner else None) or (
        text[tokens[opener].end : tokens[sign].start].strip()
    )
    return f"(0..{text[tokens[sign].end : tokens[close].start].strip()}).map(|_| {value})"


def _set_literal(scene: Scene) -> TokenEdit | None:
    """`{1, 2}` as a value"""
    tokens, at = scene.tokens, scene.position
    opener = _innermost(tokens, at)
    if scene.token.kind != "COMMA" or tokens[opener].kind not in BRACES or tokens[opener + 1].kind == "NAME":
        return None
    close, cut = matching(tokens, opener), _values_from(scene, tokens[opener])
    if close is None or cut is None or tokens[opener - 1].kind not in _BEFORE_VALUES:
        return None
    if any(each.kind in ("COLON", "SEMICOLON", "FAT_ARROW") for each in tokens[opener:close]):
        return None
    if not scene.works(["ERROR"], undo=cut, drop=close + 1 - at, ahead=1):
        return None
    items = scene.source.text[tokens[opener].end : tokens[close].start].strip()
    advice = "…" if len(items) > _LONGEST_ADVICE or "\n" in items else items
    problem = scene.error(
        "a set is not written with braces", f"write `Set::from([{advice}])`", tokens[opener]
    )
    error = Token("ERROR", "", tokens[opener].start, tokens[close].end)
    return TokenEdit(problem, (error,), undo=at - opener, drop=close + 1 - at, cut=cut)


def _function_trait(scene: Scene) -> TokenEdit | None:
    """`impl Fn(T) -> U` for `fn(T) -> U`"""
    token, name = scene.token, scene.tokens[min(scene.position + 1, len(scene.tokens) - 1)]
    if token.kind != "IMPL" or name.text not in _FUNCTION_TRAITS or scene.kind_ahead(2) != "LPAR":
        return None
    if not scene.works(["FN"], drop=2, ahead=1):
        return None
    problem = scene.error("the type of a function is `fn(T) -> U`", f"write `fn` for `impl {name.text}`")
    return TokenEdit(problem, (Token("FN", "fn", token.start, name.end),), drop=2)


def _function_bound(scene: Scene) -> TokenEdit | None:
    """`<F: Fn(T) -> U>`: what stands behind the name is left out."""
    tokens, at = scene.tokens, scene.position
    close = matching(tokens, at) if scene.token.kind == "LPAR" else None
    if close is None or scene.before.text not in _FUNCTION_TRAITS or not scene.parser.accepts("MORETHAN"):
        return None
    end = close + 1
    if tokens[end].kind == "ARROW":
        end = _end_of_type(tokens, end + 1)
    if not scene.works([], drop=end - at, ahead=1):
        return None
    advice = "give the parameter the type of the function: `f: fn(T) -> U`"
    return TokenEdit(
        scene.error(f"there is no trait `{scene.before.text}`", advice, scene.before), drop=end - at
    )


def _end_of_type(tokens: list[Token], start: int) -> int:
    """Behind the type that begins there."""
    depth, end = 0, start
    while tokens[end].kind not in (END, "SEMICOLON"):
        kind = tokens[end].kind
        if depth == 0 and (kind in CLOSERS or kind in BRACES or kind in ("COMMA", "MORETHAN", "PLUS")):
            break
        depth += (kind in OPENERS or kind == "LESSTHAN") - (kind in CLOSERS or kind == "MORETHAN")
        end += 1
    return end


def _named_pattern(scene: Scene) -> TokenEdit | None:
    """`"a" | "b" as x => …`"""
    name = scene.tokens[min(scene.position + 1, len(scene.tokens) - 1)]
    if scene.token.kind != "AS" or name.kind != "NAME" or not scene.parser.accepts("VBAR"):
        return None
    if not scene.works([], drop=2, ahead=1):
        return None
    problem = scene.error("what a pattern meets is named before it", f"write `{name.text} @ (…)`")
    return TokenEdit(problem, drop=2)


def _optional_type(scene: Scene) -> TokenEdit | None:
    """`x: Int?`"""
    name, before = scene.before, scene.tokens[max(scene.position - 2, 0)].kind
    if scene.token.kind != "QMARK" or name.kind != "NAME" or before not in ("COLON", "ARROW"):
        return None
    if not _stands_alone(scene, name) or not scene.works(["ERROR"], undo=1, drop=1, ahead=1):
        return None
    problem = scene.error("a type is not made optional with `?`", f"write `Option<{name.text}>`")
    return TokenEdit(problem, (Token("ERROR", "", name.start, scene.token.end),), undo=1, drop=1, cut=1)


def _declared_by_value(scene: Scene) -> TokenEdit | None:
    """`name := value`"""
    name, token = scene.before, scene.token
    if name.kind != "NAME" or not scene.fresh or token.kind != "COLON" or scene.kind_ahead(1) != "EQUAL":
        return None
    if not scene.works(["LET", "NAME", "EQUAL"], undo=1, drop=2, ahead=1):
        return None
    problem = scene.error("there is no `:=`", COMBINATIONS[":="])
    let = Token("LET", "let", name.start, name.start)
    return TokenEdit(problem, (let, name, scene.tokens[scene.position + 1]), undo=1, drop=2, cut=1)


def _several_names(scene: Scene) -> TokenEdit | None:
    """`a, b = 1, 2`, `let a, b = …`, `a, err := f()`"""
    tokens, at = scene.tokens, scene.position
    if scene.token.kind != "COMMA" or scene.before.kind != "NAME" or not _stands_alone(scene, scene.before):
        return None
    last = at
    while [token.kind for token in tokens[last : last + 2]] == ["COMMA", "NAME"]:
        last += 2
    go = tokens[last].kind == "COLON"
    sign = last + go
    if tokens[sign].kind != "EQUAL" or last == at:
        return None
    end = sign
    while tokens[end].kind not in ("SEMICOLON", END) and not (
        end > sign and _on_new_line(scene, tokens, end)
    ):
        end += 1
    let = (
        [] if tokens[at - 2].kind == "LET" else [Token("LET", "let", scene.before.start, scene.before.start)]
    )
    stand_in = [
        *let,
        Token("LPAR", "(", scene.before.start, scene.before.start),
        *tokens[at - 1 : last],
        Token("RPAR", ")", tokens[last].start, tokens[last].start),
        tokens[sign],
        Token("ERROR", "", tokens[sign].end, tokens[end - 1].end),
    ]
    if not scene.works([token.kind for token in stand_in], undo=1, drop=end - at, ahead=0):
        return None
    names = ", ".join(token.text for token in tokens[at - 1 : last : 2])
    message = "there is no `:=`" if go else "several names stand in parentheses"
    problem = scene.error(message, f"write `let ({names}) = (…);`", tokens[last] if go else scene.before)
    return TokenEdit(problem, tuple(stand_in), undo=1, drop=end - at, cut=1)


def _stands_alone(scene: Scene, token: Token) -> bool:
    """Whether the last value on the machine's stack is what has become of a token."""
    return _values_from(scene, token) == 1


def _on_new_line(scene: Scene, tokens: list[Token], index: int) -> bool:
    return index == 0 or "\n" in scene.source.text[tokens[index - 1].end : tokens[index].start]


def _catch(scene: Scene) -> TokenEdit | None:
    """`catch (e) { … }`, `except ValueError as e { … }`"""
    tokens, at, before = scene.tokens, scene.position, scene.before
    kinds = [token.kind for token in tokens[at : at + 3]]
    if before.kind == "CATCH" and kinds == ["LPAR", "NAME", "RPAR"] and scene.fresh:
        name, undo, drop = tokens[at + 1], 0, 3
        type_ = Token("NAME", "Any", before.end, before.end)
        problem: Problem = scene.error(
            "a `catch` names the type of its error",
            "write `catch ErrorType(e) { … }`, or `catch { … }` for any",
        )
    elif (
        before.text in ("except", "rescue")
        and kinds == ["NAME", "AS", "NAME"]
        and _stands_alone(scene, before)
    ):
        type_, name, undo, drop = scene.token, tokens[at + 2], 1, 3
        problem = scene.error(f"there is no `{before.text}`", WORDS[before.text].advice, before)
    else:
        return None
    words = [Token("CATCH", "catch", before.start, before.end)] * undo
    parts = (type_, Token("LPAR", "(", name.start, name.start), name, Token("RPAR", ")", name.end, name.end))
    if not scene.works([token.kind for token in (*words, *parts)], undo=undo, drop=drop, ahead=0):
        return None
    if tokens[at + drop].kind in BRACES:
        tokens[at + drop].kind = "LBRACE"
    return TokenEdit(problem, (*words, *parts), undo=undo, drop=drop, cut=undo)


def _statement(scene: Scene) -> TokenEdit | None:
    """`del x`, to the end of its line."""
    tokens, at, word = scene.tokens, scene.position, scene.before
    if word.text not in _STATEMENTS or scene.token.kind != "NAME" or scene.on_new_line:
        return None
    end = at
    while tokens[end].kind not in ("SEMICOLON", "RBRACE", END) and not _on_new_line(scene, tokens, end + 1):
        end += 1
    drop = end - at + (tokens[end].kind not in ("RBRACE", END))
    stand_in = [Token(kind, "", word.start, tokens[end].end) for kind in ("ERROR", "SEMICOLON")]
    if not _stands_alone(scene, word) or not scene.works(["ERROR", "SEMICOLON"], undo=1, drop=drop, ahead=1):
        return None
    problem = scene.error(f"there is no `{word.text}`", _STATEMENTS[word.text], word)
    return TokenEdit(problem, tuple(stand_in), undo=1, drop=drop, cut=1)


def _finally(scene: Scene) -> TokenEdit | None:
    """`finally { … }`: a block like others."""
    word = scene.before
    if word.text != "finally" or scene.token.kind != "LBRACE" or not _stands_alone(scene, word):
        return None
    problem = scene.error(
        "there is no `finally`", "write behind the `try` what is to happen in any case", word
    )
    return TokenEdit(problem, undo=1, cut=1)


def _elif(scene: Scene) -> TokenEdit | None:
    """`if a { 1 } elif b { 2 } else { 3 }` as a value."""
    tokens, at, word = scene.tokens, scene.position, scene.token
    if word.text not in _ELSE_IFS or scene.before.kind != "RBRACE" or not scene.parser.values:
        return None
    start = getattr(scene.parser.values[-1], "start", None)
    first = next((i for i in range(at) if tokens[i].start == start and tokens[i].kind == "IF"), None)
    end = at
    while tokens[end].text in _ELSE_IFS or tokens[end].kind == "ELSE":
        while tokens[end].kind not in BRACES and tokens[end].kind not in ("SEMICOLON", END):
            end += 1
        close = matching(tokens, end) if tokens[end].kind in BRACES else None
        if close is None:
            return None
        end = close + 1
    if first is None or not scene.works(["ERROR"], undo=1, drop=end - at, ahead=1):
        return None
    problem = scene.error(f"there is no `{word.text}`", WORDS[word.text].advice)
    error = Token("ERROR", "", tokens[first].start, tokens[end - 1].end)
    edit = Edit(problem.span, "else if")
    return TokenEdit(replace(problem, edits=(edit,)), (error,), undo=at - first, drop=end - at, cut=1)


def _switch(scene: Scene) -> TokenEdit | None:
    """`switch (x) { case 1: … }`, read as a call with a block behind it."""
    tokens, at = scene.tokens, scene.position
    if scene.before.kind != "RPAR" or scene.token.kind not in BRACES:
        return None
    opener = next((i for i in range(at - 1, 0, -1) if matching(tokens, i) == at - 1), 0)
    word, end = tokens[opener - 1], matching(tokens, at)
    cut = _values_from(scene, word)
    if word.text not in ("switch", "when") or end is None or cut is None:
        return None
    error = Token("ERROR", "", word.start, tokens[end].end)
    closed = Token("SEMICOLON", ";", tokens[end].end, tokens[end].end)
    if not scene.works(["ERROR", "SEMICOLON"], undo=cut, drop=end + 1 - at, ahead=1):
        return None
    problem = scene.error(f"there is no `{word.text}`", WORDS[word.text].advice, word)
    return TokenEdit(problem, (error, closed), undo=at + 1 - opener, drop=end + 1 - at, cut=cut)


def _parallel_block(scene: Scene) -> TokenEdit | None:
    """`parallel { a(); b() }`, read as a struct literal."""
    tokens, at = scene.tokens, scene.position
    opener, depth = at - 1, 0
    while opener > 0 and not (depth == 0 and tokens[opener].kind in BRACES):
        kind = tokens[opener].kind
        depth += (kind in CLOSERS) - (kind in OPENERS or kind in BRACES)
        opener -= 1
    word, end = tokens[opener - 1], matching(tokens, opener)
    cut = _values_from(scene, word) if word.text in _TOGETHER and opener else None
    if end is None or cut is None:
        return None
    stand_in = [Token(kind, "", word.start, tokens[end].end) for kind in ("ERROR", "SEMICOLON")]
    problem = scene.error(f"there is no `{word.text} {{ … }}`", _TOGETHER[word.text], word)
    for parts in (stand_in, stand_in[:1]):
        if scene.works([part.kind for part in parts], undo=cut, drop=end + 1 - at, ahead=1):
            return TokenEdit(problem, tuple(parts), undo=at + 1 - opener, drop=end + 1 - at, cut=cut)
    return None


_FORMS: tuple[Callable[[Scene], TokenEdit | None], ...] = (
    _type,
    _export,
    _import_of_python,
    _arrow_function,
    _async_closure,
    _closure_default,
    _for_head,
    _mut_let,
    _const_fn,
    _repeated_array,
    _set_literal,
    _function_trait,
    _function_bound,
    _named_pattern,
    _optional_type,
    _declared_by_value,
    _several_names,
    _catch,
    _statement,
    _finally,
    _elif,
    _switch,
    _parallel_block,
)
