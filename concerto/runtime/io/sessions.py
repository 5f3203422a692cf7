"""Sessions of a run: the conversations of its project that are kept in the store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from concerto.effects.kinds import LoadSession, SaveSession
from concerto.journal.databases import StoreError
from concerto.vm.values import Raised, failure

if TYPE_CHECKING:
    from concerto.journal.session_store import SessionStore
    from concerto.json_data import Json
    from concerto.runtime.run.services import RunServices

_IN_MEMORY = "sqlite::memory:"


class Sessions:
    """They are kept in the store of the run. One that has none and a test have theirs for themselves, and so
    has one with `mock` whose store lasts."""

    def __init__(self, run: RunServices) -> None:
        self._run = run
        self._store: SessionStore | None = None
        self._closes: Any = None

    def load(self, effect: LoadSession) -> Json:
        try:
            return self._opened().load(self._key(effect))
        except StoreError as error:
            raise _failed(error) from error

    def save(self, effect: SaveSession, key: str) -> bool:
        try:
            if effect.replaces is not None:
                return self._opened().replace(self._key(effect), list(effect.replaces), key, effect.turn)
            assert effect.turn is not None
            return self._opened().add(self._key(effect), key, effect.turn)
        except StoreError as error:
            raise _failed(error) from error

    def close(self) -> None:
        closes, self._closes = self._closes, None
        if closes is not None:
            closes.close()

    def _key(self, effect: LoadSession | SaveSession) -> str:
        """Sessions belong to an agent of a project, which is its folder."""
        return json.dumps([self._run.options.folder, effect.agent, effect.session])

    def _opened(self) -> SessionStore:
        if self._store is None:
            from concerto.journal.session_store import SessionStore
            from concerto.journal.shared_database import SharedDatabase
            from concerto.journal.store import open_database

            options = self._run.options
            given: Any = options.sessions if options.sessions is not None else options.store
            own = getattr(given, "store", given)
            if options.testing or (options.mock and not getattr(own, "in_memory", False)):
                own = None
            if own is None or isinstance(own, str | Path):
                database = self._closes = open_database(_IN_MEMORY if own is None else str(own))
            elif isinstance(own, SharedDatabase):
                self._closes = own.lease()
                database = self._closes.database
            else:
                database = own.database
            self._store = SessionStore(database)
        return self._store


def _failed(error: StoreError) -> Raised:
    return failure(str(error), "StoreFailed")
