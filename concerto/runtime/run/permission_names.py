"""The names in rules of permissions: what they stand for in a program, and those that stand for nothing there
and therefore protect nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from concerto.diagnostics.suggestions import did_you_mean, suggest
from concerto.effects.permissions import WHOLE, Permissions
from concerto.escape import visible_line
from concerto.ir.module import ModuleIR
from concerto.records import replace
from concerto.runtime.tools.library import LIBRARY_TOOLS
from concerto.vocabulary.mcp_requests import MCP_REQUESTS


def in_program(permissions: Permissions, module: ModuleIR) -> Permissions:
    """The permissions with the names that tools, servers, hosts and agents have at run time: of one in a
    module its path, for which its plain name may stand if no other one has it."""
    names = _named(module)
    if not permissions.tools or not any("::" in name for name in names):
        return permissions
    named = replace(permissions, tools={})
    for owner, rule in permissions.tools.items():
        answers = {WHOLE: rule} if isinstance(rule, bool) else rule
        # What holds for all methods first, as it would undo what is said of one.
        for method, answer in sorted(answers.items(), key=lambda each: each[0] != WHOLE):
            tool, of = _meant(owner if method == WHOLE else f"{owner}::{method}", names)
            named = named.with_rules({tool: {of or WHOLE: answer}})
    return named


def unknown_names(names: Iterable[str], module: ModuleIR, others: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with those that name no tool or method of a program, nor one of the `others`, and what
    may have been meant."""
    named = _named(module)
    methods = _methods(module) | _methods_of_others(module)
    known = {*named, *LIBRARY_TOOLS, *others, *(type_.name for type_ in module.types)}
    for name in names:
        owner, method = _meant(name.replace(".", "::"), named)
        if owner not in known:
            alike = [each for each in named if each.rpartition("::")[2] == owner]
            alike += [each.name for each in module.hosts if each.settings.get("connector") == owner]
            near = f"; did you mean {' or '.join([f'`{each}`' for each in alike])}?" if alike else ""
            yield f"there is no tool `{owner}` in this program", near or _near(owner, known)
        elif method not in ("", WHOLE, *methods.get(owner, {method})):
            yield f"{_kind(owner, module)} `{owner}` has no method `{method}`", _near(method, methods[owner])


def warn_of_unknown(
    rules: Mapping[str, Any], module: ModuleIR, others: Iterable[str], errors: TextIO, where: str
) -> None:
    """Warn of rules that stand `where` and deny what is not there, and of those that allow what is close to a
    name: they may speak of tools that another program has."""
    others = set(others)
    for name, answer in _ruled(rules):
        for message, near in unknown_names([name], module, others):
            if near or not answer:
                errors.write(visible_line(f"warning: {where}: {message}{near}") + "\n")


def _named(module: ModuleIR) -> list[str]:
    sections = (module.tools, module.mcp_servers, module.hosts, module.agents)
    return [each.name for section in sections for each in section]


def _meant(name: str, names: Sequence[str]) -> tuple[str, str]:
    """The tool that a name stands for, and the method or an empty text."""
    owner, _, method = name.rpartition("::")
    for tool, of in ((name, ""), (owner, method)):
        if tool in names:
            return tool, of
        alike = [each for each in names if "::" in each and each.rpartition("::")[2] == tool]
        if len(alike) == 1:
            return alike[0], of
    return (owner, method) if owner else (name, "")


def _methods(module: ModuleIR) -> dict[str, set[str]]:
    return {tool.name: {method.name for method in tool.methods} for tool in module.tools}


def _kind(owner: str, module: ModuleIR) -> str:
    sections = (
        ("the MCP server", module.mcp_servers),
        ("the host", module.hosts),
        ("the agent", module.agents),
    )
    found = (kind for kind, section in sections if any(each.name == owner for each in section))
    return next(found, "the tool")


def _methods_of_others(module: ModuleIR) -> dict[str, set[str]]:
    """Those of hosts and agents, and of the servers whose functions the program declares."""
    servers = {
        server.name: {*(method.name for method in server.methods), *MCP_REQUESTS.values()}
        for server in module.mcp_servers
        if server.methods
    }
    return servers | {each.name: {"execute"} for section in (module.hosts, module.agents) for each in section}


def _ruled(rules: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """The tools and the methods that rules speak of, and whether these are allowed."""
    for name, rule in rules.items():
        if isinstance(rule, Mapping):
            yield from [(f"{name}::{method}", answer) for method, answer in rule.items()]
        elif isinstance(rule, bool):
            yield name, rule


def _near(name: str, known: Iterable[str]) -> str:
    near = suggest(name, known)
    return f"; {did_you_mean(near)}" if near else ""
