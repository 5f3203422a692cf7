"""Compile-time constants: values that are known when a program is compiled, constants, settings, arguments of
decorators.

Constant expressions are those of `concerto.semantics.typing.constant_evaluator`; a `const` may also be a
struct, an enum or an Option. Anything else is E0412 where a constant is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from concerto.diagnostics import BadDeclarationField, MismatchedTypes, did_you_mean
from concerto.semantics.declare.resolution import resolve_path
from concerto.semantics.model.builtins import (
    ANY,
    FLOAT,
    INT,
    PROMPT,
    array_item,
    map_parts,
    option_item,
)
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import (
    ERROR,
    ConstSymbol,
    ErrorType,
    FieldSymbol,
    Literals,
    StructSymbol,
    Symbol,
    TupleOf,
    Type,
    VariantSymbol,
)
from concerto.semantics.typing.constant_evaluator import (
    ConstantEvaluator,
    Constructed,
    NotConstant,
    Optional,
    Value,
    computed,
    type_of,
)
from concerto.semantics.typing.type_expressions import declared_type, resolve_type
from concerto.semantics.typing.unify import show
from concerto.syntax import ast


class DeclaredConstants(ConstantEvaluator):
    """Constant expressions of declarations, in a scope. `constructs`: structs and enums are values, too."""

    constructs = False

    def __init__(self, declarations: Declarations, scope: TypeScope) -> None:
        self.declarations = declarations
        self.scope = scope

    def named(self, node: ast.Path) -> Value:
        return self.value_of(node, self.resolved(node))

    def resolved(self, node: ast.Path) -> Symbol:
        """What a name means."""
        symbol = resolve_path(self.declarations, [segment.name for segment in node.segments], self.scope)
        if symbol is None:
            raise NotConstant(node, "")  # reported
        return symbol

    def value_of(self, node: ast.Path, symbol: Symbol) -> Value:
        """The value of the constant that a name means."""
        declarations, scope = self.declarations, self.scope
        if not isinstance(symbol, ConstSymbol):
            near = declarations.problems.nearest(
                node.name, [n for n, s in declarations.visible_names(scope) if isinstance(s, ConstSymbol)]
            )
            help_ = did_you_mean(near, "write a literal or the name of a `const`")
            raise NotConstant(node, f"`{node.name}` is not a constant", help_)
        match complete_const(declarations, symbol):
            case "complete":
                if not self.constructs and _has_constructed(symbol.value):
                    raise NotConstant(node, f"`{symbol.name}` has structs or enums in it", "write a literal")
                return symbol.value if self.constructs else without_options(symbol.value)
            case "open":
                raise NotConstant(node, f"`{symbol.name}` is defined by itself", "give it a value of its own")
            case "broken":
                raise NotConstant(node, "")  # reported


class ValuesOfConsts(DeclaredConstants):
    """What a `const` may be. `defaults` are the fields whose defaults are being worked out."""

    constructs = True

    def __init__(
        self, declarations: Declarations, scope: TypeScope, defaults: frozenset[FieldSymbol] = frozenset()
    ) -> None:
        super().__init__(declarations, scope)
        self.defaults = defaults

    def fitted(self, node: ast.Expr, wanted: Type) -> Value:
        """The value of an expression as one of the wanted type; raises NotConstant."""
        value = self.value(node)
        found = fit_value(value, wanted)
        if found is None:
            raise NotConstant(node, f"expected `{show(wanted)}`, found `{show(type_of(value))}`", fault="fit")
        return found[0]

    def named(self, node: ast.Path) -> Value:
        if _is_named(node, "None"):
            return Optional(())
        symbol = self.resolved(node)
        is_unit = isinstance(symbol, VariantSymbol) and not symbol.fields
        return self._constructed(node, symbol, []) if is_unit else self.value_of(node, symbol)

    def built(self, node: ast.Call | ast.StructLit) -> Value:
        match node:
            case ast.StructLit(base=None, path=path):
                parts = [(init.name, init.value or path_of(init.name)) for init in node.fields]
                return self._constructed(node, self.resolved(path), parts)
            case ast.Call(callee=callee, arguments=[ast.Argument(name=None, value=value)]) if _is_named(
                callee, "Some"
            ):
                return Optional((self.value(value),))
            case ast.Call(callee=callee) if _is_named(callee, "Ok", "Err"):
                raise NotConstant(node, "a Result is no constant", "write a function that gives the value")
            case ast.Call(callee=ast.Path() as path) if all(a.name is None for a in node.arguments):
                values = [argument.value for argument in node.arguments]
                numbered = [
                    (ast.Ident(value.start, value.end, str(n)), value) for n, value in enumerate(values)
                ]
                return self._constructed(node, self.resolved(path), numbered)
            case _:
                raise computed(node)

    def _constructed(
        self, node: ast.Expr, made: Symbol, parts: Sequence[tuple[ast.Ident, ast.Expr]]
    ) -> Value:
        """What is made of these parts, each with the name of its field."""
        if not isinstance(made, VariantSymbol | StructSymbol):
            raise computed(node)
        owner = made.enum if isinstance(made, VariantSymbol) else made
        if owner.generics:
            message = f"values of `{owner.name}`, which has type parameters, are no constants"
            raise NotConstant(node, message, "write a function that gives the value")
        given: dict[str, ast.Expr] = {}
        known = {field.name: field for field in made.fields}
        for name, value in parts:
            if name.text in given:
                raise NotConstant(name, f"the field `{name.text}` is given twice", "remove one of the two")
            if name.text not in known:
                raise NotConstant(name, f"`{made.name}` has no field `{name.text}`")
            if isinstance(made, StructSymbol) and not self.declarations.may_use(known[name.text], self.scope):
                raise NotConstant(name, f"the field `{name.text}` of `{made.name}` is private")
            given[name.text] = value
        return Constructed(made, tuple([self._field(node, made, field, given) for field in made.fields]))

    def _field(
        self,
        node: ast.Expr,
        made: StructSymbol | VariantSymbol,
        field: FieldSymbol,
        given: dict[str, ast.Expr],
    ) -> Value:
        if field.name in given:
            return self.fitted(given[field.name], field.type)
        if field.optional:
            return Optional(())
        if field.default is None or field in self.defaults:
            raise NotConstant(node, f"the field `{field.name}` is missing")
        scope = self.declarations.module_scope(self.declarations.module_of(made))
        around = ValuesOfConsts(self.declarations, scope, self.defaults | {field})
        try:
            return around.fitted(field.default, field.type)
        except NotConstant:
            message = f"the field `{field.name}` is missing, and its default is no constant"
            raise NotConstant(node, message) from None


def _has_constructed(value: Value) -> bool:
    match value:
        case list() | tuple():
            return any(map(_has_constructed, value))
        case dict():
            return any(map(_has_constructed, (*value, *value.values())))
        case Optional(held=held):
            return any(map(_has_constructed, held))
        case _:
            return isinstance(value, Constructed)


def without_options(value: Value) -> Value:
    """A value as settings have it: `None` is nil, and `Some(x)` is `x`."""
    match value:
        case Optional(held=held):
            return without_options(held[0]) if held else None
        case list() | tuple():
            return type(value)(map(without_options, value))
        case dict():
            return {without_options(key): without_options(entry) for key, entry in value.items()}
        case _:
            return value


def evaluate(declarations: Declarations, node: ast.Expr, scope: TypeScope) -> Value:
    """The value of a constant expression; raises NotConstant."""
    return DeclaredConstants(declarations, scope).value(node)


def _report(declarations: Declarations, problem: NotConstant, scope: TypeScope) -> None:
    if problem.message:
        declarations.report(
            BadDeclarationField, scope.module, problem.node, problem.message, help=problem.help
        )


def fill_const(
    declarations: Declarations, symbol: ConstSymbol, node: ast.ConstDecl, scope: TypeScope
) -> bool:
    """Find the value of a `const` and check it against its type; False if it has none."""
    declared = None if node.type is None else resolve_type(declarations, node.type, scope)
    symbol.type = declared or ERROR
    values = ValuesOfConsts(declarations, scope)
    try:
        symbol.value = values.value(node.value) if declared is None else values.fitted(node.value, declared)
    except NotConstant as problem:
        if problem.fault == "fit":
            declarations.report(MismatchedTypes, scope.module, problem.node, problem.message)
        else:
            _report(declarations, problem, scope)
        return False
    if declared is None:
        symbol.type = type_of(symbol.value)
    return True


def _is_named(node: ast.Expr, *names: str) -> bool:
    return isinstance(node, ast.Path) and len(node.segments) == 1 and node.name in names


def fit_value(value: Value, wanted: Type) -> tuple[Value] | None:
    """The value as one of the wanted type (an Int becomes a Float), in a tuple of one; None if it is
    not."""
    if wanted is ANY or isinstance(wanted, ErrorType):
        return (value,)
    inside = option_item(wanted)
    if inside is not None:
        if isinstance(value, Optional):
            fitted = _fit_all(value.held, (inside,) * len(value.held), tuple)
            if fitted is not None:
                return (Optional(fitted[0]),)
        around = fit_value(value, inside)
        return None if around is None else (Optional(around),)
    if wanted == FLOAT and type_of(value) == INT:
        return (float(value),)
    if wanted == PROMPT and isinstance(value, str):
        return (value,)
    if isinstance(wanted, Literals):
        kind = show(type_of(value))
        return (value,) if (kind, value) in wanted.known else None
    if isinstance(wanted, TupleOf) and isinstance(value, tuple) and len(value) == len(wanted.items):
        return _fit_all(value, wanted.items, tuple)
    item = array_item(wanted)
    if item is not None and isinstance(value, list):
        return _fit_all(value, (item,) * len(value), list)
    parts = map_parts(wanted)
    if parts is not None and isinstance(value, dict):
        keys = _fit_all(list(value), (parts[0],) * len(value), list)
        values = _fit_all(list(value.values()), (parts[1],) * len(value), list)
        return (dict(zip(keys[0], values[0], strict=True)),) if keys and values else None
    return (value,) if type_of(value) == wanted else None


def _fit_all(
    values: list[Value] | tuple[Value, ...], types: tuple[Type, ...], make: Callable[[list[Value]], Value]
) -> tuple[Value] | None:
    fitted = [fit_value(value, type_) for value, type_ in zip(values, types, strict=True)]
    if any(one is None for one in fitted):
        return None
    return (make([one[0] for one in fitted if one is not None]),)


def path_of(name: ast.Ident) -> ast.Path:
    """A name as an expression."""
    return ast.Path(name.start, name.end, [ast.PathSegment(name.start, name.end, name, [])])


def complete_const(declarations: Declarations, symbol: ConstSymbol) -> Literal["complete", "open", "broken"]:
    """Find the value of a constant if that was not done before: `open` if it is being done right now,
    `broken` if the constant has none, which was reported."""
    state = declarations.open_consts.get(symbol, "complete")
    if state == "waiting":
        declarations.open_consts[symbol] = "open"
        assert isinstance(symbol.node, ast.ConstDecl)
        module = declarations.module_of(symbol)
        scope = declarations.module_scope(module)
        if symbol.owner is not None:
            scope = TypeScope(module, scope.generics, declared_type(symbol.owner))
        state = "complete" if fill_const(declarations, symbol, symbol.node, scope) else "broken"
        declarations.open_consts[symbol] = state
    return state
