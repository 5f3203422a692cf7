"""HTTP requests of the program itself, not of its models. Every hop of a redirect needs the permission."""

from __future__ import annotations

import asyncio
from functools import cache
from ssl import SSLContext
from typing import Any
from urllib.parse import urljoin

import httpx2

from concerto.effects.kinds import Http
from concerto.effects.permissions import Permissions, host_of
from concerto.vm.values import ErrorValue, Raised

_DEFAULT_TIMEOUT = 30.0
_MOST_HOPS = 5
_SECRETS = ("authorization", "cookie")
"""Headers that are for the host that was asked, not for those it leads to."""


async def fetch(effect: Http, permissions: Permissions) -> dict[str, Any]:
    """`{"status", "body", "headers"}` of the answer, whatever its status; a ConnectionError if there is
    none within its time, redirects included."""
    seconds = _DEFAULT_TIMEOUT if effect.timeout_ms is None else effect.timeout_ms / 1000
    try:
        async with asyncio.timeout(seconds):
            return _answer(await _follow(effect, permissions))
    except TimeoutError:
        raise _failure(f"`{effect.url}` gave no answer within {seconds:g} seconds", "Timeout") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
        why = str(error) or type(error).__name__
        raise _failure(f"no answer from `{effect.url}`: {why}", "ConnectionLost") from None


async def _follow(effect: Http, permissions: Permissions) -> httpx2.Response:
    method, url, body, headers = effect.method, effect.url, effect.body, dict(effect.headers)
    for _ in range(_MOST_HOPS):
        response = await _ask(method, url, headers, body)
        if not response.has_redirect_location:
            return response
        location = response.headers["location"]
        try:
            before, url = url, urljoin(url, location)
        except ValueError:
            raise _failure(
                f"`{effect.url}` leads to `{location}`, which is no web address", "InvalidUrl"
            ) from None
        if not permissions.allows_url(url):
            raise _failure(
                f"`{effect.url}` leads to `{url}`, which is not on the allow list", "PermissionDenied"
            )
        if host_of(url) != host_of(before):
            headers = {name: value for name, value in headers.items() if name.lower() not in _SECRETS}
        if response.status_code in (301, 302, 303):
            method, body = "GET", ""
    raise _failure(f"`{effect.url}` was redirected more than {_MOST_HOPS} times", "TooManyRedirects")


async def _ask(method: str, url: str, headers: dict[str, str], body: str) -> httpx2.Response:
    # Loading certificates costs more than a request; a plain address needs none.
    verify = _certificates() if url.startswith("https:") else False
    async with httpx2.AsyncClient(timeout=None, follow_redirects=False, verify=verify) as client:
        encoded = {name.encode(): value.encode() for name, value in headers.items()}
        return await client.request(method, url, headers=encoded, content=body.encode() if body else None)


@cache
def _certificates() -> SSLContext:
    return httpx2.create_ssl_context()


def _answer(response: httpx2.Response) -> dict[str, Any]:
    return {"status": response.status_code, "body": response.text, "headers": dict(response.headers)}


def _failure(message: str, kind: str) -> Raised:
    return Raised(ErrorValue("ConnectionError", message, kind))
