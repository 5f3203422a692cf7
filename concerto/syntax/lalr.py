"""The LALR machine: shifts and reduces tokens by the tables. Lark only makes these: its own loop takes three
times as long (`docs/pages/internals/architecture.md`)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol

from concerto.once import once
from concerto.syntax.tables import tables
from concerto.syntax.tokens import END, Token


class Rescue(Protocol):
    """What the machine asks when a token fits nowhere."""

    def repair(self, parser: LalrParser, tokens: list[Token], position: int) -> int:
        """Changes the machine's stacks or the tokens so that parsing can go on from the position
        it returns."""


class LalrParser:
    """`states` has one entry more than `values`: the start state. Both are the recovery's to cut."""

    def __init__(self, builder: Any) -> None:
        self.tables = tables()
        self.states = [self.tables.start]
        self.values: list[Any] = []
        self.builder = builder
        self.steps = _steps(builder.__class__)

    def run(self, tokens: list[Token], rescue: Rescue) -> Any:
        """Parses up to the end token and returns what the start rule became."""
        position = 0
        while True:
            position = self.consume(tokens, position)
            if position == len(tokens):
                return self.values[-1]
            position = rescue.repair(self, tokens, position)

    def consume(self, tokens: list[Token], position: int) -> int:
        """Parses from `position` on; the position of the first token that does not fit, or the
        number of tokens if all was accepted."""
        actions, gotos, steps = self.tables.actions, self.tables.gotos, self.steps
        states, values, builder = self.states, self.values, self.builder
        state = states[-1]
        for place in range(position, len(tokens)):
            token = tokens[place]
            kind = token.kind
            while True:
                try:
                    action = actions[state][kind]
                except KeyError:
                    return len(tokens) if kind == END and state == self.tables.end else place
                if action >= 0:
                    break
                origin, size, build = steps[action]
                if size == 1:
                    if build is not None:
                        values[-1] = build(builder, [values[-1]])
                    state = states[-1] = gotos[states[-2]][origin]
                elif size:
                    assert build is not None
                    values[-size:] = [build(builder, values[-size:])]
                    state = gotos[states[-size - 1]][origin]
                    states[-size:] = [state]
                else:
                    assert build is not None
                    values.append(build(builder, []))
                    state = gotos[state][origin]
                    states.append(state)
            states.append(action)
            values.append(token)
            state = action
        raise AssertionError("the tokens have no end token")

    def accepts(self, kind: str, depth: int | None = None) -> bool:
        """Whether a token of this kind could come next, with the stack cut to `depth` states."""
        return self.try_kinds([kind], depth)

    def try_kinds(self, kinds: list[str], depth: int | None = None) -> bool:
        """Whether tokens of these kinds could come next in this order. Changes nothing."""
        actions, gotos, rules = self.tables.actions, self.tables.gotos, self.tables.rules
        base = len(self.states) if depth is None else depth
        # States above `base`; below it the real stack is only read.
        own: list[int] = []
        states = self.states
        for kind in kinds:
            while True:
                state = own[-1] if own else states[base - 1]
                action = actions[state].get(kind)
                if action is None:
                    return False
                if action >= 0:
                    own.append(action)
                    break
                rule = rules[~action]
                size = rule.size
                if size <= len(own):
                    del own[len(own) - size :]
                else:
                    base -= size - len(own)
                    own.clear()
                own.append(gotos[own[-1] if own else states[base - 1]][rule.origin])
                if kind == END and own[-1] == self.tables.end:
                    return True
        return True

    def cut(self, depth: int) -> None:
        """Forgets all but the first `depth` states."""
        del self.states[depth:]
        del self.values[depth - 1 :]


@once
def _steps(builder: Hashable) -> list[tuple[str, int, Callable[[Any, list[Any]], Any] | None]]:
    """For each rule what it yields, its size and what builds its node: nothing is called for one that only
    hands its one symbol on. They are in reverse order, so that actions, which are negative, are indices."""
    return [
        (rule.origin, rule.size, None if rule.is_unit else getattr(builder, rule.method))
        for rule in reversed(tables().rules)
    ]
