def packed(text: str) -> str:
    out = ""
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and text[end] == text[at]:
            end += 1
        if end - at > 1:
            out += f"{end - at}"
        out += text[at]
        at = end
    return out


def unpacked(text: str) -> str:
    out = ""
    number = 0
    for letter in text:
        if letter.isdigit():
            number = number * 10 + int(letter)
        else:
            out += letter * max(number, 1)
            number = 0
    return out


def work() -> int:
    letters = ["a", "b", " ", "c", "-"]
    total = 0
    for size in range(1, 70):
        text = ""
        for i in range(size):
            text += letters[i * size % 5] * (1 + i * 7 % 13)
        short = packed(text)
        if unpacked(short) == text:
            total += len(short) * 1000 + len(text)
    return total
