"""Retry: another attempt after a failure that may pass, with a growing pause or the one a server asked
for."""

from __future__ import annotations

from concerto.effects.gate import Layer, Passage, Perform, Waiter
from concerto.effects.kinds import AnyEffect, ModelCall
from concerto.effects.policy import Policy, Retry
from concerto.vm.values import ErrorValue, Raised, Some, Value

_TRANSIENT_STATUSES = frozenset({408, 409, 429})
_TRANSIENT_KINDS = frozenset({"Timeout", "ConnectionLost"})
_LONGEST_ASKED = 120.0
"""Seconds; a server that asks for more is not waited for."""
_FINAL_KINDS = frozenset(
    {"PermissionDenied", "InvalidArguments", "BudgetExceeded", "RequiresAction", "MissingKey"}
)


def retry_layer(waiting: Waiter) -> Layer:
    async def retry(passage: Passage, inner: Perform) -> Value:
        policy = passage.policy.retry
        assert policy is not None
        of_model = isinstance(passage.effect, ModelCall)
        attempt = 1
        while True:
            try:
                return await inner(passage)
            except Raised as raised:
                error = raised.value
                asked = _retry_after(error)
                if (
                    attempt >= policy.attempts
                    or asked > _LONGEST_ASKED
                    or not _may_pass(error, policy, of_model)
                ):
                    raise
            await waiting.sleep(asked or policy.pause(attempt))
            attempt += 1

    return Layer(_is_repeated, retry, by_policy=True)


def transient_status(status: int, retry: Retry | None = None) -> bool:
    """Whether an HTTP status speaks of a passing trouble."""
    if retry is not None and retry.statuses is not None:
        return status in retry.statuses
    return status in _TRANSIENT_STATUSES or 500 <= status <= 599


def _may_pass(error: Value, retry: Retry, of_model: bool) -> bool:
    if not isinstance(error, ErrorValue):
        return not of_model
    if not of_model:
        return error.kind not in _FINAL_KINDS
    status = error.fields.get("status")
    if isinstance(status, Some):
        return transient_status(status.value, retry)
    return error.kind in _TRANSIENT_KINDS


def _retry_after(error: Value) -> float:
    """The seconds that a server asked for, 0 if it did not."""
    asked = error.fields.get("retry_after_ms") if isinstance(error, ErrorValue) else None
    return asked.value / 1000 if isinstance(asked, Some) else 0.0


def _is_repeated(effect: AnyEffect, policy: Policy) -> bool:
    return policy.retry is not None and policy.retry.attempts > 1
