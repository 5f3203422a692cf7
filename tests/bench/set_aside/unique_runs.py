from collections import Counter


def longest_unique(text: str) -> str:
    last: dict[str, int] = {}
    start = 0
    best = (0, 0)
    for at, letter in enumerate(text):
        before = last.get(letter)
        if before is not None and before >= start:
            start = before + 1
        last[letter] = at
        if at + 1 - start > best[1] - best[0]:
            best = (start, at + 1)
    return text[best[0] : best[1]]


def anagrams(text: str, wanted: str) -> list[int]:
    length = len(wanted)
    missing = dict(Counter(wanted))
    todo = length
    found = []
    for end in range(len(text)):
        entering = text[end]
        if entering in missing:
            if missing[entering] > 0:
                todo -= 1
            missing[entering] -= 1
        if end >= length:
            leaving = text[end - length]
            if leaving in missing:
                missing[leaving] += 1
                if missing[leaving] > 0:
                    todo += 1
        if todo == 0:
            found.append(end - length + 1)
    return found


def work() -> str:
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    total = 0
    longest = ""
    for turn in range(1, 16):
        text = ""
        for i in range(600):
            text += alphabet[(i * turn + i * i // 13) % 26]
        unique = longest_unique(text)
        if len(unique) > len(longest):
            longest = unique
        total += sum(anagrams(text, text[50:53])) + len(anagrams(text, "abc"))
    return f"{total} {longest}"
