"""What a command's FILE or DIR means."""

from __future__ import annotations

from pathlib import Path

from concerto.cli.reporting import Failure, cannot
from concerto.manifest import FILE_NAME, check_owner, load_manifest

SOURCE_SUFFIX = ".conc"
IR_SUFFIX = ".conc-ir"
_USUAL_ENTRIES = ("main.conc", "src/main.conc")


def program_file(target: str) -> Path:
    """The first file of the program named on the command line; a folder stands for its entry.

    Raises `Failure` if there is none, and `ManifestError` if the folder's manifest is broken or a stranger's.
    """
    path = Path(target)
    try:
        if path.is_dir():
            return _entry_of(path)
        if not path.exists():
            near = path.with_name(path.name + SOURCE_SUFFIX)
            advice = f"; did you mean `{near}`?" if near.is_file() else ""
            raise Failure(f"there is no file `{target}`{advice}")
    except OSError as error:
        raise cannot("read", target, error) from None
    if path.suffix not in (SOURCE_SUFFIX, IR_SUFFIX):
        raise Failure(f"`{target}` is neither a program (`.conc`) nor a compiled one (`.conc-ir`)")
    return path


def source_file(target: str) -> Path:
    """As `program_file`, for commands that need the source."""
    path = program_file(target)
    if path.suffix == IR_SUFFIX:
        raise Failure(f"`{target}` is compiled already: give its source, a `.conc` file")
    return path


def _entry_of(folder: Path) -> Path:
    manifest_path = folder / FILE_NAME
    entry = None
    if manifest_path.is_file():
        check_owner(manifest_path, folder)
        entry = load_manifest(manifest_path).project.entry
    if entry is not None:
        if not (folder / entry).is_file():
            raise Failure(f"the entry `{entry}` of `{manifest_path}` does not exist")
        return folder / entry
    for usual in _USUAL_ENTRIES:
        if (folder / usual).is_file():
            return folder / usual
    raise Failure(f"there is no `main.conc` or `src/main.conc` in `{folder}`")
