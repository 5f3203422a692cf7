"""A run that goes on while people look at it: what is known of it, and what is new since they last asked."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Protocol

from concerto.journal.rows import ENDED, EffectRow
from concerto.journal.store import JournalStore
from concerto.json_data import Json
from concerto.viewer.run_data import RunData, run_head
from concerto.viewer.trace_data import BadTrace, TraceData, trace_line

_SOONEST = 0.2
"""Seconds after which a run is looked at again, however many ask."""


class GrowingRun(Protocol):
    """A run that grows."""

    @property
    def effects(self) -> dict[str, dict[str, Json]]: ...

    @property
    def texts(self) -> list[str]: ...

    @property
    def head(self) -> dict[str, Json]:
        """What is known besides its effects."""

    def look(self) -> Iterable[str] | None:
        """Take what is new: the effects that changed, or None if all is as it was."""


class FollowedRun:
    """A run for all who look at it. Each time that something is new it has another version."""

    def __init__(self, source: GrowingRun) -> None:
        self._source = source
        # What viewers were told by another one, or another server, is of no use here.
        self._name = secrets.token_hex(4)
        self._version, self._looked = 0, -_SOONEST
        self._changed: dict[str, int] = {}
        self._lock = Lock()

    def whole(self) -> dict[str, Json]:
        """All that is known, for a page that then asks for news."""
        with self._lock:
            self._look()
            source = self._source
            return self._told(list(source.effects.values()), source.texts)

    def news(self, name: str, version: int, texts: int) -> dict[str, Json] | None:
        """What is new to a page that knows so much; None for nothing."""
        with self._lock:
            self._look()
            if name != self._name:
                return {"reload": True}
            if version == self._version:
                return None
            # The latest changes are the last ones.
            new: list[str] = []
            for key, changed in reversed(self._changed.items()):
                if changed <= version:
                    break
                new.append(key)
            effects = self._source.effects
            return self._told([effects[key] for key in reversed(new)], self._source.texts[texts:])

    def _told(self, effects: list[dict[str, Json]], texts: list[str]) -> dict[str, Json]:
        head = self._source.head
        live = {"name": self._name, "version": self._version, "ended": head["status"] in ENDED}
        return {**head, "live": live, "effects": effects, "texts": texts}

    def _look(self) -> None:
        if monotonic() - self._looked < _SOONEST:
            return
        changed = self._source.look()
        self._looked = monotonic()
        if changed is None:
            return
        self._version += 1
        for key in changed:
            self._changed.pop(key, None)
            self._changed[key] = self._version


class _KeptTexts(dict[str, bytes]):
    """The long texts of a run, read when they are asked for."""

    def __init__(self, store: JournalStore, run: str) -> None:
        super().__init__(store.blobs(run))
        self._store, self._run = store, run

    def __missing__(self, name: str) -> bytes:
        found = self[name] = self._store.text(self._run, name)
        return found


class StoredSource:
    """A run in a store. Raises StoreError, BadRecording."""

    def __init__(self, store: JournalStore, run: str, fork: str) -> None:
        self._store, self._fork = store, fork
        self._row = store.run(run)
        self._data = RunData(run, self._row.started, _KeptTexts(store, run))
        self._open: dict[str, EffectRow] = {}
        self._number = -1

    @property
    def effects(self) -> dict[str, dict[str, Json]]:
        return self._data.effects

    @property
    def texts(self) -> list[str]:
        return self._data.texts

    @property
    def head(self) -> dict[str, Json]:
        return run_head(self._row, self._fork)

    def look(self) -> Iterable[str] | None:
        row = self._store.run(self._row.id)
        if self._number >= 0 and (row.updated, row.status) == (self._row.updated, self._row.status):
            return None
        self._row = row
        rows = self._store.effects(row.id, self._number)
        new = [each for each in rows if self._open.get(each.key) != each]
        self._number = max([0, self._number, *[max(each.begun_at, each.ended_at) for each in rows]])
        self._open = {each.key: each for each in rows if not each.ended_at}
        return self._data.take(new)


class TraceSource:
    """A trace that is being written. Raises BadTrace, OSError."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._data = TraceData()
        self._place, self._number, self._rest = 0, 0, b""
        self.texts: list[str] = []

    @property
    def effects(self) -> dict[str, dict[str, Json]]:
        return self._data.effects

    @property
    def head(self) -> dict[str, Json]:
        return self._data.head("running")

    def look(self) -> Iterable[str] | None:
        with self._file.open("rb") as file:
            if os.fstat(file.fileno()).st_size < self._place:
                raise BadTrace(0, "another trace is written here")
            file.seek(self._place)
            read = file.read()
        if not read and self._place:
            return None
        self._place += len(read)
        *lines, self._rest = (self._rest + read).split(b"\n")
        for each in lines:
            self._number += 1
            line = trace_line(each.decode("utf-8", "replace"), self._number)
            if self._number == 1 and line["event"] != "run":
                raise BadTrace(0, "this is no trace")
            self._data.take(line)
        changed, self._data.changed = self._data.changed, {}
        return changed
