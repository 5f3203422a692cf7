TEXT = (
    "The quick agent reads every message of the conversation before it decides which of its many tools to "
    "call ; a careless one calls whatever stands first and then apologises at extraordinary length for the "
    "result"
)


def greedy(words: list[str], width: int) -> list[list[str]]:
    lines = []
    line: list[str] = []
    used = 0
    for word in words:
        needed = used + 1 + len(word) if line else len(word)
        if needed > width and line:
            lines.append(line)
            line = [word]
            used = len(word)
        else:
            line.append(word)
            used = needed
    if line:
        lines.append(line)
    return lines


def balanced(words: list[str], width: int) -> list[list[str]]:
    count = len(words)
    cost = [1_000_000_000] * count + [0]
    next_line = [count] * (count + 1)
    for start in reversed(range(count)):
        used = -1
        for end in range(start, count):
            used += 1 + len(words[end])
            if used > width and end > start:
                break
            slack = 0 if end == count - 1 else max(width - used, 0)
            total = slack * slack + cost[end + 1]
            if total < cost[start]:
                cost[start] = total
                next_line[start] = end + 1
    lines = []
    at = 0
    while at < count:
        lines.append(words[at : next_line[at]])
        at = next_line[at]
    return lines


def spread(line: list[str], width: int) -> str:
    if not line:
        return ""
    first, *rest = line
    if not rest:
        return first.ljust(width)
    spaces = width - sum(len(word) for word in line)
    gap, wider = divmod(spaces, len(rest))
    out = first
    for n, word in enumerate(rest):
        out += " " * (gap + (n < wider)) + word
    return out


def framed(lines: list[str], width: int) -> str:
    border = f"+{'-' * (width + 2)}+"
    body = [f"| {line.ljust(width)} |" for line in lines]
    return "\n".join([border, *body, border])


def raggedness(lines: list[list[str]], width: int) -> int:
    return sum((width - len(" ".join(line))) ** 2 for line in lines[:-1])


def work() -> int:
    words = f"{TEXT} {TEXT} {TEXT}".split(" ")
    check = 0
    for width in range(20, 80):
        quick = greedy(words, width)
        even = balanced(words, width)
        text = framed([spread(line, width) for line in even], width)
        last_gap = max(max(line.find("  "), 0) for line in text.splitlines())
        check = (
            check * 17 + raggedness(quick, width) - raggedness(even, width) + len(text) + last_gap
        ) % 1_000_003
    return check
