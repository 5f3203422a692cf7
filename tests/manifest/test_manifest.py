"""`Concerto.toml`: what it can say, and where it says something wrong."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from concerto.diagnostics import Problems
from concerto.manifest import ManifestError, find_manifest, load_manifest
from concerto.manifest.models import Manifest
from concerto.manifest.places import key_places
from concerto.manifest.reading import read_manifest

EXAMPLE = Path(__file__).parents[2] / "Concerto.toml.example"


def read(text: str) -> tuple[Manifest | None, list[str]]:
    problems = Problems()
    manifest = read_manifest(text.encode(), "Concerto.toml", problems)
    return manifest, [f"{problem.span.text}: {problem.message}" for problem in problems]


def test_the_example_shows_every_key() -> None:
    manifest = load_manifest(EXAMPLE)
    assert manifest.connections["openai"].models["fast"] == "gpt-4o-mini"
    assert manifest.connections["local"].provider == "custom"
    assert manifest.hosts.keys() == {"worker", "reviewer"}
    rules = manifest.permissions.model_dump(exclude_none=True)
    assert rules["ShellTool"] is True and rules["GitHub"] == {"create_issue": False}
    declared = set(_keys(Manifest))
    assert len(declared) > 60 and declared - set(_set_in(manifest)) == set()


def _keys(table: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """The keys of a table, and of those in it."""
    for name, field in table.model_fields.items():
        yield table.__name__, name
        for inner in (field.annotation, *get_args(field.annotation)):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from _keys(inner)


def _set_in(table: BaseModel) -> Iterator[tuple[str, str]]:
    """The keys that are given a value, in any table of a kind."""
    for name in table.model_fields_set:
        yield type(table).__name__, name
        value = getattr(table, name)
        for inner in value.values() if isinstance(value, dict) else [value]:
            if isinstance(inner, BaseModel):
                yield from _set_in(inner)


def test_an_empty_manifest_is_one() -> None:
    manifest, problems = read("")
    assert not problems
    assert manifest == Manifest()


def test_a_connection_may_be_named_after_its_provider() -> None:
    manifest, _ = read("[connections.anthropic]\n")
    assert manifest is not None
    assert manifest.connections["anthropic"].provider == "anthropic"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[project]\nnmae = "x"', "nmae: unknown key `nmae` in `[project]`"),
        ("[runtme]", "runtme: unknown key `runtme`"),
        ('[connections.openai]\napi_key = "s"', "api_key: unknown key `api_key` in `[connections.openai]`"),
        ('[runtime]\ntimeout = "30"', '"30": expected a number, found "30"'),
        ("[runtime]\nmax_iterations = 1.5", "1.5: expected a whole number, found `1.5`"),
        ("[runtime]\nmax_iterations = true", "true: expected a whole number, found `true`"),
        ("[runtime]\nmax_iterations = 0", "0: `max_iterations` must be greater than 0"),
        ("runtime = { max_usd = -1 }", "-1: `max_usd` must be at least 0"),
        ('[mcp.A]\ntransport = "grpc"', '"grpc": expected "stdio", "http" or "sse", found "grpc"'),
        ("[hosts.w]\nargs = []", "w: `[hosts.w]` needs `command`"),
        ('[hosts.w]\ncmd = "x"', "cmd: unknown key `cmd` in `[hosts.w]`"),
        ("[connections.mine]", "mine: connection `mine` has no `provider`"),
        (
            '[connections.mine]\nprovider = "custom"',
            "mine: connection `mine` has the provider `custom` and no `base_url`",
        ),
        ("[permissions]\nShellTool = 'yes'", "'yes': expected `true` or `false`, found \"yes\""),
        ("[permissions.GitHub]\ncreate = 1", "1: expected `true` or `false`, found `1`"),
        ('[tools.x]\nimport = "nothing"', '"nothing": `import` does not name an object'),
        ("[project]\nname = ", ": not TOML: invalid value"),
        ("[a]\n[a]", "]: not TOML: cannot declare `a` twice"),
        (
            '[hosts.w]\ncommand = "x"\n[agents.w]\ncommand = "y"',
            "w: `w` is both in `[hosts]` and in `[agents]`",
        ),
    ],
)
def test_mistakes_have_their_place(text: str, problem: str) -> None:
    manifest, problems = read(text)
    assert manifest is None
    assert [found.replace("\n", "") for found in problems] == [problem]


def test_all_mistakes_are_reported_at_once() -> None:
    _, problems = read('[project]\nnmae = "x"\n[runtime]\ntimeout = "3"\n[prices.m]\ninput = 1\n')
    assert len(problems) == 3


def test_hostile_texts_are_problems() -> None:
    for data in (b"\xff\xfe", b"x = " + b"[" * 50_000, b"\x00", b"a" * 100_000):
        problems = Problems()
        assert read_manifest(data, "Concerto.toml", problems) is None
        assert len(problems) == 1


def test_places_of_keys_in_every_form() -> None:
    text = (
        '# first\n[a."b c"] # name\nd.e = """x\n"] = """\nf = [1, { g = 2 }, "]"] # more\n'
        "h = { i = 1, j = [ # deep\n] }\n'k' = 1979-05-27\n[[l]]\nm = -1_000\n"
    )
    places = key_places(text)
    found = {
        ".".join(path): (text[slice(*place.key)], text[slice(*place.value)]) for path, place in places.items()
    }
    assert found == {
        "a": ("a", "a"),
        "a.b c": ('"b c"', '"b c"'),
        "a.b c.d": ("d", "d"),
        "a.b c.d.e": ("e", '"""x\n"] = """'),
        "a.b c.f": ("f", '[1, { g = 2 }, "]"]'),
        "a.b c.f.g": ("g", "2"),
        "a.b c.h": ("h", "{ i = 1, j = [ # deep\n] }"),
        "a.b c.h.i": ("i", "1"),
        "a.b c.h.j": ("j", "[ # deep\n]"),
        "a.b c.k": ("'k'", "1979-05-27"),
        "l": ("l", "l"),
        "l.m": ("m", "-1_000"),
    }


