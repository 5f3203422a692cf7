"""Functions and methods: decorators, tests, the methods of tool providers (E0441, E0442, E0403–E0407)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from concerto.diagnostics import DecoratorWithoutTest, TestMisused, UnknownDecorator, did_you_mean, suggest
from concerto.files import RECORDING_SUFFIX
from concerto.semantics.declare.rules.decorators import check_decorators, has_decorator
from concerto.semantics.declare.rules.descriptions import check_described
from concerto.semantics.declare.rules.served import check_served, is_served
from concerto.semantics.model.builtins import NIL, result_parts
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ERROR, FunctionSymbol, ImplSymbol, Named, StructSymbol
from concerto.semantics.typing.unify import show
from concerto.syntax import ast
from concerto.vocabulary.decorators import Place


def check(declarations: Declarations, function: FunctionSymbol, node: ast.FnDecl, scope: TypeScope) -> None:
    served = is_served(node)
    check_method_decorators(declarations, node, "served function" if served else "function", scope)
    if served:
        check_served(declarations, function, node, scope)
    is_test = has_decorator(node.decorators, "test")
    for decorator in node.decorators:
        name = decorator.name.text
        if name in ("expect_fail", "replay") and not is_test:
            message = f"`@{name}` on `{function.name}`, which is no test"
            help_ = f"add `@test` above it, or remove `@{name}`"
            declarations.report(DecoratorWithoutTest, scope.module, decorator, message, help=help_)
    if is_test:
        _check_recording(declarations, node, scope)
        _check_test(declarations, function, node, scope)


def check_impl(declarations: Declarations, node: ast.ImplDecl, scope: TypeScope) -> None:
    """Methods of an impl."""
    impl = declarations.impl_nodes.get(node)
    provider = impl is not None and _is_provider(impl)
    for method in node.methods:
        check_method_decorators(declarations, method, "provider method" if provider else "method", scope)
    if impl is not None and provider:
        _check_provided(declarations, impl)


def check_method_decorators(
    declarations: Declarations, node: ast.FnDecl, place: Place, scope: TypeScope
) -> None:
    """Decorators of a function and of its parameters."""
    check_decorators(declarations, node.decorators, place, scope)
    _check_trusted(declarations, node, scope)
    for parameter in node.parameters:
        before: Place = "other parameter" if place == "function" else "parameter"
        check_decorators(declarations, parameter.decorators, before, scope)


def _check_trusted(declarations: Declarations, node: ast.FnDecl, scope: TypeScope) -> None:
    """What `@sink` says of parameters is of parameters that there are."""
    for decorator in node.decorators:
        given = declarations.analysis.decorators.get(decorator)
        if decorator.name.text != "sink" or not given:
            continue
        known = [each.name.text for each in node.parameters if each.name.text != "self"]
        trusted, allowed = given.get("trusted", ()), given.get("allow", ())
        assert isinstance(trusted, list | tuple) and isinstance(allowed, dict | tuple), "checked before"
        for name in trusted:
            _require_one_of(declarations, decorator, "trusted", name, known, scope)
        for name in allowed:
            _require_one_of(declarations, decorator, "allow", name, trusted, scope)


def _require_one_of(
    declarations: Declarations,
    decorator: ast.Decorator,
    argument: str,
    name: str,
    known: Sequence[str],
    scope: TypeScope,
) -> None:
    if name in known:
        return
    place: ast.Node = next(
        each for each in decorator.arguments if each.name is not None and each.name.text == argument
    )
    of = "this method has no parameter" if argument == "trusted" else "`trusted` does not list"
    shown = ", ".join(f"`{each}`" for each in known) or "none"
    advice = did_you_mean(suggest(name, known), f"there is {shown}")
    message = f"`{argument}` of `@sink` names `{name}`, but {of} `{name}`"
    declarations.report(UnknownDecorator, scope.module, place, message, help=advice)


def _is_provider(impl: ImplSymbol) -> bool:
    target = impl.target.symbol if isinstance(impl.target, Named) else None
    if not isinstance(target, StructSymbol) or not isinstance(target.node, ast.StructDecl):
        return False
    return has_decorator(target.node.decorators, "tool_provider")


def _check_provided(declarations: Declarations, impl: ImplSymbol) -> None:
    """The described methods of a `@tool_provider` become tools, so they are described like these."""
    for function in impl.methods.values():
        if function.decl is not None and has_decorator(function.decl.decorators, "describe"):
            check_described(declarations, "method", function, declarations.scope_of(function))


def _check_test(
    declarations: Declarations, function: FunctionSymbol, node: ast.FnDecl, scope: TypeScope
) -> None:
    if node.parameters or node.generics:
        place: ast.Node = node.parameters[0] if node.parameters else node.generics[0]
        message = f"test `{function.name}` has parameters"
        declarations.report(TestMisused, scope.module, place, message, help="make what it needs inside of it")
    elif function.result not in (NIL, ERROR) and result_parts(function.result) is None:
        message = f"test `{function.name}` returns `{show(function.result)}`"
        help_ = "a test returns nothing or a `Result`; say with `assert_eq` what is expected"
        declarations.report(TestMisused, scope.module, node.result or node, message, help=help_)
    elif function.name == "main":
        message = "`main` cannot be a test"
        declarations.report(TestMisused, scope.module, node.name, message, help="give the test another name")
    else:
        _check_title(declarations, node, scope)
        function.is_test = True
        declarations.analysis.tests.append(function)


def _check_recording(declarations: Declarations, node: ast.FnDecl, scope: TypeScope) -> None:
    """The file of `@replay` is one of the project, since `concerto test --record` writes it."""
    decorator = next((each for each in node.decorators if each.name.text == "replay"), None)
    given = None if decorator is None else declarations.analysis.decorators.get(decorator)
    if decorator is None or not given or not isinstance(given.get("recording"), str):
        return
    place = PurePosixPath(str(given["recording"]))
    if place.is_absolute() or ".." in place.parts or "\\" in str(place) or place.suffix != RECORDING_SUFFIX:
        message = f"`{place}` is no recording of the project"
        help_ = f"write a path below the project's folder that ends in `{RECORDING_SUFFIX}`"
        declarations.report(UnknownDecorator, scope.module, decorator.arguments[0], message, help=help_)


def _check_title(declarations: Declarations, node: ast.FnDecl, scope: TypeScope) -> None:
    """Two tests of a module under one name could not be told apart."""
    title = _title(node)
    titles = declarations.analysis.test_titles.setdefault(scope.module.path, set())
    if title in titles:
        message = f"another test is called `{title}`"
        help_ = "give each a name of its own: results and `--filter` go by it"
        declarations.report(TestMisused, scope.module, node.name, message, help=help_)
    titles.add(title)


def _title(node: ast.FnDecl) -> str:
    """The text of `@test("…")`, or the function's name."""
    decorator = next(each for each in node.decorators if each.name.text == "test")
    given = [argument.value for argument in decorator.arguments]
    return given[0].value if given and isinstance(given[0], ast.StringLit) else node.name.text
