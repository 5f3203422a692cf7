"""Problems of trust: what untrusted text could make an agent do (E0701, E0702), and what is said of it in
vain (W0701, W0702)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class UntrustedReachesSink(Problem, code="E0701", title="untrusted text can reach a sink"):
    """An agent is offered a tool that brings in text which nobody vouches for, and a tool that acts on the
    world. A model does what it reads: whoever writes that text decides about the act. With `[trust]` in
    `Concerto.toml` this is an error wherever the two meet without a guard, over all tools that an agent can
    be offered at a call: its own, those of pipelines and stages, of `with_tools` and of returned values.

    Three ways out: `guard:` on the agent (`"deny"` refuses the act once untrusted text was read,
    `"approve"` asks a person each time, `"lock"` takes such tools away), another agent without one of the two
    tools, or, where the text is not from outside after all, `@source(trusted)`.

    ```concerto
    tool Inbox {
        description: "Reads mail",

        @source(untrusted)
        @describe("The newest mail")
        pub fn newest() -> String;
    }

    tool Mail {
        description: "Sends mail",

        @sink(mail, trusted: [to])
        @describe("Send a mail")
        pub fn send(@param("Who gets it") to: String, @param("What it says") text: String) -> Bool;
    }

    agent Assistant { provider: openai, tools: [Inbox, Mail] }

    fn main() {
        println(Assistant.execute("Answer my newest mail").is_ok());
    }
    //--- file: Concerto.toml
    [trust]
    mode = "deny"

    [connections.openai]
    ```

    ```concerto
    tool Inbox {
        description: "Reads mail",

        @source(untrusted)
        @describe("The newest mail")
        pub fn newest() -> String;
    }

    tool Mail {
        description: "Sends mail",

        @sink(mail, trusted: [to])
        @describe("Send a mail")
        pub fn send(@param("Who gets it") to: String, @param("What it says") text: String) -> Bool;
    }

    agent Assistant { provider: openai, tools: [Inbox, Mail], guard: "deny" }

    fn main() {
        println(Assistant.execute("Answer my newest mail").is_ok());
    }
    //--- file: Concerto.toml
    [trust]
    mode = "deny"

    [connections.openai]
    ```
    """


class SecretCanLeave(Problem, code="E0702", title="a secret can leave over the net"):
    """An agent is offered a tool that brings in untrusted text, one that gives a secret, and one that
    reaches the net. Text that asks for it can have the secret put into an address or a message. Take one of
    the three away, or give the agent a `guard:`.

    ```concerto
    use std::http;

    tool Web {
        description: "Reads pages",

        @describe("The text of a page")
        pub fn page(@param("Its address") url: String) -> String {
            http::get(url).unwrap().body
        }
    }

    tool Vault {
        description: "Knows passwords",

        @source(secret)
        @describe("The password of a site")
        pub fn password(@param("The site") site: String) -> String;
    }

    agent Assistant { provider: openai, tools: [Web, Vault] }

    fn main() {
        println(Assistant.execute("Log me in").is_ok());
    }
    //--- file: Concerto.toml
    [trust]
    mode = "deny"

    [connections.openai]
    ```

    ```concerto
    use std::http;

    tool Web {
        description: "Reads pages",

        @describe("The text of a page")
        pub fn page(@param("Its address") url: String) -> String {
            http::get(url).unwrap().body
        }
    }

    agent Assistant { provider: openai, tools: [Web] }

    fn main() {
        println(Assistant.execute("What is new?").is_ok());
    }
    //--- file: Concerto.toml
    [trust]
    mode = "deny"

    [connections.openai]
    ```
    """


class IdleGuard(Problem, code="W0701", title="guard that nothing enforces"):
    """An agent has a `guard:`, and the project does not say in `Concerto.toml` that trust is looked after.
    Then no label is kept and no call is refused: write `[trust]` there, or take the guard away.

    ```concerto
    agent Assistant { provider: openai, guard: "deny" }

    fn main() {
        println(Assistant.execute("Answer my newest mail").is_ok());
    }
    //--- file: Concerto.toml
    [connections.openai]
    ```

    ```concerto
    agent Assistant { provider: openai, guard: "deny" }

    fn main() {
        println(Assistant.execute("Answer my newest mail").is_ok());
    }
    //--- file: Concerto.toml
    [trust]
    mode = "deny"

    [connections.openai]
    ```
    """


class UnknownTrustName(Problem, code="W0702", title="label of what is not there"):
    """A table of `[trust.tools]` in `Concerto.toml` is named like no tool, server or host of the program, so
    what it says holds for nothing. Names are `Tool::method`, or a tool, server or host as a whole.

    ```concerto
    tool Mail {
        description: "Sends mail",

        @describe("Send a mail")
        pub fn send(@param("Who gets it") to: String) -> Bool { to != "" }
    }

    agent Assistant { provider: openai, tools: [Mail] }

    fn main() {
        println(Assistant.execute("Tell Ann").is_ok());
    }
    //--- file: Concerto.toml
    [trust.tools."Mail::sent"]
    sink = "mail"

    [connections.openai]
    ```

    ```concerto
    tool Mail {
        description: "Sends mail",

        @describe("Send a mail")
        pub fn send(@param("Who gets it") to: String) -> Bool { to != "" }
    }

    agent Assistant { provider: openai, tools: [Mail] }

    fn main() {
        println(Assistant.execute("Tell Ann").is_ok());
    }
    //--- file: Concerto.toml
    [trust.tools."Mail::send"]
    sink = "mail"

    [connections.openai]
    ```
    """
