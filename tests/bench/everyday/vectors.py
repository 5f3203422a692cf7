from dataclasses import dataclass
from math import sqrt


@dataclass
class Vector:
    x: float
    y: float

    def __add__(self, other: "Vector") -> "Vector":
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other: "Vector") -> "Vector":
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, factor: float) -> "Vector":
        return Vector(self.x * factor, self.y * factor)

    def length(self) -> float:
        return sqrt(self.x * self.x + self.y * self.y)


@dataclass
class Ball:
    position: Vector
    speed: Vector


def work() -> float:
    balls = [Ball(Vector(float(i), 10.0), Vector(1.0, 0.5 * i)) for i in range(10)]
    gravity = Vector(0.0, -9.81)
    origin = Vector(0.0, 0.0)
    far = 0.0
    for _ in range(1200):
        for ball in balls:
            ball.speed = ball.speed + gravity * 0.01
            ball.position = ball.position + ball.speed * 0.01
            if ball.position.y < 0.0:
                ball.position.y = 0.0
                ball.speed = origin - ball.speed * 0.5
            far += (ball.position - origin).length()
    return far
