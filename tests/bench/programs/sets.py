def work() -> int:
    seen = set()
    n = 7
    repeated = 0
    for _ in range(20000):
        n = (n * 1103 + 12345) % 9973
        if n in seen:
            repeated += 1
        else:
            seen.add(n)
    even = set()
    for k in range(5000):
        even.add(k * 2)
    return repeated + len(seen & even) + len(seen | even)
