"""A model for the tests of the Python API."""

from __future__ import annotations

from tests.runtime.conftest import script as model

__all__ = ["model"]
