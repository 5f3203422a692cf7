"""`concerto trace`: shows a trace as a tree, with times, tokens and failures."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from concerto.cli.reporting import FAILED, OK, Failure, cannot
from concerto.viewer.trace_data import BadTrace, trace_lines

Line: TypeAlias = dict[str, Any]

_WIDE = 1000
"""Where there is no terminal, lines are not broken."""
_NOT_TOLD = frozenset(
    {"event", "id", "parent", "kind", "name", "attributes", "time", "agent", "tool", "server", "function"}
    | {"provider", "origin"}
)
"""What the name of an effect or its place says already."""
_QUIET = frozenset({"Clock", "Random", "Env"})
"""Effects that nobody looks for: shown if they failed."""


def show(file: str) -> int:
    """Prints the tree; the status is 1 if the run failed or never ended."""
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise cannot("read", file, error) from None
    try:
        lines = trace_lines(text)
    except BadTrace as bad:
        raise bad_trace(bad, file) from None
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDE
    console.print(tree_of(lines))
    return OK if lines[-1].get("status") == 0 else FAILED


def tree_of(lines: Iterable[Line]) -> Tree:
    """The tree of a trace: each effect under the execution, stage or call that it is part of."""
    lines = list(lines)
    ends = {line["id"]: line for line in lines if line["event"] == "end"}
    root = Tree(_run_label(lines))
    places: dict[str | None, Tree] = {None: root}
    for line in lines:
        match line["event"]:
            case "begin" if line["kind"] in _QUIET and ends.get(line["id"], {}).get("outcome") == "ok":
                pass
            case "begin":
                parent = places.get(line["parent"], root)
                places[line["id"]] = parent.add(_effect_label(line, ends.get(line["id"])))
            case "attempt":
                text = f"attempt {line['attempt']} failed after {_ms(line['duration_ms'])}: "
                places.get(line["id"], root).add(Text(text + _error(line["error"]), "yellow"))
            case "note":
                places.get(line["parent"], root).add(Text(f"{line['kind']}  {_facts(line['facts'])}", "cyan"))
            case _:
                pass
    return root


def bad_trace(bad: BadTrace, file: str) -> Failure:
    """What is wrong with a trace, and where."""
    if bad.line == 0:
        return Failure(f"`{file}` is no trace; `concerto run --trace F` writes one")
    return Failure(f"{file}:{bad.line}: {bad.reason}")


def _run_label(lines: list[Line]) -> Text:
    label = Text(str(lines[0].get("program", "")), "bold")
    last = lines[-1]
    if last["event"] != "end_of_run":
        return label.append("  did not end", "red")
    if last["status"] == 0:
        return label.append("  ok", "green")
    return label.append(f"  status {last['status']}: {last.get('error', '')}", "red")


def _effect_label(begin: Line, end: Line | None) -> Text:
    label = Text(begin["kind"], "dim").append(f" {begin['name']}", "bold")
    said = _facts(begin)
    if said:
        label.append(f"  {said}")
    if end is None:
        return label.append("  not ended", "red")
    label.append(f"  {_ms(end['duration_ms'])}", "dim")
    if "tokens_in" in end:
        label.append(f"  {end['tokens_in']}+{end['tokens_out']} tokens", "magenta")
    if end.get("usd"):
        label.append(f"  ${end['usd']:.4f}", "magenta")
    if end.get("tool_calls"):
        label.append(f"  → {', '.join([call['name'] for call in end['tool_calls']])}")
    match end["outcome"]:
        case "error":
            label.append(f"  {_error(end['error'])}", "red")
        case "stopped":
            label.append(f"  stopped ({end['reason']})", "yellow")
        case "cached":
            label.append("  cached", "green")
        case _:
            pass
    return label


def _facts(line: Line) -> str:
    hidden = _NOT_TOLD | {"method"} if "tool" in line else _NOT_TOLD
    told = {name: value for name, value in line.items() if name not in hidden and value not in (None, "")}
    return " ".join(
        [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in told.items()]
    )


def _error(error: Line) -> str:
    return f"{error['type']} {error['kind']}: {error['message']}"


def _ms(duration: float) -> str:
    return f"{duration / 1000:.2f} s" if duration >= 1000 else f"{duration:.1f} ms"
