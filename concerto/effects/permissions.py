"""What a run may do: tools, folders and HTTP hosts."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from concerto.annotating import TYPE_CHECKING, Any
from concerto.cache import private_folders
from concerto.records import field, record, replace

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = "*"
"""Among the rules of a tool: the answer for the methods that have none of their own."""
_DENIED_UNLESS_ALLOWED = {"ShellTool": False}
_PORTS = {"http": 80, "https": 443}


@record(frozen=True)
class Permissions:
    """`tools` maps a tool to True, False or its methods' own answers; `files` are folders, and single files;
    `hosts` names of HTTP hosts (`api.example.com`, `*.example.com`, `*`, `[::1]`, with or without a port).
    Relative paths start at `folder`. `started` are files that a run may start or import, which are not
    written, nor what they may import; `stores` are files of runs, which only the journal writes."""

    tools: Mapping[str, bool | Mapping[str, bool]] = field(default_factory=dict)
    files: tuple[str | Path, ...] = ()
    hosts: tuple[str, ...] = ()
    folder: str | Path = "."
    started: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()

    def allows(self, tool: str, method: str) -> bool:
        rule = self.tools.get(tool, {})
        if isinstance(rule, bool):
            return rule
        return rule.get(method, rule.get(WHOLE, _DENIED_UNLESS_ALLOWED.get(tool, True)))

    def place(self, path: str, *, writing: bool = False) -> tuple[Path, Path] | None:
        """An allowed folder and the way from it to a file, links resolved; None if the run may not use it."""
        real, roots = self._resolved(path)
        for root in roots:
            if real == root and not root.is_dir():
                return root.parent, root.relative_to(root.parent)
            if real.is_relative_to(root) and not self._protects(root, real, writing):
                return root, real.relative_to(root)
        return None

    def protects(self, path: str) -> bool:
        """Whether a file that may not be used is in an allowed folder."""
        real, roots = self._resolved(path)
        return any(real.is_relative_to(root) for root in roots)

    def _resolved(self, path: str) -> tuple[Path, list[Path]]:
        from pathlib import Path  # A program that only computes asks for no file.

        try:
            return self._real(path), [self._real(each) for each in self.files]
        except (OSError, ValueError):
            # A link on the way was changed while it was read, or this can be no path at all.
            return Path(), []

    def _real(self, path: str | Path) -> Path:
        from pathlib import Path

        return Path(os.path.realpath(os.path.join(self.folder, path)))

    def _protects(self, root: Path, real: Path, writing: bool) -> bool:
        from concerto.effects.protected import is_protected  # A start does without `re`.

        if is_protected(real.relative_to(root).parts, writing=writing):
            return True
        kept = private_folders()
        if writing:
            if self._is_started(root, real) or self._is_of_store(real):
                return True
            kept = [*kept, sys.prefix]
        folders = [os.path.realpath(each) for each in kept]
        return any(real.is_relative_to(each) and not root.is_relative_to(each) for each in folders)

    def _is_started(self, root: Path, real: Path) -> bool:
        """Whether a run may start or import a file by way of one in the same allowed folder."""
        from concerto.effects.protected import may_be_imported

        started = [each for each in map(self._real, self.started) if each.is_relative_to(root)]
        return any(real == each or may_be_imported(real, each) for each in started)

    def _is_of_store(self, real: Path) -> bool:
        """Whether a file is a store of runs, or one of those beside it, which have its name and a hyphen."""
        name = str(real).casefold()
        return any(
            name == each or name.startswith(f"{each}-")
            for each in [str(self._real(store)).casefold() for store in self.stores]
        )

    def allows_url(self, url: str) -> bool:
        host = host_of(url)
        return host is not None and self.allows_host(*host)

    def allows_host(self, host: str, port: int, *, by_name: bool = False) -> bool:
        """Whether a rule fits a host at a port; `by_name` one without a star."""
        return any(_host_fits(rule.lower(), host, port, by_name=by_name) for rule in self.hosts)

    def with_rules(self, rules: Mapping[str, Any]) -> Permissions:
        """These permissions with a mapping's on top: tools by name, methods under their tool or as
        `Tool::method` or `Tool.method`, `http` as a list of more hosts, `files` as that of all folders."""
        if not rules:
            return self
        tools = dict(self.tools)
        files, hosts = self.files, self.hosts
        for name, rule in rules.items():
            if name == "files":
                files = tuple(rule)
            elif name == "http":
                hosts = (*hosts, *rule)
            else:
                # A server's own name may have a dot in it.
                for each in sorted({name, name.replace(".", "::")}):
                    tools[each] = _merged(tools.get(each), rule)
        for name, rule in rules.items():  # After what holds for the whole tool.
            owner, _, method = name.replace(".", "::").rpartition("::")
            if owner and isinstance(rule, bool):
                tools[owner] = _merged(tools.get(owner), {method: rule})
        return replace(self, tools=tools, files=files, hosts=hosts)


def _host_fits(rule: str, host: str, port: int, *, by_name: bool) -> bool:
    name, colon, wanted = rule.rpartition(":")
    if not colon or (":" in name and name[-1] != "]"):  # The colons of an IPv6 address are part of it.
        name, wanted = rule, ""
    if wanted not in ("", str(port)):
        return False
    if name == host or name == f"[{host}]":
        return True
    return not by_name and (name == "*" or (name[:2] == "*." and host.endswith(name[1:])))


def _merged(
    old: bool | Mapping[str, bool] | None, new: bool | Mapping[str, bool]
) -> bool | Mapping[str, bool]:
    if isinstance(new, bool) or WHOLE in new:
        return new
    return {**({WHOLE: old} if isinstance(old, bool) else old or {}), **new}


def host_of(url: str) -> tuple[str, int] | None:
    """The host that a web address names, and its port; None if it is no such address."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    return parts.hostname, _PORTS[parts.scheme] if port is None else port
