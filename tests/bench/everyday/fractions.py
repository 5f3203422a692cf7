from dataclasses import dataclass


def gcd(a: int, b: int) -> int:
    while b != 0:
        a, b = b, a % b
    return a


@dataclass
class Fraction:
    top: int
    bottom: int

    @staticmethod
    def of(top: int, bottom: int) -> "Fraction":
        divisor = gcd(top, bottom)
        return Fraction(top // divisor, bottom // divisor)

    def __add__(self, other: "Fraction") -> "Fraction":
        return Fraction.of(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    def __mul__(self, other: "Fraction") -> "Fraction":
        return Fraction.of(self.top * other.top, self.bottom * other.bottom)

    def __lt__(self, other: "Fraction") -> bool:
        return self.top * other.bottom < other.top * self.bottom

    def __str__(self) -> str:
        return f"{self.top}/{self.bottom}"


def work() -> str:
    parts = []
    for i in range(1, 400):
        parts.append(Fraction.of(i * 7 % 60 + 1, i % 48 + 1))
    half = Fraction.of(1, 2)
    large = 0
    halves = 0
    largest = half
    for round in range(1, 15):
        for part in parts:
            changed = (part + Fraction.of(1, round)) * half
            if changed > half:
                large += 1
            if changed == half:
                halves += 1
            if changed > largest:
                largest = changed
    ordered = sorted(parts)
    return f"{large} {halves} {largest} {ordered[0]} {ordered[200]}"
