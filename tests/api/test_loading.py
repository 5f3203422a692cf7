"""`concerto.load`: a program's functions, agents and types in Python."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import threading
import warnings
from enum import Enum
from pathlib import Path
from typing import Any

import pydantic
import pytest

import concerto
from concerto.embedding.stubs import stub_of
from tests.runtime.servers import Answer, Script

ROOT = Path(__file__).parents[2]
SOURCE = """
mod inner {
    pub struct User { pub name: String, from: Int = 1, json: Any, _x: Bool = true }
}
use inner::User;
pub enum Tree<T> { Leaf(T), Node(Tree<T>, Tree<T>), Empty }
pub enum Shape { Circle { radius: Float }, Square(Float) }
pub type Label = "a" | "b";
pub struct Meters(Float);
pub struct Pair<T>(pub T, Int);

agent Teller { provider: openai, model: "gpt-4o-mini" }

pub fn longer(m: Meters) -> Meters { Meters(m.0 + 1) }
pub fn pair(p: Pair<Meters>) -> Pair<Meters> { p }

/// Gives it back: "as it is".
pub fn user(u: User) -> User { u }
pub fn tree(n: Int) -> Tree<Int> {
    if n == 0 { Tree::Leaf(1) } else { Tree::Node(tree(n - 1), Tree::Empty) }
}
pub fn depth(t: Tree<Int>) -> Int {
    match t { Tree::Leaf(_) => 1, Tree::Node(a, _) => 1 + depth(a), Tree::Empty => 0 }
}
pub fn collections(
    a: Map<Int, Float>, b: Set<String>, c: (Int, String), d: Option<Int>, e: Queue<Int>, f: Stack<Int>
) -> (Map<Int, Float>, Set<String>, (Int, String), Option<Int>, Queue<Int>, Stack<Int>) {
    (a, b, c, d, e, f)
}
pub fn results(n: Int) -> Array<Result<Int, String>> { [Ok(n), Err("no")] }
pub fn anything(x: Any) -> Any { x }
pub fn class(def: Int = 1, y: Int) -> Int { def + y }
pub fn label(x: Label) -> Label { x }
pub fn span(r: Range) -> Range { r }
pub fn unknown() -> Result<Option<String>, String> { Ok(None) }
pub fn endless(x: Float) -> Float { x / 0.0 }
pub fn shape(wide: Bool) -> Shape {
    if wide { Shape::Square(2.0) } else { Shape::Circle { radius: 1.0 } }
}
pub fn jam() -> Result<Int, ToolError> { Err(ToolError::new("no paper")) }
pub fn refuse(s: Shape) -> Result<Int, Shape> { Err(s) }
pub fn boom() { panic("out"); }
pub fn says(n: Int) { println("n is ${n}"); emit("said", n); }
pub fn tell(what: String) -> Result<Iterator<StreamChunk>, AgentError> { Teller.stream(what) }
pub fn arriving(what: String) -> Result<Iterator<SchemaChunk<Partial<User>, User>>, AgentError> {
    Teller.stream_with_schema<User>(what)
}
pub fn list(xs: Array<Int>) -> Array<Int> { xs }
pub fn apply(f: fn(Int) -> Int) -> Int { f(1) }
pub fn forever() { loop { } }
fn helper() {}
pub fn helped() { helper(); }
impl Teller {
    /// Asks for a story.
    pub fn story(self, about: String) -> Result<String, AgentError> { Ok(self.execute(about)?.text) }
    pub fn slowly(self, about: String) -> Result<Iterator<StreamChunk>, AgentError> { self.stream(about) }
}
pub fn execute(n: Int) -> Int { n }
/// Says it louder.
pipeline Louder(text: String, times: Int = 2) -> String {
    stage upper(text: String, times: Int) -> String { text.to_upper().repeat(times) }
}
pub struct Spot { x: Int }
pub fn spots(of: Map<Spot, Int>) -> Map<Spot, Int> { of }
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("loaded") / "things.conc"
    file.write_text(SOURCE)
    return file


