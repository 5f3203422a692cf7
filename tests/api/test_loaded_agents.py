"""Agents and pipelines of `concerto.load`, asked by Python; answers come from a server over HTTP."""

from __future__ import annotations

import asyncio
import inspect
import pickle
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pydantic
import pytest

import concerto
from concerto.diagnostics import Problems
from concerto.ir.codec import decode, encode
from concerto.ir.verifier import verify
from concerto.records import replace
from tests.runtime.llm.test_partial_values import streamed
from tests.runtime.servers import Answer, Script, chat_reply

SOURCE = """
fn plausible(person: Person) -> Result<Bool, String> {
    if person.age > 150 { return Err("nobody is that old"); }
    Ok(true)
}
@validate(plausible)
pub schema Person { name: String, age: Int }
pub struct Note { text: String, tags: Array<String> = [], about: Option<Person> }
enum Refusal { Empty, TooLong(Int) }

agent Tutor { provider: openai, model: "gpt-4o-mini", system_prompt: "Be brief." }
impl Tutor {
    /// What it is.
    pub fn explain(self, what: String, words: Int = 10) -> Result<String, AgentError> {
        Ok(self.execute("Explain ${what} in ${words} words")?.text)
    }
    pub fn slowly(self, what: String) -> Result<Iterator<StreamChunk>, AgentError> { self.stream(what) }
    pub fn using(self, n: Int) -> Int { n }
    pub fn apply(self, f: fn(Int) -> Int) -> Int { f(1) }
    fn hidden(self) -> Int { 1 }
}

/// Says it louder.
pipeline Louder(text: String, times: Int = 2) -> String {
    stage upper(text: String, times: Int) -> Result<String, Refusal> {
        if text.is_empty() { return Err(Refusal::Empty); }
        if text.len() > 9 { return Err(Refusal::TooLong(text.len())); }
        Ok(text.to_upper().repeat(times))
    }
    stage mark(text: String) -> String { "${text}!" }
}
pub fn arriving(text: String) -> Result<Iterator<SchemaChunk<Partial<Person>, Person>>, AgentError> {
    Tutor.stream_with_schema<Person>(text)
}
pub fn ask(what: String) -> Result<String, AgentError> { Ok(Tutor.execute(what)?.text) }
pipeline Asked(text: String) -> String {
    stage ask(text: String) -> Result<String, AgentError> { Ok(Tutor.execute(text)?.text) }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("agents") / "tutor.conc"
    file.write_text(SOURCE)
    return file


@pytest.fixture(scope="module")
def app(program: Path) -> Any:
    return concerto.load(program, mock=True)


@pytest.fixture
def real(program: Path, model: Script) -> Any:
    return concerto.load(program, connections={"openai": {"base_url": model.url, "api_key": "k"}})


def test_own_methods_are_functions_of_the_agent(app: Any) -> None:
    assert app.Tutor.explain("tea", words=3) == "[mock response to: Explain tea in 3 words]"
    assert asyncio.run(app.Tutor.explain.aio("tea")) == "[mock response to: Explain tea in 10 words]"
    assert app.Tutor.explain.__doc__ == "What it is."
    assert list(inspect.signature(app.Tutor.explain).parameters) == ["what", "words"]
    assert app.Tutor.using_(3) == 3
    assert {"explain", "execute"} <= set(dir(app.Tutor))

    async def read() -> str:
        return "".join([chunk.text async for chunk in app.Tutor.slowly("tea")])

    assert asyncio.run(read()) == "[mock response to: tea]"


def test_conversations_go_on_with_messages(real: Any, model: Script) -> None:
    model.answer(chat_reply("Hello Ada"), chat_reply("You are Ada"))
    first = real.Tutor.chat([{"role": "user", "content": "I am Ada"}])
    second = asyncio.run(
        real.Tutor.chat.aio([*first.messages, real.Message(role="user", content="Who am I?")])
    )
    assert second.text == "You are Ada"
    sent = [(each["role"], each["content"]) for each in model.seen[1].body["messages"]]
    assert sent == [
        ("system", "Be brief."),
        ("user", "I am Ada"),
        ("assistant", "Hello Ada"),
        ("user", "Who am I?"),
    ]


def test_messages_are_what_python_makes_of_them(real: Any, model: Script) -> None:
    model.answer(chat_reply("Hello"))
    first = real.Tutor.chat([{"role": "user", "content": "I am Ada"}])

    class Loud(real.Message):  # type: ignore[misc]
        @pydantic.field_serializer("content")
        def shown(self, content: str) -> str:
            return content.upper()

    changed = list(first.messages)
    changed[1] = changed[1].model_copy(update={"content": "I am Eve"})
    changed[2].content = "Hello Eve"
    parts = [concerto.Part(kind="text", text="in parts")]
    changed += [Loud(role="user", content="loud"), real.Message(role="user", content="", parts=parts)]
    second = real.Tutor.chat(changed)
    told = ["Be brief.", "I am Eve", "Hello Eve", "LOUD", "in parts"]
    assert [each["content"] for each in model.seen[1].body["messages"]] == told
    second.messages[0].content = "Be long."
    second.messages[1].tool_calls.append(None)
    real.Tutor.chat(changed)
    assert [each["content"] for each in model.seen[2].body["messages"]] == told
    with pytest.raises(concerto.RunError, match="a message's role is"):
        real.Tutor.chat([real.Message(role="", content="x")])


def test_answers_are_as_if_python_had_made_them(real: Any, model: Script) -> None:
    model.answer(chat_reply("Hello"))
    response = real.Tutor.chat([{"role": "user", "content": "I am Ada"}])
    message = response.messages[1]
    made = real.Message(role="user", content="I am Ada")
    assert (message, repr(message), message.model_dump()) == (made, repr(made), made.model_dump())
    assert message.model_fields_set == set(real.Message.model_fields)
    message.model_fields_set.discard("failed")
    assert "failed" in response.messages[2].model_fields_set
    assert (
        pickle.loads(pickle.dumps(response))
        == response
        == real.Response.model_validate(response.model_dump())
    )


def test_a_changed_agent_asks_in_another_way(real: Any, model: Script) -> None:
    model.answer(chat_reply("4"))
    careful = (
        real.Tutor.with_model("gpt-4.1").with_temperature(0.5).with_options({"seed": 7}).with_budget(1000)
    )
    assert (
        careful.with_budget(999).with_system("Think.").with_max_iterations(2).without_tools().explain("2 + 2")
        == "4"
    )
    body = model.seen[0].body
    assert (body["model"], body["temperature"], body["seed"]) == ("gpt-4.1", 0.5, 7)
    assert body["messages"][0] == {"role": "system", "content": "Think."}
    real.Tutor.execute("2 + 2")
    assert model.seen[1].body["model"] == "gpt-4o-mini"


def test_schemas_of_the_program_keep_their_rules(real: Any, model: Script) -> None:
    model.answer(chat_reply('{"name": "Ada", "age": 360}'), chat_reply('{"name": "Ada", "age": 36}'))
    person = real.Tutor.execute_with_schema("Ada is 36", real.Person, retry_message="Once more.")
    assert person == real.Person(name="Ada", age=36)
    asked = model.seen[1].body["messages"][-1]["content"]
    assert asked.startswith("Once more.") and "nobody is that old" in asked


def test_answers_that_have_a_type_come_in_parts(real: Any, model: Script) -> None:
    pieces = ['{"name": "A', 'da", "age": 3', "6}"]

    async def read(stream: Any) -> list[Any]:
        return [(each.partial, each.value) async for each in stream]

    whole = real.Person(name="Ada", age=36)
    for wanted, value in ((real.Person, whole), (dict[str, Any], whole.model_dump())):
        model.answer(Answer(streamed("openai", pieces)))
        assert asyncio.run(read(real.Tutor.stream_with_schema("Who?", wanted))) == [
            ({"name": "A"}, None),
            ({"name": "Ada"}, None),
            ({"name": "Ada", "age": 36}, None),
            ({"name": "Ada", "age": 36}, value),
        ]
    model.answer(Answer(streamed("openai", pieces)))
    typed = asyncio.run(read(real.arriving("Who?")))
    partial = real.PartialPerson
    assert [each for each, _ in typed[:2]] == [partial(name="A", age=None), partial(name="Ada", age=None)]
    assert typed[-1] == (partial(name="Ada", age=36), whole)
    model.answers.clear()
    model.answer(Answer({"error": {"message": "no"}}, 401))
    with pytest.raises(concerto.RunError, match="no"):
        asyncio.run(read(real.Tutor.stream_with_schema("Who?", real.Person)))


class Found(pydantic.BaseModel):
    place: str
    certain: bool = pydantic.Field(description="Whether it is sure")

    @pydantic.field_validator("place")
    @classmethod
    def known(cls, place: str) -> str:
        if not place:
            raise ValueError("a place has a name")
        return place


def test_models_of_the_caller_are_answers_too(real: Any, model: Script) -> None:
    answer = '```json\n{"place": "Rome", "certain": true}\n```'
    model.answer(chat_reply('{"place": "", "certain": true}'), chat_reply(answer))
    found = asyncio.run(real.Tutor.execute_with_schema.aio("Where?", Found))
    assert found == Found(place="Rome", certain=True)
    wanted = model.seen[0].body["response_format"]["json_schema"]
    assert wanted["name"] == "Found"
    assert wanted["schema"]["properties"]["certain"]["description"] == "Whether it is sure"
    assert "`place`: Value error, a place has a name" in model.seen[1].body["messages"][-1]["content"]


def test_an_answer_is_validated_once_and_its_type_read_once(
    real: Any, model: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    validated = []

    class Counted(pydantic.BaseModel):
        n: int

        @pydantic.model_validator(mode="after")
        def count(self) -> Counted:
            validated.append(self)
            return self

    model.answer(chat_reply('{"n": 1}'))
    first = real.Tutor.execute_with_schema("Which?", Counted)
    monkeypatch.setattr(pydantic, "TypeAdapter", pytest.fail)
    second = real.Tutor.execute_with_schema("Which?", Counted)
    assert first == second
    assert validated == [first, second]
    assert first is not second


@pytest.mark.parametrize("kinds", [int | str, str | int])
def test_types_that_are_equal_keep_their_order(real: Any, model: Script, kinds: Any) -> None:
    model.answer(chat_reply('{"value": 1}'))
    assert real.Tutor.execute_with_schema("Which?", kinds) == 1
    wanted = model.seen[0].body["response_format"]["json_schema"]["schema"]["properties"]["value"]["anyOf"]
    assert [each["type"] for each in wanted] == [
        {int: "integer", str: "string"}[each] for each in get_args(kinds)
    ]


def test_types_without_a_hash_are_answers(real: Any, model: Script) -> None:
    model.answer(chat_reply('{"value": 3}'))
    assert real.Tutor.execute_with_schema("Which?", Annotated[int, {"unit": []}]) == 3


def test_other_types_are_answers(real: Any, model: Script) -> None:
    ask = real.Tutor.execute_with_schema
    model.answer(chat_reply('{"value": [3, 4]}'))
    assert ask("Which?", list[int]) == [3, 4]
    model.answers = []
    model.answer(chat_reply('{"value": "b"}'))
    assert ask("Which?", Literal["a", "b"]) == "b"
    model.answers = []
    model.answer(chat_reply('{"text": "x", "about": {"name": "Ada", "age": 3}}'))
    assert ask("A note", real.Note) == real.Note(text="x", about=real.Person(name="Ada", age=3))
    model.answers = []
    model.answer(chat_reply("none"))
    result = ask.result("How many?", int)
    assert (result.ok, result.kind) == (False, "SchemaError")


def test_pipelines_run(app: Any) -> None:
    assert app.Louder.run("tea") == "TEATEA!"
    assert asyncio.run(app.Louder.using(timeout=60).run.aio("tea", times=1)) == "TEA!"
    assert app.Asked.run("Hello") == "[mock response to: Hello]"
    assert app.Louder.__doc__ == "Says it louder."
    with pytest.raises(concerto.RunError) as raised:
        app.Louder.run("much too long")
    assert (raised.value.kind, raised.value.value) == ("TooLong", app.Refusal.TooLong(13))
    with pytest.raises(concerto.RunError) as raised:
        app.Asked.using(mock=False, environment={}).run("Hello")
    assert (raised.value.kind, raised.value.value.agent) == ("MissingKey", "Tutor")


def test_mock_says_what_agents_answer(app: Any) -> None:
    assert app.Asked.using(mock={"Tutor": "Well."}).run("Hello") == "Well."
    ada = {"response": {"name": "Ada", "age": 36}}
    person = app.Tutor.using(mock={"Tutor": ada}).execute_with_schema("Who?", app.Person)
    assert person == app.Person(name="Ada", age=36)
    script = ['{"name": "Ada", "age": 360}', {"reply": '{"name": "Ada", "age": 3}'}]
    assert app.Tutor.using(mock={"Tutor": script}).execute_with_schema("Who?", app.Person).age == 3
    with pytest.raises(concerto.RunError, match="ProviderError: down"):
        app.Tutor.using(mock={"Tutor": {"error": "down"}}).explain("tea")
    with pytest.raises(concerto.RunError, match="has 1 turn, and one more was asked for"):
        app.Tutor.using(mock={"Tutor": ['{"name": "Ada"}']}).execute_with_schema("Who?", app.Person)
    result = concerto.Runtime(app.__program__, mock={"Tutor": "Well."}).call("ask", "Hello")
    assert result.value == "Well."


def test_methods_are_part_of_the_ir(program: Path, tmp_path: Path) -> None:
    kept = tmp_path / "tutor.conc-ir"
    kept.write_bytes(encode(concerto.compile_file(program).module))
    module = decode(kept.read_bytes(), "tutor.conc-ir", Problems())
    assert module is not None
    app: Any = concerto.load(kept, mock=True)
    assert (app.Tutor.explain("tea", 3), app.Louder.run("a")) == (
        "[mock response to: Explain tea in 3 words]",
        "AA!",
    )
    for owner, text in (("Nobody", "belongs to nothing"), ("Tutor", "two members of one name")):
        module.exported_methods[0] = replace(module.exported_methods[1], owner=owner)
        problems = Problems()
        assert not verify(module, problems)
        assert text in next(iter(problems)).message


@pytest.mark.parametrize(
    ("mock", "text"),
    [
        ({"Tuto": "x"}, "`mock` names `Tuto`, which is no agent; did you mean `Tutor`?"),
        ({}, "`mock` is True, or says by the names of agents what they answer"),
        ("Tutor", "`mock` is True, or says by the names of agents"),
        ({"Tutor": 3}, "what `mock` says of `Tutor` is a text, a list of answers"),
        ({"Tutor": {"reply": "x"}}, "or has `response`, `script` or `error`"),
    ],
)
def test_mocks_of_nothing_are_refused(app: Any, mock: Any, text: str) -> None:
    with pytest.raises(TypeError) as raised:
        app.Tutor.using(mock=mock)
    assert text in str(raised.value)
    with pytest.raises(TypeError):
        concerto.Runtime(app.__program__, mock=mock)


@pytest.mark.parametrize(
    ("use", "kind", "text"),
    [
        (lambda app: app.Tutor.explain(1), TypeError, "`Tutor.explain` takes a `String` as `what`"),
        (lambda app: app.Tutor.explian, AttributeError, "no public `explian`; did you mean `explain`?"),
        (lambda app: app.Tutor.run_sync, AttributeError, "no public `run_sync`; did you mean `execute`?"),
        (lambda app: app.Tutor.hidden, AttributeError, "the agent `Tutor` has no public `hidden`"),
        (
            lambda app: app.Tutor.apply,
            AttributeError,
            "cannot be called from Python: `f` holds",
        ),
        (
            lambda app: app.Tutor.chat("Hello"),
            TypeError,
            "`Tutor.chat` takes a list of messages",
        ),
        (lambda app: app.Tutor.chat([{"content": "x"}]), TypeError, "each with `role` and `content`"),
        (
            lambda app: app.Tutor.execute_with_schema("x", 5),
            TypeError,
            "`5` is no type",
        ),
        (lambda app: app.Tutor.with_options({"sed": 3}), ValueError, "`with_options` has no `sed`"),
        (lambda app: app.Tutor.with_max_iterations(0), ValueError, "`max_iterations` is at least 1, not 0"),
        (lambda app: app.Tutor.with_max_iterations("1"), TypeError, "takes a number as `count`, not str"),
        (lambda app: app.Tutor.with_system(1), TypeError, "takes a text as `prompt`, not int"),
        (lambda app: app.Louder.run(1), TypeError, "`Louder.run` takes a `String` as `text`"),
        (lambda app: app.Loder, AttributeError, "did you mean `Louder`?"),
    ],
)
def test_wrong_uses(app: Any, use: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as raised:
        use(app)
    assert text in str(raised.value)
