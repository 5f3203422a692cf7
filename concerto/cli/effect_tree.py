"""The effects of a run as a tree of lines: by branch, in the order in which they began."""

from __future__ import annotations

import json

from concerto.escape import visible
from concerto.journal.encoding import Blobs, shown_request
from concerto.journal.recording import Recording
from concerto.journal.rows import EffectRow
from concerto.wording import counted


def shown(recording: Recording, *, content: bool) -> str:
    """With `content`, what was asked and answered stands below each effect."""
    run, blobs = recording.run, Blobs(recording.blobs)
    lines = [f"run {run.id}  {run.name}  {run.status}  {counted(run.effects, 'effect')}  {run.cost:.4f} USD"]
    for row in recording.effects:
        branch = row.key.partition("/")[0]
        indent = "  " * (branch.count(".") + 1)
        took = f"  {(row.ended - row.begun) * 1000:.0f} ms" if row.ended_at else ""
        again = f"  attempt {row.attempt}" if row.attempt > 1 else ""
        state = "" if row.state == "done" else f"  {_state(row)}"
        subject = f" {visible(row.subject)}" if row.subject != row.kind else ""
        lines.append(f"{indent}{row.key}  {row.kind}{subject}{took}{again}{state}")
        if content:
            lines += [f"{indent}    asked: {visible(shown_request(row.request, blobs))}"]
            lines += [f"{indent}    gave: {visible(_outcome(row, blobs))}"] if row.outcome else []
    return "\n".join(lines) + "\n"


def _state(row: EffectRow) -> str:
    if row.state == "begun":
        return "outcome not known" if row.policy == "once" else "under way"
    return {"asked": "waits for somebody outside"}.get(row.state, row.state)


def _outcome(row: EffectRow, blobs: Blobs) -> str:
    written = json.loads(row.outcome)
    if row.state == "failed":
        return f"{written['kind']}: {blobs.text_of(written['message'])}"
    if "message" in written:
        message = written["message"]
        calls = [f"{each['name']}({blobs.text_of(each['arguments'])})" for each in message.get("calls", ())]
        return " ".join([blobs.text_of(message["text"]), *calls])
    if "env" in written or "all" in written:
        return "***"
    return json.dumps(blobs.value_of(written), ensure_ascii=False)
