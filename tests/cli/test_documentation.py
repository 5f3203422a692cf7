"""`concerto doc`, `concerto run -`, and links that lead somewhere in the repository."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.generate import PAGES
from tests.harness.commands import ROOT, command, environment, one_line, run


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("trim", 'assert_eq("  hi ".trim(), "hi");'),
        ("String.trim", "pub fn trim(self) -> String;"),
        ("std::json::parse", "// json\npub fn parse("),
        ("println", "pub fn println("),
        ("std::fmt", "pub fn indent("),
        ("Array", "pub fn map<"),
        ("ShellTool", "exec("),
        ("Clerk", "struct Clerk { n: Int }\n\nfn greet(self) -> String;"),
        ("inner", "pub fn deep() -> Int;"),
        ("Clerk.greet", "fn greet(self) -> String;\n\nSays hello."),
        ("clerk::hidden", "fn hidden() -> Int;"),
        ("Desk", "agent Desk { provider: openai }\n\nAnswers."),
        ("Answer", "schema Answer { ok: Bool }"),
        ("inner::deep", "pub fn deep() -> Int;"),
    ],
)
def test_what_a_name_is(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "clerk.conc").write_text(
        "struct Clerk { n: Int }\n\nimpl Clerk {\n    /// Says hello.\n"
        '    fn greet(self) -> String { "hi" }\n}\n\nfn hidden() -> Int { 1 }\n'
        "/// Answers.\nagent Desk { provider: openai }\n\nschema Answer { ok: Bool }\n\n"
        "mod inner { pub fn deep() -> Int { 1 } }\n"
    )
    done = run("concerto", "doc", name, cwd=tmp_path)
    assert said in done.stdout and (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize("manifest", ["", '[project]\nname = "desk"\nentry = "src/main.conc"\n'])
def test_a_project_is_its_modules(tmp_path: Path, manifest: str) -> None:
    for name in ("src/main", "src/clerk/ledger", "tests/clerks", "src/tests/more", "other/main"):
        path = tmp_path / f"{name}.conc"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"fn of_{path.stem}() -> Int {{ 1 }}\n")
    if manifest:
        (tmp_path / "Concerto.toml").write_text(manifest)
    listed = set(run("concerto", "doc", cwd=tmp_path).stdout.split())
    assert {"main", "ledger"} <= listed and listed.isdisjoint({"clerks", "more"})
    shown = run("concerto", "doc", "main", cwd=tmp_path).stdout.splitlines()
    assert shown == ["fn of_main() -> Int;"]


def test_a_folder_of_projects_is_none(tmp_path: Path) -> None:
    for name in ("one/main.conc", "two/src/main.conc", "note.conc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("fn main() { }\n")
    listed = set(run("concerto", "doc", cwd=tmp_path).stdout.split())
    assert "note" in listed and "main" not in listed


def test_what_there_is_and_is_not(tmp_path: Path) -> None:
    listed = run("concerto", "doc", cwd=tmp_path).stdout.split()
    assert {"json", "fmt", "println", "String"} <= set(listed)
    assert {"json", "fmt", "println"} <= set(run("concerto", "doc", "std", cwd=tmp_path).stdout.split())
    assert "Queue, Set, Stack" in run("concerto", "doc", "std::collections", cwd=tmp_path).stdout
    for name in ("jsno", "std::jsno"):
        one_line(
            run("concerto", "doc", name, cwd=tmp_path), f"nothing is known of `{name}`; did you mean `json`?"
        )


def test_a_program_on_standard_input(tmp_path: Path) -> None:
    (tmp_path / "words.conc").write_text('pub fn word() -> String { "one" }\n')

    def fed(text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command("concerto", "run", "-"), input=text, cwd=tmp_path, env=environment(),
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip

    done = fed("use words::word;\nfn main() { println(word()); }\n")
    assert (done.stdout, done.stderr, done.returncode) == ("one\n", "", 0)
    wrong = fed("fn main() { x }\n")
    assert (wrong.stdout, wrong.returncode) == ("", 2) and "<stdin>:1:13" in wrong.stderr
    assert fed("").stderr.startswith("error[E0110]")


def test_every_link_of_the_pages_leads_somewhere_in_the_repository() -> None:
    pages = ROOT / "docs" / "pages"
    for page in pages.rglob("*.md"):
        if _is_generated(page):
            continue
        for target in re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            place = (page.parent / target).resolve()
            assert place.is_file() and not _is_generated(place), f"{page.name}: {target}"


def _is_generated(page: Path) -> bool:
    return page.parent.name == "reference" and page.name in PAGES


def test_a_session_reads_files_and_documentation(tmp_path: Path) -> None:
    (tmp_path / "lib.conc").write_text(
        "const N: Int = 20;\nfn twice(n: Int) -> Int { n * 2 }\nfn main() {}\n"
    )
    (tmp_path / "wrong.conc").write_text("fn f() -> Int { x }\n")
    lines = ":load lib.conc\ntwice(N) + 2\n:load wrong.conc\n:load nowhere.conc\n:doc trim\n:doc ?\nN\n"
    done = subprocess.run(
        [sys.executable, "-m", "concerto.cli", "repl"], input=lines, cwd=tmp_path, env=environment(),
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("42\n") and done.stdout.endswith("nothing is known of `?`\n20\n")
    assert "pub fn trim(self)" in done.stdout
    assert "wrong.conc:1:17" in done.stderr and "cannot read `nowhere.conc`" in done.stderr
