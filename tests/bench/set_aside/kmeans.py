from dataclasses import dataclass


@dataclass
class Point:
    x: float
    y: float

    def __add__(self, other: "Point") -> "Point":
        return Point(self.x + other.x, self.y + other.y)

    def __truediv__(self, by: float) -> "Point":
        return Point(self.x / by, self.y / by)

    def distance(self, other: "Point") -> float:
        return (self.x - other.x) ** 2 + (self.y - other.y) ** 2


@dataclass
class Cluster:
    center: Point
    members: list[Point]

    def spread(self) -> float:
        return sum(point.distance(self.center) for point in self.members)


def points(count: int) -> list[Point]:
    seed = 99
    centers = [(10.0, 10.0), (70.0, 20.0), (40.0, 80.0), (90.0, 90.0)]
    made = []
    for n in range(count):
        seed = (seed * 1103515245 + 12345) % 2147483648
        dx = seed // 65536 % 3000 / 100 - 15.0
        seed = (seed * 1103515245 + 12345) % 2147483648
        dy = seed // 65536 % 3000 / 100 - 15.0
        x, y = centers[n % len(centers)]
        made.append(Point(x + dx, y + dy))
    return made


def nearest(point: Point, centers: list[Point]) -> int:
    best = 0
    least = point.distance(centers[0])
    for n, center in enumerate(centers[1:], 1):
        far = point.distance(center)
        if far < least:
            least = far
            best = n
    return best


def first_centers(points: list[Point], k: int) -> list[Point]:
    centers = [points[0]]
    while len(centers) < k:
        centers.append(max(points, key=lambda point: min(point.distance(center) for center in centers)))
    return centers


def mean(points: list[Point]) -> Point | None:
    if not points:
        return None
    return sum(points, Point(0.0, 0.0)) / len(points)


def cluster(points: list[Point], k: int) -> tuple[list[Cluster], int]:
    centers = first_centers(points, k)
    rounds = 0
    while True:
        rounds += 1
        groups: list[list[Point]] = [[] for _ in range(k)]
        for point in points:
            groups[nearest(point, centers)].append(point)
        moved = [mean(group) or center for group, center in zip(groups, centers)]
        shift = max(a.distance(b) for a, b in zip(moved, centers))
        centers = moved
        if shift < 0.0001 or rounds == 20:
            return [Cluster(center, group) for center, group in zip(centers, groups)], rounds


def work() -> str:
    data = points(600)
    lines = []
    for k in range(3, 7):
        clusters, rounds = cluster(data, k)
        spread = sum(cluster.spread() for cluster in clusters)
        sizes = "/".join(str(len(c.members)) for c in sorted(clusters, key=lambda c: c.center.x))
        lines.append(f"k={k} {rounds} {spread:.2f} {sizes}")
    return ", ".join(lines)
