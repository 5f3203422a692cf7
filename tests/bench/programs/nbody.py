from math import sqrt


class Body:
    __slots__ = ("mass", "vx", "vy", "vz", "x", "y", "z")

    def __init__(self, x: float, y: float, z: float, vx: float, vy: float, vz: float, mass: float) -> None:
        self.x = x
        self.y = y
        self.z = z
        self.vx = vx
        self.vy = vy
        self.vz = vz
        self.mass = mass


def bodies() -> list[Body]:
    made = []
    for i in range(5):
        k = float(i)
        made.append(Body(k * 3.1, 1.0 + k, 0.1 * k, 0.01 * k, 0.3 - 0.1 * k, 0.02, 1.0 / (1.0 + k * k)))
    return made


def advance(bodies: list[Body], dt: float) -> None:
    n = len(bodies)
    for i in range(n):
        a = bodies[i]
        for j in range(i + 1, n):
            b = bodies[j]
            dx = a.x - b.x
            dy = a.y - b.y
            dz = a.z - b.z
            distance = dx * dx + dy * dy + dz * dz
            pull = dt / (distance * sqrt(distance))
            mine = a.mass * pull
            other = b.mass * pull
            a.vx -= dx * other
            a.vy -= dy * other
            a.vz -= dz * other
            b.vx += dx * mine
            b.vy += dy * mine
            b.vz += dz * mine
    for body in bodies:
        body.x += dt * body.vx
        body.y += dt * body.vy
        body.z += dt * body.vz


def work() -> float:
    system = bodies()
    for _ in range(400):
        advance(system, 0.01)
    energy = 0.0
    for body in system:
        energy += body.mass * (body.vx * body.vx + body.vy * body.vy + body.vz * body.vz) / 2.0
    return energy
