def work() -> int:
    length = 0
    for i in range(60000):
        name = f"user{i}"
        line = f"hello {name}, you are number {i} of {60000}"
        length += len(line)
        if "999" in line:
            length += 1
    return length
