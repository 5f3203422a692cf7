from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Number:
    value: float


@dataclass
class X:
    pass


@dataclass
class Plus:
    left: Term
    right: Term


@dataclass
class Times:
    left: Term
    right: Term


@dataclass
class Power:
    base: Term
    exponent: int


Term = Number | X | Plus | Times | Power


def derivative(term: Term) -> Term:
    match term:
        case Number():
            return Number(0.0)
        case X():
            return Number(1.0)
        case Plus(a, b):
            return Plus(derivative(a), derivative(b))
        case Times(a, b):
            return Plus(Times(derivative(a), b), Times(a, derivative(b)))
        case Power(base, n):
            return Times(Times(Number(float(n)), Power(base, n - 1)), derivative(base))


def simple(term: Term) -> Term:
    match term:
        case Plus(a, b):
            match simple(a), simple(b):
                case Number(x), Number(y):
                    return Number(x + y)
                case (Number(0.0), other) | (other, Number(0.0)):
                    return other
                case left, right:
                    return Plus(left, right)
        case Times(a, b):
            match simple(a), simple(b):
                case Number(x), Number(y):
                    return Number(x * y)
                case (Number(0.0), _) | (_, Number(0.0)):
                    return Number(0.0)
                case (Number(1.0), other) | (other, Number(1.0)):
                    return other
                case left, right:
                    return Times(left, right)
        case Power(_, 0):
            return Number(1.0)
        case Power(base, 1):
            return simple(base)
        case Power(base, n):
            return Power(simple(base), n)
    return term


def value(term: Term, x: float) -> float:
    match term:
        case Number(number):
            return number
        case X():
            return x
        case Plus(a, b):
            return value(a, x) + value(b, x)
        case Times(a, b):
            return value(a, x) * value(b, x)
        case Power(base, n):
            return value(base, x) ** n


def shown(term: Term) -> str:
    match term:
        case Number(number):
            return f"{number:.0f}"
        case X():
            return "x"
        case Plus(a, b):
            return f"({shown(a)} + {shown(b)})"
        case Times(a, b):
            return f"{shown(a)}*{shown(b)}"
        case Power(base, n):
            return f"{shown(base)}^{n}"


def work() -> str:
    total = 0.0
    length = 0
    for i in range(1, 40):
        inner = Plus(Times(Number(float(i)), X()), Number(1.0))
        term = Times(Power(inner, 3), Plus(Power(X(), 2), Number(4.0)))
        first = simple(derivative(term))
        second = simple(derivative(first))
        length += len(shown(first)) + len(shown(second))
        for k in range(4):
            total += value(first, float(k)) - value(second, 0.5 * k)
    return f"{length} {total:.3f}"
