"""What a run may do: tools, folders and HTTP hosts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from concerto.records import field, record

WHOLE = "*"
"""Among the rules of a tool: the answer for the methods that have none of their own."""
_DENIED_UNLESS_ALLOWED = {"ShellTool": False}


@record(frozen=True)
class Permissions:
    """`tools` maps a tool to True, False or its methods' own answers; `files` are folders, `hosts` names
    of HTTP hosts (`api.example.com`, `*.example.com`, `*`, with or without a port)."""

    tools: Mapping[str, bool | Mapping[str, bool]] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    hosts: tuple[str, ...] = ()

    def allows(self, tool: str, method: str) -> bool:
        rule = self.tools.get(tool, {})
        if isinstance(rule, bool):
            return rule
        return rule.get(method, rule.get(WHOLE, _DENIED_UNLESS_ALLOWED.get(tool, True)))

    def place(self, path: str) -> tuple[Path, Path] | None:
        """An allowed folder and the way from it to the file, links resolved; None if none holds it."""
        if not self.files:
            return None
        try:
            real = Path(os.path.realpath(self.files[0] / path))
            roots = [Path(os.path.realpath(folder)) for folder in self.files]
        except (OSError, ValueError):
            # A link on the way was changed while it was read, or this can be no path at all.
            return None
        for root in roots:
            if real.is_relative_to(root):
                return root, real.relative_to(root)
        return None

    def allows_url(self, url: str) -> bool:
        host = host_of(url)
        if host is None:
            return False
        name, with_port = host
        return any(_host_fits(rule, name, with_port) for rule in self.hosts)

    def with_rules(self, rules: Mapping[str, Any]) -> Permissions:
        """These permissions with a mapping's on top: tools by name, `files` and `http` as lists."""
        tools = dict(self.tools)
        files, hosts = self.files, self.hosts
        for name, rule in rules.items():
            if name == "files":
                base = files[0] if files else Path.cwd()
                files = (*files, *(base / folder for folder in rule))
            elif name == "http":
                hosts = (*hosts, *rule)
            else:
                tools[name] = _merged(tools.get(name), rule)
        return Permissions(tools, files, hosts)


def _host_fits(rule: str, host: str, with_port: str) -> bool:
    if rule.startswith("*."):
        return host.endswith(rule[1:])
    return rule in ("*", host, with_port)


def _merged(
    old: bool | Mapping[str, bool] | None, new: bool | Mapping[str, bool]
) -> bool | Mapping[str, bool]:
    if isinstance(new, bool) or WHOLE in new:
        return new
    return {**({WHOLE: old} if isinstance(old, bool) else old or {}), **new}


def host_of(url: str) -> tuple[str, str] | None:
    """The host that a web address names, and the same with a port if there is one; None if it is no such
    address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return parts.hostname, f"{parts.hostname}:{port}" if port else ""
