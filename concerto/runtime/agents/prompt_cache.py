"""Prompt cache: servers keep the beginning of a conversation, as long as each request begins as the one
before.

Messages are only ever appended and tools keep their order, so this holds by itself. Where something has to
change what was sent (new tools, another model, a message taken back), the trace says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.runtime.agents.execution import Execution
from concerto.runtime.llm.requests import Request

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices


def note_broken_prefix(run: RunServices, work: Execution, request: Request) -> None:
    """Note in the trace what makes the server read everything again, if anything does."""
    before, work.asked = work.asked, request
    if before is None:
        return
    changed = {
        "model": request.model != before.model,
        "tools": request.tools != before.tools,
        "messages": request.messages[: len(before.messages)] != before.messages,
    }
    broken = [name for name, is_changed in changed.items() if is_changed]
    if broken:
        facts = {"agent": work.plan.agent, "iteration": work.iteration, "changed": broken}
        run.note("prefix_broken", lambda: facts, work.branch)
