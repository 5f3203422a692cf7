"""What commands say when they are interrupted."""

from __future__ import annotations

import re

_RESUME = re.compile(r"^resume with: concerto resume \w+\n", re.MULTILINE)


def without_resuming(errors: str) -> str:
    """What was said of an interrupt, without how a run that has done something goes on."""
    return _RESUME.sub("", errors)
