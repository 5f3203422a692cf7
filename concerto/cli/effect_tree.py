"""The effects of a run as a tree of lines: each under the execution, stage or call that it is part of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from concerto.escape import visible
from concerto.journal.encoding import Blobs, shown_request
from concerto.journal.nesting import Nesting, as_begun
from concerto.journal.recording import Recording
from concerto.journal.rows import NEVER_TRIED, EffectRow
from concerto.wording import cost_text, counted


def shown(recording: Recording, *, content: bool) -> str:
    """With `content`, what was asked and answered stands below each effect."""
    run, blobs = recording.run, Blobs(recording.blobs)
    lines = [
        f"run {run.id}  {run.name}  {run.status}  {counted(run.effects, 'effect')}  {cost_text(run.cost)}"
    ]
    for row, depth in _with_depth(recording.effects):
        indent = "  " * (depth + 1)
        subject = f" {visible(row.subject)}" if row.subject != row.kind else ""
        lines.append(f"{indent}{row.key}  {row.kind}{subject}{_facts(row)}")
        if content and row.policy != "inside":
            lines += [f"{indent}    asked: {visible(shown_request(row.request, blobs))}"]
            lines += [f"{indent}    gave: {visible(_outcome(row, blobs))}"] if row.outcome else []
    return "\n".join(lines) + "\n"


def _with_depth(rows: Iterable[EffectRow]) -> Iterator[tuple[EffectRow, int]]:
    """The effects in the order in which they began, and in how many others each is; outside of all others it
    is as deep as its branch."""
    nesting, depths = Nesting(), dict[str, int]()
    for row in as_begun(rows):
        parent = nesting.parent_of(row)
        depth = row.key.partition("/")[0].count(".") if parent is None else depths[parent.key] + 1
        depths[row.key] = depth
        yield row, depth


def _facts(row: EffectRow) -> str:
    """How long it took, how often it was tried, what became of it, its labels of trust, where it stands."""
    facts = []
    if row.attempt == NEVER_TRIED and row.state == "done":
        facts.append("cached")
    elif row.ended_at:
        facts.append(f"{(row.ended - row.begun) * 1000:.0f} ms")
    if row.attempt > 1:
        facts.append(f"attempt {row.attempt}")
    if row.state != "done":
        facts.append(_state(row))
    if row.kind == "ModelCall":
        labels: dict[str, list[str]] = json.loads(row.request).get("labels", {})
        facts += [visible(f"{each} text from {', '.join(labels[each]).replace('`', '')}") for each in labels]
    if row.place:
        facts.append(f"at {visible(row.place)}")
    return "".join([f"  {fact}" for fact in facts])


def _state(row: EffectRow) -> str:
    if row.state == "begun":
        return "outcome not known" if row.policy == "once" else "under way"
    return {"asked": "waits for somebody outside"}.get(row.state, row.state)


def _outcome(row: EffectRow, blobs: Blobs) -> str:
    written = json.loads(row.outcome)
    if row.state == "cancelled":
        return "".join([part if isinstance(part, str) else part["text"] for part in written.get("parts", ())])
    if row.state == "failed":
        return f"{written['kind']}: {blobs.text_of(written['message'])}"
    if "message" in written:
        message = written["message"]
        calls = [f"{each['name']}({blobs.text_of(each['arguments'])})" for each in message.get("calls", ())]
        return " ".join([blobs.text_of(message["text"]), *calls])
    if "env" in written or "all" in written:
        return "***"
    return json.dumps(blobs.value_of(written), ensure_ascii=False)
