"""The protocol's types with what a server needs of them: half of the time that importing them takes.

`lsprotocol` has more than 500 classes made by `attrs`, which writes and compiles the methods of each. Here
they are made without slots, `repr`, patterns and checks of assigned values. Whoever imports this before
`lsprotocol` has them so.
"""

from __future__ import annotations

from functools import partial

import attrs

_define = attrs.define
_light = {"slots": False, "repr": False, "match_args": False, "on_setattr": attrs.setters.NO_OP}
vars(attrs)["define"] = partial(_define, auto_attribs=True, **_light)
try:
    from lsprotocol import types as types
finally:
    vars(attrs)["define"] = _define
