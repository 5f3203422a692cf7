from dataclasses import dataclass


@dataclass
class Ball:
    x: float
    y: float
    dx: float
    dy: float


@dataclass
class Table:
    width: float
    height: float


def moved(ball: Ball, table: Table, seconds: float) -> Ball:
    x = ball.x + ball.dx * seconds
    y = ball.y + ball.dy * seconds
    dx = -ball.dx if x < 0 or x > table.width else ball.dx
    dy = -ball.dy if y < 0 or y > table.height else ball.dy
    return Ball(x, y, dx * 0.999, dy * 0.999)


def energy(ball: Ball) -> float:
    return (ball.dx * ball.dx + ball.dy * ball.dy) / 2


def work() -> str:
    table = Table(200.0, 100.0)
    balls = [Ball(10.0 * i, 5.0 + i, 3.0 + i, 12.0 - i) for i in range(10)]
    total = 0.0
    for _ in range(600):
        for i in range(len(balls)):
            balls[i] = moved(balls[i], table, 0.1)
            total += energy(balls[i])
    return f"{balls[3].x:.3f} {balls[7].y:.3f} {total:.3f}"
