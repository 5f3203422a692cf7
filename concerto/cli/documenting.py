"""`concerto doc`: the documentation of the library and of a project, from declarations and doc comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from concerto.cli.reporting import OK, Failure
from concerto.compiler.disk import SOURCE_SUFFIX, USUAL_ENTRIES, open_project, shown_path, sources_below
from concerto.compiler.pipeline import read_source
from concerto.diagnostics import Problems, did_you_mean, suggest
from concerto.records import record, replace
from concerto.resources import resource
from concerto.syntax import ast
from concerto.syntax.parser import parse
from concerto.syntax.unparse import signature, unparse


@record(frozen=True)
class DocEntry:
    """What is said of one declaration. A method's name begins with its type; `home` is the module or file."""

    name: str
    declaration: str
    docs: str
    home: str = ""

    @property
    def path(self) -> str:
        """As it is looked for, without type parameters."""
        name = re.sub(r"<.*>", "", self.name)
        return f"{self.home}.{name}" if self.home else name


def show_documentation(name: str | None, target: str) -> int:
    """Prints what is known of a name in the library, or in a program of a file or folder. Without a name,
    what there is."""
    entries = [*library_entries(), *word_entries(), *project_entries(Path(target))]
    if name == "std":
        entries = list(library_entries())
    if name in (None, "std"):
        print("\n".join(dict.fromkeys(entry.path.split(".")[0] for entry in entries)))
        return OK
    text = documentation_of(name, entries)
    if text is None:
        near = suggest(_plain(name), [known for entry in entries for known in (entry.home, *_names(entry))])
        raise Failure(f"nothing is known of `{name}`" + (f"; {did_you_mean(near)}" if near else ""))
    print(text)
    return OK


def documentation_of(name: str, entries: Iterable[DocEntry]) -> str | None:
    """The declaration and text of all that has a name (`trim`, `String.trim`, `std::json::parse`), or what a
    module or type (`std::json`, `String`) has."""
    wanted = _plain(name)
    entries = list(entries)
    found = [entry for entry in entries if entry.path == wanted] or [
        entry for entry in entries if wanted in _names(entry)
    ]
    parts = [_shown(entry) for entry in found]
    inside = [entry for entry in entries if any(known.startswith(f"{wanted}.") for known in _names(entry))]
    if inside:
        parts.append("\n".join(line for entry in inside for line in entry.declaration.splitlines()[:1]))
    return "\n\n".join(parts) or None


def _plain(name: str) -> str:
    return name.strip().replace("::", ".").removeprefix("std.").removeprefix("@")


def _names(entry: DocEntry) -> tuple[str, ...]:
    return entry.path, entry.path.removeprefix(f"{entry.home}."), entry.path.rpartition(".")[2]


def _shown(entry: DocEntry) -> str:
    where = f"// {entry.home}\n" if entry.home else ""
    text = entry.docs.strip().replace("```", "\n```").replace("\n\n```", "\n```")
    return f"{where}{entry.declaration}" + (f"\n\n{text}" if text else "")


def library_entries() -> Iterator[DocEntry]:
    """Those of the library; `home` is empty for what is known everywhere."""
    for path in sorted(resource("stdlib").glob("*.conc")):
        tree = _parsed(path)
        home = path.stem if is_module(tree) and path.stem != "prelude" else ""
        for item in tree.items:
            if isinstance(item, ast.UseDecl) and item.public:
                yield DocEntry("names of others", unparse(item), "", path.stem)
            # Methods of a type are known wherever the type is.
            known_everywhere = isinstance(item, ast.ImplDecl)
            yield from (replace(entry, home="" if known_everywhere else home) for entry in entries_of(item))


def word_entries() -> Iterator[DocEntry]:
    """Those of keywords and decorators."""
    text = resource("grammar").joinpath("words.md").read_text(encoding="utf-8")
    for section in text.split("\n## ")[1:]:
        word, _, rest = section.partition("\n")
        said, _, example = rest.partition("```concerto\n")
        home = "decorator" if word.startswith("@") else "keyword"
        yield DocEntry(word.removeprefix("@"), example.partition("\n```")[0], said, home)


def project_entries(target: Path) -> Iterator[DocEntry]:
    for path in _modules(target) if target.is_dir() else [target]:
        if not path.is_file():
            raise Failure(f"there is no file `{path}`", file=str(path))
        for item in _parsed(path).items:
            yield from (replace(entry, home=path.stem) for entry in entries_of(item, private=True))


def _modules(folder: Path) -> list[Path]:
    """The files of the project that a folder is in, or of the program in it, but their tests; of a folder
    without one its own files."""
    project = open_project(folder / USUAL_ENTRIES[0], Problems())
    entry = next((folder / name for name in USUAL_ENTRIES if (folder / name).is_file()), None)
    if project.manifest is None and entry is None:
        return sorted(folder.glob(f"*{SOURCE_SUFFIX}"))
    root = entry.parent if entry is not None and project.manifest is None else project.roots[0]
    return [path for path in sources_below(root) if "tests" not in path.relative_to(root).parts]


def _parsed(path: Path) -> ast.Module:
    problems = Problems()
    return parse(read_source(path.read_bytes(), shown_path(path), problems), problems)


def is_module(tree: ast.Module) -> bool:
    """Whether a program has to name a file of the library: it has functions of its own, not only types."""
    return any(isinstance(item, ast.FnDecl | ast.ToolDecl) for item in tree.items)


def entries_of(item: ast.Item, *, private: bool = False) -> Iterator[DocEntry]:
    """What a declaration declares."""
    match item:
        case ast.FnDecl() if item.public or private:
            yield DocEntry(item.name.text, signature(item), item.docs or "")
        case ast.ImplDecl(trait=None):
            owner = unparse(item.target)
            for method in item.methods:
                if method.public or private:
                    yield DocEntry(f"{owner}.{method.name.text}", signature(method), method.docs or "")
        case ast.ToolDecl():
            methods = "\n\n".join(unparse(method) for method in item.methods if method.public)
            yield DocEntry(item.name.text, methods, item.docs or "")
        case ast.StructDecl() | ast.EnumDecl() | ast.TraitDecl() | ast.ConstDecl() | ast.TypeAliasDecl():
            if item.public or private:
                yield DocEntry(item.name.text, signature(item), item.docs or "")
        case (
            ast.SchemaDecl()
            | ast.AgentDecl()
            | ast.McpDecl()
            | ast.PipelineDecl()
            | ast.StateDecl()
            | ast.ConnectDecl()
        ) if private:
            yield DocEntry(item.name.text, signature(item), item.docs or "")
        case ast.ModDecl(items=list(items)) if private:
            for entry in (entry for inner in items for entry in entries_of(inner, private=True)):
                yield replace(entry, name=f"{item.name.text}.{entry.name}")
        case _:
            return
