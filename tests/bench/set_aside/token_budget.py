from dataclasses import dataclass, replace


@dataclass
class Message:
    id: int
    role: str
    text: str
    pinned: bool = False
    name: str = ""

    def cost(self) -> int:
        match self.role:
            case "system":
                overhead = 2
            case "tool":
                overhead = 6 + tokens(self.name)
            case _:
                overhead = 4
        return overhead + tokens(self.text)

    def shortened(self, words: int) -> "Message":
        parts = self.text.split()
        if len(parts) <= words:
            return self
        return replace(self, text=" ".join(parts[:words]) + " […]")


@dataclass
class Budget:
    limit: int
    reserve: int = 50
    keep_last: int = 4


@dataclass
class Fitted:
    messages: list[Message]
    tokens: int
    dropped: list[int]


def tokens(text: str) -> int:
    return sum(1 + len(word) // 6 for word in text.split())


def fit(history: list[Message], budget: Budget) -> Fitted:
    room = budget.limit - budget.reserve
    kept = history
    total = sum(message.cost() for message in kept)
    if total > room:
        kept = [message.shortened(12) if message.role == "tool" else message for message in kept]
        total = sum(message.cost() for message in kept)
    dropped = []
    result = []
    first_safe = len(kept) - budget.keep_last
    for n, message in enumerate(kept):
        optional = message.role != "system" and not message.pinned and n < first_safe
        if optional and total > room:
            total -= message.cost()
            dropped.append(message.id)
        else:
            result.append(message)
    return Fitted(result, total, dropped)


WORDS = [
    "please",
    "look",
    "up",
    "the",
    "weather",
    "in",
    "Paris",
    "temperature",
    "is",
    "21",
    "degrees",
    "tomorrow",
    "extraordinarily",
    "sunny",
    "I",
    "think",
]


def sentence(length: int, seed: int) -> str:
    return " ".join(WORDS[(n * n + seed * 7 + n * seed) % len(WORDS)] for n in range(length))


def work() -> int:
    history = [Message(0, "system", sentence(30, 1), True)]
    check = 0
    for turn in range(1, 251):
        history.append(Message(turn * 10, "user", sentence(8 + turn % 5, turn), turn % 9 == 0))
        if turn % 3 == 0:
            history.append(
                Message(turn * 10 + 1, "tool", sentence(40 + turn % 7, turn), name="weather_lookup")
            )
        history.append(Message(turn * 10 + 2, "assistant", sentence(14, turn * 3)))
        fitted = fit(history, Budget(700))
        check = (check * 31 + fitted.tokens + sum(fitted.dropped) + len(fitted.messages)) % 1_000_000_007
        history = fitted.messages
    return check
