from collections import deque


def neighbours(word: str, words: set[str]) -> list[str]:
    found = []
    for at in range(len(word)):
        for letter in ["a", "e", "i", "o", "b", "d", "g", "n", "r", "t"]:
            other = word[:at] + letter + word[at + 1 :]
            if other != word and other in words:
                found.append(other)
    return found


def ladder(start: str, goal: str, words: set[str]) -> list[str] | None:
    before: dict[str, str] = {}
    seen = {start}
    queue = deque([start])
    while queue:
        word = queue.popleft()
        if word == goal:
            path = [goal]
            current = goal
            while current in before:
                current = before[current]
                path.append(current)
            return path[::-1]
        for following in neighbours(word, words):
            if following not in seen:
                seen.add(following)
                before[following] = word
                queue.append(following)
    return None


def work() -> str:
    words = set()
    consonants = ["b", "d", "g", "n", "r", "t"]
    vowels = ["a", "e", "i", "o"]
    for i, first in enumerate(consonants):
        for j, vowel in enumerate(vowels):
            for k, last in enumerate(consonants):
                if (i * 5 + j * 3 + k) % 4 != 1:
                    words.add(first + vowel + last)
    shown = []
    for start, goal in [("bag", "tin"), ("dad", "rot"), ("gig", "bad"), ("bag", "xyz"), ("ten", "bob")]:
        path = ladder(start, goal, words)
        shown.append(f"{start}|{goal}" if path is None else ">".join(path))
    return f"{len(words)} {' '.join(shown)}"
