"""Models of a manifest: one frozen class per table of section 24 of the reference.

Tables that a declaration of a program has too are made of its rows in `concerto.vocabulary.fields`. A field
without a value in the file is None where the source or a built-in default decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, create_model

from concerto.vocabulary import fields
from concerto.vocabulary.fields import Kind, Rows
from concerto.vocabulary.labels import SinkKind, SourceLabel

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


_TYPES: Final[Mapping[Kind, Any]] = {
    Kind.TEXT: str,
    Kind.TEXTS: Strings,
    Kind.SWITCH: bool,
    Kind.COUNT: Positive,
    Kind.WHOLE: Count,
    Kind.SECONDS: Seconds,
    Kind.TEXT_MAP: dict[str, str],
    Kind.REASONS: Annotated[tuple[RetryReason, ...], Field(strict=False)],
    Kind.JSON_MAP: dict[str, Any],
}
_EMPTY: Final[Mapping[Kind, Any]] = {Kind.TEXTS: (), Kind.TEXT_MAP: {}, Kind.JSON_MAP: {}}


def _table(name: str, rows: Rows) -> type[Table]:
    """The model of the keys that rows give to a manifest."""
    columns: dict[str, Any] = {}
    for key, row in rows.items():
        if row.manifest is None:
            continue
        type_: Any
        if row.parts is not None:
            type_ = _table(key, row.parts)
            columns[key] = (type_, type_())
            continue
        type_ = Literal[row.choices] if row.manifest is Kind.CHOICE else _TYPES[row.manifest]
        if row.required:
            columns[key] = (type_, ...)
        elif row.manifest in _EMPTY:
            columns[key] = (type_, _EMPTY[row.manifest])
        else:
            columns[key] = (type_ | None, None)
    return create_model(name, __base__=Table, __module__=__name__, **columns)


class ProjectTable(Table):
    name: str = ""
    version: str = ""
    entry: str | None = None


if TYPE_CHECKING:
    RetryTable: TypeAlias = Any
    RateLimit: TypeAlias = Any
    ConnectionTable: TypeAlias = Any
    McpServerTable: TypeAlias = Any
    HostTable: TypeAlias = Any
else:
    RetryTable = _table("RetryTable", fields.RETRY)
    RateLimit = _table("RateLimit", fields.RATE_LIMIT)
    ConnectionTable = _table("ConnectionTable", fields.CONNECTION)
    McpServerTable = _table("McpServerTable", fields.MCP)
    HostTable = _table("HostTable", fields.HOST)


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


class ServeTable(Table):
    """Who may use a program that is served, and how much."""

    tokens_env: str | None = None
    concurrent_requests: Count | None = None
    request_timeout: Seconds | None = None
    log: Literal["text", "json"] | None = None


class CodeTable(Table):
    """Limits of one program that a model writes."""

    timeout: Seconds | None = None
    max_calls: Count | None = None
    max_output: Positive | None = None


class RunsTable(Table):
    """Which runs are kept, and where."""

    store: str | None = None
    keep: Literal["auto", "always", "never"] | None = None
    prune_days: Annotated[float, Field(ge=0)] | None = None


class TelemetryTable(Table):
    """Where spans and metrics go: the address of an OpenTelemetry collector."""

    otlp: str | None = None


class TrustToolSection(Table):
    """What `@source` and `@sink` would say of a tool that cannot be edited."""

    source: SourceLabel | None = None
    sink: SinkKind | None = None
    trusted: Strings = ()
    allow: dict[str, Strings] = {}


class TrustSection(Table):
    """Keys of `tools` are `Tool::method`, or a tool or server as a whole. Once a run has read untrusted text,
    `prompts = "literal"` trusts no prompt of its program that does not stand in the source."""

    mode: Literal["deny", "off"] = "deny"
    prompts: Literal["known", "literal"] = "known"
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
    code: CodeTable = CodeTable()
    serve: ServeTable = ServeTable()
    telemetry: TelemetryTable = TelemetryTable()
    mcp: dict[str, McpServerTable] = {}
    hosts: dict[str, HostTable] = {}
    agents: dict[str, HostTable] = {}
    tools: dict[str, PythonToolTable] = {}
    permissions: PermissionsTable = Field(default_factory=lambda: PermissionsTable.model_validate({}))
    runtime: RuntimeTable = RuntimeTable()
    prices: dict[str, Price] = {}
    trust: TrustSection | None = None
