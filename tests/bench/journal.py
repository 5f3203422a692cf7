"""Benchmark of journals, run by hand: `python -m tests.bench.journal`, or some parts of it by name.

`cost`: what keeping an effect takes, beside the same run not kept. `replay`: how fast a recorded run is
shown again. `size`: how a store grows with a conversation. `equal`: how many recorded runs of branches in any
order come out the same. `network`: a run that is shown again where there is none.
"""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import tempfile
from base64 import b85encode
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from concerto import Program, Runtime, compile_source, open_store
from tests.journal.test_replays import SOURCE, recorded
from tests.runtime.servers import Script, chat_reply

EFFECTS = 3_000
TIMES = 5
CALLS = 100
ARGUMENTS, RESULT, PROMPT = 5_000, 1_000, 200_000
"""Bytes; together a conversation of some 200,000 tokens."""
SEEDS = 200

ASKING = f"""
tool Desk {{
    description: "People",
    @describe("Look") @param("n", "which") @read_only
    pub fn look(n: Int) -> Result<Int, ToolError>;
}}
fn main() -> Result<Int, ToolError> {{
    let mut sum = 0;
    for n in 1..={EFFECTS} {{ sum += Desk::look(n)?; }}
    Ok(sum)
}}
"""
TALKING = """
use std::fs;
tool Desk {
    description: "People",
    @describe("File it") @param("text", "what")
    pub fn file(text: String) -> Result<String, ToolError>;
}
connect here { provider: "custom", base_url: "URL", default_model: "m" }
agent Clerk { provider: here, tools: [Desk], max_iterations: 200 }
fn main() { println(Clerk.execute(fs::read_file("prompt.txt").unwrap()).is_ok()); }
"""


def main() -> None:
    chosen = sys.argv[1:] or list(PARTS)
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](Path(folder))


def _cost(folder: Path) -> None:
    program = compile_source(ASKING)
    handlers = {"tool:Desk::look": lambda given: given["n"]}

    def cpu(**given: Any) -> float:
        begun = process_time()
        assert Runtime(program, handlers=handlers, **given).run().ok
        return process_time() - begun

    cpu()
    without = min(cpu() for _ in range(TIMES))
    kept = min(cpu(store=f"sqlite:{folder}/{n}.db") for n in range(TIMES))
    print(f"an effect, not kept:  {without / EFFECTS * 1000:.3f} ms of CPU")
    print(f"an effect, kept:      {kept / EFFECTS * 1000:.3f} ms ({kept / without:.1f} times)")
    print(f"keeping an effect:    {(kept - without) / EFFECTS * 1000:.3f} ms")


def _replay(folder: Path) -> None:
    program, file = compile_source(ASKING), folder / "run.conc-run"
    handlers = {"tool:Desk::look": lambda given: given["n"]}
    assert Runtime(program, handlers=handlers, record=file).run().ok

    def again() -> tuple[float, float]:
        begun, used = perf_counter(), process_time()
        assert Runtime(program, replay=file).run().ok
        return perf_counter() - begun, process_time() - used

    took, used = map(min, zip(*[again() for _ in range(TIMES)], strict=True))
    print(f"shown again:          {EFFECTS / took:,.0f} effects a second, {EFFECTS / used:,.0f} of CPU time")


def _size(folder: Path) -> None:
    chance = random.Random(1)
    words = [chance.randbytes(chance.randint(1, 5)).hex() for _ in range(5_000)]
    _stored(folder / "letters", lambda size: b85encode(chance.randbytes(size * 4 // 5)).decode())
    _stored(folder / "words", lambda size: " ".join(chance.choices(words, k=size // 6))[:size])


def _stored(folder: Path, text: Callable[[int], str]) -> None:
    folder.mkdir()
    written = [PROMPT]

    def answer(seen: Any) -> Any:
        if len(script.seen) > CALLS:
            return chat_reply("filed")
        given = json.dumps({"text": text(ARGUMENTS)})
        written.append(len(given))
        return chat_reply(None, (f"c{len(script.seen)}", "Desk__file", given))

    def file(given: Any) -> str:
        written.append(RESULT)
        return text(RESULT)

    store = folder / "runs.db"
    with Script() as script:
        script.answer(answer)
        program = compile_source(TALKING.replace("URL", script.url))
        (folder / "prompt.txt").write_text(text(PROMPT))
        given: dict[str, Any] = {"folder": folder, "handlers": {"tool:Desk::file": file}}
        opened = open_store(store)
        result = Runtime(program, store=opened, output=io.StringIO(), **given).run()
        opened.close()
        assert result.ok, result
        sent = sum(len(json.dumps(each.body)) for each in script.seen)
    size, new = store.stat().st_size, sum(written)
    print(f"the requests of {len(script.seen)} calls: {sent / 1e6:.1f} MB, of which new {new / 1e6:.2f} MB")
    print(f"the store, random {folder.name:<8}{size / 1e6:.2f} MB ({size / new:.2f} times what was new)")


def _equal(folder: Path) -> None:
    program = compile_source(SOURCE)
    equal = sum(_comes_again(program, seed, folder / "run.conc-run") for seed in range(SEEDS))
    print(f"came out the same:    {equal} of {SEEDS} runs with 43 branches, race, timeouts, retries")


def _comes_again(program: Program, seed: int, file: Path) -> bool:
    result, said = recorded(program, seed, file, [])
    output = io.StringIO()
    again = Runtime(program, output=output, errors=output, replay=file).run()
    return (output.getvalue(), again.value, again.status) == (said, result.value, result.status)


def _network(folder: Path) -> None:
    """Needs the right to make a network namespace: one without any interface that is up."""
    command = [sys.executable, "-m", "concerto.cli"]
    with Script() as script:
        script.answer(chat_reply("filed"))
        (folder / "main.conc").write_text(TALKING.replace("URL", script.url))
        file = str(folder / "run.conc-run")
        (folder / "prompt.txt").write_text("File this")
        run = [*command, "run", "--record", file, str(folder / "main.conc")]
        first = subprocess.run(run, capture_output=True, check=True, cwd=folder)
    again = subprocess.run(["unshare", "-n", *command, "replay", file], capture_output=True, check=False)
    same = (first.stdout, first.stderr, 0) == (again.stdout, again.stderr, again.returncode)
    print(f"without a network:    {'the same bytes' if same else f'other: {again}'} ({len(first.stdout)})")


PARTS = {"cost": _cost, "replay": _replay, "size": _size, "equal": _equal, "network": _network}

if __name__ == "__main__":
    main()
