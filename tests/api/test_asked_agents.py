"""What `concerto.load` gives agents of Python's: tools, parts, memories, contexts, sessions."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import concerto
from concerto.embedding.stubs import stub_of
from tests.runtime.servers import Script, chat_reply

SOURCE = """
tool Shelf {
    description: "Knows where things are"
    @describe("Who asks")
    pub fn who(context: ToolContext) -> String {
        context.set("asked", true);
        "${context.get("user").unwrap_or("nobody")} ${context.data.get("n").unwrap_or(0)}"
    }
    @describe("Nothing")
    pub fn idle() -> Int { 0 }
}
agent Helper { provider: openai, model: "gpt-4o-mini", description: "Helps" }
agent Tutor { provider: openai, model: "gpt-4o-mini", system_prompt: "Be brief." }
impl Tutor { pub fn described(self, picture: Part) -> String { picture.media_type } }
pub fn talk(who: String, text: String) -> Result<String, AgentError> {
    Ok(Tutor.session(who).execute(text)?.text)
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("agents") / "tutor.conc"
    file.write_text(SOURCE)
    return file


@pytest.fixture
def app(program: Path, model: Script) -> Any:
    return concerto.load(program, connections={"openai": {"base_url": model.url, "api_key": "k"}})


def told(model: Script, request: int = -1) -> list[tuple[str, Any]]:
    return [(each["role"], each.get("content")) for each in model.seen[request].body["messages"]]


def weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


class Notes:
    """Notes of a user."""

    def add(self, text: str) -> int:
        """Add a note."""
        return len(text)


def test_tools_of_python_and_of_the_program(app: Any, model: Script) -> None:
    model.answer(
        chat_reply(None, ("1", "weather", '{"city": "Oslo"}')),
        chat_reply(None, ("2", "Shelf__who", "{}")),
        chat_reply("Sunny."),
    )
    helped = app.Tutor.with_tools([weather, Notes(), "Shelf::who", app.Helper])
    asked = helped.with_context({"user": "Ada"}).with_data({"n": 3})
    assert asked.execute("And Oslo?").text == "Sunny."
    offered = [each["function"]["name"] for each in model.seen[0].body["tools"]]
    assert offered == ["weather", "Notes__add", "Shelf__who", "Helper"]
    results = [content for role, content in told(model) if role == "tool"]
    assert results == ["sunny in Oslo", "Ada 3"]
    chosen = helped.with_tool_choice("Shelf::who").with_allowed_tools([weather]).with_tool_discovery()
    assert chosen.execute.result("Who?").kind == "ToolNotCalled"
    assert model.seen[3].body["tool_choice"]["function"]["name"] == "Shelf__who"


def test_prompts_of_parts(app: Any, model: Script, tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(b"png")
    model.answer(chat_reply("A cat"))
    by_address = concerto.Part.image("https://example.com/dog.png")
    asked = ["What is it?", tmp_path / "cat.png", by_address, concerto.Part.image(b"jpg", "image/jpeg")]
    assert app.Tutor.execute(asked).text == "A cat"
    content = told(model)[-1][1]
    assert [each.get("text") or each["image_url"]["url"] for each in content] == [
        "What is it?",
        "data:image/png;base64,cG5n",
        "https://example.com/dog.png",
        "data:image/jpeg;base64,anBn",
    ]
    assert app.Part is concerto.Part
    assert app.Tutor.described(concerto.Part.read(tmp_path / "cat.png")) == "image/png"
    assert concerto.Part.file("notes://today", data=b"x").data == "eA=="
    said = app.Tutor.chat([{"role": "user", "content": ["x", concerto.Part.audio(b"x")]}])
    assert [each.kind for each in said.messages[1].parts] == ["text", "audio"]


def test_a_memory_is_shared_by_calls(app: Any, model: Script) -> None:
    model.answer(chat_reply("Hello Ada"), chat_reply("Ada"))
    notes = concerto.Memory(10)
    remembering = app.Tutor.with_memory(notes)
    remembering.execute("I am Ada")
    app.Tutor.with_memory(notes, auto=False).execute("Who am I?")
    assert told(model)[1:] == [("user", "I am Ada"), ("assistant", "Hello Ada"), ("user", "Who am I?")]
    assert notes.conversation() == [("user", "I am Ada"), ("assistant", "Hello Ada")]


def test_sessions_last_as_long_as_the_program(app: Any, model: Script) -> None:
    model.answer(chat_reply("Hello Ada"), chat_reply("You are Ada"), chat_reply("Yes"))
    assert app.talk("ada", "I am Ada") == "Hello Ada"
    ada = app.Tutor.session("ada")
    assert asyncio.run(ada.execute.aio("Who am I?")).text == "You are Ada"
    assert told(model)[1:] == [("user", "I am Ada"), ("assistant", "Hello Ada"), ("user", "Who am I?")]
    assert [each.content for each in ada.messages()][1:] == ["Hello Ada", "Who am I?", "You are Ada"]
    other = ada.branch("eve")
    ada.reset()
    assert (len(ada.messages()), len(asyncio.run(other.messages.aio()))) == (0, 4)
    mocked = app.Tutor.using(mock=True).session("mocked")
    mocked.execute("One")
    assert len(mocked.messages()) == 2
    with pytest.raises(concerto.RunError, match=r"only as `Tutor.session\(id\)`"):
        app.Tutor.messages()


def test_sessions_are_kept_in_a_store(program: Path, model: Script, tmp_path: Path) -> None:
    model.answer(chat_reply("Hello Ada"))
    connections = {"openai": {"base_url": model.url, "api_key": "k"}}
    for expected in (2, 4):
        app: Any = concerto.load(program, connections=connections, store=tmp_path / "chats.db")
        app.Tutor.session("ada").execute("I am Ada")
        assert len(app.Tutor.session("ada").messages()) == expected
        assert app.Tutor.using(mock=True).session("ada").messages() == []
    kept = concerto.open_store(tmp_path / "chats.db")
    assert kept.runs() == []
    kept.close()


@pytest.mark.parametrize(
    ("use", "kind", "text"),
    [
        (lambda app: app.Tutor.with_tools("Shelf"), TypeError, "`Tutor.with_tools` takes a list, not str"),
        (lambda app: app.Tutor.with_tools(["Shlf"]), TypeError, "no tool `Shlf`; did you mean `Shelf`?"),
        (lambda app: app.Tutor.with_tools([3]), TypeError, "`int` is neither a function nor an object"),
        (lambda app: app.Tutor.with_tools([app.talk]), TypeError, "declare `talk` in a `tool`"),
        (
            lambda app: app.Tutor.with_tools([app.Helper.with_model("x")]),
            TypeError,
            "as it is declared",
        ),
        (
            lambda app: app.Tutor.with_tools([weather]).with_tools([lambda weather: 1]),
            TypeError,
            "<lambda>",
        ),
        (lambda app: app.Tutor.with_tool_choice("Shelf"), ValueError, "or a tool method"),
        (lambda app: app.Tutor.with_memory([]), TypeError, "takes a `concerto.Memory`, not list"),
        (lambda app: app.Tutor.with_context({1: 2}), TypeError, "a mapping with texts as keys"),
        (lambda app: app.Tutor.session(""), ValueError, "an id that is not empty"),
        (lambda app: app.Tutor.execute([]), TypeError, "takes a text, or a list of texts, paths"),
        (lambda app: app.Tutor.execute(["x", b"y"]), TypeError, "not bytes"),
        (lambda app: concerto.Part.image("cat.png"), ValueError, "`Part.read(path)` reads a file"),
    ],
)
def test_wrong_uses(app: Any, use: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as raised:
        use(app)
    assert text in str(raised.value)


def test_agents_and_pipelines_of_modules(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text("mod mail;\nuse mail::Clerk;\npub fn f() -> Int { 1 }\n")
    (tmp_path / "mail.conc").write_text("""
        mod inner;
        pub struct Mail { subject: String }
        pub agent Clerk { provider: openai, model: "m" }
        impl Clerk { pub fn subject(self, mail: Mail) -> String { mail.subject } }
        pub pipeline Next(x: Int) -> Int { stage add(x: Int) -> Int { x + 1 } }
        pub fn helper() -> Int { 1 }
    """)
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "inner.conc").write_text('pub agent Deep { provider: openai, model: "m" }')
    app: Any = concerto.load(tmp_path / "main.conc", mock={"mail::Clerk": "Yes", "mail::inner::Deep": "No"})
    assert app.mail.Clerk.subject(app.Mail(subject="Hi")) == "Hi"
    assert (app.mail.Clerk.execute("?").text, app.mail.inner.Deep.execute("?").text) == ("Yes", "No")
    assert asyncio.run(app.mail.Next.run.aio(1)) == 2
    assert dir(app.mail) == ["Clerk", "Next", "inner"]
    assert "    inner: _mail_inner\n" in stub_of(app.__program__.module)
    with pytest.raises(AttributeError, match="a function needs `pub use mail::helper` in the root"):
        _ = app.mail.helper
    with pytest.raises(AttributeError, match="did you mean `Clerk`"):
        _ = app.mail.Clark