@pytest.fixture(scope="module")
def app(file: Path) -> Any:
    return concerto.load(file, mock=True)


def test_structs_are_models(app: Any) -> None:
    user = app.User(name="Ada", json_={"k": [1]})
    assert (user.from_, user.x) == (1, True)
    assert app.user(user) == user
    assert app.user({"name": "Bob", "json": 1, "from": 3}) == app.User(name="Bob", json_=1, from_=3)
    assert app.User.model_validate({"name": "Bob", "json": 1, "from": 3}).from_ == 3
    assert json.loads(app.user(user).model_dump_json(by_alias=True))["from"] == 1
    with pytest.raises(pydantic.ValidationError):
        app.User(name=1, json_=1)


def test_enums_with_data_are_classes_of_models(app: Any) -> None:
    tree = app.tree(2)
    assert isinstance(tree, app.Tree.Node) and isinstance(tree, app.Tree)
    assert app.depth(tree) == 3
    assert app.depth(app.Tree.Node(app.Tree.Leaf(1), app.Tree.Empty())) == 2
    match app.shape(wide=False):
        case app.Shape.Circle(radius=radius):
            assert radius == 1.0
        case _:
            pytest.fail("no circle")
    assert app.shape(wide=True) == app.Shape.Square(2.0)
    shapes = pydantic.TypeAdapter(list[app.Shape])
    assert shapes.validate_json('[{"variant": "Square", "value": 2}]') == [app.Shape.Square(2.0)]
    with pytest.raises(TypeError, match=r"Shape.Square takes 1 values, not 2"):
        app.Shape.Square(1.0, 2.0)


def test_tuple_structs_take_their_values_by_place(app: Any) -> None:
    assert app.longer(app.Meters(2)) == app.Meters(3.0)
    assert app.longer({"value": 1}).value == 2.0
    given = app.Pair(app.Meters(1.5), 2)
    assert app.pair(given) == app.Pair[app.Meters](app.Meters(1.5), 2)
    match app.pair(given):
        case app.Pair(app.Meters(length), count):
            assert (length, count) == (1.5, 2)
    with pytest.raises(TypeError, match="Meters takes 1 values, not 2"):
        app.Meters(1, 2)
    with pytest.raises(TypeError, match="expected `Meters`"):
        app.longer(1.0)


def test_other_values(app: Any) -> None:
    given: tuple[Any, ...] = ({1: 2.5}, {"a"}, (1, "b"), None, [1], [2])
    assert app.collections(*given) == given
    assert app.results(2) == [concerto.OkResult(ok=2), concerto.ErrResult(err="no")]
    assert app.anything({"a": [1, None, app.Shape.Square(1.0)]})["a"][2]["value"] == 1.0
    assert app.class_(y=2) == 3
    assert app.label("b") == "b"
    assert app.span(range(3)) == range(3)
    assert app.spots([(app.Spot(x=1), 2)]) == [(app.Spot(x=1), 2)]
    assert app.unknown() is None
    assert app.endless(1) == float("inf")
    assert app.list((1, 2)) == [1, 2]


def test_failures(app: Any) -> None:
    with pytest.raises(concerto.RunError) as raised:
        app.jam()
    error = raised.value
    assert (error.kind, error.message) == ("ToolError", "no paper")
    assert error.place is not None and error.place.endswith("things.conc:40:42")
    assert "│" in error.trace and str(error) == f"ToolError: no paper ({error.place})"
    assert isinstance(error.value, concerto.ErrorInfo)
    assert error.value.model_dump() == {"kind": "ToolError", "message": "no paper", "tool": "", "method": ""}
    with pytest.raises(concerto.RunError) as raised:
        app.refuse(app.Shape.Square(1.0))
    assert (raised.value.kind, raised.value.value) == ("Square", app.Shape.Square(1.0))
    with pytest.raises(concerto.RunError) as raised:
        app.boom()
    assert (raised.value.kind, raised.value.value) == ("Panic", None)
    with pytest.raises(concerto.RunError) as raised:
        app.forever.using(timeout=0.05)()
    assert raised.value.kind == "Timeout"
    result = app.jam.result()
    assert (result.ok, result.kind, result.tokens) == (False, "ToolError", 0)


