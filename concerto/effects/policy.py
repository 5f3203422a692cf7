"""Resilience policies: retry, timeout, cache and limits around an effect, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, Protocol

from concerto.effects.meters import Meter, limited
from concerto.records import frozen

Backoff = Literal["none", "linear", "exponential"]


class DecoratorLike(Protocol):
    """The shape of `concerto.ir.module.DecoratorDef`."""

    @property
    def name(self) -> str: ...

    @property
    def arguments(self) -> dict[str, Any]: ...


@frozen
class Retry:
    """`attempts` counts all of them, the first included."""

    attempts: int = 1
    backoff: Backoff = "exponential"
    delay_ms: int = 500
    max_delay_ms: int = 30_000
    statuses: frozenset[int] | None = None

    def pause(self, attempt: int) -> float:
        """Seconds to wait after the attempt of that number, from 1."""
        match self.backoff:
            case "none":
                factor = 1
            case "linear":
                factor = attempt
            case "exponential":
                factor = 2 ** min(attempt - 1, 30)
        return float(min(self.delay_ms * factor, self.max_delay_ms)) / 1000


@frozen
class Policy:
    retry: Retry | None = None
    timeout: float | None = None
    cache_seconds: float | None = None
    per_minute: int | None = None
    log: str | None = None
    most_tokens: int | None = None
    most_usd: float | None = None
    read_only: bool = False
    idempotent: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether it may be done again when nobody knows whether it was done."""
        return self.read_only or self.idempotent

    def meters(self, title: str) -> tuple[Meter, ...]:
        """The budget of one call of what has that title, if it has one."""
        return limited(f"`@budget` of `{title}`", self.most_tokens, self.most_usd)


NO_POLICY = Policy()


def retry_from(settings: Mapping[str, Any], default: Retry | None = None) -> Retry:
    """A Retry from the fields of `retry_policy: { … }` or a connection's `[retry]`; without a `default`, from
    what the rows of these fields say."""
    if default is not None and not settings:
        return default
    base = default or _declared_retry()
    statuses = settings.get("retry_on")
    return Retry(
        attempts=int(settings.get("max_attempts", base.attempts)),
        backoff=settings.get("backoff", base.backoff),
        delay_ms=int(settings.get("initial_delay_ms", base.delay_ms)),
        max_delay_ms=int(settings.get("max_delay_ms", base.max_delay_ms)),
        statuses=base.statuses if statuses is None else frozenset(int(status) for status in statuses),
    )


@cache
def _declared_retry() -> Retry:
    from concerto.vocabulary.fields import RETRY

    rows: dict[str, Any] = {name: row.default for name, row in RETRY.items()}
    return Retry(rows["max_attempts"], rows["backoff"], rows["initial_delay_ms"], rows["max_delay_ms"])


def policy_from(decorators: Sequence[DecoratorLike]) -> Policy:
    """The policy that a declaration's decorators spell; the checker has seen their names and arguments."""
    if not decorators:
        return NO_POLICY
    from concerto.vocabulary.decorators import DECORATORS

    known = [each for each in decorators if each.name in DECORATORS]
    found = {each.name: DECORATORS[each.name].defaults | each.arguments for each in known}
    retry, budget = found.get("retry"), found.get("budget", {})
    return Policy(
        retry=Retry(int(retry["max"]), retry["backoff"], int(retry["delay_ms"])) if retry else None,
        timeout=found["timeout"].get("seconds") if "timeout" in found else None,
        cache_seconds=float(found["cache"]["ttl_seconds"]) if "cache" in found else None,
        per_minute=found["rate_limit"].get("per_minute") if "rate_limit" in found else None,
        log=str(found["log"]["channel"]) if "log" in found else None,
        most_tokens=budget.get("tokens"),
        most_usd=budget.get("usd"),
        read_only="read_only" in found,
        idempotent="idempotent" in found,
    )
