"""Types as a program writes them inside of an expression: `named<Wrap<Int>>()`, `Wrap<Int>::pair()`."""

from __future__ import annotations

from concerto.semantics.declare.library import library
from concerto.semantics.model import builtins as bt
from concerto.semantics.model import symbols as sym
from concerto.syntax import ast
from tests.oracle.fitting import Types, bind, substitute
from tests.oracle.run import Frame, Run, generics_of
from tests.oracle.values import Unsupported


def written_types(run: Run, node: ast.Expr, function: sym.FunctionSymbol, frame: Frame) -> Types:
    """What is written between `<` and `>`, and the type whose function a path names."""
    types: Types = {}
    path = node.callee if isinstance(node, ast.Call) else node
    if isinstance(path, ast.MethodCall):
        given = path.type_arguments
    elif isinstance(path, ast.Path):
        given = path.segments[-1].arguments
        owner = next((found for part in path.segments[-2::-1] if (found := _named(run, part, frame))), None)
        itself = getattr(function.owner, "self_generic", None)
        if owner is not None and itself is not None:
            types[itself] = owner
        elif owner is not None and function.self_type is not None:
            bind(function.self_type, owner, generics_of(function), types)
    else:
        given = []
    for generic, one in zip(function.generics, given, strict=False):
        types[generic] = _type(run, one, frame)
    return types


def _named(run: Run, part: ast.PathSegment, frame: Frame) -> sym.Type | None:
    """The type that a part of a path names, with all its arguments; None for a module or a trait."""
    symbol = _find(run, part.name.text, frame)
    if isinstance(symbol, sym.GenericSymbol):
        return frame.types[symbol]
    count = symbol.arity if isinstance(symbol, sym.BuiltinSymbol) else len(getattr(symbol, "generics", ()))
    if symbol is None or isinstance(symbol, sym.TraitSymbol) or count != len(part.arguments):
        return None
    return _applied(run, symbol, part.arguments, frame)


def _type(run: Run, node: ast.TypeExpr, frame: Frame) -> sym.Type:
    match node:
        case ast.PathType():
            symbol = _find(run, node.segments[-1].text, frame)
            if isinstance(symbol, sym.GenericSymbol):
                return frame.types[symbol]
            return _applied(run, symbol, node.arguments, frame)
        case ast.TupleType():
            return sym.TupleOf(tuple(_type(run, item, frame) for item in node.items))
        case ast.FnType():
            result = bt.NIL if node.result is None else _type(run, node.result, frame)
            return sym.FunctionOf(tuple(_type(run, part, frame) for part in node.parameters), result)
        case _:
            raise Unsupported("a literal union between `<` and `>`")


def _applied(run: Run, symbol: object, written: list[ast.TypeExpr], frame: Frame) -> sym.Type:
    arguments = tuple(_type(run, part, frame) for part in written)
    match symbol:
        case sym.AliasSymbol():
            return substitute(symbol.type, dict(zip(symbol.generics, arguments, strict=True)))
        case sym.BuiltinSymbol() if not arguments:
            return bt.PLAIN_TYPES.get(symbol) or sym.Named(symbol)
        case sym.BuiltinSymbol() | sym.StructSymbol() | sym.EnumSymbol():
            return sym.Named(symbol, arguments)
        case sym.TraitSymbol():
            return bt.ANY  # Values of it are what they are.
        case _:
            raise Unsupported("a written type of an unknown name")


def _find(run: Run, name: str, frame: Frame) -> object:
    """The meaning of a name, if it has but one in the program."""
    for generic in reversed(frame.types):
        if generic.name == name:
            return generic
    analysis = run.analysis
    declared = [each for each in (*analysis.structs, *analysis.enums, *analysis.traits) if each.name == name]
    declared += [
        member
        for module in analysis.modules
        if isinstance(member := module.members.get(name), sym.AliasSymbol)
    ]
    if len(declared) > 1:
        raise Unsupported(f"several types named `{name}`")
    return declared[0] if declared else library().prelude.members.get(name)
