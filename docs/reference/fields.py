"""The page of the fields of declarations, and of their tables in a manifest."""

from __future__ import annotations

from concerto.manifest.fields import DECLARATIONS, RATE_LIMIT, RETRY, Field, Kind, Rows

_TITLES = {
    "agent": "`agent`",
    "connect": "`connect` and `[connections.…]`",
    "mcp": "`mcp` and `[mcp.…]`",
    "host": "`host` and `[hosts.…]`",
    "tool": "`tool`",
}

_HEAD = """# Fields of declarations

What may stand in declarations and in their tables of `Concerto.toml`.
A value of `Concerto.toml` wins over that of the source. The page of the
manifest shows every table.
"""


def page() -> str:
    parts = [_HEAD]
    parts += [_section(_TITLES[word], rows) for word, rows in DECLARATIONS.items()]
    parts.append(_section("`retry_policy` and `retry`", RETRY))
    parts.append(_section("`rate_limit`", RATE_LIMIT))
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
