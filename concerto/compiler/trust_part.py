"""The part of a program that trust looks at: a check links this alone where it finds nothing in it.

The code of a function counts if it reaches an agent, a tool or the world. What it calls is told from the
names in its text, so some count in vain. All others are linked without code. What an analysis cannot follow
is unknown to it: it may find too much in a part, and never too little.
"""

from __future__ import annotations

from typing import Final

from concerto.emit.linking import link
from concerto.emit.program import Ordered, ProgramBuilder
from concerto.ir.module import Function, ModuleIR
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.symbols import FunctionSymbol, ImplSymbol, SymbolBase, TraitSymbol
from concerto.syntax import ast
from concerto.trust.call_graph import AGENT_CALLS
from concerto.trust.defaults import ENVIRONMENT, NATIVES

_TO_BLANKS: Final = {code: " " for code in range(128) if not (chr(code).isalnum() or chr(code) == "_")}


def emit_trust_part(analysis: Analysis) -> ModuleIR | None:
    """The linked program with the code that counts; None if all may count."""
    counting = _counting(analysis)
    return None if counting is None else link(_PartBuilder(analysis, counting))


class _PartBuilder(ProgramBuilder):
    """Writes the code of some functions only."""

    def __init__(self, analysis: Analysis, counting: set[FunctionSymbol]) -> None:
        super().__init__(analysis)
        self._left_out = set(analysis.functions) - counting

    def written_before(self, symbol: FunctionSymbol, ordered: Ordered) -> Function | None:
        if symbol not in self._left_out or symbol.decl is None:
            return None
        given = self.analysis.given_witnesses.get(symbol.decl, [])
        names = [each.name for each in given] + [each.name.text for each in symbol.decl.parameters]
        return Function(symbol.qualified, names, 0, len(names), [], 0, [], symbol.inout)


def _counting(analysis: Analysis) -> set[FunctionSymbol] | None:
    """The functions that reach something; None if one may be called without its name: by another one, by an
    operator, or in a field's default."""
    texts = [source.text for source in analysis.files]
    if any(_renames(module.tree) for module in analysis.modules):
        return None
    names = _names_of_the_world(analysis, texts)
    known = names.union([symbol.name for symbol in analysis.functions])
    users: dict[str, list[FunctionSymbol]] = {}
    for symbol in analysis.functions:
        words = _words(symbol, symbol.node)
        if "use" in words and "as" in words:
            return None
        for word in known.intersection(words):
            users.setdefault(word, []).append(symbol)
    waiting, counting = list(names), set[FunctionSymbol]()
    while waiting:
        for symbol in users.get(waiting.pop(), ()):
            if symbol in counting:
                continue
            if _is_of_trait(symbol):
                return None
            counting.add(symbol)
            if symbol.name not in names:
                names.add(symbol.name)
                waiting.append(symbol.name)
    defaults = (
        _words(struct, field.default)
        for struct in analysis.structs
        for field in struct.fields
        if field.default is not None
    )
    return counting if all(names.isdisjoint(words) for words in defaults) else None


def _names_of_the_world(analysis: Analysis, texts: list[str]) -> set[str]:
    """What a function writes that executes an agent, calls a tool or reaches the world by itself."""
    names = set(AGENT_CALLS) | {pipeline.name for pipeline in analysis.pipelines}
    names.update(*(tool.methods for tool in analysis.tools), *(mcp.methods for mcp in analysis.mcps))
    for native in (*NATIVES, *ENVIRONMENT):
        module, name = native.split("::")[-2:]
        # Those of a module are reached only where the module is named: `get` alone says little.
        if not module.islower() or module == "prelude" or any(module in text for text in texts):
            names.add(name)
    return names


def _is_of_trait(symbol: FunctionSymbol) -> bool:
    owner = symbol.owner
    return isinstance(owner, TraitSymbol) or (isinstance(owner, ImplSymbol) and owner.trait is not None)


def _renames(tree: ast.Module | ast.ModDecl | None) -> bool:
    """Whether a module brings something in under another name."""
    items = (tree.items if tree is not None else None) or ()
    return any(leaf.alias for item in items if isinstance(item, ast.UseDecl) for leaf in item.trees)


def _words(symbol: SymbolBase, node: ast.Node | None) -> set[str]:
    """The words in a part of a declaration."""
    if node is None or symbol.source is None:
        return set()
    return set(symbol.source.text[node.start : node.end].translate(_TO_BLANKS).split())
