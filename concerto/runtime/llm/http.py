"""HTTP to model servers: clients for each connection and run, made at the first request and closed with the
run.

Every trouble becomes an AgentError that says who answered what.
"""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote_to_bytes

from concerto.effects.error_kinds import AgentKind
from concerto.json_data import Json
from concerto.natives.json_text import loads
from concerto.records import frozen
from concerto.redaction import HIDDEN, SHORTEST_SECRET, without_user
from concerto.runtime.io.bodies import MEGABYTE, TooLarge, crowded, lines, whole
from concerto.runtime.io.certificates import Authorities, authorities, tls_context
from concerto.runtime.io.headers import encoded
from concerto.runtime.llm.clients import Answered, Client, Clients, DirectClient, Endpoint, Post
from concerto.runtime.llm.connections import Connection, key_of
from concerto.runtime.llm.providers import Provider, WireCall, find_provider
from concerto.runtime.llm.providers.reading import error_text
from concerto.runtime.llm.sockets import HttpFailure, HttpTimeout
from concerto.runtime.run.agent_failures import agent_failure
from concerto.version import __version__
from concerto.vm.values import Raised
from concerto.wording import counted

if TYPE_CHECKING:
    from concerto.runtime.llm.throttle import Throttle

T = TypeVar("T")

_DEFAULT_TIMEOUT = 120.0
_CONNECT_TIMEOUT = 10.0
_DRAIN_TIMEOUT = 0.2
_MOST_MEGABYTES = 16.0
"""The longest answer that is read, unpacked; of a streamed one all events together."""
_SHOWN = 300
_LONGEST_PAUSE = 1e9
_HEADERS = {
    "content-type": "application/json",
    "accept": "*/*",
    "accept-encoding": "gzip, deflate",
    "connection": "keep-alive",
    "user-agent": f"concerto/{__version__}",
}
_OK = 200
_written = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_PLAIN_URL = re.compile(
    r"http(s?)://([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::([0-9]{1,5}))?((?:/[A-Za-z0-9_~:-][A-Za-z0-9._~:-]*)+)"
)
"""One that is sent as it is written."""
_PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")


@frozen
class Terms:
    """All by which a server is asked; who has the same may use the same connections."""

    connection: Connection
    key: str
    proxied: bool
    trusted: Authorities | None
    max_response_mb: float | None


def terms_of(connection: Connection, environment: Mapping[str, str], max_response_mb: float | None) -> Terms:
    """Those of who asks with an environment; an AgentError if it has no key."""
    key = key_of(connection, environment)
    # To look for proxies at each request would cost as much as the request.
    proxied = any(environment.get(name) for name in _PROXIES)
    trusted = authorities(environment) if connection.base_url.startswith("https:") else None
    return Terms(connection, key, proxied, trusted, max_response_mb)


