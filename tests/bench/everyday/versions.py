from dataclasses import dataclass
from functools import cmp_to_key


@dataclass
class Version:
    numbers: list[int]
    label: str

    def compare(self, other: "Version") -> int:
        for i in range(max(len(self.numbers), len(other.numbers))):
            mine = self.numbers[i] if i < len(self.numbers) else 0
            theirs = other.numbers[i] if i < len(other.numbers) else 0
            if mine != theirs:
                return mine - theirs
        if self.label == other.label:
            return 0
        if self.label == "":
            return 1
        return -1 if other.label == "" or self.label < other.label else 1

    def __lt__(self, other: "Version") -> bool:
        return self.compare(other) < 0

    def __str__(self) -> str:
        text = ".".join(map(str, self.numbers))
        return f"v{text}-{self.label}" if self.label else f"v{text}"


def parse(text: str) -> Version:
    parts = text.split("-")
    numbers = [int(part) for part in parts[0].split(".")]
    return Version(numbers, parts[1] if len(parts) > 1 else "")


def work() -> str:
    labels = ["", "alpha", "beta", "rc1"]
    versions = []
    wrong = 0
    for i in range(300):
        if i % 25 == 7:
            text = f"1.x.{i}"
        elif i % 3 == 0:
            text = f"{i % 7}.{i * 11 % 13}"
        else:
            text = f"{i % 7}.{i * 5 % 13}.{i * 3 % 4}"
        try:
            versions.append(parse(f"{text}-{labels[i % 4]}" if labels[i % 4] else text))
        except ValueError:
            wrong += 1
    ordered = sorted(versions, key=cmp_to_key(Version.compare))
    newest = max(versions)
    newer = sum(ordered[100] < version for version in versions)
    return f"[{', '.join(map(str, ordered[:6]))}] {newest} {newer} {wrong}"
