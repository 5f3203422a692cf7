"""State of a run: `hashmap`, `ledger`, `memory` (E0301, E0412)."""

from __future__ import annotations

from concerto.diagnostics import BadDeclarationField, MismatchedTypes
from concerto.semantics.declare.constants import evaluate
from concerto.semantics.declare.rules.decorators import check_decorators
from concerto.semantics.model.builtins import HASH_MAP, LEDGER, MEMORY
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ERROR, Named, StateSymbol
from concerto.semantics.typing.constant_evaluator import NotConstant
from concerto.semantics.typing.type_expressions import resolve_type
from concerto.semantics.typing.unify import show
from concerto.syntax import ast

_FORMS = {
    "hashmap": ("HashMap", "hashmap name: HashMap<String, Int> = HashMap::new();"),
    "ledger": ("Ledger", "ledger name: Ledger = Ledger::new();"),
    "memory": ("Memory", "memory name: Memory = Memory::new(50);"),
}
"""Type and form of each kind of state."""

_EXTRAS = {
    "hashmap": {"with_persistence": "persistence", "scope": "scope"},
    "ledger": {"scope": "scope"},
    "memory": {"with_persistence": "persistence"},
}
"""What may be asked of the new one, and the setting that it becomes."""


def fill(declarations: Declarations, state: StateSymbol, node: ast.StateDecl, scope: TypeScope) -> None:
    declarations.analysis.states.append(state)
    name, form = _FORMS[state.keyword]
    plain = {"ledger": LEDGER, "memory": MEMORY}.get(state.keyword)
    if node.type is None:
        state.type = plain or ERROR
        if plain is None:
            message = f"hashmap `{state.name}` needs the types of its keys and values"
            declarations.report(BadDeclarationField, scope.module, node.name, message, help=f"write `{form}`")
        return
    state.type = resolve_type(declarations, node.type, scope)
    wanted = HASH_MAP if plain is None else plain.symbol
    if (isinstance(state.type, Named) and state.type.symbol is wanted) or state.type is ERROR:
        return
    message = f"{state.keyword} `{state.name}` has type `{name}`, not `{show(state.type)}`"
    declarations.report(MismatchedTypes, scope.module, node.type, message, help=f"write `{form}`")
    state.type = ERROR


def check(declarations: Declarations, state: StateSymbol, node: ast.StateDecl, scope: TypeScope) -> None:
    check_decorators(declarations, node.decorators, "declaration", scope)
    value = node.value
    if value is None:
        return
    extras = _EXTRAS[state.keyword]
    while isinstance(value, ast.MethodCall) and value.method.text in extras:
        key = extras[value.method.text]
        given = _text(declarations, value.arguments, scope)
        if given is None:
            message = f"`{value.method.text}` of {state.keyword} `{state.name}` takes a string"
            declarations.report(BadDeclarationField, scope.module, value, message)
        elif key == "persistence" and not given:
            message = f"`{value.method.text}` of {state.keyword} `{state.name}` takes the name of a file"
            declarations.report(BadDeclarationField, scope.module, value, message)
        else:
            state.settings[key] = given
        value = value.receiver
    if state.type is ERROR:
        return
    if not _is_new(value, _FORMS[state.keyword][0]):
        message = f"{state.keyword} `{state.name}` starts as something else than a new one"
        help_ = f"write `{_FORMS[state.keyword][1]}`"
        declarations.report(BadDeclarationField, scope.module, value, message, help=help_)
        return
    assert isinstance(value, ast.Call)
    _read_capacity(declarations, state, value, scope)


def _is_new(node: ast.Expr, name: str) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.callee, ast.Path):
        return False
    return node.callee.name == f"{name}::new"


def _read_capacity(declarations: Declarations, state: StateSymbol, node: ast.Call, scope: TypeScope) -> None:
    if not node.arguments:
        return
    message = f"`{_FORMS[state.keyword][0]}::new` takes no arguments"
    if state.keyword == "memory" and len(node.arguments) == 1:
        try:
            value = evaluate(declarations, node.arguments[0].value, scope)
        except NotConstant:
            value = None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            state.settings["capacity"] = value
            return
        message = f"memory `{state.name}` keeps an `Int` above zero of messages"
    declarations.report(BadDeclarationField, scope.module, node.arguments[0], message)


def _text(declarations: Declarations, arguments: list[ast.Argument], scope: TypeScope) -> str | None:
    if len(arguments) != 1:
        return None
    try:
        value = evaluate(declarations, arguments[0].value, scope)
    except NotConstant:
        return None
    return value if isinstance(value, str) else None
