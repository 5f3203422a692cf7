"""What is kept of a run and of its effects, row by row."""

from __future__ import annotations

from typing import Literal, TypeAlias

from concerto.json_data import Json
from concerto.records import field, record

Status: TypeAlias = Literal[
    "queued", "running", "waiting", "unknown", "interrupted", "done", "failed", "cancelled"
]
State: TypeAlias = Literal["begun", "asked", "done", "failed", "cancelled"]

NEVER_TRIED = 0
"""The attempt of an effect that was answered from a cache."""

ENDED: tuple[Status, ...] = ("done", "failed", "cancelled")


@record
class EffectRow:
    """An effect as it is kept. `key` is its name (`0.2/7`), `begun_at` and `ended_at` its numbers among all
    that was written of the run, 0 for not yet; `steps_begun` and `steps_ended` are the branches that went on
    before. `request` and `outcome` are JSON texts; `place` is where in the source it
    comes from (`main.conc:3:5`)."""

    key: str
    kind: str
    subject: str
    policy: str
    state: State = "begun"
    attempt: int = 1
    fingerprint: str = ""
    request: str = ""
    outcome: str = ""
    begun_at: int = 0
    ended_at: int = 0
    steps_begun: str = ""
    steps_ended: str = ""
    begun: float = 0.0
    ended: float = 0.0
    place: str = ""


def title_of(kind: str, subject: str) -> str:
    """What messages call an effect."""
    return f"{kind} `{subject}`" if kind != subject else f"`{kind}`"


def is_unknown(row: EffectRow) -> bool:
    """Whether it must not be repeated, was begun, and has no outcome."""
    return row.policy == "once" and row.state == "begun"


@record(frozen=True)
class RunRow:
    """What is known of a run without its effects. `steps` are those after its last effect, `seed` is where
    its random numbers come from, `origin` the run that it was forked from, or who has begun it; `cost` is
    None if a price is not known. Times are in seconds since 1970."""

    id: str
    program: str
    name: str
    folder: str
    status: Status
    owner: str
    epoch: int
    started: float
    updated: float
    options: dict[str, Json]
    seed: bytes
    origin: str = ""
    said: int = 0
    effects: int = 0
    cost: float | None = 0.0
    steps: str = ""
    result: dict[str, Json] = field(default_factory=dict)
