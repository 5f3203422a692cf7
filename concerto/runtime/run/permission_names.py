"""Rules of permissions whose names are misspelt, and which therefore protect nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

from concerto.diagnostics.suggest import suggest
from concerto.escape import visible_line
from concerto.ir.module import Module
from concerto.runtime.tools.library import LIBRARY_TOOLS


def unknown_names(names: Iterable[str], module: Module, others: Iterable[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with those that name no tool or method of a program, nor one of the `others`, and what
    may have been meant."""
    methods = {tool.name: {method.name for method in tool.methods} for tool in module.tools}
    known = {*methods, *LIBRARY_TOOLS, *others, *(type_.name for type_ in module.types)}
    for section in module.mcp_servers, module.hosts, module.agents:
        known |= {each.name for each in section}
    for name in names:
        owner, _, method = name.replace(".", "::").partition("::")
        if owner not in known:
            yield f"there is no tool `{owner}` in this program", _near(owner, known)
        elif method and method not in methods.get(owner, {method}):
            yield f"the tool `{owner}` has no method `{method}`", _near(method, methods[owner])


def warn_of_misspelt(
    rules: Mapping[str, Any], module: Module, others: Iterable[str], errors: TextIO, where: str
) -> None:
    """Warn of rules that stand `where`. They may speak of tools that another program has, so only what is
    close to a name is said to be one."""
    for message, near in unknown_names(_ruled(rules), module, others):
        if near:
            errors.write(visible_line(f"warning: {where}: {message}{near}") + "\n")


def _ruled(rules: Mapping[str, Any]) -> Iterator[str]:
    """The tools and the methods that rules speak of."""
    for name, rule in rules.items():
        if isinstance(rule, Mapping):
            yield from [f"{name}::{method}" for method in rule]
        elif isinstance(rule, bool):
            yield name


def _near(name: str, known: Iterable[str]) -> str:
    near = suggest(name, known)
    return f"; did you mean `{near}`?" if near else ""
