def parse_ini(text: str) -> dict[str, dict[str, str]]:
    sections: dict[str, dict[str, str]] = {}
    current = "default"
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith((";", "#")):
            continue
        if line.startswith("[") and line.endswith("]"):
            current = line[1:-1]
            sections[current] = {}
            continue
        key, found, value = line.partition("=")
        if found:
            sections.setdefault(current, {})[key.strip().lower()] = value.strip()
    return sections


def is_on(value: str) -> bool:
    match value.lower():
        case "yes" | "on" | "true" | "1":
            return True
        case "no" | "off" | "false" | "0":
            return False
        case other:
            return len(other) > 3


def work() -> int:
    values = ["yes", "off", "7", "/var/log", "True", "no"]
    lines = ["title = an example"]
    for i in range(300):
        if i % 12 == 0:
            lines.append("")
            lines.append(f"[section {i // 12}]")
        if i % 5 == 0:
            lines.append(f"; a remark on {i}")
        lines.append(f"  Key_{i % 40} = {values[i % 6]}  ")
    text = "\n".join(lines)
    total = 0
    for _ in range(8):
        for name, keys in parse_ini(text).items():
            for key, value in keys.items():
                if is_on(value):
                    total += len(name) + len(key)
    return total
