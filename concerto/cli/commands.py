"""The command line as click sees it: names, options and help texts. The work is done in other modules,
which are imported when their command runs."""

from __future__ import annotations

from typing import Any

import click

from concerto.cli.options import (
    NameType,
    Number,
    ProgramCommand,
    allow_option,
    answer_option,
    deny_option,
    environment_option,
    handlers_option,
    mock_option,
    store_option,
)
from concerto.cli.workers import commands as workers
from concerto.diagnostics import FORMATS, suggest
from concerto.version import __version__
from concerto.vocabulary.providers import DEFAULT_CONNECTIONS

_format_option = click.option(
    "--format",
    "format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How problems are reported.",
)
_trace_option = click.option(
    "--trace", metavar="F", help="Write a JSON line to F for all that the run asks of the world."
)
_otlp_option = click.option(
    "--otlp", metavar="URL", help="Send spans and metrics to this OpenTelemetry collector."
)


_target_argument = click.argument("target", metavar="[FILE or DIR]", default=".")
_targets_argument = click.argument("targets", metavar="[FILE or DIR]...", nargs=-1)
_HERE = (".",)


_ELSEWHERE = {
    **dict.fromkeys(("new", "create"), "concerto init"),
    **dict.fromkeys(("exec", "start"), "concerto run"),
    **dict.fromkeys(("eval", "shell", "console"), "concerto repl"),
    **dict.fromkeys(("dev", "server"), "concerto serve"),
    **dict.fromkeys(("format", "formatter"), "concertoc fmt"),
    **dict.fromkeys(("compile",), "concertoc build"),
    **dict.fromkeys(("lint", "typecheck"), "concertoc check"),
    "help": "concerto --help",
    "version": "concerto --version",
}
"""What commands of other tools are called here."""


