class Body:
    __slots__ = ("mass", "v", "x")

    def __init__(self, x: float, v: float, mass: float) -> None:
        self.x = x
        self.v = v
        self.mass = mass

    def step(self, force: float, dt: float) -> None:
        self.v = self.v + force / self.mass * dt
        self.x = self.x + self.v * dt

    def energy(self) -> float:
        return 0.5 * self.mass * self.v * self.v


def work() -> float:
    body = Body(0.0, 1.0, 2.0)
    energy = 0.0
    for _ in range(60000):
        body.step(0.0 - body.x, 0.001)
        energy += body.energy()
    return energy
