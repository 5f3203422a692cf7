"""How a run with a journal may end besides by itself."""

from __future__ import annotations


class RecordingEnds(BaseException):
    """A run that is shown again has come to the end of what was recorded."""


class Unmatched(BaseException):
    """A test that is answered from a recording asks for what was not recorded; the text says what differs."""


class OutcomeUnknown(BaseException):
    """An effect that must not be repeated was begun before, and nobody knows how it ended; the text is its
    key."""
