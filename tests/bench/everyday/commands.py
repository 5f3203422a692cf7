def price(name: str) -> int:
    match name:
        case "apple":
            return 3
        case "pear" | "plum":
            return 4
        case "melon":
            return 9
        case "cherry":
            return 1
        case _:
            return 2


def step(command: str, x: int, y: int) -> tuple[int, int]:
    match command:
        case "up":
            return x, y + 1
        case "down":
            return x, y - 1
        case "left":
            return x - 1, y
        case "right":
            return x + 1, y
        case "home":
            return 0, 0
        case _:
            return x, y


def work() -> int:
    commands = ["up", "right", "up", "jump", "left", "down", "right", "right", "up"]
    fruits = ["apple", "pear", "kiwi", "melon", "plum", "cherry"]
    x = 0
    y = 0
    cost = 0
    for i in range(60000):
        x, y = step(commands[i % len(commands)], x, y)
        cost += price(fruits[i % len(fruits)])
    return x * 7 + y + cost
