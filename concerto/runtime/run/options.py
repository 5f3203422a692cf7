"""The options of a run, each declared once: a field of `StoredOptions` or `RunOptions`, with its keyword of
`Runtime` in `RunKeywords`, and a decorator in `concerto.cli.commands` if the command line has it.

The command line, `Runtime`, tests, the session of `concerto repl` and runs that are resumed fill the same
record; `resolve` puts what the project's manifest says beneath.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from math import inf

from concerto.annotating import TYPE_CHECKING, Any, Literal, Protocol, TextIO, TypeAlias
from concerto.effects.permissions import WHOLE, Permissions
from concerto.files import absolute_path
from concerto.json_data import Json
from concerto.manifest.load_cached import ManifestSettings, project_around, settings_of
from concerto.records import field, field_names, record, replace, values_by_name

if TYPE_CHECKING:
    from pathlib import Path
    from typing import TypedDict

    from concerto.effects.layers.watch import Watcher
    from concerto.ir.module import ModuleIR
    from concerto.journal.plan import JournalPlan
    from concerto.journal.recording import Recording
    from concerto.journal.shared_database import SharedDatabase
    from concerto.journal.store import JournalStore
    from concerto.manifest.load_cached import ProjectSettings
    from concerto.manifest.models import Manifest
    from concerto.runtime.llm.http import ModelServer
    from concerto.vm.machine import Tier


_LIMITS = {
    "timeout": (False, False), "emit_timeout": (False, False), "max_usd": (False, True),
    "max_tokens": (True, True), "max_iterations": (True, False), "max_injected_tools": (True, True),
    "max_memory_mb": (False, False), "max_response_mb": (False, False),
}  # fmt: skip
"""The limits of a run: whether each is a whole number, and whether it may be 0."""

_STREAM = "a text stream, as `sys.stderr` is"
_FORMS = {
    "args": "an array of texts", "tier": '"python" or "interpreter"', "strategies": "an array of strategies",
    "folder": "a path", "record": "a path", "replay": "a path", "store": "an address or an open store",
    "output": _STREAM, "errors": _STREAM, "trace": _STREAM,
    **dict.fromkeys(
        ("permissions", "environment", "connections", "handlers", "listeners", "tools"), "a mapping"
    ),
}  # fmt: skip
"""What the options are that are no limits."""

_OTLP_ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
)


class HasStore(Protocol):
    """What `concerto.open_store` gives."""

    @property
    def store(self) -> JournalStore: ...


Handler: TypeAlias = Callable[[Json], Any]
Rules: TypeAlias = Mapping[str, Any]
Connections: TypeAlias = Mapping[str, Mapping[str, Json]]


@record(frozen=True, kw_only=True)
class StoredOptions:
    """What a run that has to wait is started with again; all of it has a JSON form. The limits are None where
    the manifest decides.

    With `mock` every model call is answered without network; a mapping says what agents answer, by their
    names: a text, a list of answers in their order, or the fields of `mock Agent { … }`. With `echo` emits
    are written to `output` too, as text or, with `json`, as lines of JSON, `quiet` hiding those of the
    runtime; with `debug` Python tracebacks are shown; with `wait` the run stops and is kept where nobody
    answers an awaited emit, with False not even for an approval. `args` is what `main` gets. `folder` is
    where relative paths start, and files may be used below it: the project's, or the current one.
    `permissions` are those of the manifest's section, for tools and for `Tool::method`. `tier` is what
    executes the code: `"python"` or `"interpreter"`. With `states`, the text of what another run has left,
    tools and declared hashmaps, ledgers and memories go on from there. `entry` is what a client asked for,
    which is done in place of `main`.

    The limits: `timeout` of the run and `emit_timeout` of one answer to an awaited emit, in seconds;
    `max_usd` and `max_tokens` of all its model calls; `max_iterations` requests in one execution, to which at
    most `max_injected_tools` are added; `max_memory_mb` of memory and `max_response_mb` of an answer that is
    read, in units of 2**20 bytes.
    """

    mock: bool | Mapping[str, Any] = False
    echo: bool = False
    quiet: bool = False
    json: bool = False
    debug: bool = False
    wait: bool | None = None
    tier: Tier = "python"
    args: Sequence[str] = ()
    states: str = ""
    entry: Mapping[str, Json] | None = None
    folder: str | Path | None = None
    permissions: Rules | None = None
    timeout: float | None = None
    max_usd: float | None = None
    max_tokens: int | None = None
    max_iterations: int | None = None
    max_injected_tools: int | None = None
    max_memory_mb: float | None = None
    max_response_mb: float | None = None
    emit_timeout: float | None = None


@record(frozen=True, kw_only=True)
class RunOptions(StoredOptions):
    """All options of a run. Those declared here belong to the process that runs it and are never kept.

    `manifest` is that of the program's project unless another is given, or None for none; all other options
    win over it. `handlers` answer channels, and `tool:Tool::method` for tools without a body; `listeners`
    are called with what is emitted on a channel, on `*` with all as `{channel, payload}`; `tools` are
    Python functions, classes or objects by the names that agents use, `strategies` ToolInjectionStrategies.
    `connections` holds settings of connections; an `api_key` may stand among them. What the program prints
    goes to `output`, what is to be said about it to `errors`: the process's streams if not given. `trace`
    gets a JSON line for all that the run asks of the world; spans and metrics of it go to the OpenTelemetry
    collector whose address is `otlp`. `environment` is read, never changed. The run is kept in `store`
    (`sqlite:PATH`, `postgresql://…` or an open one) and written to the file `record`; with `replay` it is
    done again from such a file, without touching the world.

    Not among the keywords of `Runtime`: `states`, `entry`; a `testing` run calls no model and no server
    unless it is `live`, and what `answers` has recorded may answer it in place of the world; in an
    `interactive` one a person at the terminal answers awaited emits that nobody else does; `journal` is what
    a run did before, of which so much as `already_emitted` is not said again; `sessions` is where
    conversations are kept if not in `store`; `model_servers` are those that runs of one process share; a
    `watcher` is told of every call as it begins and ends; with `own_process` the process does nothing else
    than this run, so `max_memory_mb` is told to the system too, and not only looked at now and then; one that
    `parks` ends where it would wait long, to be taken up again.
    """

    manifest: Manifest | ManifestSettings | Literal["project"] | None = "project"
    environment: Mapping[str, str] | None = None
    connections: Connections | None = None
    handlers: Mapping[str, Handler] | None = None
    listeners: Mapping[str, Handler] | None = None
    tools: Mapping[str, Any] | None = None
    strategies: Sequence[Any] = ()
    output: TextIO | None = None
    errors: TextIO | None = None
    trace: TextIO | None = None
    otlp: str | None = None
    store: str | Path | JournalStore | HasStore | None = None
    record: str | Path | None = None
    replay: str | Path | None = None
    testing: bool = False
    live: bool = False
    answers: Recording | None = None
    parks: bool = False
    interactive: bool = False
    journal: Callable[[], JournalPlan] | None = None
    sessions: str | Path | HasStore | JournalStore | SharedDatabase | None = None
    model_servers: dict[str, ModelServer] | None = None
    already_emitted: int = 0
    watcher: Watcher | None = None
    own_process: bool = False


if TYPE_CHECKING:

    class RunKeywords(TypedDict, total=False):
        """The keywords of `Runtime`: fields of RunOptions, for type checkers and editors."""

        mock: bool | Mapping[str, Any]
        echo: bool
        quiet: bool
        json: bool
        debug: bool
        wait: bool | None
        tier: Tier
        args: Sequence[str]
        folder: str | Path | None
        permissions: Rules | None
        timeout: float | None
        max_usd: float | None
        max_tokens: int | None
        max_iterations: int | None
        max_injected_tools: int | None
        max_memory_mb: float | None
        max_response_mb: float | None
        emit_timeout: float | None
        manifest: Manifest | ManifestSettings | Literal["project"] | None
        environment: Mapping[str, str] | None
        connections: Connections | None
        handlers: Mapping[str, Handler] | None
        listeners: Mapping[str, Handler] | None
        tools: Mapping[str, Any] | None
        strategies: Sequence[Any]
        output: TextIO | None
        errors: TextIO | None
        trace: TextIO | None
        otlp: str | None
        store: str | Path | JournalStore | HasStore | None
        record: str | Path | None
        replay: str | Path | None


@record(frozen=True, kw_only=True)
class ResolvedOptions(RunOptions):
    """What a run goes by: its options with the manifest beneath. `permitted` is what the manifest's rules and
    `permissions` come to."""

    folder: str
    environment: Mapping[str, str]
    manifest: ManifestSettings
    connections: Connections
    handlers: Mapping[str, Handler]
    listeners: Mapping[str, Handler]
    tools: Mapping[str, Any]
    permitted: Permissions = field(default_factory=Permissions)

    @property
    def sends_telemetry(self) -> bool:
        """Whether OpenTelemetry is to see the run: a collector is named, or the process that it is part of
        has set providers of its own. Tests and recordings that are shown again are not."""
        if self.testing or self.replay is not None:
            return False
        wanted = bool(
            self.otlp
            or self.manifest.telemetry.get("otlp")
            or "opentelemetry.sdk.trace" in sys.modules
            or any(self.environment.get(name) for name in _OTLP_ENDPOINTS)
        )
        return wanted and self.environment.get("OTEL_SDK_DISABLED", "").lower() != "true"

    @property
    def is_recorded(self) -> bool:
        """Whether effects are written down, or answered from what was."""
        return self.journal is not None or self.answers is not None


def resolve(given: RunOptions, project: ProjectSettings | None = None) -> ResolvedOptions:
    """The options of a run of a program, which may stand in a project."""
    project = project if given.manifest == "project" else None
    manifest = _manifest_of(given, project)
    folder = given.folder if given.folder is not None else project.folder if project is not None else "."
    here = absolute_path(folder)
    resolved = values_by_name(given)
    resolved |= {name: value for name, value in manifest.runtime.items() if resolved.get(name, 0) is None}
    resolved |= {"folder": here, "manifest": manifest, "connections": manifest.connections}
    resolved |= {name: dict(getattr(given, name) or {}) for name in ("handlers", "listeners", "tools")}
    resolved |= {name: _limit(name, resolved[name]) for name in _LIMITS}
    for channel, listener in resolved["listeners"].items():
        check_listener(channel, listener)
    if given.environment is None:
        resolved["environment"] = os.environ
    permitted = Permissions(
        files=(here,), folder=here, started=_started(manifest, given), stores=_stores(manifest, given)
    )
    permitted = permitted.with_rules(manifest.permissions).with_rules(_checked(given.permissions or {}))
    options = ResolvedOptions(**resolved, permitted=permitted)
    return _with_connections(options, given.connections) if given.connections else options


def check_forms(given: RunOptions) -> None:
    """Raise a TypeError for an option that is of another kind than it has to be, and a StoreError for an
    address of a store that is none."""
    for name, wanted in _FORMS.items():
        value = getattr(given, name)
        if value is None:
            continue
        match wanted:
            case "a mapping":
                fits = isinstance(value, Mapping)
            case "a path":
                fits = isinstance(value, str | os.PathLike)
            case "an address or an open store":
                fits = (
                    isinstance(value, str | os.PathLike) or hasattr(value, "store") or hasattr(value, "begin")
                )
            case '"python" or "interpreter"':
                fits = value in ("python", "interpreter")
            case "an array of texts":
                fits = _is_array(value) and all(isinstance(each, str) for each in value)
            case "an array of strategies":
                fits = _is_array(value)
            case _:
                fits = hasattr(value, "write")
        if not fits:
            raise TypeError(f"`{name}` is {wanted}, not {value!r}")
    if isinstance(given.store, str) and not given.store.startswith("sqlite:"):
        from concerto.journal.databases import check_address

        check_address(given.store)
    manifest: object = given.manifest
    if not (manifest in ("project", None) or isinstance(manifest, ManifestSettings)):
        from concerto.manifest.models import Manifest

        if not isinstance(manifest, Manifest):
            raise TypeError(f'`manifest` is a Manifest, "project" or None, not {manifest!r}')
    for name, said in (given.connections or {}).items():
        if not isinstance(said, Mapping):
            raise TypeError(f"connection `{name}` is a mapping, not {said!r}")


def _is_array(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _limit(name: str, value: Any) -> Any:
    """A limit as it holds, None for none; TypeError or ValueError for what cannot limit."""
    if value is None or value == inf:
        return None
    whole, may_be_zero = _LIMITS[name]
    wanted = f"a {'whole ' if whole else ''}number {'of at least' if may_be_zero else 'above'} 0"
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise TypeError(f"`{name}` is {wanted}, not {value!r}")
    if not (value > 0 or (may_be_zero and value == 0)):
        raise ValueError(f"`{name}` is {wanted}, not {value!r}")
    return value


def check_listener(channel: str, listener: object) -> None:
    """Raise a TypeError for what cannot listen to a channel."""
    from inspect import iscoroutinefunction

    if iscoroutinefunction(listener):
        raise TypeError("a listener cannot be async; `on_emit` answers awaited emits, `stream` gives all")
    if not callable(listener):
        given = type(listener).__name__
        raise TypeError(f"the listener of `{channel}` is a function that takes the payload, not {given}")


def check_mock(mock: bool | Mapping[str, Any], module: ModuleIR) -> None:
    """Raise a TypeError for what mocks no agent of a program."""
    if isinstance(mock, bool):
        return
    if not mock or not isinstance(mock, Mapping):
        raise TypeError("`mock` is True, or says by the names of agents what they answer")
    from concerto.diagnostics.suggestions import did_you_mean, suggest

    agents = [*(each.name for each in module.agents), *(each.name for each in module.hosts)]
    for name, answer in mock.items():
        if name not in agents:
            near = did_you_mean(suggest(name, agents), f"the program has {', '.join(agents) or 'none'}")
            raise TypeError(f"`mock` names `{name}`, which is no agent; {near}")
        if not isinstance(answer, str | list) and not (
            isinstance(answer, Mapping) and answer.keys() <= {"response", "script", "error"} and answer
        ):
            forms = "a text, a list of answers, or has `response`, `script` or `error`"
            raise TypeError(f"what `mock` says of `{name}` is {forms}")


def stored(given: RunOptions, folder: str, project: ProjectSettings | None) -> dict[str, Json]:
    """The StoredOptions of a run in `folder` by name, as JSON, and its manifest: the folder that it stands
    in, or what was given in its place."""
    values = {name: getattr(given, name) for name in field_names(StoredOptions) or ()}
    rules, manifest = _checked(given.permissions or {}), given.manifest
    if manifest == "project":
        kept: Json = None if project is None else str(project.folder)
    else:
        said = _manifest_of(given, None)
        kept = {name: getattr(said, name) for name in field_names(ManifestSettings) or ()}
    return {
        **values,
        "args": list(given.args),
        "folder": folder,
        "permissions": rules,
        "manifest": kept,
    }


def stored_manifest(kept: Json) -> ManifestSettings | ProjectSettings | None:
    """The manifest that `stored` has kept, read again where it stands in a folder; raises as `load_manifest`
    does, and FileNotFoundError if there is none any more."""
    if isinstance(kept, str):
        place = os.path.join(kept, "Concerto.toml")
        project = project_around(place)
        if project is None or str(project.folder) != kept:
            raise FileNotFoundError(place)
        return project
    if kept is None:
        return None
    return settings_from_json(kept)


def settings_from_json(kept: Mapping[str, Json]) -> ManifestSettings:
    """What a manifest said, from its JSON."""
    return ManifestSettings(
        **{**kept, "prices": {model: tuple(each) for model, each in kept["prices"].items()}}
    )


def _manifest_of(given: RunOptions, project: ProjectSettings | None) -> ManifestSettings:
    manifest = given.manifest
    if isinstance(manifest, str):
        manifest = project.settings if project is not None else None
    if manifest is None:
        return ManifestSettings()
    return manifest if isinstance(manifest, ManifestSettings) else settings_of(manifest)


def _started(manifest: ManifestSettings, given: RunOptions) -> tuple[str, ...]:
    """The files that a manifest has started or imported, as far as they are in the project, and those that
    the functions come from which are given to a run."""
    found: list[str] = []
    for each in (*manifest.hosts.values(), *manifest.mcp.values()):
        words = [word for word in (each.get("command"), *each.get("args", ())) if word]
        if "-m" in words[:-1]:
            words += _files_of_module(words[words.index("-m") + 1])
        found += [os.path.join(each.get("working_dir") or "", word) for word in words]
    for place in manifest.python_tools.values():
        found += _files_of_module(place.partition(":")[0])
    for functions in (given.handlers, given.listeners, given.tools):
        found += [file for each in (functions or {}).values() if (file := _file_of(each))]
    return tuple(found)


def _files_of_module(name: str) -> list[str]:
    """Where a Python module is, and any file beside it that it may import."""
    path = name.replace(".", "/")
    return [f"{path}.py", f"{path}/__init__.py", "*.py"]


def _file_of(given: Any) -> str | None:
    code = getattr(given, "__code__", None)
    module = sys.modules.get(getattr(given, "__module__", None) or "")
    file = getattr(module, "__file__", None) if code is None else code.co_filename
    return os.path.abspath(file) if file else None


def _stores(manifest: ManifestSettings, given: RunOptions) -> tuple[str, ...]:
    """The files of the stores and recordings that a run has, and of the store of its project."""
    stores = [_file_of_store(each) for each in (given.store, given.sessions)]
    files = [os.path.abspath(each) for each in (*stores, given.record, given.replay) if each]
    return tuple([each for each in (*files, _file_of_store(manifest.runs.get("store"))) if each])


def _file_of_store(store: Any) -> str:
    own = getattr(store, "store", store)
    address = str(getattr(own, "url", own) or "")
    return "" if "://" in address else os.path.expanduser(address.removeprefix("sqlite:"))


def _with_connections(options: ResolvedOptions, given: Connections) -> ResolvedOptions:
    """The options with a host's settings of connections over all others. A key that stands among them is
    put into the environment of this run alone."""
    connections, environment = dict(options.connections), dict(options.environment)
    for name, settings in given.items():
        own = dict(settings)
        if isinstance(own.get("api_key"), str):
            variable = own["api_key_env"] = f"CONCERTO_KEY_OF_{name}"
            environment[variable] = own.pop("api_key")
        connections[name] = {**connections.get(name, {}), **own}
    return replace(options, connections=connections, environment=environment)


def _checked(rules: Rules) -> dict[str, Any]:
    """Permission rules as JSON; raises TypeError for what is no rule."""
    checked: dict[str, Any] = {}
    for name, rule in rules.items():
        if not isinstance(name, str):
            raise TypeError(f"a permission has the name of a tool, not {name!r}")
        if name in _PLACES:
            checked[name] = _places(name, rule)
            continue
        for each, answer in rule.items() if isinstance(rule, Mapping) else [(WHOLE, rule)]:
            if not isinstance(each, str):
                raise TypeError(f"the permissions of `{name}` have names of methods, not {each!r}")
            if not isinstance(answer, bool):
                raise TypeError(f"the permission of `{name}` is True or False, not {answer!r}")
        checked[name] = dict(rule) if isinstance(rule, Mapping) else rule
    return checked


_PLACES = {
    "files": ("folders and files", (str, os.PathLike)),
    "http": ("names of hosts", (str,)),
}


def _places(name: str, rule: Any) -> list[str]:
    """What `files` or `http` lists. True and False mean nothing there."""
    what, types = _PLACES[name]
    if not isinstance(rule, list | tuple) or not all(isinstance(each, types) for each in rule):
        raise TypeError(f"the permission of `{name}` is a list of {what}, not {rule!r}")
    return [os.fspath(each) for each in rule]
