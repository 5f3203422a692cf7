from dataclasses import dataclass
from itertools import takewhile


@dataclass
class Heading:
    level: int
    text: str


@dataclass
class Bullet:
    text: str


@dataclass
class Code:
    lines: list[str]


@dataclass
class Paragraph:
    text: str


Block = Heading | Bullet | Code | Paragraph


def blocks(text: str) -> list[Block]:
    lines = text.splitlines()
    found: list[Block] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("```"):
            start = at
            while at < len(lines) and not lines[at].startswith("```"):
                at += 1
            found.append(Code(lines[start:at]))
            at += 1
        elif line.startswith("#"):
            level = len(list(takewhile(lambda letter: letter == "#", line)))
            found.append(Heading(level, line[level:].strip()))
        elif line.startswith("- "):
            found.append(Bullet(line[2:]))
        elif line.strip():
            found.append(Paragraph(line))
    return found


ESCAPED = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def inline(text: str) -> str:
    out = ""
    bold = False
    code = False
    for letter in text:
        if letter == "`":
            out += "</code>" if code else "<code>"
            code = not code
        elif letter == "*" and not code:
            out += "</b>" if bold else "<b>"
            bold = not bold
        else:
            out += ESCAPED.get(letter, letter)
    return out


def html(block: Block) -> str:
    match block:
        case Heading(1, text):
            return f'<h1 class="title">{inline(text)}</h1>'
        case Heading(level, text):
            return f"<h{level}>{inline(text)}</h{level}>"
        case Bullet(text):
            return f"<li>{inline(text)}</li>"
        case Code(lines):
            joined = "\n".join(lines)
            return f"<pre>{joined.replace('<', '&lt;')}</pre>"
        case Paragraph(text):
            return f"<p>{inline(text)}</p>"


def line_of(i: int) -> str:
    match i % 8:
        case 0:
            return f"{'#' * (1 + i % 3)} Chapter *{i}*"
        case 1:
            return ""
        case 2 | 3:
            return f"- point {i} with `code < {i}` & more"
        case 4 | 6:
            return "```"
        case 5:
            return f"let x = {i} < 3;"
    return f"A line of *text* that goes on for a while, as text does > {i}"


def work() -> int:
    text = "\n".join(line_of(i) for i in range(120))
    total = 0
    for _ in range(6):
        total += len("\n".join(map(html, blocks(text))))
    return total
