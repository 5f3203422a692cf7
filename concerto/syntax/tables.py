"""The parser's tables, made by Lark from `grammar/concerto.lark`.

`tables()` gives them as plain data. Building takes Lark half a second, so they are kept in the
cache for as long as the grammar, Lark and Python stay what they are.
"""

from __future__ import annotations

import hashlib
import sys
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from typing import Any

from concerto.cache import entry_name, read_entry, write_entry
from concerto.once import once
from concerto.records import frozen
from concerto.resources import resource

_START = "module"
_GRAMMAR = "grammar/concerto.lark"


@frozen
class Rule:
    """An alternative of the grammar: what it yields, how many symbols it has, who builds its node."""

    origin: str
    size: int
    method: str

    @property
    def is_unit(self) -> bool:
        """Whether its one symbol stays what it is."""
        return self.method == "first" and self.size == 1


@frozen
class Tables:
    """`actions[state][terminal]` is the state to go to, or `~number` of the rule to reduce by;
    `gotos[state][nonterminal]` the state after that."""

    actions: list[dict[str, int]]
    gotos: list[dict[str, int]]
    rules: list[Rule]
    start: int
    end: int


@once
def tables() -> Tables:
    grammar = resource(_GRAMMAR).read_text(encoding="utf-8")
    maker = _maker(grammar)
    # Several versions of this package may be in use in turn.
    name = entry_name(maker, "tables")
    kept = read_entry(name, maker)
    if kept is None:
        built = build_tables(grammar)
        rules = [(rule.origin, rule.size, rule.method) for rule in built.rules]
        write_entry(name, maker, (built.actions, built.gotos, rules, built.start, built.end))
        return built
    actions, gotos, rules, start, end = kept
    return Tables(actions, gotos, [Rule(*rule) for rule in rules], start, end)


def build_tables(grammar: str) -> Tables:
    """Tables of a grammar; raises Lark's GrammarError if one token of look-ahead cannot decide it."""
    from lark import Lark
    from lark.lexer import Lexer
    from lark.parsers.lalr_analysis import Shift

    class NoLexer(Lexer):
        """Lark only makes the tables; the tokens come from `concerto.syntax.lexer`."""

        def __init__(self, conf: Any) -> None:
            pass

        def lex(self, lexer_state: Any, parser_state: Any) -> Any:
            raise AssertionError("Lark was asked to read a text")

    lark = Lark(grammar, parser="lalr", strict=True, start=_START, lexer=NoLexer)
    table = lark.parser.parser.parser.parse_table
    numbers = {state: number for number, state in enumerate(sorted(table.states))}
    rules: dict[Any, int] = {}
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    for state in numbers:
        row: dict[str, int] = {}
        onward: dict[str, int] = {}
        for symbol, (action, argument) in table.states[state].items():
            if action is not Shift:
                row[symbol] = ~rules.setdefault(argument, len(rules))
            elif symbol.isupper() or symbol == "$END":
                row[symbol] = numbers[argument]
            else:
                onward[symbol] = numbers[argument]
        actions.append(row)
        gotos.append(onward)
    plain = [_rule(rule) for rule in rules]
    _skip_handing_on(actions, gotos, plain)
    return Tables(
        actions,
        gotos,
        plain,
        numbers[table.start_states[_START]],
        numbers[table.end_states[_START]],
    )


def _skip_handing_on(actions: list[dict[str, int]], gotos: list[dict[str, int]], rules: list[Rule]) -> None:
    """Goes past states whose only use is to hand one symbol on unchanged; a third of all steps."""
    handed_on: dict[int, str] = {}
    for state, row in enumerate(actions):
        reductions = set(row.values())
        if len(reductions) == 1 and not gotos[state] and (action := reductions.pop()) < 0:
            rule = rules[~action]
            if rule.is_unit:
                handed_on[state] = rule.origin
    for row, onward in zip(actions, gotos, strict=True):
        for moves in (row, onward):
            for symbol, target in moves.items():
                while target in handed_on:
                    target = onward[handed_on[target]]
                moves[symbol] = target


def _rule(rule: Any) -> Rule:
    method = str(rule.alias or rule.options.template_source or rule.origin.name)
    return Rule(str(rule.origin.name), len(rule.expansion), method + "_" if iskeyword(method) else method)


def _maker(grammar: str) -> bytes:
    """What tables depend on: the grammar, Lark, Python and this file."""
    # Lark's first file holds its version; importing it, or asking for its metadata, takes far longer.
    lark = find_spec("lark")
    assert lark is not None and lark.origin is not None
    parts = [grammar.encode(), sys.version.encode()]
    parts += [Path(each).read_bytes() for each in (lark.origin, __file__)]
    return hashlib.sha256(b"\0".join(parts)).digest()
