"""Turns type expressions into types (E0202, E0302) and bounds into trait uses.

Bounds of type arguments (`Box<T: Ord>`, map keys) are only collected here (`Declarations.demand`): whether a
type satisfies a trait is known when all impls are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from concerto.diagnostics import Advice, DefinedTwice, UnknownType, WrongArguments, did_you_mean
from concerto.semantics.model.builtins import (
    BUILTIN_TYPES,
    HASH_MAP,
    ITERATOR,
    ITERATOR_TRAIT,
    MAP,
    NIL,
    OPERATOR_TRAITS,
    PARTIAL,
)
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import Demand, TypeScope
from concerto.semantics.model.symbols import (
    ERROR,
    AgentSymbol,
    AliasSymbol,
    AliasUse,
    BuiltinSymbol,
    EnumSymbol,
    ErrorType,
    FunctionOf,
    Generic,
    GenericSymbol,
    HostSymbol,
    Literals,
    LiteralValue,
    McpSymbol,
    Named,
    StateSymbol,
    StructSymbol,
    Symbol,
    ToolSymbol,
    TraitSymbol,
    TraitUse,
    TupleOf,
    Type,
    TypeSymbol,
)
from concerto.semantics.typing.unify import partial_of, with_parts
from concerto.syntax import ast

_FOREIGN = {
    **dict.fromkeys(("int", "integer", "Integer", "i8", "i16", "i32", "i64", "i128", "isize"), "Int"),
    **dict.fromkeys(("u8", "u16", "u32", "u64", "u128", "usize", "uint", "long", "short", "byte"), "Int"),
    **dict.fromkeys(("float", "double", "Double", "number", "f32", "f64"), "Float"),
    **dict.fromkeys(("str", "string", "Str", "char", "Char", "text"), "String"),
    **dict.fromkeys(("bool", "boolean", "Boolean"), "Bool"),
    **dict.fromkeys(("void", "Void", "unit", "Unit", "null", "None"), "Nil"),
    **dict.fromkeys(("any", "object", "Object", "dynamic"), "Any"),
    **dict.fromkeys(("Vec", "List", "list", "array"), "Array"),
    **dict.fromkeys(("Dict", "dict", "map"), "Map"),
    **dict.fromkeys(("Optional", "Maybe", "option"), "Option"),
    **dict.fromkeys(("tuple", "Tuple"), "(A, B)"),
    **dict.fromkeys(("Promise", "Future"), "Task"),
    **dict.fromkeys(("HashSet", "BTreeSet", "set", "frozenset"), "Set"),
    **dict.fromkeys(("VecDeque", "deque"), "Queue"),
    **dict.fromkeys(("BTreeMap", "OrderedDict", "defaultdict"), "Map"),
    "Hashmap": "HashMap",
    "Agent": "AgentRef",
    "Tool": "ToolRef",
    "ChatMessage": "Message",
}
"""What the types of other languages are called here."""

CONSTANTS: Final = {
    "Int::MAX": "the highest Int is `9223372036854775807`",
    "Int::MIN": "the lowest Int is `-9223372036854775808`",
    "Float::MAX": "the highest Float is `1.7976931348623157e308`",
    "Float::MIN": "the lowest Float is `-1.7976931348623157e308`",
    "Float::MIN_POSITIVE": "write `2.2250738585072014e-308`",
    "Float::EPSILON": "write `2.220446049250313e-16`",
    "Float::INFINITY": "write `1.0 / 0.0`",
    "Float::NEG_INFINITY": "write `-1.0 / 0.0`",
    "Float::NAN": "write `0.0 / 0.0`; `x.is_nan()` asks for it",
}
"""What is written instead of the constants that Rust's numbers have."""

_WIDTH = re.compile("([iu])(8|16|32|64)")

