import math
from collections import Counter, defaultdict
from dataclasses import dataclass

WORDS = [
    "agent", "tool", "model", "prompt", "token", "memory", "search", "index", "vector", "chunk", "schema",
    "stream", "retry", "budget", "trace", "cache", "graph", "query", "score", "window",
]  # fmt: skip


@dataclass(slots=True)
class Document:
    id: int
    title: str
    words: list[str]


@dataclass(slots=True)
class Hit:
    document: Document
    score: float


class Index:
    def __init__(self, documents: list[Document]) -> None:
        self.documents = documents
        self.postings: dict[str, Counter[int]] = defaultdict(Counter)
        for document in documents:
            for word in document.words:
                self.postings[word][document.id] += 1
        self.average = sum(len(document.words) for document in documents) / len(documents)

    def search(self, query: str, limit: int) -> list[Hit]:
        scores: dict[int, float] = defaultdict(float)
        for term in query.lower().split():
            found = self.postings.get(term)
            if found is None:
                continue
            rarity = math.log(1.0 + (len(self.documents) - len(found) + 0.5) / (len(found) + 0.5))
            for id, count in found.items():
                length = len(self.documents[id].words) / self.average
                weight = count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length))
                scores[id] += rarity * weight
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
        return [Hit(self.documents[id], score) for id, score in best]


def work() -> str:
    seed = 7
    documents = []
    for id in range(120):
        words = []
        for _ in range(20 + id % 15):
            seed = (seed * 1103515245 + 12345) % 2147483648
            words.append(WORDS[seed // 65536 % len(WORDS) * (seed // 7 % 3) // 2])
        documents.append(Document(id, f"Page {id}", words))
    index = Index(documents)
    lines = []
    for query in [
        "agent memory",
        "Token BUDGET retry",
        "stream",
        "nothing here",
        "graph query score window",
        "chunk vector",
    ]:
        hits = index.search(query, 5)
        lines.append(f"{query}: {', '.join(f'{hit.document.title} ({hit.score:.3f})' for hit in hits)}")
    return "\n".join(lines)
