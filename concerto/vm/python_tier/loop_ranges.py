"""Loop invariants and ranges: what holds at the start of every round of a loop.

Nobody knows it before the loop is written: so a function with loops is written several times. A pass assumes
facts at the start of each loop and notes what holds where a round ends; the next pass assumes what fits both,
until a pass finds its assumptions confirmed, and its text is the one that counts. Bounds that keep moving are
widened, so that a few passes are enough.

Locals that are only added to are bounded in another way: by where they start, the largest steps and the
number of rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from concerto.vm.python_tier.expression import INT, Fact, Facts, join_facts
from concerto.vm.python_tier.tree import Region, Step

MOST_PASSES = 8

_MOST_ROUNDS = 2**50
"""Nobody waits for so many rounds, which would take years: a local that starts far from the bounds of Int
and moves by small steps stays within them."""

_EXACT_PASSES = 2
"""So often bounds are taken as they are found; then they are widened to one of these."""

_LOWS = (0, -1, -(2**31), -(2**50), INT.low)
_HIGHS = (2**31, 2**50, INT.high)


@dataclass(slots=True)
class Moves:
    """How far a local sinks and rises at most, by all its steps in a round or in a whole loop; `longest` and
    `shortest` are single steps."""

    sink: int = 0
    rise: int = 0
    longest: int = 0
    shortest: int = INT.high

    def add(self, other: Moves) -> None:
        self.sink += other.sink
        self.rise += other.rise
        self.longest = max(self.longest, other.longest)
        self.shortest = min(self.shortest, other.shortest)

    def within(self, other: Moves) -> bool:
        return self.sink <= other.sink and self.rise <= other.rise

    def repeated(self, rounds: int) -> Moves:
        """In so many rounds, the shortest of which may have no step."""
        most = self.longest * _MOST_ROUNDS
        return Moves(min(self.sink * rounds, most), min(self.rise * rounds, most), self.longest, 0)


@dataclass(slots=True)
class _Loop:
    """What a pass has noted of a loop so far: the facts where rounds end, how locals move in one round, and
    which do not just move."""

    region: Region
    entry: Facts
    rounds: int
    ends: Facts | None = None
    moves: dict[int, Moves] = field(default_factory=dict)
    set_anew: set[int] = field(default_factory=set)

    def most_rounds(self) -> int:
        """How many rounds there can be: a local that moves one way in each of them comes to an end."""
        most = self.rounds
        if self.region.branched or self.ends is None:
            return most
        for node in self.region.arms[0].nodes:
            match node:
                case Step(instr=("STORE_LOCAL", local)) if local in self.entry and local in self.ends:
                    moves = self.moves.get(local)
                    if moves is None or local in self.set_anew or not moves.shortest:
                        continue
                    start, end = self.entry[local], self.ends[local]
                    if not moves.sink:
                        most = min(most, max(end.high - start.low, 0) // moves.shortest + 1)
                    if not moves.rise:
                        most = min(most, max(start.high - end.low, 0) // moves.shortest + 1)
                case _:
                    pass
        return most


class Rounds:
    """Assumptions about the loops of a function, by their numbers. `confirmed` says that those of the pass
    that was just made were right."""

    def __init__(self) -> None:
        self.passes = 0
        self.confirmed = True
        self._heads: dict[int, Facts] = {}
        self._moves: dict[int, dict[int, Moves]] = {}
        self._open: list[_Loop] = []

    def start_pass(self) -> None:
        self.passes += 1
        self.confirmed = True

    @property
    def careful(self) -> bool:
        """Whether this pass assumes nothing of what a loop assigns, because the others came to no end."""
        return self.passes > MOST_PASSES

    def changes(self, local: int) -> bool:
        """Whether a loop under way assigns a local."""
        return any(local in loop.region.stores for loop in self._open)

    def open(self, region: Region, entry: Facts, rounds: int | None) -> Facts:
        """Begin with a loop, of `rounds` at most if that is known: the facts at the start of a round."""
        facts = {number: fact for number, fact in entry.items() if number not in region.stores}
        if not self.careful:
            moves = self._moves.get(region.number, {})
            head = self._heads.setdefault(region.number, entry)
            for number in region.stores & entry.keys():
                if number in moves:
                    facts[number] = self._moved(number, entry[number], moves[number])
                elif number in head:
                    facts[number] = head[number]
        if region.kind == "FOR":
            facts.pop(region.local, None)
        loop = _Loop(region, entry, _MOST_ROUNDS if rounds is None else rounds)
        loop.set_anew.add(region.local if region.kind == "FOR" else -1)
        self._open.append(loop)
        return facts

    def _moved(self, local: int, start: Fact, moves: Moves) -> Fact:
        """The bounds of a local in all rounds. Those of a loop around hold in the loops inside."""
        low, high = start.low - moves.sink, start.high + moves.rise
        for loop in self._open:
            around = self._moves.get(loop.region.number, {}).get(local)
            if around is not None and local in loop.entry:
                low = max(low, loop.entry[local].low - around.sink)
                high = min(high, loop.entry[local].high + around.rise)
                break
        return Fact("int", max(low, INT.low), min(high, INT.high))

    def end_round(self, number: int, facts: Facts) -> None:
        """Note what holds where a round of a loop ends."""
        loop = next(loop for loop in self._open if loop.region.number == number)
        loop.ends = join_facts(loop.ends, dict(facts))

    def note_store(self, local: int, step: Fact | None) -> None:
        """Note an assignment: `step` is added to the local, or it is set anew."""
        if not self._open:
            return
        loop = self._open[-1]
        if step is None:
            loop.set_anew.add(local)
        else:
            sink, rise = max(-step.low, 0), max(step.high, 0)
            shortest = max(step.low, -step.high, 0)
            loop.moves.setdefault(local, Moves()).add(Moves(sink, rise, max(sink, rise), shortest))

    def close(self) -> None:
        """A loop is written: compare what was assumed, and let the loop around know how locals move."""
        loop = self._open.pop()
        # In the first pass the bounds are those of the first round.
        rounds = loop.most_rounds() if self.passes > 1 else loop.rounds
        totals = {
            number: moves.repeated(rounds)
            for number, moves in loop.moves.items()
            if number not in loop.set_anew
        }
        if self._open:
            outer = self._open[-1]
            outer.set_anew |= loop.set_anew
            for number, moves in totals.items():
                outer.moves.setdefault(number, Moves()).add(moves)
        if not self.careful:
            self._compare(loop, totals)

    def _compare(self, loop: _Loop, totals: dict[int, Moves]) -> None:
        number = loop.region.number
        assumed = self._moves.get(number, {})
        found = {
            local: moves
            for local, moves in totals.items()
            if loop.entry.get(local, INT).kind == "int"
            and (self.passes <= _EXACT_PASSES + 1 or (local in assumed and moves.within(assumed[local])))
        }
        if self.passes > _EXACT_PASSES + 1:
            found = {local: assumed[local] for local in found}
        if found != assumed:
            self._moves[number] = found
            self.confirmed = False
        head = self._heads[number]
        joined = join_facts(join_facts(loop.entry, loop.ends), head) or {}
        for local in found:
            if local in loop.entry:
                joined[local] = loop.entry[local]
        if self.passes > _EXACT_PASSES:
            joined = {local: widened(fact, head.get(local)) for local, fact in joined.items()}
        relevant = loop.region.stores - found.keys()
        if any(joined.get(local) != head.get(local) for local in relevant):
            self.confirmed = False
        self._heads[number] = joined


def widened(fact: Fact, before: Fact | None) -> Fact:
    """The fact, its bounds moved on to the next limits where they have moved."""
    if fact.kind != "int" or before is None or before == fact:
        return fact
    low, high = fact.low, fact.high
    if low < before.low:
        low = next((limit for limit in _LOWS if limit <= low), INT.low)
    if high > before.high:
        high = next((limit for limit in _HIGHS if limit >= high), INT.high)
    return Fact("int", low, high)
