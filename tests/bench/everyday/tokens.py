from dataclasses import dataclass


@dataclass
class Number:
    value: int


@dataclass
class Name:
    text: str


@dataclass
class Symbol:
    text: str


Token = Number | Name | Symbol


def tokenize(text: str) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        letter = text[at]
        if letter.isspace():
            at += 1
        elif letter.isdigit():
            start = at
            while at < len(text) and text[at].isdigit():
                at += 1
            tokens.append(Number(int(text[start:at])))
        elif letter.isalpha():
            start = at
            while at < len(text) and text[at].isalnum():
                at += 1
            tokens.append(Name(text[start:at]))
        elif letter in "+-*/()=":
            tokens.append(Symbol(letter))
            at += 1
        else:
            raise ValueError(f"unexpected {letter} at {at}")
    return tokens


def work() -> int:
    total = 0
    for i in range(700):
        text = f"total = (price{i} + 12 * {i}) / count2 - x"
        for token in tokenize(text):
            match token:
                case Number(n):
                    total += n
                case Name(name):
                    total += len(name)
                case Symbol("("):
                    total += 100
                case Symbol(_):
                    total += 1
        try:
            tokenize("a ? b")
            total -= 1
        except ValueError as error:
            total += len(str(error))
    return total
