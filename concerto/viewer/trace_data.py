"""A trace as JSON for the page: its effects below the executions, stages and calls that they are part of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TypeAlias

from concerto.json_data import Json

Line: TypeAlias = dict[str, Json]


class BadTrace(Exception):
    """What is wrong with a trace, and its line, from 1; 0 for one that is none at all."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def trace_lines(text: str) -> list[Line]:
    """The lines of a trace; the last one may be cut off, if the run was killed. Raises BadTrace."""
    written, lines = text.splitlines(), []
    for number, each in enumerate(written, 1):
        try:
            line = json.loads(each)
        except (ValueError, RecursionError):
            line = None
        if isinstance(line, dict) and isinstance(line.get("event"), str):
            lines.append(line)
        elif number < len(written) or number == 1:
            raise BadTrace(number, "this is no line of a trace")
    if not lines or lines[0]["event"] != "run":
        raise BadTrace(0, "this is no trace")
    return lines


def trace_data(text: str) -> dict[str, Json]:
    """The data of the page of a trace. Raises BadTrace."""
    lines = trace_lines(text)
    effects: dict[str, dict[str, Json]] = {}
    number = 1
    try:
        start = _seconds(lines[0])
        for number, line in enumerate(lines, 1):  # noqa: B007
            match line["event"]:
                case "begin":
                    effects[line["id"]] = _begun(line, start)
                case "end":
                    _end(effects[line["id"]], line)
                case "attempt":
                    tried = effects[line["id"]].setdefault("tries", [])
                    tried.append([line["duration_ms"], _error(line["error"])])
                case "note" if line["parent"] is not None:
                    happened = effects[line["parent"]].setdefault("notes", [])
                    happened.append([line["kind"], json.dumps(line["facts"], ensure_ascii=False)])
                case _:
                    pass
        last = lines[-1]
        ended = last["event"] == "end_of_run"
        return {
            "id": "",
            "name": short_name(lines[0]["program"]),
            "status": ("failed" if last["status"] else "done") if ended else "interrupted",
            "started": start,
            "updated": _seconds(last),
            "cost": sum(each.get("reply", {}).get("cost_usd") or 0 for each in effects.values()),
            "origin": "",
            "result": {"error": last["error"]} if last.get("error") else {},
            "fork": "",
            "trace": True,
            "effects": list(effects.values()),
            "texts": [],
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadTrace(number, "this line of the trace cannot be read") from None


def short_name(path: str) -> str:
    """A program's file, or a place in it, and the folder it is in: where that is, is nobody's business."""
    return "/".join(path.replace("\\", "/").split("/")[-2:])


_KNOWN = frozenset(
    {"time", "event", "id", "parent", "kind", "name", "attributes", "place", "agent", "tool", "method"}
    | {"server", "function", "origin"}
)
"""What the row says already."""


def _begun(line: Line, start: float) -> dict[str, Json]:
    told = {
        "key": line["id"],
        "kind": line["kind"],
        "subject": line["name"],
        "parent": line["parent"],
        "begun": round((_seconds(line) - start) * 1000, 1),
        "state": "begun",
        "asked": [[key, *_value(value)] for key, value in line.items() if key not in _KNOWN],
    }
    return {**told, "place": short_name(line["place"])} if line.get("place") else told


def _value(value: Json) -> tuple[str, bool]:
    if isinstance(value, str):
        is_json = value[:1] in "[{"
        return value, is_json
    return json.dumps(value, ensure_ascii=False), True


def _end(effect: dict[str, Json], line: Line) -> None:
    effect["took"] = line["duration_ms"]
    match line["outcome"]:
        case "error":
            effect |= {"state": "failed", "error": _error(line["error"])}
        case "stopped":
            effect["state"] = "cancelled"
        case _:
            del effect["state"]
    if line.get("attempts"):
        effect["attempt"] = line["attempts"]
    if effect["kind"] == "ModelCall" and "tokens_in" in line:
        effect["reply"] = {
            "text": "",
            "calls": line.get("tool_calls") or [],
            "stop_reason": line.get("stop_reason"),
            "tokens_in": line["tokens_in"],
            "tokens_out": line["tokens_out"],
            "cost_usd": line.get("usd"),
        }


def _error(error: Mapping[str, Json]) -> dict[str, Json]:
    more = {key: value for key, value in error.items() if key not in ("type", "kind", "message")}
    return {"type": error["type"], "kind": error["kind"], "message": error["message"], "fields": more}


def _seconds(line: Line) -> float:
    return datetime.fromisoformat(line["time"]).timestamp()
