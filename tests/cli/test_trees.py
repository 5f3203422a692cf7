"""Commands that take folders: tests beside the sources, files that nothing uses, several projects at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.harness.commands import one_line, run

FILES = {
    "Concerto.toml": '[project]\nname = "post"\n',
    "src/main.conc": "use mail::shout;\n\npub agent Clerk { provider: mock }\n\n"
    'fn main() { println(shout("hi")); }\n',
    "src/mail.conc": "pub fn shout(text: String) -> String { text.to_upper() }\n",
    "src/deep/mod.conc": "pub mod inner { pub fn one() -> Int { 1 } }\n",
    # It has the name of what it tests.
    "tests/mail.conc": "use mail::shout;\nuse main::Clerk;\nuse deep::inner;\nuse helpers::twice;\n\n@test\n"
    'fn shouts() {\n    mock Clerk { response: "x" }\n    assert_eq(twice(shout("a")), "AA");\n'
    '    assert_eq(Clerk.execute("?").unwrap().text, "x");\n    assert_eq(inner::one(), 1);\n}\n',
    "tests/helpers.conc": "pub fn twice(text: String) -> String { text + text }\n",
}
ENTRIES = ["", 'entry = "src/main.conc"\n']


def project(folder: Path, entry: str = "") -> Path:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text + entry * (name == "Concerto.toml"))
    return folder


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("target", [".", "tests", "tests/mail.conc"])
def test_tests_see_the_modules_of_the_project(target: str, entry: str, tmp_path: Path) -> None:
    done = run("concerto", "test", target, cwd=project(tmp_path, entry))
    assert (done.stderr, done.returncode) == ("", 0)
    assert "ok    tests/mail.conc :: shouts\n" in done.stdout
    done = run("concertoc", "check", target, cwd=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_tests_run_from_inside_their_folder(tmp_path: Path) -> None:
    done = run("concerto", "test", cwd=project(tmp_path) / "tests")
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_changed_module_is_seen_by_its_test(tmp_path: Path) -> None:
    project(tmp_path)
    assert run("concerto", "test", cwd=tmp_path).returncode == 0
    (tmp_path / "src" / "mail.conc").write_text("pub fn shout(text: String) -> String { text }\n")
    assert run("concerto", "test", cwd=tmp_path).returncode == 1


def wrong(folder: Path) -> list[tuple[str, str]]:
    done = run("concertoc", "check", str(folder), "--format", "json", cwd=folder.parent)
    found = [(each["file"], each["code"]) for each in json.loads(done.stdout)["diagnostics"]]
    assert done.returncode == (2 if found else 0)
    return sorted(found)


def test_check_looks_at_every_file_of_every_project_below_a_folder(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for name in ("one", "two"):
        project(tree / name)
        (tree / name / "src" / "stray.conc").write_text("pub fn f() -> Int { a }\n")
        (tree / name / "tests" / "stray.conc").write_text("use mail::whisper;\n")
    (tree / "loose.conc").write_text("fn f() -> Int { b }\n")
    for hidden in (".git", "node_modules"):
        (tree / hidden).mkdir()
        (tree / hidden / "x.conc").write_text("no program\n")
    expected = [("tree/loose.conc", "E0201")]
    for name in ("one", "two"):
        expected += [(f"tree/{name}/src/stray.conc", "E0201"), (f"tree/{name}/tests/stray.conc", "E0502")]
    assert wrong(tree) == expected
    (tree / "two" / "Concerto.toml").write_text("[projekt]\n")
    assert (str(tree / "two" / "Concerto.toml"), "E0505") in wrong(tree)


def test_a_problem_of_a_module_is_told_once(tmp_path: Path) -> None:
    folder = project(tmp_path / "app")
    (folder / "src" / "mail.conc").write_text("pub fn shout(text: String) -> String { let a = 1; text }\n")
    done = run("concertoc", "check", "app", cwd=tmp_path)
    assert done.stderr.count("W0001") == 1 and done.returncode == 0


def test_build_of_a_folder_builds_the_programs_below_it(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for name in ("one", "two"):
        project(tree / name)
    assert run("concertoc", "build", "tree", cwd=tmp_path).returncode == 0
    built = sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*.conc-ir"))
    assert built == ["one/src/main.conc-ir", "two/src/main.conc-ir"]
    assert run("concerto", "run", "tree/one/src/main.conc-ir", cwd=tmp_path).stdout == "HI\n"
    one_line(run("concertoc", "build", "tree", "-o", "x", cwd=tmp_path), "`-o` takes one output")


def test_folders_without_programs(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    one_line(run("concertoc", "check", "empty", cwd=tmp_path), "there is no program (`.conc`) in `empty`")
    one_line(run("concertoc", "build", "empty", cwd=tmp_path), "no `main.conc` or `src/main.conc` in `empty`")
    one_line(run("concerto", "run", "empty", cwd=tmp_path), "no `main.conc` or `src/main.conc` in `empty`")


@pytest.mark.parametrize("command", ["build", "check", "audit", "fmt --check", "fix --dry-run"])
def test_a_command_without_a_target_takes_the_project_that_it_stands_in(command: str, tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "src" / "broken.conc").write_text("fn f( {")
    done = run("concertoc", *command.split(), cwd=folder)
    named = run("concertoc", *command.split(), ".", cwd=folder)
    assert (done.stdout, done.stderr, done.returncode) == (named.stdout, named.stderr, named.returncode)
    assert ("broken.conc" in done.stderr) == (command in ("check", "fmt --check"))
