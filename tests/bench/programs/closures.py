from collections.abc import Callable


def compose(f: Callable[[int], int], g: Callable[[int], int]) -> Callable[[int], int]:
    return lambda x: g(f(x))


def work() -> int:
    step = 3
    both = compose(lambda x: x + step, lambda x: x * 2)
    total = 0
    for i in range(40000):
        total += both(i)
    xs = list(range(40000))
    changed = [x + step for x in xs]
    for x in [x for x in changed if x % 2 == 0]:
        total += x
    return total