def test_a_manifest_is_found_above_the_program(tmp_path: Path) -> None:
    inner = tmp_path / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "Concerto.toml").write_text('[project]\nname = "x"\n')
    found = find_manifest(inner)
    assert found == tmp_path / "Concerto.toml"
    assert load_manifest(found).project.name == "x"


def test_a_broken_manifest_is_an_error_with_its_problems(tmp_path: Path) -> None:
    path = tmp_path / "Concerto.toml"
    path.write_text("x = ")
    with pytest.raises(ManifestError, match="not TOML") as error:
        load_manifest(path)
    assert len(error.value.problems) == 1


def test_a_program_without_a_manifest_does_not_import_pydantic() -> None:
    code = "import sys, concerto.manifest as m; m.find_manifest(__import__('pathlib').Path('/')); "
    code += "sys.exit('pydantic' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[runtime]\nmax_iterations = " + "1" * 10_000, "a number of so many digits"),
        ("[runtime]\nmax_usd = 0x" + "f" * 10_000, "a number of so many digits"),
        ("[hosts.x.params]\na = [1, " + "2" * 10_000 + "]", "a number of so many digits"),
        ("a" + ".a" * 20_000 + " = 1", "a key of so many parts"),
        ("[a" + " . a" * 20_000 + "]", "a key of so many parts"),
        ("x = {" + '"a".' * 20_000 + "a = 1}", "a key of so many parts"),
    ],
)
def test_what_would_take_long_to_read_is_refused(text: str, said: str) -> None:
    problems = Problems()
    assert read_manifest(text.encode(), "Concerto.toml", problems) is None
    [problem] = problems
    assert (problem.code, said in problem.message) == ("E0505", True)
