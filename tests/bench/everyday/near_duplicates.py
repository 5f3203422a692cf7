from dataclasses import dataclass, field


@dataclass(slots=True)
class Message:
    id: int
    sender: str
    text: str


def normalized(text: str) -> str:
    kept = "".join(letter for letter in text.lower() if letter.isalnum() or letter == " ")
    return " ".join(kept.split())


def shingles(text: str, size: int) -> set[str]:
    words = text.split(" ")
    return {" ".join(words[i : i + size]) for i in range(len(words) - size + 1)}


def similarity(a: set[str], b: set[str]) -> float:
    everything = len(a | b)
    return 1.0 if everything == 0 else len(a & b) / everything


@dataclass(slots=True)
class Kept:
    message: Message
    marks: set[str]
    copies: list[int] = field(default_factory=list)


def deduplicated(messages: list[Message], threshold: float) -> list[Kept]:
    kept: list[Kept] = []
    exact: dict[str, Kept] = {}
    for message in messages:
        text = normalized(message.text)
        known = exact.get(text)
        if known is not None:
            known.copies.append(message.id)
            continue
        marks = shingles(text, 2)
        for other in kept:
            if similarity(other.marks, marks) >= threshold:
                other.copies.append(message.id)
                break
        else:
            exact[text] = Kept(message, marks)
            kept.append(exact[text])
    return kept


def work() -> str:
    openings = ["Please check the invoice", "Hello, the build is broken", "Meeting moved to"]
    topics = ["for the March order", "on the main branch", "Thursday at noon", "in room seven"]
    endings = ["!", " as soon as you can.", " -- thanks", ""]
    messages = []
    for i in range(400):
        ticket = f"(ticket {i % 40})" if i % 5 == 0 else ""
        text = f"{openings[i % 3]} {topics[i // 3 % 4]}{endings[i * 7 % 4]} {ticket}"
        messages.append(Message(i, f"user{i % 9}", text))
    kept = deduplicated(messages, 0.6)
    senders = sorted({each.message.sender for each in kept})
    lines = [f"{each.message.id}+{len(each.copies)}:{sum(each.copies)}" for each in kept if each.copies]
    return f"{len(kept)} of {len(messages)} from {','.join(senders)}\n{' '.join(lines)}"