def test_nothing_is_printed_unasked(app: Any, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(concerto.RunError):
        app.boom()
    app.says(3)
    assert capfd.readouterr() == ("n is 3\n", "")


def test_listeners_take_emits(app: Any) -> None:
    said: list[Any] = []
    both: list[Any] = []
    app.says.using(listeners={"said": said.append, "*": both.append})(3)
    assert said == [3] and {"channel": "said", "payload": 3} in both
    app.says(4)
    assert said == [3]

    async def later(payload: Any) -> None: ...

    with pytest.raises(TypeError, match="a listener cannot be async"):
        app.says.using(listeners={"said": later})
    with pytest.raises(TypeError, match="takes the payload, not int"):
        app.says.using(listeners={"said": 1})


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda app: app.user(1), "`user` takes a `User` as `u`: expected `User`, found `int`"),
        (lambda app: app.user({"name": 1}), "expected `String`, found `int` at `name`"),
        (lambda app: app.user({"name": "a", "nme": 1}), "found the unknown field `nme`"),
        (lambda app: app.user(), "`user` needs its argument `u`"),
        (lambda app: app.label("c"), "found `'c'`"),
        (lambda app: app.list([1, True]), "expected `Int`, found `bool` at `[1]`"),
        (lambda app: app.list([2**63]), "a number that needs more than 64 bits"),
        (lambda app: app.depth({"variant": "Leave"}), "found `'Leave'`"),
        (lambda app: app.Teller.execute(1), "`Teller.execute` takes a text, or a list of"),
        (lambda app: app.tree.using(tmeout=1), "there is no option `tmeout`; did you mean `timeout`?"),
        (lambda app: app.tree.using(record="s"), "`record` is for a whole run"),
    ],
)
def test_wrong_arguments(app: Any, call: Any, text: str) -> None:
    with pytest.raises(TypeError) as raised:
        call(app)
    assert text in str(raised.value)


def test_defaults_with_keys_that_are_tuples(tmp_path: Path) -> None:
    file = tmp_path / "keys.conc"
    file.write_text('pub fn at(m: Map<(Int, Int), String> = {(0, 0): "zero"}) -> String { m[(0, 0)] }')
    app: Any = concerto.load(file)
    assert app.at() == "zero"
    assert inspect.signature(app.at).parameters["m"].default == {(0, 0): "zero"}


class Tone(str, Enum):  # noqa: UP042
    """Whose text, asked for, is its name."""

    HIGH = "High"


def test_members_that_are_texts_are_these_texts(tmp_path: Path) -> None:
    (tmp_path / "tones.conc").write_text(
        """
        pub enum Level { Low, High }
        pub fn shown(x: String) -> String { "${x}|${x:<6}" }
        pub fn level(x: Level) -> String { "${x}" }
        pub fn chosen(x: "Low" | "High") -> String { x }
        pub fn counts(x: Map<String, Int>) -> Array<String> { x.keys() }
        """
    )
    tones = concerto.load(tmp_path / "tones.conc")
    assert tones.shown(Tone.HIGH) == "High|High  "
    assert tones.level(Tone.HIGH) == "Level::High"
    assert tones.chosen(Tone.HIGH) == "High"
    assert tones.counts({Tone.HIGH: 1}) == ["High"]


