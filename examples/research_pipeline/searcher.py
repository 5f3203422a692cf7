"""A host's process: finds the sentences of a folder's texts that share the most words with a question."""

import json
import re
import sys
from pathlib import Path


def say(**message: object) -> None:
    print(json.dumps(message), flush=True)


def sentences(folder: Path) -> list[tuple[str, str]]:
    """Every sentence with the name of its file."""
    found = []
    for path in sorted(folder.glob("*.txt")):
        text = " ".join(path.read_text(encoding="utf-8").split())
        found += [(path.stem, sentence) for sentence in re.split(r"(?<=\.) ", text)]
    return found


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 3}


def search(question: str, known: list[tuple[str, str]]) -> list[dict[str, str]]:
    asked = words(question)
    ranked = sorted(known, key=lambda each: -len(asked & words(each[1])))
    return [{"source": source, "text": text} for source, text in ranked[:2] if asked & words(text)]


known: list[tuple[str, str]] = []
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "init":
        known = sentences(Path(message["params"]["folder"]))
        say(type="init_ack")
    elif message["type"] == "execute":
        say(type="result", value=search(message["prompt"], known))
