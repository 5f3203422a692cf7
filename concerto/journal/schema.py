"""Database schema and migrations of a store. A store of an earlier version is brought up to date when it is
opened."""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE programs (hash TEXT PRIMARY KEY, ir BYTES NOT NULL)""",
        """CREATE TABLE runs (
            id TEXT PRIMARY KEY,
            program TEXT NOT NULL REFERENCES programs (hash),
            name TEXT NOT NULL,
            folder TEXT NOT NULL,
            status TEXT NOT NULL,
            owner TEXT NOT NULL,
            epoch BIGINT NOT NULL,
            started REAL8 NOT NULL,
            updated REAL8 NOT NULL,
            seed BYTES NOT NULL,
            origin TEXT NOT NULL,
            said BIGINT NOT NULL DEFAULT 0,
            effects BIGINT NOT NULL DEFAULT 0,
            cost REAL8 NOT NULL DEFAULT 0,
            steps TEXT NOT NULL DEFAULT '',
            result TEXT NOT NULL DEFAULT ''
        )""",
        """CREATE INDEX runs_by_age ON runs (started)""",
        """CREATE TABLE run_options (
            run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
            options TEXT NOT NULL
        )""",
        """CREATE TABLE effects (
            run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            key TEXT NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            policy TEXT NOT NULL,
            state TEXT NOT NULL,
            attempt BIGINT NOT NULL,
            fingerprint TEXT NOT NULL,
            request TEXT NOT NULL,
            outcome TEXT NOT NULL,
            begun_at BIGINT NOT NULL,
            ended_at BIGINT NOT NULL,
            steps_begun TEXT NOT NULL,
            steps_ended TEXT NOT NULL,
            begun REAL8 NOT NULL,
            ended REAL8 NOT NULL,
            place TEXT NOT NULL,
            PRIMARY KEY (run, key)
        ) COMPACT""",
        """CREATE TABLE blobs (
            run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
            hash TEXT NOT NULL,
            data BYTES NOT NULL,
            PRIMARY KEY (run, hash)
        ) COMPACT""",
    ),
    (
        """CREATE TABLE responses (
            id TEXT PRIMARY KEY,
            caller TEXT NOT NULL,
            previous TEXT NOT NULL,
            created REAL8 NOT NULL,
            status TEXT NOT NULL,
            request TEXT NOT NULL,
            input TEXT NOT NULL,
            messages TEXT NOT NULL,
            response TEXT NOT NULL
        )""",
        """CREATE TABLE events (
            owner TEXT NOT NULL,
            number BIGINT NOT NULL,
            event TEXT NOT NULL,
            PRIMARY KEY (owner, number)
        ) COMPACT""",
    ),
    (
        """ALTER TABLE responses ADD COLUMN run TEXT NOT NULL DEFAULT ''""",
        """CREATE TABLE served_runs (run TEXT PRIMARY KEY, caller TEXT NOT NULL)""",
    ),
    (
        """CREATE TABLE session_turns (
            session TEXT NOT NULL,
            number BIGINT NOT NULL,
            key TEXT NOT NULL,
            turn TEXT NOT NULL,
            PRIMARY KEY (session, number)
        )""",
        """CREATE UNIQUE INDEX session_turns_by_key ON session_turns (session, key)""",
        """CREATE TABLE waiting_answers (
            run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
            caller TEXT NOT NULL,
            asked TEXT NOT NULL
        )""",
    ),
    ("""ALTER TABLE responses ADD COLUMN states TEXT NOT NULL DEFAULT ''""",),
    (
        """CREATE TABLE mcp_calls (
            run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
            caller TEXT NOT NULL,
            created REAL8 NOT NULL,
            expires REAL8 NOT NULL,
            call TEXT NOT NULL
        )""",
        """CREATE TABLE keys (name TEXT PRIMARY KEY, key BYTES NOT NULL)""",
    ),
    ("""CREATE INDEX responses_unfinished ON responses (run) WHERE status IN ('queued', 'in_progress')""",),
    ("""CREATE INDEX responses_by_previous ON responses (previous)""",),
)
"""What makes version n + 1 of a store from version n. BYTES, REAL8 and COMPACT are
spelled by each database."""
VERSION = len(MIGRATIONS)
