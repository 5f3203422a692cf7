def work() -> int:
    i = 0
    total = 0
    while i < 300000:
        if i % 3 == 0:
            total += i
        else:
            total -= 1
        i += 1
    return total
