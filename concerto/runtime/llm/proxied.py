"""Requests through the proxies that the environment names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from ssl import SSLContext

import httpx2

from concerto.runtime.llm.clients import Post
from concerto.runtime.llm.http11 import unpacked
from concerto.runtime.llm.sockets import HttpFailure, HttpTimeout


class ProxiedClient:
    """As `concerto.runtime.llm.clients.Client` says."""

    def __init__(self, tls: SSLContext | bool, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._client = httpx2.AsyncClient(
            verify=tls, timeout=None, follow_redirects=False, trust_env=True, transport=transport
        )

    async def send(self, post: Post) -> _Answer:
        limits = httpx2.Timeout(None, connect=post.seconds)
        with _failures():
            request = httpx2.Request(
                "POST",
                post.place.url,
                headers=list(post.fields.items()),
                content=post.content,
                extensions={"timeout": limits.as_dict()},
            )
            return _Answer(await self._client.send(request, stream=True))

    async def close(self) -> None:
        await self._client.aclose()


class _Answer:
    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.status_code = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        with _failures():
            packed = self._response.headers.get("content-encoding", "")
            async for piece in unpacked(self._response.aiter_raw(), packed):
                yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except httpx2.TimeoutException:
        raise HttpTimeout from None
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise HttpFailure(str(error) or type(error).__name__) from error
