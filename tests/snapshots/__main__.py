"""Writes all snapshots anew and deletes those that belong to nothing."""

from __future__ import annotations

from tests.snapshots.texts import HERE, snapshots


def main() -> None:
    texts = {path: text for path, make in snapshots().items() if (text := make())}
    for path in HERE.rglob("*.txt"):
        if path not in texts:
            path.unlink()
    for path, text in texts.items():
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(HERE))


if __name__ == "__main__":
    main()
