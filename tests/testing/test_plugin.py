"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240, check=False)


def project(folder: Path) -> Path:
    (folder / "pytest.ini").write_text("[pytest]\nconcerto_timeout = 1\n")
    (folder / "test_python.py").write_text("def test_python(): pass\n")
    (folder / "sums.conc").write_text(
        '@test("sums :: right") fn right() { assert_eq(1 + 1, 2); }\n'
        '@test fn wrong() { println("said"); assert_eq(1 + 1, 3); }\n'
        "@test fn endless() { loop { } }\n"
    )
    (folder / "no_tests.conc").write_text("this is no program")
    return folder


def test_tests_of_programs_run_beside_python_tests(tmp_path: Path) -> None:
    done = run_pytest(project(tmp_path), "-rA")
    assert "2 passed" in done.stdout and "2 failed" in done.stdout, done.stdout
    assert "sums.conc::sums / right" in done.stdout
    assert "left:  2" in done.stdout and "right: 3" in done.stdout and "said" in done.stdout
    assert "the test took longer than 1 s" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_program_with_errors_is_not_collected(tmp_path: Path) -> None:
    (tmp_path / "a.conc").write_text("@test fn a() { x }")
    done = run_pytest(tmp_path)
    assert done.returncode == 2
    assert "error[E0201]" in done.stdout and "Traceback" not in done.stdout


def test_it_can_be_chosen_by_name(tmp_path: Path) -> None:
    done = run_pytest(project(tmp_path), "-k", "right", "-q")
    assert "1 passed, 3 deselected" in done.stdout
    done = run_pytest(project(tmp_path), "sums.conc::sums / right", "-q", "-W", "error")
    assert "1 passed" in done.stdout