_BY_ITSELF = "leave it out: every value can be copied, compared and printed"
_NO_POINTERS = "leave it out and write the type inside: values are copied when needed, there are no pointers"
_ADVICE = {
    **{f"{name}Assign": f"`{name}` is enough" for name in ("Add", "Sub", "Mul", "Div", "Rem")},
    **dict.fromkeys(("Not", "Index"), "give the type a method, and call it"),
    **dict.fromkeys(("Clone", "Copy", "Debug", "Send", "Sync", "Sized"), _BY_ITSELF),
    "PartialEq": "`==` compares by content; what it is to do else, `impl Eq` says",
    "ToString": "another text is given by `impl Display`",
    "PartialOrd": "an order is given by `impl Ord`; `sort_by_key` and `sort_by` need none",
    "Ordering": "an order is an Int: below 0, 0 or above 0, as `a.compare(b)` gives it",
    "Default": "give the fields values where they are declared: `name: T = value`",
    "Into": "write `impl From<A> for B { … }`, and call `B::from(a)`",
    "FromStr": "write a function that gives a Result: `fn parse(text: String) -> Result<T, E>`",
    "Error": "any type can be the error of a Result",
    "Drop": "leave it out: what is opened is closed by itself",
    **dict.fromkeys(
        ("IntoIterator", "Iterable"), "write `impl Iterator<T> for Type`, or give the items as an array"
    ),
    **dict.fromkeys(
        ("Fn", "FnMut", "FnOnce", "Callable", "Function"), "the type of a function is `fn(T) -> U`"
    ),
    **dict.fromkeys(("Box", "Rc", "Arc", "Cell", "RefCell", "Mutex", "RwLock", "Cow", "Weak"), _NO_POINTERS),
    **dict.fromkeys(("Record", "TypedDict", "namedtuple"), "write a `struct`, or `Map<K, V>`"),
    "Literal": 'write the values: `"a" | "b"`',
    **dict.fromkeys(("JSON", "Json", "JsonValue"), "write `Any`, which holds what JSON has"),
    **dict.fromkeys(
        ("Date", "DateTime", "datetime", "date"), "a time is a `String`, as `time::now()` gives it"
    ),
    **dict.fromkeys(("bytes", "Bytes", "bytearray"), "bytes are base64 in a `String`"),
    "Union": "declare an `enum` with a variant for each type",
    **dict.fromkeys(
        ("Exception", "Throwable"), "any type can be the error of a Result; a text is a `String`"
    ),
}
"""What is written instead of traits and types that there are not."""


def advice_on_foreign(name: str) -> str:
    """What to write instead of a type or trait of another language; empty if nobody knows."""
    if name in _FOREIGN:
        instead = _FOREIGN[name]
        return Advice(f"the type is called `{instead}` here", instead if instead.isidentifier() else "")
    return _ADVICE.get(name, "")


def advice_on_constant(type_: str, name: str) -> str:
    """What to write instead of `i64::MAX`, `f64::NAN`; empty if nobody knows."""
    if name == "consts":
        return "write `use std::math;` at the top of the file, and `math::pi`"
    width = _WIDTH.fullmatch(type_)
    if width is not None and name in ("MAX", "MIN"):
        bits = int(width[2]) - (width[1] == "i")
        if bits < 63:
            return f"write `{2**bits - 1 if name == 'MAX' else -(2**bits) * (width[1] == 'i')}`"
    return CONSTANTS.get(f"{_FOREIGN.get(type_)}::{name}") or advice_on_foreign(type_)


def resolve_type(declarations: Declarations, node: ast.TypeExpr, scope: TypeScope) -> Type:
    """The type a type expression means; reports E0202 and, for wrong numbers of type arguments, E0302."""
    match node:
        case ast.PathType():
            return _resolve_path_type(declarations, node, scope)
        case ast.TupleType():
            return TupleOf(tuple([resolve_type(declarations, item, scope) for item in node.items]))
        case ast.FnType():
            parameters = tuple([resolve_type(declarations, item, scope) for item in node.parameters])
            result = NIL if node.result is None else resolve_type(declarations, node.result, scope)
            return FunctionOf(parameters, result)
        case ast.UnionType():
            return _literals(node)
        case _:
            assert_never(node)


