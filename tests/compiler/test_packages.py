"""`use pkg::name` finds the modules that installed Python packages ship."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from concerto import CompileError, Runtime, compile_file

ROOT = Path(__file__).parents[2]


def installed(site: Path, name: str, distribution: str, modules: dict[str, str]) -> None:
    """A package as an installer leaves it."""
    package = distribution.replace("-", "_")
    (site / package).mkdir(parents=True)
    (site / package / "__init__.py").touch()
    for module, text in modules.items():
        (site / package / f"{module}.conc").write_text(text)
    about = site / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[concerto.modules]\n{name} = {package}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages that is looked into."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


def vectors(site: Path, zero: str = "0", distribution: str = "vectors-for-all") -> None:
    modules = {
        "mod": "pub use self::points::origin;\npub fn zero() -> Int { self::points::base() }",
        "points": f"pub struct Point {{ pub x: Int }}\npub fn origin() -> Point {{ Point {{ x: base() }} }}\n"
        f"pub fn base() -> Int {{ {zero} }}",
    }
    installed(site, "vectors", distribution, modules)


def program(folder: Path, text: str) -> Path:
    file = folder / "main.conc"
    file.write_text(text)
    return file


def value_of(file: Path) -> object:
    return Runtime(compile_file(file)).call("value").value


def problem_of(file: Path) -> tuple[str, str, str | None]:
    with pytest.raises(CompileError) as raised:
        compile_file(file)
    found = next(iter(raised.value.problems))
    return found.code, found.message, found.help


USES = """
use vectors::zero;
use vectors::origin;
use vectors::points::{Point, base};
pub fn value() -> Int { let p: Point = origin(); zero() + base() + p.x }
"""


def test_modules_of_a_package_are_used(site: Path, tmp_path: Path) -> None:
    vectors(site, "7")
    assert value_of(program(tmp_path, USES)) == 21


def test_the_project_has_its_own_first(site: Path, tmp_path: Path) -> None:
    vectors(site)
    file = program(tmp_path, "use vectors::zero;\npub fn value() -> Int { zero() }")
    assert value_of(file) == 0
    (tmp_path / "vectors.conc").write_text("pub fn zero() -> Int { 5 }")
    assert value_of(file) == 5


def test_what_is_kept_follows_the_packages(site: Path, tmp_path: Path) -> None:
    vectors(site, "1")
    file = program(tmp_path, USES)
    assert value_of(file) == 3
    points = site / "vectors_for_all" / "points.conc"
    points.write_text(points.read_text().replace("{ 1 }", "{ 2 }"))
    assert value_of(file) == 6
    vectors(site, "3", "other-vectors")
    assert problem_of(file) == (
        "E0501",
        "module `vectors` is in several installed packages: `other-vectors`, `vectors-for-all`",
        "uninstall all but one of them",
    )


def test_advice_knows_the_installed_packages(site: Path, tmp_path: Path) -> None:
    vectors(site)
    file = program(tmp_path, "use vector::zero;\nfn main() {}")
    assert problem_of(file) == ("E0501", "module `vector` not found", "did you mean `vectors`?")
    file.write_text("use points::base;\nfn main() {}")
    assert problem_of(file)[2] == "an installed package has it: `use vectors::points`"
    file.write_text("use vectors::pints;\nfn main() {}")
    assert problem_of(file)[0] == "E0502"


def test_a_library_is_made_built_installed_and_used(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")

    def run(*command: object, **environment: str) -> str:
        done = subprocess.run(
            [str(each) for each in command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": "", **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    here = {"PYTHONPATH": str(ROOT)}
    run(sys.executable, "-m", "concerto.cli", "init", "--library", "kind-words", **here)
    assert "1 passed" in run(sys.executable, "-m", "concerto.cli", "test", "kind-words", **here)
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "kind-words")
    venv.create(tmp_path / "other", with_pip=False)
    python = tmp_path / "other" / "bin" / "python"
    [wheel] = (tmp_path / "kind-words" / "dist").glob("*.whl")
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel)
    file = program(tmp_path, 'use kind_words::greet;\nfn main() { println(greet("Ada")); }')
    # The compiler and what it needs are those of this environment.
    ours = {"PYTHONPATH": os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])}
    assert run(python, "-m", "concerto.cli", "run", file, **ours) == "Hello, Ada!\n"


def test_a_library_needs_a_name_that_can_be_used(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "concerto.cli", "init", "--library", str(tmp_path / "2nd")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 2 and "`2nd` gives no name that a program could `use`" in done.stderr
    assert not (tmp_path / "2nd").exists()