class _Commands(click.Group):
    """A group that knows what was meant by a command that it does not have."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            ctx.fail(f"No such command {name!r}.{self._advice(name)}")
        return super().resolve_command(ctx, args)

    def _advice(self, name: str) -> str:
        other = concerto_command if self is concertoc_command else concertoc_command
        if name.endswith((".conc", ".conc-ir")):
            usual = "run" if self is concerto_command else "check"
            return f" Did you mean '{self.name} {usual} {name}'?"
        if name in other.commands:
            return f" Did you mean '{other.name} {name}'?"
        if name in _ELSEWHERE:
            return f" Did you mean '{_ELSEWHERE[name]}'?"
        near = suggest(name, self.commands)
        return f" Did you mean '{self.name} {near}'?" if near else ""


@click.group(name="concertoc", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="concertoc")
def concertoc_command() -> None:
    """The Concerto compiler."""


@concertoc_command.command()
@_target_argument
@click.option("-o", "--out", metavar="OUT", help="Where to write; `-` is standard output.")
@click.option(
    "--emit", default="ir", show_default=True, metavar="KINDS", help="ir, ast, schemas, pyi; comma-separated."
)
@click.option("--watch", "watching", is_flag=True, help="Build again after every change.")
@_format_option
def build(target: str, out: str | None, emit: str, watching: bool, format: str) -> int:  # noqa: A002
    """Compile a program to IR."""
    from concerto.cli import building

    kinds = tuple(dict.fromkeys(kind.strip() for kind in emit.split(",")))
    for kind in kinds:
        if kind not in building.EMITTERS:
            known = ", ".join(building.EMITTERS)
            raise click.BadParameter(f"{kind!r} is none of {known}", param_hint="--emit")
    options = building.BuildOptions(out, kinds, format)
    return building.watch(target, options) if watching else building.build(target, options)


@concertoc_command.command()
@_targets_argument
@click.option("--trust", is_flag=True, help="Also what `[trust]` would find, where there is none.")
@_format_option
def check(targets: tuple[str, ...], trust: bool, format: str) -> int:  # noqa: A002
    """Report problems without writing anything."""
    from concerto.cli import building

    return building.check(targets or _HERE, format, trust=trust)


@concertoc_command.command()
@_target_argument
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def audit(target: str, as_json: bool) -> int:
    """List sources, sinks, guards, agents, and what untrusted text may cause."""
    from concerto.cli import auditing

    return auditing.audit(target, as_json=as_json)


@concertoc_command.command()
@click.argument("target", metavar="FILE")
def dis(target: str) -> int:
    """Show the IR of a program, compiled or not, for people."""
    from concerto.cli import inspecting

    return inspecting.show_disassembly(target)


@concertoc_command.command()
@click.argument("code", required=False)
def explain(code: str | None) -> int:
    """Explain a diagnostic code, with a wrong and a right program."""
    from concerto.cli import explaining

    return explaining.show_explanation(code)


@concertoc_command.command()
@_targets_argument
@click.option("--check", is_flag=True, help="Change nothing; fail if something would change.")
def fmt(targets: tuple[str, ...], check: bool) -> int:
    """Format programs in place; `-` formats standard input."""
    from concerto.cli import formatting

    return formatting.format_files(targets or _HERE, check=check)


@concertoc_command.command()
@_targets_argument
@click.option("--dry-run", is_flag=True, help="Show the changes and make none; fail if there are some.")
def fix(targets: tuple[str, ...], dry_run: bool) -> int:
    """Apply the help of problems that says what to write, format the result and check it."""
    from concerto.cli import formatting

    return formatting.fix_files(targets or _HERE, dry_run=dry_run)


@click.group(name="concerto", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="concerto")
def concerto_command() -> None:
    """Run Concerto programs."""


@concerto_command.command(cls=ProgramCommand)
@click.argument("target", metavar="[FILE, IR or DIR]", default=".")
@click.argument("args", metavar="[-- ARGS]", nargs=-1)
@click.option("--json", is_flag=True, help="Emits as JSON lines; `print` goes to standard error.")
@click.option("--quiet", is_flag=True, help="Hide the events of the runtime.")
@click.option("--debug", is_flag=True, help="Show Python tracebacks too.")
@mock_option
@allow_option
@deny_option
@handlers_option
@answer_option
@environment_option
@click.option("--timeout", type=Number(min=0, min_open=True), metavar="S", help="Seconds for the run.")
@click.option("--max-usd", type=Number(min=0), metavar="X", help="Budget of the run in USD.")
@click.option("--max-tokens", type=click.IntRange(min=0), metavar="N", help="Budget of the run in tokens.")
@click.option(
    "--max-memory",
    "max_memory_mb",
    type=Number(min=0, min_open=True),
    metavar="MB",
    help="Memory that the run may take.",
)
@_trace_option
@_otlp_option
@store_option
@click.option(
    "--wait", is_flag=True, default=None, help="Stop, to be resumed, where nobody answers an awaited emit."
)
@click.option("--record", metavar="F", help="Write a recording of the run to F.")
@click.option("--replay", metavar="F", help="Answer everything from the recording F; nothing is done.")
def run(target: str, **given: Any) -> int:
    """Compile a program if needed and run its `main`; `-` is a program on standard input."""
    from concerto.cli import running

    return running.run(target, **given)


@concerto_command.command()
@click.argument("file", metavar="F")
def trace(file: str) -> int:
    """Show a trace that `run --trace F` wrote, as a tree."""
    from concerto.cli import tracing

    return tracing.show(file)


@concerto_command.command()
@click.argument("run_id", metavar="RUN")
@click.option("--result", "results", multiple=True, metavar="CALL=JSON", help="Result of one call.")
@click.option(
    "--effect", "effects", multiple=True, metavar="E", help="Decide on an effect of unknown outcome:"
)
@click.option("--happened", multiple=True, metavar="JSON", help="it was done and gave this;")
@click.option("--repeat", is_flag=True, help="it was not done, and is to be;")
@click.option("--fail", multiple=True, metavar="TEXT", help="it failed so.")
@handlers_option
@answer_option
@environment_option
@_trace_option
@_otlp_option
@store_option
def resume(run_id: str, **given: Any) -> int:
    """Go on with a run that was interrupted or waits, with the options that it was given."""
    from concerto.cli import runs

    return runs.resume(run_id, **given)


@concerto_command.command()
@click.argument("target", metavar="RUN or F")
@store_option
def replay(target: str, store: str | None) -> int:
    """Show a recorded run again: the same output, and nothing is done."""
    from concerto.cli import runs

    return runs.replay(target, store=store)


@concerto_command.command()
@click.argument("target", metavar="[RUN or F]", required=False)
@click.option("-o", "--output", metavar="F", help="Write the page to F, and open no browser.")
@click.option("--serve", "serving", is_flag=True, help="Serve pages on this machine that follow the runs.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="A port for --serve.")
@store_option
def view(target: str | None, output: str | None, serving: bool, port: int, store: str | None) -> int:
    """Look at a run, a recording or a trace: one HTML file with all that is known, which needs no network.
    With --serve pages that are kept up to date, of one run or of all of the project."""
    from concerto.cli import runs

    if serving and output is not None:
        raise click.UsageError("`--serve` writes no file: it excludes `-o`")
    if serving:
        return runs.serve_views(target, store=store, port=port)
    if target is None:
        raise click.UsageError("expected a run, a recording or a trace, or `--serve`")
    return runs.view(target, store=store, output=output)


@concerto_command.command()
@click.argument("target", metavar="RUN or F")
@click.option("--at", required=True, metavar="E", help="The effect from which on it goes another way.")
@click.option("--answer", metavar="JSON", help="What that effect gives; of a model call its text.")
@click.option("--model", metavar="M", help="The model that is asked from there on.")
@click.option("--program", metavar="FILE", help="The program that goes on.")
@handlers_option
@environment_option
@_trace_option
@_otlp_option
@store_option
def fork(target: str, **given: Any) -> int:
    """A new run that has done what another one had, and goes on from there."""
    from concerto.cli import runs

    return runs.fork(target, **given)


@concerto_command.group(name="runs", invoke_without_command=True)
@click.option(
    "--status", metavar="S", help="Only those that are running, waiting, unknown, interrupted, done, …"
)
@click.option("--all", "everywhere", is_flag=True, help="Those of every project.")
@click.option("--json", "as_json", is_flag=True, help="As a JSON list.")
@store_option
@click.pass_context
def stored_runs(
    context: click.Context, status: str | None, everywhere: bool, as_json: bool, store: str | None
) -> int:
    """The runs of this project, and what can be done with them."""
    if context.invoked_subcommand is not None:
        return 0
    from concerto.cli import runs

    return runs.list_runs(store, status=status, everywhere=everywhere, as_json=as_json)


@stored_runs.command(name="show")
@click.argument("run_id", metavar="RUN")
@click.option("--content", is_flag=True, help="With what was asked and answered.")
@store_option
def show_run(run_id: str, content: bool, store: str | None) -> int:
    """Show the effects of a run as a tree."""
    from concerto.cli import runs

    return runs.show(store, run_id, content=content)


@stored_runs.command(name="cancel")
@click.argument("run_id", metavar="RUN")
@store_option
def cancel_run(run_id: str, store: str | None) -> int:
    """Cancel a run; one in another process stops at its next effect."""
    from concerto.cli import runs

    return runs.cancel(store, run_id)


@stored_runs.command(name="prune")
@click.option(
    "--older", metavar="T", help="Those that ended so long ago; default: `[runs] prune_days`, or 30d."
)
@store_option
def prune_runs(older: str | None, store: str | None) -> int:
    """Delete runs that have ended."""
    from concerto.cli import runs

    return runs.prune(store, older)


@stored_runs.command(name="export")
@click.argument("run_id", metavar="RUN")
@click.option("-o", "--output", metavar="F", help="The file; default: RUN.conc-run.")
@store_option
def export_run(run_id: str, output: str | None, store: str | None) -> int:
    """Write a run into a file of its own."""
    from concerto.cli import runs

    return runs.export(store, run_id, output)


@stored_runs.command(name="upgrade")
@click.argument("run_id", metavar="RUN")
@click.option("--to", "target", required=True, metavar="FILE", help="The program that is to go on.")
@store_option
def upgrade_run(run_id: str, target: str, store: str | None) -> int:
    """Try new code against a run's journal, and let it go on if nothing differs."""
    from concerto.cli import runs

    return runs.upgrade(store, run_id, target)


