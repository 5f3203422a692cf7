"""Parts of prompts that are made of files."""

from __future__ import annotations

import pytest

from concerto.natives.part import of_file


@pytest.mark.parametrize(
    ("name", "kind", "media_type"),
    [
        ("a.png", "image", "image/png"),
        ("a.mp3", "audio", "audio/mpeg"),
        ("a.pdf", "file", "application/pdf"),
        ("a.mp4", "file", "video/mp4"),
        ("a", "file", "application/octet-stream"),
    ],
)
def test_the_name_of_a_file_says_what_it_is(name: str, kind: str, media_type: str) -> None:
    made = of_file(name, "QQ==")
    assert made == {"kind": kind, "uri": name, "data": "QQ==", "media_type": media_type}
