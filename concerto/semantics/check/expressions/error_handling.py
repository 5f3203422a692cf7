"""`?`, `throw` and `try … catch`: where errors go and what they become on the way (E0301, E0307)."""

from __future__ import annotations

from typing import Final

from concerto.diagnostics import MismatchedTypes, Misplaced, UnknownType, UnreachableArm
from concerto.semantics.check.body_checker import BodyChecker, BodyFrame, TryFrame, checks
from concerto.semantics.check.conversions import check_error, error_conversion, fits_error
from concerto.semantics.check.join import Branches
from concerto.semantics.check.patterns import bind_pattern
from concerto.semantics.model.analysis import Coercion, Default, NativeCall
from concerto.semantics.model.builtins import (
    ANY,
    ARRAY,
    ITERATOR,
    MAP,
    NEVER,
    NIL,
    QUEUE,
    RANGE,
    SET,
    STACK,
    option_item,
    option_of,
    result_of,
    result_parts,
)
from concerto.semantics.model.symbols import ErrorType, Named, Type, TypeSymbol, Unsolved
from concerto.semantics.typing.coercion import widened
from concerto.semantics.typing.type_expressions import resolve_type
from concerto.semantics.typing.unify import fresh, is_erroneous, resolve, show, show_both, unify, zonk
from concerto.syntax import ast


@checks(ast.Try)
def question_mark(checker: BodyChecker, node: ast.Try, hint: Type | None) -> Type:
    return propagate(checker, node, checker.infer(node.operand))


def propagate(checker: BodyChecker, node: ast.Try, found: Type) -> Type:
    """The value that `?` takes out; what it passes on must fit where it goes."""
    found = resolve(found)
    if isinstance(found, ErrorType) or found is NEVER:
        return found
    if isinstance(found, Unsolved):
        unify(found, result_of(fresh(), fresh()))
    inside = option_item(found)
    if inside is not None:
        _pass_none_on(checker, node)
        return inside
    parts = result_parts(resolve(found))
    if parts is not None:
        _pass_error_on(checker, node, parts[1])
        return parts[0]
    if found is ANY:
        frame = left_by_errors(checker.frame)
        if frame.tries or resolve(frame.result) is not ANY:
            checker.analysis.raised_by_none.add(node)
        _pass_error_on(checker, node, ANY)
        return ANY
    return checker.report(
        Misplaced(
            checker.source.span(node.end - 1, node.end),
            f"`?` asks for a Result or an Option, found `{show(found)}`",
            help="remove the `?`",
        )
    )


def _pass_none_on(checker: BodyChecker, node: ast.Try) -> None:
    mark = checker.source.span(node.end - 1, node.end)
    context = 'turn it into an error: `.context("what is missing")?`'
    frame = left_by_errors(checker.frame)
    if frame.tries:
        message = "`?` on an Option has no error that the `catch` around could take"
        checker.report(Misplaced(mark, message, help=context))
        return
    if not _may_leave(checker, frame, node, "`?`"):
        return
    result = resolve(frame.result)
    if isinstance(result, ErrorType) or option_item(result) is not None or result is ANY:
        return
    if isinstance(result, Unsolved):
        unify(result, option_of(fresh()))
        return
    wants = f"this {_noun(frame)} returns {_shown(result)}"
    if _error_of(frame) is None:
        checker.report(
            Misplaced(
                mark,
                "`?` on an Option needs a function that returns an Option",
                label=wants,
                help=_signature_help(frame, f"Option<{_value_name(result)}>"),
            )
        )
    else:
        checker.report(Misplaced(mark, "`?` on an Option cannot return from here", label=wants, help=context))


def _pass_error_on(checker: BodyChecker, node: ast.Try, error: Type) -> None:
    frame = left_by_errors(checker.frame)
    if frame.tries:
        frame.tries[-1].thrown.append((node, error))
        return
    mark = checker.source.span(node.end - 1, node.end)
    if not _may_leave(checker, frame, node, "`?`"):
        return
    result = resolve(frame.result)
    if isinstance(result, Unsolved):
        result = result_of(fresh(), fresh())
        unify(frame.result, result)
    target = _error_of(frame)
    if target is None:
        if result is not ANY and not isinstance(result, ErrorType):
            checker.report(
                Misplaced(
                    mark,
                    "`?` needs a function that returns a Result",
                    label=f"this {_noun(frame)} returns {_shown(result)}",
                    help=_without_error(checker, node)
                    if option_item(result) is not None
                    else _signature_help(frame, f"Result<{_value_name(result)}, {show(error)}>"),
                )
            )
        return
    if isinstance(resolve(target), Unsolved) or fits_error(error, target):
        unify(target, error)
        return
    conversion = error_conversion(checker, error, target)
    if conversion is not None:
        checker.analysis.propagations[node] = conversion
    elif resolve(error) is ANY:
        checker.later.append(lambda: _note_check(checker, node, target))
    elif not (is_erroneous(error) or is_erroneous(target)):
        passed, wanted = show_both(error, target)
        checker.report(
            MismatchedTypes(
                mark,
                f"`?` passes on `{passed}`, but {_fails_with(frame, wanted)}",
                help=f"write `impl From<{passed}> for {wanted}`, or use `.map_err(|e| …)?`",
            )
        )


