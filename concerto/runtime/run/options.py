"""What a run was started with: switches, and the parts of the manifest that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from concerto.effects.permissions import Permissions
from concerto.records import field, record

if TYPE_CHECKING:
    from concerto.effects.journal import Journal
    from concerto.effects.layers.watch import Watcher
    from concerto.manifest.load_cached import Said
    from concerto.manifest.models import Manifest
    from concerto.vm.machine import Tier

Json: TypeAlias = Any
Handler: TypeAlias = Callable[[Json], Any]


@record(frozen=True)
class Settings:
    """The numbers of `[runtime]`; None where nothing was said. Times are in seconds."""

    max_iterations: int | None = None
    max_injected_tools: int | None = None
    timeout: float | None = None
    max_usd: float | None = None
    max_tokens: int | None = None
    emit_timeout: float | None = None
    max_memory_mb: float | None = None
    max_response_mb: float | None = None


@record(frozen=True)
class Options:
    """`folder` is where relative paths start; files may be used below it. `connections`, `prices`, `hosts`
    and `mcp` are those of the manifest, `python_tools` the imports it names; `tools` are Python objects that
    the host gave by name, `strategies` its ToolInjectionStrategies. `journal` and `already_said` belong to a
    run that is resumed. With `echo` emits are written to the output. In an `interactive` run a person at the
    terminal answers the awaited emits that nobody else does. `trace` takes the lines of a trace.
    `environment` is read, never kept."""

    folder: Path
    environment: Mapping[str, str]
    mock: bool = False
    echo: bool = False
    quiet: bool = False
    json: bool = False
    debug: bool = False
    testing: bool = False
    interactive: bool = False
    tier: Tier = "python"
    args: tuple[str, ...] = ()
    handlers: Mapping[str, Handler] = field(default_factory=dict)
    permissions: Permissions = field(default_factory=Permissions)
    settings: Settings = field(default_factory=Settings)
    connections: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    prices: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    journal: Journal | None = None
    already_said: int = 0
    tools: Mapping[str, Any] = field(default_factory=dict)
    strategies: tuple[Any, ...] = ()
    python_tools: Mapping[str, str] = field(default_factory=dict)
    hosts: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    mcp: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    output: TextIO | None = None
    errors: TextIO | None = None
    watcher: Watcher | None = None
    trace: TextIO | None = None


def read_manifest(options: Options, manifest: Manifest | Said) -> Options:
    """The options with a manifest's settings below those already given."""
    from concerto.records import replace

    said = said_of(manifest)
    numbers, own = said.runtime, options.settings
    settings = Settings(
        own.max_iterations or numbers.get("max_iterations"),
        numbers.get("max_injected_tools") if own.max_injected_tools is None else own.max_injected_tools,
        own.timeout or numbers.get("timeout"),
        numbers.get("max_usd") if own.max_usd is None else own.max_usd,
        numbers.get("max_tokens") if own.max_tokens is None else own.max_tokens,
        numbers.get("emit_timeout"),
        own.max_memory_mb or numbers.get("max_memory_mb"),
        numbers.get("max_response_mb"),
    )
    return replace(
        options,
        settings=settings,
        permissions=replace(options.permissions.with_rules(said.permissions), started=_started(said)),
        connections=said.connections,
        prices=said.prices,
        hosts=said.hosts,
        python_tools=said.python_tools,
        mcp=said.mcp,
    )


def said_of(manifest: Manifest | Said) -> Said:
    from concerto.manifest.load_cached import Said, said_by

    return manifest if isinstance(manifest, Said) else said_by(manifest)


def _started(said: Said) -> tuple[str, ...]:
    """The files that a manifest has started or imported, as far as they are in the project."""
    commands = [*said.hosts.values(), *said.mcp.values()]
    words = [word for each in commands for word in (each.get("command"), *each.get("args", ())) if word]
    modules = [each.partition(":")[0].replace(".", "/") for each in said.python_tools.values()]
    return (*words, *[f"{each}{end}" for each in modules for end in (".py", "/__init__.py")])


def with_connections(options: Options, given: Mapping[str, Mapping[str, Json]]) -> Options:
    """The options with a host's settings of connections over all others. A key that stands among them is
    put into the environment of this run alone."""
    if not given:
        return options
    from concerto.records import replace

    connections, environment = dict(options.connections), dict(options.environment)
    for name, settings in given.items():
        own = dict(settings)
        if isinstance(own.get("api_key"), str):
            variable = own["api_key_env"] = f"CONCERTO_KEY_OF_{name}"
            environment[variable] = own.pop("api_key")
        connections[name] = {**connections.get(name, {}), **own}
    return replace(options, connections=connections, environment=environment)
