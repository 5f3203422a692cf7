"""`concerto mcp sync`, `lock` and `check`, and `concertoc check` against the lock."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from concerto.cli import building, contracts, formatting, running
from concerto.cli.reporting import Failure
from tests.mcp import peers
from tests.mcp.peers import scripted

MAIN = """\
// The program.
fn main() {
    println("ready");
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    command = json.dumps(scripted())
    (tmp_path / "Concerto.toml").write_text(f"[mcp.Odd]\ncommand = {command}\n")
    (tmp_path / "main.conc").write_text(MAIN)
    return tmp_path


def sync(project: Path, name: str = "Odd", *, minimal: bool = False) -> str:
    assert contracts.sync(name, str(project), minimal=minimal, environment=None, debug=False) == 0
    return (project / "main.conc").read_text()


def lock(project: Path, *names: str) -> int:
    return contracts.lock(names, str(project), environment=None, debug=False)


def check(project: Path, format: str = "text") -> int:  # noqa: A002
    return contracts.check(str(project), format=format, environment=None, debug=False)


def edit(project: Path, old: str, new: str, name: str = "main.conc") -> None:
    text = (project / name).read_text()
    assert old in text
    (project / name).write_text(text.replace(old, new))


def test_sync_writes_a_block_that_compiles_and_is_formatted(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = sync(project)
    assert text.startswith(MAIN)
    assert "    fn add(a: Int, b: Int = 10) -> Result<Int, ToolError>;\n" in text
    assert "    fn die_once(file: String) -> Result<String, ToolError>;\n" in text
    assert "filter: Option<Map<String, Any>> = None" in text
    assert building.check((str(project),)) == 0
    assert formatting.format_files((str(project / "main.conc"),), check=True) == 0
    capsys.readouterr()
    assert sync(project) == text
    assert capsys.readouterr().out.endswith("`Odd` is up to date\n")


def test_sync_changes_only_what_does_not_fit(project: Path) -> None:
    sync(project)
    edit(
        project,
        '    @describe("Does add")\n    @param("a", "A")\n    @param("b", "B")\n'
        "    fn add(a: Int, b: Int = 10) -> Result<Int, ToolError>;\n",
        "    // Adding is hard.\n"
        '    @describe("Our own words")\n    @timeout(seconds: 3) // quick\n    @param("first", "Gone")\n'
        '    @param("b", "Kept")\n'
        "    // And so is this.\n"
        "    fn add(first: Int, b: String) -> Result<Float, ToolError>;\n",
    )
    edit(project, "fn pid() -> Result<String, ToolError>", "fn pid() -> Result<Any, ToolError>")
    edit(project, "fn die(", "fn live(")
    text = sync(project)
    assert (
        "    // Adding is hard.\n"
        '    @describe("Our own words")\n    @timeout(seconds: 3) // quick\n    @param("b", "Kept")\n'
        "    // And so is this.\n"
        '    @param("a", "A")\n'
        "    fn add(a: Int, b: Int = 10) -> Result<Float, ToolError>;\n"
    ) in text
    assert "fn pid() -> Result<Any, ToolError>" in text
    assert "fn live(" not in text and "fn die(" in text
    assert building.check((str(project),)) == 0


def test_a_minimal_sync_adds_nothing(project: Path) -> None:
    block = '@describe("Adds")\n    @param("x", "X")\n    fn add(x: Int) -> Result<Int, ToolError>;'
    block = f"mcp Odd {{\n    {block}\n}}\n"
    (project / "main.conc").write_text(block)
    text = sync(project, minimal=True)
    assert text.count("fn ") == 1
    assert "fn add(a: Int) -> Result<Int, ToolError>;" in text
    assert building.check((str(project),)) == 0


def test_sync_writes_structs_for_objects(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text(
        f'[mcp.Time]\ncommand = "{peers.python_server("mcp-server-time")}"\n'
    )
    (tmp_path / "main.conc").write_text(MAIN)
    text = sync(tmp_path, "Time")
    assert "struct TimeResult {\n    timezone: String,\n    datetime: String," in text
    assert "fn get_current_time(timezone: String) -> Result<TimeResult, ToolError>;" in text
    assert "    source: TimeResult,\n" in text
    edit(tmp_path, "day_of_week: String", "day_of_week: Int")
    assert "day_of_week: String" in sync(tmp_path, "Time")
    assert building.check((str(tmp_path),)) == 0


def test_sync_of_a_block_in_another_file(project: Path) -> None:
    (project / "main.conc").write_text("use servers::Odd;\nfn main() { println(Odd.add(1)); }\n")
    (project / "servers.conc").write_text("// Servers.\npub mcp Odd { }\n")
    assert contracts.sync("Odd", str(project), minimal=False, environment=None, debug=False) == 0
    text = (project / "servers.conc").read_text()
    assert text.startswith("// Servers.\npub mcp Odd {") and "fn add(" in text
    assert building.check((str(project),)) == 0


def test_names_of_servers_that_do_not_exist(project: Path) -> None:
    with pytest.raises(Failure, match=r"there is no mcp server `Od`; did you mean `Odd`\?"):
        contracts.sync("Od", str(project), minimal=False, environment=None, debug=False)


def test_check_catches_a_renamed_parameter(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sync(project)
    lock(project)
    assert check(project) == 0
    assert capsys.readouterr().out.endswith("Odd: as declared and locked\n")
    edit(project, "add(a: Int", "add(first: Int")
    assert check(project) == 1
    out = capsys.readouterr().out
    assert "breaking: `add`: the server knows no parameter `first`; it has `a`, `b` (declared)" in out
    assert "breaking: `add`: the server requires a parameter `a`, which is not declared (declared)" in out


def test_check_in_json(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sync(project)
    lock(project)
    edit(project, '"description": "Does add"', '"description": "Did add"', "Concerto.lock")
    edit(project, "add(a: Int", "add(a: String")
    capsys.readouterr()
    assert check(project, "json") == 1
    [server] = json.loads(capsys.readouterr().out)["servers"]
    assert (server["name"], server["server"], server["declared"], server["locked"]) == (
        "Odd", "scripted 1", True, True
    )  # fmt: skip
    message = "parameter `a` is declared `String`, offered `Int`"
    assert server["changes"] == [
        change(True, "declared", message, parameter="a", expected="String", offered="Int"),
        change(False, "locked", "the description has changed"),
    ]


def change(breaking: bool, basis: str, message: str, **more: Any) -> dict[str, Any]:
    known = {"parameter": None, "expected": None, "offered": None}
    return {"breaking": breaking, "basis": basis, "tool": "add", "message": message, **known, **more}


def test_harmless_changes_leave_the_status_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock(project)
    edit(project, '"description": "Does add"', '"description": "Did add"', "Concerto.lock")
    assert check(project) == 0
    assert "harmless: `add`: the description has changed (locked)" in capsys.readouterr().out


def test_a_server_that_cannot_be_asked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "Concerto.toml").write_text('[mcp.Odd]\ncommand = "no-such-server"\n')
    assert check(project) == 1
    assert "there is no command `no-such-server`" in capsys.readouterr().out
    assert lock(project) == 1
    assert not (project / "Concerto.lock").exists()
    (project / "Concerto.toml").write_text("[mcp.Odd]\n")
    assert check(project) == 1
    assert "mcp server `Odd` has no `command`" in capsys.readouterr().out


def test_the_compiler_checks_against_the_lock(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No server is started for it: the command is gone."""
    sync(project)
    lock(project)
    (project / "Concerto.toml").write_text('[mcp.Odd]\ncommand = "no-such-server"\n')
    assert building.check((str(project),)) == 0
    edit(project, "add(a: Int", "add(a: String")
    capsys.readouterr()
    assert building.check((str(project),)) == 2
    errors = capsys.readouterr().err
    assert "error[E0416]: `Odd::add`: parameter `a` is declared `String`, offered `Int`" in errors
    assert "fn add(a: String, b: Int = 10)" in errors


def test_a_lock_that_cannot_be_read(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sync(project)
    (project / "Concerto.lock").write_text("{")
    assert building.check((str(project),)) == 2
    assert "write it again with `concerto mcp lock`" in capsys.readouterr().err
    with pytest.raises(Failure, match="write it again"):
        check(project)
    assert lock(project) == 0
    assert check(project) == 0


def test_a_lock_of_another_version_is_not_overwritten(project: Path) -> None:
    written = '{"version": 9, "mcp": {}}'
    (project / "Concerto.lock").write_text(written)
    for command in (check, lock):
        with pytest.raises(Failure, match="version 9, this Concerto reads version 1"):
            command(project)
    assert (project / "Concerto.lock").read_text() == written


def test_commands_at_the_same_time(project: Path) -> None:
    """Both have read the program before one of them has written to it."""
    servers = "".join([f"[mcp.{name}]\ncommand = {json.dumps(scripted())}\n" for name in ("Odd", "Even")])
    (project / "Concerto.toml").write_text(servers)
    syncs = [partial(sync, project)] * 2
    works: list[Callable[[], object]] = [*syncs, *[partial(lock, project, name) for name in ("Odd", "Even")]]
    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(work) for work in works]:
            done.result(timeout=60)
    assert (project / "main.conc").read_text().count("mcp Odd") == 1
    assert list(json.loads((project / "Concerto.lock").read_text())["mcp"]) == ["Even", "Odd"]


def test_line_ends_stay_as_they_are(project: Path) -> None:
    (project / "main.conc").write_bytes(MAIN.replace("\n", "\r\n").encode())
    for change in ("pid", "environment"):
        sync(project)
        data = (project / "main.conc").read_bytes()
        assert data.count(b"\r\n") == data.count(b"\n") > 20
        edit(project, f"fn {change}()", f"fn not_{change}()")
        (project / "main.conc").write_bytes((project / "main.conc").read_bytes().replace(b"\n", b"\r\n"))


def test_a_program_that_cannot_be_read_or_written(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "main.conc").write_text("mcp Odd { fn add( }\n")
    assert contracts.sync("Odd", str(project), minimal=False, environment=None, debug=False) == 2
    assert "error[E0102]: `(` is never closed" in capsys.readouterr().err
    (project / "main.conc").write_text(MAIN)

    # Nothing is read-only to root; a file in the way of the new text stops everybody.
    monkeypatch.setattr(os, "urandom", bytes)
    (project / f".{bytes(8).hex()}.new").mkdir()
    with pytest.raises(Failure, match=r"cannot write .*main.conc"):
        sync(project)


def test_a_lock_of_one_server_keeps_the_others(project: Path) -> None:
    command = json.dumps(scripted())
    (project / "Concerto.toml").write_text(f"[mcp.A]\ncommand = {command}\n[mcp.B]\ncommand = {command}\n")
    lock(project)
    before = (project / "Concerto.lock").read_text()
    lock(project, "A")
    assert (project / "Concerto.lock").read_text() == before


def test_a_run_tells_of_a_server_that_has_changed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of one whose tools are not declared; declared ones have to fit anyhow."""
    lock(project)
    edit(project, '"add": {', '"plus": {', "Concerto.lock")
    with (project / "Concerto.toml").open("a") as manifest:
        manifest.write('[connections.mock]\nprovider = "mock"\n')
    (project / "main.conc").write_text(
        'agent A { provider: mock, model: "m", tools: [Odd] }\n'
        'fn main() { println(A.execute("hi").is_ok()); }\n'
    )
    capsys.readouterr()
    assert running.run(str(project), quiet=True) == 0
    said = capsys.readouterr()
    assert said.out == "true\n"
    assert "[warn] mcp server `Odd` has changed: `plus`: the server has no tool `plus`" in said.err


MEMORY = """
    Memory.create_entities([
        MemoryCreateEntitiesEntities { name: "Ada", entityType: "person", observations: ["counts"] },
        MemoryCreateEntitiesEntities { name: "Alan", entityType: "person", observations: [] },
    ])?;
    let reads = MemoryCreateRelationsRelations { from: "Alan", to: "Ada", relationType: "reads" };
    Memory.create_relations([reads])?;
    let more = MemoryAddObservationsObservations { entityName: "Alan", contents: ["breaks codes"] };
    println(Memory.add_observations([more])?.results[0].addedObservations);
    println(Memory.search_nodes("codes")?.entities.map(|each| each.name));
    println(Memory.delete_entities(["Ada"])?.success);
    println(Memory.read_graph()?);
    let (more, number, total) = (true, 1, 2);
    println(Thinking.sequentialthinking("First.", more, number, total)?.nextThoughtNeeded);
    Ok(nil)
"""


def test_servers_of_npm_from_sync_to_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The official servers "memory" and "sequential-thinking"."""
    monkeypatch.setenv("MEMORY_FILE_PATH", str(tmp_path / "memory.jsonl"))
    servers = {"Memory": "mcp-server-memory", "Thinking": "mcp-server-sequential-thinking"}
    tables = [
        f'[mcp.{name}]\ncommand = "\'{peers.node_program(program)}\'"\nenv = ["MEMORY_FILE_PATH"]\n'
        for name, program in servers.items()
    ]
    (tmp_path / "Concerto.toml").write_text('[project]\nname = "p"\nentry = "main.conc"\n' + "".join(tables))
    main = tmp_path / "main.conc"
    main.write_text("fn main() -> Result<Nil, ToolError> { Ok(nil) }\n")
    for name in servers:
        sync(tmp_path, name)
    assert lock(tmp_path) == 0
    main.write_text(main.read_text().replace("{ Ok(nil) }", "{" + MEMORY + "}"))
    assert check(tmp_path) == 0
    capsys.readouterr()
    assert running.run(str(tmp_path), quiet=True) == 0
    left = 'MemoryReadGraphResult { entities: [MemoryCreateEntitiesResultEntities { name: "Alan", '
    left += 'entityType: "person", observations: ["breaks codes"] }], relations: [] }'
    assert capsys.readouterr().out.splitlines() == ['["breaks codes"]', '["Alan"]', "true", left, "true"]