def _without_error(checker: BodyChecker, node: ast.Try) -> str:
    """What to write where an Option is returned, which has no error."""
    if checker.types[node.operand] is ANY:
        return f"say that it is an Option: `({checker.text(node.operand)} as Option<Any>)?`"
    return "let go of the error: `.ok()?`"


def _note_check(checker: BodyChecker, node: ast.Try, target: Type) -> None:
    """An error of which nothing is known is looked at when it is passed on."""
    wanted = zonk(target, ANY)
    if wanted is not ANY and not is_erroneous(wanted):
        checker.analysis.propagations[node] = Coercion("check", wanted)
        checker.note_from_any(wanted)


def may_break_off(checker: BodyChecker, node: ast.Expr) -> bool:
    """Whether a loop over a value may go over a stream: over any iterator but one that is made here of a
    collection, by functions of the library."""
    if not _is_of(checker, node, ITERATOR):
        return False
    call = checker.analysis.calls.get(node)
    if not isinstance(call, NativeCall):
        return True
    receiver, *others = [given for given in call.arguments if not isinstance(given, Default)]
    made_here = _is_of(checker, receiver, ITERATOR, *_STORED)
    return not made_here or any(may_break_off(checker, each) for each in (receiver, *others))


_STORED: Final = (ARRAY, MAP, SET, RANGE.symbol, QUEUE, STACK)


def _is_of(checker: BodyChecker, node: ast.Expr, *symbols: TypeSymbol) -> bool:
    found = widened(checker.types[node])
    return isinstance(found, Named) and found.symbol in symbols


def pass_broken_stream_on(checker: BodyChecker, node: ast.For) -> None:
    """A loop over a stream that breaks off ends as by `throw` of an AgentError, where one could be thrown."""
    error, frame = checker.declarations.error_type("AgentError"), left_by_errors(checker.frame)
    assert error is not None, "the library declares AgentError"
    if frame.tries:
        frame.tries[-1].thrown.append((node, error))
        return
    target = _error_of(frame)
    if target is None:
        return
    if isinstance(resolve(target), Unsolved) or fits_error(error, target):
        unify(target, error)
    elif (conversion := error_conversion(checker, error, target)) is not None:
        checker.analysis.propagations[node] = conversion
    else:
        return
    checker.analysis.thrown_by_loops.add(node)


def left_by_errors(frame: BodyFrame) -> BodyFrame:
    """The body that an error thrown in a frame leaves or is caught in: a branch lets it through."""
    while frame.kind == "branch" and not frame.tries:
        assert frame.outer is not None
        frame = frame.outer
    return frame


def _error_of(frame: BodyFrame) -> Type | None:
    """The type of the errors that may leave a body."""
    parts = result_parts(resolve(frame.result))
    return frame.fails if parts is None else parts[1]


def _may_leave(checker: BodyChecker, frame: BodyFrame, node: ast.Expr, what: str) -> bool:
    if frame.kind == "constant":
        checker.report(Misplaced(checker.span(node), f"{what} cannot leave a default value"))
        return False
    return True


def _noun(frame: BodyFrame) -> str:
    return frame.kind if frame.kind in ("closure", "stage", "task") else "function"


def _fails_with(frame: BodyFrame, error: str) -> str:
    if result_parts(resolve(frame.result)) is None:
        return f"another stage of this pipeline fails with `{error}`"
    return f"this {_noun(frame)} returns `{error}`"


def _shown(result: Type) -> str:
    return "nothing" if result is NIL else f"`{show(result)}`"


def _value_name(result: Type) -> str:
    return "Nil" if result is NIL else show(result)


def _signature_help(frame: BodyFrame, result: str, otherwise: str = "") -> str:
    owner = frame.node
    if isinstance(owner, ast.FnDecl):
        parameters = "…" if owner.parameters else ""
        return f"declare it `fn {owner.name.text}({parameters}) -> {result}`, or {otherwise or 'use `match`'}"
    return otherwise or "use `match`, or `unwrap_or(…)`"


# --- throw ----------------------------------------------------------------------------------------


