"""What event loops say of exceptions that nobody looked at."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def complaints_of_asyncio() -> Iterator[list[str]]:
    """A list that grows by the errors that asyncio logs meanwhile."""
    complaints: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: complaints.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("asyncio").addHandler(handler)
    try:
        yield complaints
    finally:
        logging.getLogger("asyncio").removeHandler(handler)
