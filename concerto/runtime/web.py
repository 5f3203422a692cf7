"""HTTP requests of the program itself, not of its models. Every hop of a redirect needs the permission."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

import httpx2

from concerto.effects.kinds import Http
from concerto.effects.permissions import Permissions
from concerto.vm.values import ErrorValue, Raised

_DEFAULT_TIMEOUT = 30.0
_MOST_HOPS = 5


async def fetch(effect: Http, permissions: Permissions) -> dict[str, Any]:
    """`{"status", "body", "headers"}` of the answer, whatever its status; a ConnectionError if there is
    none."""
    seconds = _DEFAULT_TIMEOUT if effect.timeout_ms is None else effect.timeout_ms / 1000
    method, url, body = effect.method.upper(), effect.url, effect.body
    try:
        async with httpx2.AsyncClient(timeout=seconds, follow_redirects=False) as client:
            for _ in range(_MOST_HOPS):
                response = await client.request(
                    method, url, headers=dict(effect.headers), content=body.encode() if body else None
                )
                if not response.has_redirect_location:
                    return _answer(response)
                url = urljoin(url, response.headers["location"])
                if not permissions.allows_url(url):
                    raise _failure(
                        f"`{effect.url}` leads to `{url}`, which is not on the allow list", "PermissionDenied"
                    )
                if response.status_code in (301, 302, 303):
                    method, body = "GET", ""
    except httpx2.TimeoutException:
        raise _failure(f"`{url}` gave no answer within {seconds:g} seconds", "Timeout") from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise _failure(f"no answer from `{url}`: {error or type(error).__name__}", "ConnectionLost") from None
    raise _failure(f"`{effect.url}` was redirected more than {_MOST_HOPS} times", "TooManyRedirects")


def _answer(response: httpx2.Response) -> dict[str, Any]:
    return {"status": response.status_code, "body": response.text, "headers": dict(response.headers)}


def _failure(message: str, kind: str) -> Raised:
    return Raised(ErrorValue("ConnectionError", message, kind))
