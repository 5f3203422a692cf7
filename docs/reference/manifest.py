"""The page of `Concerto.toml`: the example that shows every key, table by table."""

from __future__ import annotations

from pathlib import Path

from docs.reference.markdown import fenced, joined

EXAMPLE = Path(__file__).parents[2] / "Concerto.toml.example"

_INTRODUCTION = """\
The settings of a project stand in `Concerto.toml`, which is found by walking up from the program's file.
Here is every key, with a comment; all are optional unless said otherwise. A key that is unknown is an error
([E0505](codes.md#e0505)). What a connection says here wins over `connect` in a program, and what an
embedding Python program says wins over both. Keys of providers are named by their environment variables and
never stand in a file."""


def page() -> str:
    return joined("# Concerto.toml", _INTRODUCTION, fenced("toml", EXAMPLE.read_text(encoding="utf-8")))
