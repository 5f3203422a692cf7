"""Declarations of whole programs in the IR."""

from __future__ import annotations

import json
from dataclasses import asdict

from concerto.ir.module import ModuleIR, ParameterDef, ToolUse
from tests.emit.compiling import emit, function

CALCULATOR = """
tool Calculator {
    description: "Adds",
    @describe("Add two numbers together")
    pub fn add(
        @param("The first number") a: Int,
        @param("The second number") b: Int,
    ) -> Int {
        a + b
    }
}
"""

SEARCHER = """
struct SearchResult { title: String }
tool WebSearcher {
    description: "Search the web for information",

    @describe("Search the web for information about a topic.")
    @param("query", "The search query string")
    @param("max_results", "Maximum number of results to return")
    pub fn search(self, query: String, max_results: Int = 5) -> Result<Array<SearchResult>, ToolError>;

    fn helper(self) -> Int { 1 }
}
"""


def test_tool_schemas_of_the_calculator() -> None:
    [tool] = emit(CALCULATOR).tools
    assert json.dumps(tool.tool_schemas) == json.dumps(
        [
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
            }
        ]
    )


def test_tool_schemas_of_the_web_searcher() -> None:
    [tool] = emit(SEARCHER).tools
    assert json.dumps(tool.tool_schemas[0]["parameters"]) == json.dumps(
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
        }
    )


def test_a_method_without_body_is_executed_outside_and_a_helper_is_not_shown() -> None:
    [tool] = emit(SEARCHER).tools
    search, helper = tool.methods
    assert search.function is None and search.public
    assert search.parameters[1] == ParameterDef("max_results", search.parameters[1].type, True, 5)
    assert helper.function is not None and not helper.public
    assert len(tool.tool_schemas) == 1


def test_the_first_state_of_a_tool() -> None:
    module = emit('tool T { description: "d", n: Int = 4, items: Array<String> = [] }')
    [tool] = module.tools
    made = module.functions[tool.init]
    assert made.code[-2:] == [("BUILD_STRUCT", tool.type, 2), ("RETURN",)]
    assert [field.name for field in tool.fields] == ["n", "items"]
    assert tool.fields[0].default == 4


EVERYTHING = (
    CALCULATOR
    + """
use std::tools::FileTool;
mcp GitHub {
    transport: "stdio", command: "serve",
    @describe("Search") @param("query", "What")
    fn search(query: String) -> Result<Array<String>, ToolError>;
}
memory notes: Memory = Memory::new(10);
hashmap store: HashMap<String, Int> = HashMap::new();
ledger facts: Ledger = Ledger::new();
schema Person { name: String, age: Int = 3, tags?: Array<String>, kind: "a" | "b" }
agent Assistant {
    provider: openai, model: "gpt-4o", temperature: 0.5,
    tools: [Calculator, GitHub::search, FileTool], allowed_tools: [Calculator], memory: notes,
}
impl Assistant { fn ask(self, text: String) -> Result<Response, AgentError> { self.execute(text) } }
pipeline Count(text: String) -> Int {
    stage measure(text: String) -> Int { text.len() }
    @tools([Calculator])
    stage grow(n: Int) -> Result<Int, ToolError> { Ok(n + 1) }
}
@test("a group :: adding") @expect_fail("part")
fn adding() { assert_eq(1, 2); }
fn main() { println(Assistant.execute_with_schema<Person>("who")); }
"""
)


def test_an_agent_and_what_it_names() -> None:
    module = emit(EVERYTHING)
    [agent] = module.agents
    assert agent.settings == {"provider": "openai", "model": "gpt-4o", "temperature": 0.5}
    assert agent.tools == [
        ToolUse("tool", "Calculator"),
        ToolUse("method", "GitHub", "search"),
        ToolUse("tool", "FileTool"),
    ]
    assert agent.allowed_tools == [ToolUse("tool", "Calculator")]
    assert agent.memory == "notes"
    assert module.functions[agent.methods["ask"]].name == "Assistant::ask"
    assert [tool.name for tool in module.tools] == ["Calculator", "FileTool"]
    assert [state.name for state in (*module.hashmaps, *module.ledgers, *module.memories)] == [
        "store",
        "facts",
        "notes",
    ]


def test_a_schema_has_its_json_schema() -> None:
    [person] = emit(EVERYTHING).schemas
    assert json.dumps(person.schema) == json.dumps(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "age": {"type": "integer", "default": 3},
                "tags": {"type": "array", "items": {"type": "string"}},
                "kind": {"type": "string", "enum": ["a", "b"]},
            },
            "required": ["name", "kind"],
        }
    )


def test_stages_are_functions() -> None:
    module = emit(EVERYTHING)
    [pipeline] = module.pipelines
    assert [module.functions[stage.function].name for stage in pipeline.stages] == [
        "Count::measure",
        "Count::grow",
    ]
    assert pipeline.stages[1].tools == [ToolUse("tool", "Calculator")]


def test_a_test_has_its_name_and_its_expected_failure() -> None:
    [test] = emit(EVERYTHING).tests
    assert (test.name, test.expect_fail, test.fail_message) == ("a group :: adding", True, "part")


def test_the_runtime_finds_the_structs_it_makes() -> None:
    names = {type_.name for type_ in emit("fn main() { }").types}
    assert {"Response", "Message", "StreamChunk", "ToolCall", "HttpResponse", "LedgerEntry"} <= names


def test_methods_stand_on_their_types() -> None:
    module = emit(
        """
        trait Named { fn name(self) -> String; fn hello(self) -> String { "hi ${self.name()}" } }
        struct P { x: Int }
        impl Named for P { fn name(self) -> String { "p" } }
        impl Named for Int { fn name(self) -> String { "int" } }
        fn main() { println(P { x: 1 }.hello()); println(3.hello()); }
        """
    )
    for name in ("P", "Int"):
        [entry] = [type_ for type_ in module.types if type_.name == name and type_.kind != "param"]
        # By the name alone, and as those of this very trait.
        assert entry.methods.keys() == {"name", "hello", "Named::name", "Named::hello"}
    assert function(module, "Named::hello").code[1] == ("LOAD_LOCAL", 0)


def _plain(module: ModuleIR) -> str:
    return json.dumps(asdict(module))


def test_the_same_source_gives_the_same_module() -> None:
    assert _plain(emit(EVERYTHING)) == _plain(emit(EVERYTHING))


def test_types_that_what_is_public_needs_are_exported() -> None:
    module = emit(
        """
        struct Given { parts: Array<Part> }
        struct Part { n: Int }
        enum Found { No, At(Place) }
        struct Place { n: Int }
        struct Inside { n: Int }
        pub fn found(given: Given) -> Option<Found> { None }
        fn inside(given: Inside) { }
        """
    )
    assert [each.name for each in module.exported_types] == ["Given", "Part", "Found", "Place"]
