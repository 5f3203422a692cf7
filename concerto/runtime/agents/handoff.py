"""Handoffs: an agent gives its conversation over to another one, which goes on with it in the same execution.

What was said stays, but for the system prompt; so do the labels of trust, the budgets and all that tools
share. Model, tools, guard and `on_tool_error` are those of the agent in charge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.effects.error_kinds import ToolKind
from concerto.runtime.agents.execution import Execution
from concerto.runtime.agents.fallback import without_echo
from concerto.runtime.io.channels import Channel
from concerto.runtime.llm.requests import Message
from concerto.runtime.run.agent_failures import tool_failure
from concerto.runtime.tools.toolbox import BoundTool
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices


def ask_for_handoff(work: Execution, tool: BoundTool) -> str:
    """Have the conversation given over after this reply; the text is the result of the call."""
    if work.handoff and work.handoff != tool.handoff:
        message = f"the conversation goes to `{work.handoff}` already"
        raise tool_failure(message, ToolKind.FORBIDDEN, tool.tool, tool.method)
    work.handoff = tool.handoff
    return f"The conversation is now with {tool.handoff}."


async def hand_over(run: RunServices, work: Execution) -> None:
    """Put the agent in charge that the last reply asked for."""
    before, name, work.handoff = work.plan, work.handoff, ""
    assert before.hand_over is not None, "only an agent with handoffs is offered one"
    after = await before.hand_over(before, name)
    if after.connection.name != before.connection.name:
        work.messages[:] = [without_echo(message) for message in work.messages]
    _replace_prompt(work, before.system_prompt, after.system_prompt)
    work.follow(after)
    work.programs = work.search = None
    work.demanding, work.demanded_again = True, False
    if work.trust is not None:
        work.trust.hand_over(name, after.system_prompt)
    told: dict[str, Value] = {"agent": before.agent, "next": name}
    run.emit_event(Channel.AGENT_HANDOFF, lambda: told)
    run.note("handoff", lambda: told, work.branch)


def _replace_prompt(work: Execution, before: str, after: str) -> None:
    """Have the system prompt of the agent in charge before all messages."""
    prompt = [Message("system", after)] if after else []
    work.messages[: bool(before)] = prompt
    work.begun_with += bool(after) - bool(before)
