"""What fits and what does not: schemas as types, and the comparison of interfaces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from concerto.compiler import compile_source
from concerto.contracts.comparison import Difference, compare
from concerto.contracts.interface import (
    ToolInterface,
    as_identifier,
    declared_interface,
    match_name,
    written_names,
)
from concerto.contracts.lock_file import BadLock, LockedServer, lock_text, read_lock
from concerto.contracts.update_block import new_block
from concerto.runtime.mcp.content import without_data
from concerto.runtime.mcp.settings import BadSettings, read_settings
from concerto.schema.show import type_text
from concerto.schema.subtype import fits
from concerto.schema.writing import as_written, pruned

INT, FLOAT, STRING, BOOL = ({"type": name} for name in ("integer", "number", "string", "boolean"))
NULL = {"type": "null"}


def obj(needed: str = "", /, **members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": needed.split()}


def tool(parameters: dict[str, Any], result: Any = None, **more: Any) -> ToolInterface:
    return ToolInterface("find", parameters, result, **more)


def changes(expected: ToolInterface, offered: ToolInterface, basis: Any = "declared") -> list[Difference]:
    return compare({"find": expected}, {"find": offered}, basis)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (INT, INT),
        (INT, FLOAT),
        (INT, {}),
        ({}, INT),
        (STRING, {"anyOf": [INT, STRING]}),
        (STRING, {"type": ["string", "null"]}),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}),
        ({"enum": ["a"]}, STRING),
        ({"const": 1}, INT),
        ({"type": "array", "items": INT}, {"type": "array", "items": FLOAT}),
        ({"type": "array", "items": INT}, {"type": "array"}),
        (obj("a", a=INT), obj("a", a=FLOAT)),
        (obj("a", a=INT, b=INT), obj("a", a=INT)),
        ({"type": "object"}, obj("a", a=INT)),
        ({"$ref": "#/$defs/X", "$defs": {"X": INT}}, FLOAT),
        (INT, {"allOf": [FLOAT, {}]}),
    ],
)
def test_what_fits(given: Any, wanted: Any) -> None:
    assert fits(given, wanted)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (FLOAT, INT),
        (STRING, INT),
        (STRING, {"enum": ["a"]}),
        ({"enum": ["a", "c"]}, {"enum": ["a", "b"]}),
        ({"enum": [1]}, {"enum": [True]}),
        ({"anyOf": [INT, STRING]}, STRING),
        ({"type": "array", "items": STRING}, {"type": "array", "items": INT}),
        (obj("", a=INT), obj("a", a=INT)),
        (obj("b", b=INT), obj("a", a=INT)),
        (obj("b", b=INT), {**obj("", a=INT), "additionalProperties": False}),
        (STRING, obj("a", a=INT)),
    ],
)
def test_what_does_not_fit(given: Any, wanted: Any) -> None:
    assert not fits(given, wanted)


def test_schemas_that_contain_themselves() -> None:
    tree = {"$ref": "#/$defs/T", "$defs": {"T": obj("next", next={"$ref": "#/$defs/T"}, value=INT)}}
    other = {"$ref": "#/$defs/T", "$defs": {"T": obj("next", next={"$ref": "#/$defs/T"}, value=STRING)}}
    assert fits(tree, tree)
    assert not fits(tree, other)
    assert type_text(tree) == "{ next: Any, value?: Int }"
    loop = {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}
    assert fits(loop, INT)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (INT, "Int"),
        ({}, "Any"),
        ({"type": "array", "items": STRING}, "Array<String>"),
        ({"type": "object"}, "Map<String, Any>"),
        ({"type": "object", "additionalProperties": INT}, "Map<String, Int>"),
        ({"anyOf": [INT, NULL]}, "Option<Int>"),
        ({"type": ["string", "null"]}, "Option<String>"),
        ({"anyOf": [INT, STRING]}, "Any"),
        ({"enum": ["a", "b"]}, '"a" | "b"'),
        ({"enum": [1, None]}, "Option<1>"),
        ({"enum": [1.5]}, "Float"),
        (obj("a", a=INT, b=STRING), "{ a: Int, b?: String }"),
        ({"$ref": "elsewhere.json"}, "Any"),
        ({"enum": [1.5, {"a": 1}]}, "Any"),
        ({"anyOf": []}, "Any"),
        ({"type": ["string", "null"], "enum": ["a", None]}, 'Option<"a">'),
        ({"type": "array", "prefixItems": [INT, INT], "items": False}, "Array<Int>"),
        ({"type": "array", "items": [INT, STRING]}, "Array<Any>"),
    ],
)
def test_schemas_as_types_of_the_language(schema: Any, text: str) -> None:
    assert type_text(schema) == text


@pytest.mark.parametrize(
    ("declared", "offered", "message"),
    [
        (obj("q", q=STRING), obj("query", query=STRING), "the server knows no parameter `q`"),
        (
            obj("q", q=STRING),
            obj("q page", q=STRING, page=INT),
            "requires a parameter `page`, which is not declared",
        ),
        (obj("q", q=INT), obj("q", q=STRING), "parameter `q` is declared `Int`, offered `String`"),
        (obj("", q=STRING), obj("q", q=STRING), "parameter `q` is declared optional, the server requires it"),
        (
            obj("f", f=obj("a", a=INT)),
            obj("f", f=obj("a", a=STRING)),
            "`a` of parameter `f` is declared `Int`, offered `String`",
        ),
    ],
)
def test_what_breaks_a_declaration(declared: Any, offered: Any, message: str) -> None:
    found = changes(tool(declared), tool(offered))
    assert all(change.breaking for change in found)
    assert any(message in change.message for change in found), found


@pytest.mark.parametrize(
    ("declared", "offered"),
    [
        (obj("q", q=INT), obj("q", q=FLOAT)),
        (obj("q", q=STRING), obj("", q={"anyOf": [STRING, NULL]})),
        (obj("q", q=STRING), obj("q", q=STRING, page=INT)),
        (obj("", q={**STRING, "default": "x"}), obj("q", q=STRING)),
        (obj("repo_path", repo_path=STRING), obj("repo-path", **{"repo-path": STRING})),
    ],
)
def test_what_a_declaration_bears(declared: Any, offered: Any) -> None:
    assert changes(tool(declared), tool(offered)) == []


@pytest.mark.parametrize(
    ("declared", "offered", "right"),
    [
        (STRING, obj("a", a=INT), True),
        (INT, FLOAT, True),
        (INT, STRING, False),
        (INT, obj("result", result=INT), True),
        (obj("a", a=INT), obj("a b", a=INT, b=STRING), True),
        (obj("a", a=INT), obj("", a=INT), False),
        (obj("", a=STRING), obj("a", a={"anyOf": [STRING, NULL]}), True),
    ],
)
def test_results(declared: Any, offered: Any, right: bool) -> None:
    assert (changes(tool(obj(), declared), tool(obj(), offered)) == []) is right


def test_a_tool_that_is_not_there_has_a_near_name() -> None:
    [change] = compare({"serch": tool(obj())}, {"search": tool(obj())}, "declared")
    assert (change.breaking, change.tool) == (True, "serch")
    assert change.message == "the server has no tool `serch`, did you mean `search`?"


def test_what_is_news_to_a_lock() -> None:
    locked = tool(obj("q", q=INT), INT, description="Finds")
    now = tool(obj("", q=FLOAT, page=INT), INT, description="Finds more", repeatable=True)
    found = compare({"find": locked}, {"find": now, "new": tool(obj())}, "locked")
    assert [change.message for change in found if not change.breaking] == [
        "parameter `q` was `Int` and takes `Float` now",
        "the server takes a new optional parameter `page`",
        "the description has changed",
        "a call may now be repeated when its outcome is lost",
        "the server has a new tool `new`",
    ]
    assert len(found) == 5


def test_what_breaks_a_lock() -> None:
    assert [
        change.message for change in changes(tool(obj("q", q=FLOAT), INT), tool(obj("q", q=INT)), "locked")
    ] == [
        "parameter `q` is locked `Float`, offered `Int`",
        "the result was `Int`, nothing is known of it now",
    ]


def test_names_that_a_program_cannot_write() -> None:
    assert match_name("get_sum", ["get-sum", "other"]) == "get-sum"
    assert match_name("a_b", ["a-b", "a_b"]) == "a_b"
    assert match_name("a_b", ["a-b", "a.b"]) is None
    assert match_name("get_user_profile_v2", ["get-user.profile/v2"]) == "get-user.profile/v2"
    assert as_identifier("ü") == "ufc" and as_identifier("名前") == "u540du524d"
    assert as_identifier("_") == as_identifier("") == "_0" and as_identifier("1st") == "_1st"
    assert written_names(["a-b", "a_b", "a.c", "a-c"]) == {"a_b": "a_b", "a_c": "a.c"}


WORDS = [
    "self",
    "fn",
    "type",
    "match",
    "let",
    "if",
    "while",
    "return",
    "async",
    "await",
    "use",
    "struct",
    "mcp",
    "agent",
    "tool",
    "test",
    "mock",
]
POINT = {**obj("x", x=INT, y={"$ref": "#/$defs/N"}), "title": "Point"}
NODE = obj("", kids={"type": "array", "items": {"$ref": "#/$defs/T"}}, value=INT)
CHAIN = {f"T{n}": {**obj("", next={"$ref": f"#/$defs/T{n + 1}"}), "title": f"T{n}"} for n in range(300)}
WILD = {
    "references": {**obj("p", p={"$ref": "#/$defs/P"}), "$defs": {"P": POINT, "N": FLOAT}},
    "contains_itself": {**obj("p", p={"$ref": "#/$defs/T"}), "$defs": {"T": NODE}},
    "longer_than_calls_are_deep": {**obj("p", p={"$ref": "#/$defs/T0"}), "$defs": {**CHAIN, "T300": INT}},
    "of_elsewhere": obj("p", p={"$ref": "https://x/y.json"}, q={"$ref": "#/none"}, r={"$ref": "#"}),
    "null": obj("p r", p={"anyOf": [INT, NULL]}, q={"anyOf": [INT, NULL], "default": None}, r=NULL),
    "one_of": obj("p", p={"oneOf": [obj("", kind={"const": "a"}), obj("", kind={"const": "b"}, v=INT)]}),
    "enums": obj("p q r", p={"enum": ["a", None]}, q={"enum": [1.5, 2.5]}, r={"enum": ["a", 1, True]}),
    "signs": obj("p", p={"enum": [-1, 0, 1]}, q={"enum": []}),
    "arrays": obj("p", p={"type": "array", "items": {"type": "array", "items": {"type": "array"}}}),
    "closed": {**obj("a", a=INT), "additionalProperties": False},
    "open": obj("", m={"type": "object", "additionalProperties": {"type": "array", "items": STRING}}),
    "both": obj("a", a={**obj("x", x=INT), "additionalProperties": STRING}),
    "tuple": obj("p", p={"type": "array", "prefixItems": [INT, STRING], "items": False}),
    "old_tuple": obj("p", p={"type": "array", "items": [INT, STRING], "additionalItems": INT}),
    "untyped": obj("p q", p={}, q=True, r={"description": "Anything"}),
    "several": obj("p", p={"type": ["integer", "string"]}, q={"type": []}, r={"type": ["null"]}),
    "date": obj("p", p={"type": "string", "format": "date"}),
    "get-user.profile/v2": obj("user-id", **{"user-id": STRING, "x.y": INT}),
    "名前": obj("ü", ü=STRING, _=INT),
    "": obj(),
    "n" * 300: obj("q" * 300, **{"q" * 300: STRING}),
    "match": obj(" ".join(WORDS), **dict.fromkeys(WORDS, STRING)),
    "fields": obj("p", p={"title": "not a name", **obj("", **dict.fromkeys(WORDS, STRING))}),
    "library_name": obj("p", p={"title": "String", **obj("", a=INT)}),
    "defaults": obj(
        "",
        a={"type": "array", "items": INT, "default": [1, 2]},
        b={**STRING, "default": 'a"${b}\n'},
        c={**INT, "default": "bad"},
        d={**INT, "default": 2**70},
        e={**FLOAT, "default": float("inf")},
        f={**obj("", a=INT), "default": {"a": 1}},
    ),
    "texts": obj("p", p={**STRING, "description": 'a */ // "q" ${x} \\ \n next \u2028 x'}),
    "broken": {"type": "object", "properties": {"a": 5, "b": "x", "c": [1], "d": None}, "required": "a"},
    "empty": {"type": "object", "properties": None, "required": None},
    "all_of": obj("p", p={"allOf": [obj("a", a=INT), obj("b", b=STRING)]}),
}


@pytest.mark.parametrize("name", WILD, ids=lambda name: name[:20] or "nameless")
def test_what_is_written_for_a_tool_compiles_and_fits(name: str) -> None:
    offered = {name: ToolInterface(name, WILD[name], None, "Does")}
    program = compile_source(new_block("Odd", offered, "").text)
    [server] = program.module.mcp_servers
    assert compare(declared_interface(server), offered, "declared") == []


def test_values_on_their_way() -> None:
    schema = obj("name", name=STRING, most=INT)
    assert as_written({"name": None, "most": None}, schema, schema) == {"name": None}
    assert pruned({"name": "x", "extra": 1}, schema, schema) == {"name": "x"}
    assert pruned([{"name": "x", "e": 1}], {"type": "array", "items": schema}, schema) == [{"name": "x"}]
    pair = {"type": "array", "prefixItems": [INT, schema], "minItems": 2, "maxItems": 2}
    assert pruned([1, {"name": "x", "extra": 1}], pair, pair) == [1, {"name": "x"}]
    either = {"anyOf": [obj("ok", ok=INT), obj("err", err=schema)]}
    assert pruned({"err": {"name": "x", "extra": 1}}, either, either) == {"err": {"name": "x"}}
    image = {"type": "image", "mime_type": "image/png", "bytes": 3, "data": "AAAA"}
    assert without_data([image, {"data": "kept"}]) == [
        {"type": "image", "mime_type": "image/png", "bytes": 3},
        {"data": "kept"},
    ]


def test_a_lock_is_read_as_it_was_written() -> None:
    servers = {"Find": LockedServer("find 1.0", {"find": tool(obj("q", q=INT), INT, repeatable=True)})}
    assert read_lock(lock_text(servers).encode()) == servers


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 1}', '{"version": 1, "mcp": {"A": 1}}', "\0"])
def test_a_broken_lock(text: str) -> None:
    with pytest.raises(BadLock, match="write it again with `concerto mcp lock`"):
        read_lock(text.encode())


def test_a_lock_of_another_time() -> None:
    with pytest.raises(BadLock, match="version 9"):
        read_lock(b'{"version": 9, "mcp": {}}')


def command(declared: dict[str, Any], manifest: dict[str, Any] | None = None) -> tuple[str, ...]:
    return read_settings("S", declared, manifest or {}, {"PATH": "/bin", "KEY": "k"}, Path()).command


def test_a_command_is_read_as_a_shell_reads_it(tmp_path: Path) -> None:
    assert command({"command": "npx -y 'my server'"}) == ("npx", "-y", "my server")
    assert command({"command": "npx -y", "args": ["a b", "$HOME; x"]}) == ("npx", "-y", "a b", "$HOME; x")
    program = tmp_path / "a server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert command({"command": str(program)}) == (str(program),)


def test_the_manifest_wins_key_by_key() -> None:
    assert command({"command": "a", "args": ["1"]}, {"command": "b"}) == ("b", "1")


def test_secrets_come_from_the_environment() -> None:
    def headers(written: str) -> Any:
        said = {"url": "http://x", "headers": {"Authorization": written}}
        return read_settings("S", said, {}, {"KEY": "k"}, Path()).headers

    assert headers("Bearer ${KEY}") == {"Authorization": "Bearer k"}
    with pytest.raises(BadSettings, match="needs the variable `NONE`"):
        headers("Bearer ${NONE}")
