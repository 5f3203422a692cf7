"""What a program can refer to outside its first file: other files, and names of the manifest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BUILT_IN_CONNECTIONS = frozenset({"openai", "anthropic", "google", "ollama", "mock"})


@dataclass(frozen=True)
class Project:
    """`use` paths start at the folder `root`. `read` gives a file's bytes, or None if there is no such file; every file a
    compilation looks for goes through it, so that a cache knows what the result depends on. `shown` gives the path
    under which a file is shown to people. The rest are the names that the manifest declares."""

    root: Path
    read: Callable[[Path], bytes | None]
    shown: Callable[[Path], str] = str
    connections: frozenset[str] = BUILT_IN_CONNECTIONS
    mcp_servers: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    python_tools: frozenset[str] = frozenset()
