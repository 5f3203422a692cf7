"""Connection sharing: a store that is named by its path is opened once for many runs of a process."""

from __future__ import annotations

import os
from pathlib import Path
from threading import RLock

from concerto.journal.databases import Database
from concerto.journal.store import open_database

_INHERITED: list[_Opened] = []
"""What a forked process may neither use nor close."""


class SharedDatabase:
    """The database of an SQLite file, opened when it is first leased and kept until `close`. It is opened
    anew where the file has become another one, as writes into a deleted file are lost, and in a forked
    process, as SQLite's connections cannot be carried into one."""

    _opened: _Opened | None

    def __init__(self, url: str) -> None:
        self.url = url
        self._begin()

    def lease(self) -> DatabaseLease:
        """The open database, until the lease is closed. Raises StoreError."""
        if self._process != os.getpid():
            if self._opened is not None:
                _INHERITED.append(self._opened)
            self._begin()
        with self._lock:
            opened = self._opened
            if opened is None or opened.file != _file_at(self.url):
                before, opened = opened, _Opened(open_database(self.url), _file_at(self.url))
                self._opened = opened
                if before is not None:
                    self.leave(before)
            opened.users += 1
        return DatabaseLease(self, opened)

    def close(self) -> None:
        """Close it when the last lease is closed."""
        if self._process == os.getpid():
            with self._lock:
                opened, self._opened = self._opened, None
                if opened is not None:
                    self.leave(opened)

    def _begin(self) -> None:
        self._process = os.getpid()
        # Reentrant: a garbage collection may close what it finds.
        self._lock = RLock()
        self._opened = None

    def leave(self, opened: _Opened) -> None:
        """One user less."""
        with self._lock:
            opened.users -= 1
            if not opened.users:
                opened.database.close()


class DatabaseLease:
    """The right to use a database that others use too."""

    def __init__(self, shared: SharedDatabase, opened: _Opened) -> None:
        self.database = opened.database
        self._shared = shared
        self._opened: _Opened | None = opened
        self._process = os.getpid()

    def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None and self._process == os.getpid():
            self._shared.leave(opened)


class _Opened:
    """An open database; who keeps it is one of its users."""

    def __init__(self, database: Database, file: tuple[int, int] | None) -> None:
        self.database = database
        self.file = file
        self.users = 1


def _file_at(url: str) -> tuple[int, int] | None:
    """Which file stands at the path of a store."""
    try:
        found = Path(url.removeprefix("sqlite:")).expanduser().stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
