"""Serialization of effects and what they gave: JSON, with long texts kept apart by their hashes.

A request to a model is what its predecessor in the same conversation was, and what is new. What looks like a
secret is hidden before anything is hashed or kept.
"""

from __future__ import annotations

import json
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

from concerto.effects.kinds import (
    AnyEffect,
    EmitAwait,
    Env,
    FileSize,
    HostCall,
    HostTurn,
    Http,
    ListFolder,
    LoadSession,
    LoadStore,
    McpCall,
    ModelCall,
    ReadFile,
    RemoveFile,
    SaveSession,
    SaveStore,
    Shell,
    Sleep,
    ToolCall,
    WriteFile,
)
from concerto.json_data import Json
from concerto.records import record
from concerto.redaction import HIDDEN_KEY, SecretMarks
from concerto.vm.values import NONE, ErrorValue, NoneOption, Some, Value

_SHORT = 160
"""Characters; a longer text is kept apart."""
_WORTH_PACKING = 512
"""Bytes."""
_CONVERSATIONS = 256
"""So many are remembered for the next request of each."""


def text_name(data: bytes) -> str:
    """The hash of a text by which it is known."""
    return blake2b(data, digest_size=16).hexdigest()


def plain_text(data: bytes) -> bytes:
    """A text as it was before it was kept."""
    return zlib.decompress(data[1:]) if data[:1] == b"z" else data[1:]


