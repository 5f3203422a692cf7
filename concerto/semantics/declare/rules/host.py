"""Hosts: external agent processes (E0411, E0412)."""

from __future__ import annotations

from typing import Final

from concerto.diagnostics import BadDeclarationField, UnknownReference, did_you_mean, suggest
from concerto.semantics.declare.rules.agent import reference_name
from concerto.semantics.declare.rules.decorators import check_decorators
from concerto.semantics.declare.rules.fields import is_misspelt, read_settings, report_value
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import HostSymbol
from concerto.syntax import ast
from concerto.vocabulary.fields import HOST, in_source

FIELDS: Final = in_source(HOST)


def check(declarations: Declarations, host: HostSymbol, node: ast.AgentDecl, scope: TypeScope) -> None:
    owner = f"host `{host.name}`"
    declarations.analysis.hosts.append(host)
    check_decorators(declarations, node.decorators, "host", scope)
    host.settings, references = read_settings(declarations, owner, node.settings, FIELDS, scope)
    setting = references.get("connector")
    if setting is None:
        if is_misspelt("host", "connector", node.settings, FIELDS):
            return
        message = f"{owner} has no `connector`"
        help_ = "name a `[hosts.…]` of `Concerto.toml`: `connector: worker,`"
        declarations.report(BadDeclarationField, scope.module, node.name, message, help=help_)
        return
    name = reference_name(setting.value)
    known = declarations.project.hosts
    if name is None:
        report_value(
            declarations, owner, "connector", setting.value, "the name of a host in `Concerto.toml`", scope
        )
    elif name in known:
        host.settings["connector"] = name
    else:
        near = suggest(name, known)
        help_ = did_you_mean(near, f"add `[hosts.{name}]` to `Concerto.toml`")
        message = f"{owner} has an unknown connector `{name}`"
        declarations.report(UnknownReference, scope.module, setting.value, message, help=help_)
