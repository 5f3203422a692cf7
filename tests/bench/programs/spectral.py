from math import sqrt


def element(i: int, j: int) -> float:
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(v: list[float], transposed: bool) -> list[float]:
    n = len(v)
    result = []
    for i in range(n):
        total = 0.0
        for j in range(n):
            if transposed:
                total += element(j, i) * v[j]
            else:
                total += element(i, j) * v[j]
        result.append(total)
    return result


def work() -> float:
    u = [1.0] * 40
    v = u
    for _ in range(3):
        v = times(times(u, False), True)
        u = times(times(v, False), True)
    top = 0.0
    bottom = 0.0
    for i in range(40):
        top += u[i] * v[i]
        bottom += v[i] * v[i]
    return sqrt(top / bottom)
