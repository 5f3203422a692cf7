"""Problems of agents, their settings and their builders, and of decorators (E0410–E0420)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


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
