def power(base: int, exponent: int, modulus: int) -> int:
    result = 1
    square = base % modulus
    left = exponent
    while left > 0:
        if left % 2 == 1:
            result = result * square % modulus
        square = square * square % modulus
        left //= 2
    return result


def bezout(a: int, b: int) -> tuple[int, int, int]:
    if b == 0:
        return a, 1, 0
    divisor, x, y = bezout(b, a % b)
    return divisor, y, x - a // b * y


def inverse(number: int, modulus: int) -> int | None:
    divisor, x, _ = bezout(number, modulus)
    return None if divisor != 1 else (x % modulus + modulus) % modulus


def digit_sum(number: int) -> int:
    rest = number
    total = 0
    while rest > 0:
        total += rest % 10
        rest //= 10
    return total


def work() -> int:
    modulus = 10007 * 10009
    phi = 10006 * 10008
    total = 0
    for key in [5, 7, 11, 13, 65537, 3]:
        secret = inverse(key, phi)
        if secret is None:
            total += 1000000
            continue
        for message in range(1000, 1120):
            hidden = power(message, key, modulus)
            if power(hidden, secret, modulus) != message:
                return -1
            total += digit_sum(hidden)
    return total
