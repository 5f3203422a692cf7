"""Connections written in the source: `connect name { … }` (E0412)."""

from __future__ import annotations

from concerto.manifest.providers import PROVIDER_KINDS
from concerto.semantics.declare.rules.decorators import check_decorators
from concerto.semantics.declare.rules.fields import (
    COUNT,
    ENV_MAP,
    NUMBER,
    REFERENCE,
    RETRY_POLICY,
    SECRET,
    TEXT,
    TEXT_MAP,
    map_with,
    one_of,
    read_settings,
    report_value,
)
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ConnectionSymbol
from concerto.syntax import ast

FIELDS = {
    "provider": REFERENCE,
    "api_key": SECRET,
    "api_key_env": TEXT,
    "base_url": TEXT,
    "default_model": TEXT,
    "timeout": NUMBER,
    "organization": TEXT,
    "project": TEXT,
    "headers": ENV_MAP,
    "models": TEXT_MAP,
    "retry": RETRY_POLICY,
    "rate_limit": map_with(requests_per_minute=COUNT, tokens_per_minute=COUNT, concurrent_requests=COUNT),
}


def check(
    declarations: Declarations, connection: ConnectionSymbol, node: ast.ConnectDecl, scope: TypeScope
) -> None:
    owner = f"connection `{connection.name}`"
    declarations.analysis.connections.append(connection)
    check_decorators(declarations, node.decorators, "declaration", scope)
    connection.settings, references = read_settings(declarations, owner, node.settings, FIELDS, scope)
    setting = references.get("provider")
    if setting is None:
        return
    match setting.value:
        case ast.Path(name=name) | ast.StringLit(value=name) if name in PROVIDER_KINDS:
            connection.settings["provider"] = name
        case _:
            expects = one_of(*PROVIDER_KINDS).expects
            report_value(declarations, owner, "provider", setting.value, expects, scope)
