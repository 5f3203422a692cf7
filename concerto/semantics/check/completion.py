"""What may follow a dot or `::` in a program, for completion. Errors of the program do not matter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from concerto.diagnostics import Problems
from concerto.semantics.check.bodies import check_bodies
from concerto.semantics.declare.collect import declare_program, no_declarations
from concerto.semantics.declare.library import library
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.project import Project
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import (
    AgentSymbol,
    BuiltinSymbol,
    EnumSymbol,
    McpSymbol,
    ModuleSymbol,
    PipelineSymbol,
    StructSymbol,
    Symbol,
    ToolSymbol,
)
from concerto.semantics.typing.members import member_names
from concerto.semantics.typing.type_expressions import declared_type
from concerto.syntax import ast


def names_after_dot(root: ast.Module, project: Project, receiver: ast.Expr) -> list[str]:
    """The fields and methods of an expression in the program."""
    declarations = no_declarations(project, Problems(), library())
    declare_program(declarations, root)
    check_bodies(declarations)
    declared: Symbol | None = None
    if isinstance(receiver, ast.Path) and len(receiver.segments) == 1:
        declared = declarations.lookup(receiver.segments[0].name.text, _scope(declarations))
    type_ = declarations.analysis.types.get(receiver)
    return [*_declared_by(declared), *(member_names(declarations, type_) if type_ is not None else ())]


def names_in_path(root: ast.Module, project: Project, path: Sequence[str]) -> list[str]:
    """What `path::` may go on with."""
    declarations = no_declarations(project, Problems(), library())
    declare_program(declarations, root)
    if list(path) == ["std"]:
        return declarations.library_names()
    found = _found(declarations, _scope(declarations), path)
    match found:
        case ModuleSymbol():
            return list(declarations.modules.exported_names(found))
        case EnumSymbol():
            variants = list(found.by_name)
            return [*variants, *member_names(declarations, declared_type(found))]
        case StructSymbol() | BuiltinSymbol():
            return member_names(declarations, declared_type(found))
        case _:
            return list(_declared_by(found))


def _scope(declarations: Declarations) -> TypeScope:
    return declarations.module_scope(declarations.root)


def _found(declarations: Declarations, scope: TypeScope, path: Sequence[str]) -> Symbol | None:
    if path[0] == "std":
        found: Symbol | None = declarations.library_module(path[1])
        path = path[1:]
    else:
        found = declarations.lookup(path[0], scope)
    for name in path[1:]:
        if not isinstance(found, ModuleSymbol):
            return None
        found = declarations.modules.member(found, name) or declarations.modules.submodule(found, name)
    return found


def _declared_by(symbol: Symbol | None) -> Iterable[str]:
    match symbol:
        case ToolSymbol() | McpSymbol() | AgentSymbol():
            return symbol.methods
        case PipelineSymbol():
            return ["run"]
        case _:
            return []
