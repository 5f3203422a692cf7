"""Brings an `mcp` block of a program up to date with its server, touching nothing that still fits.

The program's own words stay: comments, descriptions, decorators, and types that are other than the server's
but fit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from concerto.contracts.comparison import Difference, breaking, compare
from concerto.contracts.generate_block import (
    DeclaredTypes,
    ParameterText,
    block_text,
    function_text,
    param_text,
    parameters_of,
    result_text,
    writable,
)
from concerto.contracts.interface import Interface, ToolInterface, as_identifier, match_name
from concerto.schema.reading import properties
from concerto.syntax import ast


@dataclass(slots=True)
class Update:
    """The new text, and what was done, for a person."""

    text: str
    done: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Edits:
    text: str
    edits: list[tuple[int, int, str]] = field(default_factory=list)

    def replace(self, start: int, end: int, text: str) -> None:
        self.edits.append((start, end, text))

    def result(self) -> str:
        parts, at = [], 0
        for start, end, text in sorted(self.edits, key=lambda edit: edit[:2]):
            parts += [self.text[at:start], text]
            at = end
        return "".join([*parts, self.text[at:]])


def new_block(server: str, interface: Interface, text: str) -> Update:
    """The program's text with a block at its end."""
    types = DeclaredTypes(server, interface)
    block = block_text(server, interface, types)
    added = "\n".join([*types.texts.values(), block])
    done = [f"added `{as_identifier(tool.name)}`" for tool in writable(interface)]
    return Update(f"{text.rstrip()}\n\n{added}" if text.strip() else added, done)


def update_block(
    node: ast.McpDecl,
    module: ast.Module,
    text: str,
    declared: Interface,
    interface: Interface,
    *,
    minimal: bool = False,
) -> Update:
    """The text with the block updated. `declared` are its functions; `minimal` adds nothing that is not
    needed."""
    types = DeclaredTypes(node.name.text, interface)
    written = {tool.name: function_text(tool, types) for tool in writable(interface)}
    edits = _Edits(text)
    done: list[str] = []
    met: set[str] = set()
    for function in node.functions:
        name = function.name.text
        found = match_name(name, interface)
        if found is None:
            edits.replace(*_whole_lines(function, text), "")
            done.append(f"removed `{name}`, which the server has no more")
            continue
        met.add(found)
        if name not in declared:
            continue  # Written twice; the checker says so.
        changes = breaking(compare({name: declared[name]}, interface, "declared"))
        what = _update_function(function, edits, declared[name], interface[found], changes, types, minimal)
        if what:
            done.append(f"changed `{name}`: {'; '.join(what)}")
    missing = [name for name in written if name not in met]
    if missing and not minimal:
        _append(node, edits, [written[name] for name in missing])
        done += [f"added `{as_identifier(name)}`" for name in missing]
    _write_types(types.texts, node, module, edits)
    return Update(edits.result(), done)


def _update_function(
    function: ast.FnDecl,
    edits: _Edits,
    declared: ToolInterface,
    offered: ToolInterface,
    changes: list[Difference],
    types: DeclaredTypes,
    minimal: bool,
) -> list[str]:
    """Edit what does not fit any more, and say what was done."""
    wanted = {each.name: each for each in parameters_of(offered, types)}
    said = [change.message for change in changes]
    broken = {change.parameter for change in changes if change.parameter}
    known = properties(offered.parameters)
    names = {name: match_name(name, known) for name in properties(declared.parameters)}
    taken = {as_identifier(name) for name in names.values() if name is not None}
    new = [each for name, each in wanted.items() if name not in taken and (each.needed or not minimal)]
    said += [f"the server takes a new optional parameter `{each.name}`" for each in new if not each.needed]
    kept: list[tuple[str, bool]] = []
    for parameter in function.parameters:
        name = parameter.name.text
        theirs = names.get(name)
        if theirs is None:
            continue
        if name in broken:
            kept.append((wanted[as_identifier(theirs)].text, wanted[as_identifier(theirs)].needed))
        else:
            kept.append((edits.text[parameter.start : parameter.end], parameter.default is None))
    if len(kept) < len(function.parameters) or broken or new:
        _write_parameters(function, edits, kept, new)
        gone = {name for name, theirs in names.items() if theirs is None}
        _write_descriptions(function, edits, gone, new)
    if any(not change.parameter for change in changes) and function.result is not None:
        edits.replace(function.result.start, function.result.end, result_text(offered, types))
    return said


