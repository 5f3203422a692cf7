"""Conversation history: what was said before an execution, in a session or a memory, and its shortening."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from concerto.effects.kinds import LoadSession, LoadStore, SaveSession
from concerto.json_data import Json
from concerto.natives.memory import ANSWERS, Memory
from concerto.records import field, record
from concerto.runtime.agents.messages import from_memory
from concerto.runtime.llm.requests import Message, Request
from concerto.runtime.llm.stored_messages import messages_from_json, messages_json

if TYPE_CHECKING:
    from concerto.natives.agentbuilder import AgentBuilder
    from concerto.runtime.agents.services import AgentServices
    from concerto.runtime.concurrency.fibers import Branch
    from concerto.runtime.run.services import RunServices

_CHARACTERS_A_TOKEN = 4
SUMMARY = "Summary of the conversation so far: "
_ASK = (
    "Summarize this conversation for whoever goes on with it. Keep facts, names, numbers, decisions, what "
    "the user wants and what is still open. Answer with the summary alone.\n\n"
)


@record
class History:
    """What was said. `origins` say where what is untrusted in it came from, `numbers` are those of its turns
    in a session."""

    messages: list[Message]
    origins: list[str] = field(default_factory=list)
    numbers: tuple[int, ...] = ()


async def load_session(run: AgentServices, builder: AgentBuilder, branch: Branch) -> History:
    """What was said in a session."""
    assert builder.session is not None
    found = History([])
    turns = await run.pass_gate(LoadSession(builder.agent, builder.session), branch)
    found.numbers = tuple([number for number, _ in turns])
    for _, text in turns:
        turn = json.loads(text)
        messages = messages_from_json(turn["messages"])
        found.messages += messages
        for origin in turn["origins"]:
            if origin not in found.origins:
                found.origins.append(origin)
        if run.trust is not None:
            run.trust.hear_kept([message.text for message in messages], turn["origins"])
    return found


async def load_memory(run: RunServices, memory: Memory, branch: Branch) -> History:
    """What a memory holds, read anew from its file if it has one."""
    if memory.path:
        memory.take(await run.pass_gate(LoadStore(memory.path), branch))
    origins = [*memory.origins]
    if memory.path and run.trust is not None:
        origins = await run.pass_gate(LoadStore(memory.path, origins=True), branch)
        run.trust.keep(memory, origins)
        run.trust.hear_kept([text for _, text in memory.entries], origins)
    return History(from_memory(memory), origins)


async def remember(
    run: RunServices,
    memory: Memory,
    added: Sequence[tuple[str, str]],
    origins: Sequence[str],
    branch: Branch,
) -> None:
    """Add messages to a memory, and to its file if it has one."""
    while memory.path:
        if await run.pass_gate(memory.saving(added, origins), branch):
            break
        memory.take(await run.pass_gate(LoadStore(memory.path), branch))
    memory.origins = tuple(dict.fromkeys([*memory.origins, *origins]))
    for role, text in added:
        memory.append(role, text)


async def save_turn(
    run: AgentServices,
    builder: AgentBuilder,
    messages: Sequence[Message],
    origins: Sequence[str],
    branch: Branch,
    replaces: tuple[int, ...] | None = None,
) -> None:
    """Add what was said to a session, or put it in the place of turns; nothing is done where somebody else
    has replaced them meanwhile."""
    assert builder.session is not None
    turn = json.dumps({"messages": messages_json(messages), "origins": list(origins)}, ensure_ascii=False)
    await run.pass_gate(SaveSession(builder.agent, builder.session, turn, replaces), branch)


async def compacted(
    messages: Sequence[Message], settings: Json, summarize: Callable[[str], Awaitable[str]] | None
) -> list[Message] | None:
    """A history that is shorter, None if it is short enough. Pinned messages stay, as do the last ones; what
    leaves becomes a summary, if somebody can write one. Calls stay with their results, also where one of them
    is pinned, and with an answer stays its question, since no server takes it first."""
    if tokens_of(messages) < settings["at_tokens"]:
        return None
    cut = tail = max(len(messages) - settings.get("keep", 0), 0)
    staying: set[int] = set()
    for question, places in _together(messages):
        if places[-1] >= cut or any(messages[place].pinned for place in places):
            staying |= {question, *places}
        if places[-1] >= cut:
            tail = min(tail, places[0])
    leaving = [message for place, message in enumerate(messages) if place not in staying]
    if not leaving:
        return None
    kept = [message for place, message in enumerate(messages[:tail]) if place in staying]
    if summarize is not None:
        text = await summarize(summary_prompt(leaving))
        kept.append(Message("user", SUMMARY + text))
    return [*kept, *messages[tail:]]


def _together(messages: Sequence[Message]) -> list[tuple[int, list[int]]]:
    """The places of each message and of the results of its calls, with that of the question before them."""
    found: list[tuple[int, list[int]]] = []
    question = 0
    for place, message in enumerate(messages):
        if message.role == "tool" and found:
            found[-1][1].append(place)
            continue
        if message.role not in ANSWERS:
            question = place
        found.append((question, [place]))
    return found


def summary_prompt(messages: Sequence[Message]) -> str:
    return _ASK + "\n".join(map(_line, messages))


def tokens_of(messages: Sequence[Message]) -> int:
    """About so many tokens of a model."""
    characters = sum(
        len(each.text) + sum(len(call.name) + len(call.arguments) for call in each.calls) for each in messages
    )
    return characters // _CHARACTERS_A_TOKEN


def tokens_of_request(request: Request) -> int:
    """About so many tokens that a model reads: those of the messages, of the tools and of the schema."""
    told: list[Json] = [
        {"name": each.name, "description": each.description, "parameters": each.parameters}
        for each in request.tools
    ]
    if request.schema is not None:
        told.append(request.schema.schema)
    written = sum([len(json.dumps(each, ensure_ascii=False)) for each in told])
    return tokens_of(request.messages) + written // _CHARACTERS_A_TOKEN


def _line(message: Message) -> str:
    calls = "".join([f" [calls {call.name} {call.arguments}]" for call in message.calls])
    return f"{message.role}: {message.text}{calls}"
