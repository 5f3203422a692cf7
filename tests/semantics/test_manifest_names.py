"""What declarations may refer to when there is a manifest."""

from __future__ import annotations

from tests.semantics.checking import Files, check

_AGENT = "agent A {{ provider: {}, tools: [{}] }}"


def test_where_no_manifest_has_connections_there_are_the_default_connections() -> None:
    for name in ("openai", "anthropic", "google", "ollama", "mock"):
        assert check(_AGENT.format(name, ""))[1] == []
    assert check(_AGENT.format("fast", ""))[1] == ["E0411 agent `A` has an unknown provider `fast`"]


def test_with_connections_in_the_manifest_there_are_these_alone() -> None:
    project = Files(connections={"fast": "openai"})
    assert check(_AGENT.format("fast", ""), project)[1] == []
    project = Files(connections={"fast": "openai"})
    assert check(_AGENT.format("openai", ""), project)[1] == [
        "E0411 agent `A` has an unknown provider `openai`"
    ]


def test_servers_and_python_tools_of_the_manifest_can_be_listed() -> None:
    project = Files(mcp_servers=frozenset({"GitHub"}), python_tools=frozenset({"search"}))
    analysis, problems = check(_AGENT.format("openai", "GitHub, search, GitHub::create_issue"), project)
    assert problems == []
    assert [(use.kind, use.qualified, use.method) for use in analysis.agents[0].tools] == [
        ("mcp", "GitHub", ""),
        ("tool", "search", ""),
        ("method", "GitHub", "create_issue"),
    ]


def test_hosts_are_those_of_the_manifest() -> None:
    project = Files(hosts=frozenset({"worker"}))
    analysis, problems = check('host H { connector: "worker" } agent G { connector: worker }', project)
    assert problems == []
    assert [host.settings for host in analysis.hosts] == [{"connector": "worker"}, {"connector": "worker"}]


def test_a_server_of_the_manifest_needs_no_transport_in_the_source() -> None:
    text = 'mcp GitHub { @describe("x") fn find() -> String; }'
    assert check(text)[1] == ["W0408 mcp `GitHub` does not say how to reach its server"]
    assert check(text, Files(mcp_servers=frozenset({"GitHub"})))[1] == []


def test_settings_become_json() -> None:
    analysis, problems = check(
        """
        const LIMIT: Int = 10;
        connect local {
            provider: ollama, base_url: "http://localhost", api_key: env("KEY"),
            headers: { "X-A": env("A"), "X-B": "b" }, models: { fast: "small" },
        }
        agent A { provider: local, base: "fast", max_iterations: LIMIT * 2, temperature: 0, }
        memory notes: Memory = Memory::new(LIMIT);
        """
    )
    assert problems == []
    assert analysis.connections[0].settings == {
        "provider": "ollama",
        "base_url": "http://localhost",
        "api_key": {"env": "KEY"},
        "headers": {"X-A": {"env": "A"}, "X-B": "b"},
        "models": {"fast": "small"},
    }
    assert analysis.agents[0].settings == {
        "provider": "local",
        "model": "fast",
        "max_iterations": 20,
        "temperature": 0,
    }
    assert analysis.states[0].settings == {"capacity": 10}
