"""The console scripts `concerto` and `concertoc`.

Ctrl-C ends them at any moment with status 130 and one line: nothing is loaded here before that holds.
"""

import atexit
import gc
import os
import sys


def concerto() -> None:
    """The console script `concerto`."""
    _exit_with("run_concerto")


def concertoc() -> None:
    """The console script `concertoc`."""
    _exit_with("run_concertoc")


def _exit_with(name: str) -> None:
    # Where Python cannot raise, as in callbacks of its import system, it would print the interrupt and go on.
    usual, sys.unraisablehook = sys.unraisablehook, _quit_or_show
    # Nothing that a start makes is garbage yet; commands end the pause.
    gc.disable()
    try:
        from concerto.cli import dispatch

        status = dispatch.status_of(lambda: getattr(dispatch, name)(sys.argv[1:]))
        _quit_at_interrupts()
    except KeyboardInterrupt:
        _quit()
    except Exception as error:
        from concerto.cli.interrupts import was_interrupted

        if was_interrupted(error):
            _quit()
        raise
    sys.unraisablehook = usual
    sys.exit(status)


def _quit_or_show(unraisable: "sys.UnraisableHookArgs") -> None:
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        _quit()
    sys.__unraisablehook__(unraisable)


def _quit_at_interrupts() -> None:
    """While Python shuts down there is nothing to be raised in."""
    import signal

    signal.signal(signal.SIGINT, lambda *_: _quit())


def _quit() -> None:
    """End the process at once, and what it has started: threads may be in the middle of anything."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        sys.stdout.flush()
        os.write(2, b"error: interrupted\n")
        atexit._run_exitfuncs()
    except Exception:  # There may be no stream, or one in use.
        pass
    os._exit(130)
