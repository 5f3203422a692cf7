"""`concerto test`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from textwrap import indent

from concerto.cli.reporting import FAILED, OK, USAGE, Failure, cannot, show_problems
from concerto.cli.running import load_environment
from concerto.diagnostics import Problems
from concerto.escape import visible
from concerto.files import check_writable
from concerto.manifest import ManifestError
from concerto.testing.cases import TestFile, find_tests
from concerto.testing.junit import write_junit
from concerto.testing.running import Outcome, run_tests


def test(
    target: str,
    *,
    filter: str,  # noqa: A002  the option's word
    junit: str | None,
    timeout: float,
    jobs: int,
    environment: str | None,
    record: bool = False,
) -> int:
    """Runs the tests of a file or folder: 0 if all passed, 1 if one failed, 2 if there are none. With
    `record` those with `@replay` ask the world, and what it answers is written down."""
    if environment is not None:
        load_environment(Path(environment))
    files = _found(Path(target))
    if files is None:
        return USAGE
    if not any(file.cases for file in files):
        raise Failure(f"there are no tests in `{target}`")
    chosen = [
        replace(file, cases=tuple(case for case in file.cases if filter in case.title)) for file in files
    ]
    left_out = sum(len(file.cases) for file in files) - sum(len(file.cases) for file in chosen)
    if not any(file.cases for file in chosen):
        raise Failure(f"no test has `{filter}` in its file or name")
    if record:
        _require_one_recording_each(chosen)
    if junit is not None:
        try:
            check_writable(junit)
        except OSError as error:
            raise cannot("write", junit, error) from None
    outcomes = []
    for outcome in run_tests(chosen, timeout=timeout, at_once=jobs, own_process=True, record=record):
        outcomes.append(outcome)
        _show(outcome)
    _summarize(outcomes, left_out)
    if junit is not None:
        try:
            write_junit(outcomes, Path(junit))
        except OSError as error:
            raise cannot("write", junit, error) from None
    return OK if all(outcome.passed for outcome in outcomes) else FAILED


def _require_one_recording_each(files: list[TestFile]) -> None:
    """Of two tests that write the same file, one would be answered with what the other asked."""
    titles: dict[Path, str] = {}
    for case in [case for file in files for case in file.cases if case.test.recording is not None]:
        place = case.folder / str(case.test.recording)
        if place in titles:
            both = f"`{titles[place]}` and `{case.title}` would both write `{case.test.recording}`"
            raise Failure(f"{both}; give each its own, or --filter one")
        titles[place] = case.title


def _found(path: Path) -> list[TestFile] | None:
    """The tests; None if a program has errors, which are shown."""
    if not path.exists():
        raise Failure(f"there is no file `{path}`")
    if path.is_file() and path.suffix != ".conc":
        raise Failure(f"`{path}` is no program (`.conc`): tests stand in sources")
    problems = Problems()
    try:
        files = find_tests(path, problems)
    except ManifestError as broken:
        show_problems(broken.problems)
        return None
    except OSError as error:
        raise cannot("read", error.filename or path, error) from None
    show_problems(problems)
    return None if problems.errors else files


def _show(outcome: Outcome) -> None:
    word = "ok  " if outcome.passed else "FAIL"
    print(f"{word}  {outcome.case.title}")
    if not outcome.passed:
        print(indent(visible(outcome.failure.rstrip("\n")), "      "))
        if outcome.output:
            print("      output:")
            print(indent(visible(outcome.output.rstrip("\n")), "        "))
    sys.stdout.flush()


def _summarize(outcomes: list[Outcome], left_out: int) -> None:
    failed = [outcome for outcome in outcomes if not outcome.passed]
    counts = [f"{len(outcomes) - len(failed)} passed"]
    counts += [f"{len(failed)} failed"] if failed else []
    recorded = sum(outcome.recorded for outcome in outcomes)
    counts += [f"{recorded} recorded"] if recorded else []
    counts += [f"{left_out} left out"] if left_out else []
    print(f"\n{', '.join(counts)}")
