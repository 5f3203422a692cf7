"""How a server is reached: the settings of an `mcp` block and of the manifest's `[mcp.Name]`, joined and
read.

The manifest wins key by key. Values that are secret stand in the environment; both places hold their names.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast

from concerto.json_data import Json
from concerto.runtime.io.headers import refused_header
from concerto.runtime.io.variables import MissingVariable, expanded, variable
from concerto.vocabulary.fields import MCP

Transport: TypeAlias = Literal["stdio", "http", "sse"]

START_SECONDS: Final = cast(float, MCP["start_timeout"].default)
CALL_SECONDS: Final = cast(float, MCP["timeout"].default)


class BadSettings(Exception):
    """A server that cannot be reached as it is described; the text says why."""


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """How a run is authorized. Without a `client_id` it registers itself."""

    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    client_metadata_url: str = ""
    issuer: str = ""
    redirect_port: int | None = None


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """`command` and `environment` are for stdio, `url` and `headers` for the other two. Nothing here is
    shown to anybody but `title`."""

    name: str
    transport: Transport
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path = Path()
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    start_seconds: float = START_SECONDS
    call_seconds: float = CALL_SECONDS
    share: bool = False
    oauth: OAuthSettings | None = None

    @property
    def title(self) -> str:
        """How messages call the server."""
        return f"mcp server `{self.name}`"


def read_settings(
    name: str,
    declared: Mapping[str, Json],
    manifest: Mapping[str, Json],
    environment: Mapping[str, str],
    folder: Path,
) -> ServerSettings:
    """The settings of a server; raises BadSettings."""
    said = {**declared, **{key: value for key, value in manifest.items() if value is not None}}
    transport: Transport = said.get("transport") or _usual_transport(said)
    start, call = said.get("start_timeout") or START_SECONDS, said.get("timeout") or CALL_SECONDS
    try:
        if transport == "stdio":
            return ServerSettings(
                name,
                transport,
                command=_command(said, environment),
                environment=_variables(said.get("env") or {}, environment),
                folder=folder,
                start_seconds=start,
                call_seconds=call,
                share=bool(said.get("share")),
            )
        return ServerSettings(
            name,
            transport,
            url=_url(expanded(said.get("url") or "", environment)),
            headers=_headers(said, environment),
            start_seconds=start,
            call_seconds=call,
            share=bool(said.get("share")),
            oauth=_oauth(said.get("oauth"), environment),
        )
    except MissingVariable as missing:
        raise BadSettings(f"mcp server `{name}` needs the variable `{missing}`, which is not set") from None
    except BadSettings as bad:
        raise BadSettings(f"mcp server `{name}` {bad}") from None


def _usual_transport(said: Mapping[str, Json]) -> Transport:
    return "http" if "url" in said and "command" not in said else "stdio"


def _command(said: Mapping[str, Json], environment: Mapping[str, str]) -> tuple[str, ...]:
    """The program and its arguments. A command of several words is read as a shell reads it, without a
    shell."""
    command = str(said.get("command") or "")
    if not command.strip():
        raise BadSettings('has no `command`: add `command = "…"` to its settings')
    arguments = tuple(str(each) for each in said.get("args") or ())
    if shutil.which(command, path=environment.get("PATH")) is not None:
        return (command, *arguments)  # A path with blanks in it needs no quotes.
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadSettings(f"has a `command` that cannot be read: {str(error).lower()}: `{command}`") from None
    return (*words, *arguments)


def _headers(said: Mapping[str, Json], environment: Mapping[str, str]) -> dict[str, str]:
    headers = {
        key: expanded(value, environment).strip() for key, value in (said.get("headers") or {}).items()
    }
    if refused := refused_header(headers):
        raise BadSettings(f"cannot be asked: {refused}")
    return headers


def _oauth(said: Json, environment: Mapping[str, str]) -> OAuthSettings | None:
    if said is None:
        return None
    given = {key: value for key, value in said.items() if value is not None}
    secret = given.pop("client_secret_env", None)
    if given.get("grant") == "client_credentials" and not (secret and "client_id" in given):
        raise BadSettings("has the grant `client_credentials` and no `client_id` and `client_secret_env`")
    return OAuthSettings(**given, client_secret=variable(secret, environment) if secret else "")


def _url(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise BadSettings("has no `url`" if not url else f"has a `url` that is not http: `{url}`")
    return url


def _variables(said: Json, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables to pass on: names in a list, or values under names."""
    if isinstance(said, Mapping):
        return {name: expanded(value, environment) for name, value in said.items()}
    return {str(name): variable(str(name), environment) for name in said}
