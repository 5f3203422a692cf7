"""The HTML file of a run: markup, style and scripts of this folder with the run's data in one text."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256

from concerto.journal.recording import Recording
from concerto.json_data import Json
from concerto.resources import code_folder
from concerto.viewer.run_data import run_data

MODULES = ("text", "values", "tree", "search", "rows", "messages", "details", "following", "main")
"""The scripts of the page of a run, each after those that it imports."""
LIST_MODULES = ("text", "following", "list")
"""Those of the list of runs."""
_IMPORT = re.compile(r"^import .*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def page(recording: Recording, fork: str) -> bytes:
    """`fork` is the command that forks the run, without the effect. Raises BadRecording."""
    return page_of(run_data(recording, fork))


def page_of(run: dict[str, Json]) -> bytes:
    """The page of what `run_data` or `trace_data` gave; it asks for news if the run is followed."""
    return _assembled("A run", "page.html", MODULES, run, connects="live" in run)


def list_page(runs: dict[str, Json]) -> bytes:
    """The page of the runs of a project, which asks for news."""
    return _assembled("Runs", "list.html", LIST_MODULES, runs, connects=True)


def _assembled(
    title: str, markup: str, modules: Sequence[str], told: dict[str, Json], *, connects: bool
) -> bytes:
    style, script = _read("style.css"), "".join(map(_module, modules))
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    if connects:
        policy += "; connect-src 'self'"
    # No `<` in the data: nothing in it ends the element that it stands in. A half of a surrogate pair, which
    # UTF-8 cannot have, becomes an escape of JSON.
    data = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    parts = {
        "policy": policy,
        "title": title,
        "style": style,
        "body": _read(markup),
        "data": data.replace("<", "\\u003c"),
        "script": script,
    }
    html = re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _read("shell.html"))
    return html.encode("utf-8", "backslashreplace")


def _module(name: str) -> str:
    """A script without its imports: all of them stand in one element."""
    return _EXPORT.sub("", _IMPORT.sub("", _read(f"{name}.js")))


def _read(name: str) -> str:
    return (code_folder("viewer") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
