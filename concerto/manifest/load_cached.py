"""The parts of a manifest that a run reads, as plain data.

Reading a manifest costs more than most runs, as checking it needs pydantic: `load_settings` keeps what it
found in the cache, for as long as the file and this package are the same.
"""

from __future__ import annotations

import os
from weakref import ref

from concerto.annotating import TYPE_CHECKING
from concerto.cache import entry_name, read_entry, write_entry
from concerto.files import absolute_path
from concerto.json_data import Json
from concerto.records import field, field_names, record
from concerto.resources import state_of

if TYPE_CHECKING:
    from pathlib import Path

    from concerto.manifest.models import Manifest


@record(frozen=True)
class ManifestSettings:
    """`prices` are input, output and cached input in USD per million tokens, `python_tools` imports by name.
    Settings that a table leaves out are not in its dictionary."""

    runtime: dict[str, Json] = field(default_factory=dict)
    permissions: dict[str, Json] = field(default_factory=dict)
    connections: dict[str, dict[str, Json]] = field(default_factory=dict)
    prices: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    hosts: dict[str, dict[str, Json]] = field(default_factory=dict)
    python_tools: dict[str, str] = field(default_factory=dict)
    mcp: dict[str, dict[str, Json]] = field(default_factory=dict)
    runs: dict[str, Json] = field(default_factory=dict)
    serve: dict[str, Json] = field(default_factory=dict)
    telemetry: dict[str, Json] = field(default_factory=dict)
    trust: dict[str, Json] = field(default_factory=dict)
    code: dict[str, Json] = field(default_factory=dict)
    project: dict[str, Json] = field(default_factory=dict)


@record(frozen=True)
class ProjectSettings:
    """What surrounds a program on disk: the folder of its manifest, and what that says."""

    folder: Path
    settings: ManifestSettings


def project_around(file: str | Path) -> ProjectSettings | None:
    """The project that a program's first file belongs to, if it has a manifest; raises as `load_manifest`
    does."""
    from concerto.manifest import find_manifest

    place = find_manifest(os.path.dirname(absolute_path(file)))
    return None if place is None else ProjectSettings(place.parent, load_settings(place))


def settings_of(manifest: Manifest) -> ManifestSettings:
    """What a manifest says, which is found out once: a host may give the same one to each of its runs."""
    place = id(manifest)
    found = _settled.get(place)
    if found is None or found[0]() is not manifest:
        known = ref(manifest, lambda _: _settled.pop(place, None))
        found = _settled[place] = known, _settings_of(manifest)
    return found[1]


_settled: dict[int, tuple[ref[Manifest], ManifestSettings]] = {}


def _settings_of(manifest: Manifest) -> ManifestSettings:
    return ManifestSettings(
        runtime=manifest.runtime.model_dump(exclude_unset=True),
        permissions=manifest.permissions.model_dump(exclude_none=True),
        connections={
            name: {**each.model_dump(exclude_unset=True), "provider": each.provider}
            for name, each in manifest.connections.items()
        },
        prices={
            model: (price.input, price.output, price.of_cached) for model, price in manifest.prices.items()
        },
        hosts={name: host.model_dump(exclude_unset=True) for name, host in manifest.hosts.items()},
        python_tools={name: tool.import_ for name, tool in manifest.tools.items()},
        mcp={name: server.model_dump(exclude_unset=True) for name, server in manifest.mcp.items()},
        runs=manifest.runs.model_dump(exclude_none=True),
        serve=manifest.serve.model_dump(exclude_none=True),
        code=manifest.code.model_dump(exclude_none=True),
        telemetry=manifest.telemetry.model_dump(exclude_none=True),
        trust={} if manifest.trust is None else manifest.trust.model_dump(mode="json", exclude_none=True),
        project=manifest.project.model_dump(exclude_none=True),
    )


def load_settings(path: Path, data: bytes | None = None) -> ManifestSettings:
    """What the manifest at `path` says, or with the text `data` in its place; raises as `load_manifest` does.
    A text that is not saved is not kept."""
    saved: bytes | None
    if data is None:
        saved = data = path.read_bytes()
    else:
        saved = path.read_bytes() if path.is_file() else None
    maker = state_of(("manifest", "vocabulary"))
    key = maker + f"{path}\0".encode("utf-8", "surrogateescape") + data
    name = entry_name(key, "manifest")
    kept = read_entry(name, key)
    if kept is not None:
        return ManifestSettings(*kept)
    from concerto.manifest import load_manifest

    settings = settings_of(load_manifest(path, data))
    if data == saved:
        write_entry(name, key, [getattr(settings, field) for field in field_names(ManifestSettings) or ()])
    return settings