@checks(ast.Throw)
def throw(checker: BodyChecker, node: ast.Throw, hint: Type | None) -> Type:
    frame = left_by_errors(checker.frame)
    if frame.tries:
        frame.tries[-1].thrown.append((node, checker.infer(node.value)))
        return NEVER
    result = resolve(frame.result)
    if not _may_leave(checker, frame, node, "`throw`"):
        checker.infer(node.value)
        return NEVER
    if isinstance(result, Unsolved):
        result = result_of(fresh(), fresh())
        unify(frame.result, result)
    error = _error_of(frame)
    if error is not None:
        if isinstance(resolve(error), Unsolved):
            unify(error, checker.infer(node.value))
        else:
            check_error(checker, node.value, error)
        return NEVER
    found = checker.infer(node.value)
    if result is not ANY and not isinstance(result, ErrorType):
        checker.report(
            Misplaced(
                checker.source.span(node.start, node.start + len("throw")),
                "`throw` needs a `try` around it or a function that returns a Result",
                label=f"this {_noun(frame)} returns {_shown(result)}",
                help=_signature_help(
                    frame, f"Result<{_value_name(result)}, {show(found)}>", "put it into a `try`"
                ),
            )
        )
    return NEVER


# --- try ------------------------------------------------------------------------------------------


@checks(ast.TryCatch)
def try_catch(checker: BodyChecker, node: ast.TryCatch, hint: Type | None) -> Type:
    branches = Branches(checker, hint, "`try` and its `catch`es")
    frame = TryFrame()
    checker.frame.tries.append(frame)
    branches.add(node.body)
    checker.frame.tries.pop()
    caught: list[Type] = []
    for catch in node.catches:
        type_ = _catch(checker, catch, branches)
        if type_ in caught or ANY in caught:
            place = checker.source.span(catch.start, catch.body.start)
            checker.report(
                UnreachableArm(place, "this catch is never reached", label="a catch above takes all")
            )
        caught.append(type_)
    if not any(type_ is ANY for type_ in caught):
        _pass_uncaught_on(checker, node, frame, caught)
    return branches.result()


def _catch(checker: BodyChecker, catch: ast.Catch, branches: Branches) -> Type:
    """The type that a `catch` takes; Any for all."""
    type_: Type = ANY
    name = _name_for_type(checker, catch)
    if name is not None:
        type_ = checker.report(
            UnknownType(
                checker.span(name),
                f"a `catch` names the type of its error, and `{name.text}` is none",
                help=f"write `catch ErrorType({name.text}) {{ … }}`, or `catch {{ … }}` for any",
            )
        )
    elif catch.type is not None:
        type_ = resolve_type(checker.declarations, catch.type, checker.scope)
    checker.analysis.catches[catch] = None if catch.type is None else type_
    mark = checker.enter_scope()
    if name is not None:
        checker.declare(name.text, type_, name, "pattern")
    if catch.pattern is not None:
        bind_pattern(checker, catch.pattern, type_, "pattern")
    branches.add(catch.body)
    checker.leave_scope(mark)
    return type_


def _name_for_type(checker: BodyChecker, catch: ast.Catch) -> ast.Ident | None:
    """`catch e { … }`, where other languages have a variable."""
    if catch.type is None or catch.pattern is not None or len(catch.type.segments) > 1:
        return None
    declarations, name = checker.declarations, catch.type.segments[0]
    known = declarations.hole is not None or declarations.lookup(name.text, checker.scope) is not None
    return None if known or not name.text[0].islower() else name


def _pass_uncaught_on(checker: BodyChecker, node: ast.TryCatch, thrown: TryFrame, caught: list[Type]) -> None:
    """What no `catch` takes goes on to where the `try` stands."""
    frame = left_by_errors(checker.frame)
    leaving: list[Type] = []
    for place, error in thrown.thrown:
        found = resolve(error)
        if (
            found in caught
            or found is ANY
            or is_erroneous(found)
            or any(is_erroneous(type_) for type_ in caught)
        ):
            continue
        if frame.tries:
            frame.tries[-1].thrown.append((place, found))
        elif isinstance(place, ast.For) and _error_of(frame) is None:
            continue  # Nobody wrote a `throw`: what nobody catches ends the run.
        elif not _fits_result(frame, found):
            mark = (
                checker.source.span(place.end - 1, place.end)
                if isinstance(place, ast.Try)
                else checker.span(place)
            )
            checker.report(
                Misplaced(
                    mark,
                    f"`{show(found)}` is not caught here",
                    help=f"add `catch {show(found)}(e) {{ … }}`, or `catch {{ … }}` for everything else",
                )
            )
        elif found not in leaving:
            leaving.append(found)
    checker.later.append(
        lambda: checker.analysis.uncaught.update({node: [zonk(type_, ANY) for type_ in leaving]})
    )


def _fits_result(frame: BodyFrame, error: Type) -> bool:
    """Whether the body may return an error as `Err`."""
    if frame.kind == "constant":
        return False
    result = resolve(frame.result)
    if isinstance(result, Unsolved):
        unify(result, result_of(fresh(), error))
        return True
    target = _error_of(frame)
    if target is None:
        return isinstance(result, ErrorType) or result is ANY
    if isinstance(resolve(target), Unsolved):
        unify(target, error)
        return True
    return fits_error(error, target)
