"""A program that is served for all tests that leave no trace in it, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openai import OpenAI

from tests.runtime.servers import Script
from tests.serving.servers import Served, answered, project, served


@pytest.fixture(scope="session")
def model() -> Iterator[Script]:
    with Script() as script:
        script.answer(answered)
        yield script


@pytest.fixture(scope="session")
def server(model: Script, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(project(tmp_path_factory.mktemp("served"), model.url)) as running:
        yield running


@pytest.fixture(scope="session")
def client(server: Served) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as found:
        yield found
