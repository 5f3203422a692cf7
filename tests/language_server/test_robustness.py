"""Edits at random, beginnings of programs, files that come and go: answers stay right and nothing raises.

`python -m tests.language_server.fuzz` tries as many as are asked for.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.language_server.client import language_server
from tests.language_server.fuzz import Session, texts, try_edits, try_prefixes, try_project

PROGRAMS = list(texts())


@pytest.mark.parametrize("seed", range(4))
def test_random_edits(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    for _ in range(3):
        try_edits(chance.choice(PROGRAMS), 10, chance, tmp_path)


@pytest.mark.parametrize("seed", range(2))
def test_random_edits_of_a_project(seed: int, tmp_path: Path) -> None:
    try_project(15, random.Random(seed), tmp_path)


@pytest.mark.parametrize("seed", range(2))
def test_beginnings_of_programs(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    for _ in range(4):
        text = chance.choice(PROGRAMS)
        try_prefixes(text, max(len(text) // 6, 1), chance, tmp_path)


@pytest.mark.parametrize("name", ["flow/unused_values.conc", "ownership/consumed_by_loops.conc"])
def test_the_warnings_are_those_of_a_check(name: str, tmp_path: Path) -> None:
    session = Session(tmp_path)
    session.put((Path(__file__).parents[1] / "programs" / name).read_text())
    session.compare()
    assert any(each.code in ("W0006", "W0007") for each in session.program()[0].problems())


def test_a_manifest_breaks_and_heals(tmp_path: Path) -> None:
    session = Session(tmp_path)
    manifest = tmp_path / "Concerto.toml"
    manifest.write_text('[connections.mine]\nprovider = "mock"\n')
    session.put("agent A { provider: mine }\n")
    assert not (session.programs.manifest_problems(session.path) or ())
    program = session.programs.program_of(session.path)
    assert program is not None
    assert not program.problems()
    session.documents.put(manifest, manifest.as_uri(), 1, "[connections.mine\n")
    broken = session.programs.manifest_problems(session.path)
    assert broken is not None
    assert broken.errors
    again = session.programs.program_of(session.path)
    assert again is not None
    assert not again.problems()
    session.documents.put(manifest, manifest.as_uri(), 2, '[connections.other]\nprovider = "mock"\n')
    assert not (session.programs.manifest_problems(session.path) or ())
    healed = session.programs.program_of(session.path)
    assert healed is not None
    assert [each.code for each in healed.problems()] == ["E0411"]


def test_two_editors_of_a_project_and_files_that_come_and_go(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    main, other = folder / "main.conc", folder / "other.conc"
    (folder / "Concerto.toml").write_text('[project]\nname = "p"\n')
    text = 'use other::f;\r\n\r\nfn main() {\r\n\tprintln("😀 ${f()}");\r\n}\r\n'
    main.write_text(text)
    with language_server(folder) as one, language_server(folder) as two:
        one.open(main, text)
        two.open(main, text)
        for client in (one, two):
            assert [each["code"] for each in client.settled()[main.as_uri()]] == ["E0501"]
        other.write_text("pub fn f() -> Int { 1 }\n")
        for client in (one, two):
            client.tell("workspace/didChangeWatchedFiles", {"changes": []})
            assert client.settled() == {}
        hover = one.at("hover", main, (3, 15))
        assert hover["range"]["start"] == {"line": 3, "character": 15}
        assert "fn f() -> Int" in hover["contents"]["value"]
        change = {"start": {"line": 3, "character": 15}, "end": {"line": 3, "character": 16}}
        one.change(main, 2, {"range": change, "text": "g"})
        found = one.settled()[main.as_uri()]
        assert found[0]["range"] == change or found[-1]["range"] == change
        assert two.settled() == {}
        other.unlink()
        two.tell("workspace/didChangeWatchedFiles", {"changes": []})
        assert [each["code"] for each in two.settled()[main.as_uri()]] == ["E0501"]


def test_what_is_refused_is_answered_and_written_nowhere(tmp_path: Path) -> None:
    """An editor need not read the server's standard error, which holds 64 KB."""
    path = tmp_path / "main.conc"
    with language_server(tmp_path) as client:
        client.open(path, "fn f() {}\n")
        for _ in range(60):
            with pytest.raises(AssertionError, match="`let` cannot be a name"):
                client.at("rename", path, (0, 3), newName="let")
        with pytest.raises(AssertionError, match="-32602"):
            client.at("hover", path, (-1, 0))
        assert client.at("rename", path, (0, 3), newName="g")


@pytest.mark.parametrize("sign", [*"\x0b\x0c\x1c\x85\u2028\u2029\r😀ä", "\r\n", "\n"])
def test_edits_are_where_editors_count_them(sign: str, tmp_path: Path) -> None:
    """Lines end at line feeds alone, and columns count units of UTF-16, whatever else an editor could do."""
    path, line = tmp_path / "main.conc", 2 + sign.count("\n")
    shown = sign.strip("\r\n")
    text = f"// {sign} //\nfn main() {{\n    print('{shown}'); let xy = 1;println(xy);\n}}\n"
    before = text.split("\n")[line].index("println(xy)") + len("println(")
    column = len(text.split("\n")[line][:before].encode("utf-16-le")) // 2
    options = {"tabSize": 4, "insertSpaces": True}
    with language_server(tmp_path) as client:
        assert client.capabilities["positionEncoding"] == "utf-16"
        client.open(path, text)
        place = {"start": {"line": line, "character": column}, "end": {"line": line, "character": column + 2}}
        client.change(path, 2, {"range": place, "text": "zz"})
        assert [each["range"] for each in client.problems(path, 2) if "`zz`" in each["message"]] == [place]
        client.change(path, 3, {"range": place, "text": "xy "})
        formatted = client.of("formatting", path, options=options)
        client.change(
            path, 4, *({"range": each["range"], "text": each["newText"]} for each in formatted[::-1])
        )
        assert formatted
        assert not client.of("formatting", path, options=options)
        assert not client.problems(path, 4)
