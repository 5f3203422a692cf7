"""Problems of tools and MCP servers (E0401–E0409, E0416, E0417, W0408)."""

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
    and Results cannot. What a method gives is told to the model as JSON too, and what `emit` tells:
    anything but functions, tasks and iterators.

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


class McpNotAsLocked(Problem, code="E0416", title="`mcp` declaration does not fit `Concerto.lock`"):
    """`Concerto.lock` holds what the servers of a project offered when `concerto mcp lock` last looked.
    Declarations are checked against it without starting a server: every declared function must be there,
    with its parameters and with types that take what the declaration gives.

    ```concerto
    mcp Files {
        transport: "stdio",
        command: "file-server",

        @describe("Read a file")
        @param("name", "Where it is")
        fn read(name: String) -> String;
    }

    fn main() {
        println("ready");
    }
    //--- file: Concerto.lock
    {"version": 1, "mcp": {"Files": {"tools": {"read": {
        "parameters": {"type": "object", "properties": {"name": {"type": "integer"}}}
    }}}}}
    ```

    ```concerto
    mcp Files {
        transport: "stdio",
        command: "file-server",

        @describe("Read a file")
        @param("name", "Where it is")
        fn read(name: Int) -> String;
    }

    fn main() {
        println("ready");
    }
    //--- file: Concerto.lock
    {"version": 1, "mcp": {"Files": {"tools": {"read": {
        "parameters": {"type": "object", "properties": {"name": {"type": "integer"}}}
    }}}}}
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


class BadServedFunction(Problem, code="E0417", title="prompt or resource that no client can use"):
    """Clients of `concerto mcp serve` give texts: to a prompt by name, to a resource in the places of its
    address that stand in braces. So a parameter is a `String`, a number, a Bool, a literal union or an enum
    without data, and each `{name}` of an address is a parameter. A prompt gives a `String`, a `Prompt`, an
    `Array<Message>` or an `Array<Part>`; a resource a `String`, a `Part`, or what can be written as JSON.

    ```concerto
    @mcp_resource("notes://{day}")
    @describe("The notes of one day")
    @param("date", "The day")
    fn notes(date: String) -> String { "nothing on ${date}" }

    fn main() {
        println(notes("monday"));
    }
    ```

    ```concerto
    @mcp_resource("notes://{day}")
    @describe("The notes of one day")
    @param("day", "The day")
    fn notes(day: String) -> String { "nothing on ${day}" }

    fn main() {
        println(notes("monday"));
    }
    ```
    """
