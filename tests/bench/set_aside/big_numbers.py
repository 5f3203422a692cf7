from dataclasses import dataclass, field
from functools import total_ordering

BASE = 10000


@total_ordering
@dataclass(slots=True)
class Big:
    """Digits to the base 10000, the lowest first."""

    digits: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, number: int) -> "Big":
        digits = []
        while number > 0:
            number, digit = divmod(number, BASE)
            digits.append(digit)
        return cls(digits)

    @classmethod
    def parse(cls, text: str) -> "Big | None":
        if not text.isdigit():
            return None
        digits = []
        end = len(text)
        while end > 0:
            start = max(end - 4, 0)
            digits.append(int(text[start:end]))
            end = start
        while digits and digits[-1] == 0:
            digits.pop()
        return cls(digits)

    def power(self, exponent: int) -> "Big":
        result = Big.of(1)
        base = self
        while exponent > 0:
            if exponent % 2 == 1:
                result = result * base
            base = base * base
            exponent //= 2
        return result

    def digit_sum(self) -> int:
        return sum(int(digit) for digit in str(self))

    def __add__(self, other: "Big") -> "Big":
        digits = []
        carry = 0
        for i in range(max(len(self.digits), len(other.digits))):
            total = carry
            if i < len(self.digits):
                total += self.digits[i]
            if i < len(other.digits):
                total += other.digits[i]
            carry, digit = divmod(total, BASE)
            digits.append(digit)
        if carry:
            digits.append(carry)
        return Big(digits)

    def __mul__(self, other: "Big") -> "Big":
        digits = [0] * (len(self.digits) + len(other.digits))
        for i, a in enumerate(self.digits):
            carry = 0
            for j, b in enumerate(other.digits):
                carry, digits[i + j] = divmod(digits[i + j] + a * b + carry, BASE)
            digits[i + len(other.digits)] += carry
        while digits and digits[-1] == 0:
            digits.pop()
        return Big(digits)

    def __lt__(self, other: "Big") -> bool:
        if len(self.digits) != len(other.digits):
            return len(self.digits) < len(other.digits)
        return self.digits[::-1] < other.digits[::-1]

    def __str__(self) -> str:
        if not self.digits:
            return "0"
        return str(self.digits[-1]) + "".join(f"{digit:04}" for digit in reversed(self.digits[:-1]))


def work() -> str:
    factorial = Big.of(1)
    for n in range(2, 91):
        factorial = factorial * Big.of(n)
    a, b = Big(), Big.of(1)
    for _ in range(300):
        a, b = b, a + b
    power = Big.of(7).power(160)
    parsed = Big.parse("000123456789012345678901234567890") or Big()
    lines = [f"{number} ({number.digit_sum()})" for number in sorted([power, factorial, a, parsed, Big()])]
    larger = "true" if factorial > power else "false"
    return "\n".join(lines) + f"\n{Big.parse('12x')} {larger} {Big.of(123450000)}"
