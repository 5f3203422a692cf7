"""`/v1/responses`: the agents of a program as models of the OpenResponses API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from time import time
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakSet

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from concerto.journal.databases import StoreError
from concerto.journal.rows import ENDED
from concerto.journal.settling import CannotResume
from concerto.journal.store import Busy, NoSuchRun
from concerto.json_data import Json
from concerto.manifest import ManifestError
from concerto.runtime.agents.asked import Asked
from concerto.runtime.agents.history import summary_prompt
from concerto.runtime.concurrency.fibers import cancel
from concerto.runtime.llm.requests import Message
from concerto.serving.answers import AgentAnswer, AgentRequest, Text
from concerto.serving.bodies import read_body
from concerto.serving.callers import caller_of
from concerto.serving.errors import ApiError, not_found, server_fault, store_fault
from concerto.serving.items import messages_of, new_id, require_answered, with_ids
from concerto.serving.response_events import Event, ResponseBuilder, resource, usage_of
from concerto.serving.response_requests import CompactRequest, ResponseRequest, TokensRequest, agent_of
from concerto.serving.response_store import StoredResponse
from concerto.serving.sse import event_stream, flag, number, unless_left

if TYPE_CHECKING:
    from concerto.serving.answers import ServedProgram
    from concerto.serving.event_log import EventLog
    from concerto.serving.response_store import ResponseStore

Known: TypeAlias = Mapping[str, StoredResponse]
NOTHING_KNOWN: Known = {}

_ENDED = frozenset({"completed", "failed", "incomplete", "cancelled"})


class Responses:
    """The responses of all callers: those that are stored, and the work of this process."""

    def __init__(self, served: ServedProgram, store: ResponseStore, news: EventLog) -> None:
        self._served = served
        self._workers = served.workers
        self._store = store
        self._runs = served.runs
        self._news = news
        self._working: dict[str, asyncio.Task[None]] = {}
        self._under_way: WeakSet[Begun] = WeakSet()

    def routes(self) -> list[Route]:
        return [
            Route("/v1/responses", self.create, methods=["POST"]),
            Route("/v1/responses/compact", self.compact, methods=["POST"]),
            Route("/v1/responses/input_tokens", self.input_tokens, methods=["POST"]),
            Route("/v1/responses/{id}", self.retrieve, methods=["GET"]),
            Route("/v1/responses/{id}", self.delete, methods=["DELETE"]),
            Route("/v1/responses/{id}/cancel", self.cancel, methods=["POST"]),
            Route("/v1/responses/{id}/input_items", self.input_items, methods=["GET"]),
        ]

    async def close(self) -> None:
        await cancel(list(self._working.values()))

    # Endpoints

    async def create(self, request: Request) -> Response:
        wanted = await read_body(request, ResponseRequest)
        if wanted.generate is not None:
            raise ApiError("`generate` is for WebSockets", code="unknown_parameter", param="generate")
        begun = self.begin(wanted, caller_of(request))
        if wanted.background:
            self._work_in_background(begun)
            if wanted.stream:
                return event_stream(self._events(begun.stored.id, -1))
            return JSONResponse(begun.stored.response)
        if wanted.stream:
            return event_stream(self.stream(begun))
        return JSONResponse(await unless_left(request, self.whole(begun)))

    async def compact(self, request: Request) -> Response:
        """A conversation as what stays of it: what users said, and one item with a summary of it all. The
        agent writes that itself, or the one that its `compact` names."""
        wanted, caller = await read_body(request, CompactRequest), caller_of(request)
        agent = agent_of(wanted.model, self._served.agents)
        before = _said(self._chain(wanted.previous_response_id, caller, NOTHING_KNOWN))
        given = with_ids([] if wanted.input is None else wanted.input)
        messages = [*before, *messages_of(given, before)]
        if not messages:
            raise ApiError("`input` is missing", code="missing_required_parameter", param="input")
        settings: dict[str, Json] = self._served.agents[agent].get("compact") or {}
        prompt = Message("user", summary_prompt(messages))
        asked = Asked(settings.get("with", agent), (prompt,), wanted.instructions or "", tool_choice="none")
        answer = await unless_left(request, self._served.answer(AgentRequest(asked, caller)))
        if answer.failure:
            raise ApiError(answer.failure, 500, kind="model_error", code=answer.kind)
        said = [{"role": "user", "content": each.text} for each in messages if each.role == "user"]
        summary = {"type": "compaction", "encrypted_content": answer.text}
        return JSONResponse(
            {
                "id": new_id("resp"),
                "object": "response.compaction",
                "created_at": int(time()),
                "output": with_ids([*said, summary]),
                "usage": usage_of(answer),
            }
        )

    async def input_tokens(self, request: Request) -> Response:
        """About how many tokens the model would be sent, tools of the agent included. It is not asked."""
        counted, caller = await read_body(request, TokensRequest), caller_of(request)
        wanted = counted.as_asked()
        agent = agent_of(wanted.model, self._served.agents)
        before = _said(self._chain(wanted.previous_response_id, caller, NOTHING_KNOWN))
        given = with_ids([] if wanted.input is None else wanted.input)
        asked = wanted.asked(agent, [*before, *messages_of(given, before)])
        tokens = await unless_left(request, self._served.tokens(asked))
        return JSONResponse({"object": "response.input_tokens", "input_tokens": tokens})

    async def retrieve(self, request: Request) -> Response:
        stored = self._found(request)
        if not flag(request, "stream"):
            return JSONResponse(stored.response)
        if not stored.response["background"]:
            message = "only the events of background responses are kept"
            raise ApiError(message, code="not_streamable", param="stream")
        return event_stream(self._events(stored.id, number(request, "starting_after", -1)))

    async def delete(self, request: Request) -> Response:
        stored = self._found(request)
        await self._stop(stored)
        self._store.delete(stored.id, stored.caller)
        return JSONResponse({"id": stored.id, "object": "response", "deleted": True})

    async def cancel(self, request: Request) -> Response:
        stored = self._found(request)
        if not stored.response["background"]:
            raise ApiError("only background responses can be cancelled", code="not_cancellable")
        if stored.status not in _ENDED:
            stored.status = stored.response["status"] = "cancelled"
            self._store.end(stored)
            await self._stop(stored)
            self._news.tell(stored.id)
            stored = self._found(request)
        return JSONResponse(stored.response)

    async def input_items(self, request: Request) -> Response:
        stored = self._found(request)
        items = list(stored.input)
        if request.query_params.get("order", "desc") == "desc":
            items.reverse()
        places = {item["id"]: place for place, item in enumerate(items)}
        after = request.query_params.get("after")
        if after is not None and after not in places:
            raise not_found(f"there is no item `{after}`", "item_not_found", "after")
        begin = 0 if after is None else places[after] + 1
        most = min(max(number(request, "limit", 20), 1), 100)
        page = items[begin : begin + most]
        return JSONResponse(
            {
                "object": "list",
                "data": page,
                "first_id": page[0]["id"] if page else None,
                "last_id": page[-1]["id"] if page else None,
                "has_more": begin + most < len(items),
            }
        )

    # Responses

    def begin(self, wanted: ResponseRequest, caller: str, known: Known = NOTHING_KNOWN) -> Begun:
        """A response that has been accepted; `known` are those that are not stored and may be
        gone on from."""
        wanted.require_possible()
        agent = agent_of(wanted.model, self._served.agents)
        chain = self._chain(wanted.previous_response_id, caller, known)
        before, states = _said(chain), chain[-1].states if chain else ""
        given = with_ids([] if wanted.input is None else wanted.input)
        if not given and not before:
            raise ApiError("`input` is missing", code="missing_required_parameter", param="input")
        messages = messages_of(given, before)
        asking = self._served.request(wanted.asked(agent, [*before, *messages]), caller, states)
        if asking.waiting is None:
            require_answered([*before, *messages])
            if wanted.previous_response_id:
                self._require_unused(wanted.previous_response_id, before, messages, caller, known)
        elif wanted.previous_response_id:
            messages = []
        else:
            messages = list(asking.asked.messages)
        status = "queued" if wanted.background else "in_progress"
        response = resource(wanted, agent, self._served.agents[agent], status)
        stored = StoredResponse(
            response["id"],
            caller,
            wanted.previous_response_id or "",
            status,
            wanted.model_dump(exclude_none=True, by_alias=True),
            given,
            messages,
            response,
            states=states,
        )
        begun = Begun(stored, asking)
        self._under_way.add(begun)
        return begun

    def _require_unused(
        self, previous: str, before: Sequence[Message], given: Sequence[Message], caller: str, known: Known
    ) -> None:
        """Raises ApiError for the output of a call that another response has gone on with."""
        asked = {call.id for message in before for call in message.calls}
        outputs = {each.call_id for each in given if each.role == "tool"} & asked
        if not outputs:
            return
        here = [*known.values(), *(each.stored for each in self._under_way)]
        others = [each for each in here if each.previous == previous and each.status != "failed"]
        for other in [*others, *self._store.continuations(previous, caller)]:
            for item in other.input:
                if item["type"] == "function_call_output" and item["call_id"] in outputs:
                    message = f"the call `{item['call_id']}` was answered already"
                    raise ApiError(message, 409, kind="conflict", code="already_answered", param="input")

    async def whole(self, begun: Begun) -> Json:
        """The response, once it has ended."""
        try:
            answer = await self._served.answer(begun.asking)
            ResponseBuilder(begun.stored.response).whole(answer)
            self.ended(begun, answer)
        finally:
            self._under_way.discard(begun)
        return begun.stored.response

    async def stream(self, begun: Begun) -> AsyncGenerator[Event, None]:
        """The events of a response. Whoever stops reading stops the work."""
        builder = ResponseBuilder(begun.stored.response)
        for event in builder.begin():
            yield event
        try:
            async with aclosing(self._served.news(begun.asking)) as told:
                async for news in told:
                    if isinstance(news, AgentAnswer):
                        if news.left:
                            return
                        last = [*builder.untold(news, told=news.told), *builder.end(news)]
                        self.ended(begun, news, last)
                        for event in last:
                            yield event
                    elif isinstance(news, Text) and begun.asking.asked.schema is None:
                        for event in builder.say(news.turn, news.text):
                            yield event
        except StoreError as error:
            if begun.stored.response["background"]:
                raise
            yield {"type": "error", "sequence_number": builder.number, "error": store_fault(error)}
        except Exception:
            yield {"type": "error", "sequence_number": builder.number, "error": server_fault()}
            raise
        finally:
            self._under_way.discard(begun)

    def ended(self, begun: Begun, answer: AgentAnswer, last: Sequence[Event] = ()) -> None:
        """Keep a response that has ended, if it is to be; of one in the background `last` are the events that
        nobody has been told yet."""
        stored = begun.stored
        stored.status = stored.response["status"]
        if begun.asking.kept is not None:
            stored.run = begun.asking.kept.run_id
        if not answer.waits:  # What was said until then is said again by what goes on.
            stored.messages = [*stored.messages, *answer.said]
        stored.states = answer.states or stored.states
        if not stored.response["store"]:
            return
        if stored.response["background"]:
            self._store.end(stored, last[0]["sequence_number"], [json.dumps(event) for event in last])
        else:
            self._store.add(stored)

    def _chain(self, previous: str | None, caller: str, known: Known) -> list[StoredResponse]:
        """A response that has ended, and all that it went on from; the oldest first."""
        chain: list[StoredResponse] = []
        while previous:
            stored = known.get(previous) or self._store.get(previous, caller)
            if stored is None:
                raise not_found(
                    f"there is no response `{previous}`",
                    "previous_response_not_found",
                    "previous_response_id",
                )
            if stored.status not in _ENDED:
                raise ApiError(
                    f"the response `{previous}` has not ended",
                    409,
                    code="previous_response_in_progress",
                    param="previous_response_id",
                )
            chain.append(stored)
            previous = stored.previous
        return chain[::-1]

    def _found(self, request: Request) -> StoredResponse:
        wanted = request.path_params["id"]
        stored = self._store.get(wanted, caller_of(request))
        if stored is None:
            raise not_found(f"there is no response `{wanted}`", "response_not_found")
        return stored

    # In the background

    def recover(self) -> None:
        """Take up the background responses of servers that are gone."""
        for stored in self._store.unfinished():
            if self._workers is not None and self._workers.has(stored.run):
                continue
            with suppress(Busy, NoSuchRun, CannotResume, ManifestError):
                begun = self.taken_up(stored)
                if begun is not None:
                    self._drive(begun)

    def taken_up(self, stored: StoredResponse) -> Begun | None:
        """Go on with a response that another process has begun; None for one that nobody can go on with.
        Raises Busy, NoSuchRun, CannotResume, ManifestError."""
        row, options = self._runs.store.run(stored.run), self._served.kept_options()
        if row.result.get("kind") == "GivenUp":
            self._fail(stored, AgentAnswer(failure=row.result["error"], kind="GivenUp"))
            return None
        if row.status in ENDED:  # It has come to its end, and its process to its own.
            runtime = self._runs.shown_again(stored.run, options)
        else:
            runtime = self._runs.going_on(stored.run, {}, {}, [], options, for_client=True)
        wanted = ResponseRequest.model_validate(stored.request)
        try:
            before = self._chain(wanted.previous_response_id, stored.caller, NOTHING_KNOWN)
        except ApiError as gone:
            self._runs.cancel(stored.run)
            self._fail(stored, AgentAnswer(failure=str(gone.error["message"]), kind="NotFound"))
            return None
        asked = wanted.asked(stored.response["model"], [*_said(before), *stored.messages])
        waiting = self._served.waiting.get(stored.run)
        if waiting is not None:
            asked = waiting.asked
        return Begun(stored, AgentRequest(asked, stored.caller, stored.states, runtime, waiting))

    def _fail(self, stored: StoredResponse, why: AgentAnswer) -> None:
        """End a response that cannot be gone on with."""
        ResponseBuilder(stored.response).whole(why)
        stored.status = stored.response["status"]
        self._store.end(stored)

    async def work(self, begun: Begun) -> None:
        """Let a background response go on until it ends, or is left to others."""
        begun.asking.lasts = True
        place = 0
        async with aclosing(self.stream(begun)) as events:
            async for event in events:
                self._news.add(begun.stored.id, place, event)
                place += 1

    def _work_in_background(self, begun: Begun) -> None:
        stored, asking, workers = begun.stored, begun.asking, self._workers
        if workers is None or not workers.are_there:
            stored.run = self._served.begin_kept(asking, streamed=True).run_id
            self._store.add(stored)
            self._drive(begun)
            return
        with workers.transaction():
            if asking.kept is None:
                stored.run = workers.begin(self._served.program, self._served.kept_for(asking, streamed=True))
            else:
                stored.run = asking.kept.run_id
                workers.hand_over(stored.run)
            self._store.add(stored)

    def _drive(self, begun: Begun) -> None:
        task = asyncio.create_task(self.work(begun))
        self._working[begun.stored.id] = task
        task.add_done_callback(lambda _: self._working.pop(begun.stored.id, None))

    async def _stop(self, stored: StoredResponse) -> None:
        task = self._working.get(stored.id)
        if task is not None:
            await cancel([task])
        if stored.run:
            with suppress(NoSuchRun):
                self._runs.cancel(stored.run)
                if self._workers is not None:
                    self._workers.wake(stored.run)

    async def _events(self, response: str, after: int) -> AsyncIterator[Event]:
        """The events of a background response behind a number, until its end."""
        async for _, event in self._news.read(response, after, lambda: self._store.is_over(response)):
            yield event
            if event["type"].removeprefix("response.") in _ENDED:
                return


def _said(chain: Sequence[StoredResponse]) -> list[Message]:
    """All messages of a chain."""
    return [message for response in chain for message in response.messages]


class Begun:
    """A response that has been accepted, and what its agent is asked."""

    def __init__(self, stored: StoredResponse, asking: AgentRequest) -> None:
        self.stored = stored
        self.asking = asking