def test_names_that_are_not_there(app: Any) -> None:
    with pytest.raises(AttributeError, match=r"`helper` is not public .*: write `pub fn helper`"):
        _ = app.helper
    with pytest.raises(AttributeError, match=r"has no public `tre`; did you mean `tree`\?"):
        _ = app.tre
    with pytest.raises(
        AttributeError, match=r"`f` holds a `fn\(Int\) -> Int`, which Python has no equal of; give"
    ):
        _ = app.apply


def test_what_is_known_of_a_function(app: Any) -> None:
    assert app.user.__doc__ == 'Gives it back: "as it is".'
    assert list(inspect.signature(app.class_).parameters) == ["def_", "y"]
    assert inspect.iscoroutinefunction(app.user.aio)
    assert repr(app.class_) == "<function class(def_: int, y: int) -> int>"
    assert "user" in dir(app) and "helper" not in dir(app)


def test_streams_are_async_iterators(app: Any) -> None:
    async def read(call: Any) -> str:
        return "".join([chunk.text async for chunk in call])

    assert asyncio.run(read(app.tell("Go on"))) == "[mock response to: Go on]"
    assert asyncio.run(read(app.Teller.stream("Go on"))) == "[mock response to: Go on]"

    async def leave() -> str:
        async for chunk in app.tell("Go on"):
            return str(chunk.text)
        return ""

    assert asyncio.run(leave()) == "[mock response to: Go on]"
    gc.collect()


NUMBERED = """
agent Teller { provider: openai, model: "m" }
pub fn numbered(text: String) -> Result<Iterator<StreamChunk>, AgentError> {
    Ok(Teller.stream(text)?.map(|chunk| { emit("made", chunk.text); chunk }))
}
"""


def test_a_program_is_not_far_ahead_of_the_reader_of_its_stream(tmp_path: Path, model: Script) -> None:
    file, made = tmp_path / "numbered.conc", list[str]()
    file.write_text(NUMBERED)
    event = 'data: {"choices": [{"delta": {"content": "%s "}}]}\n\n'
    end = 'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    model.answer(Answer("".join([event % n for n in range(200)]) + end))
    app: Any = concerto.load(
        file,
        connections={"openai": {"base_url": model.url, "api_key": "k"}},
        listeners={"made": made.append},
    )

    async def read(most: int) -> list[str]:
        found = list[str]()
        async for chunk in app.numbered("Count"):
            if len(found) in (0, 50):
                await asyncio.sleep(0.1)
            found.append(chunk.text)
            assert len(found) <= len(made) <= len(found) + 20
            if len(found) == most:
                break
        return found

    assert "".join(asyncio.run(read(1_000))).split() == [str(n) for n in range(200)]
    made.clear()
    assert len(asyncio.run(read(60))) == 60
    assert len(made) < 85


def test_a_stream_that_cannot_begin(app: Any) -> None:
    async def read() -> None:
        async for _ in app.Teller.using(mock=False, environment={}).stream("Go on"):
            pytest.fail("it has no key")

    with pytest.raises(concerto.RunError) as raised:
        asyncio.run(read())
    assert raised.value.kind == "MissingKey"


def test_agents_answer(app: Any) -> None:
    assert app.Teller.execute("Hello").text == "[mock response to: Hello]"
    assert asyncio.run(app.Teller.execute.aio(prompt="Hello")).messages[-1].role == "assistant"


