"""`concertoc build` and `concertoc check`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from concerto.cli.reporting import OK, USAGE, Failure, cannot, show_problems
from concerto.cli.targets import IR_SUFFIX, source_file
from concerto.compiler.disk import DiskProject, open_project, read_bytes, shown_path
from concerto.compiler.pipeline import analyze, read_source
from concerto.compiler.store import load_module
from concerto.diagnostics import Problems
from concerto.files import write_atomically
from concerto.ir.module import Module
from concerto.manifest import ManifestError
from concerto.source import Source

STANDARD_OUTPUT = "-"
_POLL_SECONDS = 0.3


@dataclass(frozen=True)
class BuildOptions:
    """`emit` names what is written: kinds of `EMITTERS`."""

    out: str | None = None
    emit: tuple[str, ...] = ("ir",)
    format: str = "text"


def build(target: str, options: BuildOptions) -> int:
    """Compiles a program and writes what was asked for; writes nothing if there is an error."""
    status, _ = _build(target, options)
    return status


def watch(target: str, options: BuildOptions) -> int:
    """Builds now and after every change of a file that the program depends on; ends when interrupted."""
    while True:
        _, looked_at = _build(target, options)
        print(f"watching {len(looked_at)} files", file=sys.stderr)
        while all(read_bytes(path) == data for path, data in looked_at.items()):
            time.sleep(_POLL_SECONDS)


def check(targets: tuple[str, ...], format: str = "text") -> int:  # noqa: A002  the option's word
    """Reports the problems of programs."""
    problems = Problems()
    for target in targets:
        for problem in _problems_of(target):
            problems.add(problem)
    show_problems(problems, format)
    return USAGE if problems.errors else OK


def _problems_of(target: str) -> Problems:
    problems = Problems()
    try:
        source, project = _open(target, problems)
    except ManifestError as broken:
        return broken.problems
    analyze(source, project, problems)
    return problems


def _build(target: str, options: BuildOptions) -> tuple[int, dict[Path, bytes | None]]:
    """The exit status, and what would have to change for another result."""
    problems = Problems()
    try:
        source, project = _open(target, problems)
    except ManifestError as broken:
        show_problems(broken.problems, options.format)
        return USAGE, {broken.file: read_bytes(broken.file)}
    outputs = _outputs(source, project, options.emit, problems)
    show_problems(problems, options.format)
    if outputs is None:
        return USAGE, project.looked_at
    _write(outputs, source_file(target), options.out)
    return OK, project.looked_at


def _open(target: str, problems: Problems) -> tuple[Source, DiskProject]:
    path = source_file(target)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise cannot("read", path, error) from None
    project = open_project(path, problems)
    project.looked_at[path.absolute()] = data
    return read_source(data, shown_path(path), problems), project


def _outputs(
    source: Source, project: DiskProject, kinds: tuple[str, ...], problems: Problems
) -> dict[str, bytes] | None:
    """The content of each output by its suffix, or None if the program has errors."""
    outputs = {}
    for kind in kinds:
        content = EMITTERS[kind](source, project, problems)
        if content is None:
            return None
        outputs[_SUFFIXES[kind]] = content
    return outputs


def _emit_ir(source: Source, project: DiskProject, problems: Problems) -> bytes | None:
    from concerto.ir.codec import encode

    module = load_module(source, project, problems)
    return encode(_portable(module, project.root)) if module is not None else None


def _portable(module: Module, root: Path) -> Module:
    """The same source gives the same bytes, whatever folder it is built from."""

    def inside(path: str) -> str:
        absolute = Path(path).absolute()
        return (
            absolute.relative_to(root.absolute()).as_posix() if root.absolute() in absolute.parents else path
        )

    files = [replace(file, path=inside(file.path)) for file in module.files]
    return replace(module, source_file=inside(module.source_file), files=files)


def _emit_ast(source: Source, project: DiskProject, problems: Problems) -> bytes | None:
    from concerto.syntax.dump import dump
    from concerto.syntax.parser import parse

    tree = parse(source, problems)
    return None if problems.errors else (dump(tree).rstrip("\n") + "\n").encode()


def _emit_schemas(source: Source, project: DiskProject, problems: Problems) -> bytes | None:
    import json

    module = load_module(source, project, problems)
    if module is None:
        return None
    schemas = [schema for tool in module.tools for schema in tool.tool_schemas]
    schemas += [schema for server in module.mcp_servers for schema in server.tool_schemas]
    return (json.dumps(schemas, indent=2, ensure_ascii=False) + "\n").encode()


EMITTERS: dict[str, Callable[[Source, DiskProject, Problems], bytes | None]] = {
    "ir": _emit_ir,
    "ast": _emit_ast,
    "schemas": _emit_schemas,
}
_SUFFIXES = {"ir": IR_SUFFIX, "ast": ".ast", "schemas": ".schemas.json"}


def _write(outputs: dict[str, bytes], source: Path, out: str | None) -> None:
    if out is not None and len(outputs) > 1:
        raise Failure("`-o` takes one output: ask `--emit` for one kind")
    for suffix, content in outputs.items():
        if out == STANDARD_OUTPUT:
            sys.stdout.buffer.write(content)
            continue
        path = Path(out) if out is not None else source.with_suffix(suffix)
        if path.is_dir():
            path = path / source.with_suffix(suffix).name
        try:
            write_atomically(path, content)
        except OSError as error:
            raise cannot("write", path, error) from None
