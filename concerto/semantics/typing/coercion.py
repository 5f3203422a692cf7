"""Coercion and subtyping: which types may stand where another is asked for, and what happens to the value on
the way.

The implicit conversions are Int to Float, String to Prompt, T to Option<T>, and to and from Any (checked when
the program runs). Values may widen inside: an `Array<Int>` is an `Array<Any>`. Handles may not: they are
shared.
"""

from __future__ import annotations

from enum import IntEnum

from concerto.semantics.model.analysis import Coercion
from concerto.semantics.model.builtins import (
    ANY,
    BOOL,
    FLOAT,
    HANDLES,
    INT,
    ITERATOR,
    MCP_REF,
    NEVER,
    NIL,
    OPTION,
    PROMPT,
    STRING,
    TOOL_REF,
    option_item,
)
from concerto.semantics.model.symbols import (
    BuiltinSymbol,
    ErrorType,
    FunctionOf,
    Generic,
    Literals,
    LiteralValue,
    Named,
    TupleOf,
    Type,
    Unsolved,
    field_types,
)
from concerto.semantics.typing.unify import resolve, share_parts, unify

INT_TO_FLOAT = Coercion("int_to_float")
WRAP_SOME = Coercion("wrap_some")
UNCHANGED: tuple[Coercion, ...] = ()

_LITERAL_BASES = {"String": STRING, "Int": INT, "Bool": BOOL, "Nil": NIL}


def fit(found: Type, expected: Type) -> tuple[Coercion, ...] | None:
    """What turns a value of type `found` into one of `expected`; None if nothing does. Solves variables."""
    if found is expected:
        return UNCHANGED
    found, expected = resolve(found), resolve(expected)
    if found is expected:
        return UNCHANGED
    if found.__class__ is ErrorType or expected.__class__ is ErrorType:
        unify(found, expected)
        return UNCHANGED
    if expected.__class__ is Unsolved:
        return UNCHANGED if unify(found, expected) else None
    if found.__class__ is Unsolved:
        found.unsaid = expected is ANY
        return UNCHANGED if unify(found, expected) else None
    if found is NEVER:
        return UNCHANGED
    if expected is ANY:
        return _fit_any(found)
    if found is ANY:
        return (Coercion("check", expected),)
    if found is INT and expected is FLOAT:
        return (INT_TO_FLOAT,)
    if _accepts(expected, found):
        return UNCHANGED
    if isinstance(expected, Named) and expected.symbol is OPTION:
        wrapped = _fit_option(found, expected)
        if wrapped is not None:
            return wrapped
    if isinstance(found, Literals) and not isinstance(expected, Literals):
        base = literal_base(found)
        return None if base is None else fit(base, expected)
    if (found is STRING and expected is PROMPT) or (found is MCP_REF and expected is TOOL_REF):
        return UNCHANGED
    width = _width(found, expected)
    if width is Width.NO:
        return None
    if _forgets_types(found, expected):
        return (Coercion("check", found), Coercion("check", expected))
    if width is Width.SAME:
        return UNCHANGED
    if isinstance(expected, FunctionOf):
        return (Coercion("function_adapter", expected),)
    return (Coercion("check", expected),)


def _accepts(expected: Type, found: Type) -> bool:
    """Whether a trait is asked for that the type satisfies: its values carry their methods themselves."""
    accepts = expected.symbol.accepts if isinstance(expected, Generic) else None
    return accepts is not None and accepts(found)


def _fit_any(found: Type) -> tuple[Coercion, ...]:
    """Functions of which nobody knows the type any more look at their arguments themselves; what is shared
    looks at what is put into it."""
    return (Coercion("check", found),) if _keeps_types(found) else UNCHANGED


def _keeps_types(found: Type) -> bool:
    """Whether there may be functions, or shared values of a type with parts, in values of a type."""
    if found.__class__ is Named and found.symbol.__class__ is BuiltinSymbol and not found.arguments:
        return False
    todo: list[Type] = [found]
    seen: set[int] = set()
    while todo:
        match resolve(todo.pop()):
            case FunctionOf():
                return True
            case TupleOf(items=items) as part if id(part) not in seen:
                seen.add(id(part))
                todo += items
            case Named(symbol=symbol, arguments=arguments) as part if id(part) not in seen:
                seen.add(id(part))
                if symbol in HANDLES:
                    if arguments and part.plain:
                        return True
                    continue
                todo += arguments
                if id(symbol) not in seen:
                    seen.add(id(symbol))
                    todo += field_types(symbol)
            case _:
                pass
    return False


def _forgets_types(found: Type, expected: Type) -> bool:
    """Whether the type of a function, or of what is shared, in a value is known as `found` and no longer as
    `expected`."""
    todo = [(found, expected)]
    seen: set[tuple[int, int]] = set()
    while todo:
        left, right = todo.pop()
        one, other = resolve(left), resolve(right)
        if one is other or (id(one), id(other)) in seen:
            continue
        seen.add((id(one), id(other)))
        match one, other:
            case Named(), Named():
                todo += zip(one.arguments, other.arguments, strict=False)
            case TupleOf(), TupleOf():
                todo += zip(one.items, other.items, strict=False)
            case FunctionOf(), FunctionOf():
                # Arguments flow the other way.
                todo += zip(other.parameters, one.parameters, strict=False)
                todo.append((one.result, other.result))
            case _ if other is ANY and _keeps_types(one):
                return True
    return False