def resolve_bound(
    declarations: Declarations, node: ast.PathType, scope: TypeScope, bounded: Type | None = None
) -> TraitUse | None:
    """`Ord`, `Convert<T>` after a colon, or the trait of an impl; `bounded` is the type that has it."""
    symbol = _symbol_behind(declarations, node, scope, want="trait")
    if symbol is None:
        return None
    if symbol is ITERATOR:
        symbol = ITERATOR_TRAIT
    if not isinstance(symbol, TraitSymbol):
        message = f"`{node.segments[-1].text}` is not a trait"
        declarations.report(
            UnknownType, scope.module, node, message, help=_ADVICE.get(symbol.name) or _what_it_is(symbol)
        )
        return None
    arguments = tuple([resolve_type(declarations, argument, scope) for argument in node.arguments])
    wanted = len(symbol.generics)
    if symbol in OPERATOR_TRAITS and bounded is not None and len(arguments) < wanted:
        return TraitUse(symbol, (*arguments, *[bounded] * (wanted - len(arguments))))
    if not _right_number(declarations, node, scope, symbol.name, wanted):
        return None
    return TraitUse(symbol, arguments)


def bind_generics(
    declarations: Declarations,
    scope: TypeScope,
    symbols: Sequence[GenericSymbol],
    nodes: Sequence[ast.GenericParam],
) -> TypeScope:
    """The scope inside a declaration with generic parameters, after filling in their bounds."""
    if not symbols:
        return scope
    generics = dict(scope.generics)
    for symbol, node in zip(symbols, nodes, strict=True):
        if symbol.name in generics:
            declarations.report(
                DefinedTwice,
                scope.module,
                node.name,
                f"type parameter `{symbol.name}` is defined twice",
                help="give one of the two another name",
            )
        generics[symbol.name] = symbol
    inner = TypeScope(scope.module, generics, scope.self_type)
    for symbol, node in zip(symbols, nodes, strict=True):
        for bound in node.bounds:
            use = resolve_bound(declarations, bound, inner, Generic(symbol))
            if use is not None:
                symbol.bounds.append(use)
    return inner


def alias_type(declarations: Declarations, symbol: AliasSymbol) -> Type:
    """What an alias stands for, in terms of its own parameters."""
    written = written_alias(declarations, symbol)
    if not symbol.generics or isinstance(written, ErrorType):
        return written
    return applied_alias(declarations, symbol, tuple([Generic(generic) for generic in symbol.generics]))


def written_alias(declarations: Declarations, symbol: AliasSymbol) -> Type:
    """Work out the type in the declaration of an alias, as `AliasSymbol.type` has it; reports its errors."""
    state = declarations.open_aliases.get(symbol)
    if state is None:
        return symbol.type
    node = symbol.node
    assert isinstance(node, ast.TypeAliasDecl)
    if state:
        message = f"type `{symbol.name}` is defined by itself"
        help_ = "a struct or an enum may hold itself, inside an Option or an Array"
        declarations.report(UnknownType, declarations.module_of(symbol), node.name, message, help=help_)
        del declarations.open_aliases[symbol]
        return ERROR
    declarations.open_aliases[symbol] = True
    scope = declarations.module_scope(declarations.module_of(symbol))
    inner = bind_generics(declarations, scope, symbol.generics, node.generics)
    if symbol.generics:
        inner = TypeScope(inner.module, inner.generics, inner.self_type, in_alias=True)
    found = resolve_type(declarations, node.type, inner)
    if declarations.open_aliases.pop(symbol, None) is not None:
        symbol.type = found
    return symbol.type


def applied_alias(declarations: Declarations, symbol: AliasSymbol, arguments: tuple[Type, ...]) -> Type:
    """What an alias stands for with these arguments: the same object each time, as such types may
    double."""
    made = declarations.applied_aliases.get((symbol, arguments))
    if made is None:
        types: dict[GenericSymbol, Type] = dict(zip(symbol.generics, arguments, strict=True))
        made = declarations.applied_aliases[symbol, arguments] = expanded(declarations, symbol.type, types)
    return made


def expanded(declarations: Declarations, found: Type, types: Mapping[GenericSymbol, Type]) -> Type:
    """A type in an alias, with what its parameters and the other aliases stand for."""
    if found.plain:
        return found
    match found:
        case Generic():
            return types.get(found.symbol, found)
        case AliasUse():
            arguments = tuple([expanded(declarations, part, types) for part in found.arguments])
            return applied_alias(declarations, found.alias, arguments)
        case _:
            return with_parts(found, lambda part: expanded(declarations, part, types))


