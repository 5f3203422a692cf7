"""How a run ends: by itself, by Ctrl-C, or because its time is up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from concerto.stacks import start_deep
from concerto.vm.values import Cancelled, Value


@dataclass
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

    def body() -> None:
        try:
            ended.value = start()
        except BaseException as error:
            ended.error = error

    thread = start_deep(body, "concerto")
    try:
        thread.join(timeout)
        if thread.is_alive():
            ended.timed_out = True
            stop()
            thread.join(grace)
            ended.stuck = thread.is_alive()
    except KeyboardInterrupt:
        ended.interrupted = True
        stop()
        thread.join()
    if isinstance(ended.error, Cancelled | KeyboardInterrupt) and not ended.timed_out:
        ended.interrupted = True
    return ended
