"""Values of a program's types in pickles: known by the program's file and the type's name."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import concerto

SOURCE = """
pub enum Tree<T> { Leaf(T), Node(Tree<T>, Tree<T>) }
pub enum Color { Red, Green }
pub struct Meters(Float);
pub struct Box<T> { inside: T, color: Color }
agent Teller { provider: openai, model: "gpt-4o-mini" }
pub fn tree() -> Tree<Int> { Tree::Node(Tree::Leaf(1), Tree::Leaf(2)) }
pub fn box() -> Box<Meters> { Box { inside: Meters(2.5), color: Color::Green } }
pub fn refuse() -> Result<Int, Color> { Err(Color::Red) }
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("pickled") / "shapes.conc"
    file.write_text(SOURCE)
    return file


@pytest.fixture(scope="module")
def app(file: Path) -> Any:
    return concerto.load(file, mock=True)


def values(app: Any) -> list[Any]:
    return [app.tree(), app.box(), app.Color.Red, app.Meters(1), [app.Tree.Leaf(app.Color.Red)]]


def test_values_come_back_as_they_were(app: Any) -> None:
    for value in values(app):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            again = pickle.loads(pickle.dumps(value, protocol))
            assert again == value and type(again) is type(value)
        assert copy.deepcopy(value) == value
    for each in (app.Box, app.Color, app.Tree, app.Tree.Leaf):
        assert pickle.loads(pickle.dumps(each)) is each
    with pytest.raises(concerto.RunError) as raised:
        app.refuse()
    assert pickle.loads(pickle.dumps(raised.value)).value is app.Color.Red


def test_another_process_loads_the_program(app: Any) -> None:
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer))"
    data = pickle.dumps(values(app))
    done = subprocess.run(
        [sys.executable, "-c", code], input=data, capture_output=True, check=False, timeout=120
    )
    assert done.stdout.decode() == f"{values(app)}\n", done.stderr.decode()


class Marked:
    """A class with a subclass of a model in it, as Python programs make them."""

    model: Any = None


def test_a_subclass_is_known_by_its_own_name(app: Any) -> None:
    Marked.model = type("Marked.model", (app.Meters,), {"__module__": __name__})
    value = Marked.model(3)
    assert pickle.loads(pickle.dumps(value)) == value


def test_what_belongs_to_a_process_is_refused(app: Any) -> None:
    for each in (app, app.tree, app.Teller, app.Teller.execute):
        with pytest.raises(TypeError, match=r"cannot be pickled: load its program in each process"):
            pickle.dumps(each)


def test_a_program_that_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "gone.conc"
    file.write_text("pub struct Old { n: Int }")
    app = concerto.load(file)
    data = pickle.dumps(app.Old(n=1))
    file.write_text("pub struct New { n: Int }")
    renewed = concerto.load(file)
    with pytest.raises(pickle.UnpicklingError, match=r"no type `Old` of `.*gone.conc`: .*no public `Old`"):
        pickle.loads(data)
    assert renewed.New(n=1).n == 1
