"""A program behind `concerto serve`, in a process of its own, and the model server behind its agents."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from concerto.json_data import Json
from tests.runtime.servers import Answer, Seen, chat_reply

PROGRAM = """
tool Sums {
    description: "Sums",
    @describe("Adds two numbers") @param("a", "one") @param("b", "the other")
    pub fn add(a: Int, b: Int) -> Int { a + b }
}
tool Desk {
    description: "People at a desk",
    @describe("Asks them") @param("what", "the question")
    pub fn ask(what: String) -> String;
}
agent Helper { provider: local, model: "m", system_prompt: "Be kind.", tools: [Sums, Desk], temperature: 0.5 }
agent Plain { provider: local, model: "m" }
agent Broken { provider: nowhere, model: "m" }
"""


def manifest(model_url: str, more: str = "") -> str:
    return f"""
[connections.local]
provider = "openai"
base_url = "{model_url}"
api_key_env = "MODEL_KEY"

[connections.nowhere]
provider = "openai"
base_url = "http://127.0.0.1:9/v1"
api_key_env = "MODEL_KEY"
retry = {{ max_attempts = 1 }}
{more}
"""


def answered(seen: Seen) -> Answer:
    """What the model says: it does as it is told, in one piece or, asked to stream, word by word.

    `call NAME JSON; …` calls tools, after which it says what they gave; `say WORDS` says them; `long` stops
    at the limit, `fail` fails, `wait N` takes so many seconds; to a schema it answers `{"word": …}`.
    """
    body = seen.body
    messages = body["messages"]
    prompt = messages[-1].get("content") or ""
    if isinstance(prompt, list):
        prompt = prompt[0]["text"]
    if messages[-1]["role"] == "tool":
        given = [each["content"] for each in messages if each["role"] == "tool"]
        return _reply(body, "given " + ", ".join(given))
    if prompt.startswith("fail"):
        return Answer({"error": {"message": "it broke with key secret-of-the-server"}}, status=400)
    if prompt.startswith("call "):
        wanted = [each.split(" ", 1) for each in prompt.partition("\n")[0].removeprefix("call ").split("; ")]
        calls = [(f"call_{number}", name, given) for number, (name, given) in enumerate(wanted)]
        return _reply(body, "", calls)
    if prompt.startswith("wait "):
        return Answer(_reply(body, "waited").body, hang=float(prompt.split()[1]))
    if body.get("response_format"):
        return _reply(body, json.dumps({"word": prompt.split()[0]}))
    if prompt.startswith("say "):
        return _reply(body, prompt.removeprefix("say "))
    if prompt.startswith("long"):
        return _reply(body, "cut he", reason="length")
    told = [f"{each['role']}: {each['content']}" for each in messages]
    return _reply(body, " | ".join(told))


def _reply(
    body: Json, text: str, calls: list[tuple[str, str, str]] | None = None, reason: str | None = None
) -> Answer:
    whole = chat_reply(text or None, *(calls or ()))
    if reason is not None:
        whole["choices"][0]["finish_reason"] = reason
    if not body.get("stream"):
        return Answer(whole)
    choice = whole["choices"][0]
    deltas: list[Json] = [{"content": piece} for piece in re.findall(r"\S+\s*", text)]
    for number, call in enumerate(choice["message"].get("tool_calls", ())):
        deltas.append({"tool_calls": [{"index": number, **call}]})
    chunks = [{"model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    chunks.append({"choices": [], "usage": whole["usage"]})
    text = "".join([f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]) + "data: [DONE]\n\n"
    return Answer(text.encode(), headers={"content-type": "text/event-stream"})


class Served:
    """A server that runs. `said` is what stood on its standard error by its end."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url

    def stop(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Its exit status and what it said."""
        self.process.send_signal(how)
        _, said = self.process.communicate(timeout=120)
        return self.process.returncode, said


def project(folder: Path, model_url: str, program: str = PROGRAM, more: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Concerto.toml").write_text(manifest(model_url, more))
    (folder / "main.conc").write_text(program)
    return folder


@contextmanager
def served(
    folder: Path, *options: str, environment: Mapping[str, str] | None = None, before: str = ""
) -> Iterator[Served]:
    """`before` is done in its process before it begins."""
    begin = f"{before}\nfrom concerto.cli.entry import concerto; concerto()"
    command = [sys.executable, "-c", begin, "serve", str(folder / "main.conc"), "--port", "0"]
    command += ["--store", f"sqlite:{folder / 'runs.db'}", *options]
    known = {**os.environ, "MODEL_KEY": "secret-of-the-server", **(environment or {})}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=known)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found is not None, line + process.stderr.read()
        yield Served(process, found[0])
    finally:
        process.kill()
        process.communicate(timeout=120)


def command(folder: Path, *arguments: str, store: str = "") -> subprocess.CompletedProcess[str]:
    """Another process of the project, with the store of its server."""
    known = {**os.environ, "MODEL_KEY": "secret-of-the-server"}
    known["CONCERTO_STORE"] = store or f"sqlite:{folder / 'runs.db'}"
    words = [sys.executable, "-m", "concerto.cli", *arguments]
    return subprocess.run(words, cwd=folder, env=known, capture_output=True, text=True, timeout=240)


Body = dict[str, Any]
