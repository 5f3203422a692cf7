"""Budgets: what a run, an execution or a decorated part of it may spend, and what it has spent.

A `Meter` is shared by all calls that count against it. A call reserves what it may cost at most before it is
sent, and what it did cost takes the place of that when it has ended, so that calls at the same time cannot
spend the same money: what is spent never exceeds the limit by more than the largest reservation.
"""

from __future__ import annotations

from concerto.annotating import Literal
from concerto.records import frozen

_MARGIN = 2.0
"""By how much more than it once did a call may cost, where calls cost more than was estimated."""


@frozen
class Spending:
    """Tokens in and out together, and USD; None if the price is not known."""

    tokens: int = 0
    usd: float | None = 0.0


class Reservation:
    """A call under way; `path` is the place in the run that reads its answer while it comes, None if nobody
    does."""

    __slots__ = ("estimate", "held", "model", "path")

    def __init__(self, model: str, estimate: Spending, path: tuple[int, ...] | None) -> None:
        self.model = model
        self.estimate = estimate
        self.path = path
        self.held = estimate


class _Trust:
    """What is known of the estimates for a model: by which factor they have to be raised, and how many calls
    may be under way while nothing is."""

    __slots__ = ("at_once", "factor")

    def __init__(self) -> None:
        self.factor: float | None = None
        self.at_once = 1


class Meter:
    """Limits of None are none. `priced` says whether the cost of all calls was known."""

    __slots__ = ("_trust", "most_tokens", "most_usd", "name", "priced", "tokens", "under_way", "usd")

    def __init__(self, name: str, most_tokens: int | None = None, most_usd: float | None = None) -> None:
        self.name = name
        self.most_tokens = most_tokens
        self.most_usd = most_usd
        self.tokens = 0
        self.usd = 0.0
        self.priced = True
        self.under_way: list[Reservation] = []
        self._trust: dict[str, _Trust] = {}

    @property
    def limited(self) -> bool:
        return self.most_tokens is not None or self.most_usd is not None

    def add(self, spent: Spending) -> None:
        self.tokens += spent.tokens
        self.usd += spent.usd or 0.0
        self.priced = self.priced and spent.usd is not None

    def exhausted(self) -> str | None:
        """Why nothing more may be spent, or None."""
        if self.most_tokens is not None and self.tokens >= self.most_tokens:
            return f"{self.name} allows {self.most_tokens} tokens, {self.tokens} are spent"
        if self.most_usd is not None and self.usd >= self.most_usd:
            return f"{self.name} allows {self.most_usd:g} USD, {self.usd:.4g} are spent"
        return None

    def room(self, model: str) -> Literal["yes", "wait"]:
        """Whether a call may begin now, as long as nothing is exhausted, or has to wait for one under way.

        One that nothing else is under way with begins in any case: a limit is passed by one call at most.
        The first call of a model goes alone, as it shows whether estimates can be trusted."""
        held = [each.held for each in self.under_way]
        if not held:
            return "yes"
        trust = self._trust.get(model)
        alike = sum(each.model == model for each in self.under_way)
        if alike >= (1 if trust is None else trust.at_once) and (trust is None or trust.factor is None):
            return "wait"
        if self.most_tokens is not None and self.tokens + sum(e.tokens for e in held) >= self.most_tokens:
            return "wait"
        if self.most_usd is not None and self.usd + sum(e.usd or 0.0 for e in held) >= self.most_usd:
            return "wait"
        return "yes"

    def reserve(self, reservation: Reservation) -> None:
        trust = self._trust.get(reservation.model)
        factor = (trust.factor if trust is not None else None) or 1.0
        estimate = reservation.estimate
        usd = None if estimate.usd is None else estimate.usd * factor
        reservation.held = Spending(int(estimate.tokens * factor), usd)
        self.under_way.append(reservation)

    def settle(self, reservation: Reservation, spent: Spending, *, answered: bool) -> None:
        """Put what a call has spent in the place of what was reserved for it."""
        self.under_way.remove(reservation)
        self.add(spent)
        trust = self._trust.setdefault(reservation.model, _Trust())
        if answered:
            trust.factor = max(trust.factor or 1.0, _factor(reservation.estimate, spent))
        else:
            # A server that is down must not be asked in single file.
            trust.at_once *= 2


def limited(name: str, most_tokens: int | None, most_usd: float | None) -> tuple[Meter, ...]:
    """A meter, if there is a limit."""
    return () if most_tokens is None and most_usd is None else (Meter(name, most_tokens, most_usd),)


def _factor(estimate: Spending, spent: Spending) -> float:
    over = spent.tokens / max(1, estimate.tokens)
    if estimate.usd and spent.usd:
        over = max(over, spent.usd / estimate.usd)
    return over * _MARGIN if over > 1 else 1.0
