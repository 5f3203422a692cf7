"""What a running program asks of the world: the only door out of the VM.

The runtime implements `Host`; the VM and the natives know no more than this. All methods are ordinary
blocking calls for the program: an implementation that has to wait switches greenlets inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from concerto.annotating import Any, Protocol
from concerto.vm.values import Value


class Host(Protocol):
    def perform(self, effect: Any) -> Value:
        """Do an effect (an instance of a class of `concerto.effects`) through the gate and give its value;
        failures raise `Raised`."""

    def reference(self, kind: str, name: str) -> Value:
        """The handle of a declaration: agent tool method mcp host hashmap ledger memory."""

    def print(self, text: str) -> None:
        """Write to the program's output, as is."""

    def log(self, level: str, text: str) -> None:
        """Write a line to the error stream; level is debug, info, warn or error."""

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Tell whoever called the running tool from outside how far it is."""

    def emit(self, channel: str, payload: Value) -> None:
        """Fire and forget."""

    def emitted(self) -> list[Value]:
        """What the running test has emitted, oldest first: maps of `channel` and `payload`."""

    def mock(self, target: Value, fields: dict[str, Value]) -> None:
        """Let a script answer for an agent, a server or a channel from now on, in a test."""

    def mocked_requests(self, agent: str) -> list[Value]:
        """What a mocked agent was asked, oldest first: maps of `prompt`, `messages` and `tools`."""

    def emit_await(self, channel: str, payload: Value, answer: int | None = None) -> Value:
        """Ok(value) or Err(EmitError). `answer` is the type that the program takes the value for, if it says
        so."""

    def call_tool(self, tool: str, method: str, arguments: list[Value]) -> Value:
        """A tool's public method by position, called from code."""

    def call_mcp(self, server: str, function: str, arguments: list[Value]) -> Value:
        """A declared mcp function by position, called from code."""

    def call_agent(self, receiver: Value, method: str, arguments: list[Value]) -> Value:
        """execute, execute_with_schema, chat, stream, stream_with_schema."""

    def call_pipeline(self, name: str, arguments: list[Value]) -> Value: ...

    def call_handle(self, receiver: Value, method: str, arguments: list[Value]) -> Value:
        """A method of a handle known only at run time (an `Any` that holds an agent, hashmap, …)."""

    def persist_hashmap(self, hashmap: Any, path: str, key_type: int, value_type: int) -> None:
        """Load what a file holds into a hashmap and write every change to it."""

    def persist_memory(self, memory: Any, path: str) -> None:
        """Keep a memory in a file."""

    def in_turn(self, store: Any, key: Value, change: Callable[[], None]) -> None:
        """Do a change of an entry of a hashmap's store that may wait, when nobody else does one."""

    def await_turns(self, store: Any, keys: Sequence[Value]) -> None:
        """Wait until nobody else is changing these entries."""

    def await_all(self, branches: list[Callable[[], Value]]) -> tuple[Value, ...]: ...

    def race(self, branches: list[Callable[[], Value]]) -> Value: ...

    def parallel_for(
        self, items: Iterable[Value], limit: int | None, body: Callable[[Value], Value]
    ) -> list[Value]: ...

    def task_scope(self, body: Callable[[], Value]) -> Value:
        """The value of a body, after the tasks that it has spawned and does not return."""

    def spawn(self, body: Callable[[], Value]) -> Value: ...

    def await_task(self, task: Value) -> Value: ...