class ModelServer:
    """The server of one connection."""

    def __init__(
        self, connection: Connection, environment: Mapping[str, str], max_response_mb: float | None = None
    ) -> None:
        self.connection = connection
        self.throttle: Throttle | None = None
        """what limits the runs that share it, all together"""
        self.terms = terms = terms_of(connection, environment, max_response_mb)
        self._most_bytes = int((max_response_mb or _MOST_MEGABYTES) * MEGABYTE)
        self.provider: Provider = find_provider(connection.provider)
        self._key = key = terms.key
        self._secrets = [each for each in (key, *connection.secrets) if len(each) >= SHORTEST_SECRET]
        authorization = self.provider.authorize(key) if key else {}
        self._headers = encoded({**_HEADERS, **connection.headers, **authorization})
        self._clients = Clients(partial(_client, terms.trusted, terms.proxied))

    def serves(self, connection: Connection, environment: Mapping[str, str]) -> bool:
        """Whether this is the server of a connection, asked with the key that it has now."""
        return self.connection == connection and self._key == key_of(connection, environment)

    async def shed(self) -> None:
        await self._clients.shed()

    async def close(self) -> None:
        await self._clients.close()

    async def request(self, call: WireCall, timeout: float | None) -> Json:
        """The JSON of a server's answer."""
        seconds = self.seconds(timeout)
        try:
            async with asyncio.timeout(seconds):
                with self._clients.one() as client:
                    response = await client.send(self._post(call))
                    try:
                        content = await whole(response.aiter_bytes(), self._most_bytes)
                    finally:
                        await response.aclose()
        except TimeoutError:
            raise self._too_slow(seconds) from None
        except TooLarge:
            raise self._too_large() from None
        except HttpFailure as error:
            raise self._unreachable(error) from None
        if response.status_code != _OK:
            raise self._refusal(response, content)
        return self._json(content)

    @asynccontextmanager
    async def stream(self, call: WireCall, timeout: float | None) -> AsyncIterator[AsyncIterator[list[str]]]:
        """The lines of a server's streamed answer as they arrive. `timeout` bounds the time until it begins;
        who reads them bounds each wait with `in_time`, for what says more than that the connection lives, and
        may stop before the last one."""
        seconds = self.seconds(timeout)
        try:
            with self._clients.one() as client:
                asking = client.send(self._post(call, _CONNECT_TIMEOUT))
                response = await self.in_time(asking, timeout)
                try:
                    if response.status_code != _OK:
                        body = whole(response.aiter_bytes(), self._most_bytes)
                        raise self._refusal(response, await self.in_time(body, timeout))
                    arriving = self._lines(response)
                    yield arriving
                    await _drain(arriving)
                finally:
                    await response.aclose()
        except HttpTimeout:
            raise self._too_slow(seconds) from None
        except TooLarge:
            raise self._too_large() from None
        except HttpFailure as error:
            raise self._unreachable(error) from None

    def seconds(self, timeout: float | None) -> float:
        """How long a request that has a `timeout` of its own, or none, waits for what comes next."""
        return timeout or self.connection.timeout or _DEFAULT_TIMEOUT

    async def in_time(self, work: Awaitable[T], timeout: float | None) -> T:
        """The next part of a streamed answer; an AgentError if it takes too long."""
        seconds = self.seconds(timeout)
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError:
            raise self._too_slow(seconds) from None

    async def _lines(self, response: Answered) -> AsyncIterator[list[str]]:
        mark = b"\xef\xbb\xbf"  # Only before the first line it is none of the text.
        async for arrived in lines(response.aiter_bytes(), self._most_bytes):
            content = arrived.removeprefix(mark)
            mark = b""
            try:
                yield _split(content)
            except UnicodeDecodeError as wrong:
                sound, found, _ = content[: wrong.start].rpartition(b"\n")
                if found:
                    yield _split(sound)
                raise self.invalid("the stream is not UTF-8 text") from None

    def invalid(self, why: str) -> Raised:
        """The error for an answer that is no answer."""
        return self._failure(
            f"`{self.connection.name}` gave an invalid answer: {why}", AgentKind.INVALID_REPLY
        )

    def _post(self, call: WireCall, seconds: float | None = None) -> Post:
        content = _written(call.body).encode("utf-8", "replace")
        place, of_url = _place(self.connection.base_url + call.path)
        length = {b"content-length": b"%d" % len(content)}
        return Post(place, {**self._headers, **encoded(call.headers), **of_url, **length}, content, seconds)

    def _json(self, content: bytes) -> Json:
        if crowded(content):
            raise self._too_large()
        try:
            data = loads(content)
        except ValueError:
            raise self.invalid(f"expected JSON, found {_shown(content)}") from None
        if not isinstance(data, dict):
            raise self.invalid(f"expected a JSON object, found {_shown(content)}")
        return data

    def _too_large(self) -> Raised:
        most = self._most_bytes / MEGABYTE
        return self.invalid(f"it is larger than {most:g} MB (`max_response_mb` in `[runtime]`)")

    def _refusal(self, response: Answered, content: bytes) -> Raised:
        status, said = response.status_code, _error_text(content)
        if 300 <= status < 400 and "location" in response.headers:
            said = f"it leads to `{response.headers['location'][:_SHOWN]}`; see `base_url`"
        return self.refused(status, said, _retry_after_ms(response.headers, content))

    def refused(self, status: int, said: str, retry_after_ms: int | None = None) -> Raised:
        """The error for an answer with such a status."""
        match status:
            case 401 | 403:
                kind = AgentKind.AUTHENTICATION
            case 408 | 504:
                kind = AgentKind.TIMEOUT
            case 429:
                kind = AgentKind.RATE_LIMITED
            case _:
                kind = AgentKind.PROVIDER
        message = f"`{self.connection.name}` answered {status}: {said}"
        if status in (401, 403) and self.connection.key_env:
            message += f" (the key is in `{self.connection.key_env}`)"
        return self._failure(message, kind, status, retry_after_ms)

    def _too_slow(self, seconds: float) -> Raised:
        return self._failure(
            f"`{self.connection.name}` gave no answer within {counted(seconds, 'second')}", AgentKind.TIMEOUT
        )

    def _unreachable(self, error: Exception) -> Raised:
        why = str(error) or type(error).__name__
        place = without_user(self.connection.base_url)
        message = f"no answer from `{self.connection.name}` at {place}: {why}"
        return self._failure(message, AgentKind.CONNECTION_LOST)

    def _failure(
        self, said: str, kind: AgentKind, status: int | None = None, retry_after_ms: int | None = None
    ) -> Raised:
        message = said
        for secret in self._secrets:
            message = message.replace(secret, HIDDEN)
        return agent_failure(
            message, kind, provider=self.connection.name, status=status, retry_after_ms=retry_after_ms
        )


