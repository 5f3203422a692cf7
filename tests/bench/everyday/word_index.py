def index_words(pages: list[str]) -> dict[str, list[tuple[int, int]]]:
    index: dict[str, list[tuple[int, int]]] = {}
    for number, page in enumerate(pages):
        for place, word in enumerate(page.split(" ")):
            index.setdefault(word.lower(), []).append((number, place))
    return index


def work() -> int:
    words = ["The", "river", "ran", "over", "the", "stone", "and", "Under", "bridge"]
    pages = []
    for p in range(150):
        page = []
        for w in range(60):
            page.append(words[(p * 3 + w * w) % 9])
        pages.append(" ".join(page))
    index = index_words(pages)
    total = 0
    for word, places in index.items():
        last = -1
        for number, place in places:
            if number != last:
                total += len(word)
                last = number
            total += place
    common = sorted(index.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return total + len(common[0][1]) + len(common[0][0])
