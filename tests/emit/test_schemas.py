"""JSON Schemas of parameters and types, from symbols made by hand."""

from __future__ import annotations

import json

import pytest

from concerto import Runtime, compile_source
from concerto.emit.declarative.schemas import parameters_schema, tool_schema, type_schema
from concerto.json_data import Json
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.builtins import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NIL,
    STRING,
    TOOL_CONTEXT,
    array_of,
    map_of,
    option_of,
)
from concerto.semantics.model.symbols import (
    EnumSymbol,
    FieldSymbol,
    FunctionSymbol,
    Generic,
    GenericSymbol,
    Literals,
    ModuleSymbol,
    Named,
    ParameterSymbol,
    StructSymbol,
    TupleOf,
    Type,
    VariantSymbol,
)
from concerto.syntax import ast

ANALYSIS = Analysis(ModuleSymbol(name="main"))


def parameter(
    name: str, type_: Type, description: str = "", default: ast.Expr | None = None
) -> ParameterSymbol:
    return ParameterSymbol(name=name, type=type_, description=description, default=default)


def struct(name: str, **fields: Type) -> StructSymbol:
    symbol = StructSymbol(name=name)
    symbol.fields = [FieldSymbol(name=n, type=t, index=i) for i, (n, t) in enumerate(fields.items())]
    return symbol


def enum(name: str, **variants: list[Type]) -> EnumSymbol:
    symbol = EnumSymbol(name=name)
    for index, (variant, types) in enumerate(variants.items()):
        fields = [FieldSymbol(name=str(i), type=t, index=i) for i, t in enumerate(types)]
        symbol.variants.append(VariantSymbol(name=variant, enum=symbol, index=index, fields=fields))
    return symbol


def same_text(found: Json, expected: Json) -> None:
    """Equal with the keys in the same order."""
    assert json.dumps(found) == json.dumps(expected)


def test_calculator_of_the_language_description() -> None:
    add = FunctionSymbol(
        name="add",
        description="Add two numbers together",
        parameters=[parameter("a", INT, "The first number"), parameter("b", INT, "The second number")],
        result=INT,
    )
    same_text(
        tool_schema(ANALYSIS, "Calculator", add),
        {
            "method_name": "Calculator::add",
            "description": "Add two numbers together",
            "parameters": {
                "type": "object",
                "properties": {
                    "a": {"type": "integer", "description": "The first number"},
                    "b": {"type": "integer", "description": "The second number"},
                },
                "required": ["a", "b"],
            },
        },
    )


def test_default_stands_between_type_and_description() -> None:
    found = parameters_schema(
        ANALYSIS,
        [
            parameter("query", STRING, "The search query string"),
            parameter("max_results", INT, "Maximum number of results to return", ast.IntLit(0, 1, 5)),
        ],
    )
    same_text(
        found,
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "The search query string"},
                "max_results": {
                    "type": "integer",
                    "default": 5,
                    "description": "Maximum number of results to return",
                },
            },
            "required": ["query"],
        },
    )


COLOR = enum("Color", Red=[], Green=[])
POINT = struct("Point", x=FLOAT, label=option_of(STRING))


