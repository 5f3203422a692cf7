"""Generated code that was kept: only of the Python that runs."""

from __future__ import annotations

import marshal
import sys

from concerto.compiler import compile_source
from concerto.vm import python_tier


def test_code_of_another_python_is_not_taken() -> None:
    kept = python_tier.compile_module(compile_source("fn main() {}").module)
    version, *compiled = marshal.loads(kept)
    other = marshal.dumps((version + 1, *compiled))
    taken, refused = python_tier._loaded(kept), python_tier._loaded(other)
    assert version == sys.hexversion
    assert taken is not None
    assert refused is None
