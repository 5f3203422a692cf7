def compress(text: str) -> list[int]:
    codes = {chr(n): n for n in range(128)}
    result = []
    known = ""
    for c in text:
        longer = known + c
        if longer in codes:
            known = longer
        else:
            result.append(codes[known])
            codes[longer] = len(codes)
            known = c
    if known:
        result.append(codes[known])
    return result


def decompress(codes: list[int]) -> str:
    if not codes:
        return ""
    texts = [chr(n) for n in range(128)]
    first, *rest = codes
    if first >= 128:
        raise ValueError(f"bad start {first}")
    last = texts[first]
    parts = [last]
    for code in rest:
        if code < len(texts):
            entry = texts[code]
        elif code == len(texts):
            entry = last + last[0]
        else:
            raise ValueError(f"bad code {code}")
        texts.append(last + entry[0])
        parts.append(entry)
        last = entry
    return "".join(parts)


def bits_for(count: int) -> int:
    bits = 1
    while 1 << bits < count:
        bits += 1
    return bits


def pack(codes: list[int]) -> tuple[int, list[int]]:
    bits = bits_for(max(codes, default=0) + 1)
    data = []
    held = 0
    count = 0
    for code in codes:
        held = held << bits | code
        count += bits
        while count >= 8:
            count -= 8
            data.append(held >> count & 0xFF)
            held &= (1 << count) - 1
    if count > 0:
        data.append(held << 8 - count & 0xFF)
    return bits, data


def unpack(bits: int, data: list[int]) -> list[int]:
    codes = []
    held = 0
    count = 0
    for byte in data:
        held = held << 8 | byte
        count += 8
        while count >= bits:
            count -= bits
            codes.append(held >> count)
            held &= (1 << count) - 1
    return codes


def work() -> str:
    verses = [
        f"On day {n} of {n % 12 + 1} my agent called {n * n % 17} tools and {n % 5} servers."
        for n in range(1, 2501)
    ]
    lines = []
    for text in ["\n".join(verses), "abababababababab" * 2000, verses[0]]:
        codes = compress(text)
        bits, data = pack(codes)
        try:
            same = decompress(unpack(bits, data)[: len(codes)]) == text
        except ValueError:
            same = False
        check = 7
        for byte in data:
            check = (check * 257 + byte) % 65521
        lines.append(f"{len(text)}>{len(codes)}>{len(data)} {bits} {str(same).lower()} {check}")
    try:
        lines.append(decompress([65, 400]))
    except ValueError as error:
        lines.append(str(error))
    return ", ".join(lines)
