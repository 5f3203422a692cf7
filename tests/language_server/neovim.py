"""Neovim without a screen, with its own client of the protocol: the editor of the tests.

`edit` runs a script in it. Scripts are Lua with the functions of `editor.lua`, and give one value.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.harness.commands import command, environment

NVIM = shutil.which("nvim")
needs_neovim = pytest.mark.skipif(NVIM is None, reason="there is no nvim")
_EDITOR = Path(__file__).parent / "editor.lua"


def edit(folder: Path, script: str) -> Any:
    """What a script gives that is run in Neovim in a folder. Problems of the script are failures."""
    answer = folder.parent / "answer.json"
    lua = folder.parent / "script.lua"
    server = json.dumps(command("concerto", "lsp"))
    lua.write_text(
        f"dofile({json.dumps(str(_EDITOR))})\n"
        f"start(vim.json.decode({json.dumps(server)}))\n"
        f"finish({json.dumps(str(answer))}, function()\n{script}\nend)\n"
    )
    assert NVIM is not None
    done = subprocess.run(
        [NVIM, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", str(lua)],
        cwd=folder,
        env=environment() | {"XDG_STATE_HOME": str(folder.parent), "XDG_CACHE_HOME": str(folder.parent)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert answer.exists(), done.stdout + done.stderr
    found = json.loads(answer.read_text())
    assert "error" not in found, found["error"]
    return found.get("value")
