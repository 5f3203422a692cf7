"""OAuth: where tokens are kept, and a browser that brings none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.auth import OAuthFlowError
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from concerto.runtime.mcp import authorization
from concerto.runtime.mcp.authorization import Browser, TokenStore
from concerto.runtime.mcp.connection import Era, Listener, McpConnection, ServerFailure
from concerto.runtime.mcp.settings import OAuthSettings, ServerSettings, read_settings

URL = "https://x.example/mcp"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONCERTO_STATE", str(tmp_path))
    monkeypatch.setattr(authorization, "_keyring", lambda: None)
    return tmp_path


@pytest.mark.usefixtures("state")
def test_tokens_and_client_are_kept_for_the_user_alone(state: Path) -> None:
    async def body() -> None:
        store = TokenStore(URL, OAuthSettings())
        assert (await store.get_tokens(), await store.get_client_info(), store.redirect) == (None, None, "")
        client = OAuthClientInformationFull.model_validate(
            {"client_id": "c", "redirect_uris": ["http://127.0.0.1:1234/callback"]}
        )
        await store.set_client_info(client)
        await store.set_tokens(OAuthToken(access_token="a", refresh_token="r", expires_in=1000))
        again = TokenStore(URL, OAuthSettings())
        tokens, known = await again.get_tokens(), await again.get_client_info()
        assert tokens is not None and (tokens.access_token, tokens.refresh_token) == ("a", "r")
        assert known is not None and known.client_id == "c"
        assert again.redirect == "http://127.0.0.1:1234/callback"
        assert await TokenStore("https://other.example/mcp", OAuthSettings()).get_tokens() is None

    asyncio.run(body())
    [file] = (state / "mcp").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("state")
def test_an_expired_token_has_to_be_refreshed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        store = TokenStore(URL, OAuthSettings())
        await store.set_tokens(OAuthToken(access_token="a", refresh_token="r", expires_in=10))
        late = time.time() + 11
        monkeypatch.setattr("concerto.runtime.mcp.authorization.time.time", lambda: late)
        tokens = await store.get_tokens()
        assert tokens is not None and (tokens.access_token, tokens.refresh_token) == ("", "r")

    asyncio.run(body())


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize(
    ("answer", "known"),
    [({"error": "invalid_client"}, False), ({"error": "invalid_grant"}, True), ("?", True)],
)
def test_a_client_that_its_server_has_forgotten_registers_again(answer: Any, known: bool) -> None:
    async def body() -> None:
        store = TokenStore(URL, OAuthSettings())
        client = {"client_id": "c", "redirect_uris": ["http://127.0.0.1:1234/callback"]}
        await store.set_client_info(OAuthClientInformationFull.model_validate(client))
        await store.set_tokens(OAuthToken(access_token="a", refresh_token="r", expires_in=0))
        settings = ServerSettings("x", "http", url=URL, oauth=OAuthSettings())
        flow = authorization.authorization(settings, nullcontext)
        assert flow is not None
        requests = flow.async_auth_flow(httpx2.Request("POST", URL))
        refresh = await anext(requests)
        assert b"refresh_token=r" in refresh.content
        await requests.asend(httpx2.Response(401, json=answer, request=refresh))
        assert (flow.context.client_info is not None) == known
        assert (await store.get_client_info() is not None) == known
        await requests.aclose()

    asyncio.run(body())


@pytest.mark.usefixtures("state")
def test_a_file_that_is_broken_holds_nothing(state: Path) -> None:
    async def body() -> None:
        store = TokenStore(URL, OAuthSettings())
        await store.set_tokens(OAuthToken(access_token="a"))
        [file] = (state / "mcp").iterdir()
        file.write_text("[")
        assert await store.get_tokens() is None

    asyncio.run(body())


def test_who_refuses_in_the_browser_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER", "curl -s -o /dev/null %s")

    @contextmanager
    def patience() -> Iterator[None]:
        yield

    redirect = authorization._redirect(None)

    async def body() -> None:
        browser = Browser("mcp server `x`", redirect, patience)
        await browser.show(f"{redirect}?error=access_denied&state=s")
        with pytest.raises(OAuthFlowError, match="consent was not given: access_denied"):
            await browser.answer()

    asyncio.run(body())


def test_who_refuses_is_told_of_nothing_else() -> None:
    async def refused() -> None:
        settings = ServerSettings("x", "http", url=URL, oauth=OAuthSettings())
        connection = McpConnection(settings, Listener(print, print, {}))

        async def refuse(era: Era) -> BaseException:
            request = httpx2.Request("POST", URL)
            await connection._note_status(httpx2.Response(401, request=request))
            return OAuthFlowError("consent was not given: access_denied")

        connection._try_to_open = refuse  # type: ignore[method-assign]
        await connection.open()

    with pytest.raises(ServerFailure) as failure:
        asyncio.run(refused())
    told = f"mcp server `x` at {URL} has not authorized this program: consent was not given: access_denied"
    assert str(failure.value) == told


def test_settings_are_those_of_the_manifest() -> None:
    given = {"url": URL, "oauth": {"grant": "client_credentials", "client_id": "c", "client_secret_env": "S"}}
    settings = read_settings("x", {}, given, {"S": "secret"}, Path())
    assert settings.oauth == OAuthSettings("client_credentials", "c", "secret")
    assert "secret" not in repr(settings)
