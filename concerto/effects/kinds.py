"""The closed set of effects: everything in which two runs of one program can differ.

An effect is a frozen value that says what is wanted. The gate gives it an identity, passes it through its
layers, and a performer of the runtime does it. An `immediate` effect is done without waiting for anybody.

Failures of every kind are `Raised` values; the error type is named beside the class.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from concerto.effects.meters import Meter, Spending
from concerto.effects.policy import NO_POLICY, Policy
from concerto.json_data import Json
from concerto.records import field, frozen
from concerto.vm.values import Value

Body: TypeAlias = Callable[[], Awaitable[Value]]


class Effect:
    """Base of all effects."""

    __slots__ = ()
    immediate: ClassVar[bool] = False


@frozen
class Clock(Effect):
    """Seconds as a Float: since 1970 for `wall`, since some moment for `monotonic`."""

    immediate = True
    kind: Literal["wall", "monotonic"] = "wall"


@frozen
class Random(Effect):
    """That many random bytes (`bytes`); every other random value is made from them."""

    immediate = True
    count: int


@frozen
class Env(Effect):
    """A variable's text or None; all of them as a dict if `name` is None."""

    immediate = True
    name: str | None


@frozen
class ReadFile(Effect):
    """A file's text, of a `binary` one its base64. `FsError` of kind NotFound, NotText, PermissionDenied or
    IoError."""

    immediate = True
    path: str
    binary: bool = False


@frozen
class WriteFile(Effect):
    """Replace a file's text, or add to its end. `FsError`."""

    immediate = True
    path: str
    text: str
    append: bool = False


@frozen
class ListFolder(Effect):
    """The sorted names in a folder, as a list. `FsError`."""

    immediate = True
    path: str


@frozen
class RemoveFile(Effect):
    """Delete a file. `FsError`."""

    immediate = True
    path: str


@frozen
class FileSize(Effect):
    """A file's size in bytes, -1 for a folder, None if there is nothing. `FsError`."""

    immediate = True
    path: str


@frozen
class LoadStore(Effect):
    """All entries of a hashmap's file, or that of one key, as pairs of JSON texts. `FsError`, of kind BadFile
    if it is none. With `origins` it gives where what is untrusted in the file came from, as a list."""

    immediate = True
    path: str
    key: str | None = None
    origins: bool = False


@frozen
class SaveStore(Effect):
    """Write changes to a hashmap's file as one, if its entries are as `expected`: keys and values as JSON
    texts, None for no entry. Whether it was done. `FsError`. `origins` says where the untrusted part of the
    changes came from."""

    immediate = True
    path: str
    changes: tuple[tuple[str, str | None], ...]
    expected: tuple[tuple[str, str | None], ...] = ()
    origins: tuple[str, ...] = ()


@frozen
class LoadSession(Effect):
    """The turns of an agent's session, oldest first, as pairs of a number and a JSON text."""

    immediate = True
    agent: str
    session: str


@frozen
class SaveSession(Effect):
    """Add a turn to an agent's session, or put it in the place of those with the numbers of `replaces`, if
    all of them are still there; no turn takes them away. Whether it was done."""

    immediate = True
    agent: str
    session: str
    turn: str | None
    replaces: tuple[int, ...] | None = None


@frozen
class Sleep(Effect):
    """Wait; nil."""

    seconds: float


SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods of HTTP that change nothing."""


@frozen
class Http(Effect):
    """`{"status": Int, "body": String, "headers": Map}` of a request. `ConnectionError` if there was no
    answer."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    timeout_ms: int | None = None


@frozen
class Shell(Effect):
    """The standard output of a command. `ToolError`."""

    command: str
    timeout_ms: int


@frozen
class EmitAwait(Effect):
    """Ask the host: the answer as JSON. `EmitError`. `wanted` is the type that the program takes it for; one
    that is asked `at_once` is for somebody who does not wait, so the run cannot either. For an `approval` a
    run that is kept always waits."""

    channel: str
    payload: Json
    wanted: AnswerType | None = None
    at_once: bool = False
    approval: bool = False


@frozen
class AnswerType:
    """A type as text, whether JSON is of it, and its JSON Schema."""

    type: str
    fits: Callable[[Json], bool]
    schema: Json = None


