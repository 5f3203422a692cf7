"""How a run ends: by itself, by Ctrl-C, or because its time is up."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable

from concerto.records import record
from concerto.stacks import start_deep
from concerto.vm.values import Cancelled, Value


@record
class Ended:
    """With the value of `main`, or with an error, or because it was stopped. What is `stuck` was told to
    stop and did not."""

    value: Value = None
    error: BaseException | None = None
    interrupted: bool = False
    timed_out: bool = False
    stuck: bool = False


def run_to_end(
    start: Callable[[], Value], stop: Callable[[], None], timeout: float | None, grace: float | None = None
) -> Ended:
    """Call `start` on a stack that bears deep recursion; Ctrl-C and the timeout call `stop` from here.

    With a `grace`, work that goes on for longer than so many seconds after `stop` is left behind.
    """
    ended = Ended()
    # Not the thread's own end: Python 3.11 takes a thread for ended once its `join` was interrupted.
    done = threading.Event()

    def body() -> None:
        try:
            ended.value = start()
        except BaseException as error:
            ended.error = error
        finally:
            done.set()

    thread = start_deep(body, "concerto")
    try:
        if not done.wait(timeout):
            ended.timed_out = True
            stop()
            ended.stuck = not done.wait(grace)
    except KeyboardInterrupt:
        ended.interrupted = True
        stop()
        done.wait()
    if not ended.stuck:
        thread.join()
    ended.interrupted = ended.interrupted or (_is_stop(ended.error) and not ended.timed_out)
    return ended


async def run_to_end_here(
    start: Callable[[], Awaitable[Value]], stop: Callable[[], None], timeout: float | None
) -> Ended:
    """As `run_to_end`, in the caller's event loop. Cancellation of the caller goes through."""
    import asyncio

    ended = Ended()

    def time_is_up() -> None:
        ended.timed_out = True
        stop()

    # A thread, because the program may keep the loop busy.
    timer = threading.Timer(timeout, time_is_up) if timeout is not None else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        ended.value = await start()
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if not ended.timed_out and task is not None and task.cancelling():
            raise
        ended.error, ended.interrupted = error, not ended.timed_out
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        ended.error, ended.interrupted = error, _is_stop(error) and not ended.timed_out
    finally:
        if timer is not None:
            timer.cancel()
    return ended


def _is_stop(error: BaseException | None) -> bool:
    """Whether a run ended because it was told to."""
    if error is None or isinstance(error, Exception):
        return False
    from asyncio import CancelledError

    return isinstance(error, Cancelled | CancelledError | KeyboardInterrupt)
