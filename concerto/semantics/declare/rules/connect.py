"""Connections written in the source: `connect name { … }` (E0412)."""

from __future__ import annotations

from typing import Final

from concerto.semantics.declare.rules.decorators import check_decorators
from concerto.semantics.declare.rules.fields import read_settings, report_value
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ConnectionSymbol
from concerto.syntax import ast
from concerto.vocabulary.fields import CONNECTION, in_source
from concerto.vocabulary.providers import PROVIDER_KINDS

FIELDS: Final = in_source(CONNECTION)


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
            expects = CONNECTION["provider"].expects
            report_value(declarations, owner, "provider", setting.value, expects, scope)
