def factors(number: int) -> list[tuple[int, int]]:
    found = []
    rest = number
    prime = 2
    while prime * prime <= rest:
        power = 0
        while rest % prime == 0:
            rest //= prime
            power += 1
        if power > 0:
            found.append((prime, power))
        prime += 1 if prime == 2 else 2
    if rest > 1:
        found.append((rest, 1))
    return found


def divisors(number: int) -> int:
    count = 1
    for _, power in factors(number):
        count *= power + 1
    return count


def totient(number: int) -> int:
    rest = number
    for prime, _ in factors(number):
        rest = rest // prime * (prime - 1)
    return rest


def work() -> str:
    most = (1, 1)
    total = 0
    for number in range(2, 2500):
        count = divisors(number)
        if count > most[1]:
            most = (number, count)
        total += totient(number)
    return f"{most} {total} {factors(9999991 * 6)}"
