"""Default taint labels, which need no declaration: those of the library, of servers and of all that comes
from outside."""

from __future__ import annotations

import re
from typing import Final

UNTRUSTED: Final = "untrusted"
SECRET: Final = "secret"
TRUSTED: Final = "trusted"
NET: Final = "net"
ADMIN: Final = "admin"

NATIVES: Final[dict[str, tuple[str, ...]]] = {
    "std::http::get": (UNTRUSTED, NET),
    "std::http::post": (UNTRUSTED, NET),
    "std::http::put": (UNTRUSTED, NET),
    "std::http::delete": (UNTRUSTED, NET),
    "std::http::request": (UNTRUSTED, NET),
    "std::fs::read_file": (UNTRUSTED,),
    "Part::read": (UNTRUSTED,),
    "std::prelude::image": (UNTRUSTED,),
    "std::prelude::audio": (UNTRUSTED,),
    "std::prelude::file": (UNTRUSTED,),
    "std::fs::list_dir": (UNTRUSTED,),
    "std::fs::write_file": ("fs",),
    "std::fs::append_file": ("fs",),
    "std::fs::remove_file": ("fs",),
    "std::hosts::listen": (UNTRUSTED,),
    "std::env::all": (SECRET,),
    "McpRef::resources": (UNTRUSTED,),
    "McpRef::resource": (UNTRUSTED,),
    "McpRef::prompts": (UNTRUSTED,),
    "McpRef::prompt": (UNTRUSTED,),
}
"""Functions of the library that reach the world."""

ENVIRONMENT: Final = frozenset({"std::env::get", "std::env::require", "std::prelude::env"})
"""Those that read one variable: a secret one if its name says so, or is not known."""

LIBRARY_TOOLS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("HttpTool", "get"): (UNTRUSTED, NET),
    ("HttpTool", "post"): (UNTRUSTED, NET),
    ("FileTool", "read"): (UNTRUSTED,),
    ("FileTool", "write"): ("fs",),
    ("FileTool", "exists"): (),
    ("ShellTool", "exec"): (UNTRUSTED, "shell"),
}
"""Methods of `std::tools`, whose bodies are the runtime's."""

OUTSIDE: Final = (UNTRUSTED,)
"""A tool that somebody outside executes, or that is written in Python, and says nothing of itself."""
UNDECLARED_SERVER: Final = (UNTRUSTED, ADMIN)
"""A tool of an MCP server that the program does not declare: nobody here has read what it does."""

_SECRET_NAME: Final = re.compile("KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Whether a variable of the environment is one that nobody is to see."""
    return _SECRET_NAME.search(name) is not None
