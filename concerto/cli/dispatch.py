"""From the arguments of `concerto` and `concertoc` to a command, and from its failures to an exit status.

What every start pays for is kept small: a plain `concerto run FILE` goes straight to the runner,
everything else through click.
"""

from __future__ import annotations

import codecs
import errno
import gc
import os
import sys
from collections.abc import Callable

from concerto.annotating import TYPE_CHECKING
from concerto.cli.reporting import FAILED, USAGE, Failure, report, report_failure
from concerto.files import is_of_output

if TYPE_CHECKING:
    import click


def run_concerto(arguments: list[str]) -> int:
    match arguments:
        case ["run", target] if not target.startswith("-"):
            from concerto.cli.running import run

            return run(target)
        case _:
            from concerto.cli.commands import concerto_command

            return invoke(concerto_command, "concerto", arguments)


def run_concertoc(arguments: list[str]) -> int:
    from concerto.cli.commands import concertoc_command

    return invoke(concertoc_command, "concertoc", arguments)


def invoke(command: click.Command, name: str, arguments: list[str]) -> int:
    """Lets click read the arguments; the exit status is what the command returns."""
    import click

    try:
        if f"_{name.upper()}_COMPLETE" in os.environ:
            command.main(arguments, prog_name=name)
        # Not by `main`, which writes an empty line at an interrupt.
        with command.make_context(name, arguments) as context:
            gc.enable()
            status = command.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as without:
        without.show()
        return USAGE
    except click.ClickException as mistake:
        report_failure(mistake.format_message().replace("\n", " "), arguments)
        return USAGE
    return status if isinstance(status, int) else 0


def status_of(command: Callable[[], int]) -> int:
    """The exit status of a command; why it failed has been said. Interrupts go through."""
    _prepare_streams()
    try:
        status = command()
        sys.stdout.flush()
    except Failure as failure:
        report_failure(str(failure), sys.argv[1:], failure.file)
        return failure.status
    except OSError as error:
        if is_of_output(error):
            _abandon_output(error)
        elif error.errno == errno.ENAMETOOLONG:
            report_failure(f"cannot use `{error.filename}`: file name too long", sys.argv[1:])
            return USAGE
        elif _has_no_folder():
            report_failure("the current folder is gone", sys.argv[1:])
        else:
            _confess(error)
        return FAILED
    except Exception as error:
        from concerto.cli.interrupts import was_interrupted

        if was_interrupted(error):
            raise KeyboardInterrupt from None
        _confess(error)
        return FAILED
    return status


def _has_no_folder() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _abandon_output(error: OSError) -> None:
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
    report_failure(f"internal error: {what} (CONCERTO_DEBUG=1 shows where; please report it)", sys.argv[1:])


_ESCAPES = "concerto-escapes"


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What an encoding lacks, as it may stand in JSON too."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    return "".join([f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4)]), error.end


def _prepare_streams() -> None:
    """What was closed is empty, or goes nowhere; what an encoding lacks is written as an escape."""
    codecs.register_error(_ESCAPES, _escaped)
    # In this order each gets the number of the one that was closed, before a file of ours does.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  kept open
        elif mode == "w" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_ESCAPES)
