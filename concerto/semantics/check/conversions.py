"""Error conversion: errors that become other errors by `impl From<A> for B`, at `?`, `throw` and `Err(…)`."""

from __future__ import annotations

from concerto.semantics.check.body_checker import BodyChecker
from concerto.semantics.check.witnesses import find_witnesses
from concerto.semantics.model.analysis import Coercion
from concerto.semantics.model.builtins import ANY, FROM, STRING
from concerto.semantics.model.symbols import Generic, Named, StructSymbol, TraitUse, Type
from concerto.semantics.typing.coercion import fit
from concerto.semantics.typing.traits import base_type, conversion
from concerto.semantics.typing.unify import is_erroneous, resolve
from concerto.syntax import ast

ERROR_TO_TEXT = Coercion("to_text", STRING)


def is_error(found: Type) -> bool:
    """Whether a type is one of the library's errors."""
    return isinstance(found, Named) and isinstance(found.symbol, StructSymbol) and found.symbol.is_error


def check_error(checker: BodyChecker, node: ast.Expr, expected: Type) -> None:
    """Require an error of a type; another type that `From` turns into it will do."""
    found = checker.infer(node, expected)
    conversion = None if _fits(found, expected) else error_conversion(checker, found, expected)
    if conversion is not None:
        checker.add_coercions(node, (conversion,))
    else:
        checker.coerce(node, found, expected)


def error_conversion(checker: BodyChecker, found: Type, expected: Type) -> Coercion | None:
    """How an error of type `found` becomes one of type `expected` through `From`."""
    found, expected = resolve(found), resolve(expected)
    if expected is ANY or is_erroneous(expected) or found is ANY or is_erroneous(found):
        return None
    if isinstance(expected, Generic):
        return _through_bound(checker, found, expected)
    meant = conversion(checker.declarations, found, expected)
    if meant is None and expected == STRING and is_error(found):
        return ERROR_TO_TEXT
    if meant is None:
        return None
    function, types = meant
    if function.native is not None:
        return Coercion("native_convert", expected)
    return Coercion("convert", expected, function, find_witnesses(checker, checker.frame, function, types))


def _through_bound(checker: BodyChecker, found: Type, expected: Generic) -> Coercion | None:
    """That of `E: From<A>`, whatever type `E` is."""
    found = base_type(found)
    if TraitUse(FROM, (found,)) not in expected.symbol.bounds:
        return None
    assert FROM.self_generic is not None
    function, types = FROM.methods["from"], {FROM.self_generic: expected, FROM.generics[0]: found}
    return Coercion("convert", expected, function, find_witnesses(checker, checker.frame, function, types))


def _fits(found: Type, expected: Type) -> bool:
    return found is expected or resolve(found) == resolve(expected)


def fits_error(found: Type, expected: Type) -> bool:
    """Whether an error can be passed on as it is."""
    return fit(found, expected) == ()
