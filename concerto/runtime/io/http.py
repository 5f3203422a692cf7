"""HTTP requests of the program itself, not of its models. Every hop of a redirect needs the permission, and
so does the address that its host's name leads to."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urljoin
from urllib.request import getproxies, proxy_bypass

import httpx2

from concerto.effects.error_kinds import ConnectionKind
from concerto.effects.kinds import Http
from concerto.effects.permissions import Permissions, host_of
from concerto.runtime.io.addresses import permitted_addresses
from concerto.runtime.io.bodies import MEGABYTE, TooLarge, whole
from concerto.runtime.io.certificates import Authorities, authorities, tls_context
from concerto.runtime.io.headers import encoded, refused_header
from concerto.runtime.llm.http11 import HttpAnswer, HttpConnection, unpacked
from concerto.runtime.llm.sockets import HttpFailure, SocketStream, connect
from concerto.vm.values import ErrorValue, Raised
from concerto.well_formed import well_formed
from concerto.wording import counted

_DEFAULT_TIMEOUT = 30.0
_MOST_HOPS = 5
_MOST_MEGABYTES = 64.0
"""The longest body that is read, unpacked."""
_ACCEPTED = {"accept-encoding": "gzip, deflate"}
_SECRETS = ("authorization", "cookie")
"""Headers that are for the host that was asked, not for those it leads to."""
_PROXIES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
_SYSTEMS_WITH_PROXIES = ("darwin", "win32")
"""Where proxies are also set outside of the environment."""


async def fetch(
    effect: Http,
    permissions: Permissions,
    environment: Mapping[str, str],
    max_response_mb: float | None = None,
) -> dict[str, Any]:
    """`{"status", "body", "headers"}` of the answer, whatever its status; a ConnectionError if there is
    none within its time and size, redirects included."""
    refused = refused_header(effect.headers)
    if refused is not None:
        raise _failure(refused, ConnectionKind.INVALID_HEADER)
    most = int((max_response_mb or _MOST_MEGABYTES) * MEGABYTE)
    seconds = _DEFAULT_TIMEOUT if effect.timeout_ms is None else effect.timeout_ms / 1000
    try:
        async with asyncio.timeout(seconds):
            return _answer(await _follow(effect, permissions, authorities(environment), most))
    except TimeoutError:
        raise _failure(
            f"`{effect.url}` gave no answer within {counted(seconds, 'second')}", ConnectionKind.TIMEOUT
        ) from None
    except httpx2.InvalidURL as error:
        shown = effect.url.encode("unicode_escape").decode()
        raise _failure(f"`{shown}` is no web address: {error}", ConnectionKind.INVALID_URL) from None
    except (HttpFailure, httpx2.HTTPError, httpx2.StreamError, UnicodeError) as error:
        why = str(error) or type(error).__name__
        raise _failure(f"no answer from `{effect.url}`: {why}", ConnectionKind.CONNECTION_LOST) from None


async def _follow(effect: Http, permissions: Permissions, trusted: Authorities, most: int) -> httpx2.Response:
    method, url, body, headers = effect.method, effect.url, effect.body, dict(effect.headers)
    for _ in range(_MOST_HOPS):
        response = await _send(
            method, url, headers, body, _client(httpx2.URL(url), permissions, trusted), most
        )
        if not response.has_redirect_location:
            return response
        location = response.headers["location"]
        try:
            before, url = url, urljoin(url, location)
        except ValueError:
            raise _failure(
                f"`{effect.url}` leads to `{location}`, which is no web address", ConnectionKind.INVALID_URL
            ) from None
        if not permissions.allows_url(url):
            raise _failure(
                f"`{effect.url}` leads to `{url}`, which is not on the allow list",
                ConnectionKind.PERMISSION_DENIED,
            )
        if host_of(url) != host_of(before) or (before[:6] == "https:") > (url[:6] == "https:"):
            headers = {name: value for name, value in headers.items() if name.lower() not in _SECRETS}
        if response.status_code in (301, 302, 303) and method.upper() != "HEAD":
            method, body = "GET", ""
    raise _failure(
        f"`{effect.url}` was redirected more than {_MOST_HOPS} times", ConnectionKind.TOO_MANY_REDIRECTS
    )


async def _send(
    method: str, url: str, headers: dict[str, str], body: str, client: httpx2.AsyncClient, most: int
) -> httpx2.Response:
    async with client:
        content = body.encode() if body else None
        request = client.build_request(method, url, headers=list(encoded(headers).items()), content=content)
        response = await client.send(request, stream=True)
        try:
            packed = response.headers.get("content-encoding", "")
            content = await whole(unpacked(response.aiter_raw(), packed), most)
        except TooLarge:
            message = f"`{url}` answered with more than {most / MEGABYTE:g} MB"
            raise _failure(message, ConnectionKind.TOO_LARGE) from None
        finally:
            await response.aclose()
    # What is packed on the way is not any more.
    plain = [(name, value) for name, value in response.headers.raw if name.lower() != b"content-encoding"]
    return httpx2.Response(response.status_code, headers=plain, content=content)


def _client(url: httpx2.URL, permissions: Permissions, trusted: Authorities) -> httpx2.AsyncClient:
    if any(name in os.environ for name in _PROXIES) or sys.platform in _SYSTEMS_WITH_PROXIES:
        proxies = getproxies()
        if (url.scheme in proxies or "all" in proxies) and not proxy_bypass(url.host):
            # It is the proxy that looks names up.
            tls = tls_context(trusted) if url.scheme == "https" else False
            return httpx2.AsyncClient(timeout=None, headers=_ACCEPTED, follow_redirects=False, verify=tls)
    return httpx2.AsyncClient(timeout=None, headers=_ACCEPTED, transport=_Judged(permissions, trusted))


class _Judged(httpx2.AsyncBaseTransport):
    """Connects to addresses that the run may reach, whatever the host's name leads to. Each request has a
    connection of its own."""

    def __init__(self, permissions: Permissions, trusted: Authorities) -> None:
        self._permissions = permissions
        self._trusted = trusted

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.scheme not in ("http", "https"):
            raise httpx2.UnsupportedProtocol(f"`{request.url.scheme}` is not http or https")
        content = request.stream
        assert isinstance(content, httpx2.AsyncByteStream)
        connection = HttpConnection(await self._connected(request.url))
        answer = await connection.ask(
            request.method,
            request.url.raw_path,
            request.headers.raw,
            b"".join([piece async for piece in content]),
        )
        return httpx2.Response(answer.status_code, headers=answer.fields, stream=_Body(answer, connection))

    async def _connected(self, url: httpx2.URL) -> SocketStream:
        host, secure = url.raw_host.decode("ascii"), url.scheme == "https"
        port = url.port or (443 if secure else 80)
        try:
            addresses = await permitted_addresses(host, port, self._permissions)
        except OSError as error:
            raise httpx2.ConnectError(error.strerror or str(error)) from None
        if not addresses:
            raise _failure(
                f"`{host}` leads to addresses of a private network or of this machine, which are not on the "
                "allow list",
                ConnectionKind.PERMISSION_DENIED,
            )
        tls = tls_context(self._trusted) if secure else None
        for address in addresses[:-1]:
            with suppress(HttpFailure):
                return await connect(host, port, tls, address=address)
        return await connect(host, port, tls, address=addresses[-1])


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: HttpAnswer, connection: HttpConnection) -> None:
        self._answer = answer
        self._connection = connection

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._answer.aiter_raw()

    async def aclose(self) -> None:
        self._connection.close()


def _answer(response: httpx2.Response) -> dict[str, Any]:
    headers = {name: well_formed(value) for name, value in response.headers.items()}
    return {"status": response.status_code, "body": well_formed(response.text), "headers": headers}


def _failure(message: str, kind: ConnectionKind) -> Raised:
    return Raised(ErrorValue("ConnectionError", message, kind.value))
