"""`concerto run`: compiles if needed, then runs `main`."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from concerto.annotating import TYPE_CHECKING, Any, TextIO
from concerto.cli.reporting import USAGE, Failure, cannot, show_problems
from concerto.compiler.disk import IR_SUFFIX, SOURCE_SUFFIX
from concerto.compiler.driver import load_program
from concerto.diagnostics import Problems
from concerto.files import check_writable, plain_path, state_folder
from concerto.manifest import ManifestError
from concerto.program import Program, Runtime
from concerto.runtime.run.options import RunOptions

if TYPE_CHECKING:
    from pathlib import Path

    from concerto.cli.progress import Progress
    from concerto.manifest.load_cached import ProjectSettings

STANDARD_INPUT = "-"

_NEW_OBJECTS = 5000
"""After how many new objects the collector looks for garbage. Python's 700 costs a program with many branches
a third of its time."""


def run(target: str, **given: Any) -> int:
    """Runs a program, with options as for `prepare`; its exit status is the command's."""
    gc.disable()
    try:
        progress = progress_line(given)
        runtime = prepare(target, watcher=progress, **given)
    finally:
        # What lives now lives to the end: the collector need never look at it.
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS)
        gc.enable()
    if runtime is None:
        return USAGE
    if progress is None:
        return runtime.run().status
    with progress:
        return runtime.run().status


def progress_line(options: Mapping[str, Any]) -> Progress | None:
    """Shown to a person, where nothing else claims the terminal."""
    if any(options.get(each) for each in ("quiet", "json", "debug")) or not sys.stderr.isatty():
        return None
    from concerto.cli.progress import Progress

    return Progress() if os.environ.get("TERM") != "dumb" else None


def prepare(target: str, **given: Any) -> Runtime | None:
    """A program ready to run, or to be used without its `main`; None if it has problems, which are shown.
    Options are as for `prepared`."""
    found = prepared(target, **given)
    if found is None:
        return None
    program, options = found
    if options.replay is None:
        return Runtime(program, options)
    from concerto.journal.recording import BadRecording

    try:
        return Runtime(program, options)
    except BadRecording as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise cannot("read", str(options.replay), error) from None


def prepared(
    target: str, *, environment: str | None = None, to_run: bool = True, quiet: bool = False, **given: Any
) -> tuple[Program, RunOptions] | None:
    """A program and the options of its runs. `environment` is a file of variables, the rest as for
    `run_options`."""
    # Whoever ends this process ends what it has started too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is signal.SIG_DFL:  # `nohup` means what it says.
        signal.signal(hangup, signal.default_int_handler)
    if environment is not None:
        load_environment(environment)
    problems = Problems()
    try:
        from_input = target == STANDARD_INPUT
        program = _read_from_input(problems) if from_input else _load(target, problems, to_run)
        if program is None or not quiet:
            show_problems(problems)
        if program is None:
            return None
    except ManifestError as broken:
        show_problems(broken.problems)
        return None
    if to_run:
        check_arguments(given.get("args", ()), program)
    check_permissions([*given.get("allowed", ()), *given.get("denied", ())], program)
    if given.get("record") is not None:
        try:
            files = given["record"], target
            if all(map(os.path.exists, files)) and os.path.samefile(*files):
                raise Failure(f"`--record {given['record']}` would overwrite the program itself", USAGE)
            check_writable(given["record"])
        except OSError as error:
            raise cannot("write", given["record"], error) from None
    if to_run:
        given["store"] = store_url(given.get("store"), program.project)
    return program, run_options(quiet=quiet, **given)


def store_url(given: str | None, project: ProjectSettings | None) -> str:
    """Where runs are kept: `--store`, `CONCERTO_STORE`, the manifest's `[runs] store`, or the user's own."""
    named = given or os.environ.get("CONCERTO_STORE")
    if named:
        return _checked(named)
    named = None if project is None else project.settings.runs.get("store")
    if named is None or project is None:
        return f"sqlite:{os.path.join(state_folder(), 'runs.db')}"
    scheme, colon, path = _checked(named).partition(":")
    if scheme == "sqlite" or not colon:
        return f"sqlite:{project.folder / os.path.expanduser(path if colon else named)}"
    return str(named)


def _checked(store: str) -> str:
    from concerto.journal.databases import StoreError, check_address

    try:
        check_address(store)
    except StoreError as error:
        raise Failure(str(error), USAGE) from None
    return store


def run_options(
    *,
    allowed: Iterable[str] = (),
    denied: Iterable[str] = (),
    handlers: str | None = None,
    answers: Sequence[str] = (),
    trace: str | None = None,
    **alike: Any,
) -> RunOptions:
    """The options of a command as those of a run; `alike` are those that have the same name and value in
    both.

    `allowed` and `denied` are tools and methods, `handlers` is a Python file, `answers` are `CHANNEL=JSON`,
    `trace` is the file of the run's trace. Raises Failure for what cannot be read.
    """
    functions = {} if handlers is None else read_handlers(plain_path(handlers))
    return RunOptions(
        permissions=dict.fromkeys(allowed, True) | dict.fromkeys(denied, False),
        handlers=functions | read_answers(answers) if answers else functions,
        trace=open_trace(trace),
        interactive=sys.stdin.isatty() and sys.stderr.isatty(),
        echo=True,
        own_process=True,
        **alike,
    )


