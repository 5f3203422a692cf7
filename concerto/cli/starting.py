"""`concerto init`: a new project that runs and has a test, for one of the providers."""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from pathlib import Path

from concerto.cli.reporting import OK, Failure, cannot
from concerto.manifest.providers import PROVIDERS
from concerto.runtime.llm.providers import find_provider

_MAY_BE_THERE = frozenset({".gitignore"})

_MANIFEST = """[project]
name = {name}
version = "0.1.0"
entry = "src/main.conc"

[connections.{provider}]
provider = "{provider}"
{key}default_model = "{model}"

[trust]
mode = "deny"
"""

_PROGRAM = """tool Calculator {{
    description: "Arithmetic",

    @describe("Add two numbers")
    @param("a", "First number")
    @param("b", "Second number")
    pub fn add(a: Int, b: Int) -> Int {{
        a + b
    }}
}}

agent Assistant {{
    provider: {provider},
    system_prompt: "Answer in one sentence.",
    tools: [Calculator],
}}

fn main() -> Result<Nil, AgentError> {{
    let response = Assistant.execute("What is 17 + 25?")?;
    println(response.text);
    Ok(nil)
}}

@test("Assistant :: uses the calculator")
fn uses_the_calculator() {{
    mock Assistant {{ script: [call("Calculator::add", {{"a": 17, "b": 25}}), reply("It is 42.")] }}
    let response = Assistant.execute("What is 17 + 25?").unwrap();
    assert_eq(response.text, "It is 42.");
    assert_eq(response.tool_calls[0].result, 42);
}}
"""

_IGNORED = "*.conc-ir\n.env\n"


def init(name: str, provider: str) -> int:
    """Makes a project in the folder `name`, which may exist; nothing that is there already is touched."""
    folder = Path(name)
    files = _files(folder.absolute().resolve().name, provider)
    there = [path for path in files if path not in _MAY_BE_THERE and (folder / path).exists()]
    if there:
        raise Failure(f"`{folder / there[0]}` is there already; nothing was changed")
    try:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError), (folder / path).open("x", encoding="utf-8") as file:
                file.write(text)
    except OSError as error:
        raise cannot("write", error.filename or name, error) from None
    _print_next_step(name, _key_of(provider))
    return OK


def _files(name: str, provider: str) -> dict[str, str]:
    key = f'api_key_env = "{_key_of(provider)}"\n' if _key_of(provider) else ""
    # A JSON string is one of TOML.
    quoted = json.dumps(name, ensure_ascii=False)
    return {
        "Concerto.toml": _MANIFEST.format(
            name=quoted, provider=provider, key=key, model=PROVIDERS[provider].default_model
        ),
        "src/main.conc": _PROGRAM.format(provider=provider),
        ".gitignore": _IGNORED,
    }


def _key_of(provider: str) -> str:
    """The variable of its API key; empty if it needs none."""
    return "" if provider == "mock" else find_provider(provider).key_env


def _print_next_step(name: str, key: str) -> None:
    folder = shlex.quote(name)
    print(f"made the project `{name}`; go on with:")
    print(f"  concerto test {folder}")
    print(f"  concerto run --mock {folder}")
    if key:
        print(f"  {key}=… concerto run {folder}")
