"""String constants: in the text only their numbers, put in place once the text is compiled.

So no text of the program is ever compiled, and yet CPython sees literals, which it keeps in tuples, joins
in f-strings and loads faster than names. CPython computes what it can from literals, also from those inside
a tuple. Joined numbers, or one taken out of a tuple, are still numbers; of nothing else that is asked of a
value (an index, whether it is empty) may a literal be an operand: `instructions.registry.unfolded`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import CodeType
from typing import Any

_NUMBER = r"<k(\d+)>"


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
            return re.sub(_NUMBER, lambda number: constants[int(number[1])], value)
        case tuple():
            return tuple([_put(item, constants) for item in value])
        case frozenset():
            return frozenset([_put(item, constants) for item in value])
        case CodeType():
            return with_strings(value, constants)
        case _:
            return value
