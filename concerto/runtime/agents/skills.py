"""Skills: folders with a `SKILL.md` that says how to do something. A model is told their names and what they
are for, and reads the rest when it needs it.

They are read through the gate like other files, at the beginning of each execution, so a replay has them too.
What they say is the author's, as a system prompt is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from concerto.effects.error_kinds import AgentKind, FsKind, ToolKind
from concerto.effects.kinds import ListFolder, ReadFile
from concerto.json_data import Json
from concerto.records import frozen
from concerto.runtime.llm.requests import ToolOffer
from concerto.runtime.run.agent_failures import agent_failure, tool_failure
from concerto.runtime.tools.toolbox import READ_SKILL, BoundTool, CallContext
from concerto.trust.defaults import TRUSTED
from concerto.vm.values import ErrorValue, Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.concurrency.fibers import Branch
    from concerto.runtime.run.services import RunServices

_FILE = "SKILL.md"
_INTRODUCTION = f"Skills that say how to do something; read one with `{READ_SKILL}` before such a task:"
_DESCRIPTION = "Read a skill, or a file that it speaks of"
_NOT_THERE = frozenset({FsKind.NOT_FOUND, FsKind.IO_ERROR})


@frozen
class Skill:
    """A folder and what its `SKILL.md` says of itself."""

    folder: str
    name: str
    description: str


async def find_skills(run: RunServices, agent: str, folders: Sequence[str], branch: Branch) -> list[Skill]:
    """The skills of an agent: each folder is one, or has some; an AgentError where one cannot be used."""
    found: dict[str, Skill] = {}
    for folder in folders:
        for skill in await _skills_in(run, agent, folder, branch):
            if skill.name in found:
                raise _unusable(agent, f"`{skill.folder}` and `{found[skill.name].folder}` have one name")
            found[skill.name] = skill
    return list(found.values())


def with_skills(system_prompt: str, skills: Sequence[Skill]) -> str:
    """The system prompt with the names of the skills and what they are for."""
    lines = [_INTRODUCTION, *(f"- {skill.name}: {skill.description}" for skill in skills)]
    return "\n\n".join(filter(None, [system_prompt, "\n".join(lines)]))


def skill_tool(run: RunServices, skills: Sequence[Skill]) -> BoundTool:
    """The tool that gives the text of a skill, or of a file in its folder."""
    folders = {skill.name: skill.folder for skill in skills}

    async def read(caller: CallContext, arguments: dict[str, Json]) -> Value:
        folder, file = folders[arguments["name"]], arguments.get("file") or _FILE
        inside = PurePosixPath(file)
        if inside.is_absolute() or ".." in inside.parts or "\\" in file:
            raise tool_failure(
                f"`{file}` is not in the folder of the skill", ToolKind.FORBIDDEN, READ_SKILL, ""
            )
        text: str = await run.pass_gate(ReadFile(f"{folder}/{inside}"), caller.branch)
        return _split(text)[1] if file == _FILE else text

    parameters: Json = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "enum": list(folders), "description": "Which skill"},
            "file": {"type": "string", "description": f"A file in its folder; without it, {_FILE}"},
        },
        "required": ["name"],
    }
    offer = ToolOffer(READ_SKILL, _DESCRIPTION, parameters)
    return BoundTool(offer, READ_SKILL, "", read, labels={"source": TRUSTED})


async def _skills_in(run: RunServices, agent: str, folder: str, branch: Branch) -> list[Skill]:
    folder = folder.rstrip("/")
    text = await _text(run, agent, f"{folder}/{_FILE}", branch)
    if text is not None:
        return [_skill(agent, folder, text)]
    try:
        names: list[str] = await run.pass_gate(ListFolder(folder), branch)
    except Raised as raised:
        raise _unusable(agent, _said(raised)) from None
    inside = [f"{folder}/{name}" for name in names if not name.startswith(".")]
    texts = {each: await _text(run, agent, f"{each}/{_FILE}", branch) for each in inside}
    skills = [_skill(agent, each, text) for each, text in texts.items() if text is not None]
    if not skills:
        raise _unusable(agent, f"`{folder}` has no `{_FILE}`, nor has a folder in it")
    return skills


async def _text(run: RunServices, agent: str, path: str, branch: Branch) -> str | None:
    """The text of a file, None if there is none."""
    try:
        text: str = await run.pass_gate(ReadFile(path), branch)
    except Raised as raised:
        if isinstance(raised.value, ErrorValue) and raised.value.kind in _NOT_THERE:
            return None
        raise _unusable(agent, _said(raised)) from None
    return text


def _skill(agent: str, folder: str, text: str) -> Skill:
    said = _split(text)[0]
    missing = [f"`{name}:`" for name in ("name", "description") if not said.get(name)]
    if missing:
        raise _unusable(agent, f"`{folder}/{_FILE}` does not begin with a block that has {missing[0]}")
    return Skill(folder, said["name"], said["description"])


def _split(text: str) -> tuple[dict[str, str], str]:
    """What a file says of itself in the block between its first lines of dashes, and the text after it."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != "---" or "---" not in [line.rstrip() for line in lines[1:]]:
        return {}, text
    end = [line.rstrip() for line in lines].index("---", 1)
    said: dict[str, list[str]] = {}
    name = ""
    for line in lines[1:end]:
        if line[:1].strip() and line[0] != "#":
            name, _, value = line.partition(":")
            said[name] = [] if value.strip() in ("", "|", ">", "|-", ">-") else [value.strip()]
        elif name:
            said[name].append(line.strip())
    values = {name: _unquoted(" ".join(filter(None, parts))) for name, parts in said.items()}
    return values, "\n".join(lines[end + 1 :]).strip()


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _unusable(agent: str, why: str) -> Raised:
    return agent_failure(f"a skill of `{agent}` cannot be used: {why}", AgentKind.BAD_TOOLS, agent=agent)


def _said(raised: Raised) -> str:
    error = raised.value
    return error.message if isinstance(error, ErrorValue) else str(error)
