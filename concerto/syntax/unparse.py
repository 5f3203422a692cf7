"""Syntax trees to text, without a source: for messages, and to show that printing loses nothing."""

from __future__ import annotations

from concerto.records import replace
from concerto.syntax import ast
from concerto.syntax.layout import WIDTH, render
from concerto.syntax.printing import Printer


def unparse(
    node: ast.Module | ast.Item | ast.Stmt | ast.Expr | ast.Pattern | ast.TypeExpr, width: int = WIDTH
) -> str:
    """Text that parses to the same tree. Comments and the spelling of literals are not in the tree."""
    printer = Printer(None)
    return render(printer.run(printer.node(node)), width)


def signature(item: ast.Item) -> str:
    """`pub fn f(a: T) -> U;`: a declaration without documentation, decorators and bodies of functions."""
    return unparse(_bare(item))


def _bare(item: ast.Item) -> ast.Item:
    match item:
        case ast.FnDecl():
            return replace(item, docs=None, decorators=[], body=None)
        case ast.ToolDecl() | ast.TraitDecl() | ast.ImplDecl():
            methods = [replace(method, docs=None, decorators=[], body=None) for method in item.methods]
            return replace(item, docs=None, decorators=[], methods=methods)
        case ast.McpDecl():
            functions = [replace(function, docs=None, decorators=[]) for function in item.functions]
            return replace(item, docs=None, decorators=[], functions=functions)
        case ast.PipelineDecl():
            stages = [replace(stage, body=ast.Block(0, 0, [], None)) for stage in item.stages]
            return replace(item, docs=None, decorators=[], stages=stages)
        case _:
            return replace(item, docs=None, decorators=[])
