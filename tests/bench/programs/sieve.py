def work() -> int:
    limit = 30000
    composite = []
    for _ in range(limit + 1):
        composite.append(False)
    count = 0
    for n in range(2, limit + 1):
        if not composite[n]:
            count += 1
            multiple = n * n
            while multiple <= limit:
                composite[multiple] = True
                multiple += n
    return count
