"""Neovim without a screen, with the settings of the guide."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from tests.harness.commands import ROOT, command, environment
from tests.language_server.neovim import NVIM, needs_neovim

pytestmark = needs_neovim

GUIDE = ROOT / "docs" / "pages" / "guides" / "editors.md"


def test_settings_of_the_guide(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "Concerto.toml").write_text('[project]\nname = "p"\n')
    (project / "main.conc").write_text("fn main() {}\n")
    settings = re.search(r"```lua\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert settings is not None
    server = ", ".join(map(json.dumps, command("concerto", "lsp")))
    assert '"concerto", "lsp"' in settings[1]
    lacking = Path(__file__).with_name("guide.lua").read_text()
    init = tmp_path / "init.lua"
    init.write_text(lacking + settings[1].replace('"concerto", "lsp"', server))
    answer = tmp_path / "answer.json"
    assert NVIM is not None
    done = subprocess.run(
        [NVIM, "--headless", "-u", init, "-i", "NONE", "-n", "main.conc", "+lua " + _ask(answer)],
        cwd=project,
        env=environment() | {"XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert answer.exists(), done.stdout + done.stderr
    seen = json.loads(answer.read_text())
    assert seen["filetype"] == "concerto"
    assert seen["root"] == str(project.resolve())
    # Columns are bytes here: the emoji has four.
    assert seen["slips"] == [[1, 29, "E0201"]]


def _ask(answer: Path) -> str:
    return f"show_a_slip({json.dumps(str(answer))})"
