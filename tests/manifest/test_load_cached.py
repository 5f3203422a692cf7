"""What a run reads of a manifest is kept as plain data for as long as the file is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.manifest import ManifestError, load_manifest
from concerto.manifest.load_cached import load_settings, settings_of

EXAMPLE = Path(__file__).parents[2] / "Concerto.toml.example"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("CONCERTO_CACHE", str(folder))
    return folder


def test_what_is_kept_is_what_was_read(cache: Path) -> None:
    settings = load_settings(EXAMPLE)
    (entry,) = cache.iterdir()
    stored = entry.stat().st_mtime_ns
    assert load_settings(EXAMPLE) == settings == settings_of(load_manifest(EXAMPLE))
    assert entry.stat().st_mtime_ns == stored
    assert settings.connections["openai"]["provider"] == "openai"


def test_a_changed_manifest_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "Concerto.toml"
    path.write_text("[runtime]\nmax_iterations = 3\n")
    assert load_settings(path).runtime == {"max_iterations": 3}
    path.write_text("[runtime]\nmax_iterations = 4\n")
    assert load_settings(path).runtime == {"max_iterations": 4}
    path.write_text("[runtime]\nmax_iterations = 0\n")
    with pytest.raises(ManifestError, match="max_iterations"):
        load_settings(path)
