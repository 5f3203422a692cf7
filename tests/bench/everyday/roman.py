def value(letter: str) -> int | None:
    match letter:
        case "I":
            return 1
        case "V":
            return 5
        case "X":
            return 10
        case "L":
            return 50
        case "C":
            return 100
        case "D":
            return 500
        case "M":
            return 1000
        case _:
            return None


def read(text: str) -> int | None:
    total = 0
    before = 0
    for letter in reversed(text):
        number = value(letter)
        if number is None:
            return None
        if number < before:
            total -= number
        else:
            total += number
            before = number
    return total


def write(number: int) -> str:
    steps = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ]
    left = number
    text = ""
    for size, letters in steps:
        while left >= size:
            text += letters
            left -= size
    return text


def work() -> int:
    total = 0
    for number in range(1, 4000):
        text = write(number)
        back = read(text)
        if back is None:
            total += 10000
        elif back == number:
            total += len(text)
        else:
            total += 1000
        if read(f"{text}?") is None:
            total += 1
    return total