stored_runs.add_command(workers.answer)
for _command in (workers.submit, workers.worker, workers.queues):
    concerto_command.add_command(_command)


@concerto_command.command(name="test")
@_target_argument
@click.option("--filter", "filter", default="", metavar="S", help="Only tests with S in their file or name.")
@click.option("--junit", metavar="F", help="Write a JUnit report to F.")
@click.option(
    "--timeout",
    type=Number(min=0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="S",
    help="Seconds for each test.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=8, show_default=True, help="Tests at a time.")
@click.option("--record", is_flag=True, help="Make or renew the recordings of `@replay`, live.")
@environment_option
def test_programs(
    target: str,
    filter: str,  # noqa: A002
    junit: str | None,
    timeout: float,
    jobs: int,
    record: bool,
    environment: str | None,
) -> int:
    """Run the `@test` functions of programs, each in a machine of its own."""
    from concerto.cli import testing

    return testing.test(
        target,
        filter=filter,
        junit=junit,
        timeout=timeout,
        jobs=jobs,
        environment=environment,
        record=record,
    )


@concerto_command.command()
@click.argument("name")
@click.option(
    "--provider",
    type=click.Choice(DEFAULT_CONNECTIONS),
    default="openai",
    show_default=True,
    help="Whose models the first agent uses.",
)
@click.option("--library", is_flag=True, help="A Python package that ships modules, in place of a program.")
def init(name: str, provider: str, library: bool) -> int:
    """Make a new project that runs and has a test."""
    from concerto.cli import starting

    return starting.init_library(name) if library else starting.init(name, provider)


@concerto_command.command()
@click.argument("name", required=False)
@_target_argument
def doc(name: str | None, target: str) -> int:
    """Show the documentation of a name in the library or the program."""
    from concerto.cli import documenting

    return documenting.show_documentation(name, target)


@concerto_command.command()
@mock_option
def repl(mock: bool) -> int:
    """Try expressions, statements and declarations one by one."""
    from concerto.cli.repl import loop

    return loop.repl(mock=mock)


@concerto_command.command()
def lsp() -> int:
    """Serve editors: the language server, on standard input and output."""
    import gc

    from concerto.cli.reporting import Failure

    # Nobody waits for it while the server starts or answers: it collects at rest.
    gc.disable()
    try:
        from concerto.language_server.server import serve
    except ImportError:
        raise Failure("the language server needs `pip install 'concerto-lang[lsp]'`") from None
    serve()
    return 0


@concerto_command.command(name="serve")
@click.argument("target", metavar="[FILE, IR or DIR]", default=".")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 is any that is free."
)
@mock_option
@allow_option
@deny_option
@handlers_option
@environment_option
@click.option(
    "--queue", type=NameType(), metavar="Q", help="Workers of this queue do what goes on in the background."
)
@store_option
def serve_program(target: str, host: str, port: int, **given: Any) -> int:
    """Serve a program over HTTP: its agents as models of the Responses API."""
    from concerto.cli import serving

    return serving.serve(target, host, port, **given)


@concerto_command.group()
def mcp() -> None:
    """MCP servers: their interfaces, and programs as servers."""


_debug_option = click.option("--debug", is_flag=True, help="Show what servers say besides their answers.")


@mcp.command()
@click.argument("name")
@_target_argument
@click.option("--minimal", is_flag=True, help="Change only what does not fit any more.")
@environment_option
@_debug_option
def sync(name: str, target: str, minimal: bool, environment: str | None, debug: bool) -> int:
    """Write a server's typed `mcp` block, or bring it up to date."""
    from concerto.cli import contracts

    return contracts.sync(name, target, minimal=minimal, environment=environment, debug=debug)


@mcp.command()
@click.argument("names", metavar="[NAMES]...", nargs=-1)
@click.option("--project", "target", default=".", metavar="FILE or DIR", help="The program; default: here.")
@environment_option
@_debug_option
def lock(names: tuple[str, ...], target: str, environment: str | None, debug: bool) -> int:
    """Keep what the servers offer now in `Concerto.lock`."""
    from concerto.cli import contracts

    return contracts.lock(names, target, environment=environment, debug=debug)


@mcp.command(name="check")
@_target_argument
@click.option("--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@environment_option
@_debug_option
def check_servers(target: str, format: str, environment: str | None, debug: bool) -> int:  # noqa: A002
    """Compare declarations and `Concerto.lock` with the servers as they are; status 1 if something broke."""
    from concerto.cli import contracts

    return contracts.check(target, format=format, environment=environment, debug=debug)


@mcp.command()
@click.argument("target", metavar="FILE, IR or DIR")
@click.option("--http", "address", metavar="HOST:PORT", help="Serve over HTTP at /mcp; default: stdio.")
@mock_option
@allow_option
@deny_option
@click.option("--handlers", metavar="M.PY", help="Python file whose HANDLERS execute tools without a body.")
@environment_option
@store_option
@click.option("--debug", is_flag=True, help="Show Python tracebacks too.")
def serve(target: str, address: str | None, **given: Any) -> int:
    """Offer a program's tools and agents as an MCP server."""
    from concerto.cli import serving_mcp

    return serving_mcp.serve(target, address, quiet=True, **given)
