def show(cell: str | float | None) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:.2f}"
    return cell


def truncate(text: str, length: int, ending: str = "...") -> str:
    return text if len(text) <= length else text[: length - len(ending)] + ending


def render(rows: list[list[str | float | None]]) -> str:
    shown = [[show(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown)]
    lines = []
    for number, row in enumerate(shown):
        cells = []
        for column, text in enumerate(row):
            if column == 0:
                cells.append(text.ljust(widths[column]))
            else:
                cells.append(text.rjust(widths[column]))
        lines.append("| " + " | ".join(cells) + " |")
        if number == 0:
            lines.append("+".join("-" * (width + 2) for width in widths))
    return "\n".join(lines)


def work() -> int:
    total = 0
    for size in range(1, 60):
        rows: list[list[str | float | None]] = [["name", "price", "note"]]
        for i in range(size):
            note = None if i % 3 == 0 else truncate(f"note number {i * size}", 9)
            rows.append([f"item {i}", i * 1.5, note])
        total += len(render(rows))
    return total
