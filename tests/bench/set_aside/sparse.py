from collections import defaultdict
from dataclasses import dataclass, field


@dataclass
class Matrix:
    rows: int
    columns: int
    cells: dict[tuple[int, int], float] = field(default_factory=dict)

    @classmethod
    def identity(cls, size: int) -> "Matrix":
        return cls(size, size, {(n, n): 1.0 for n in range(size)})

    def at(self, row: int, column: int) -> float:
        return self.cells.get((row, column), 0.0)

    def put(self, row: int, column: int, value: float) -> None:
        if abs(value) < 1e-12:
            self.cells.pop((row, column), None)
        else:
            self.cells[row, column] = value

    def transposed(self) -> "Matrix":
        return Matrix(
            self.columns, self.rows, {(column, row): value for (row, column), value in self.cells.items()}
        )

    def by_row(self) -> dict[int, list[tuple[int, float]]]:
        rows: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        for (row, column), value in self.cells.items():
            rows[row].append((column, value))
        return rows

    def __pow__(self, exponent: int) -> "Matrix":
        result = Matrix.identity(self.rows)
        square = self
        while exponent > 0:
            if exponent % 2 == 1:
                result = result * square
            exponent //= 2
            if exponent > 0:
                square = square * square
        return result

    def __add__(self, other: "Matrix") -> "Matrix":
        total = Matrix(self.rows, self.columns, dict(self.cells))
        for (row, column), value in other.cells.items():
            total.put(row, column, total.at(row, column) + value)
        return total

    def __mul__(self, other: "Matrix | float") -> "Matrix":
        if isinstance(other, float):
            return Matrix(
                self.rows, self.columns, {place: value * other for place, value in self.cells.items()}
            )
        cells: defaultdict[tuple[int, int], float] = defaultdict(float)
        rows = other.by_row()
        for (row, middle), left in self.cells.items():
            for column, right in rows.get(middle, ()):
                cells[row, column] += left * right
        return Matrix(self.rows, other.columns, cells)

    def __neg__(self) -> "Matrix":
        return self * -1.0

    def __sub__(self, other: "Matrix") -> "Matrix":
        return self + -other


def transitions(size: int) -> Matrix:
    made = Matrix(size, size)
    for n in range(size):
        made.put(n, (n + 1) % size, 0.5)
        made.put(n, n * 7 % size, made.at(n, n * 7 % size) + 0.3)
        made.put(n, n, made.at(n, n) + 0.2)
    return made


def work() -> str:
    size = 40
    step = transitions(size)
    later = step**6
    back = later.transposed() * 0.5 + Matrix.identity(size)
    difference = later * back - back * later
    trace = sum(later.at(n, n) for n in range(size))
    sums = sum(sum(value for _, value in row) for row in later.by_row().values())
    largest = max((abs(value) for value in difference.cells.values()), default=0.0)
    return f"{len(later.cells)} {trace:.6f} {sums:.6f} {len(difference.cells)} {largest:.6f}"
