"""The runtime emits on declared channels only, and the guide has a row for each."""

from __future__ import annotations

import re
from pathlib import Path

from concerto.runtime.io.channels import Channel

_ROOT = Path(__file__).parents[2]
_NAME = r"(?:(?:agent|pipeline|host|trust):[a-z_]+|panic)"


def test_the_guide_has_a_row_for_every_channel() -> None:
    guide = (_ROOT / "docs/pages/guides/events.md").read_text(encoding="utf-8")
    assert re.findall(rf"^\| `({_NAME})` \|", guide, re.M) == list(Channel)


def test_no_channel_is_named_but_by_its_declaration() -> None:
    found = [
        f"{path.relative_to(_ROOT)}: {name}"
        for path in (_ROOT / "concerto").rglob("*.py")
        if path.name != "channels.py"
        for name in re.findall(r'"((?:agent|pipeline|host|trust):[a-z_]+)"', path.read_text(encoding="utf-8"))
    ]
    assert found == []