def _fit_option(found: Type, expected: Named) -> tuple[Coercion, ...] | None:
    """A plain value where an Option is expected is wrapped; an Option is left to the general rule."""
    if isinstance(found, Named) and found.symbol is OPTION:
        inner = resolve(expected.arguments[0])
        nested = isinstance(inner, Named) and inner.symbol is OPTION
        item = resolve(found.arguments[0])
        if not nested or isinstance(item, Unsolved) or option_item(item) is not None:
            return None
    inside = fit(found, expected.arguments[0])
    return None if inside is None else (*inside, WRAP_SOME)


def join(left: Type, right: Type) -> Type | None:
    """The type that values of both can be turned into, None if there is none (or only Any)."""
    left, right = resolve(left), resolve(right)
    if left is NEVER or left.__class__ is ErrorType:
        return right
    if right is NEVER or right.__class__ is ErrorType or left is right:
        return left
    if isinstance(left, Literals) and isinstance(right, Literals):
        return Literals(tuple(dict.fromkeys((*left.values, *right.values))))
    if ANY in (left, right) and NIL in (left, right):  # Else one that is there would have to be none.
        return ANY
    if fit(right, left) is not None:
        return left
    if fit(left, right) is not None:
        return right
    return None


def literal_base(literals: Literals) -> Type | None:
    """The type that all values of a literal union have, if it is one."""
    bases = {name for name, _ in literals.values}
    return _LITERAL_BASES[bases.pop()] if len(bases) == 1 else None


def literal_type(value: LiteralValue) -> tuple[str, LiteralValue]:
    """A value as it stands in a `Literals`."""
    match value:
        case None:
            return ("Nil", value)
        case bool():
            return ("Bool", value)
        case int():
            return ("Int", value)
        case str():
            return ("String", value)


def widened(found: Type) -> Type:
    """The type without the narrowness of literals: what a method or an operator looks at."""
    if found.__class__ is Unsolved:
        found = resolve(found)
    if found.__class__ is Literals:
        return literal_base(found) or ANY
    return found


# --- Inside of types ----------------------------------------------------------------------------


class Width(IntEnum):
    """How a part of a type lies in another: same values, values to be checked at run time, or not at all."""

    SAME = 0
    CHECKED = 1
    NO = 2


_Known = dict[tuple[int, int], Width]
"""Of pairs of types that were looked at, by identity: parts may be shared."""


def _width(found: Type, expected: Type, known: _Known | None = None) -> Width:
    found, expected = resolve(found), resolve(expected)
    if found is expected or found is NEVER or found.__class__ is ErrorType or expected.__class__ is ErrorType:
        return Width.SAME
    if found.__class__ is Unsolved or expected.__class__ is Unsolved:
        return Width.SAME if unify(found, expected) else Width.NO
    if expected is ANY or (found.closed and expected.closed and found == expected):
        return Width.SAME
    if found is ANY:
        return Width.CHECKED
    match found, expected:
        case (Named(), Named()) | (TupleOf(), TupleOf()) | (FunctionOf(), FunctionOf()):
            known = {} if known is None else known
            pair = id(found), id(expected)
            if pair not in known:
                known[pair] = _width_inside(found, expected, known)
            return known[pair]
        case _, Generic() if _accepts(expected, found):
            return Width.SAME
        case Literals(), Literals():
            return Width.SAME if found.known <= expected.known else Width.NO
        case Literals(), _:
            return Width.SAME if literal_base(found) is expected else Width.NO
        case _:
            return Width.SAME if found == expected else Width.NO


def _width_inside(found: Type, expected: Type, known: _Known) -> Width:
    match found, expected:
        case Named(), Named():
            width = _width_of_named(found, expected, known)
        case TupleOf(), TupleOf():
            width = _widest(found.items, expected.items, known)
        case FunctionOf(), FunctionOf():
            # Arguments flow the other way.
            inputs = _widest(expected.parameters, found.parameters, known)
            width = max(inputs, _width(found.result, expected.result, known))
        case _:
            raise AssertionError("types of one kind have parts")
    if width is Width.SAME:
        share_parts(found, expected)
    return width


def _width_of_named(found: Named, expected: Named, known: _Known) -> Width:
    if found.symbol is not expected.symbol:
        return Width.SAME if (found, expected) in ((STRING, PROMPT), (MCP_REF, TOOL_REF)) else Width.NO
    if found.symbol in HANDLES:
        return Width.SAME if unify(found, expected) else Width.NO
    width = _widest(found.arguments, expected.arguments, known)
    # What an iterator will give cannot be looked at.
    return Width.NO if found.symbol is ITERATOR and width is Width.CHECKED else width


def _widest(found: tuple[Type, ...], expected: tuple[Type, ...], known: _Known) -> Width:
    if found is expected:
        return Width.SAME
    if len(found) != len(expected):
        return Width.NO
    widest = Width.SAME
    for one, other in zip(found, expected, strict=True):
        width = _width(one, other, known)
        if width is Width.NO:
            return Width.NO
        widest = max(widest, width)
    return widest
