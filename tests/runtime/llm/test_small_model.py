"""A real model, SmolLM2 of 135 million parameters behind llama.cpp's server, as the guide says.

What it answers is its own affair; what the program makes of it is ours.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.docs.pages import blocks_of
from tests.harness.commands import ROOT, run
from tests.mcp.peers import node_folder
from tests.runtime.servers import free_port, wait_until

PACKAGES = ROOT / "tests" / "model-requirements.txt"
GUIDE = ROOT / "docs" / "pages" / "guides" / "local-models.md"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The guide's project, its server running."""
    packages = node_folder().parent / "model"
    if not packages.exists():
        install = f"{sys.executable} -m pip install --no-deps --target {packages} -r {PACKAGES}"
        pytest.skip(f"there is no small model: {install}")
    folder, port = tmp_path_factory.mktemp("model"), free_port()
    for block in blocks_of(GUIDE):
        if block.title is not None:
            (folder / block.title).write_text(block.text.replace("8080", str(port)))
    process = subprocess.Popen(
        [sys.executable, "serve.py", str(port)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(packages)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: urlopen(f"http://127.0.0.1:{port}/health", timeout=60).close(), process)
        yield folder
    finally:
        process.kill()
        process.wait(240)


def test_the_program_of_the_guide(project: Path) -> None:
    live = run("concerto", "run", "--quiet", "--record", "x.conc-run", "main.conc", cwd=project)
    assert live.returncode == 0, live.stderr
    person, *_, tokens = live.stdout.splitlines()
    assert re.fullmatch(
        r"Person \{ age: -?\d+, mood: Mood::(Happy|Sad|Angry), married: (true|false) \}", person
    )
    counted = re.fullmatch(r"(\d+) tokens in, (\d+) out", tokens)
    assert counted is not None and int(counted[1]) > 10 and 0 < int(counted[2]) <= 40
    again = run("concerto", "replay", "x.conc-run", cwd=project)
    assert (again.returncode, again.stdout) == (0, live.stdout), again.stderr


def test_what_is_never_answered_by_a_call_is_an_error(project: Path) -> None:
    """The model's chat template has no tools."""
    (project / "tools.conc").write_text("""
        tool Calculator {
            description: "Arithmetic",
            @describe("Add two numbers")
            pub fn add(@param("The first") a: Int, @param("The second") b: Int) -> Int { a + b }
        }
        agent Small {
            provider: local, tools: [Calculator], tool_choice: "required", temperature: 0.0, max_tokens: 10,
        }
        fn main() {
            match Small.execute("What is 17 + 25?") {
                Ok(response) => println(response.text),
                Err(error) => println("${error.kind}: ${error.messages.len()} messages"),
            }
        }
    """)
    done = run("concerto", "run", "--quiet", "tools.conc", cwd=project)
    assert (done.stdout, done.returncode) == ("ToolNotCalled: 4 messages\n", 0), done.stderr
