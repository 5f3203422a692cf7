"""Programs whose schemas would be very long together: they share definitions, and mean the same."""

from __future__ import annotations

import pytest

from concerto import Runtime, compile_source
from concerto.diagnostics import Problems
from concerto.emit.declarative import schemas
from concerto.ir.codec import decode, encode
from concerto.ir.module import ModuleIR
from concerto.json_data import Json

PROGRAM = """
    agent Ask { provider: mock, model: "small" }
    enum Mood { Good, Bad }
    struct At { lat: Float, tree: Option<Tree> }
    schema Tree { name: String = "oak", at: At, children?: Array<Tree>, next?: Leaf, mood?: Mood }
    schema Leaf { tree: Tree, kind: "a" | "b" }
    schema Page<T> { items: Array<T>, next?: Page<T> }
    fn main() {
        println(Ask.execute_with_schema<Leaf>("x").unwrap().kind);
        println(Ask.execute_with_schema<Page<Leaf>>("x").unwrap().items.len());
        println(Ask.execute_with_schema<Array<At>>("x").unwrap().len());
        println(parse_schema<Leaf>("{\\"kind\\": \\"b\\", \\"tree\\": {\\"at\\": {\\"lat\\": 1}}}").unwrap());
    }
"""


def test_shared_definitions_mean_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    complete = compile_source(PROGRAM)
    assert not complete.module.definitions
    monkeypatch.setattr(schemas, "_MANY", -1)
    shared = compile_source(PROGRAM)
    again = decode(encode(shared.module), "main.conc-ir", Problems())
    assert again is not None and again.definitions == shared.module.definitions
    for one, other in zip(complete.module.schemas, shared.module.schemas, strict=True):
        assert written_out(complete.module, one.schema) == written_out(shared.module, other.schema)
    assert Runtime(complete, mock=True, echo=True).run().ok
    printed = capsys.readouterr().out
    assert Runtime(shared, mock=True, echo=True).run().ok
    assert capsys.readouterr().out == printed


def written_out(module: ModuleIR, schema: Json) -> Json:
    """A schema with what its references stand for in their place, down to some depth."""
    whole = module.whole_schema(schema)
    known = whole.get("$defs", {})

    def inside(part: Json, depth: int) -> Json:
        if depth == 0:
            return None
        if isinstance(part, list):
            return [inside(each, depth - 1) for each in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return inside({**known[part["$ref"].removeprefix("#/$defs/")], **_beside(part)}, depth)
        return {key: inside(value, depth - 1) for key, value in part.items() if key != "$defs"}

    return inside(whole, 14)


def _beside(part: Json) -> Json:
    return {key: value for key, value in part.items() if key != "$ref"}
