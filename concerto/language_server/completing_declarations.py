"""Completion outside of bodies: fields of declarations and their values, decorators, `use`, declarations."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

from lsprotocol.types import CompletionItemKind

from concerto.language_server.programs import EditedProgram
from concerto.language_server.suggestion import Suggestion, suggest_symbol
from concerto.language_server.trial import Trial
from concerto.semantics.declare.rules import agent, connect, host, mcp, tool
from concerto.semantics.declare.rules.fields import Field
from concerto.semantics.model.analysis import EmitCall
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.hole import HOLE
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import (
    McpSymbol,
    ModuleSymbol,
    StateSymbol,
    Symbol,
    ToolSymbol,
)
from concerto.syntax import ast
from concerto.vocabulary.decorators import DECORATORS, PARAM_ON_PARAMETER
from concerto.vocabulary.providers import PROVIDER_KINDS

_ITEMS: Final = (
    "fn", "async fn", "struct", "enum", "trait", "impl", "schema", "type", "const", "use", "mod", "pub",
    "tool", "agent", "mcp", "host", "connect", "pipeline", "hashmap", "ledger", "memory",
)  # fmt: skip
_TABLES: Final[Mapping[str, Mapping[str, Field]]] = {
    "agent": agent.FIELDS,
    "model": agent.FIELDS,
    "host": host.FIELDS,
    "mcp": mcp.FIELDS,
    "connect": connect.FIELDS,
    "tool": tool.FIELDS,
}
_MEMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "tool": ("fn", "pub", "async fn"),
    "mcp": ("fn",),
    "impl": ("fn", "pub", "async fn", "const"),
    "trait": ("fn",),
    "pipeline": ("stage",),
}
_HEAD: Final = re.compile(rf"\b({'|'.join({**_TABLES, **_MEMBERS})})\b[^{{}};]*$")


def complete_in_declaration(
    program: EditedProgram, declarations: Declarations, trial: Trial
) -> list[Suggestion] | None:
    """None if the place is in a body, a type or another expression. The declarations are those of the text as
    it is now."""
    found = _complete(program, declarations, trial)
    return None if found is None else list(found)


def _complete(
    program: EditedProgram, declarations: Declarations, trial: Trial
) -> Iterable[Suggestion] | None:
    scope = declarations.module_scope(_module_at(declarations, trial))
    path = trial.path
    for depth in range(len(path) - 1, -1, -1):
        node, inner = path[depth], path[depth + 1 :]
        match node:
            case ast.Block() if any(isinstance(each, ast.Setting) for each in path):
                pass
            case ast.Block() | ast.StageDecl():
                return None if _is_named(trial) else _channels(program, path)
            case ast.Decorator():
                return _decorator(node, inner)
            case ast.UseTree():
                return _use(declarations, node)
            case ast.Setting() if depth:
                return _setting(program, declarations, scope, path[depth - 1], node, inner)
            case ast.FieldDecl(name=name) if isinstance(path[depth - 1], ast.ToolDecl) and name in inner:
                return _inside("tool")
            case ast.ErrorItem() | ast.Module():
                return _outside(trial)
            case ast.FnDecl() | ast.StructDecl() | ast.ImplDecl() | ast.EnumDecl() | ast.SchemaDecl():
                return None
            case ast.ConstDecl() | ast.TypeAliasDecl() | ast.StateDecl() | ast.TraitDecl():
                return None
            case _:
                pass
    return _outside(trial)


def _is_named(trial: Trial) -> bool:
    return isinstance(trial.path[-1], ast.Ident)


def _module_at(declarations: Declarations, trial: Trial) -> ModuleSymbol:
    for module in declarations.analysis.modules:
        if module.source is not None and module.source.path == trial.source.path:
            return module
    return declarations.root


def _words(words: Iterable[str], kind: CompletionItemKind, behind: str = "") -> Iterator[Suggestion]:
    return (Suggestion(word, kind, text=f"{word}{behind}") for word in words)


def _outside(trial: Trial) -> Iterator[Suggestion]:
    """Where a declaration may begin; or what may stand in one that cannot be read as it is."""
    word = _word_around(trial.source.text, trial.start)
    return _words(_ITEMS, CompletionItemKind.Keyword, " ") if word is None else _inside(word)


def _inside(word: str, given: Container[str] = ()) -> Iterator[Suggestion]:
    """Fields that a declaration does not have yet, and the words that its members begin with."""
    fields = (name for name in _TABLES.get(word, ()) if name not in given)
    yield from _words(fields, CompletionItemKind.Property, ": ")
    yield from _words(_MEMBERS.get(word, ()), CompletionItemKind.Keyword, " ")


def _word_around(text: str, offset: int) -> str | None:
    """The word of the declaration whose brace is open at a place."""
    depth = 0
    for place in range(offset - 1, max(offset - 20_000, -1), -1):
        if text[place] in "}])":
            depth += 1
        elif text[place] in "{[(":
            depth -= 1
            if depth < 0:
                head = _HEAD.search(text, text.rfind("\n", 0, place) + 1, place)
                return head.group(1) if head and text[place] == "{" else None
    return None


# --- Settings -------------------------------------------------------------------------------------


def _setting(
    program: EditedProgram,
    declarations: Declarations,
    scope: TypeScope,
    owner: ast.Node,
    node: ast.Setting,
    inner: list[ast.Node],
) -> Iterable[Suggestion] | None:
    word = {ast.ToolDecl: "tool", ast.McpDecl: "mcp", ast.ConnectDecl: "connect"}.get(type(owner))
    if isinstance(owner, ast.AgentDecl):
        word = owner.keyword
    if word is None:
        return None
    table = _TABLES[word]
    if node.name in inner:
        given = {setting.name.text for setting in owner.settings}  # type: ignore[attr-defined]
        return _inside(word, given)
    return _value(program, declarations, scope, word, node, inner, table.get(node.name.text))


def _value(
    program: EditedProgram,
    declarations: Declarations,
    scope: TypeScope,
    owner: str,
    node: ast.Setting,
    inner: list[ast.Node],
    field: Field | None,
) -> Iterable[Suggestion] | None:
    project = program.project
    quoted = isinstance(inner[-1], ast.StringLit) if inner else False
    match node.name.text:
        case "provider" if owner == "connect":
            return _words(PROVIDER_KINDS, CompletionItemKind.EnumMember)
        case "provider":
            return _words(sorted(agent.connections(declarations)), CompletionItemKind.Value)
        case "connector":
            return _words(sorted(project.hosts), CompletionItemKind.Value)
        case "tools" | "allowed_tools" | "tool_choice" if not quoted:
            return tools_in_sight(declarations, scope, inner)
        case "tool_choice":
            return _words(("auto", "required", "none"), CompletionItemKind.EnumMember)
        case "memory":
            memories = [symbol for _, symbol in declarations.visible_names(scope) if _is_memory(symbol)]
            return map(suggest_symbol, memories)
        case "model" | "base" | "default_model":
            return _words(_in_quotes(_models(program), quoted), CompletionItemKind.Value)
        case _ if field is not None and field.parts is not None:
            return _words(field.parts, CompletionItemKind.Property, ": ")
        case _ if field is not None and field.choices:
            return _words(_in_quotes(field.choices, quoted), CompletionItemKind.EnumMember)
        case _:
            return None


def _in_quotes(texts: Iterable[str], quoted: bool) -> Iterator[str]:
    """Texts as they are written, where the quotes may stand already."""
    return (each if quoted else f'"{each}"' for each in texts)


def _is_memory(symbol: Symbol) -> bool:
    return isinstance(symbol, StateSymbol) and symbol.keyword == "memory"


def _models(program: EditedProgram) -> list[str]:
    manifest = program.project.manifest
    connections = manifest.connections.values() if manifest is not None else ()
    names = [
        name for each in connections for name in (*each.get("models", {}), each.get("default_model")) if name
    ]
    return list(dict.fromkeys(names))


def tools_in_sight(
    declarations: Declarations, scope: TypeScope, inner: list[ast.Node]
) -> Iterator[Suggestion]:
    """Tools, servers, and behind `::` their methods."""
    path = next((node for node in inner if isinstance(node, ast.Path)), None)
    if path is not None and len(path.segments) > 1:
        owner = declarations.lookup(path.segments[0].name.text, scope)
        if isinstance(owner, ToolSymbol | McpSymbol):
            methods = [each for each in owner.methods.values() if each.public or isinstance(owner, McpSymbol)]
            yield from map(suggest_symbol, methods)
        elif isinstance(owner, ModuleSymbol):
            for name in declarations.modules.exported_names(owner):
                symbol = declarations.modules.member(owner, name)
                if isinstance(symbol, ToolSymbol | McpSymbol):
                    yield suggest_symbol(symbol, name)
        return
    for name, symbol in declarations.visible_names(scope):
        if isinstance(symbol, ToolSymbol | McpSymbol | ModuleSymbol):
            yield suggest_symbol(symbol, name, rank=2 if isinstance(symbol, ModuleSymbol) else 1)
    project = declarations.project
    yield from _words(sorted(project.mcp_servers | project.python_tools), CompletionItemKind.Class)


# --- Decorators, imports, channels ------------------------------------------------------------------


def _decorator(node: ast.Decorator, inner: list[ast.Node]) -> Iterator[Suggestion]:
    if node.name in inner:
        return _words(DECORATORS, CompletionItemKind.Function)
    rule = DECORATORS.get(node.name.text, PARAM_ON_PARAMETER)
    argument = next((each for each in inner if isinstance(each, ast.Argument)), None)
    if argument is not None and argument.name is not None:
        known = next((each for each in rule.arguments if each.name == argument.name.text), None)
        quote = "" if isinstance(inner[-1], ast.StringLit) else '"'
        choices = known.choices if known is not None else ()
        return _words((f"{quote}{each}{quote}" for each in choices), CompletionItemKind.EnumMember)
    given = {each.name.text for each in node.arguments if each.name is not None}
    names = [each.name for each in rule.arguments if each.name not in given]
    return _words(names, CompletionItemKind.Property, ": ")


def _use(declarations: Declarations, node: ast.UseTree) -> Iterator[Suggestion]:
    names = [each.text for each in node.path]
    if HOLE not in names:
        return
    before = names[: names.index(HOLE)]
    modules = declarations.modules
    if not before:
        yield Suggestion("std", CompletionItemKind.Module)
        yield from (
            suggest_symbol(each)
            for each in declarations.root.members.values()
            if isinstance(each, ModuleSymbol)
        )
        yield from _words(_file_modules(declarations, ()), CompletionItemKind.Module)
        return
    if before == ["std"]:
        yield from _words(declarations.library_names(), CompletionItemKind.Module)
        return
    library = before[0] == "std"
    found: Symbol | None = declarations.library_module(before[1]) if library else modules.load_file(before[0])
    found = found if library else found or declarations.root.members.get(before[0])
    for name in before[2 if library else 1 :]:
        if isinstance(found, ModuleSymbol):
            found = modules.member(found, name) or modules.submodule(found, name)
    if isinstance(found, ModuleSymbol):
        for name in modules.exported_names(found):
            symbol = modules.member(found, name)
            if symbol is not None:
                yield suggest_symbol(symbol, name)
        if not library:
            files = _file_modules(declarations, before)
            yield from _words(
                (each for each in files if each not in found.members), CompletionItemKind.Module
            )


def _file_modules(declarations: Declarations, above: Sequence[str]) -> list[str]:
    """The files and folders of modules beside the program's first one, or below another."""
    folders = [root.joinpath(*above) for root in getattr(declarations.project, "roots", ())]
    first = declarations.root.source
    names = {path.stem for folder in folders for path in folder.glob("*.conc")} - {"mod"}
    names |= {path.parent.name for folder in folders for path in folder.glob("*/*.conc")}
    return [name for name in sorted(names) if first is None or f"{name}.conc" not in first.path]


def _channels(program: EditedProgram, path: list[ast.Node]) -> Iterator[Suggestion] | None:
    """The names of channels that the program uses, in the first argument of `emit` or after `mock`."""
    around = path[-3:-1]
    for node in around:
        match node:
            case ast.Call(callee=ast.Path(name="emit")) | ast.Mock():
                return _words(sorted(set(_used_channels(program))), CompletionItemKind.Value)
            case _:
                pass
    return iter(())


def _used_channels(program: EditedProgram) -> Iterator[str]:
    program.check_all()
    for call in program.checked.analysis.calls.values():
        if isinstance(call, EmitCall) and isinstance(call.channel, ast.StringLit):
            yield call.channel.value
    for tool_symbol in program.checked.analysis.tools:
        for method in tool_symbol.methods.values():
            if method.decl is not None and method.decl.body is None:
                yield f"tool:{tool_symbol.name}"
