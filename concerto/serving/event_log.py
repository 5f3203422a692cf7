"""The numbered events of what goes on in the background: kept before anybody is told, and read
from any number on, by any process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from concerto.json_data import Json

if TYPE_CHECKING:
    from concerto.serving.response_store import ResponseStore

_LOOKS_EVERY_SECONDS = 0.5
"""For what another process has written."""


class EventLog:
    def __init__(self, store: ResponseStore) -> None:
        self._store = store
        self._readers: dict[str, asyncio.Event] = {}

    def add(self, owner: str, number: int, event: Json) -> None:
        """Keep an event, unless it was kept before a crash."""
        self._store.add_events(owner, number, [json.dumps(event)])
        self.tell(owner)

    def tell(self, owner: str) -> None:
        """Wake who waits for something new."""
        reader = self._readers.pop(owner, None)
        if reader is not None:
            reader.set()

    async def read(
        self, owner: str, after: int, is_over: Callable[[], bool]
    ) -> AsyncIterator[tuple[int, dict[str, Json]]]:
        """The events behind a number, with theirs, as long as more may come."""
        while True:
            over = is_over()
            found = self._store.events(owner, after)
            for number, event in found:
                after = number
                yield number, json.loads(event)
            if found:
                continue
            if over:
                return
            reader = self._readers.setdefault(owner, asyncio.Event())
            try:
                async with asyncio.timeout(_LOOKS_EVERY_SECONDS):
                    await reader.wait()
            except TimeoutError:
                pass
