# ruff: noqa: E501
from collections import Counter, defaultdict


def distance(a: str, b: str, limit: int) -> int | None:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        following = [i + 1]
        for j, y in enumerate(b):
            change = row[j] + (x != y)
            following.append(min(change, row[j + 1] + 1, following[j] + 1))
        if min(following) > limit:
            return None
        row = following
    return row[-1] if row[-1] <= limit else None


class Speller:
    def __init__(self, text: str) -> None:
        self.known = Counter(text.lower().split())
        self.by_length: dict[int, list[str]] = defaultdict(list)
        for word in self.known:
            self.by_length[len(word)].append(word)

    def suggestions(self, word: str, limit: int = 2) -> list[str]:
        found = []
        for length in range(len(word) - limit, len(word) + limit + 1):
            for candidate in self.by_length.get(length, []):
                steps = distance(word, candidate, limit)
                if steps is not None:
                    found.append((steps, -self.known[candidate], candidate))
        return [candidate for _, _, candidate in sorted(found)[:3]]

    def correct(self, text: str) -> tuple[str, int]:
        seen = set()
        words = []
        for word in text.split():
            lower = word.lower()
            if lower in self.known:
                words.append(word)
                continue
            seen.add(lower)
            match self.suggestions(lower):
                case []:
                    words.append(f"<{word}>")
                case [only]:
                    words.append(only)
                case [best, *rest]:
                    words.append(f"{best}({'|'.join(rest)})")
        return " ".join(words), len(seen)


TEXT = (
    "the quick brown fox jumps over the lazy dog while agents call tools and read results from the search index "
    "before they write a short answer with sources for the reader who asked the question about models prompts "
    "tokens and budgets of the project in the first place"
)


def work() -> str:
    speller = Speller(TEXT)
    first, unknown = speller.correct("Teh quikc bronw fox jmups ovr the layz dog")
    second, more = speller.correct("agnets cal tols and raed reslts form teh serch indx xyzzyx")
    third, most = speller.correct("befor thay wriet a shrt anser wih sorces for the qustion abot modls")
    return f"{first} {unknown}\n{second} {more}\n{third} {most}"
