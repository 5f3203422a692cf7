"""What people bring along from other languages, and what to tell them."""

from __future__ import annotations

# Characters without a meaning: the message and the advice.
CHARACTERS = {
    "&": ("`&` has no meaning here", "values are copied when needed, there are no references; and is `&&`"),
    "#": ("`#` has no meaning here", "a comment starts with `//`, an attribute with `@`"),
    "$": ("`$` has no meaning outside of a string", "inside a string `${name}` inserts a value"),
    "`": ("a string stands in double quotes", 'write `"text ${value}"`'),
    "^": ("there is no operator `^`", "the power is `**`"),
    "~": ("there is no operator `~`", "the opposite of a Bool is `!x`"),
    "\\": ("`\\` has no meaning outside of a string", "an expression may simply go on in the next line"),
    "\0": ("a NUL character has no meaning here", ""),
    "“": ("strings stand in straight quotes", 'write `"…"`'),
    "”": ("strings stand in straight quotes", 'write `"…"`'),
    "‘": ("strings stand in straight quotes", 'write `"…"`'),
    "’": ("strings stand in straight quotes", 'write `"…"`'),
    "\u00a0": ("a non-breaking space has no meaning here", "use an ordinary space"),
}
