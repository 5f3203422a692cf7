"""How a run with a journal may end besides by itself."""

from __future__ import annotations

WAITS = 3
"""The exit status of a run that somebody outside has to go on with."""
WAITING = frozenset({"RequiresAction", "OutcomeUnknown"})
"""What such a run stops with."""


class RecordingEnds(BaseException):
    """A run that is shown again has come to the end of what was recorded."""


class Unmatched(BaseException):
    """A test that is answered from a recording asks for what was not recorded; the text says what differs."""


class OutcomeUnknown(BaseException):
    """An effect that must not be repeated was begun before, and nobody knows how it ended; the text is its
    key."""
