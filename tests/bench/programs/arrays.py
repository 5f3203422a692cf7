def work() -> int:
    n = 60000
    sieve: list[bool] = []
    for _ in range(n + 1):
        sieve.append(True)
    count = 0
    for i in range(2, n + 1):
        if sieve[i]:
            count += 1
            j = i * i
            while j <= n:
                sieve[j] = False
                j += i
    return count