def _write_parameters(
    function: ast.FnDecl, edits: _Edits, kept: list[tuple[str, bool]], new: list[ParameterText]
) -> None:
    needed = [text for text, without_default in kept if without_default]
    needed += [each.text for each in new if each.needed]
    others = [text for text, without_default in kept if not without_default]
    others += [each.text for each in new if not each.needed]
    if function.parameters:
        start, end = function.parameters[0].start, function.parameters[-1].end
    else:
        start = end = edits.text.index("(", function.name.end) + 1
    between = ",\n        " if "\n" in edits.text[start:end] else ", "
    edits.replace(start, end, between.join([*needed, *others]))


def _write_descriptions(
    function: ast.FnDecl, edits: _Edits, gone: set[str], new: list[ParameterText]
) -> None:
    """Take away the `@param`s of what is gone, and add those that are missing."""
    told: set[str] = set()
    for decorator in function.decorators:
        first = decorator.arguments[0].value if decorator.arguments else None
        if decorator.name.text != "param" or not isinstance(first, ast.StringLit):
            continue
        if first.value in gone:
            edits.replace(*_with_blanks_after(decorator, edits.text), "")
        told.add(first.value)
    missing = [each for each in new if each.name not in told]
    place = _signature_start(function, edits.text)
    indent = " " * (place - edits.text.rfind("\n", 0, place) - 1)
    edits.replace(place, place, "".join([f"{param_text(each)}\n{indent}" for each in missing]))


def _append(node: ast.McpDecl, edits: _Edits, written: list[str]) -> None:
    """Add functions before the brace that closes the block."""
    place = node.end - 1
    line = edits.text.rfind("\n", 0, place) + 1
    alone = not edits.text[line:place].strip()
    before = "" if _is_empty(node) else "\n"
    edits.replace(line if alone else place, place, ("" if alone else "\n") + before + "\n".join(written))


def _is_empty(node: ast.McpDecl) -> bool:
    return not node.functions and not node.settings


def _write_types(texts: Mapping[str, str], node: ast.McpDecl, module: ast.Module, edits: _Edits) -> None:
    """Types that the edits speak of: those that are there already under their name are replaced, the
    others follow the block."""
    there = {item.name.text: item for item in module.items if isinstance(item, ast.StructDecl | ast.EnumDecl)}
    for name in _needed_types(texts, edits):
        written = texts[name]
        declared = there.get(name)
        if declared is None:
            edits.replace(node.end, node.end, f"\n\n{written.rstrip()}")
        elif edits.text[declared.start : declared.end].split() != written.split():
            edits.replace(declared.start, declared.end, written.rstrip())


def _needed_types(texts: Mapping[str, str], edits: _Edits) -> list[str]:
    """The types that what was written needs, and those that they need."""
    spoken = " ".join([text for _, _, text in edits.edits])
    found: set[str] = set()
    while more := {name for name in texts.keys() - found if re.search(rf"\b{name}\b", spoken)}:
        found |= more
        spoken = " ".join([texts[name] for name in more])
    return [name for name in texts if name in found]


def _signature_start(function: ast.FnDecl, text: str) -> int:
    """Where the function itself begins, after its decorators and what is said between them."""
    place = text.rindex("fn", function.start, function.name.start)
    before = text[:place].rstrip()
    return len(before) - len("pub") if before.endswith("pub") else place


def _with_blanks_after(node: ast.Node, text: str) -> tuple[int, int]:
    end = node.end
    while text[end : end + 1].isspace():
        end += 1
    return node.start, end


def _whole_lines(node: ast.Node, text: str) -> tuple[int, int]:
    """The place of a declaration with the blank space before it on its line and the line break after it."""
    start, end = text.rfind("\n", 0, node.start) + 1, node.end
    if text[start : node.start].strip():
        start = node.start
    while text[end : end + 1] in (" ", "\t", ";"):
        end += 1
    if text[end : end + 1] == "\n":
        end += 1
        if text[end : end + 1] == "\n":
            end += 1
    return start, end
