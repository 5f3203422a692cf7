import json
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Call:
    tool: str
    agent: str
    ms: int
    tokens: int = 0
    error: str | None = None


class LogError(Exception):
    pass


KINDS = {str: "String", int: "Int", bool: "Bool"}


def required(event: dict[str, Any], name: str, kind: type) -> Any:
    if name not in event:
        raise LogError(f"no `{name}`")
    value = event[name]
    if not isinstance(value, kind):
        raise LogError(f"`{name}` is {KINDS[type(value)]}")
    return value


def read(line: str) -> Call:
    try:
        event = json.loads(line)
    except ValueError:
        raise LogError("no JSON") from None
    ok = required(event, "ok", bool)
    call = Call(required(event, "tool", str), event.get("agent", "main"), required(event, "ms", int))
    if ok:
        call.tokens = required(event, "tokens", int)
    else:
        call.error = required(event, "error", str)
    return call


@dataclass(slots=True)
class Summary:
    calls: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    times: list[int] = field(default_factory=list)
    tokens: int = 0

    def add(self, call: Call) -> None:
        self.calls += 1
        self.times.append(call.ms)
        self.tokens += call.tokens
        if call.error is not None:
            self.failures[call.error] += 1

    def percentile(self, share: float) -> int:
        times = sorted(self.times)
        return times[math.floor((len(times) - 1) * share + 0.5)]

    def cells(self) -> list[str]:
        failed = sum(self.failures.values())
        worst = min(self.failures.items(), key=lambda item: (-item[1], item[0]), default=("-", 0))
        return [
            str(self.calls),
            f"{failed / self.calls:.1%}",
            str(self.percentile(0.5)),
            str(self.percentile(0.95)),
            f"{self.tokens:,}",
            worst[0],
        ]


def table(header: list[str], rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(header, *rows)]

    def line(cells: list[str]) -> str:
        padded = [
            cell.ljust(width) if i in (0, len(cells) - 1) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths))
        ]
        return " | ".join(padded).rstrip()

    rule = "-+-".join("-" * width for width in widths)
    return "\n".join([line(header), rule, *map(line, rows)])


def log(count: int) -> list[str]:
    tools = ["search", "read_file", "run_tests", "fetch"]
    reasons = ["timeout", "not found", "denied"]
    lines = []
    for i in range(count):
        match i % 50:
            case 48:
                lines.append('{"tool": "search", "ok": true')
            case 49:
                lines.append('{"tool": "fetch", "ms": "fast", "ok": true, "tokens": 5}')
            case 47:
                lines.append('{"ok": true, "ms": 5}')
            case _:
                if i * i % 11 == 3:
                    outcome = f'"ok": false, "error": "{reasons[i % 3]}"'
                else:
                    outcome = f'"ok": true, "tokens": {i * 17 % 900}'
                agent = '"agent": "helper", ' if i % 3 == 0 else ""
                lines.append(f'{{"tool": "{tools[i * i % 7 % 4]}", {agent}"ms": {i * 37 % 450}, {outcome}}}')
    return lines


def work() -> str:
    per_tool: dict[str, dict[str, Summary]] = {}
    rejected: dict[str, int] = {}
    for line in log(600):
        try:
            call = read(line)
        except LogError as error:
            reason = str(error)
            rejected[reason] = rejected.get(reason, 0) + 1
            continue
        per_tool.setdefault(call.tool, {}).setdefault(call.agent, Summary()).add(call)
    rows = [
        [f"{tool}/{agent}", *summary.cells()]
        for tool, agents in sorted(per_tool.items())
        for agent, summary in agents.items()
    ]
    text = table(["tool/agent", "calls", "failed", "p50", "p95", "tokens", "worst"], rows)
    shown = ", ".join(f'"{reason}": {count}' for reason, count in rejected.items())
    return f"{text}\n{{{shown}}}"
