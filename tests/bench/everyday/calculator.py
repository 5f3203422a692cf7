class Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> str | None:
        return self.text[self.at] if self.at < len(self.text) else None

    def expression(self) -> int:
        value = self.term()
        while (sign := self.peek()) is not None:
            if sign == "+":
                self.at += 1
                value += self.term()
            elif sign == "-":
                self.at += 1
                value -= self.term()
            else:
                break
        return value

    def term(self) -> int:
        value = self.factor()
        while self.peek() == "*":
            self.at += 1
            value = value * self.factor() % 1000003
        return value

    def factor(self) -> int:
        letter = self.peek()
        if letter is None:
            raise ValueError("unexpected end")
        if letter == "(":
            self.at += 1
            value = self.expression()
            if self.peek() != ")":
                raise ValueError(f"expected ) at {self.at}")
            self.at += 1
            return value
        number = 0
        digits = 0
        while (digit := self.peek()) is not None and digit.isdigit():
            number = number * 10 + int(digit)
            digits += 1
            self.at += 1
        if digits == 0:
            raise ValueError(f"unexpected {letter}")
        return number


def calculate(text: str) -> int:
    parser = Parser(text)
    value = parser.expression()
    letter = parser.peek()
    if letter is not None:
        raise ValueError(f"unexpected {letter}")
    return value


def work() -> int:
    total = 0
    for i in range(1200):
        try:
            total += calculate(f"(12+{i})*3+{i % 7}*(4+5*(6+{i % 3}))+100*2")
        except ValueError:
            pass
        try:
            calculate(f"1+{i}*(2+3")
            total += 1000
        except ValueError as error:
            total += len(str(error))
    return total
