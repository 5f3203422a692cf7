"""The wires to model servers, one file each, and the registry that finds them.

A provider is two pure functions and a reader of streams; it does no input or output itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from importlib import import_module
from typing import TypeAlias

from concerto.json_data import Json
from concerto.records import field, frozen
from concerto.runtime.llm.requests import Reply, Request, ToolCallRequest, ToolOffer
from concerto.vocabulary.providers import PROVIDERS


@frozen
class WireCall:
    """A Request on its wire: `path` under the connection's base URL, `headers` beside the connection's
    own."""

    path: str
    body: Mapping[str, Json]
    headers: Mapping[str, str] = field(default_factory=dict)


StreamPart: TypeAlias = "str | ToolCallRequest"
"""What an event of a stream adds: text that is not empty, or a call that is now complete."""


class End(Enum):
    """Whether more of a streamed answer has to come."""

    OPEN = "it is not whole"
    WHOLE = "it is whole, but for what some servers send behind it"
    ENDED = "the wire's last event has come"


class StreamReader(ABC):
    """Reads the events of one streamed answer. `reply` is there when the stream ended as it should, else
    None."""

    text_alone: str | None = None
    """The text of the last event, if that said nothing but how the answer goes on."""

    @property
    @abstractmethod
    def end(self) -> End:
        """What its last event says of more to come."""

    @abstractmethod
    def feed(self, event: Json) -> Iterable[StreamPart]: ...

    def add(self, text: str) -> None:
        """As `feed` of an event that is the last one but for its `text_alone`; whoever tells one has this."""
        raise NotImplementedError

    @abstractmethod
    def reply(self) -> Reply | None: ...


class BadReply(Exception):
    """A server's answer that is no answer; the text says what is wrong with it."""


class Unsupported(Exception):
    """Something that a wire cannot say; the text names it."""


def bearer(key: str) -> Mapping[str, str]:
    """The header that carries a key on most wires."""
    return {"authorization": f"Bearer {key}"}


def hosted_kind(offer: ToolOffer, *owners: str) -> str:
    """The provider's own type of a hosted tool (`web_search` of `openai:web_search`), if it is one of
    `owners`' ."""
    owner, _, kind = offer.hosted.partition(":")
    if owner not in owners:
        raise Unsupported(f"the hosted tool `{offer.hosted}` is not one of this connection's provider")
    return kind


@frozen
class Provider:
    """`authorize` gives the headers that carry an API key. `base_url` and `key_env`, with `base_url_env`
    over the former, belong to the default connection; `key_env` is empty for servers that want none. A
    streamed answer is server-sent events, or plain lines of JSON if `json_lines`."""

    name: str
    base_url: str
    key_env: str
    base_url_env: str
    encode: Callable[[Request], WireCall]
    decode: Callable[[Json], Reply]
    stream: Callable[[], StreamReader]
    authorize: Callable[[str], Mapping[str, str]]
    json_lines: bool = False


def find_provider(kind: str) -> Provider:
    """The provider of a connection's `provider`, but `mock`; its file is imported on first use."""
    module = import_module(f"concerto.runtime.llm.providers.{PROVIDERS[kind].wire}")
    provider: Provider = module.PROVIDER
    return provider
