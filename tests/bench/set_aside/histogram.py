def bucket(value: int, width: int) -> int:
    return value // width * width


def histogram(values: list[int], width: int = 10, bar: str = "#", columns: int = 40) -> str:
    counts: dict[int, int] = {}
    for value in values:
        low = bucket(value, width)
        counts[low] = counts.get(low, 0) + 1
    most = max(counts.values(), default=1)
    out = ""
    for low in sorted(counts):
        count = counts[low]
        share = count / len(values)
        label = f"{low}-{low + width - 1}"
        out += f"{label:>9} |{bar * (count * columns // most):<40}| {count:>5,} {share:6.2%}\n"
    return out


def work() -> str:
    length = 0
    shown = ""
    for turn in range(1, 12):
        values = [(i * i * turn + i * 31) % 240 for i in range(800)]
        length += len(histogram(values))
        shown = histogram([value for value in values if value < 100], width=20, bar="=")
        length += len(shown)
    return f"{length}\n{shown}"
