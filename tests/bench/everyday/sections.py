from __future__ import annotations

from dataclasses import dataclass, field

Setting = tuple[str, object]


@dataclass(slots=True)
class Config:
    sections: dict[str, dict[str, Setting]] = field(default_factory=dict)
    changes: int = 0

    def set(self, section: str, key: str, value: Setting) -> None:
        self.changes += 1
        settings = self.sections.get(section)
        if settings is not None:
            settings[key] = value
        else:
            self.sections[section] = {key: value}

    def count(self, section: str, name: str) -> int:
        settings = self.sections.get(section)
        if settings is None:
            raise KeyError(f"no section {section}")
        kind, found = settings.get(name, ("none", None))
        count = found + 1 if kind == "number" and isinstance(found, int) else 1
        settings[name] = ("number", count)
        return count


def nested(root: dict[str, Setting], outer: str, key: str, value: int) -> dict[str, Setting]:
    kind, inner = root.get(outer, ("none", None))
    if kind != "section" or not isinstance(inner, dict):
        inner = {}
        root[outer] = ("section", inner)
    inner[key] = ("number", value)
    return root


def work() -> int:
    config = Config()
    root: dict[str, Setting] = {}
    total = 0
    for i in range(4000):
        section = f"section {i % 7}"
        config.set(section, f"key {i % 1000}", ("flag", True) if i % 3 == 0 else ("number", i))
        try:
            total += config.count(f"section {i % 9}", "count")
        except KeyError:
            pass
        root = nested(root, section, f"key {i % 2000}", i)
    return total + config.changes + sum(len(each) for each in config.sections.values()) + len(root)
