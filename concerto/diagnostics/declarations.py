"""Problems of tools, agents, pipelines and tests (E0401–E0442, W0408)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class ToolWithoutDescription(Problem, code="E0401", title="tool without `description`"):
    """A model chooses among tools by what they say of themselves. Every `tool` has a `description:`.

    ```concerto
    tool Clock {
        @describe("The hour of the day, 0 to 23")
        pub fn hour() -> Int { 12 }
    }

    fn main() {
        println(Clock.hour());
    }
    ```

    ```concerto
    tool Clock {
        description: "Tells the time",

        @describe("The hour of the day, 0 to 23")
        pub fn hour() -> Int { 12 }
    }

    fn main() {
        println(Clock.hour());
    }
    ```
    """


class MethodWithoutDescribe(Problem, code="E0402", title="public tool method without `@describe`"):
    """Public methods of a tool are offered to models, which know only what `@describe` says. A method
    without `pub` is for the tool alone and needs no description.

    ```concerto
    tool Clock {
        description: "Tells the time",

        pub fn hour() -> Int { 12 }
    }

    fn main() {
        println(Clock.hour());
    }
    ```

    ```concerto
    tool Clock {
        description: "Tells the time",

        @describe("The hour of the day, 0 to 23")
        pub fn hour() -> Int { 12 }
    }

    fn main() {
        println(Clock.hour());
    }
    ```
    """


class UndescribedParameter(Problem, code="E0403", title="parameter without `@param`"):
    """Each parameter of a public tool method or an `mcp` function needs a description for the model:
    `@param("name", "text")` above the method or `@param("text")` before the parameter.

    ```concerto
    tool Search {
        description: "Finds documents",

        @describe("Search the archive")
        pub fn find(query: String) -> String { "nothing about ${query}" }
    }

    fn main() {
        println(Search.find("tea"));
    }
    ```

    ```concerto
    tool Search {
        description: "Finds documents",

        @describe("Search the archive")
        @param("query", "Words to look for")
        pub fn find(query: String) -> String { "nothing about ${query}" }
    }

    fn main() {
        println(Search.find("tea"));
    }
    ```
    """


class UnknownParam(Problem, code="E0404", title="`@param` names no parameter"):
    """A `@param("name", …)` above a method describes a parameter that the method does not have.

    ```concerto
    tool Search {
        description: "Finds documents",

        @describe("Search the archive")
        @param("query", "Words to look for")
        @param("limit", "How many to return")
        pub fn find(query: String) -> String { "nothing about ${query}" }
    }

    fn main() {
        println(Search.find("tea"));
    }
    ```

    ```concerto
    tool Search {
        description: "Finds documents",

        @describe("Search the archive")
        @param("query", "Words to look for")
        pub fn find(query: String) -> String { "nothing about ${query}" }
    }

    fn main() {
        println(Search.find("tea"));
    }
    ```
    """


class ParamCount(Problem, code="E0405", title="`@param` for what no model passes"):
    """`self` and a `ToolContext` come from the runtime. A model never sees them, so they are not
    described.

    ```concerto
    tool Counter {
        description: "Counts",
        count: Int = 0,

        @describe("Count one more")
        @param("self", "The counter")
        pub fn next(mut self) -> Int { self.count += 1; self.count }
    }

    fn main() {
        println(Counter.next());
    }
    ```

    ```concerto
    tool Counter {
        description: "Counts",
        count: Int = 0,

        @describe("Count one more")
        pub fn next(mut self) -> Int { self.count += 1; self.count }
    }

    fn main() {
        println(Counter.next());
    }
    ```
    """


class DescribedTwice(Problem, code="E0406", title="one parameter described twice"):
    """A parameter has two descriptions: two above the method, or one above and one on the parameter.
    Keep one; a method may use both forms for different parameters.

    ```concerto
    tool Search {
        description: "Finds documents",

        @describe("Search the archive")
        @param("query", "Words to look for")
        pub fn find(@param("The query") query: String) -> String { "nothing about ${query}" }
    }

    fn main() {
        println(Search.find("tea"));
    }
    ```

    ```concerto
    tool Search {
        description: "Finds documents",

        @describe("Search the archive")
        pub fn find(@param("Words to look for") query: String) -> String { "nothing about ${query}" }
    }

    fn main() {
        println(Search.find("tea"));
    }
    ```
    """


class NoJsonSchema(Problem, code="E0407", title="parameter type has no JSON Schema"):
    """A model passes arguments as JSON. Numbers, strings, Bool, arrays, maps with String keys, Option,
    enums without data, structs and schemas can be described to it; functions, tuples, sets, ranges
    and Results cannot.

    ```concerto
    tool Geometry {
        description: "Measures shapes",

        @describe("Distance of a point from the origin")
        @param("point", "The point")
        pub fn distance(point: (Float, Float)) -> Float { point.0 + point.1 }
    }

    fn main() {
        println(Geometry.distance((3.0, 4.0)));
    }
    ```

    ```concerto
    struct Point { x: Float, y: Float }

    tool Geometry {
        description: "Measures shapes",

        @describe("Distance of a point from the origin")
        @param("point", "The point")
        pub fn distance(point: Point) -> Float { point.x + point.y }
    }

    fn main() {
        println(Geometry.distance(Point { x: 3.0, y: 4.0 }));
    }
    ```
    """


class BadMcpFunction(Problem, code="E0408", title="`mcp` function with a body or `self`"):
    """The functions of an `mcp` block are carried out by the server. They are declarations: signature
    and descriptions, ended by `;`, without `self`.

    ```concerto
    mcp Files {
        transport: "stdio",
        command: "file-server",

        @describe("Read a file")
        @param("path", "Where it is")
        fn read(path: String) -> String { "" }
    }

    fn main() {
        println("ready");
    }
    ```

    ```concerto
    mcp Files {
        transport: "stdio",
        command: "file-server",

        @describe("Read a file")
        @param("path", "Where it is")
        fn read(path: String) -> String;
    }

    fn main() {
        println("ready");
    }
    ```
    """


class McpWithoutTransport(Problem, code="W0408", title="`mcp` without transport settings"):
    """The block does not say how to reach its server: `transport: "stdio"` with a `command:`, or
    `"http"` with a `url:`. `Concerto.toml` may supply them under `[mcp.Name]`; without either, the
    first call fails.

    ```concerto
    mcp Files {
        @describe("Read a file")
        @param("path", "Where it is")
        fn read(path: String) -> String;
    }

    fn main() {
        println("ready");
    }
    ```

    ```concerto
    mcp Files {
        transport: "stdio",
        command: "file-server",

        @describe("Read a file")
        @param("path", "Where it is")
        fn read(path: String) -> String;
    }

    fn main() {
        println("ready");
    }
    ```
    """


class ProviderWithoutId(Problem, code="E0409", title="`@tool_provider` without its id field"):
    """The methods of a `@tool_provider` become tools bound to one value, told apart by its id. The
    id is the field `id`, or the one named by `id:`, and the struct must have it.

    ```concerto
    @tool_provider(prefix: "customer", id: "number")
    struct Customer { name: String }

    fn main() {
        println(Customer { name: "Ada" }.name);
    }
    ```

    ```concerto
    @tool_provider(prefix: "customer", id: "number")
    struct Customer { number: String, name: String }

    fn main() {
        println(Customer { number: "c-1", name: "Ada" }.name);
    }
    ```
    """


class AgentWithoutProvider(Problem, code="E0410", title="agent without `provider`"):
    """An agent names the connection that its model is reached by: a `[connections.NAME]` of
    `Concerto.toml`, or one of `openai`, `anthropic`, `google`, `ollama`, `mock`.

    ```concerto
    agent Greeter {
        system_prompt: "Be brief",
    }

    fn main() {
        println(Greeter.execute("Hello").is_ok());
    }
    ```

    ```concerto
    agent Greeter {
        provider: openai,
        system_prompt: "Be brief",
    }

    fn main() {
        println(Greeter.execute("Hello").is_ok());
    }
    ```
    """


class UnknownReference(Problem, code="E0411", title="unknown connection, tool or memory in a declaration"):
    """A field of a declaration refers to a connection, tool, method, MCP server or memory that does
    not exist.

    ```concerto
    agent Greeter {
        provider: openai,
        tools: [Calcultor],
    }

    fn main() {
        println(Greeter.execute("Hello").is_ok());
    }
    ```

    ```concerto
    tool Calculator {
        description: "Does sums",

        @describe("Add two numbers")
        pub fn add(@param("First") a: Int, @param("Second") b: Int) -> Int { a + b }
    }

    agent Greeter {
        provider: openai,
        tools: [Calculator],
    }

    fn main() {
        println(Greeter.execute("Hello").is_ok());
    }
    ```
    """


class BadDeclarationField(Problem, code="E0412", title="unknown or mistyped field of a declaration"):
    """An agent, host, mcp, tool or connection has a field of a name nobody reads, or a value of the
    wrong kind. Values are literals, or names of constants.

    ```concerto
    agent Greeter {
        provider: openai,
        temprature: 0.2,
    }

    fn main() {
        println(Greeter.execute("Hello").is_ok());
    }
    ```

    ```concerto
    agent Greeter {
        provider: openai,
        temperature: 0.2,
    }

    fn main() {
        println(Greeter.execute("Hello").is_ok());
    }
    ```
    """


class BadWithTools(Problem, code="E0413", title="`with_tools` takes an array of tool references"):
    """The argument of `with_tools` is an array of tools, single methods (`Calculator::add`) or MCP
    servers.

    ```concerto
    agent Greeter { provider: openai }

    fn main() {
        println(Greeter.with_tools("Calculator").execute("1 + 2?").is_ok());
    }
    ```

    ```concerto
    tool Calculator {
        description: "Does sums",

        @describe("Add two numbers")
        pub fn add(@param("First") a: Int, @param("Second") b: Int) -> Int { a + b }
    }

    agent Greeter { provider: openai }

    fn main() {
        println(Greeter.with_tools([Calculator]).execute("1 + 2?").is_ok());
    }
    ```
    """


class WithoutToolsArguments(Problem, code="E0414", title="`without_tools` takes no arguments"):
    """`without_tools()` leaves out all tools of the agent's declaration. To offer some of them, follow
    it with `with_tools([…])`.

    ```concerto
    tool Calculator {
        description: "Does sums",

        @describe("Add two numbers")
        pub fn add(@param("First") a: Int, @param("Second") b: Int) -> Int { a + b }
    }

    agent Greeter { provider: openai, tools: [Calculator] }

    fn main() {
        println(Greeter.without_tools([Calculator]).execute("Hello").is_ok());
    }
    ```

    ```concerto
    tool Calculator {
        description: "Does sums",

        @describe("Add two numbers")
        pub fn add(@param("First") a: Int, @param("Second") b: Int) -> Int { a + b }
    }

    agent Greeter { provider: openai, tools: [Calculator] }

    fn main() {
        println(Greeter.without_tools().execute("Hello").is_ok());
    }
    ```
    """


class BadToolChoice(Problem, code="E0415", title="bad `tool_choice` or `allowed_tools`"):
    """`tool_choice` is `"auto"`, `"required"`, `"none"` or one method, `Tool::method`, that the agent
    is offered. `allowed_tools` lists tools or methods that the agent is offered.

    ```concerto
    agent Greeter {
        provider: openai,
        tool_choice: "always",
    }

    fn main() {
        println(Greeter.execute("Hello").is_ok());
    }
    ```

    ```concerto
    agent Greeter {
        provider: openai,
        tool_choice: "auto",
    }

    fn main() {
        println(Greeter.execute("Hello").is_ok());
    }
    ```
    """


class UnknownDecorator(Problem, code="E0420", title="unknown decorator or decorator argument"):
    """No decorator has this name, it has no such argument, or it does not belong on this declaration.

    ```concerto
    @retries(max: 3)
    agent Greeter { provider: openai }

    fn main() {
        println(Greeter.execute("Hello").is_ok());
    }
    ```

    ```concerto
    @retry(max: 3)
    agent Greeter { provider: openai }

    fn main() {
        println(Greeter.execute("Hello").is_ok());
    }
    ```
    """


class StageWithoutType(Problem, code="E0430", title="stage without a return type"):
    """Each stage of a pipeline says what it passes to the next.

    ```concerto
    pipeline Shout {
        stage trim(text: String) { text.trim() }
        stage upper(text: String) -> String { text.to_upper() }
    }

    fn main() {
        println(Shout.run(" hi ").is_ok());
    }
    ```

    ```concerto
    pipeline Shout {
        stage trim(text: String) -> String { text.trim() }
        stage upper(text: String) -> String { text.to_upper() }
    }

    fn main() {
        println(Shout.run(" hi ").is_ok());
    }
    ```
    """


class StagesDoNotFit(Problem, code="E0431", title="stages do not fit"):
    """What one stage returns, unwrapped if it is a Result, is not what the next one takes.

    ```concerto
    pipeline Measure {
        stage count(text: String) -> Int { text.len() }
        stage upper(text: String) -> String { text.to_upper() }
    }

    fn main() {
        println(Measure.run("hi").is_ok());
    }
    ```

    ```concerto
    pipeline Measure {
        stage upper(text: String) -> String { text.to_upper() }
        stage count(text: String) -> Int { text.len() }
    }

    fn main() {
        println(Measure.run("hi").is_ok());
    }
    ```
    """


class PipelineSignature(Problem, code="E0432", title="pipeline signature does not fit its stages"):
    """A pipeline's parameter is what its first stage takes, its result what the last one returns. The
    signature may be left out.

    ```concerto
    pipeline Measure(text: String) -> String {
        stage count(text: String) -> Int { text.len() }
    }

    fn main() {
        println(Measure.run("hi").is_ok());
    }
    ```

    ```concerto
    pipeline Measure(text: String) -> Int {
        stage count(text: String) -> Int { text.len() }
    }

    fn main() {
        println(Measure.run("hi").is_ok());
    }
    ```
    """


class MockOutsideTest(Problem, code="E0440", title="`mock` outside a test"):
    """`mock` replaces an agent, server or channel while a test runs. It stands in a function marked
    with `@test` and nowhere else. To run a whole program without a model, use `--mock`.

    ```concerto
    agent Greeter { provider: openai }

    fn main() {
        mock Greeter { response: "hi" }
        println(Greeter.execute("Hello").is_ok());
    }
    ```

    ```concerto
    agent Greeter { provider: openai }

    @test
    fn greets() {
        mock Greeter { response: "hi" }
        assert(Greeter.execute("Hello").is_ok());
    }
    ```
    """


class TestMisused(Problem, code="E0441", title="test function called or mis-declared"):
    """A `@test` function is run by `concerto test`, not called by the program; it has no parameters
    and returns nothing or a Result.

    ```concerto
    @test
    fn adds(a: Int) {
        assert_eq(a + 1, 2);
    }
    ```

    ```concerto
    @test
    fn adds() {
        assert_eq(1 + 1, 2);
    }
    ```
    """

    __test__ = False  # Not a test of pytest's, whatever its name says.


class ExpectFailWithoutTest(Problem, code="E0442", title="`@expect_fail` without `@test`"):
    """`@expect_fail` says that a test is meant to fail. It stands beside `@test`.

    ```concerto
    @expect_fail("overflow")
    fn grows() {
        println(9223372036854775807 + 1);
    }
    ```

    ```concerto
    @test
    @expect_fail("overflow")
    fn grows() {
        println(9223372036854775807 + 1);
    }
    ```
    """
