def shifted(text: str, by: int) -> str:
    out = []
    for letter in text:
        if letter.islower():
            out.append(chr((ord(letter) - 97 + by) % 26 + 97))
        else:
            out.append(letter)
    return "".join(out)


def run_lengths(text: str) -> str:
    parts = []
    i = 0
    while i < len(text):
        count = 1
        while i + count < len(text) and text[i + count] == text[i]:
            count += 1
        parts.append(f"{text[i]}{count}")
        i += count
    return "".join(parts)


def most_common(text: str) -> str:
    counts: dict[str, int] = {}
    best = ""
    most = 0
    for letter in text:
        count = counts.get(letter, 0) + 1
        counts[letter] = count
        if count > most:
            most = count
            best = letter
    return best


def work() -> str:
    text = "meet me at the old mill, eleven sharp"
    seen = ""
    for i in range(250):
        text = shifted(text, i % 26)
        seen += most_common(text)
        seen += run_lengths(f"aaabbbbcc{text}")[i % 8]
    return f"{text} {len(seen)} {seen[:30]}"
