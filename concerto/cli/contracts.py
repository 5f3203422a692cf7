"""`concerto mcp sync`, `lock` and `check`: what a program counts on, beside what its servers offer."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from concerto.cli.reporting import FAILED, OK, USAGE, Failure, cannot, show_problems
from concerto.cli.running import load_environment
from concerto.cli.targets import source_file
from concerto.compiler.disk import open_project, shown_path
from concerto.compiler.locked import declared_functions
from concerto.compiler.pipeline import inspect, read_source
from concerto.contracts.comparison import Basis, Difference, compare
from concerto.contracts.interface import Interface
from concerto.contracts.lock_file import BadLock, ForeignLock, LockedServer, lock_text, read_lock
from concerto.diagnostics import Problems, did_you_mean, suggest
from concerto.effects.error_kinds import ToolKind
from concerto.escape import visible_line
from concerto.files import write_atomically
from concerto.manifest import LOCK_NAME, ManifestError
from concerto.runtime.mcp.connection import ServerFailure
from concerto.runtime.mcp.probe import look_at
from concerto.runtime.mcp.settings import BadSettings, read_settings
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.symbols import McpSymbol
from concerto.syntax import ast
from concerto.syntax.parser import parse
from concerto.wording import counted


@dataclass(frozen=True)
class Contracts:
    """A program's servers: `blocks` are those that it declares, `manifest` the settings of the manifest's."""

    file: Path
    home: Path
    analysis: Analysis
    blocks: dict[str, McpSymbol]
    manifest: dict[str, dict[str, Any]]
    lock: dict[str, LockedServer] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return sorted({*self.blocks, *self.manifest})

    def declared(self, name: str) -> Interface:
        block = self.blocks.get(name)
        return declared_functions(self.analysis, block) if block is not None else {}


@dataclass(frozen=True)
class Finding:
    """A change with what it was measured by."""

    basis: Basis
    change: Difference


def sync(name: str, target: str, *, minimal: bool, environment: str | None, debug: bool) -> int:
    """Writes the block of a server, or brings it up to date."""
    contracts = _open(target, environment)
    if contracts is None:
        return USAGE
    offered = _look(contracts, [name], debug)[name]
    if isinstance(offered, ServerFailure):
        raise Failure(str(offered), FAILED)
    with _alone_in(contracts.home):
        # The program may have changed while its server was asked.
        contracts = _open(target, environment)
        return USAGE if contracts is None else _write_block(contracts, name, offered.tools, minimal)


def lock(names: tuple[str, ...], target: str, *, environment: str | None, debug: bool) -> int:
    """Writes what the servers offer now into `Concerto.lock`; nothing if one of them cannot be asked."""
    contracts = _open(target, environment)
    if contracts is None:
        return USAGE
    wanted = list(names) or contracts.names
    _rest_of_lock(contracts, wanted)  # Before the servers are asked for a lock that will not be written.
    found = _look(contracts, wanted, debug)
    failures = [each for each in found.values() if isinstance(each, ServerFailure)]
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    if failures:
        return FAILED
    locked = {name: each for name, each in found.items() if isinstance(each, LockedServer)}
    with _alone_in(contracts.home):
        rest = _rest_of_lock(contracts, wanted)
        _write(contracts.home / LOCK_NAME, lock_text({**rest, **locked}).encode())
    for name, each in locked.items():
        print(f"locked `{name}`: {counted(len(each.tools), 'tool')}")
    return OK


def check(target: str, *, format: str, environment: str | None, debug: bool) -> int:  # noqa: A002
    """Reports what has changed; the status says whether something broke."""
    contracts = _open(target, environment, format)
    if contracts is None:
        return USAGE
    try:
        locked = _read_lock(contracts)
    except BadLock as bad:
        raise Failure(str(bad)) from None
    contracts = replace(contracts, lock=locked)
    found = _look(contracts, contracts.names, debug)
    findings = {name: _findings(contracts, name, each) for name, each in found.items()}
    if format == "json":
        _print_json(contracts, found, findings)
    else:
        _print_text(contracts, found, findings)
    failed = any(isinstance(each, ServerFailure) for each in found.values())
    broken = any(finding.change.breaking for each in findings.values() for finding in each)
    return FAILED if failed or broken else OK


def _open(target: str, environment: str | None, format: str = "text") -> Contracts | None:  # noqa: A002
    """The servers of a program; None if it cannot be read, which has been shown."""
    if environment is not None:
        load_environment(Path(environment))
    problems = Problems()
    try:
        path = source_file(target)
        project = open_project(path, problems)
        analysis = inspect(read_source(path.read_bytes(), shown_path(path), problems), project, problems)
    except ManifestError as broken:
        show_problems(broken.problems, format)
        return None
    except OSError as error:
        raise cannot("read", error.filename or target, error) from None
    if analysis is None:
        show_problems(problems, format)
        return None
    return Contracts(
        path,
        project.home,
        analysis,
        {server.name: server for server in analysis.mcps},
        project.manifest.mcp if project.manifest is not None else {},
    )


def _read_lock(contracts: Contracts) -> dict[str, LockedServer]:
    path = contracts.home / LOCK_NAME
    try:
        return read_lock(path.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise cannot("read", path, error) from None


def _rest_of_lock(contracts: Contracts, written: Iterable[str]) -> dict[str, LockedServer]:
    """What a new lock keeps of the one that is there: other servers of the program. A broken lock has
    nothing to keep."""
    try:
        locked = _read_lock(contracts)
    except ForeignLock as foreign:
        raise Failure(str(foreign)) from None
    except BadLock:
        return {}
    kept = set(contracts.names) - set(written)
    return {name: each for name, each in locked.items() if name in kept}


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Waits until no other command is writing in a project."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _look(contracts: Contracts, names: Iterable[str], debug: bool) -> dict[str, LockedServer | ServerFailure]:
    settings, failures = {}, {}
    for name in names:
        block = contracts.blocks.get(name)
        if block is None and name not in contracts.manifest:
            near = suggest(name, contracts.names)
            hint = did_you_mean(near, f"add `[mcp.{name}]` to `Concerto.toml`")
            raise Failure(f"there is no mcp server `{name}`; {hint}")
        declared = block.settings if block is not None else {}
        try:
            settings[name] = read_settings(
                name, declared, contracts.manifest.get(name, {}), os.environ, contracts.home.absolute()
            )
        except BadSettings as bad:
            failures[name] = ServerFailure(str(bad), ToolKind.SERVER_UNAVAILABLE)
    return look_at(settings, os.environ, _note if debug else lambda text: None) | failures


def _note(text: str) -> None:
    print(f"[mcp] {visible_line(text)}", file=sys.stderr)


def _findings(contracts: Contracts, name: str, offered: LockedServer | ServerFailure) -> list[Finding]:
    if isinstance(offered, ServerFailure):
        return []
    found = [
        Finding("declared", each) for each in compare(contracts.declared(name), offered.tools, "declared")
    ]
    locked = contracts.lock.get(name)
    if locked is not None:
        found += [Finding("locked", each) for each in compare(locked.tools, offered.tools, "locked")]
    return found


def _print_text(
    contracts: Contracts,
    found: dict[str, LockedServer | ServerFailure],
    findings: dict[str, list[Finding]],
) -> None:
    for name, offered in found.items():
        if isinstance(offered, ServerFailure):
            print(f"{name}: {offered}")
            continue
        against = [word for word, known in _bases(contracts, name) if known]
        if not findings[name]:
            print(
                f"{name}: as {' and '.join(against)}" if against else f"{name}: neither declared nor locked"
            )
            continue
        print(f"{name}:")
        for finding in findings[name]:
            change = finding.change
            kind = "breaking" if change.breaking else "harmless"
            print(visible_line(f"  {kind}: `{change.tool}`: {change.message} ({finding.basis})"))


def _bases(contracts: Contracts, name: str) -> list[tuple[str, bool]]:
    return [("declared", bool(contracts.declared(name))), ("locked", name in contracts.lock)]


def _print_json(
    contracts: Contracts,
    found: dict[str, LockedServer | ServerFailure],
    findings: dict[str, list[Finding]],
) -> None:
    servers = [
        {
            "name": name,
            "server": offered.version if isinstance(offered, LockedServer) else None,
            "error": str(offered) if isinstance(offered, ServerFailure) else None,
            **dict(_bases(contracts, name)),
            "changes": [_change_json(finding) for finding in findings[name]],
        }
        for name, offered in found.items()
    ]
    print(json.dumps({"servers": servers}, indent=2))


def _change_json(finding: Finding) -> dict[str, Any]:
    change = finding.change
    return {
        "breaking": change.breaking,
        "basis": finding.basis,
        "tool": change.tool,
        "parameter": change.parameter or None,
        "message": change.message,
        "expected": change.expected or None,
        "offered": change.offered or None,
    }


def _write_block(contracts: Contracts, name: str, offered: Interface, minimal: bool) -> int:
    from concerto.contracts.update_block import new_block, update_block

    block = contracts.blocks.get(name)
    if block is None:
        path = contracts.file
        update = new_block(name, offered, path.read_text(encoding="utf-8"))
    else:
        assert block.source is not None
        path = Path(block.source.path)
        # The tree of the file as it is, with every offset of its text.
        module = parse(block.source, Problems())
        node = next(item for item in module.items if isinstance(item, ast.McpDecl) and item.name.text == name)
        update = update_block(
            node, module, block.source.text, contracts.declared(name), offered, minimal=minimal
        )
    if not update.done:
        print(f"{shown_path(path)}: `{name}` is up to date")
        return OK
    _write(path, _with_line_ends_of(path, update.text))
    print(f"{shown_path(path)}: wrote `{name}`")
    for line in update.done:
        print(f"  {line}")
    return OK


def _with_line_ends_of(path: Path, text: str) -> bytes:
    lines = text.replace("\r\n", "\n").encode()
    return lines.replace(b"\n", b"\r\n") if b"\r\n" in path.read_bytes() else lines


def _write(path: Path, data: bytes) -> None:
    try:
        write_atomically(path, data)
    except OSError as error:
        raise cannot("write", path, error) from None