class RequestLabels(Protocol):
    """The labels of trust of a request, where that is looked after."""

    def labels(self) -> dict[str, list[str]]:
        """For each label where what has it came from."""

    def add_labels(self, earlier: Mapping[str, Sequence[str]]) -> None:
        """Those that the request had in an earlier run."""


@frozen
class ModelCall(Effect):
    """One request to a model: a Reply. `AgentError`. `request` is a Request of the runtime; the parts of a
    streamed answer go to `sink` as they arrive, those of one moment together."""

    agent: str
    connection: str
    request: Any
    policy: Policy = NO_POLICY
    meters: tuple[Meter, ...] = ()
    sink: Callable[[Sequence[Any]], Awaitable[None]] | None = None
    provider: str = ""
    labels: RequestLabels | None = None


@frozen
class ToolCall(Effect):
    """A tool's method in this program, in Python or bound to an entity: what `body` gives. Any error.

    `arguments` are those of the trace, `key` those of the cache, if they say more; `body` does it. One that
    is done `outside` of the program is written in the host's language; it is `repeatable` if it may be done
    twice. `call_id` is that of a model's call; a journal does not compare it."""

    tool: str
    method: str
    arguments: Sequence[Json]
    body: Body
    origin: Literal["code", "model"] = "code"
    policy: Policy = NO_POLICY
    key: Value = None
    outside: bool = False
    repeatable: bool = False
    call_id: str = ""


@frozen
class McpCall(Effect):
    """A function of an MCP server: its result as JSON. `ToolError`. `repeatable`: it may be done twice.
    `call_id` is that of a model's call; a journal does not compare it."""

    server: str
    function: str
    arguments: Mapping[str, Json]
    policy: Policy = NO_POLICY
    repeatable: bool = False
    call_id: str = ""


@frozen
class McpListing(Effect):
    """What the tools of an MCP server are now, as JSON: a list, or `{"failed": text}`."""

    server: str


@frozen
class HostCall(Effect):
    """A tool's method executed outside of the program, or by the library: its result as JSON. `ToolError`."""

    tool: str
    method: str
    arguments: Mapping[str, Json]
    call_id: str = ""
    policy: Policy = NO_POLICY
    by_library: bool = False


@frozen
class HostTurn(Effect):
    """One exchange with a host's process: `turn` sends a message, if there is one, and gives the next that
    comes, both as JSON. `begins` says that an execution begins with it; what that has cost is what `spent`
    reads in its last message, None in the others. `repeatable`: it may be done twice. `AgentError`."""

    host: str
    turn: Callable[[Json], Awaitable[Json]]
    message: Json
    meters: tuple[Meter, ...]
    begins: bool
    spent: Callable[[Json], Spending | None]
    repeatable: bool = False


@frozen
class AgentRun(Effect):
    """A whole execution of an agent, from prompt to answer: what `body` gives. `AgentError`."""

    agent: str
    key: Value
    body: Body
    policy: Policy = NO_POLICY


@frozen
class StageRun(Effect):
    """A stage of a pipeline: what `body` gives. Any error."""

    pipeline: str
    stage: str
    key: Value
    body: Body
    policy: Policy = NO_POLICY


AnyEffect: TypeAlias = (
    Clock | Random | Env | ReadFile | WriteFile | ListFolder | RemoveFile | FileSize | LoadStore
    | SaveStore | LoadSession | SaveSession | Sleep | Http | Shell | EmitAwait | ModelCall | ToolCall
    | McpCall | McpListing | HostCall | HostTurn | AgentRun | StageRun
)  # fmt: skip


def policy_of(effect: AnyEffect) -> Policy:
    """What the program asked for around the effect; nothing for the plain ones."""
    if isinstance(effect, ModelCall | ToolCall | McpCall | HostCall | AgentRun | StageRun):
        return effect.policy
    return NO_POLICY


def subject_of(effect: AnyEffect) -> str:
    """The name of what is called, as messages and logs write it."""
    match effect:
        case ToolCall() | HostCall():
            return f"{effect.tool}::{effect.method}" if effect.method else effect.tool
        case McpCall():
            return f"{effect.server}::{effect.function}"
        case ModelCall() | AgentRun() | LoadSession() | SaveSession():
            return effect.agent
        case HostTurn():
            return effect.host
        case McpListing():
            return effect.server
        case StageRun():
            return f"{effect.pipeline}::{effect.stage}"
        case EmitAwait():
            return effect.channel
        case _:
            return type(effect).__name__
