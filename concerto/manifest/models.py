"""What a manifest can say: one frozen model per table of section 24 of the reference.

A field without a value in the file is None where the source or a built-in default decides.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from concerto.manifest.labels import SinkKind, SourceLabel
from concerto.manifest.providers import ProviderKind

# TOML has arrays only; models are frozen, so arrays become tuples.
Strings: TypeAlias = Annotated[tuple[str, ...], Field(strict=False)]
Positive: TypeAlias = Annotated[int, Field(gt=0)]
Count: TypeAlias = Annotated[int, Field(ge=0)]
Seconds: TypeAlias = Annotated[float, Field(gt=0)]
Amount: TypeAlias = Annotated[float, Field(ge=0)]
RetryReason: TypeAlias = Annotated[int, Field(ge=400, le=599)] | Literal["timeout", "connection"]


class Table(BaseModel):
    """Unknown keys are refused and values are not converted: `"30"` is no number."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", populate_by_name=True)


class ProjectTable(Table):
    name: str = ""
    version: str = ""
    entry: str | None = None


class RetryTable(Table):
    max_attempts: Positive = 3
    backoff: Literal["none", "linear", "exponential"] = "exponential"
    initial_delay_ms: Count = 500
    max_delay_ms: Count = 30_000
    retry_on: Annotated[tuple[RetryReason, ...], Field(strict=False)] | None = None


class RateLimit(Table):
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    concurrent_requests: Positive | None = None


class ConnectionTable(Table):
    """`provider` may be left out where the connection's name is that of a provider."""

    provider: ProviderKind | None = None
    api_key_env: str | None = None
    base_url: str | None = None
    default_model: str | None = None
    timeout: Seconds | None = None
    organization: str | None = None
    project: str | None = None
    headers: dict[str, str] = {}
    models: dict[str, str] = {}
    retry: RetryTable = RetryTable()
    rate_limit: RateLimit = RateLimit()


class McpServerTable(Table):
    """`env` holds names of variables that are passed on, never their values."""

    transport: Literal["stdio", "http", "sse"] | None = None
    command: str | None = None
    args: Strings = ()
    env: Strings = ()
    url: str | None = None
    headers: dict[str, str] = {}
    timeout: Seconds | None = None
    start_timeout: Seconds | None = None
    share: bool = False


class HostTable(Table):
    """`processes` is how many executions run at once, each in a process of its own. `transport` says what is
    so anyway."""

    transport: Literal["stdio"] = "stdio"
    command: str
    args: Strings = ()
    env: Strings = ()
    working_dir: str | None = None
    timeout: Seconds | None = None
    processes: Positive = 1
    params: dict[str, Any] = {}


class PythonToolTable(Table):
    """`import = "package.module:object"`"""

    import_: Annotated[str, Field(alias="import", pattern=r"^[\w.]+:[\w.]+$")]


class PermissionsTable(Table):
    """Every other key is a tool, an MCP server or a host: true or false, or a table of its methods."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, bool | dict[str, bool]]

    files: Strings | None = None
    http: Strings | None = None


class RuntimeTable(Table):
    max_iterations: Positive | None = None
    max_injected_tools: Count | None = None
    timeout: Seconds | None = None
    emit_timeout: Seconds | None = None
    max_usd: Amount | None = None
    max_tokens: Count | None = None
    max_memory_mb: Annotated[float, Field(gt=0)] | None = None
    max_response_mb: Annotated[float, Field(gt=0)] | None = None
    record: str | None = None


class RunsTable(Table):
    """Which runs are kept, and where."""

    store: str | None = None
    keep: Literal["auto", "always", "never"] | None = None
    prune_days: Annotated[float, Field(ge=0)] | None = None


class TrustToolSection(Table):
    """What `@source` and `@sink` would say of a tool that cannot be edited."""

    source: SourceLabel | None = None
    sink: SinkKind | None = None
    trusted: Strings = ()
    allow: dict[str, Strings] = {}


class TrustSection(Table):
    """Keys of `tools` are `Tool::method`, or a tool or server as a whole."""

    mode: Literal["deny", "off"] = "deny"
    tools: dict[str, TrustToolSection] = {}


class Price(Table):
    """USD per million tokens. Input that a server had in its cache costs `cached_input`; without it, as much
    as any other."""

    input: Amount
    output: Amount
    cached_input: Amount | None = None

    @property
    def of_cached(self) -> float:
        return self.input if self.cached_input is None else self.cached_input


class Manifest(Table):
    """All of `Concerto.toml`; `[agents.X]` has been joined into `hosts`."""

    project: ProjectTable = ProjectTable()
    connections: dict[str, ConnectionTable] = {}
    runs: RunsTable = RunsTable()
    mcp: dict[str, McpServerTable] = {}
    hosts: dict[str, HostTable] = {}
    agents: dict[str, HostTable] = {}
    tools: dict[str, PythonToolTable] = {}
    permissions: PermissionsTable = Field(default_factory=lambda: PermissionsTable.model_validate({}))
    runtime: RuntimeTable = RuntimeTable()
    prices: dict[str, Price] = {}
    trust: TrustSection | None = None