@pytest.mark.parametrize(
    ("type_", "schema"),
    [
        (INT, {"type": "integer"}),
        (FLOAT, {"type": "number"}),
        (STRING, {"type": "string"}),
        (BOOL, {"type": "boolean"}),
        (ANY, {}),
        (NIL, {"type": "null"}),
        (array_of(INT), {"type": "array", "items": {"type": "integer"}}),
        (
            array_of(option_of(INT)),
            {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
        ),
        (map_of(STRING, ANY), {"type": "object"}),
        (map_of(STRING, INT), {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Named(COLOR), {"type": "string", "enum": ["Red", "Green"]}),
        (Literals((("String", "a"), ("String", "b"))), {"type": "string", "enum": ["a", "b"]}),
        (Literals((("Int", 1), ("Bool", True))), {"enum": [1, True]}),
        (
            Named(POINT),
            {
                "type": "object",
                "properties": {"x": {"type": "number"}, "label": {"type": "string"}},
                "required": ["x"],
            },
        ),
        (
            TupleOf((INT, STRING)),
            {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "minItems": 2,
                "maxItems": 2,
            },
        ),
    ],
)
def test_type(type_: Type, schema: Json) -> None:
    same_text(type_schema(ANALYSIS, type_), schema)


def test_an_option_is_not_required_and_a_context_is_absent() -> None:
    found = parameters_schema(ANALYSIS, [parameter("limit", option_of(INT)), parameter("ctx", TOOL_CONTEXT)])
    same_text(found, {"type": "object", "properties": {"limit": {"type": "integer"}}, "required": []})


def test_no_parameters() -> None:
    same_text(parameters_schema(ANALYSIS, []), {"type": "object", "properties": {}, "required": []})


def test_a_struct_inside_itself_goes_through_a_definition() -> None:
    tree = StructSymbol(name="Tree")
    tree.fields = [
        FieldSymbol(name="value", type=INT, index=0),
        FieldSymbol(name="children", type=array_of(Named(tree)), index=1),
    ]
    found = parameters_schema(ANALYSIS, [parameter("tree", Named(tree), "A tree")])
    same_text(
        found,
        {
            "type": "object",
            "properties": {"tree": {"$ref": "#/$defs/Tree", "description": "A tree"}},
            "required": ["tree"],
            "$defs": {
                "Tree": {
                    "type": "object",
                    "properties": {
                        "value": {"type": "integer"},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                    },
                    "required": ["value", "children"],
                }
            },
        },
    )


def test_types_of_one_name_have_definitions_of_their_own() -> None:
    both = []
    for of in (INT, STRING):
        node = StructSymbol(name="Node")
        node.fields = [
            FieldSymbol(name="value", type=of, index=0),
            FieldSymbol(name="next", type=option_of(Named(node)), index=1),
        ]
        both.append(parameter(f"of_{of.symbol.name}", Named(node), ""))
    found = parameters_schema(ANALYSIS, both)
    assert found["properties"] == {"of_Int": ref("Node"), "of_String": ref("Node_2")}
    nodes = found["$defs"]
    assert [nodes[name]["properties"] for name in nodes] == [
        {"value": {"type": "integer"}, "next": ref("Node")},
        {"value": {"type": "string"}, "next": ref("Node_2")},
    ]


@pytest.mark.parametrize("tuples", [False, True])
def test_what_a_long_schema_holds_again_is_written_once(tuples: bool) -> None:
    levels: list[Type] = [INT]
    for number in range(30):
        inner = levels[-1]
        struct = StructSymbol(name=f"S{number}")
        struct.fields = [FieldSymbol(name=name, type=inner, index=0) for name in ("a", "b")]
        levels.append(TupleOf((inner, inner)) if tuples else Named(struct))
    short, long = type_schema(ANALYSIS, levels[8]), type_schema(ANALYSIS, levels[30])
    assert "$defs" not in short and len(json.dumps(short)) > 2**8
    assert len(long["$defs"]) == 29 and len(json.dumps(long)) < 6_000
    assert written_out(long, long["$defs"], 8) == written_out(short, {}, 8)


def ref(name: str) -> Json:
    return {"$ref": f"#/$defs/{name}"}


def written_out(schema: Json, definitions: Json, levels: int) -> Json:
    """The schema without references, so many types deep."""
    schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    parts = schema.get("prefixItems") or list(schema.get("properties", {}).values())
    return [written_out(part, definitions, levels - 1) for part in parts] if levels else []


def test_a_generic_schema_shows_its_arguments() -> None:
    item = GenericSymbol(name="T")
    page = StructSymbol(name="Page", generics=[item])
    page.fields = [FieldSymbol(name="items", type=array_of(Generic(item)), index=0)]
    same_text(
        type_schema(ANALYSIS, Named(page, (BOOL,))),
        {
            "type": "object",
            "properties": {"items": {"type": "array", "items": {"type": "boolean"}}},
            "required": ["items"],
        },
    )


def test_an_enum_with_data_is_told_in_payload_form() -> None:
    shape = enum("Shape", Unit=[], Circle=[FLOAT], Box=[INT, INT])
    found = type_schema(ANALYSIS, Named(shape))
    assert [branch["required"] for branch in found["anyOf"]] == [
        ["variant"],
        ["variant", "data"],
        ["variant", "data"],
    ]
    assert found["anyOf"][1]["properties"]["data"] == {"type": "number"}
    assert found["anyOf"][2]["properties"]["data"]["type"] == "array"


def test_fields_are_described_by_decorators_and_doc_comments() -> None:
    program = compile_source("""
        const PLACE: String = "Where it is";
        struct Place {
            /// Degrees
            /// north
            lat: Float,
            @describe("Degrees east")
            /// not this
            lon: Float,
        }
        @partial
        schema Trip {
            @describe(PLACE)
            from: Place,
            stops: Int,
        }
        tool Trips {
            description: "Trips",
            @describe("Plan one")
            pub fn plan(@param("All of it") trip: Trip) -> String { "" }
        }
    """)
    place = {
        "type": "object",
        "properties": {
            "lat": {"type": "number", "description": "Degrees\nnorth"},
            "lon": {"type": "number", "description": "Degrees east"},
        },
        "required": ["lat", "lon"],
    }
    trip = {
        "type": "object",
        "properties": {"from": {**place, "description": "Where it is"}, "stops": {"type": "integer"}},
        "required": [],
    }
    schemas = {schema.name: schema.schema for schema in program.module.schemas}
    same_text(schemas["Trip"], trip)
    parameters = program.module.tools[0].tool_schemas[0]["parameters"]
    same_text(parameters["properties"]["trip"], {**trip, "description": "All of it"})


@pytest.mark.parametrize(
    ("type_", "default", "told"),
    [
        ("Int", "2 * 3", 6),
        ("Int", "-7 / LIMIT", -2),
        ("Int", "-7 % LIMIT", -1),
        ("Float", "1 + 2", 3.0),
        ("Float", "(1 + 2) * 0.5", 1.5),
        ("Float", "LIMIT", 3.0),
        ("String", '"up to ${LIMIT - 1}" + "!"', "up to 2!"),
        ("Bool", "!false", True),
        ("Array<Float>", "[1, LIMIT * 2, 0.5]", [1.0, 6.0, 0.5]),
        ("Map<String, Int>", '{"a": 1, "b": 2 - LIMIT}', {"a": 1, "b": -1}),
        ("Point", "Point { x: LIMIT * 2 }", {"x": 6, "y": 4}),
        ("Option<Int>", "Some(LIMIT + 1)", 4),
    ],
)
def test_models_are_told_what_a_default_is(
    type_: str, default: str, told: Json, capsys: pytest.CaptureFixture[str]
) -> None:
    program = compile_source(f"""
        use std::json;
        const LIMIT: Int = 1 + 2;
        struct Point {{ x: Int, y: Int = LIMIT + 1 }}
        tool Tool {{
            description: "A tool",
            @describe("A method")
            pub fn method(@param("It") it: {type_} = {default}) -> {type_} {{ it }}
        }}
        fn main() {{ print(json::stringify(Tool::method())); }}
    """)
    (tool,) = program.module.tools
    schema = tool.tool_schemas[0]["parameters"]["properties"]["it"]
    Runtime(program).run()
    assert schema["default"] == told == json.loads(capsys.readouterr().out)
    assert type(schema["default"]) is type(told)
