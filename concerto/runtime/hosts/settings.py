"""What is known of a host: its declaration joined with its process in the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from concerto.effects.error_kinds import AgentKind
from concerto.effects.policy import NO_POLICY, Policy, policy_from
from concerto.ir.module import HostDef
from concerto.json_data import Json
from concerto.runtime.io.process_groups import passed_on
from concerto.runtime.run.agent_failures import agent_failure
from concerto.vocabulary.fields import HOST

_DEFAULT_TIMEOUT: Final = cast(float, HOST["timeout"].default)


@dataclass(frozen=True, slots=True)
class HostSettings:
    """`timeout` is in seconds of waiting for the process, within one execution. `processes` is how many
    executions run at once, each in a process of its own."""

    name: str
    connector: str
    command: str
    args: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    timeout: float = _DEFAULT_TIMEOUT
    params: Mapping[str, Json] = field(default_factory=dict)
    processes: int = 1
    text_input: bool = False
    text_output: bool = False
    policy: Policy = NO_POLICY


def host_settings(
    host: HostDef, manifest: Mapping[str, Mapping[str, Json]], environment: Mapping[str, str], folder: Path
) -> HostSettings:
    """The manifest wins over the declaration. An AgentError if the manifest has no such process."""
    connector = str(host.settings.get("connector", ""))
    said = manifest.get(connector)
    if said is None:
        raise agent_failure(
            f"host `{host.name}` has no `[hosts.{connector}]` in Concerto.toml",
            AgentKind.HOST,
            agent=host.name,
        )
    return HostSettings(
        name=host.name,
        connector=connector,
        command=str(said["command"]),
        args=tuple(said.get("args", ())),
        environment=passed_on(environment, said.get("env", ())),
        folder=folder / (said.get("working_dir") or "."),
        timeout=float(said.get("timeout") or host.settings.get("timeout") or _DEFAULT_TIMEOUT),
        params=said.get("params", {}),
        processes=int(said.get("processes") or 1),
        text_input=host.settings.get("input_format") == "text",
        text_output=host.settings.get("output_format") == "text",
        policy=policy_from(host.decorators),
    )