def check_arguments(given: Sequence[str], program: Program) -> None:
    """A program that takes no arguments would not notice them."""
    entry = program.module.entry
    if given and entry is not None and not program.module.functions[entry].parameters:
        raise Failure(
            f"`main` takes no arguments, found `{given[0]}`; write `fn main(args: Array<String>)`", USAGE
        )


def check_permissions(given: list[str], program: Program) -> None:
    """A misspelt name would protect nothing."""
    if not given:
        return
    from concerto.runtime.run.permission_names import unknown_names

    manifest = program.project.settings if program.project is not None else None
    others = {*manifest.mcp, *manifest.python_tools} if manifest is not None else set()
    for message, near in unknown_names(given, program.module, others):
        raise Failure(message + near, USAGE)


def open_trace(trace: str | None) -> TextIO | None:
    """The file of a trace, empty; it stays open as long as the process lives."""
    if trace is None:
        return None
    try:
        return open(trace, "w", encoding="utf-8")
    except OSError as error:
        raise cannot("write", trace, error) from None


def load(target: str, *, to_run: bool = True) -> Program | None:
    """A program, `to_run` one with a `main`; None if it has problems, which are shown."""
    problems = Problems()
    try:
        program = _load(target, problems, to_run)
    except ManifestError as broken:
        show_problems(broken.problems)
        return None
    show_problems(problems)
    return program


def _load(target: str, problems: Problems, to_run: bool) -> Program | None:
    path = _program_path(target)
    try:
        if path.endswith(IR_SUFFIX):
            from pathlib import Path

            from concerto.compiler.compiled import load_compiled

            return load_compiled(Path(path), problems, to_run=to_run)
        return load_program(path, problems, to_run=to_run, warn_again=False)
    except OSError as error:
        raise cannot("read", error.filename or path, error) from None


def _program_path(target: str) -> str:
    """As `program_file`, which need not be loaded for what plainly is one."""
    if os.path.splitext(target)[1] == SOURCE_SUFFIX and os.path.isfile(target):
        return plain_path(target)
    from concerto.cli.targets import program_file

    return str(program_file(target))


def _read_from_input(problems: Problems) -> Program | None:
    """A program on the standard input, as if it stood in the current folder. It is not kept."""
    from pathlib import Path

    from concerto.compiler.disk import open_project
    from concerto.compiler.pipeline import compile_module, read_source, require_main

    source = read_source(sys.stdin.buffer.read(), "<stdin>", problems)
    module = compile_module(source, open_project(Path.cwd() / "stdin.conc", problems), problems)
    if module is not None:
        require_main(module, source, problems)
    return Program(module) if module is not None and not problems.errors else None


def read_answers(given: Iterable[str]) -> dict[str, Callable[[Any], Any]]:
    """Handlers for answers of the form `CHANNEL=JSON`: those of one channel in turn, the last for ever."""
    import json

    from concerto.runtime.io.emits import GivenAnswers

    answers: dict[str, list[Any]] = {}
    for each in given:
        channel, equals, text = each.partition("=")
        if not equals or not channel:
            raise Failure(f"--answer `{each}`: expected `CHANNEL=JSON`", USAGE)
        try:
            answers.setdefault(channel, []).append(json.loads(text))
        except ValueError:
            hint = f"; a text is written `{channel}={json.dumps(text)}`"
            raise Failure(f"--answer `{each}`: `{text}` is no JSON{hint}", USAGE) from None
    return {channel: GivenAnswers(values) for channel, values in answers.items()}


def read_handlers(path: str | Path) -> dict[str, Callable[[Any], Any]]:
    """The functions in the dictionary `HANDLERS` of a Python file, by the channel that they answer."""
    import runpy

    try:
        names = runpy.run_path(str(path))
    except OSError as error:
        raise cannot("read", path, error) from None
    except Exception as error:
        raise Failure(f"`{path}` failed: {type(error).__name__}: {error}") from error
    handlers = names.get("HANDLERS")
    if not isinstance(handlers, dict) or not all(map(callable, handlers.values())):
        raise Failure(f"`{path}` has no dictionary `HANDLERS` of functions by channel")
    return handlers


def load_environment(path: str | Path) -> None:
    """Sets the variables of a file with `NAME=value` lines; those already set keep their value."""
    path = plain_path(path)
    try:
        with open(path, encoding="utf-8") as lines:
            text = lines.read()
    except OSError as error:
        raise cannot("read", path, error) from None
    except UnicodeDecodeError:
        raise Failure(f"cannot read `{path}`: it is not UTF-8 text") from None
    for name, value in _assignments(text.splitlines(), path):
        os.environ.setdefault(name, value)


def _assignments(lines: Iterable[str], path: str) -> Iterable[tuple[str, str]]:
    for number, line in enumerate(lines, 1):
        line = line.strip().removeprefix("export ").strip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals or not name.strip().isidentifier():
            raise Failure(f"{path}:{number}: expected `NAME=value`")
        value = value.strip()
        quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
        yield name.strip(), value[1:-1] if quoted else value
