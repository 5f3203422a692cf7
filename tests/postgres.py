"""A PostgreSQL server of our own, where one is installed; tests that need it are skipped where none is."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin")) if Path("/usr/lib/postgresql").exists() else []


def _programs() -> Path | None:
    """The folder of the server's programs, which are not always on the path."""
    found = shutil.which("initdb")
    return Path(found).parent if found else _PLACES[-1] if _PLACES else None


class Server:
    """On a socket in a folder of its own."""

    def __init__(self, programs: Path, user: str | None, folder: Path, fsync: bool) -> None:
        self._programs, self._user, self._folder, self._fsync = programs, user, folder, fsync
        self._data = str(folder / "data")

    def make(self) -> None:
        self._do("initdb", "-D", self._data, "-U", "us", "-A", "trust", "-N")

    def start(self) -> None:
        fsync = "" if self._fsync else "-c fsync=off"
        options = f"-c listen_addresses='' -k {self._folder} {fsync}"
        self._do("pg_ctl", "-D", self._data, "-w", "-o", options, "-l", str(self._folder / "log"), "start")

    def stop(self) -> None:
        self._do("pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop")

    def url(self, database: str) -> str:
        return f"postgresql://us@/{database}?host={self._folder}"

    def new_database(self, place: Path | None = None) -> str:
        """The address of an empty one, whose tables are in an empty folder of their own if one is given."""
        import psycopg

        name = f"t{uuid4().hex}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            if place is not None:
                if self._user is not None:
                    shutil.chown(place, self._user)
                connection.execute(f"CREATE TABLESPACE {name} LOCATION '{place}'".encode())
            where = "" if place is None else f" TABLESPACE {name}"
            connection.execute(f"CREATE DATABASE {name}{where}".encode())
        return self.url(name)

    def _do(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            user=self._user,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            timeout=400,
            env={**os.environ, "PGCTLTIMEOUT": "300"},
        )


@contextmanager
def server(*, fsync: bool = False) -> Iterator[Server]:
    """A server for a while."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    # A server refuses to run as root.
    user = "postgres" if os.getuid() == 0 else None
    if user is not None and user not in {each.pw_name for each in pwd.getpwall()}:
        pytest.skip("there is no user to run PostgreSQL as")
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        made = Server(programs, user, folder, fsync)
        made.make()
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
