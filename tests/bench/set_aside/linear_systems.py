from collections.abc import Callable
from dataclasses import dataclass


class MatrixError(Exception):
    pass


@dataclass(slots=True)
class Matrix:
    rows: list[list[float]]

    @classmethod
    def of(cls, size: int, cell: Callable[[int, int], float]) -> "Matrix":
        return cls([[cell(i, j) for j in range(size)] for i in range(size)])

    @classmethod
    def identity(cls, size: int) -> "Matrix":
        return cls.of(size, lambda i, j: 1.0 if i == j else 0.0)

    def transposed(self) -> "Matrix":
        return Matrix([list(column) for column in zip(*self.rows)])

    def __mul__(self, other: "Matrix") -> "Matrix":
        columns = other.transposed().rows
        return Matrix([[dot(row, column) for column in columns] for row in self.rows])

    def inverse(self) -> tuple["Matrix", float]:
        size = len(self.rows)
        if any(len(row) != size for row in self.rows):
            raise MatrixError(f"{size}x{len(self.rows[0])} is not square")
        left = [list(row) for row in self.rows]
        right = Matrix.identity(size).rows
        determinant = 1.0
        for column in range(size):
            pivot = max(range(column, size), key=lambda row: abs(left[row][column]))
            if abs(left[pivot][column]) < 1e-9:
                raise MatrixError(f"no pivot in column {column}")
            if pivot != column:
                left[pivot], left[column] = left[column], left[pivot]
                right[pivot], right[column] = right[column], right[pivot]
                determinant = -determinant
            scale = left[column][column]
            determinant *= scale
            for j in range(size):
                left[column][j] /= scale
                right[column][j] /= scale
            for row in range(size):
                factor = left[row][column]
                if row == column or factor == 0.0:
                    continue
                for j in range(size):
                    left[row][j] -= factor * left[column][j]
                    right[row][j] -= factor * right[column][j]
        return Matrix(right), determinant


def dot(a: list[float], b: list[float]) -> float:
    total = 0.0
    for x, y in zip(a, b):
        total += x * y
    return total


def report(matrix: Matrix) -> str:
    inverse, determinant = matrix.inverse()
    product = matrix * inverse
    size = len(matrix.rows)
    worst = 0.0
    for i in range(size):
        for j in range(size):
            worst = max(worst, abs(product.rows[i][j] - (1.0 if i == j else 0.0)))
    trace = 0.0
    for i in range(size):
        trace += inverse.rows[i][i]
    return f"{determinant:.4e} {trace:.6f} {'true' if worst < 1e-6 else 'false'}"


def work() -> str:
    matrices = [
        Matrix.of(20, lambda i, j: 10.0 + i if i == j else (i * 7 + j * 3) % 5 * 1.0),
        Matrix.of(8, lambda i, j: 1.0 / (i + j + 1 + i * j)),
        Matrix.of(14, lambda i, j: float(abs(i - j))),
        Matrix.of(6, lambda i, j: (i * 6 + j) * 1.0),
        Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ]
    lines = []
    for matrix in matrices:
        try:
            lines.append(report(matrix))
        except MatrixError as error:
            lines.append(str(error))
    return "\n".join(lines)
