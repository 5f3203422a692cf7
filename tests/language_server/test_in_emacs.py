"""Emacs without a screen, with the settings of the guide and its own client, eglot."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.harness.commands import ROOT, command, environment

EMACS = shutil.which("emacs")
GUIDE = ROOT / "docs" / "pages" / "guides" / "editors.md"
TEXT = """\
fn total(count: Int) -> Int {
    count + 1
}

fn main() {
    println(totl(2));
}
"""


@pytest.mark.skipif(EMACS is None, reason="there is no emacs")
def test_diagnostics_hover_completion_and_rename(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "main.conc").write_text(TEXT)
    settings = tmp_path / "settings.el"
    found = re.search(r"```lisp\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert found is not None
    server = " ".join(map(json.dumps, command("concerto", "lsp")))
    assert '"concerto" "lsp"' in found[1]
    settings.write_text(found[1].replace('"concerto" "lsp"', server))
    assert EMACS is not None
    started = [EMACS, "--batch", "-f", "package-activate-all", "-l", str(settings)]
    done = subprocess.run(
        [*started, "-l", str(Path(__file__).with_name("session.el"))],
        cwd=project,
        env=environment() | {"HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if "Cannot open load file" in done.stderr:
        pytest.skip("this Emacs has no eglot")
    assert done.returncode == 0, done.stdout + done.stderr
    seen = dict(
        re.findall(r"^(\w+): (.*?)$(?=\n\w+: |\Z)", done.stdout.rstrip("\n"), re.MULTILINE | re.DOTALL)
    )
    assert seen["mode"] == "concerto-mode"
    assert seen["broken"] == '("concerto [E0201]: unknown name `totl`")'
    assert seen["mended"] == seen["after"] == "nil"
    assert "fn total(count: Int) -> Int" in seen["hover"]
    assert seen["completion"] == '("total")'
    assert seen["renamed"] == f'"{TEXT.replace("total", "sum").replace("totl", "sum")}"'
