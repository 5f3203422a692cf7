"""Outcomes as a JUnit report, as CI servers read it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from concerto.testing.running import Outcome

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(outcomes: Iterable[Outcome], path: Path) -> None:
    """One suite for each file. Raises OSError."""
    root = ElementTree.Element("testsuites")
    for file, group in groupby(outcomes, lambda outcome: outcome.case.file):
        _add_suite(root, file, list(group))
    ElementTree.indent(root)
    path.write_bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def _add_suite(root: ElementTree.Element, file: str, outcomes: list[Outcome]) -> None:
    failed = sum(not outcome.passed for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    counts = {"tests": str(len(outcomes)), "failures": str(failed), "errors": "0", "skipped": "0"}
    suite = ElementTree.SubElement(
        root, "testsuite", {"name": _clean(file), **counts, "time": f"{seconds:.3f}"}
    )
    for outcome in outcomes:
        case = outcome.case
        about = {"name": _clean(case.name), "classname": _clean(file), "file": _clean(file)}
        place = {"line": str(case.line), "time": f"{outcome.seconds:.3f}"}
        element = ElementTree.SubElement(suite, "testcase", about | place)
        if not outcome.passed:
            message = outcome.failure.splitlines()[0].removeprefix("error: ")
            failure = ElementTree.SubElement(element, "failure", {"message": _clean(message)})
            failure.text = _clean(outcome.failure)
        if outcome.output:
            ElementTree.SubElement(element, "system-out").text = _clean(outcome.output)


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)
