"""Tables of the dispatcher, beside those of the store. Times are the database's own."""

from __future__ import annotations

TABLES = (
    """CREATE TABLE IF NOT EXISTS jobs (
        run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
        number BIGINT GENERATED ALWAYS AS IDENTITY,
        queue TEXT NOT NULL,
        priority INT NOT NULL,
        state TEXT NOT NULL,
        due TIMESTAMPTZ,
        key TEXT UNIQUE,
        worker BIGINT NOT NULL DEFAULT 0,
        started TIMESTAMPTZ,
        tries INT NOT NULL DEFAULT 0,
        effects BIGINT NOT NULL DEFAULT 0
    )""",
    """CREATE INDEX IF NOT EXISTS jobs_in_turn ON jobs (queue, priority DESC, number)
        WHERE state = 'queued' AND tries < 2""",
    """CREATE INDEX IF NOT EXISTS jobs_in_doubt ON jobs (queue, priority DESC, number)
        WHERE state = 'queued' AND tries >= 2""",
    """CREATE INDEX IF NOT EXISTS jobs_later ON jobs (due) WHERE due IS NOT NULL""",
    """CREATE INDEX IF NOT EXISTS jobs_running ON jobs (worker) WHERE state = 'running'""",
    """CREATE INDEX IF NOT EXISTS jobs_started ON jobs (queue, started) WHERE started IS NOT NULL""",
    """CREATE TABLE IF NOT EXISTS workers (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name TEXT NOT NULL,
        version TEXT NOT NULL,
        queues TEXT[] NOT NULL,
        seen TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
    )""",
    """CREATE TABLE IF NOT EXISTS queues (
        name TEXT PRIMARY KEY,
        most_running INT,
        most_starts INT,
        seconds DOUBLE PRECISION NOT NULL DEFAULT 1
    )""",
    """CREATE TABLE IF NOT EXISTS schedules (
        id TEXT PRIMARY KEY,
        cron TEXT NOT NULL,
        queue TEXT NOT NULL,
        priority INT NOT NULL,
        name TEXT NOT NULL,
        folder TEXT NOT NULL,
        options TEXT NOT NULL,
        ir BYTEA NOT NULL,
        next TIMESTAMPTZ NOT NULL
    )""",
)
"""`jobs.state` is queued, delayed (until `due`), running (by `worker`), parked (until `due`, if any), ended.
`tries` counts the workers that died of a job since it last came further, `effects` is how far that was."""
