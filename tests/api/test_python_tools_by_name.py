"""Python's tools and their methods, named in declarations and by builders."""

from __future__ import annotations

import pytest

from concerto import RunResult, Runtime, compile_source, tool


@tool
class Desk:
    """People at a desk."""

    def ask(self, what: str) -> str:
        """Ask them."""
        return what

    def tell(self, what: str) -> str:
        """Tell them."""
        return what


HEAD = 'agent Clerk { provider: mock, model: "m", TOOLS }\n'


def offered(tools: str, asked: str = "Clerk") -> tuple[int, RunResult]:
    """How many tools a model is shown."""
    source = f'{HEAD.replace("TOOLS", tools)}fn main() {{ {asked}.execute("hi").unwrap(); }}'
    runtime = Runtime(compile_source(source, tools=[Desk]))
    shown: list[int] = []
    runtime.on("agent:start", lambda payload: shown.append(payload["tools"]))
    result = runtime.run()
    return (shown or [0])[0], result


@pytest.mark.parametrize(
    ("tools", "asked", "count"),
    [
        ("tools: [Desk]", "Clerk", 2),
        ("tools: [Desk::ask]", "Clerk", 1),
        ("tools: [Desk::ask, Desk]", "Clerk", 2),
        ("tools: [Desk], tool_choice: Desk::tell", "Clerk", 2),
        ("tools: [Desk], allowed_tools: [Desk::tell]", "Clerk", 2),
        ("tools: []", "Clerk.with_tools([Desk])", 2),
        ("tools: []", "Clerk.with_tools([Desk::tell])", 1),
        ("tools: [Desk]", "Clerk.with_tools([Desk::tell])", 2),
        ("tools: [Desk]", "Clerk.with_allowed_tools([Desk::tell])", 2),
    ],
)
def test_what_is_named_is_offered(tools: str, asked: str, count: int) -> None:
    assert offered(tools, asked)[0] == count


@pytest.mark.parametrize(
    ("tools", "asked"),
    [
        ("tools: [Desk::aks]", "Clerk"),
        ("tools: []", "Clerk.with_tools([Desk::aks])"),
    ],
)
def test_a_method_that_is_not_there(tools: str, asked: str) -> None:
    error = offered(tools, asked)[1].error
    assert error is not None and "the tool `Desk` has no method `aks`; did you mean `ask`?" in error


def test_a_choice_that_is_not_there() -> None:
    error = offered("tools: [Desk]", "Clerk.with_tool_choice(Desk::aks)")[1].error
    assert error is not None and "`Clerk` has to call `Desk::aks`, which it is not offered" in error