def test_the_manifest_holds(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text('[project]\nname = "p"\n[runtime]\ntimeout = 0.05\n')
    (tmp_path / "main.conc").write_text("pub fn forever() { loop { } }")
    with pytest.raises(concerto.RunError, match="took longer than"):
        concerto.load(tmp_path / "main.conc").forever()


def test_permissions_for_nothing_are_told(file: Path) -> None:
    with pytest.warns(UserWarning, match="Teler"):
        concerto.load(file, permissions={"Teler": True})


def test_a_program_with_errors_has_no_stub(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.conc"
    wrong.write_text("pub fn f() -> Int { true }")
    code = "from concerto.cli.entry import concertoc; concertoc()"
    command = [sys.executable, "-c", code, "build", "--emit", "pyi", str(wrong)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2 and "E0301" in done.stderr
    assert not wrong.with_suffix(".pyi").exists()
    with pytest.raises(concerto.CompileError, match="E0301"):
        concerto.load(wrong)


USE = """
import asyncio
from typing import assert_type

import concerto
import pydantic
import things
from things import Shape, User

assert_type(things.user(User(name="Ada", json_=1)), User)
match things.shape(True):
    case Shape.Circle(radius=radius):
        assert_type(radius, float)
    case Shape.Square(value):
        assert_type(value, float)
assert_type(things.depth(things.tree(3)), int)
assert_type(things.unknown(), str | None)
assert_type(things.class_(1, 2), int)


async def main() -> None:
    assert_type(await things.list.aio([1]), list[int])
    async for chunk in things.tell("Go on"):
        assert_type(chunk.text, str)
    async for arriving in things.arriving("Who?"):
        assert_type(arriving.partial.from_, int | None)
        assert_type(arriving.value, User | None)
    async for found in things.Teller.stream_with_schema("Who?", User):
        assert_type(found.value, User | None)
    assert_type((await things.Teller.using(max_usd=1.0).execute.aio("Hello")).text, str)
    assert_type(things.tree.result(3).tokens, int)
    assert_type(await things.Teller.story.aio("tea"), str)
    async for chunk in things.Teller.slowly("tea"):
        assert_type(chunk.text, str)
    assert_type(await things.Louder.run.aio("tea"), str)
    assert_type(await things.Teller.execute_with_schema.aio("Who?", User), User)


asyncio.run(main())


class Own(pydantic.BaseModel):
    n: int


ada = things.Teller.session("ada").with_context({"user": "ada"}).with_memory(concerto.Memory(5))
assert_type(ada.execute(["What is it?", concerto.Part.image(b"png")]).text, str)
assert_type(ada.branch("eve").messages(), list[things.Message])
careful = things.Teller.with_model("gpt-5").with_options({"seed": 3}).with_budget(usd=0.1).without_tools()
said = careful.chat([{"role": "user", "content": "Hello"}])
said = careful.chat([*said.messages, things.Message(role="user", content="Again")])
assert_type(said.text, str)
assert_type(careful.execute_with_schema("How many?", Own), Own)
assert_type(careful.execute_with_schema("How many?", list[Own]), list[Own])
assert_type(things.Louder.using(max_usd=1.0).run("tea", times=3), str)
assert_type(things.execute(1), int)
"""
WRONG_USE = """
import things

things.user(1)
things.Shape.Circle(1.0)
things.apply
things.Teller.story(1)
things.Louder.run()
things.Teller.chat(["Hello"])
"""
SHIM = """
import sys
from pathlib import Path

import concerto

sys.modules[__name__] = concerto.load(Path(__file__).with_suffix(".conc"), mock=True)
"""


def test_type_checkers_take_the_stubs_of_all_examples(file: Path, tmp_path: Path) -> None:
    for program in sorted((ROOT / "examples").glob("*/main.conc")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = concerto.compile_file(program).module
        (tmp_path / f"{program.parent.name}_example.pyi").write_text(stub_of(module))
    (tmp_path / "things.conc").write_text(SOURCE)
    (tmp_path / "things.pyi").write_text(stub_of(concerto.compile_file(file).module))
    (tmp_path / "things.py").write_text(SHIM)
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "wrong.py").write_text(WRONG_USE)
    assert checked([sys.executable], "use.py", folder=tmp_path) == (0, "")
    stubs = sorted(path.name for path in tmp_path.glob("*.pyi"))
    checkers = [[sys.executable, "-m", "mypy", "--strict"]]
    if importlib.util.find_spec("pyright") is not None:
        checkers.append([sys.executable, "-m", "pyright", "--pythonpath", sys.executable])
    for checker in checkers:
        _, said = checked(checker, "use.py", "wrong.py", *stubs, folder=tmp_path)
        errors = re.findall(r"(\w+\.pyi?):(\d+):.*error", said)
        assert {("wrong.py", str(line)) for line in range(4, 10)} == set(errors), said


def checked(command: list[str], *files: str, folder: Path) -> tuple[int, str]:
    # Pyright asks the network whether there is a newer one.
    environment = os.environ | {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    done = subprocess.run(
        [*command, *files], cwd=folder, env=environment, capture_output=True, text=True, timeout=500
    )
    return done.returncode, done.stdout + done.stderr


def test_threads_that_begin_at_once_share_one_set_of_types(file: Path) -> None:
    wrong: list[BaseException] = []

    def work(app: Any, begin: threading.Barrier) -> None:
        begin.wait(120)
        try:
            leaf = app.Tree.Leaf(1)
            assert app.depth(app.Tree.Node(leaf, app.Tree.Empty())) == 2
            assert isinstance(app.tree(2), app.Tree.Node)
            assert isinstance(app.user(app.User(name="Ada", json_=1)), app.User)
            assert isinstance(app.shape(wide=True), app.Shape.Square)
        except BaseException as failure:
            wrong.append(failure)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            app, begin = concerto.load(file), threading.Barrier(8)
            threads = [threading.Thread(target=work, args=(app, begin), daemon=True) for _ in range(8)]
            for each in threads:
                each.start()
            for each in threads:
                each.join(120)
                assert not each.is_alive()
    finally:
        sys.setswitchinterval(before)
    assert wrong == []


def test_values_for_traits_keep_their_methods(tmp_path: Path) -> None:
    file = tmp_path / "areas.conc"
    file.write_text(
        """
        trait Area { fn area(self) -> Float; }
        pub struct Square { side: Float }
        pub enum Round { Point, Circle(Float) }
        pub struct Box<T> { value: T }
        impl Area for Square { fn area(self) -> Float { self.side * self.side } }
        impl Area for Round {
            fn area(self) -> Float { match self { Round::Point => 0.0, Round::Circle(r) => r } }
        }
        impl<T> Area for Box<T> { fn area(self) -> Float { 0.5 } }
        pub fn area(of: Area) -> Float { of.area() }
        pub fn sum(areas: Array<Area>) -> Float { areas.map(|each| each.area()).sum() }
        pub fn shown(values: Array<Display>) -> String { "${values}" }
        pub fn plain(value: Any) -> String { "${value}" }
        """
    )
    app = concerto.load(file)
    assert app.area(app.Square(side=3)) == 9.0
    assert app.sum([app.Round.Circle(5), app.Round.Point(), app.Box[int](value=1)]) == 5.5
    assert app.shown([app.Square(side=1), "a", {1: None}]) == '[Square { side: 1.0 }, "a", {"1": nil}]'
    assert app.plain([app.Square(side=1)]) == '[{"side": 1.0}]'
    with pytest.raises(TypeError, match="takes an `Any` as `value`: expected `Any`, found `ModelType`"):
        app.plain([app.Square])


def test_types_named_as_type_parameters_of_others(tmp_path: Path) -> None:
    file = tmp_path / "letters.conc"
    file.write_text(
        """
        agent A { provider: openai }
        pub struct P { x: Int }
        pub struct T { p: P }
        pub struct Box<P> { value: P }
        pub fn boxed(t: T) -> Box<T> { Box { value: t } }
        """
    )
    app = concerto.load(file, mock=True)
    assert app.boxed(app.T(p=app.P(x=1))) == app.Box[app.T](value=app.T(p=app.P(x=1)))
    stub = stub_of(concerto.compile_file(file).module)
    assert 'P_ = typing.TypeVar("P_")' in stub
    assert "class Box(pydantic.BaseModel, typing.Generic[P_]):\n    value: P_" in stub
