"""A recording: one run in one portable file, with its program, its effects and how it ended.

The first line says what it is and what the rest adds up to, so that a file which was cut or edited is not
taken for one. The other lines are JSON: the run, its program, the long texts and the effects.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from concerto.files import PRIVATE, write_atomically
from concerto.journal.checking import check_effects, check_texts
from concerto.journal.databases import StoreError
from concerto.journal.rows import EffectRow, RunRow
from concerto.json_data import Json
from concerto.records import field_names, record

if TYPE_CHECKING:
    from concerto.journal.store import JournalStore


_FORMAT = "concerto-run"
_VERSION = 1
_RUN_FIELDS = (
    "id", "program", "name", "status", "started", "updated", "options", "origin", "said", "effects", "cost",
    "steps", "result",
)  # fmt: skip


class BadRecording(Exception):
    """The file is no recording that can be used; the text says why."""


@record(frozen=True)
class Recording:
    """A run as it is taken from a store, or read from a file. `program` is its IR."""

    run: RunRow
    program: bytes
    effects: Sequence[EffectRow]
    blobs: Mapping[str, bytes]


def recording_from(store: JournalStore, run: str) -> Recording:
    """Raises StoreError."""
    row = store.run(run)
    return Recording(row, store.program(row.program), store.effects(run), store.blobs(run))


def write_recording(path: Path, recording: Recording) -> None:
    """Raises OSError."""
    write_atomically(path, recording_bytes(recording), PRIVATE)


def recording_bytes(recording: Recording) -> bytes:
    run = recording.run
    told: dict[str, Json] = {name: getattr(run, name) for name in _RUN_FIELDS}
    told["seed"] = run.seed.hex()
    names = field_names(EffectRow) or ()
    lines = [{"run": told}, {"program": _packed(recording.program)}]
    lines += [
        {"text": name, "data": base64.b85encode(data).decode()} for name, data in recording.blobs.items()
    ]
    lines += [{"effect": {name: getattr(each, name) for name in names}} for each in recording.effects]
    body = b"".join([json.dumps(line).encode() + b"\n" for line in lines])
    head = {"format": _FORMAT, "version": _VERSION, "sha256": sha256(body).hexdigest()}
    return json.dumps(head).encode() + b"\n" + body


def read_recording(path: Path) -> Recording:
    """Raises BadRecording, OSError."""
    return recording_of(path.read_bytes(), str(path))


def recording_of(data: bytes, where: str) -> Recording:
    """The recording in the bytes of a file; raises BadRecording."""
    first, _, body = data.partition(b"\n")
    try:
        head = json.loads(first)
        known = isinstance(head, dict) and head.get("format") == _FORMAT
    except ValueError:
        known = False
    if not known:
        raise BadRecording(f"`{where}` is no recording of a run")
    if head.get("version") != _VERSION:
        raise BadRecording(
            f"`{where}` was written by another version of Concerto (its format is {head.get('version')})"
        )
    if sha256(body).hexdigest() != head.get("sha256"):
        raise BadRecording(f"`{where}` was cut or changed after it was written")
    try:
        recording = _read(body)
        check_effects(recording.effects, f"`{where}`")
        check_texts(recording.blobs, f"`{where}`")
        return recording
    except StoreError as damaged:
        raise BadRecording(str(damaged)) from None
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise BadRecording(f"`{where}` cannot be read: {error}") from None


def _read(body: bytes) -> Recording:
    run: dict[str, Json] = {}
    program, effects, blobs = b"", [], {}
    for line in body.splitlines():
        match json.loads(line):
            case {"run": told}:
                run = told
            case {"program": packed}:
                program = zlib.decompress(base64.b85decode(packed))
            case {"text": name, "data": written}:
                blobs[name] = base64.b85decode(written)
            case {"effect": given}:
                effects.append(EffectRow(**given))
    seed = bytes.fromhex(run.pop("seed"))
    return Recording(RunRow(**run, folder="", owner="", epoch=0, seed=seed), program, effects, blobs)


def _packed(data: bytes) -> str:
    return base64.b85encode(zlib.compress(data, 6)).decode()
