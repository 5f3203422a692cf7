def table(old: list[str], new: list[str]) -> list[list[int]]:
    lengths = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(1, len(old) + 1):
        for j in range(1, len(new) + 1):
            if old[i - 1] == new[j - 1]:
                lengths[i][j] = lengths[i - 1][j - 1] + 1
            else:
                lengths[i][j] = max(lengths[i - 1][j], lengths[i][j - 1])
    return lengths


def diff(old: list[str], new: list[str]) -> list[str]:
    lengths = table(old, new)
    lines = []
    i = len(old)
    j = len(new)
    while i > 0 or j > 0:
        if i > 0 and j > 0 and old[i - 1] == new[j - 1]:
            i -= 1
            j -= 1
            lines.append("  " + old[i])
        elif j > 0 and (i == 0 or lengths[i][j - 1] >= lengths[i - 1][j]):
            j -= 1
            lines.append("+ " + new[j])
        else:
            i -= 1
            lines.append("- " + old[i])
    return lines[::-1]


def work() -> str:
    old = [f"line {i * 7 % 50}" for i in range(120)]
    new = [f"new {i}" if i % 9 == 0 else f"line {(i + i // 20) * 7 % 50}" for i in range(110)]
    lines = diff(old, new)
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    shown = ", ".join(f'"{line}"' for line in lines[10:14])
    return f"{len(lines)} {added} {removed} [{shown}]"
