class Ok:
    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value


class Err:
    __slots__ = ("error",)

    def __init__(self, error: str) -> None:
        self.error = error


def half(n: int) -> Ok | Err:
    return Ok(n // 2) if n % 2 == 0 else Err("odd")


def quarter(n: int) -> Ok | Err:
    h = half(n)
    if isinstance(h, Err):
        return h
    return half(h.value)


def work() -> int:
    total = 0
    for i in range(60000):
        result = quarter(i)
        if isinstance(result, Ok):
            total += result.value
        else:
            total += 1
    return total
