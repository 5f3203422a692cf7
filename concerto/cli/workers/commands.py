"""The commands of submitted runs and their workers, as click sees them."""

from __future__ import annotations

from typing import Any

import click

from concerto.cli.options import (
    NameType,
    Number,
    ProgramCommand,
    allow_option,
    deny_option,
    environment_option,
    handlers_option,
    mock_option,
    store_option,
)


@click.command()
@click.argument("run_id", metavar="RUN")
@click.argument("answers", metavar="CALL=JSON...", nargs=-1)
@click.option("--effect", "effects", multiple=True, metavar="E", help="Decide on an effect as `resume` does:")
@click.option("--happened", multiple=True, metavar="JSON", help="it was done and gave this;")
@click.option("--repeat", is_flag=True, help="it was not done, and is to be;")
@click.option("--fail", multiple=True, metavar="TEXT", help="it failed so.")
@store_option
def answer(run_id: str, store: str | None, **given: Any) -> int:
    """Answer what a submitted run waits for; a worker goes on with it."""
    from concerto.cli.workers import working

    return working.answer(store, run_id, **given)


_LONGEST, _HIGHEST = 10 * 366 * 86400.0, 1_000_000
"""Seconds of a delay, and priorities either way: what a database takes, and more than anybody needs."""
_queue_option = click.option(
    "--queue", type=NameType(), default="default", show_default=True, metavar="Q", help="Its queue."
)


@click.command(cls=ProgramCommand)
@click.argument("target", metavar="[FILE, IR or DIR]", default=".")
@click.argument("args", metavar="[-- ARGS]", nargs=-1)
@_queue_option
@click.option(
    "--id", "key", type=NameType(), metavar="K", help="Submitted under this id already, it is not again."
)
@click.option("--delay", type=Number(0, _LONGEST), default=0.0, metavar="S", help="Seconds to wait first.")
@click.option(
    "--priority",
    type=click.IntRange(-_HIGHEST, _HIGHEST),
    default=0,
    metavar="N",
    help="Higher ones go first; default: 0.",
)
@click.option("--every", "cron", metavar="CRON", help="Again and again, in UTC: '*/5 * * * *'.")
@mock_option
@allow_option
@deny_option
@click.option("--timeout", type=Number(min=0, min_open=True), metavar="S", help="As for `run`.")
@click.option("--max-usd", type=Number(min=0), metavar="X", help="As for `run`.")
@click.option("--max-tokens", type=click.IntRange(min=0), metavar="N", help="As for `run`.")
@store_option
def submit(target: str, **given: Any) -> int:
    """Let a worker run a program: its run waits in the store, and its id is printed."""
    from concerto.cli.workers import working

    return working.submit(target, **given)


@click.command()
@click.option(
    "--queue",
    "queues",
    type=NameType(),
    multiple=True,
    metavar="Q",
    help="A queue to serve; default: `default`.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    metavar="N",
    help="Runs at a time.",
)
@click.option(
    "--grace",
    type=Number(min=0),
    default=30.0,
    show_default=True,
    metavar="S",
    help="Seconds that runs may go on when the worker is told to stop.",
)
@handlers_option
@environment_option
@store_option
def worker(**given: Any) -> int:
    """Go on with submitted runs, until it is told to stop."""
    from concerto.cli.workers import working

    return working.work(**given)


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@store_option
@click.pass_context
def queues(context: click.Context, as_json: bool, store: str | None) -> int:
    """The queues of submitted runs and their workers, and schedules."""
    if context.invoked_subcommand is not None:
        return 0
    from concerto.cli.workers import working

    return working.queues(store, as_json=as_json)


@queues.command(name="limit")
@click.argument("queue", type=NameType())
@click.option(
    "--running", "running_at_once", type=click.IntRange(min=1), metavar="N", help="So many at a time."
)
@click.option("--starts", type=click.IntRange(min=1), metavar="N", help="So many begin in S seconds.")
@click.option("--seconds", type=Number(min=0, min_open=True), default=1.0, show_default=True, metavar="S")
@store_option
def limit_queue(queue: str, store: str | None, **limits: Any) -> int:
    """Limit a queue over all its workers; without options it has no limit."""
    from concerto.cli.workers import working

    return working.limit(store, queue, **limits)


@queues.command()
@click.argument("schedule")
@store_option
def unschedule(schedule: str, store: str | None) -> int:
    """Submit a schedule's program no more."""
    from concerto.cli.workers import working

    return working.unschedule(store, schedule)
