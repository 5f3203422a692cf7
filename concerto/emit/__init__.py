"""From a checked program to its IR: code of all functions, tool and JSON schemas, declarations.

`emit_program` is the one entry. It takes an Analysis without errors and returns the linked
`ir.module.ModuleIR`; the same analysis gives the same module.
"""

# Imported for what they register: how each class of node is emitted.
from concerto.emit import (  # noqa: F401
    calls,
    closures,
    coercions,
    control,
    exceptions,
    listen_mock,
    literals,
    lvalues,
    names,
    operators,
    structs,
)
from concerto.emit.linking import emit_program
from concerto.emit.pattern_matching import matching  # noqa: F401

__all__ = ["emit_program"]
