"""`concerto init`: a new project that runs and has a test, for one of the providers."""

from __future__ import annotations

import json
import keyword
import re
import shlex
from contextlib import suppress
from pathlib import Path

from concerto.cli.reporting import OK, Failure, cannot
from concerto.runtime.llm.providers import find_provider
from concerto.vocabulary.providers import PROVIDERS

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


_LIBRARY = {
    "Concerto.toml": """[project]
name = {name}
version = "0.1.0"
""",
    "pyproject.toml": """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = {name}
version = "0.1.0"
description = "Modules for Concerto programs: `use {module}::…`"
requires-python = ">=3.11"
dependencies = ["concerto-lang"]

[project.entry-points."concerto.modules"]
{module} = "{module}"

[tool.hatch.build.targets.wheel]
packages = ["src/{module}"]
""",
    "src/{module}/__init__.py": """\"\"\"Modules for Concerto programs.\"\"\"
""",
    "src/{module}/mod.conc": """/// Says hello.
pub fn greet(name: String) -> String {{
    "Hello, ${{name}}!"
}}
""",
    "tests/greeting.conc": """use {module}::greet;

@test
fn it_greets() {{
    assert_eq(greet("Ada"), "Hello, Ada!");
}}
""",
    ".gitignore": "*.conc-ir\n__pycache__/\ndist/\n",
}


def init(name: str, provider: str) -> int:
    """Makes a project in the folder `name`, which may exist; nothing that is there already is touched."""
    _make(name, _files(Path(name).absolute().resolve().name, provider))
    _print_next_step(name, _key_of(provider))
    return OK


def init_library(name: str) -> int:
    """Makes a Python package with modules in the folder `name`, as `init` does."""
    own = Path(name).absolute().resolve().name
    module = re.sub(r"[-.\s]+", "_", own.lower())
    if not module.isascii() or not module.isidentifier() or keyword.iskeyword(module) or module == "std":
        raise Failure(f"`{own}` gives no name that a program could `use`: take letters, digits and `-`")
    known = {"{name}": json.dumps(own), "{module}": module, "{{": "{", "}}": "}"}

    def filled(text: str) -> str:
        return re.sub("|".join(map(re.escape, known)), lambda found: known[found[0]], text)

    _make(name, {filled(path): filled(text) for path, text in _LIBRARY.items()})
    folder = shlex.quote(name)
    print(f"made the library `{name}`; go on with:")
    print(f"  concerto test {folder}")
    print(f"  pip install -e {folder}    # programs of this environment may then `use {module}::greet`")
    print(f"  python -m build --wheel {folder}")
    return OK


def _make(name: str, files: dict[str, str]) -> None:
    folder = Path(name)
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
