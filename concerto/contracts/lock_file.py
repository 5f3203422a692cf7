"""`Concerto.lock`: what servers offered when somebody last looked, kept beside the manifest.

JSON, in a fixed order, so that a difference between two versions of it shows what has changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from concerto.contracts.interface import Interface, ToolInterface
from concerto.json_data import Json
from concerto.manifest import LOCK_NAME

_VERSION = 1


class BadLock(Exception):
    """A lock that cannot be read; the text says why."""


class ForeignLock(BadLock):
    """A lock that another version of Concerto has written."""


@dataclass(frozen=True, slots=True)
class LockedServer:
    """`version` is the server's own name and version, for people."""

    version: str
    tools: Interface


def read_lock(data: bytes) -> dict[str, LockedServer]:
    """The locked servers by name; raises BadLock."""
    try:
        document = json.loads(data)
        if document["version"] != _VERSION:
            raise ForeignLock(
                f"`{LOCK_NAME}` has version {document['version']}, this Concerto reads version {_VERSION}: "
                "update Concerto, or remove the file and write it again with `concerto mcp lock`"
            )
        return {name: _server(entry) for name, entry in document["mcp"].items()}
    except BadLock:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        message = f"`{LOCK_NAME}` cannot be read; write it again with `concerto mcp lock`"
        raise BadLock(message) from None


def lock_text(servers: Mapping[str, LockedServer]) -> str:
    """The text of a lock."""
    entries = {
        name: {
            "server": server.version,
            "tools": {tool.name: _entry(tool) for tool in sorted(server.tools.values(), key=_name)},
        }
        for name, server in sorted(servers.items())
    }
    return json.dumps({"version": _VERSION, "mcp": entries}, indent=2, ensure_ascii=False) + "\n"


def _name(tool: ToolInterface) -> str:
    return tool.name


def _entry(tool: ToolInterface) -> Json:
    entry: dict[str, Json] = {"description": tool.description, "parameters": tool.parameters}
    if tool.result is not None:
        entry["result"] = tool.result
    if tool.repeatable:
        entry["repeatable"] = True
    if tool.read_only:
        entry["read_only"] = True
    return entry


def _server(entry: Json) -> LockedServer:
    tools = {name: _tool(name, each) for name, each in entry["tools"].items()}
    return LockedServer(str(entry.get("server", "")), tools)


def _tool(name: str, entry: Json) -> ToolInterface:
    parameters, result = entry["parameters"], entry.get("result")
    if not isinstance(parameters, dict) or not isinstance(result, dict | bool | None):
        raise TypeError("a schema is an object")
    repeatable, read_only = entry.get("repeatable") is True, entry.get("read_only") is True
    return ToolInterface(name, parameters, result, str(entry.get("description", "")), repeatable, read_only)
