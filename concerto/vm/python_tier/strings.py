"""String constants: in the text only their numbers, put in place once the text is compiled.

So no text of the program is ever compiled, and yet CPython sees literals, which it keeps in tuples, joins
in f-strings and loads faster than names. CPython computes what it can from literals, also from those inside
a tuple. Joined numbers, or one taken out of a tuple, are still numbers; of nothing else that is asked of a
value (an index, whether it is empty) may a literal be an operand: `instructions.registry.unfolded`.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType

from concerto.annotating import Any


def string_text(index: int) -> str:
    """How a string constant is written."""
    return f"'<k{index}>'"


def has_strings(text: str) -> bool:
    """Whether a string constant is written somewhere in a text."""
    return "<k" in text


def piece_text(literal: str) -> str:
    """How a string constant, as written, is written inside an f-string."""
    return literal[1:-1]


def with_strings(code: CodeType, constants: Sequence[Any]) -> CodeType:
    """Compiled code with the strings in place of their numbers."""
    return code.replace(co_consts=tuple([_put(constant, constants) for constant in code.co_consts]))


def _put(value: Any, constants: Sequence[Any]) -> Any:
    match value:
        case str():
            return _put_into(value, constants) if has_strings(value) else value
        case tuple():
            return tuple([_put(item, constants) for item in value])
        case frozenset():
            return frozenset([_put(item, constants) for item in value])
        case CodeType():
            return with_strings(value, constants)
        case _:
            return value


def _put_into(text: str, constants: Sequence[Any]) -> str:
    first, *others = text.split("<k")
    pieces = [first]
    for each in others:
        number, _, rest = each.partition(">")
        pieces += [constants[int(number)], rest]
    # A constant that is all of the text stays the same object.
    return "".join([piece for piece in pieces if piece])