def declared_type(symbol: TypeSymbol) -> Named:
    """A type with its own parameters as arguments: what `Self` is inside its declaration."""
    if isinstance(symbol, BuiltinSymbol):
        return Named(symbol)
    return Named(symbol, tuple([Generic(generic) for generic in symbol.generics]))


def _resolve_path_type(declarations: Declarations, node: ast.PathType, scope: TypeScope) -> Type:
    if len(node.segments) == 1 and node.segments[0].text == "Self":
        if scope.self_type is None:
            help_ = "`Self` has a meaning inside `impl`, `trait` and `tool`"
            declarations.report(UnknownType, scope.module, node, "there is no `Self` here", help=help_)
            return ERROR
        return scope.self_type
    symbol = _symbol_behind(declarations, node, scope, want="type")
    match symbol:
        case None:
            return ERROR
        case BuiltinSymbol():
            return _apply(declarations, node, scope, symbol, symbol.arity)
        case StructSymbol() | EnumSymbol():
            return _apply(declarations, node, scope, symbol, len(symbol.generics))
        case AliasSymbol():
            return _apply_alias(declarations, node, scope, symbol)
        case TraitSymbol(value_generic=GenericSymbol() as value):
            if symbol.generics or node.arguments:
                message = f"`{symbol.name}` cannot be used as a type: it has type parameters of its own"
                help_ = "write a generic parameter with the bound, and use that"
                declarations.report(UnknownType, scope.module, node, message, help=help_)
                return ERROR
            declarations.demand(Demand(scope.module, node, Generic(value), value, {}))
            return Generic(value)
        case TraitSymbol():
            reason = _WHY_NO_VALUE.get(symbol.name, _OPERATORS)
            message = f"`{symbol.name}` cannot be used as a type: {reason}"
            declarations.report(UnknownType, scope.module, node, message, help=_what_it_is(symbol))
            return ERROR
        case GenericSymbol():
            if not _right_number(declarations, node, scope, symbol.name, 0):
                return ERROR
            return Generic(symbol)
        case _:
            message = f"`{node.segments[-1].text}` is not a type"
            declarations.report(UnknownType, scope.module, node, message, help=_what_it_is(symbol))
            return ERROR


def _apply(
    declarations: Declarations, node: ast.PathType, scope: TypeScope, symbol: TypeSymbol, arity: int
) -> Type:
    if not node.arguments and not arity:
        return declarations.plain_type(symbol)
    arguments = tuple([resolve_type(declarations, argument, scope) for argument in node.arguments])
    if not _right_number(declarations, node, scope, symbol.name, arity):
        return ERROR
    if symbol is MAP or symbol is HASH_MAP:
        declarations.demand(Demand(scope.module, node.arguments[0], arguments[0], None, {}, scope.in_alias))
        if isinstance(arguments[0], Generic):
            arguments[0].symbol.is_key = True
    elif not isinstance(symbol, BuiltinSymbol):
        types: dict[GenericSymbol, Type] = dict(zip(symbol.generics, arguments, strict=True))
        for (generic, argument), given in zip(types.items(), node.arguments, strict=True):
            declarations.demand(Demand(scope.module, given, argument, generic, types, scope.in_alias))
    return partial_of(*arguments) if symbol is PARTIAL else Named(symbol, arguments)


def _apply_alias(
    declarations: Declarations, node: ast.PathType, scope: TypeScope, symbol: AliasSymbol
) -> Type:
    arguments = tuple([resolve_type(declarations, argument, scope) for argument in node.arguments])
    if not _right_number(declarations, node, scope, symbol.name, len(symbol.generics)):
        return ERROR
    aliased = written_alias(declarations, symbol)
    if isinstance(aliased, ErrorType) or not arguments:
        return aliased
    if scope.in_alias:
        return AliasUse(symbol, arguments)
    return applied_alias(declarations, symbol, arguments)


