"""The layers of the gate, one idea a file. `standard_layers` is their order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from concerto.effects.gate import Layer, Passage, Perform, Waiter
from concerto.effects.identity import Identity
from concerto.effects.layers.budget import Costs, budget_layer
from concerto.effects.layers.cache import cache_layer
from concerto.effects.layers.journal import EffectJournal, intents_layer, journal_layer
from concerto.effects.layers.log import Log, Watch, log_layer
from concerto.effects.layers.mock import Answers, mock_layer
from concerto.effects.layers.permission import permission_layer
from concerto.effects.layers.rate import rate_layer
from concerto.effects.layers.retry import retry_layer
from concerto.effects.layers.starting import Start, starting_layer
from concerto.effects.layers.timeout import timeout_layer
from concerto.effects.permissions import Permissions

if TYPE_CHECKING:
    from concerto.effects.trace import Trace
    from concerto.vm.values import Value


def standard_layers(
    permissions: Permissions,
    waiting: Waiter,
    log: Log,
    begin: Callable[[Identity], Watch],
    answers: Answers,
    costs: Callable[[], Costs],
    start: Start,
    trace: Trace | None = None,
    journal: EffectJournal | None = None,
    then: Callable[[Passage, Perform], Awaitable[Value]] | None = None,
) -> list[Layer]:
    """Permission first, so that nothing forbidden costs anything, `then` trust if there is a table of it; the
    log sees what the program sees; a cached answer costs no budget and no time; a timeout begins when there
    is a server to ask, and bounds all attempts; each attempt waits for its turn and pays, whether the world
    answers or a script. A trace is told of all, and of each attempt. A journal answers instead of all that
    costs and waits; what is about to be done is written down last."""
    outer: list[Layer] = []
    attempts: list[Layer] = []
    answering: list[Layer] = []
    intending: list[Layer] = []
    if journal is not None:
        answering, intending = [journal_layer(journal)], [intents_layer(journal)]
    if trace is not None:
        from concerto.effects.layers.trace import attempts_layer, trace_layer

        outer, attempts = [trace_layer(trace)], [attempts_layer(trace)]
    return [
        *outer,
        permission_layer(permissions, then),
        log_layer(log, begin),
        *answering,
        cache_layer(waiting),
        starting_layer(start),
        timeout_layer(waiting),
        retry_layer(waiting),
        *attempts,
        rate_layer(waiting),
        budget_layer(costs, waiting),
        mock_layer(answers),
        *intending,
    ]
