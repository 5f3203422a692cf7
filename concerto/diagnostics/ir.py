"""Problems of a compiled file (E0601–E0603)."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem


class UnreadableIr(Problem, code="E0601", title="not a readable IR file"):
    """The file is not JSON, is cut off, or holds something else than a compiled program. Build it
    again from its source with `concertoc build`.

    ```json
    {"version": "1", "module": "main",
    ```
    """


class IrVersion(Problem, code="E0602", title="IR of another version"):
    """The file was built by a version of the compiler whose IR this one does not read. Build it again
    from its source with `concertoc build`.

    ```json
    {"version": 0, "module": "main", "source_file": "main.conc"}
    ```
    """


class InvalidIr(Problem, code="E0603", title="IR that breaks the rules of the machine"):
    """The file is well-formed, but holds an unknown instruction, a wrong operand, a jump to nowhere, a
    stack that does not come out even or a name that does not exist. A compiler never writes such
    a file; it was changed or damaged. Build it again from its source with `concertoc build`.
    """