def _right_number(
    declarations: Declarations, node: ast.PathType, scope: TypeScope, name: str, arity: int
) -> bool:
    given = len(node.arguments)
    if given == arity:
        return True
    if arity == 0:
        message, help_ = f"`{name}` takes no type arguments", f"write `{name}`"
    else:
        plural = "argument" if arity == 1 else "arguments"
        message = f"`{name}` takes {arity} type {plural}, found {given}"
        letters = "TE" if name == "Result" else "KV" if name in ("Map", "HashMap") else "TUVWXYZ"
        help_ = f"write `{name}<{', '.join(letters[:arity])}>`"
    declarations.report(WrongArguments, scope.module, node, message, help=help_)
    return False


def _symbol_behind(
    declarations: Declarations, node: ast.PathType, scope: TypeScope, *, want: str
) -> Symbol | None:
    hole = declarations.hole
    if hole is not None and hole.is_at(node.segments[-1]):
        hole.kind, hole.scope = "type", scope
        if len(node.segments) > 1:
            hole.owner = declarations.modules.resolve_path(node.segments[:-1], scope)
        return None
    if len(node.segments) > 1:
        return declarations.modules.resolve_path(node.segments, scope)
    name = node.segments[0]
    symbol = declarations.lookup(name.text, scope)
    if symbol is None and not declarations.is_broken(name.text, scope):
        _report_unknown(declarations, name, scope, want)
    declarations.note(scope.module, name, symbol)
    return symbol


def _report_unknown(declarations: Declarations, name: ast.Ident, scope: TypeScope, want: str) -> None:
    near = declarations.problems.nearest(name.text, _names(declarations, scope, want))
    module = declarations.module_with(name.text, scope.module)
    foreign = advice_on_foreign(name.text)
    if foreign and (want == "type" or name.text not in _FOREIGN):
        help_ = foreign
    elif near is not None:
        help_ = did_you_mean(near)
    elif module is not None:
        help_ = Advice(f"bring it in with `use {module}::{name.text}`", use=f"{module}::{name.text}")
    else:
        help_ = f"declare it, or bring it in with `use …::{name.text}`"
    declarations.report(UnknownType, scope.module, name, f"unknown {want} `{name.text}`", help=help_)


def _names(declarations: Declarations, scope: TypeScope, want: str) -> list[str]:
    kinds = (
        TraitSymbol
        if want == "trait"
        else (BuiltinSymbol, StructSymbol, EnumSymbol, AliasSymbol, GenericSymbol)
    )
    names = [name for name, symbol in declarations.visible_names(scope) if isinstance(symbol, kinds)]
    if want == "type":
        names.extend(BUILTIN_TYPES)
    return names


_OTHER: Final = "takes another value of type `Self`, and two values may be of different types"
_OPERATORS: Final = "it has type parameters of its own"
_WHY_NO_VALUE: Final = {
    "Ord": f"`compare` {_OTHER}",
    "Eq": f"`equals` {_OTHER}",
    "Hash": f"it goes with `Eq`, and `equals` {_OTHER}",
    "Number": "two numbers may be of different types",
    "Neg": "what its method gives is a type parameter of its own",
}


def _what_it_is(symbol: Symbol) -> str:
    match symbol:
        case TraitSymbol():
            return f"write a generic parameter `T: {symbol.name}` and use `T`"
        case AgentSymbol() | HostSymbol():
            return "it is an agent; the type of agents is `AgentRef`"
        case ToolSymbol():
            return "it is a tool; the type of tools is `ToolRef`"
        case McpSymbol():
            return "it is an MCP server; the type of these is `McpRef`"
        case StateSymbol():
            return f"it is a {symbol.keyword}"
        case _:
            return (
                f"`{symbol.name}` is something else: {type(symbol).__name__.removesuffix('Symbol').lower()}"
            )


def _literals(node: ast.UnionType) -> Literals:
    return Literals(tuple(dict.fromkeys(map(_literal, node.literals))))


def _literal(node: ast.Expr) -> tuple[str, LiteralValue]:
    match node:
        case ast.StringLit():
            return "String", node.value
        case ast.IntLit():
            return "Int", node.value
        case ast.BoolLit():
            return "Bool", node.value
        case ast.Unary(operand=ast.IntLit() as number):
            return "Int", -number.value
        case _:
            return "Nil", None
