from dataclasses import dataclass


class Random:
    def __init__(self, state: int) -> None:
        self.state = state

    def next(self, below: int) -> int:
        self.state = (self.state * 48271) % 2147483647
        return self.state % below


@dataclass(slots=True)
class Car:
    id: int
    place: int
    speed: int = 0
    travelled: int = 0


class Road:
    def __init__(self, length: int, cars: int, top: int = 5) -> None:
        gap = length // cars
        self.length = length
        self.top = top
        self.cars = [Car(id, id * gap) for id in range(cars)]
        self.random = Random(42)

    def step(self) -> None:
        count = len(self.cars)
        places = [car.place for car in self.cars]
        for i, car in enumerate(self.cars):
            gap = (places[(i + 1) % count] - places[i]) % self.length
            speed = min(car.speed + 1, self.top, gap - 1)
            if speed > 0 and self.random.next(100) < 25:
                speed -= 1
            car.speed = speed
            car.place = (car.place + speed) % self.length
            car.travelled += speed

    def picture(self) -> str:
        cells = ["."] * self.length
        for car in self.cars:
            cells[car.place] = str(car.speed)
        return "".join(cells)

    def jams(self) -> list[int]:
        sizes = []
        size = 0
        for car in self.cars:
            if car.speed == 0:
                size += 1
            elif size > 0:
                sizes.append(size)
                size = 0
        if size > 0:
            sizes.append(size)
        return sizes


def work() -> str:
    lines = []
    for density in [10, 25, 40]:
        road = Road(90, 90 * density // 100)
        longest = 0
        for _ in range(100):
            road.step()
            longest = max(longest, max(road.jams(), default=0))
        flow = sum(car.travelled for car in road.cars)
        fastest = max(road.cars, key=lambda car: (car.travelled, car.id)).id
        lines.append(f"{density:3}% {flow:>6} {longest:>3} {fastest:>3} {road.picture()}")
    return "\n".join(lines)
