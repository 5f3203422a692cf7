"""The page of fields and decorators: what may stand in declarations, in their tables, and before them."""

from __future__ import annotations

from collections.abc import Iterator

from concerto.vocabulary.decorators import DECORATORS, PLACE_NAMES, ArgumentRow
from concerto.vocabulary.fields import DECLARATIONS, RATE_LIMIT, RETRY, Field, Kind, Rows

_TITLES = {
    "agent": "`agent`",
    "connect": "`connect` and `[connections.…]`",
    "mcp": "`mcp` and `[mcp.…]`",
    "host": "`host` and `[hosts.…]`",
    "tool": "`tool`",
}

_HEAD = """# Fields and decorators

What may stand in declarations, in their tables of `Concerto.toml`, and before declarations.
A value of `Concerto.toml` wins over that of the source. The page of the
manifest shows every table.
"""


def page() -> str:
    parts = [_HEAD]
    parts += [_section(_TITLES[word], rows) for word, rows in DECLARATIONS.items()]
    parts.append(_section("`retry_policy` and `retry`", RETRY))
    parts.append(_section("`rate_limit`", RATE_LIMIT))
    parts.append("\n".join(_decorators()))
    return "\n".join(parts)


def _section(title: str, rows: Rows) -> str:
    lines = [
        f"## {title}",
        "",
        "| field | source | `Concerto.toml` | else | meaning |",
        "|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        source, manifest = _shown(row, row.source), _shown(row, row.manifest)
        lines.append(f"| `{name}` | {source} | {manifest} | {_default(row.default)} | {row.meaning} |")
    return "\n".join(lines) + "\n"


def _shown(row: Field, kind: Kind | None) -> str:
    if kind is None:
        return "–"
    if kind is Kind.CHOICE or (kind is Kind.REFERENCE and row.choices):
        return ", ".join(f'`"{each}"`' for each in row.choices)
    return str(kind.value) + (", required" if row.required else "")


def _default(value: object) -> str:
    if value is None:
        return ""
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


def _decorators() -> Iterator[str]:
    yield "## Decorators\n\n`concerto doc` shows what each is for: `concerto doc retry`.\n"
    yield from ("| decorator | argument | else | before |", "|---|---|---|---|")
    for name, row in DECORATORS.items():
        places = ", ".join(PLACE_NAMES.get(each, each) for each in row.places)
        first, *more = [_argument(each) for each in row.arguments] or [("", "")]
        yield f"| `@{name}` | {first[0]} | {first[1]} | {places} |"
        yield from (f"| | {shown} | {default} | |" for shown, default in more)
    yield ""


_ABOVE_ZERO = {"Count": "Int above zero", "Seconds": "Number above zero"}


def _argument(row: ArgumentRow) -> tuple[str, str]:
    kind = ", ".join(f"`{each}`" for each in row.choices) or _ABOVE_ZERO.get(row.kind, row.kind)
    return f"`{row.name}`: {kind}", "required" if row.required else _default(row.default)
