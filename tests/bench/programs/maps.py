def work() -> int:
    counts: dict[str, int] = {}
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
    for i in range(80000):
        word = words[i % 8]
        if word in counts:
            counts[word] = counts[word] + i
        else:
            counts[word] = i
    total = 0
    for _word, count in counts.items():
        total += count
    return total
