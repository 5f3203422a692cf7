"""Features of requests on each wire: they stand where the reference says, or are refused before anything is
sent."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from concerto import CompileError, compile_source
from concerto.json_data import Json
from concerto.vocabulary.features import FEATURES
from concerto.vocabulary.providers import PROVIDERS
from tests.runtime.llm.test_bad_servers import REPLIES, at
from tests.runtime.running import Outcome
from tests.runtime.servers import Script

Run = Callable[..., Outcome]

ASKS = {
    "temperature": ('with_options({"temperature": 0.5})', 0.5),
    "top_p": ('with_options({"top_p": 0.5})', 0.5),
    "max_tokens": ('with_options({"max_tokens": 99})', 99),
    "stop_sequences": ('with_options({"stop_sequences": ["END"]})', ["END"]),
    "seed": ('with_options({"seed": 7})', 7),
    "reasoning": ('with_options({"reasoning": "low"})', None),
    "reasoning_tokens": ('with_options({"reasoning": 2048})', 2048),
    "service_tier": ('with_options({"service_tier": "auto"})', "auto"),
}
"""What a program says for a feature, and what stands in the request, where that is the same on every wire."""

PARTS = {
    "image": 'Part::image("iVBORw0KGgo=")',
    "image_url": 'Part::image("https://x.example/a.png")',
    "file": 'Part::file("a.pdf", data: "JVBERg==", media_type: "application/pdf")',
    "file_url": 'Part::file("https://x.example/a.pdf")',
    "audio": 'Part::audio("UklGRg==")',
    "audio_url": 'Part::audio("https://x.example/a.wav")',
}
SHOWS = """
tool Camera {
    description: "Takes pictures",
    @describe("Take one")
    pub fn take() -> Array<Part> {
        [Part::text("Here:"), Part::image("iVBORw0KGgo="), Part::audio("UklGRg==")]
    }
}
agent Assistant { provider: openai, model: "m", tools: [Camera] }
fn main() {
    let asked = PROMPT;
    match Assistant.execute(asked) {
        Ok(response) => {
            println(response.text);
            println(response.messages[0].parts.map(|part| "${part.kind} ${part.text}".trim()));
            let next = Message { role: "user", content: "And?" };
            println(Assistant.chat(response.messages.concat([next])).unwrap().text);
        },
        Err(error) => println("${error.kind}: ${error.message}"),
    }
}
"""

PROGRAM = """
agent Assistant { provider: openai, model: "m" }
fn options() -> Map<String, Any> { MAP }
fn main() {
    match Assistant.with_options(options()).execute("Hello") {
        Ok(response) => println(response.text),
        Err(error) => println("${error.kind}: ${error.message}"),
    }
}
"""


@pytest.mark.parametrize("wire", REPLIES)
@pytest.mark.parametrize("feature", ASKS)
def test_a_feature_stands_where_the_table_says_or_is_refused(
    script: Script, run: Run, wire: str, feature: str
) -> None:
    script.answer(REPLIES[wire]("Hello"))
    asked, value = ASKS[feature]
    source = PROGRAM.replace("MAP", asked.removeprefix("with_options(").removesuffix(")"))
    outcome = run(source, connections=at(script, wire))
    place = FEATURES[feature].wires.get(PROVIDERS[wire].wire)
    if place is None:
        assert outcome.out.startswith("Unsupported: `Assistant` cannot ask connection `openai`: the wire of")
        assert script.seen == []
        return
    assert outcome.out == "Hello\n"
    found = at_place(script.seen[0].body, place)
    assert found == value if value is not None else found


@pytest.mark.parametrize("wire", REPLIES)
@pytest.mark.parametrize("feature", PARTS)
def test_a_part_stands_where_the_table_says_or_is_refused(
    script: Script, run: Run, wire: str, feature: str
) -> None:
    script.answer(REPLIES[wire]("A cat"))
    asked = f'[Part::text("What is this?"), {PARTS[feature]}, Part::text("In a word.")]'
    outcome = run(SHOWS.replace("PROMPT", asked), connections=at(script, wire))
    place = FEATURES[feature].wires.get(PROVIDERS[wire].wire)
    if place is None:
        assert outcome.out.startswith("Unsupported: connection `openai`: ")
        assert script.seen == []
        return
    kind = feature.removesuffix("_url")
    assert outcome.out == f'A cat\n["text What is this?", "{kind}", "text In a word."]\nA cat\n', outcome.err
    first, second = (seen.body for seen in script.seen)
    assert at_place(first, place) == at_place(second, place)
    given = PARTS[feature].split('"')
    assert given[3 if "data:" in PARTS[feature] else 1] in json.dumps(at_place(first, place))


def test_parts_stand_in_their_order(script: Script, run: Run) -> None:
    script.answer(REPLIES["anthropic"]("A cat"))
    asked = '[Part::image("iVBORw0KGgo="), Part::text("or"), Part::image("iVBORw0KGgo="), Part::text("?")]'
    run(SHOWS.replace("PROMPT", asked), connections=at(script, "anthropic"))
    said = script.seen[0].body["messages"][0]["content"]
    assert [block.get("text", block["type"]) for block in said] == ["image", "or", "image", "?"]


@pytest.mark.parametrize("wire", REPLIES)
def test_a_tool_shows_an_image(script: Script, run: Run, wire: str) -> None:
    script.answer(REPLIES[wire]("", ("id1", "Camera__take", "{}")), REPLIES[wire]("A cat"))
    outcome = run(SHOWS.replace("PROMPT", '"What is there?"'), connections=at(script, wire))
    assert outcome.lines[0] == "A cat", outcome.err
    place = FEATURES["result_image"].wires[PROVIDERS[wire].wire]
    for seen in script.seen[1:]:
        assert "iVBORw0KGgo=" in json.dumps(at_place(seen.body, place))
    told = json.dumps(script.seen[1].body)
    takes = PROVIDERS[wire].wire in FEATURES["audio"].wires
    assert ("UklGRg==" in told, "not shown" in told) == (takes, not takes)
    assert "Here:" in told


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ('[Part::image("cat.png")]', "`Part::read(path)` reads a file"),
        ('[Part { kind: "image" }]', "has neither data nor an address"),
        ("[1 as Any]", "a prompt is a String or an array of Parts"),
    ],
)
def test_parts_that_are_none(run: Run, prompt: str, said: str) -> None:
    outcome = run(SHOWS.replace("PROMPT", prompt), mock=True)
    assert (outcome.status, said in outcome.err) == (1, True), outcome.err


def at_place(body: Json, place: str) -> Json:
    """What stands at a place as the table writes it."""
    for step in place.split("."):
        body = body[int(step)] if step.isdigit() else body[step]
    return body


@pytest.mark.parametrize(
    ("wire", "model", "reasoning", "said"),
    [
        ("openai", "gpt-5", '"high"', {"reasoning_effort": "high"}),
        (
            "openai-responses",
            "gpt-5",
            '"high"',
            {"reasoning": {"effort": "high"}, "include": ["reasoning.encrypted_content"]},
        ),
        (
            "anthropic",
            "claude-sonnet-4-5-20250929",
            '"low"',
            {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 5120},
        ),
        (
            "anthropic",
            "claude-opus-4-6",
            '"high"',
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}, "max_tokens": 4096},
        ),
        (
            "google",
            "gemini-2.5-flash",
            '"medium"',
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 8192, "includeThoughts": True}}},
        ),
        (
            "google",
            "gemini-3-pro",
            '"medium"',
            {"generationConfig": {"thinkingConfig": {"thinkingLevel": "medium", "includeThoughts": True}}},
        ),
        ("ollama", "gpt-oss", '"low"', {"think": "low"}),
    ],
)
def test_how_much_a_model_thinks(
    script: Script, run: Run, wire: str, model: str, reasoning: str, said: dict[str, Json]
) -> None:
    script.answer(REPLIES[wire]("Hello"))
    source = PROGRAM.replace("MAP", f'{{"reasoning": {reasoning}, "model": "{model}"}}')
    assert run(source, connections=at(script, wire)).out == "Hello\n"
    body = script.seen[0].body
    assert {name: body[name] for name in said} == said


THOUGHTS: dict[str, Json] = {
    "openai": {
        "model": "m",
        "choices": [{"message": {"content": "4", "reasoning_content": "2 + 2"}, "finish_reason": "stop"}],
    },
    "openai-responses": {
        "status": "completed",
        "model": "m",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "2 + 2"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "4"}]},
        ],
    },
    "anthropic": {
        "model": "m",
        "stop_reason": "end_turn",
        "content": [
            {"type": "thinking", "thinking": "2 + 2", "signature": "s"},
            {"type": "text", "text": "4"},
        ],
    },
    "google": {
        "candidates": [
            {
                "content": {"parts": [{"text": "2 + 2", "thought": True}, {"text": "4"}]},
                "finishReason": "STOP",
            }
        ]
    },
    "ollama": {"message": {"content": "4", "thinking": "2 + 2"}, "done": True, "done_reason": "stop"},
}


@pytest.mark.parametrize("wire", THOUGHTS)
def test_what_a_model_thought_is_in_the_response(script: Script, run: Run, wire: str) -> None:
    script.answer(THOUGHTS[wire])
    source = """
    agent Assistant { provider: openai, model: "m" }
    fn main() { let r = Assistant.execute("Sum").unwrap(); println("${r.text}, for ${r.reasoning}"); }
    """
    assert run(source, connections=at(script, wire)).out == "4, for 2 + 2\n"


def test_thinking_calls_of_anthropic_are_not_forced(script: Script, run: Run) -> None:
    script.answer(REPLIES["anthropic"]('{"name": "Ann"}'))
    source = """
    schema Person { name: String }
    agent Assistant { provider: openai, model: "m", reasoning: "low" }
    fn main() { println(Assistant.execute_with_schema<Person>("Who?").unwrap().name); }
    """
    assert run(source, connections=at(script, "anthropic")).out == "Ann\n"
    body = script.seen[0].body
    assert "tool_choice" not in body
    assert [tool["name"] for tool in body["tools"]] == ["structured_answer"]


def test_thinking_and_a_temperature_exclude_each_other_on_anthropic(script: Script, run: Run) -> None:
    source = PROGRAM.replace("MAP", '{"reasoning": "low", "temperature": 0.5}')
    outcome = run(source, connections=at(script, "anthropic"))
    assert outcome.out == (
        "Unsupported: connection `openai`: Anthropic takes no `temperature` together with `reasoning`\n"
    )


@pytest.mark.parametrize("wire", REPLIES)
def test_extra_goes_into_the_body_as_it_is(script: Script, run: Run, wire: str) -> None:
    script.answer(REPLIES[wire]("Hello"))
    extra = '{"user": "ann", "generationConfig": {"topK": 3}, "options": {"num_ctx": 9}, "n": [1, 2.5, nil]}'
    source = PROGRAM.replace("MAP", f'{{"temperature": 0.5, "extra": {extra}}}')
    assert run(source, connections=at(script, wire)).out == "Hello\n"
    body = script.seen[0].body
    assert (body["user"], body["n"]) == ("ann", [1, 2.5, None])
    own = {"google": ("generationConfig", "topK"), "ollama": ("options", "num_ctx")}.get(wire)
    if own is not None:  # Tables are joined.
        assert body[own[0]].keys() == {"temperature", own[1]}


def test_options_of_the_agent_and_of_one_execution(script: Script, run: Run) -> None:
    script.answer(REPLIES["openai"]("Hello"))
    source = """
    agent Assistant {
        provider: openai, model: "m", seed: 1, reasoning: "low", service_tier: "flex", extra: {"user": "x"},
    }
    fn main() {
        Assistant.execute("1").unwrap();
        Assistant.with_model("n").with_temperature(0.25).with_options({"seed": 2}).execute("2").unwrap();
        println(Assistant.with_options({"sed": 2} as Map<String, Any>).execute("3").is_ok());
    }
    """
    outcome = run(source, connections=at(script, "openai"))
    assert "`with_options` has no `sed`" in outcome.err
    first, second = (seen.body for seen in script.seen)
    own = {"model": "m", "seed": 1, "reasoning_effort": "low", "service_tier": "flex", "user": "x"}
    assert {name: first[name] for name in own} == own
    assert "temperature" not in first
    assert (second["model"], second["seed"], second["temperature"], second["user"]) == ("n", 2, 0.25, "x")


REFUSED = """
connect model {{ provider: "{wire}" }}
agent Assistant {{ provider: model, model: "m" }}
fn main() {{
{lines}
}}
"""


@pytest.mark.parametrize("wire", REPLIES)
def test_what_the_compiler_knows_a_wire_to_lack_it_refuses(wire: str) -> None:
    asks = {name: f"Assistant.{asked}" for name, (asked, _) in ASKS.items()}
    asks |= {name: f"Assistant.execute([{part}])" for name, part in PARTS.items()}
    assert asks.keys() | {"result_image", "partial"} == FEATURES.keys()
    lacking = [name for name in asks if PROVIDERS[wire].wire not in FEATURES[name].wires]
    lines = "\n".join(f"    let _ = {asked};" for asked in asks.values())
    with pytest.raises(CompileError) as refused:
        compile_source(REFUSED.format(wire=wire, lines=lines))
    lines_of = [each.span.source.line_column(each.span.start)[0] for each in refused.value.problems]
    assert [[*asks][line - 5] for line in lines_of] == lacking
    assert {each.code for each in refused.value.problems} == {"E0412"}
