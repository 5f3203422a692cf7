"""A person's session, recorded: `python -m tests.language_server.session`.

Neovim without a screen writes a small agent with the help of `concerto lsp`, as `session.lua` says, key by
key. Shown are the steps, the program, and what it prints with a model that is made up.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from tests.harness.commands import command, environment
from tests.language_server.neovim import edit

_SCRIPT = Path(__file__).with_suffix(".lua")
MANIFEST = '[project]\nname = "shop"\n\n[connections.shop]\nprovider = "mock"\ndefault_model = "m"\n'


def write_an_agent(folder: Path) -> list[str]:
    """The steps; the program is in the folder then."""
    (folder / "Concerto.toml").write_text(MANIFEST)
    (folder / "main.conc").write_text("")
    steps: list[str] = edit(folder, _SCRIPT.read_text())
    return steps


def run_it(folder: Path) -> str:
    """What the program prints."""
    done = subprocess.run(
        command("concerto", "run", "--mock", "main.conc"),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout + done.stderr


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "shop"
        folder.mkdir()
        print("\n".join(write_an_agent(folder)))
        print("\n" + (folder / "main.conc").read_text())
        print(run_it(folder))


if __name__ == "__main__":
    main()
