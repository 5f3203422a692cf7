"""Unicode sanitizing: text from outside as texts of the language, without halves of surrogate pairs, which
have no UTF-8."""

from __future__ import annotations

_HALF = "[\ud800-\udfff]"


def well_formed(text: str) -> str:
    """The text with the replacement character for every half of a surrogate pair; of a subclass of `str`, as
    an enum's member, the text that it is, whatever it says of itself."""
    if type(text) is not str:
        text = str.__str__(text)
    if text.isascii():
        return text
    import re  # Most programs see no other text while they start.

    return re.sub(_HALF, "\ufffd", text)
