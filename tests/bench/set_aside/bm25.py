import math
from collections import defaultdict
from dataclasses import dataclass

K1 = 1.5
B = 0.75
DIMENSIONS = 24


@dataclass
class Document:
    id: int
    words: list[str]
    vector: list[float]


def hashed(word: str) -> int:
    value = 17
    for c in word:
        value = (value * 31 + ord(c)) % 65521
    return value


def embed(words: list[str]) -> list[float]:
    vector = [0.0] * DIMENSIONS
    for word in words:
        value = hashed(word)
        vector[value % DIMENSIONS] += 1.0 if value % 2 == 0 else -0.5
    return vector


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b))


def cosine(a: list[float], b: list[float]) -> float:
    norms = math.sqrt(dot(a, a)) * math.sqrt(dot(b, b))
    return 0.0 if norms == 0.0 else dot(a, b) / norms


class Index:
    def __init__(self, texts: list[str]) -> None:
        self.documents: list[Document] = []
        self.postings: defaultdict[str, dict[int, int]] = defaultdict(dict)
        for id, text in enumerate(texts):
            words = text.lower().split()
            for word in words:
                self.postings[word][id] = self.postings[word].get(id, 0) + 1
            self.documents.append(Document(id, words, embed(words)))
        self.average = sum(len(document.words) for document in self.documents) / len(self.documents)

    def bm25(self, query: list[str]) -> dict[int, float]:
        scores: defaultdict[int, float] = defaultdict(float)
        count = len(self.documents)
        for term in query:
            found = self.postings.get(term)
            if found is None:
                continue
            df = len(found)
            idf = math.log((count - df + 0.5) / (df + 0.5) + 1.0)
            for id, tf in found.items():
                length = len(self.documents[id].words)
                score = idf * tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length / self.average))
                scores[id] += score
        return scores

    def search(self, query: str, top: int) -> list[tuple[int, float]]:
        words = query.split(" ")
        vector = embed(words)
        scored = [
            (id, score + 2.0 * cosine(vector, self.documents[id].vector))
            for id, score in self.bm25(words).items()
        ]
        return sorted(scored, key=lambda item: (-item[1], item[0]))[:top]


NOUNS = ["Agent", "tool", "token", "Memory", "schema", "stream", "Prompt", "cache", "vector", "graph"]
VERBS = ["calls", "reads", "writes", "ranks", "splits", "joins", "retries"]


def work() -> str:
    texts = []
    for n in range(600):
        words = [
            VERBS[(n + k * n) % 7] if k % 3 == 1 else NOUNS[(n * k + n // 3 + k) % 10]
            for k in range(8 + n % 9)
        ]
        texts.append(" ".join(words) + f" doc{n % 40}")
    index = Index(texts)
    lines = []
    for query in [
        "agent calls tool",
        "memory cache doc7",
        "vector ranks graph schema",
        "nothing here",
        "stream retries",
    ]:
        hits = index.search(query, 3)
        lines.append(f"{query}: {' '.join(f'{id}={score:.4f}' for id, score in hits)}")
    return " | ".join(lines)
