def words(text: str) -> list[str]:
    found = []
    word = ""
    for letter in text:
        if letter == " ":
            found.append(word)
            word = ""
        else:
            word = word + letter
    found.append(word)
    return found


def score(words: list[str], least: int) -> int:
    long = [len(word) for word in words if len(word) >= least]
    even = sum(length * least for length in long if length % 2 == 0)
    places = 0
    for word in words:
        places = places + (len(word) - least)
    total = even + places
    for place, word in enumerate(words):
        total += place * len(word)
    for word, length in zip(words, long, strict=False):
        if len(word) == length:
            total += 1
    if any(word == "lazy" for word in words):
        total += 7
    return total


def squares(count: int) -> int:
    rows = [
        [cell for cell in [row * column for column in range(row)] if cell & 1 == 0] for row in range(count)
    ]
    return sum(len(row) for row in rows)


def work() -> str:
    text = "the quick brown fox jumps over the lazy dog while nobody looks at it"
    total = 0
    for round_ in range(300):
        total += score(words(text), round_ % 5) + squares(round_ % 9)
    return f"{total}"