class Blobs:
    """Long texts by the hash of what they say. `new` are those that have not been written yet. `secrets` are
    those that a run has, who may need what it was answered again."""

    def __init__(
        self,
        kept: Mapping[str, bytes] | None = None,
        hide: Callable[[str], str] | None = None,
        secrets: SecretMarks | None = None,
    ) -> None:
        self._kept = dict(kept or {})
        self._known = set(self._kept)
        self._hide = hide
        self._secrets = secrets
        self.new: dict[str, bytes] = {}

    def put(self, text: str) -> str:
        """The hash of a text, which is kept."""
        return self._keep(self.hidden(text))

    def put_json(self, value: Json, *, sort_keys: bool = False) -> str:
        """The hash of a value as JSON, which is kept."""
        return self._keep(self._json(value, sort_keys))

    def _json(self, value: Json, sort_keys: bool = False) -> str:
        written = json.dumps(value, ensure_ascii=False, sort_keys=sort_keys)
        if self.hidden(written) == written:
            return written
        # In JSON as a whole, what is hidden may begin within an escape.
        return json.dumps(self.cleaned(value), ensure_ascii=False, sort_keys=sort_keys)

    def cleaned(self, value: Json) -> Json:
        """The value with what is secret in its texts hidden."""
        return _with_texts(value, self.hidden)

    def _keep(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        name = text_name(data)
        if name not in self._known:
            self._known.add(name)
            packed = zlib.compress(data, 1) if len(data) > _WORTH_PACKING else data
            self.new[name] = b"z" + packed if len(packed) < len(data) else b"p" + data
        return name

    def get(self, name: str) -> str:
        """Raises KeyError for a text that was never kept."""
        return plain_text(self.new.get(name) or self._kept[name]).decode("utf-8", "surrogatepass")

    def hidden(self, text: str) -> str:
        return text if self._hide is None else self._hide(text)

    def text(self, text: str) -> Json:
        """A text as it stands in JSON: itself or where it is."""
        return self.hidden(text) if len(text) <= _SHORT else {"$": self.put(text)}

    def text_of(self, written: Json) -> str:
        text: str = self.get(written["$"]) if isinstance(written, dict) else written
        return text

    def value(self, value: Json) -> Json:
        """A value of JSON, as a text of its own if that is long. A String's text is shared with the message
        that quotes it, and so is the text that a model is told of another value."""
        if isinstance(value, str):
            return {"text": self.text(value)}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        written = self._json(value)
        return {"json": written if len(written) <= _SHORT else {"$": self._keep(written)}}

    def value_of(self, written: Json) -> Json:
        if "text" in written:
            return self.text_of(written["text"])
        if "bytes" in written:
            return bytes.fromhex(written["bytes"])
        return json.loads(self.text_of(written["json"]))

    def outcome(self, value: Json) -> dict[str, Json]:
        """What an effect gave; where secrets are hidden in it, also with marks in their place."""
        written: dict[str, Json] = self.value(value)
        marked = value if self._secrets is None else _with_texts(value, self._secrets.marked)
        return written if marked == value else {**written, "marked": self.value(marked)}

    def restored(self, written: Json) -> Json:
        """What an effect gave, with the secrets that are known now; a KeyError names one that is not."""
        if self._secrets is None or "marked" not in written:
            return self.value_of(written)
        return _with_texts(self.value_of(written["marked"]), self._secrets.restored)


def _with_texts(value: Json, change: Callable[[str], str]) -> Json:
    """A value with all its texts changed, those of keys too."""
    match value:
        case str():
            return change(value)
        case list():
            return [_with_texts(each, change) for each in value]
        case tuple():
            return tuple([_with_texts(each, change) for each in value])
        case dict():
            return {change(name): _with_texts(each, change) for name, each in value.items()}
        case _:
            return value


@record(frozen=True)
class _Conversation:
    """The last request of a branch; `digest` stands for its messages, `settings` for the rest."""

    request: Any
    messages: tuple[Any, ...]
    digest: str
    key: str
    settings: str


class Requests:
    """What effects ask for, written down; those to models as what is new in them."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._conversations: OrderedDict[tuple[int, ...], _Conversation] = OrderedDict()

    def write(self, effect: AnyEffect, path: tuple[int, ...], key: str) -> tuple[str, str]:
        """The request as JSON and its fingerprint, which two equal requests share."""
        if isinstance(effect, ModelCall):
            return self._model_call(effect, path, key)
        written = {name: self._blobs.value(value) for name, value in request_fields(effect).items()}
        text = json.dumps(written)
        print_of = fingerprint(text)
        if isinstance(effect, EmitAwait) and effect.wanted is not None:
            text = json.dumps({**written, "wanted": self._blobs.value(effect.wanted.type)})
        return text, print_of

    def _model_call(self, effect: ModelCall, path: tuple[int, ...], key: str) -> tuple[str, str]:
        request = effect.request
        earlier = self._conversations.pop(path, None)
        asked: dict[str, Json] = {"agent": effect.agent, "connection": effect.connection}
        if earlier is None or request.messages[: len(earlier.messages)] != earlier.messages:
            same, digest = 0, fingerprint(f"{effect.agent}\n{effect.connection}")
        else:
            same, digest = len(earlier.messages), earlier.digest
            asked |= {"after": earlier.key, "keeps": same}
        new = [self._message(each) for each in request.messages[same:]]
        digest = fingerprint("\n".join([digest, *new]))
        if earlier is None or not _same_settings(earlier.request, request):
            settings = self._blobs.put_json(_settings(request), sort_keys=True)
        else:
            settings = earlier.settings
        self._conversations[path] = _Conversation(request, request.messages, digest, key, settings)
        if len(self._conversations) > _CONVERSATIONS:
            self._conversations.popitem(last=False)
        asked |= {"settings": settings, "messages": new}
        if effect.labels is not None and (labels := effect.labels.labels()):
            asked["labels"] = labels
        return json.dumps(asked), fingerprint(f"{digest}\n{settings}")

    def _message(self, message: Any) -> str:
        return self._blobs.put_json(message_json(message, self._blobs))


def request_fields(effect: AnyEffect) -> dict[str, Json]:
    """What an effect asks for, but of a model, by name."""
    match effect:
        case ToolCall():
            return {
                "arguments": effect.arguments[0] if len(effect.arguments) == 1 else list(effect.arguments)
            }
        case HostCall():
            return {"arguments": dict(effect.arguments), "call_id": effect.call_id}
        case McpCall():
            return {"arguments": dict(effect.arguments)}
        case HostTurn():
            return {"message": effect.message}
        case EmitAwait():
            return {"payload": effect.payload}
        case Http():
            names = sorted(name.lower() for name in effect.headers)
            return {"method": effect.method, "url": effect.url, "headers": names, "body": effect.body}
        case Shell():
            return {"command": effect.command}
        case WriteFile():
            return {"path": effect.path, "text": effect.text, "append": effect.append}
        case ReadFile(binary=True):
            return {"path": effect.path, "binary": True}
        case ReadFile() | ListFolder() | RemoveFile() | FileSize():
            return {"path": effect.path}
        case LoadStore():
            return {"path": effect.path, "key": effect.key}
        case SaveStore():
            return {"path": effect.path, "changes": [list(each) for each in effect.changes]}
        case LoadSession():
            return {"session": effect.session}
        case SaveSession():
            replaced = None if effect.replaces is None else list(effect.replaces)
            return {"session": effect.session, "turn": effect.turn, "replaces": replaced}
        case Sleep():
            return {"seconds": effect.seconds}
        case Env():
            return {"name": effect.name}
        case _:
            return {}


def needs_hidden_key(effect: AnyEffect) -> bool:
    """Whether it would tell the world what stands for a key. What a model is told is only quoted."""
    if isinstance(effect, ModelCall | SaveSession):
        return False
    headers = list(effect.headers.values()) if isinstance(effect, Http) else []
    return HIDDEN_KEY in json.dumps([request_fields(effect), headers], default=str)


def shown_request(written: str, blobs: Blobs) -> str:
    """A request for people: its values, or of one to a model what is new in it."""
    asked = json.loads(written)
    if "settings" not in asked:
        shown = {name: blobs.value_of(value) for name, value in asked.items()}
        return json.dumps(shown, ensure_ascii=False)
    new = [json.loads(blobs.get(each)) for each in asked["messages"]]
    return json.dumps(
        [{"role": each["role"], "text": blobs.text_of(each["text"])} for each in new], ensure_ascii=False
    )


def shown_apart(written: str, other: str, blobs: Blobs) -> tuple[str, str]:
    """Two requests for people, from a little before they differ. Where the same is shown of two to a model,
    the settings that differ."""
    one, two = shown_request(written, blobs), shown_request(other, blobs)
    if one == two:
        mine, theirs = [_settings_of(json.loads(each), blobs) for each in (written, other)]
        names = [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]
        one, two = [
            json.dumps({name: each.get(name) for name in names}, ensure_ascii=False)
            for each in (mine, theirs)
        ]
    pairs = enumerate(zip(one, two, strict=False))
    at = next((at for at, (a, b) in pairs if a != b), min(len(one), len(two)))
    start = at - _BEFORE if at > _SHOWN // 2 else 0
    return _from(one, start), _from(two, start)


_SHOWN, _BEFORE = 200, 60
"""Characters of a request that are shown, and of these before the place where another differs."""


def _from(text: str, start: int) -> str:
    end = start + _SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _settings_of(asked: dict[str, Json], blobs: Blobs) -> dict[str, Json]:
    if "settings" not in asked:
        return asked
    return {"connection": asked["connection"], **json.loads(blobs.get(asked["settings"]))}


def fingerprint(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def message_json(message: Any, blobs: Blobs) -> Json:
    """A Message of the runtime; what is as usual is left out."""
    written: dict[str, Json] = {"role": message.role, "text": blobs.text(message.text)}
    if message.calls:
        written["calls"] = [
            {
                "id": call.id,
                "name": call.name,
                "arguments": blobs.text(call.arguments),
                "echo": blobs.cleaned(call.echo),
            }
            for call in message.calls
        ]
    for name in ("call_id", "name", "failed", "echo"):
        if value := getattr(message, name):
            written[name] = blobs.cleaned(value)
    if message.media:
        written["media"] = [
            {"kind": each.kind, "url": blobs.text(each.url), "name": each.name}
            | ({} if each.after is None else {"after": each.after})
            for each in message.media
        ]
    return written


def error_json(error: ErrorValue, blobs: Blobs) -> Json:
    fields = {name: blobs.cleaned(_field_json(value)) for name, value in error.fields.items()}
    return {
        "type": error.type_name,
        "message": blobs.text(error.message),
        "kind": error.kind,
        "fields": fields,
    }


def error_of(written: Json, blobs: Blobs) -> ErrorValue:
    error = ErrorValue(written["type"], blobs.text_of(written["message"]), written["kind"])
    error.fields.update({name: _field_of(value) for name, value in written["fields"].items()})
    return error


def _field_json(value: Value) -> Json:
    match value:
        case Some():
            return {"$some": value.value}
        case NoneOption():
            return {"$none": True}
        case list() | tuple():
            # Messages are put on an error after it has left the gate.
            return []
        case _:
            return value


def _field_of(written: Json) -> Value:
    match written:
        case {"$some": value}:
            return Some(value)
        case {"$none": True}:
            return NONE
        case _:
            return written


_SETTINGS = (
    "model", "tools", "tool_choice", "forced_tool", "parallel_tool_calls", "temperature", "top_p",
    "max_tokens", "stop_sequences", "schema", "timeout", "stream",
)  # fmt: skip


def _same_settings(earlier: Any, now: Any) -> bool:
    for name in (*_SETTINGS, "options"):
        one, other = getattr(earlier, name), getattr(now, name)
        if one is not other and one != other:
            return False
    return True


def _settings(request: Any) -> dict[str, Json]:
    from dataclasses import asdict

    written = {name: getattr(request, name) for name in _SETTINGS}
    written["tools"] = [asdict(each) for each in request.tools]
    written["schema"] = None if request.schema is None else asdict(request.schema)
    if request.options is not None:  # What older recordings have not, they need not have.
        written["options"] = asdict(request.options)
    return written
