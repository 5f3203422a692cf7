from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

N = TypeVar("N", int, float)


class ToolFailure(Exception):
    pass


class Handler(Protocol):
    def run(self, arguments: dict[str, str]) -> str: ...

    def cost(self) -> int:
        return 1


def wanted(arguments: dict[str, str], name: str) -> str:
    try:
        return arguments[name]
    except KeyError:
        raise ToolFailure(f"missing `{name}`") from None


def number(text: str, kind: Callable[[str], N], name: str) -> N:
    try:
        return kind(text)
    except ValueError:
        raise ToolFailure(f"`{text}` is not {name}") from None


@dataclass
class Convert(Handler):
    rates: dict[str, float]

    def run(self, arguments: dict[str, str]) -> str:
        amount = number(wanted(arguments, "amount"), float, "a Float")
        currency = wanted(arguments, "to")
        rate = self.rates.get(currency)
        if rate is None:
            raise ToolFailure(f"no rate for {currency}")
        return f"{amount * rate:.2f} {currency}"

    def cost(self) -> int:
        return 3


@dataclass
class Lookup(Handler):
    rows: list[tuple[str, str]]

    def run(self, arguments: dict[str, str]) -> str:
        key = wanted(arguments, "key")
        for name, value in self.rows:
            if name == key:
                return value
        raise ToolFailure(f"nothing for {key}")


@dataclass
class Call:
    tool: str
    arguments: dict[str, str]


def parse_call(text: str) -> Call:
    start = text.find("(")
    if start < 0:
        raise ToolFailure(f"no call: {text}")
    if not text.endswith(")"):
        raise ToolFailure(f"no end: {text}")
    arguments = {}
    for part in text[start + 1 : -1].split(","):
        match part.split("="):
            case [name, value]:
                arguments[name.strip()] = value.strip()
            case _:
                raise ToolFailure(f"bad argument `{part.strip()}`")
    return Call(text[:start], arguments)


@dataclass
class Router:
    functions: dict[str, Callable[[dict[str, str]], str]]
    handlers: dict[str, Handler]
    spent: int = 0
    failures: Counter[str] = field(default_factory=Counter)

    def dispatch(self, text: str) -> str:
        call = parse_call(text)
        function = self.functions.get(call.tool)
        if function is not None:
            return function(call.arguments)
        handler = self.handlers.get(call.tool)
        if handler is None:
            raise ToolFailure(f"unknown tool {call.tool}")
        self.spent += handler.cost()
        return handler.run(call.arguments)

    def all(self, calls: list[str]) -> list[str]:
        results = []
        for call in calls:
            try:
                results.append(self.dispatch(call))
            except ToolFailure as error:
                self.failures[str(error)] += 1
        return results


def add(arguments: dict[str, str]) -> str:
    return str(number(wanted(arguments, "a"), int, "an Int") + number(wanted(arguments, "b"), int, "an Int"))


def work() -> str:
    rows = [(f"k{n}", f"value {n * n}") for n in range(40)]
    router = Router(
        functions={"add": add, "upper": lambda arguments: wanted(arguments, "text").upper()},
        handlers={"convert": Convert({"EUR": 0.92, "JPY": 151.3}), "lookup": Lookup(rows)},
    )
    calls = []
    for n in range(2500):
        calls.append(f"add(a={n}, b={n * 2})")
        calls.append(f"upper(text=item {n % 7})")
        calls.append(f"convert(amount={n}.5, to={['EUR', 'JPY', 'XYZ'][n % 3]})")
        calls.append(f"lookup(key=k{n % 50})")
        if n % 10 == 0:
            calls.append(f"drop(x={n % 4})")
        if n % 15 == 0:
            calls.append(f"add(a={n}, b)")
            calls.append(f"add(a=1, b=x{n % 2})")
    results = router.all(calls)
    letters = sum(len(result) for result in results)
    failed = sorted(router.failures.items(), key=lambda item: (-item[1], item[0]))[:4]
    listed = "; ".join(f"{reason} {count}" for reason, count in failed)
    return f"{len(results)} {letters} {router.spent} {listed}"
