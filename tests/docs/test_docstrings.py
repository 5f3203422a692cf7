"""What docstrings and pages call by the name of a module or file exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_QUOTED = re.compile(r"`([^`\n]+)`")
_FILE = re.compile(r"[\w/]+\.(?:py|lark)|(?:[a-z_]+/)+(?:[a-z_]+)?")
_DOTTED = re.compile(r"[a-z_]+(?:\.[a-z_]+)*\.\w+")


def test_what_docstrings_name() -> None:
    lost = [
        f"{path.relative_to(_ROOT)}: `{name}`"
        for path in _python_files()
        for name in _quoted_in_docstrings(path)
        if (
            not _is_file(name, path.parent)
            if _FILE.fullmatch(name)
            else _DOTTED.fullmatch(name) and not _is_known(name.split("."))
        )
    ]
    assert not lost, "\n".join(lost)


def test_what_pages_name() -> None:
    pages = [_ROOT / "README.md", *sorted((_ROOT / "docs" / "pages").rglob("*.md"))]
    lost = [
        f"{page.relative_to(_ROOT)}: `{name}`"
        for page in pages
        if page.parent.name in ("pages", "internals", _ROOT.name)
        for name in _QUOTED.findall(page.read_text(encoding="utf-8"))
        if _FILE.fullmatch(name) and not _is_file(name, _ROOT)
    ]
    assert not lost, "\n".join(lost)


@cache
def _python_files() -> list[Path]:
    return sorted(path for path in (_ROOT / "concerto").rglob("*.py") if "_data" not in path.parts)


def _quoted_in_docstrings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Expr(ast.Constant(str(text))):
                yield from _QUOTED.findall(text)


def _is_file(name: str, beside: Path) -> bool:
    """Whether it is a path from the root or the package, or ends one of the package."""
    if any((base / name).exists() for base in (beside, _ROOT, _ROOT / "concerto")):
        return True
    ending = name.strip("/")
    return any(path.as_posix().endswith(f"/{ending}") for path in _folders_and_files())


@cache
def _folders_and_files() -> set[Path]:
    return {each for path in _python_files() for each in (path, *path.parents)}


def _is_known(parts: list[str]) -> bool:
    """Whether a dotted name that begins with a module of ours goes on with something in it."""
    for path in _modules().get(parts[0], ()):
        if _leads_on(path, parts[1:]):
            return True
    return parts[0] not in _modules() or parts[0] in ("value", "handle", "json", "string")


def _leads_on(path: Path, parts: list[str]) -> bool:
    if not parts:
        return True
    if path.name == "__init__.py":
        for inner in (path.parent / f"{parts[0]}.py", path.parent / parts[0] / "__init__.py"):
            if inner.exists():
                return _leads_on(inner, parts[1:])
    return re.search(rf"\b{parts[0]}\b", path.read_text(encoding="utf-8")) is not None


@cache
def _modules() -> dict[str, list[Path]]:
    """Modules and packages by the last part of their names."""
    named: dict[str, list[Path]] = {}
    for path in _python_files():
        named.setdefault(path.parent.name if path.name == "__init__.py" else path.stem, []).append(path)
    return named
