"""Answers of forks: what does not fit its effect is refused before a run is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from concerto import RunStore, Runtime, compile_file, open_store
from concerto.journal.settling import CannotResume

SOURCE = """use std::{env, fs, time};
tool Desk {
    description: "People",
    @describe("Ask them")
    pub fn ask() -> Result<Int, ToolError>;
}
agent Clerk { provider: mock, model: "m" }
fn main() -> Result<Any, EmitError> {
    let whole: Result<Bool, EmitError> = await emit("whole", 1);
    let taken: Bool = await emit("taken", 1)?;
    let asked = Desk.ask().unwrap_or(0);
    let year = time::now_ms() / 1000 / 60;
    let home = env::get("PLACE").unwrap_or("nowhere");
    let text = fs::read_file("a.txt").unwrap();
    let names = fs::list_dir(".").unwrap();
    let size = fs::file_size("a.txt").unwrap();
    time::sleep(1);
    Ok([whole.unwrap(), taken, asked, year, home, text, names, size, Clerk.execute("hi").unwrap().text])
}
"""
# Of each effect the answers that it cannot have, and one that it can, with the value that it becomes.
CASES: dict[str, tuple[list[Any], str, Any, Any]] = {
    "EmitAwait whole": ([5, None, "x"], "the answer on `whole` is no `Bool`: expected `Bool`", False, False),
    "EmitAwait taken": ([5, [True]], "the answer on `taken` is no `Bool`: expected `Bool`", False, False),
    "HostCall Desk::ask": (["x", None], "is not what it declares: expected `Int`", 7, 7),
    "Clock": (["x", True, None], "`Clock` gives a number of seconds", 600.5, 10),
    "Env": ([3, ["x"]], "`Env` gives a text or `null`", None, "nowhere"),
    "ReadFile": ([3, None], "`ReadFile` gives a text", "b", "b"),
    "ListFolder": (["x", [1]], "`ListFolder` gives an array of texts", ["n"], ["n"]),
    "FileSize": (["x", True], "`FileSize` gives a number of bytes or `null`", 9, 9),
    "Sleep": ([0], "`Sleep` gives `null`", None, None),
    "ModelCall Clerk": ([3, None], "a model's, is a text", "hello", "hello"),
}


@pytest.mark.parametrize("place", range(len(CASES)))
def test_answers_fit_their_effects(tmp_path: Path, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACE", "here")
    (tmp_path / "main.conc").write_text(SOURCE)
    (tmp_path / "a.txt").write_text("a")
    title, (wrong, said, right, becomes) = list(CASES.items())[place]
    store = open_store("sqlite::memory:")
    handlers = {"whole": lambda _: True, "taken": lambda _: True, "tool:Desk::ask": lambda _: 1}
    options: dict[str, Any] = {"handlers": handlers, "folder": tmp_path, "permissions": {"files": [tmp_path]}}
    runtime = Runtime(compile_file(tmp_path / "main.conc"), store=store, **options)
    runtime.run()
    key = _key_of(store, runtime.run_id, title)
    for answer in wrong:
        with pytest.raises(CannotResume, match=said.replace("(", "\\(")):
            store.fork(runtime.run_id, at=key, answer=answer, **options)
    assert len(store.runs()) == 1
    forked = store.fork(runtime.run_id, at=key, answer=right, **options)
    assert forked.ok, forked.error
    if title != "Sleep":
        values = [*forked.value[:8], None, forked.value[8]]
        assert values[place] == becomes
    store.close()


def _key_of(store: RunStore, run: str, title: str) -> str:
    kind, _, subject = title.partition(" ")
    rows = store.store.effects(run)
    return next(each.key for each in rows if each.kind == kind and subject in ("", each.subject))
