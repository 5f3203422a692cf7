"""Deterministic identifiers of effects: the same name in every run."""

from __future__ import annotations

from contextvars import ContextVar

from concerto.records import frozen

IDEMPOTENCY_KEY: ContextVar[str] = ContextVar("idempotency_key")
"""Of the effect that the host's own code does."""


@frozen
class Identity:
    """An effect's stable name inside a run: the numbers of the branches that lead to it, and its own."""

    path: tuple[int, ...]
    number: int


def key_of(identity: Identity) -> str:
    """`0.1.2/3` for the third effect of the second branch of the first branch."""
    return f"{branch_key(identity.path)}/{identity.number}"


def idempotency_key(run: str, key: str) -> str:
    """What a server knows an effect of a run by: the same for all attempts, in a run that is resumed too."""
    from hashlib import sha256

    return sha256(f"{run} {key}".encode()).hexdigest()[:32]


def branch_key(path: tuple[int, ...]) -> str:
    """`0` for the main branch, `0.1.2` for the second branch of its first."""
    return ".".join(["0", *map(str, path)])
