"""The browser of these tests, where one is installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.journal.conftest import postgres, url  # noqa: F401
from tests.viewer.browser import Browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("Chromium is not installed")
    opened = Browser(program, tmp_path_factory.mktemp("profile"))
    try:
        yield opened
    finally:
        opened.close()
