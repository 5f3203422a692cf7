ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def utf8(text: str) -> list[int]:
    data = []
    for c in text:
        code = ord(c)
        if code < 0x80:
            data.append(code)
        elif code < 0x800:
            data += [0xC0 | code >> 6, 0x80 | code & 0x3F]
        elif code < 0x10000:
            data += [0xE0 | code >> 12, 0x80 | code >> 6 & 0x3F, 0x80 | code & 0x3F]
        else:
            data += [0xF0 | code >> 18, 0x80 | code >> 12 & 0x3F, 0x80 | code >> 6 & 0x3F, 0x80 | code & 0x3F]
    return data


def encode(data: list[int]) -> str:
    out = []
    for start in range(0, len(data), 3):
        match data[start : start + 3]:
            case [a, b, c]:
                word, length = a << 16 | b << 8 | c, 4
            case [a, b]:
                word, length = a << 16 | b << 8, 3
            case [a]:
                word, length = a << 16, 2
        for n in range(4):
            out.append(ALPHABET[word >> 18 - 6 * n & 63] if n < length else "=")
    return "".join(out)


def decode(text: str) -> list[int]:
    digits = {c: n for n, c in enumerate(ALPHABET)}
    data = []
    if len(text) % 4 != 0:
        raise ValueError(f"length {len(text)}")
    for start in range(0, len(text), 4):
        chunk = text[start : start + 4]
        padding = chunk.count("=")
        word = 0
        for c in chunk:
            if c != "=" and c not in digits:
                raise ValueError(f"bad `{c}`")
            word = word << 6 | (0 if c == "=" else digits[c])
        for n in range(3 - padding):
            data.append(word >> 16 - 8 * n & 0xFF)
    return data


def to_hex(data: list[int]) -> str:
    return "".join(f"{byte:02x}" for byte in data)


def unhex(text: str) -> list[int] | None:
    if len(text) % 2 != 0:
        return None
    try:
        return [int(text[n], 16) * 16 + int(text[n + 1], 16) for n in range(0, len(text), 2)]
    except ValueError:
        return None


def crc_table() -> list[int]:
    table = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ 0xEDB88320 if crc & 1 else crc >> 1
        table.append(crc)
    return table


def crc32(table: list[int], data: list[int]) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def show(flag: bool) -> str:
    return "true" if flag else "false"


def failure(text: str) -> str:
    try:
        decode(text)
        return ""
    except ValueError as error:
        return str(error)


def work() -> str:
    table = crc_table()
    lines = []
    check = 0
    for n in range(75):
        data = utf8(f"Bytes № {n}: {'äß€x' * n} — {n * n}")
        text = encode(data)
        same = decode(text) == data and unhex(to_hex(data)) == data
        check = check ^ crc32(table, data) + len(text)
        if n % 13 == 0:
            lines.append(f"{show(same)} {text[:12]} {crc32(table, data):08x}")
    lines.append(failure("ab*d"))
    lines.append(f"{show(failure('abc') == '')} {show(unhex('12x') is not None)} {check:x}")
    return ", ".join(lines)
