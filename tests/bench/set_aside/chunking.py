# ruff: noqa: E501
from dataclasses import dataclass


@dataclass(slots=True)
class Chunk:
    path: str
    text: str
    tokens: int
    start: int


def tokens(text: str) -> int:
    return (len(text) + 3) // 4


def sentences(paragraph: str) -> list[str]:
    found = []
    start = 0
    for at, letter in enumerate(paragraph):
        if letter in ".?!":
            found.append(paragraph[start : at + 1].strip())
            start = at + 1
    rest = paragraph[start:].strip()
    if rest:
        found.append(rest)
    return found


@dataclass(slots=True)
class Splitter:
    limit: int
    overlap: int = 1

    def pack(self, path: str, parts: list[str], offset: int) -> list[Chunk]:
        chunks = []
        held: list[str] = []
        size = 0
        start = offset
        for i, part in enumerate(parts):
            cost = tokens(part)
            if size + cost > self.limit and held:
                chunks.append(Chunk(path, " ".join(held), size, start))
                keep = min(self.overlap, len(held))
                held = held[len(held) - keep :]
                size = sum(map(tokens, held))
                start = offset + i - keep
            held.append(part)
            size += cost
        if held:
            chunks.append(Chunk(path, " ".join(held), size, start))
        return chunks

    def split(self, document: str) -> list[Chunk]:
        headings: list[str] = []
        parts: list[str] = []
        chunks = []
        offset = 0
        for line in document.splitlines():
            if line.startswith("#"):
                chunks += self.pack(" > ".join(headings), parts, offset)
                offset += len(parts)
                parts = []
                level = line.find(" ")
                if level < 0:
                    level = len(line)
                del headings[level - 1 :]
                headings.append(line[level:].strip())
            elif line:
                parts += sentences(line)
        chunks += self.pack(" > ".join(headings), parts, offset)
        return chunks


def work() -> str:
    lines = []
    for i in range(120):
        lines += [f"{'#' * (1 + i % 3)} Section {i}", ""]
        for j in range(3):
            lines.append(
                f"Sentence {j} of section {i} is here. Why is it {'very ' * j}long? Nobody knows! It ends without a dot"
            )
    chunks = Splitter(limit=40).split("\n".join(lines))
    longest = max(reversed(chunks), key=lambda chunk: chunk.tokens)
    per_path: dict[str, int] = {}
    for chunk in chunks:
        per_path[chunk.path] = per_path.get(chunk.path, 0) + chunk.tokens
    check = 0
    for chunk in chunks:
        check = (check * 31 + chunk.start + len(chunk.text)) % 1000007
    return f"{len(chunks)} chunks, longest {longest.path} ({longest.tokens}), {len(per_path)} paths, {check}"
