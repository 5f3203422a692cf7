"""What other frameworks call things is named by what there is here."""

from __future__ import annotations

from concerto.vocabulary.decorators import DECORATORS
from concerto.vocabulary.fields import AGENT, CONNECTION, MCP, in_source
from concerto.vocabulary.other_frameworks import DECORATORS as FOREIGN_DECORATORS
from concerto.vocabulary.other_frameworks import FIELDS, advice_on, name_here

ROWS = {"agent": in_source(AGENT), "connection": in_source(CONNECTION), "mcp": in_source(MCP)}


def test_fields_are_called_what_they_are_called_here() -> None:
    for word, foreign in FIELDS.items():
        for name in foreign:
            here = name_here(foreign, name)
            assert name not in ROWS[word]
            assert here is None or here in ROWS[word]
            assert here or advice_on(foreign, name, "A")


def test_decorators_are_called_what_they_are_called_here() -> None:
    for name in FOREIGN_DECORATORS:
        here = name_here(FOREIGN_DECORATORS, name)
        assert name not in DECORATORS
        assert here is None or here in DECORATORS
