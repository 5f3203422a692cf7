"""Connections: where the model servers are and how to talk to them.

Settings come from four places, each over the one before: the built-in defaults of a provider, `connect` in
the source, `Concerto.toml`, the host. Keys are named by their environment variables and read when first
used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from concerto.diagnostics import did_you_mean, suggest
from concerto.effects.error_kinds import AgentKind
from concerto.effects.policy import Retry, retry_from
from concerto.records import field, frozen
from concerto.runtime.io.headers import refused_header
from concerto.runtime.io.variables import MissingVariable, expanded
from concerto.runtime.llm.providers import find_provider
from concerto.runtime.run.agent_failures import agent_failure
from concerto.vocabulary.providers import PROVIDER_KINDS, PROVIDERS


@frozen
class Connection:
    """One connection with everything settled. `key_env` is empty if no key is needed."""

    name: str
    provider: str
    base_url: str = ""
    key_env: str = ""
    default_model: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    """What of the headers came from the environment."""
    timeout: float | None = None
    retry: Retry = field(default_factory=lambda: retry_from({}))
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    concurrent_requests: int | None = None

    @property
    def limited(self) -> bool:
        """Whether its requests may have to wait for a turn."""
        limits = (self.requests_per_minute, self.tokens_per_minute, self.concurrent_requests)
        return any(limit is not None for limit in limits)

    def model(self, asked: str | None) -> str:
        """The model's name at the server: an alias of this connection, the name itself, or the default."""
        if not asked:
            return self.default_model
        return self.models.get(asked, asked)


def find_connection(
    name: str,
    source: Mapping[str, Mapping[str, Any]],
    manifest: Mapping[str, Mapping[str, Any]],
    environment: Mapping[str, str],
) -> Connection:
    """The connection of a name; an AgentError if nobody declares it and it is no provider's own."""
    if name not in source and name not in manifest and name not in PROVIDER_KINDS:
        known = sorted({*source, *manifest, *PROVIDER_KINDS})
        near = suggest(name, known)
        hint = f"; {did_you_mean(near)}" if near else ""
        raise agent_failure(
            f"there is no connection `{name}`{hint}", AgentKind.UNKNOWN_CONNECTION, provider=name
        )
    said = {**source.get(name, {}), **manifest.get(name, {})}
    kind = said.get("provider") or name
    if kind not in PROVIDER_KINDS:
        known_kinds = ", ".join(f"`{known}`" for known in PROVIDER_KINDS)
        raise agent_failure(
            f"connection `{name}` has the unknown provider `{kind}`; known are {known_kinds}",
            AgentKind.UNKNOWN_CONNECTION,
            provider=name,
        )
    return _settled(name, kind, said, environment)


def key_of(connection: Connection, environment: Mapping[str, str]) -> str:
    """The API key, empty if none is needed; an AgentError that names the missing variable."""
    if not connection.key_env:
        return ""
    key = environment.get(connection.key_env, "").strip()
    if key:
        return key
    raise agent_failure(
        f"connection `{connection.name}` needs the environment variable `{connection.key_env}`, "
        "which is not set; set it, or run with `--mock` to answer without a model",
        AgentKind.MISSING_KEY,
        provider=connection.name,
    )


def _settled(name: str, kind: str, said: Mapping[str, Any], environment: Mapping[str, str]) -> Connection:
    rates = said.get("rate_limit") or {}
    try:
        headers, secrets = _headers(said, environment)
        base_url, key_env = _place(kind, said, environment)
    except MissingVariable as missing:
        message = f"connection `{name}` needs the environment variable `{missing}`, which is not set"
        raise agent_failure(message, AgentKind.MISSING_KEY, provider=name) from None
    if refused := refused_header(headers):
        message = f"connection `{name}` cannot be asked: {refused}"
        raise agent_failure(message, AgentKind.UNKNOWN_CONNECTION, provider=name)
    return Connection(
        name=name,
        provider=kind,
        base_url=base_url,
        key_env=key_env,
        default_model=said.get("default_model") or PROVIDERS[kind].default_model,
        models=said.get("models") or {},
        headers=headers,
        secrets=secrets,
        timeout=said.get("timeout"),
        retry=retry_from(said.get("retry") or {}),
        requests_per_minute=rates.get("requests_per_minute"),
        tokens_per_minute=rates.get("tokens_per_minute"),
        concurrent_requests=rates.get("concurrent_requests"),
    )


def _headers(
    said: Mapping[str, Any], environment: Mapping[str, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The headers by their names in lower case, and those of their values that the environment has a part
    in."""
    named = {"openai-organization": said.get("organization"), "openai-project": said.get("project")}
    headers: dict[str, str] = {}
    secrets: list[str] = []
    for name, written in ((said.get("headers") or {}) | named).items():
        if written:
            value = headers[str(name).lower()] = expanded(written, environment).strip()
            secrets += [value] if value != written else []
    return headers, tuple(secrets)


def _place(kind: str, said: Mapping[str, Any], environment: Mapping[str, str]) -> tuple[str, str]:
    """The server's address and its key's variable. A server of one's own needs a key only if one is named."""
    if kind == "mock":
        return "", ""
    provider = find_provider(kind)
    own = said.get("base_url")
    own = expanded(own, environment) if own else None
    base_url = own or environment.get(provider.base_url_env) or provider.base_url
    if "://" not in str(base_url):
        base_url = f"http://{base_url}"  # `OLLAMA_HOST` is a host and a port.
    named = said.get("api_key_env") or _variable(said.get("api_key"))
    return str(base_url).rstrip("/"), named or ("" if own else provider.key_env)


def _variable(api_key: Any) -> str:
    """The variable in `api_key: env("NAME")`."""
    return str(api_key.get("env", "")) if isinstance(api_key, Mapping) else ""
