"""The words of trust, the same in programs, in manifests and in messages."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

SourceLabel: TypeAlias = Literal["untrusted", "secret", "trusted"]
SinkKind: TypeAlias = Literal["shell", "fs", "net", "mail", "pay", "admin"]
Guard: TypeAlias = Literal["lock", "approve", "deny"]

SOURCES: Final[tuple[str, ...]] = get_args(SourceLabel)
"""What the result of a tool is, as `@source` says it."""
SINKS: Final[tuple[str, ...]] = get_args(SinkKind)
"""In what way a tool acts on the world, as `@sink` says it."""
GUARDS: Final[tuple[str, ...]] = get_args(Guard)
"""What becomes of an agent's sinks once its conversation holds untrusted text."""
