"""`concertoc audit`: what untrusted text may cause in a program."""

from __future__ import annotations

import json
import sys

from concerto.cli.reporting import OK, USAGE, cannot, show_problems
from concerto.cli.targets import source_file
from concerto.compiler.disk import read_program
from concerto.compiler.driver import open_program
from concerto.compiler.pipeline import analyze_trust_of
from concerto.diagnostics import Problems
from concerto.manifest import ManifestError


def audit(target: str, *, as_json: bool) -> int:
    """Lists sources, sinks, guards, agents and what may flow, also in a project without `[trust]`."""
    from concerto.trust.audit import audit_json, audit_text

    problems = Problems()
    try:
        path = source_file(target)
        program = open_program(read_program(path), problems)
    except OSError as error:
        raise cannot("read", error.filename or target, error) from None
    except ManifestError as broken:
        show_problems(broken.problems)
        return USAGE
    checked = program.project.trust is not None
    program.project.previews_trust = True
    found = analyze_trust_of(program.source, program.project, problems)
    show_problems(problems)
    if found is None:
        return USAGE
    if as_json:
        sys.stdout.write(json.dumps(audit_json(*found, checked=checked), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(audit_text(*found, checked=checked))
    return OK