async def _drain(arriving: AsyncIterator[list[str]]) -> None:
    """Read what is behind the part that was wanted, if it comes at once: the connection is kept then."""
    with suppress(TimeoutError, HttpFailure, TooLarge, Raised):
        async with asyncio.timeout(_DRAIN_TIMEOUT):
            async for _ in arriving:
                pass


def _split(content: bytes) -> list[str]:
    """Lines as texts."""
    return content.decode().split("\n")


def _client(trusted: Authorities | None, proxied: bool) -> Client:
    """What sends requests and does nothing else, unless the environment names proxies. Raises HttpFailure."""
    tls = None if trusted is None else tls_context(trusted)
    if not proxied:
        return DirectClient(tls)
    from concerto.runtime.llm.proxied import ProxiedClient

    return ProxiedClient(tls or False)


@lru_cache(64)
def _place(text: str) -> tuple[Endpoint, dict[bytes, bytes]]:
    """What a URL leads to, and the headers that follow from it. Raises HttpFailure."""
    plain = _PLAIN_URL.fullmatch(text)
    if plain is not None:
        secure, host, port, path = plain[1] == "s", plain[2].lower(), plain[3], plain[4]
        usual = port in (None, "443" if secure else "80")
        number = (443 if secure else 80) if usual else int(port)
        named = host if usual else f"{host}:{number}"
        return Endpoint(text, host, number, secure, path.encode()), {b"host": named.encode()}
    import httpx2

    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL as error:
        raise HttpFailure(str(error)) from None
    if url.scheme not in ("http", "https"):
        raise HttpFailure(f"`{url.scheme}` is not http or https")
    headers = {b"host": url.netloc}
    if url.userinfo:
        headers[b"authorization"] = b"Basic " + b64encode(unquote_to_bytes(url.userinfo))
    secure = url.scheme == "https"
    port = url.port or (443 if secure else 80)
    return Endpoint(text, url.raw_host.decode("ascii"), port, secure, url.raw_path), headers


def _error_text(content: bytes) -> str:
    """What a refusal says in words."""
    try:
        data = loads(content)
    except ValueError:
        return _shown(content)
    if isinstance(data, list) and len(data) == 1:  # As Google's servers write it for streams.
        [data] = data
    return error_text(data.get("error", data) if isinstance(data, dict) else data)


def _shown(content: bytes) -> str:
    text = content[: 4 * _SHOWN].decode("utf-8", "replace").strip()
    if not text:
        return "nothing"
    if text[:1] == "<":
        words = " ".join(re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL).split())
        return f"an HTML page (`{words[:80]}`)"
    return f"`{text[:80]}`" if len(text) > 80 or "{" in text else text


_RETRY_DELAY = re.compile(rb'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
"""How Google's servers say it: https://cloud.google.com/apis/design/errors, `RetryInfo`."""


def _retry_after_ms(headers: Mapping[str, str], content: bytes) -> int | None:
    """The pause a server asks for: `retry-after-ms`, or `retry-after` in seconds or as a date, or in what it
    says."""
    try:
        if "retry-after-ms" in headers:
            return max(0, int(float(headers["retry-after-ms"])))
        if "retry-after" in headers:
            return _pause_ms(headers["retry-after"])
        if said := _RETRY_DELAY.search(content):
            return _pause_ms(said[1].decode())
    except (ValueError, OverflowError):
        pass
    return None


def _pause_ms(text: str) -> int:
    from datetime import UTC
    from email.utils import parsedate_to_datetime
    from time import time

    if re.fullmatch(r"\d+(\.\d+)?", text.strip()):
        return int(min(float(text), _LONGEST_PAUSE) * 1000)
    until = parsedate_to_datetime(text)
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0, int((until.timestamp() - time()) * 1000))
