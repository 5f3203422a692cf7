def work() -> int:
    total = 0
    for i in range(600):
        for j in range(600):
            total += i * j
    return total
