"""Authorization at servers by OAuth 2.1. The flow is the library's; here are the person's browser, where it
comes back to, and the place of the tokens.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
import warnings
import webbrowser
from collections.abc import Callable
from contextlib import AbstractContextManager
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp.shared.exceptions import MCPDeprecationWarning
from pydantic import AnyUrl

from concerto.escape import visible_line
from concerto.files import PRIVATE, state_folder, write_atomically
from concerto.json_data import Json
from concerto.runtime.mcp.settings import OAuthSettings, ServerSettings

_PERSON_SECONDS = 300.0
_SERVICE = "concerto-mcp"
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n\r\n"
    b"<!doctype html><title>Concerto</title><p>This window may be closed; the program goes on."
)


def authorization(
    settings: ServerSettings, patience: Callable[[], AbstractContextManager[None]]
) -> OAuthClientProvider | None:
    """What authorizes requests to a server, if its settings want that; `patience` is for the time in which a
    person is asked."""
    wanted = settings.oauth
    if wanted is None:
        return None
    store = TokenStore(settings.url, wanted)
    if wanted.grant == "client_credentials":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            return ClientCredentialsOAuthProvider(
                settings.url, store, wanted.client_id, wanted.client_secret, issuer=wanted.issuer or None
            )
    browser = Browser(settings.title, store.redirect or _redirect(wanted.redirect_port), patience)
    return _Authorization(
        settings.url,
        OAuthClientMetadata(redirect_uris=[AnyUrl(browser.redirect)], client_name="Concerto"),
        store,
        redirect_handler=browser.show,
        callback_handler=browser.answer,
        client_metadata_url=wanted.client_metadata_url or None,
    )


class _Authorization(OAuthClientProvider):
    """The library's, which registers again where the server has forgotten its client: a browser that shows
    the server's page about an unknown client does not come back."""

    async def _handle_refresh_response(self, response: httpx2.Response) -> bool:
        if await super()._handle_refresh_response(response):
            return True
        store = self.context.storage
        if isinstance(store, TokenStore) and store.registers and await _knows_no_client(response):
            store.forget()
            self.context.client_info = None
        return False


async def _knows_no_client(response: httpx2.Response) -> bool:
    try:
        told = json.loads(await response.aread())
    except (httpx2.HTTPError, ValueError):
        return False
    return isinstance(told, dict) and told.get("error") in ("invalid_client", "unauthorized_client")


class Browser:
    """Asks a person for consent, and waits at `redirect` for the answer."""

    def __init__(
        self, title: str, redirect: str, patience: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self.redirect = redirect
        self._title = title
        self._patience = patience
        self._url = ""

    async def show(self, url: str) -> None:
        self._url = url
        sys.stderr.write(f"{self._title} asks for your consent: {visible_line(url)}\n")

    async def answer(self) -> AuthorizationCodeResult:
        """What the browser brings back."""
        arrived: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        place = urlsplit(self.redirect)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                target = (await reader.readuntil(b"\r\n")).decode("latin-1").split(" ")[1]
                asked = urlsplit(target)
                if asked.path == place.path and not arrived.done():
                    arrived.set_result({key: values[0] for key, values in parse_qs(asked.query).items()})
                writer.write(_ANSWER)
                await writer.drain()
            except (OSError, ValueError, IndexError, EOFError):
                pass  # Whoever else comes by is no browser with an answer.
            finally:
                writer.close()

        try:
            server = await asyncio.start_server(serve, place.hostname, place.port)
        except OSError as error:
            raise OAuthFlowError(f"the browser cannot come back to {self.redirect}: {error}") from None
        async with server:
            with self._patience():
                await asyncio.to_thread(webbrowser.open, self._url)
                try:
                    given = await asyncio.wait_for(arrived, _PERSON_SECONDS)
                except TimeoutError:
                    raise OAuthFlowError("nobody gave consent in the browser") from None
        if "code" not in given:
            why = given.get("error_description") or given.get("error") or "without a code"
            raise OAuthFlowError(f"consent was not given: {why}")
        return AuthorizationCodeResult(code=given["code"], state=given.get("state"), iss=given.get("iss"))


class TokenStore:
    """The tokens for one server, and who its client is there: in the keyring of the system if the package
    `keyring` is installed and finds one, else in a file that only the user can read."""

    def __init__(self, url: str, wanted: OAuthSettings) -> None:
        self._url = url
        self._wanted = wanted
        self._path = Path(state_folder()) / "mcp" / f"{sha256(url.encode()).hexdigest()[:16]}.json"
        self._ring = _keyring()

    @property
    def registers(self) -> bool:
        """Whether nobody has said who the client is."""
        return not self._wanted.client_id

    def forget(self) -> None:
        self._write({})

    @property
    def redirect(self) -> str:
        """Where the browser came back to when the client registered; empty if it did not."""
        known = (self._read().get("client") or {}).get("redirect_uris")
        return str(known[0]) if known else ""

    async def get_tokens(self) -> OAuthToken | None:
        kept = self._read()
        if "tokens" not in kept:
            return None
        tokens = OAuthToken.model_validate(kept["tokens"])
        expired = kept.get("expires_at") is not None and kept["expires_at"] <= time.time()
        # Without its text a token is refreshed before anything is asked.
        return tokens.model_copy(update={"access_token": ""}) if expired else tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        ends = None if tokens.expires_in is None else time.time() + tokens.expires_in
        self._write({**self._read(), "tokens": _plain(tokens), "expires_at": ends})

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        wanted, kept = self._wanted, self._read().get("client")
        if not wanted.client_id:
            return None if kept is None else OAuthClientInformationFull.model_validate(kept)
        return OAuthClientInformationFull(
            client_id=wanted.client_id,
            client_secret=wanted.client_secret or None,
            token_endpoint_auth_method="client_secret_basic" if wanted.client_secret else "none",
            issuer=wanted.issuer or None,
        )

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._write({**self._read(), "client": _plain(client_info)})

    def _read(self) -> dict[str, Json]:
        try:
            if self._ring is not None:
                kept = json.loads(self._ring.get_password(_SERVICE, self._url) or "{}")
            else:
                kept = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return kept if isinstance(kept, dict) else {}

    def _write(self, kept: dict[str, Json]) -> None:
        text = json.dumps(kept)
        if self._ring is not None:
            self._ring.set_password(_SERVICE, self._url, text)
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path, text.encode(), PRIVATE)


def _redirect(port: int | None) -> str:
    """An address of this machine, at a port that is free now if none is given."""
    if port is None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    return f"http://127.0.0.1:{port}/callback"


def _keyring() -> Any:
    """The keyring of the system, if there is one that keeps anything."""
    if find_spec("keyring") is None:
        return None
    keyring: Any = import_module("keyring")
    return keyring if keyring.get_keyring().priority > 0 else None


def _plain(model: OAuthToken | OAuthClientInformationFull) -> Json:
    return model.model_dump(mode="json", exclude_none=True)
