"""Stores of both kinds: a file, and a database in a PostgreSQL server of our own, where one is installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin")) if Path("/usr/lib/postgresql").exists() else []


def _programs() -> Path | None:
    """The folder of the server's programs, which are not always on the path."""
    found = shutil.which("initdb")
    return Path(found).parent if found else _PLACES[-1] if _PLACES else None


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a server on a socket in a folder of its own, without a database name."""
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
        told = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
        data = str(folder / "data")
        subprocess.run([programs / "initdb", "-D", data, "-U", "us", "-A", "trust", "-N"], user=user, **told)  # type: ignore[call-overload]
        options = f"-c listen_addresses='' -k {folder} -c fsync=off"
        start = [programs / "pg_ctl", "-D", data, "-w", "-o", options, "-l", str(folder / "log"), "start"]
        subprocess.run(start, user=user, **told)  # type: ignore[call-overload]
        try:
            yield f"postgresql://us@/{{}}?host={folder}"
        finally:
            stop = [programs / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"]
            subprocess.run(stop, user=user, **told)  # type: ignore[call-overload]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'state' / 'runs.db'}"
    import psycopg

    server: str = request.getfixturevalue("postgres")
    name = f"t{uuid4().hex}"
    with psycopg.connect(server.format("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return server.format(name)
