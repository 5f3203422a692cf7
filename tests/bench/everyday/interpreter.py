from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Num:
    value: int


@dataclass
class Var:
    name: str


@dataclass
class Bin:
    op: str
    left: Expr
    right: Expr


@dataclass
class If:
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass
class Let:
    name: str
    value: Expr
    body: Expr


@dataclass
class Fun:
    parameters: list[str]
    body: Expr


@dataclass
class Call:
    function: Expr
    arguments: list[Expr]


Expr = Num | Var | Bin | If | Let | Fun | Call


class Failure(Exception):
    pass


@dataclass
class Closure:
    parameters: list[str]
    body: Expr
    scope: Scope


@dataclass
class Scope:
    names: dict[str, Value]
    outer: Scope | None = None

    def find(self, name: str) -> Value:
        if name in self.names:
            return self.names[name]
        if self.outer is None:
            raise Failure(f"unknown name {name}")
        return self.outer.find(name)

    def inside(self, names: dict[str, Value]) -> Scope:
        return Scope(names, self)


Value = int | bool | Closure


def number(value: Value) -> int:
    match value:
        case bool():
            raise Failure("a Bool is no number")
        case int():
            return value
        case _:
            raise Failure("a function is no number")


def evaluate(expr: Expr, scope: Scope) -> Value:
    match expr:
        case Num(value):
            return value
        case Var(name):
            return scope.find(name)
        case Bin(op, left, right):
            a = number(evaluate(left, scope))
            b = number(evaluate(right, scope))
            match op:
                case "+":
                    return a + b
                case "-":
                    return a - b
                case "*":
                    return a * b
                case "/":
                    if b == 0:
                        raise Failure("division by zero")
                    return a // b
                case "<":
                    return a < b
                case "=":
                    return a == b
                case _:
                    raise Failure(f"unknown operator {op}")
        case If(condition, then, otherwise):
            flag = evaluate(condition, scope)
            if flag is True:
                return evaluate(then, scope)
            if flag is False:
                return evaluate(otherwise, scope)
            raise Failure("the condition is no Bool")
        case Let(name, bound, body):
            return evaluate(body, scope.inside({name: evaluate(bound, scope)}))
        case Fun(parameters, body):
            return Closure(parameters, body, scope)
        case Call(function, arguments):
            closure = evaluate(function, scope)
            if not isinstance(closure, Closure):
                raise Failure("only functions can be called")
            if len(closure.parameters) != len(arguments):
                raise Failure(f"wants {len(closure.parameters)} arguments, not {len(arguments)}")
            names = {name: evaluate(argument, scope) for name, argument in zip(closure.parameters, arguments)}
            return evaluate(closure.body, closure.scope.inside(names))


def call(function: str, *arguments: Expr) -> Call:
    return Call(Var(function), list(arguments))


def program(n: int) -> Expr:
    def smaller(by: int) -> Call:
        return call("self", Var("self"), Bin("-", Var("n"), Num(by)))

    body: Expr = If(Bin("<", Var("n"), Num(2)), Var("n"), Bin("+", smaller(1), smaller(2)))
    fib = Fun(["self", "n"], body)
    twice = Fun(["f", "x"], Bin("*", call("f", Var("f"), Var("x")), Num(2)))
    body = Bin("-", call("twice", Var("fib"), Num(n)), Num(n))
    return Let("fib", fib, Let("twice", twice, body))


def shown(expr: Expr, scope: Scope) -> str:
    try:
        value = evaluate(expr, scope)
    except Failure as error:
        return f"error: {error}"
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case Closure(parameters):
            return f"fn({', '.join(parameters)})"


def work() -> str:
    top = Scope({})
    lines = [shown(program(n), top) for n in range(1, 15)]
    lines.append(shown(Bin("/", Num(1), Bin("-", Num(2), Num(2))), top))
    lines.append(shown(call("missing"), top))
    lines.append(shown(Fun(["a", "b"], Var("a")), top))
    return " ".join(lines)
