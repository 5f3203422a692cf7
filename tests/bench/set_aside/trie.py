from dataclasses import dataclass, field


@dataclass
class Trie:
    children: dict[str, "Trie"] = field(default_factory=dict)
    passing: int = 0
    is_word: bool = False

    def insert(self, word: str) -> None:
        node = self
        node.passing += 1
        for letter in word:
            if letter not in node.children:
                node.children[letter] = Trie()
            node = node.children[letter]
            node.passing += 1
        node.is_word = True

    def count_prefix(self, prefix: str) -> int:
        node = self
        for letter in prefix:
            child = node.children.get(letter)
            if child is None:
                return 0
            node = child
        return node.passing

    def longest_match(self, text: str, start: int) -> int | None:
        node = self
        longest = None
        at = start
        while at < len(text):
            child = node.children.get(text[at])
            if child is None:
                break
            node = child
            at += 1
            if node.is_word:
                longest = at - start
        return longest

    def depth(self) -> int:
        return max((child.depth() + 1 for child in self.children.values()), default=0)


def pieces(trie: Trie, text: str) -> list[str]:
    found = []
    at = 0
    while at < len(text):
        length = trie.longest_match(text, at) or 1
        found.append(text[at : at + length])
        at += length
    return found


SYLLABLES = ["to", "ken", "pro", "mpt", "in", "ter", "ate", "s", "ion", "re"]


def work() -> int:
    trie = Trie()
    words = []
    for a in SYLLABLES:
        for b in SYLLABLES:
            for c in SYLLABLES:
                for ending in ("", "s", "ing", "able"):
                    words.append(a + b + c + ending)
    for word in words:
        trie.insert(word)
    total = trie.depth()
    for word in words:
        total += trie.count_prefix(word[:3])
    text = "x".join(words[::3])
    cut = pieces(trie, text)
    return total + len(cut) * 7 + sum(len(piece) * len(piece) for piece in cut)
