"""Pictures of the page of a run for the guide, made by hand: `python -m tests.viewer.pictures`."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.harness.commands import ROOT, command, environment
from tests.viewer.browser import Browser

FOLDER = ROOT / "docs/pages/guides/pictures"
EXAMPLES = {"research_pipeline": ("light", 4), "approval_gate": ("dark", 1, "--mock")}
"""What is shown in which colours, the row that is chosen, and the options it is run with."""


def main() -> None:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("error: Chromium is not installed")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        browser = Browser(program, Path(work, "profile"))
        try:
            for name, (scheme, row, *options) in EXAMPLES.items():
                take(browser, name, str(scheme), int(row), [str(each) for each in options], Path(work))
        finally:
            browser.close()


def take(browser: Browser, name: str, scheme: str, row: int, options: list[str], work: Path) -> None:
    """The page of a run of an example, with an effect chosen."""
    recording, page = work / f"{name}.conc-run", work / f"{name}.html"
    steps = (
        (ROOT / "examples", ("run", "--quiet", *options, "--record", str(recording), name)),
        (work, ("view", recording.name, "-o", page.name)),
    )
    for folder, given in steps:
        told = environment() | {"CONCERTO_STATE": str(work)}
        subprocess.run(command("concerto", *given), cwd=folder, env=told, capture_output=True, check=True)
    browser.open(page, dark=scheme == "dark")
    for _ in range(row):
        browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'j' }))")
    place = FOLDER / f"{name}-{scheme}.png"
    browser.picture(place)
    print(f"wrote {place.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
