"""Which constructs the random programs put where: pairs of an AST class and the field that holds it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random
from typing import get_args

from concerto.diagnostics import Problems
from concerto.records import field_types
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse
from concerto.syntax.walk import walk
from tests.properties.generating import make_program

Pair = tuple[str, str]

# What reaches beyond the program, and what stands where the parser gave up.
_OUTSIDE = {
    "Listen",
    "ListenArm",
    "Mock",
    "McpDecl",
    "AgentDecl",
    "ConnectDecl",
    "ErrorExpr",
}

# The types that constructs give and places take; those that are not here go with any.
_GIVES = {
    "IntLit": "Int", "FloatLit": "Float", "StringLit": "String", "BoolLit": "Bool", "NilLit": "Nil",
    "Interpolation": "String", "Formatted": "String", "RangeExpr": "Range", "Assign": "Nil", "While": "Nil",
    "For": "Nil", "ArrayLit": "Array", "TupleLit": "Tuple", "MapLit": "Map", "StructLit": "Struct",
    "Closure": "Function",
    "ParallelFor": "Array", "AwaitAll": "Tuple", "Unary": "Int Float Bool",
    "Spawn": "Task",
}  # fmt: skip
_TAKES = {
    "Unary.operand": "Int Float Bool", "RangeExpr.low": "Int", "RangeExpr.high": "Int",
    "Binary.left": "Int Float String Bool Nil Range Array Tuple Map Struct",
    "Binary.right": "Int Float String Bool Nil Range Array Tuple Map Struct Function Task",
    "Cast.operand": "Int Float", "Call.callee": "Function", "Index.index": "Int Range String Bool",
    "Index.receiver": "Array Map String Tuple", "FieldAccess.receiver": "Struct Tuple",
    "MethodCall.receiver": "Int Float String Bool Nil Range Array Tuple Map Struct Function",
    "Try.operand": "", "MatchArm.guard": "Bool", "Throw.value": "String", "ParallelFor.limit": "Int",
    "StructLit.base": "Struct", "For.iterable": "Array Map Range String",
    "ParallelFor.iterable": "Array Map Range String",
    "Formatted.value": "Int Float String",
    "Interpolation.parts": "Int Float String Bool Range Array Tuple Map Struct Function",
}  # fmt: skip
# Places that the grammar or the compiler keeps to some classes.
_ONLY = {
    "Assign.target": "Path FieldAccess Index", "Pipe.target": "Path Call MethodCall Try Await",
    "MapEntry.key": "StringLit IntLit BoolLit", "If.otherwise": "Block If",
    "LiteralPattern.value": "IntLit FloatLit StringLit BoolLit NilLit Unary",
    "RangePattern.low": "IntLit FloatLit Unary", "RangePattern.high": "IntLit FloatLit Unary",
    "UnionType.literals": "StringLit IntLit BoolLit NilLit Unary",
    "StateDecl.value": "Call MethodCall", "StateDecl.type": "PathType",
    "StructLit.path": "Path", "If.then": "Block", "While.body": "Block", "Loop.body": "Block",
    "For.body": "Block", "ParallelFor.body": "Block", "TryCatch.body": "Block", "Catch.body": "Block",
    "FnDecl.body": "Block",
    "StructPattern.path": "Path", "VariantPattern.path": "Path", "Setting.value": "StringLit",
    "ConstDecl.value": "IntLit FloatLit StringLit BoolLit Unary Binary ArrayLit TupleLit",
    "Parameter.default": "IntLit FloatLit StringLit BoolLit Unary Binary",
    "FieldDecl.default": "IntLit FloatLit StringLit BoolLit Unary Binary",
}  # fmt: skip
_ONLY = {place: classes for place, classes in _ONLY.items() if classes}

# Places of patterns that must match every value of their type.
_COMPLETE = {"WildcardPattern", "BindPattern", "TuplePattern", "StructPattern", "OrPattern"}
_WHOLE = {
    "Let.pattern": _COMPLETE, "For.pattern": _COMPLETE, "ParallelFor.pattern": _COMPLETE,
    "Parameter.pattern": _COMPLETE, "Catch.pattern": _COMPLETE - {"TuplePattern"},
}  # fmt: skip

# What may not leave what runs beside others, nor a closure that says nothing of its result.
_CLOSED = {
    "AwaitAll.items": {"Break", "Continue", "Return"},
    "Closure.body": {"Break", "Continue", "Return", "Throw", "Try"},
    "Spawn.operand": {"Break", "Continue", "Return", "Throw", "Try"},
}
# Where a task stands on its way to being waited for.
_AWAITED = {
    "Await.operand", "Argument.value", "Block.result", "TupleLit.items", "ArrayLit.items", "Match.subject",
    "Let.value", "Break.value", "Return.value", "Binary.right",
}  # fmt: skip
_CHAINS = {"Binary.left", "Binary.right"}
_NO_FUNCTIONS = {"Cast.type", "ConstDecl.type", "ImplDecl.target"}
_OF_UNIONS = {"TypeAliasDecl.type", "Let.type"}

# Kinds of places for the fast test.
GROUPS = {
    "operand": ("Unary.operand", "Binary.left", "Binary.right", "Interpolation.parts",
        "RangeExpr.low", "Cast.operand"),
    "receiver": ("MethodCall.receiver", "FieldAccess.receiver", "Index.receiver", "Call.callee"),
    "argument": ("Argument.value", "Index.index", "Pipe.value"),
    "item": ("ArrayLit.items", "TupleLit.items", "MapEntry.value", "FieldInit.value", "StructLit.base",
        "AwaitAll.items"),
    "subject": ("Match.subject", "If.condition", "While.condition", "For.iterable",
        "ParallelFor.iterable", "MatchArm.guard"),
    "body": ("Block.result", "MatchArm.body", "Closure.body"),
    "statement": ("ExprStmt.expr", "Let.value", "Assign.value"),
    "leaving": ("Return.value", "Break.value", "Throw.value"),
    "waiting": ("Try.operand", "Await.operand", "Spawn.operand"),
}  # fmt: skip

EXPRESSIONS = [cls.__name__ for cls in get_args(ast.Expr)]
PATTERNS = [cls.__name__ for cls in get_args(ast.Pattern)]
TYPES = [cls.__name__ for cls in get_args(ast.TypeExpr)]


def count_pairs(seeds: Iterable[object], size: float | None = None) -> Counter[Pair]:
    """How often each construct stands in each place, over programs of some seeds, of one size if given."""
    found: Counter[Pair] = Counter()
    for seed in seeds:
        for name, text in make_program(Random(str(seed)), size).items():
            for node in walk(parse(Source(name, text), Problems())):
                owner = node.__class__.__name__
                for field in field_types(node.__class__):
                    value = getattr(node, field)
                    for item in value if isinstance(value, list) else (value,):
                        if isinstance(item, ast.Node):
                            found[item.__class__.__name__, f"{owner}.{field}"] += 1
    return found


def places_of(family: str) -> list[str]:
    """The fields of AST classes that hold a construct of a family: `Expr`, `Pattern` or `TypeExpr`."""
    found = []
    for cls in vars(ast).values():
        if isinstance(cls, type) and issubclass(cls, ast.Node) and cls.__name__ not in _OUTSIDE:
            holding = re.compile(rf"\b{family}\b")
            found += [
                f"{cls.__name__}.{field}"
                for field, type_ in field_types(cls).items()
                if holding.search(type_)
            ]
    return found


def all_pairs() -> list[Pair]:
    families = (("Expr", EXPRESSIONS), ("Pattern", PATTERNS), ("TypeExpr", TYPES))
    return [
        (construct, place)
        for family, constructs in families
        for place in places_of(family)
        for construct in constructs
    ]


def why_never(construct: str, place: str) -> str:
    """Why no random program has a construct in a place; empty if some should."""
    if place in _WHOLE and construct not in _WHOLE[place]:
        return "the pattern must match every value"
    if construct in _OUTSIDE or place.split(".")[0] in _OUTSIDE:
        return "reaches beyond the program"
    if construct in _CLOSED.get(place, ()):
        return "nothing leaves a task, a branch, or a closure whose result is not written"
    if place == "Race.items":
        return "who comes second in a race is seen by nobody, so its items do nothing"
    if construct == "Spawn" and place not in _AWAITED:
        return "a task that nobody waits for at once may run whenever it likes"
    if construct == "Formatted" and place != "Interpolation.parts":
        return "a format stands only in an interpolation"
    if construct == "LetCondition" and place not in _CHAINS:
        return "it stands only in the conditions of `if` and `while`"
    if construct == "FnType" and place in _NO_FUNCTIONS:
        return "functions are no constants, have no traits of their own and are not told apart while they run"
    if construct == "UnionType" and place not in _OF_UNIONS:
        return "a literal union is written through its alias"
    if place == "Catch.pattern" and construct in ("StructPattern", "OrPattern"):
        return "the errors that are caught are the library's"
    if place in _ONLY and construct not in _ONLY[place].split():
        return "the grammar or a rule for constants keeps the place to others"
    given, taken = _GIVES.get(construct), _TAKES.get(place)
    if given is not None and taken is not None and not set(given.split()) & set(taken.split()):
        gives, takes = " or ".join(given.split()), " or ".join(taken.split()) or "none such"
        return f"its type is {gives}, the place takes {takes}"
    return ""


def report(counted: Mapping[Pair, int], enough: int) -> list[str]:
    """Pairs that occur too rarely, then those that never do with the reason."""
    pairs = all_pairs()
    rare = sorted(
        (counted.get(pair, 0), pair)
        for pair in pairs
        if counted.get(pair, 0) < enough and not why_never(*pair)
    )
    never = [pair for pair in pairs if why_never(*pair) and not counted.get(pair)]
    lines = [
        f"{len(pairs) - len(rare) - len(never)} pairs of construct and place occur {enough} times or more"
    ]
    lines += [f"{count:6} {construct} in {place}" for count, (construct, place) in rare]
    lines += [f" never {construct} in {place}: {why_never(construct, place)}" for construct, place in never]
    return lines
