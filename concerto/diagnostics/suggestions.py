"""Spelling suggestions: finds the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

from concerto.diagnostics.fixes import Advice

_SHORTEST_STEM = 3


def suggest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate nearest to `name`, or None if none is near enough to be worth saying.

    Ties go to the candidate that comes first in the alphabet, so that messages do not depend on
    the order of a set.
    """
    limit = max(1, len(name) // 3)
    best: tuple[int, str] | None = None
    for candidate in candidates:
        if candidate == name:
            continue
        distance = _nearness(name, candidate, limit)
        if distance <= limit and (best is None or (distance, candidate) < best):
            best = (distance, candidate)
    return best[1] if best else None


def did_you_mean(near: str | None, otherwise: str = "") -> str:
    """The advice to write a name that was found by `suggest`, or another one if there is none."""
    return Advice(f"did you mean `{near}`?", near) if near else otherwise


def _nearness(name: str, candidate: str, limit: int) -> int:
    if _fold(candidate) == _fold(name):
        return 0
    if abs(len(candidate) - len(name)) <= limit:
        # An edit takes away one letter of a name at most.
        if max(len(set(name).difference(candidate)), len(set(candidate).difference(name))) > limit:
            return limit + 1
        return _distance(name, candidate, limit)
    shorter, longer = sorted((name, candidate), key=len)
    # `len` for `length`, `config` for `configuration`, `prompt` for `system_prompt`
    stem = longer.startswith(shorter) or longer.endswith(f"_{shorter}")
    return limit if len(shorter) >= _SHORTEST_STEM and stem else limit + 1


def _fold(name: str) -> str:
    """`userName`, `user_name` and `UserName` are one name to the eye."""
    return name.replace("_", "").casefold()


def _distance(left: str, right: str, limit: int) -> int:
    """Edits (insert, delete, replace, swap of neighbours) between two names; stops above `limit`."""
    before_last: list[int] = []
    last = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        current = [i]
        for j, b in enumerate(right, 1):
            cost = min(last[j] + 1, current[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before_last[j - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before_last, last = last, current
    return last[-1]
