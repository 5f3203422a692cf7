"""Completion items: what is offered, before the protocol's form."""

from __future__ import annotations

from lsprotocol.types import CompletionItemKind

from concerto.language_server.hover import declaration_of
from concerto.records import record
from concerto.semantics.model.symbols import (
    AgentSymbol,
    AliasSymbol,
    BuiltinSymbol,
    ConnectionSymbol,
    ConstSymbol,
    EnumSymbol,
    FieldSymbol,
    FunctionSymbol,
    GenericSymbol,
    HostSymbol,
    LocalSymbol,
    McpSymbol,
    ModuleSymbol,
    ParameterSymbol,
    PipelineSymbol,
    StateSymbol,
    StructSymbol,
    Symbol,
    ToolSymbol,
    TraitSymbol,
    VariantSymbol,
)

_KINDS: dict[type, CompletionItemKind] = {
    AgentSymbol: CompletionItemKind.Class,
    AliasSymbol: CompletionItemKind.Class,
    BuiltinSymbol: CompletionItemKind.Class,
    ConnectionSymbol: CompletionItemKind.Value,
    ConstSymbol: CompletionItemKind.Constant,
    EnumSymbol: CompletionItemKind.Enum,
    FieldSymbol: CompletionItemKind.Field,
    FunctionSymbol: CompletionItemKind.Function,
    GenericSymbol: CompletionItemKind.TypeParameter,
    HostSymbol: CompletionItemKind.Class,
    LocalSymbol: CompletionItemKind.Variable,
    McpSymbol: CompletionItemKind.Class,
    ModuleSymbol: CompletionItemKind.Module,
    ParameterSymbol: CompletionItemKind.Variable,
    PipelineSymbol: CompletionItemKind.Class,
    StateSymbol: CompletionItemKind.Variable,
    StructSymbol: CompletionItemKind.Struct,
    ToolSymbol: CompletionItemKind.Class,
    TraitSymbol: CompletionItemKind.Interface,
    VariantSymbol: CompletionItemKind.EnumMember,
}


@record(eq=False)
class Suggestion:
    """`text` is put in, where it is not the label; a lower `rank` comes first."""

    label: str
    kind: CompletionItemKind
    detail: str = ""
    docs: str = ""
    text: str = ""
    rank: int = 1


def suggest_symbol(symbol: Symbol, label: str = "", rank: int = 1) -> Suggestion:
    kind = _KINDS[type(symbol)]
    if isinstance(symbol, FunctionSymbol) and symbol.receiver:
        kind = CompletionItemKind.Method
    detail = "" if isinstance(symbol, BuiltinSymbol) else declaration_of(symbol).split("\n")[0]
    return Suggestion(label or symbol.name, kind, detail, (symbol.docs or "").strip(), rank=rank)
