"""The commands `concerto` and `concertoc`.

What every start pays for is kept small: a plain `concerto run FILE` goes straight to the runner,
everything else through click.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path

from concerto.cli.reporting import FAILED, INTERRUPTED, USAGE, Failure, report
from concerto.files import is_of_output


def concerto() -> None:
    """The console script `concerto`."""
    _exit_with(lambda: run_concerto(sys.argv[1:]))


def concertoc() -> None:
    """The console script `concertoc`."""
    _exit_with(lambda: run_concertoc(sys.argv[1:]))


def run_concerto(arguments: list[str]) -> int:
    match arguments:
        case ["run", target] if not target.startswith("-"):
            # Nothing that a start makes is garbage yet; `run` ends the pause.
            gc.disable()
            from concerto.cli.running import run

            return run(target)
        case _:
            from concerto.cli.commands import concerto_command

            return invoke(concerto_command, "concerto", arguments)


def run_concertoc(arguments: list[str]) -> int:
    from concerto.cli.commands import concertoc_command

    return invoke(concertoc_command, "concertoc", arguments)


def invoke(command: Callable[..., object], name: str, arguments: list[str]) -> int:
    """Lets click read the arguments; the exit status is what the command returns."""
    import click

    try:
        status = command(args=arguments, prog_name=name, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as without:
        without.show()
        return USAGE
    except click.ClickException as mistake:
        report(mistake.format_message().replace("\n", " "))
        return USAGE
    except click.Abort:
        return _interrupted()
    return status if isinstance(status, int) else 0


def _exit_with(command: Callable[[], int]) -> None:
    _prepare_streams()
    try:
        status = command()
        sys.stdout.flush()
    except Failure as failure:
        report(str(failure))
        status = failure.status
    except KeyboardInterrupt:
        status = _interrupted()
    except OSError as error:
        if is_of_output(error):
            _give_up_output(error)
        else:
            _confess(error)
        status = FAILED
    except Exception as error:
        _confess(error)
        status = FAILED
    sys.exit(status)


def _give_up_output(error: OSError) -> None:
    """Say that the output cannot be written, but not to whoever has left it."""
    # What is still kept goes nowhere, or Python would try and complain once more while it shuts down.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return
    try:
        report(f"cannot write the output: {(error.strerror or str(error)).lower()}")
    except OSError:
        os.dup2(nowhere, sys.stderr.fileno())


def _confess(error: Exception) -> None:
    """An error that is ours, in one line; raised for those who want to see where it comes from."""
    if "--debug" in sys.argv or os.environ.get("CONCERTO_DEBUG"):
        raise error
    what = f"{type(error).__name__}: {error}"
    report(f"internal error: {what} (CONCERTO_DEBUG=1 shows where; please report it)")


def _prepare_streams() -> None:
    """Output that was closed goes nowhere; what an encoding lacks is written as an escape."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  kept open
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _interrupted() -> int:
    report("interrupted")
    return INTERRUPTED
