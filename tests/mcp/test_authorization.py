"""OAuth: where tokens are kept, and a browser that brings none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp.client.auth import OAuthFlowError
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from concerto.runtime.mcp import authorization
from concerto.runtime.mcp.authorization import Browser, TokenStore
from concerto.runtime.mcp.settings import OAuthSettings, read_settings

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


def test_settings_are_those_of_the_manifest() -> None:
    given = {"url": URL, "oauth": {"grant": "client_credentials", "client_id": "c", "client_secret_env": "S"}}
    settings = read_settings("x", {}, given, {"S": "secret"}, Path())
    assert settings.oauth == OAuthSettings("client_credentials", "c", "secret")
    assert "secret" not in repr(settings)
