"""Fixtures of the tests of trust: those of the runtime's."""

from __future__ import annotations

from tests.runtime.conftest import _private_state, run, script

__all__ = ["_private_state", "run", "script"]
