"""`concertoc build` and `concertoc check`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from concerto.cli.reporting import OK, USAGE, Failure, cannot, show_problems
from concerto.cli.targets import entry_of, source_file, source_files
from concerto.compiler.disk import (
    IR_SUFFIX,
    SOURCE_SUFFIX,
    DiskProject,
    programs_first,
    read_bytes,
    read_program,
    sources_below,
    state_at,
)
from concerto.compiler.driver import OpenedProgram, load_module, open_program
from concerto.compiler.pipeline import analyze
from concerto.diagnostics import Problems
from concerto.files import write_atomically
from concerto.ir.module import ModuleIR
from concerto.manifest import ManifestError
from concerto.wording import counted

STANDARD_OUTPUT = "-"
_POLL_SECONDS = 0.3


@dataclass(frozen=True)
class BuildOptions:
    """`emit` names what is written: kinds of `EMITTERS`."""

    out: str | None = None
    emit: tuple[str, ...] = ("ir",)
    format: str = "text"


def build(target: str, options: BuildOptions) -> int:
    """Compiles the programs of a file or folder and writes what was asked for; of a program with an error,
    nothing."""
    status, _ = _build_all(target, options)
    return status


def watch(target: str, options: BuildOptions) -> int:
    """Builds now and after every change of a file that the programs depend on; ends when interrupted."""
    while True:
        _, looked_at = _build_all(target, options)
        print(f"watching {counted(len(looked_at), 'file')}", file=sys.stderr)
        while all(state_at(path) == data for path, data in looked_at.items()):
            time.sleep(_POLL_SECONDS)


def check(targets: tuple[str, ...], format: str = "text", *, trust: bool = False) -> int:  # noqa: A002  the option's word
    """Reports the problems of programs, of a folder's in all its files; with `trust` also what `[trust]`
    would find where there is none."""
    problems = Problems()
    for target in targets:
        try:
            paths = _checked_files(target)
        except ManifestError as broken:
            problems.add_all(broken.problems)
            continue
        seen: set[Path] = set()
        for path in paths:
            # What a program before it uses was checked with it.
            if path.absolute() not in seen:
                problems.add_all(_problems_of(path, seen, trust=trust))
    show_problems(problems, format)
    return USAGE if problems.errors else OK


def _checked_files(target: str) -> list[Path]:
    """A file, or those of a folder: first the programs, so that modules are seen from there."""
    folder = Path(target)
    if not folder.is_dir():
        return [source_file(target)]
    entry_of(folder)  # A manifest that is wrong is told.
    files = programs_first(sources_below(folder))
    if not files:
        raise Failure(f"there is no program (`{SOURCE_SUFFIX}`) in `{target}`")
    return files


def _problems_of(path: Path, seen: set[Path], *, trust: bool) -> Problems:
    problems = Problems()
    try:
        program = _open(path, problems)
    except ManifestError as broken:
        return broken.problems
    program.project.previews_trust = trust
    analyze(program.source, program.project, problems)
    seen.update(program.project.looked_at)
    return problems


def _build_all(target: str, options: BuildOptions) -> tuple[int, dict[Path, bytes | None]]:
    """The exit status, and what would have to change for another result."""
    problems = Problems()
    looked_at: dict[Path, bytes | None] = {}
    try:
        paths = source_files(target)
        if options.out is not None and len(paths) * len(options.emit) > 1:
            raise Failure("`-o` takes one output: name one program, and one kind for `--emit`")
        for path in paths:
            looked_at |= _build(path, options, problems)
    except ManifestError as broken:
        looked_at[broken.file] = read_bytes(broken.file)
        problems.add_all(broken.problems)
    show_problems(problems, options.format)
    return USAGE if problems.errors else OK, looked_at


def _build(path: Path, options: BuildOptions, problems: Problems) -> dict[Path, bytes | None]:
    """What was looked at for it."""
    found = Problems()
    program = _open(path, found)
    outputs = _outputs(program, options.emit, found)
    problems.add_all(found)
    if outputs is not None:
        _write(outputs, path, options.out)
    return program.project.looked_at


def _open(path: Path, problems: Problems) -> OpenedProgram:
    try:
        file = read_program(path)
    except OSError as error:
        raise cannot("read", path, error) from None
    return open_program(file, problems)


def _outputs(program: OpenedProgram, kinds: tuple[str, ...], problems: Problems) -> dict[str, bytes] | None:
    """The content of each output by its suffix, or None if the program has errors."""
    outputs = {}
    for kind in kinds:
        content = EMITTERS[kind](program, problems)
        if content is None:
            return None
        outputs[_SUFFIXES[kind]] = content
    return outputs


def _emit_ir(program: OpenedProgram, problems: Problems) -> bytes | None:
    from concerto.ir.codec import encode

    module = load_module(program, problems)
    return encode(_portable(module, _roots(program.project))) if module is not None else None


def _roots(project: DiskProject) -> list[Path]:
    return [*project.roots, *[folder.parent for folder in project.package_folders.values()]]


def _portable(module: ModuleIR, roots: Iterable[Path]) -> ModuleIR:
    """The same source gives the same bytes, whatever folder it is built from."""
    folders = [root.absolute() for root in roots]

    def inside(path: str) -> str:
        absolute = Path(path).absolute()
        root = next((each for each in folders if each in absolute.parents), None)
        return path if root is None else absolute.relative_to(root).as_posix()

    files = [replace(file, path=inside(file.path)) for file in module.files]
    return replace(module, source_file=inside(module.source_file), files=files)


def _emit_ast(program: OpenedProgram, problems: Problems) -> bytes | None:
    from concerto.syntax.dump import dump
    from concerto.syntax.parser import parse

    tree = parse(program.source, problems)
    return None if problems.errors else (dump(tree).rstrip("\n") + "\n").encode()


def _emit_schemas(program: OpenedProgram, problems: Problems) -> bytes | None:
    import json

    module = load_module(program, problems)
    if module is None:
        return None
    schemas = [schema for tool in module.tools for schema in tool.tool_schemas]
    schemas += [schema for server in module.mcp_servers for schema in server.tool_schemas]
    return (json.dumps(schemas, indent=2, ensure_ascii=False) + "\n").encode()


def _emit_stub(program: OpenedProgram, problems: Problems) -> bytes | None:
    from concerto.embedding.stubs import stub_of

    module = load_module(program, problems)
    return stub_of(module).encode() if module is not None else None


EMITTERS: dict[str, Callable[[OpenedProgram, Problems], bytes | None]] = {
    "ir": _emit_ir,
    "ast": _emit_ast,
    "schemas": _emit_schemas,
    "pyi": _emit_stub,
}
_SUFFIXES = {"ir": IR_SUFFIX, "ast": ".ast", "schemas": ".schemas.json", "pyi": ".pyi"}


def _write(outputs: dict[str, bytes], source: Path, out: str | None) -> None:
    for suffix, content in outputs.items():
        if out == STANDARD_OUTPUT:
            sys.stdout.buffer.write(content)
            continue
        path = Path(out) if out is not None else source.with_suffix(suffix)
        try:
            if path.is_dir():
                path = path / source.with_suffix(suffix).name
            if path.exists() and path.samefile(source):
                raise Failure(f"`-o {out}` would overwrite the program itself", file=str(source))
            write_atomically(path, content)
        except OSError as error:
            raise cannot("write", path, error) from None
