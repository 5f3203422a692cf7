"""What a command's FILE or DIR means."""

from __future__ import annotations

from pathlib import Path

from concerto.cli.reporting import Failure, cannot
from concerto.compiler.disk import IR_SUFFIX, SOURCE_SUFFIX, USUAL_ENTRIES, sources_below
from concerto.manifest import FILE_NAME, ManifestError, check_owner, find_manifest
from concerto.manifest.load_cached import load_settings


def program_file(target: str) -> Path:
    """The first file of the program named on the command line; a folder stands for its entry, the
    current one in a project for the project's.

    Raises `Failure` if there is none, and `ManifestError` if the folder's manifest is broken or a stranger's.
    """
    path = Path(target)
    try:
        if path.is_dir():
            entry = entry_of(path)
            if entry is None and target == ".":
                entry = _entry_around()
            if entry is None:
                raise _no_program(target)
            return entry
        if not path.exists():
            near = path.with_name(path.name + SOURCE_SUFFIX)
            from concerto.diagnostics.suggestions import did_you_mean

            advice = f"; {did_you_mean(str(near))}" if near.is_file() else ""
            raise Failure(f"there is no file `{target}`{advice}", file=target)
    except OSError as error:
        raise cannot("read", target, error) from None
    if path.suffix not in (SOURCE_SUFFIX, IR_SUFFIX):
        message = f"`{target}` is neither a program (`.conc`) nor a compiled one (`.conc-ir`)"
        raise Failure(message, file=target)
    return path


def source_file(target: str) -> Path:
    """As `program_file`, for commands that need the source."""
    path = program_file(target)
    if path.suffix == IR_SUFFIX:
        raise Failure(f"`{target}` is compiled already: give its source, a `.conc` file", file=target)
    return path


def source_files(target: str) -> list[Path]:
    """As `source_file`; a folder that has no program stands for those of the folders below it."""
    folder = Path(target)
    if not folder.is_dir() or entry_of(folder) is not None:
        return [source_file(target)]
    below = {parent for path in sources_below(folder) for parent in path.parents if folder in parent.parents}
    entries = [entry for each in sorted(below) if (entry := entry_of(each)) is not None]
    if not entries:
        return [source_file(target)]
    return list(dict.fromkeys(entries))


def entry_of(folder: Path) -> Path | None:
    """What its manifest says, or a file of the usual name; None if there is none."""
    manifest_path = folder / FILE_NAME
    if manifest_path.is_file():
        check_owner(manifest_path, folder)
        entry = load_settings(manifest_path).project.get("entry")
        if entry is not None:
            if not (folder / str(entry)).is_file():
                raise _no_entry(manifest_path, str(entry))
            return folder / str(entry)
    return next((folder / usual for usual in USUAL_ENTRIES if (folder / usual).is_file()), None)


def _no_entry(manifest_path: Path, entry: str) -> ManifestError:
    from concerto.diagnostics import BadManifest, Problems
    from concerto.manifest.places import key_places
    from concerto.source import Source

    source = Source(str(manifest_path), manifest_path.read_text("utf-8-sig"))
    there = (manifest_path.parent / entry).exists()
    message = f"the entry `{entry}` {'is no file' if there else 'does not exist'}"
    problems = Problems()
    problems.add(
        BadManifest(
            source.span(*key_places(source.text)["project", "entry"].value),
            message,
            help="name the file with `main`, from the folder of this one",
        )
    )
    return ManifestError(manifest_path, problems)


def _entry_around() -> Path | None:
    """That of the project which the current folder is a part of."""
    manifest = find_manifest(Path())
    return None if manifest is None else entry_of(manifest.parent)


def _no_program(folder: object) -> Failure:
    return Failure(f"there is no `main.conc` or `src/main.conc` in `{folder}`", file=str(folder))
