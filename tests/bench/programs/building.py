def row(columns: int, number: int) -> str:
    text = ""
    for column in range(columns):
        text += f"{number * column};"
    return text


def work() -> int:
    lines = []
    for number in range(300):
        lines.append(row(30, number))
    text = "\n".join(lines)
    return len(text) + len(text.replace(";", ", ").upper())
