from dataclasses import dataclass, replace
from enum import Enum


class Kind(Enum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(slots=True)
class Role:
    kind: Kind
    call: int = -1


@dataclass(slots=True)
class Turn:
    role: Role
    text: str
    tokens: int = 0
    pinned: bool = False


@dataclass(slots=True)
class Budget:
    limit: int
    reserve: int = 50

    def fit(self, turns: list[Turn]) -> list[Turn]:
        keep = [turn.pinned for turn in turns]
        left = self.limit - self.reserve - sum(turn.tokens for turn in turns if turn.pinned)
        for at in reversed(range(len(turns))):
            if keep[at]:
                continue
            if turns[at].tokens > left:
                break
            left -= turns[at].tokens
            keep[at] = True
        # A tool result whose call was dropped makes no sense.
        return [
            turn
            for at, turn in enumerate(turns)
            if keep[at] and (turn.role.kind is not Kind.TOOL or keep[turn.role.call])
        ]


def estimate(text: str) -> int:
    return 4 + sum((len(word) + 4) // 5 for word in text.split())


def shorten(turn: Turn, most: int) -> Turn:
    if turn.tokens <= most:
        return turn
    words = []
    used = 5
    for word in turn.text.split():
        cost = (len(word) + 4) // 5
        if used + cost > most:
            break
        used += cost
        words.append(word)
    return replace(turn, text=f"{' '.join(words)} …", tokens=used)


def label(role: Role) -> str:
    return f"tool#{role.call}" if role.kind is Kind.TOOL else role.kind.value


def conversation(length: int) -> list[Turn]:
    turns = [Turn(Role(Kind.SYSTEM), "You answer questions about orders and nothing else", pinned=True)]
    for i in range(1, length):
        match i % 4:
            case 1:
                text = f"Where is order number {i * 37} of the customer {i % 7}?"
                turn = Turn(Role(Kind.USER), text, pinned=i % 40 == 1)
            case 2:
                turn = Turn(Role(Kind.ASSISTANT), "Let me look that up")
            case 3:
                items = '"a rather long name", ' * (i % 6)
                turn = Turn(Role(Kind.TOOL, i - 1), f'{{"order": {i}, "items": [{items}]}}')
            case _:
                text = f"Order {i * 37} is on its way and arrives within {i % 5 + 1} days"
                turn = Turn(Role(Kind.ASSISTANT), text)
        turns.append(turn)
    return [shorten(replace(turn, tokens=estimate(turn.text)), 24) for turn in turns]


def work() -> str:
    turns = conversation(320)
    lines = []
    for limit in [200, 400, 800, 1600]:
        fitting = Budget(limit).fit(turns)
        used = sum(turn.tokens for turn in fitting)
        roles: dict[str, int] = {}
        for turn in fitting:
            name = label(turn.role).split("#")[0]
            roles[name] = roles.get(name, 0) + 1
        shown = ", ".join(f'"{name}": {count}' for name, count in roles.items())
        last = fitting[-1].text if fitting else ""
        lines.append(f"{limit}: {len(fitting)} turns, {used} tokens, {{{shown}}}, last {last}")
    lines += [f"{label(turn.role)}: {turn.text} ({turn.tokens})" for turn in turns[315:]]
    return "\n".join(lines)
