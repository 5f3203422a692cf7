from dataclasses import dataclass
from math import fmod


@dataclass
class Push:
    number: int


class Add:
    pass


class Sub:
    pass


class Mul:
    pass


class Dup:
    pass


class Swap:
    pass


Op = Push | Add | Sub | Mul | Dup | Swap


class StackError(Exception):
    pass


def pop(stack: list[int]) -> int:
    if not stack:
        raise StackError("empty stack")
    return stack.pop()


def run(ops: list[Op]) -> int:
    stack: list[int] = []
    for op in ops:
        match op:
            case Push(n):
                stack.append(n)
            case Add():
                b = pop(stack)
                a = pop(stack)
                stack.append(a + b)
            case Sub():
                b = pop(stack)
                a = pop(stack)
                stack.append(a - b)
            case Mul():
                b = pop(stack)
                a = pop(stack)
                stack.append(int(fmod(a * b, 10007)))
            case Dup():
                top = pop(stack)
                stack.append(top)
                stack.append(top)
            case Swap():
                b = pop(stack)
                a = pop(stack)
                stack.append(b)
                stack.append(a)
    return pop(stack)


def work() -> int:
    total = 0
    for i in range(4000):
        ops: list[Op] = [
            Push(i),
            Dup(),
            Mul(),
            Push(3),
            Swap(),
            Sub(),
            Push(i % 5),
            Add(),
            Dup(),
            Add(),
            Push(7),
            Mul(),
        ]
        try:
            total += run(ops)
        except StackError:
            total -= 1
        try:
            total += run([Push(i), Add()])
        except StackError as error:
            total += len(str(error))
    return total
