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

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}" if line else reason)
        self.line, self.reason = line, reason


def trace_lines(text: str) -> list[Line]:
    """The lines of a trace; the last one may be cut off, if the run was killed. Raises BadTrace."""
    written, lines = text.splitlines(), []
    for number, each in enumerate(written, 1):
        try:
            lines.append(trace_line(each, number))
        except BadTrace:
            if number < len(written) or number == 1:
                raise
    if not lines or lines[0]["event"] != "run":
        raise BadTrace(0, "this is no trace")
    return lines


def trace_line(written: str, number: int) -> Line:
    """Raises BadTrace."""
    try:
        line = json.loads(written)
    except (ValueError, RecursionError):
        line = None
    if not isinstance(line, dict) or not isinstance(line.get("event"), str):
        raise BadTrace(number, "this is no line of a trace")
    return line


def trace_data(text: str) -> dict[str, Json]:
    """The data of the page of a trace. Raises BadTrace."""
    data = TraceData()
    for line in trace_lines(text):
        data.take(line)
    return {**data.head("interrupted"), "effects": list(data.effects.values()), "texts": []}


class TraceData:
    """The effects of a run by their ids, as far as the lines of its trace have been taken. `changed` are
    those of which a line was taken."""

    def __init__(self) -> None:
        self.effects: dict[str, dict[str, Json]] = {}
        self.changed: dict[str, None] = {}
        self._lines, self._started, self._updated, self._cost = 0, 0.0, 0.0, 0.0
        self._program, self._status, self._error = "", "", None

    def take(self, line: Line) -> None:
        """Raises BadTrace."""
        self._lines += 1
        try:
            self._updated = _seconds(line)
            if self._lines == 1:
                self._program, self._started = short_name(line["program"]), self._updated
            self._take(line)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise BadTrace(self._lines, "it cannot be read") from None

    def _take(self, line: Line) -> None:
        effects = self.effects
        match line["event"]:
            case "begin":
                key = line["id"]
                effects[key] = _begun(line, self._started)
            case "end":
                key = line["id"]
                _end(effects[key], line)
                self._cost += effects[key].get("reply", {}).get("cost_usd") or 0
            case "attempt":
                key = line["id"]
                tried = effects[key].setdefault("tries", [])
                tried.append([line["duration_ms"], _error(line["error"])])
            case "note" if line["parent"] is not None:
                key = line["parent"]
                happened = effects[key].setdefault("notes", [])
                happened.append([line["kind"], json.dumps(line["facts"], ensure_ascii=False)])
            case "end_of_run":
                self._status = "failed" if line["status"] else "done"
                self._error = line.get("error")
                return
            case _:
                return
        self.changed[key] = None

    def head(self, open_status: str) -> dict[str, Json]:
        """What is known of the run besides its effects; its status is `open_status` as long as it has not
        ended."""
        return {
            "id": "",
            "name": self._program,
            "status": self._status or open_status,
            "started": self._started,
            "updated": self._updated,
            "cost": self._cost,
            "origin": "",
            "result": {"error": self._error} if self._error else {},
            "fork": "",
            "trace": True,
        }


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
