from __future__ import annotations


class LispError(Exception):
    pass


Expression = int | str | list["Expression"]


class Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def read(self) -> Expression:
        if self.at >= len(self.tokens):
            raise LispError("unexpected end")
        token = self.tokens[self.at]
        self.at += 1
        if token == "(":
            items = []
            while self.at < len(self.tokens) and self.tokens[self.at] != ")":
                items.append(self.read())
            self.at += 1
            return items
        if token == ")":
            raise LispError("unexpected )")
        try:
            return int(token)
        except ValueError:
            return token


def tokenise(text: str) -> list[str]:
    tokens = []
    word = ""
    for letter in text:
        if letter in "() \n":
            if word:
                tokens.append(word)
                word = ""
            if letter in "()":
                tokens.append(letter)
        else:
            word += letter
    if word:
        tokens.append(word)
    return tokens


def evaluate(expression: Expression, names: dict[str, int]) -> int:
    match expression:
        case int(number):
            return number
        case str(name):
            if name not in names:
                raise LispError(f"no {name}")
            return names[name]
        case ["if", condition, yes, no]:
            return evaluate(yes, names) if evaluate(condition, names) != 0 else evaluate(no, names)
        case ["let", str(name), value, body]:
            return evaluate(body, {**names, name: evaluate(value, names)})
        case [str(operator), *arguments]:
            values = [evaluate(argument, names) for argument in arguments]
            match operator:
                case "+":
                    return sum(values)
                case "*":
                    product = 1
                    for each in values:
                        product *= each
                    return product
                case "-":
                    return values[0] - values[1]
                case "<":
                    return 1 if values[0] < values[1] else 0
            raise LispError(f"no function {operator}")
    raise LispError("not a call")


def work() -> str:
    sources = [
        "(+ 1 (* 2 3) (- x 4))",
        "(if (< x 50) (let y (* x x) (+ y y x)) (- 0 x))",
        "(let a 3 (let b (+ a x) (* a b (if (< a b) 1 2))))",
        "(* x (unknown 1 2))",
        "(+ 1 (+ 2 (+ 3 (+ 4 (+ 5 x))))",
        ") x",
    ]
    total = 0
    failures: dict[str, int] = {}
    for x in range(50):
        for source in sources:
            try:
                total += evaluate(Reader(tokenise(source)).read(), {"x": x})
            except LispError as error:
                failures[str(error)] = failures.get(str(error), 0) + 1
    shown = ", ".join(f'"{text}": {count}' for text, count in failures.items())
    return f"{total} {{{shown}}}"
