"""Analysis passes: what is asked of bodies whose types are known, in order."""

from __future__ import annotations

from concerto.diagnostics import Problems
from concerto.semantics.analyses.exhaustiveness import check_matches
from concerto.semantics.analyses.flow import check_flow
from concerto.semantics.analyses.lost_changes import check_lost_changes
from concerto.semantics.analyses.uninhabited import check_endless
from concerto.semantics.analyses.unused_values import check_unused_values
from concerto.semantics.model.analysis import Analysis


def check_analyses(analysis: Analysis, problems: Problems) -> None:
    """Report what all passes find; `problems` has what the checker found."""
    check_endless(analysis, problems)
    check_flow(analysis, problems)
    check_unused_values(analysis, problems)
    check_matches(analysis, problems)
    if not problems.errors:
        check_lost_changes(analysis, problems)
