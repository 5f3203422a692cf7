"""The text of functions as it runs, beside the one that failures are looked up in."""

from __future__ import annotations

from concerto.ir.module import ModuleIR
from concerto.vm.copying import Copies
from concerto.vm.python_tier import codegen
from concerto.vm.python_tier.names import Names
from concerto.vm.python_tier.unboxing import find_openings
from concerto.vm.python_tier.writer import unmarked


def traced_otherwise(module: ModuleIR) -> list[str]:
    """The names of functions that are not written the same with marks."""
    names, copies = Names(), Copies(module.types, module.functions)
    texts, arguments = codegen.module_texts(module, names, copies)
    openings = find_openings(module, copies)
    found = []
    for index, text in texts.items():
        marked = codegen._written(module, index, names, openings, arguments.get(index, ()), marked=True)
        if unmarked("\n".join(marked.lines)) != text:
            found.append(module.functions[index].name)
    return found
