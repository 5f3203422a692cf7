"""Interrupts that have become another exception on their way."""


def was_interrupted(error: BaseException | None) -> bool:
    """Whether an error stands for an interrupt, as Python 3.11 has it while a class is made."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
