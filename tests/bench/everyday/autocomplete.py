class Node:
    __slots__ = ("children", "weight", "word")

    def __init__(self) -> None:
        self.children: dict[str, Node] = {}
        self.word: str | None = None
        self.weight = 0

    def insert(self, rest: str, word: str, weight: int) -> bool:
        if not rest:
            new = self.word is None
            self.word = word
            self.weight += weight
            return new
        letter = rest[0]
        if letter not in self.children:
            self.children[letter] = Node()
        return self.children[letter].insert(rest[1:], word, weight)

    def words(self) -> list[tuple[str, int]]:
        found = []
        if self.word is not None:
            found.append((self.word, self.weight))
        for child in self.children.values():
            found += child.words()
        return found

    def depth(self) -> int:
        return 1 + max((child.depth() for child in self.children.values()), default=0)


class Trie:
    def __init__(self) -> None:
        self.root = Node()
        self.size = 0

    def add(self, word: str, weight: int = 1) -> None:
        if self.root.insert(word, word, weight):
            self.size += 1

    def find(self, prefix: str) -> Node | None:
        node = self.root
        for letter in prefix:
            child = node.children.get(letter)
            if child is None:
                return None
            node = child
        return node

    def complete(self, prefix: str, limit: int = 3) -> list[str]:
        node = self.find(prefix)
        if node is None:
            return []
        best = sorted(node.words(), key=lambda found: (-found[1], found[0]))
        return [word for word, _ in best[:limit]]


def work() -> str:
    starts = ["re", "un", "in", "pre", "con", "de", "ex", "sub"]
    middles = ["form", "port", "tract", "struct", "place", "serve"]
    endings = ["", "s", "ed", "ing", "er", "ion"]
    trie = Trie()
    n = 0
    for start in starts:
        for middle in middles:
            for ending in endings:
                n += 1
                if n % 4 != 1:
                    trie.add(f"{start}{middle}{ending}", weight=n * 7 % 23)
    for word in ["report", "report", "content", "export"]:
        trie.add(word)
    lines = [
        f"{prefix}: {' '.join(trie.complete(prefix))}"
        for prefix in ["re", "con", "expo", "substr", "zebra", "d", "inpl", "untract"]
    ]
    everything = sum(len(word) for word in trie.complete("", limit=1000))
    return f"{trie.size} words, depth {trie.root.depth()}, {everything}\n" + "\n".join(lines)
