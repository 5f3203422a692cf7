"""Random text that follows the grammar, whether or not it means anything."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

_NAMES = ("a", "b", "foo", "x1", "_y", "class", "lambda", "None2", "host", "model", "race")
_TYPES = ("Int", "String", "Bool", "Thing", "T", "a::B")
_BINARY = ("+", "-", "*", "/", "%", "**", "<", "==", "&&", "||", "??", "|>", "..", "..=", "!=", ">=")
_LITERALS = (
    "0", "1_000", "0xFF", "0b11", "1.5", "1e-4", "true", "false", "nil", '""', '"a\\n\\"b\\u{e9}"', "'q'",
    'r"raw \\ ${x}"', 'r#"a "b""#', '"$ {x}"', "9223372036854775807",
)  # fmt: skip


def make_text(random: Random) -> str:
    """A file of declarations."""
    maker = _Maker(random)
    return "\n".join(maker.item(random.randint(1, 3)) for _ in range(random.randint(1, 3))) + "\n"


class _Maker:
    def __init__(self, random: Random) -> None:
        self.random = random

    # --- Small parts ---

    def name(self) -> str:
        return self.random.choice(_NAMES)

    def some(self, make: Callable[[], str], most: int = 3, separator: str = ", ") -> str:
        return separator.join(make() for _ in range(self.random.randint(0, most)))

    def one_of(self, *makers: Callable[[], str]) -> str:
        return self.random.choice(makers)()

    def maybe(self, make: Callable[[], str]) -> str:
        return make() if self.random.random() < 0.5 else ""

    def type(self, depth: int = 2) -> str:
        if depth == 0:
            return self.random.choice(_TYPES)

        def inner() -> str:
            return self.type(depth - 1)

        return self.one_of(
            lambda: self.random.choice(_TYPES),
            lambda: f"Array<{inner()}>",
            lambda: f"Map<{inner()}, {inner()}>",
            lambda: f"({inner()}, {inner()})",
            lambda: f"fn({self.some(inner)}) -> {inner()}",
            lambda: '"x" | "y"' if depth == 2 else "Int",
        )

    # --- Expressions ---

    def expression(self, depth: int) -> str:
        if depth <= 0:
            return self.one_of(lambda: self.random.choice(_LITERALS), self.name)

        def e() -> str:
            return self.expression(depth - 1)

        return self.one_of(
            lambda: self.random.choice(_LITERALS),
            lambda: f"({self.operand(depth)} {self.random.choice(_BINARY)} {self.operand(depth)})",
            lambda: f"{self.operand(depth)} + {self.operand(depth)} * {self.operand(depth)}",
            lambda: f"{self.random.choice(('-', '!', 'await ', 'spawn '))}{self.operand(depth)}",
            lambda: f"{self.operand(depth)} as {self.type(1)}",
            lambda: f"{self.operand(depth)}.{self.name()}({self.some(e)})",
            lambda: f"{self.operand(depth)}.{self.name()}",
            lambda: f"{self.operand(depth)}[{self.index(e)}]",
            lambda: f"{self.operand(depth)}?",
            lambda: f"{self.operand(depth)}.await",
            lambda: f"{self.name()}({self.some(self.argument(depth))})",
            lambda: f"{self.name()}<{self.type(1)}>({e()})",
            lambda: f"[{self.some(e)}]",
            lambda: f"({e()}, {e()})",
            lambda: f"({e()},)",
            lambda: f"({{{self.some(lambda: f'{self.key()}: {e()}')}}})",
            lambda: f"(Thing {{ {self.fields(depth)} }})",
            lambda: f'"a${{{e()}}}b"',
            lambda: f'"""\n    one ${{{e()}}}\n      two\n    """',
            lambda: f"|{self.some(self.name)}| {e()}",
            lambda: f"|{self.name()}: {self.type(1)}| -> {self.type(1)} {self.block(depth - 1)}",
            lambda: f"if {self.operand(depth)} {self.block(depth - 1)} else {self.block(depth - 1)}",
            lambda: f"if let {self.pattern(2)} = {self.operand(depth)} {self.block(depth - 1)}",
            lambda: f"match {self.operand(depth)} {{ {self.some(self.arm(depth), 3)} }}",
            lambda: f"try {self.block(depth - 1)} catch E({self.name()}) {self.block(depth - 1)}",
            lambda: f"loop {self.block(depth - 1)}",
            lambda: f"await ({e()}, {e()})",
            lambda: f"parallel for {self.name()} in {self.operand(depth)} {self.block(depth - 1)}",
        )

    def index(self, e: Callable[[], str]) -> str:
        return self.one_of(e, lambda: f"({e()})..", lambda: f"..={e()}", lambda: "..")

    def operand(self, depth: int) -> str:
        """What may stand on either side of an operator."""
        return self.one_of(self.name, self.name, lambda: f"({self.expression(depth - 1)})")

    def argument(self, depth: int) -> Callable[[], str]:
        return lambda: self.expression(depth - 1)

    def key(self) -> str:
        return self.one_of(lambda: '"k"', lambda: "match", lambda: "7", lambda: "true", self.name)

    def fields(self, depth: int) -> str:
        inits = self.some(lambda: f"{self.name()}: {self.expression(depth - 1)}", 2)
        return inits or f"..{self.expression(depth - 1)}"

    def arm(self, depth: int) -> Callable[[], str]:
        return lambda: (
            f"{self.pattern(2)}{self.maybe(lambda: ' if ' + self.operand(depth))} => {self.operand(depth)}"
        )

    def pattern(self, depth: int) -> str:
        if depth == 0:
            return self.one_of(
                self.name, lambda: "_", lambda: "1", lambda: '"s"', lambda: "-2", lambda: "nil"
            )

        def p() -> str:
            return self.pattern(depth - 1)

        return self.one_of(
            self.name,
            lambda: f"mut {self.name()}",
            lambda: "1..=5",
            lambda: f"{self.name()} @ 1..3",
            lambda: f"({p()}, {p()})",
            lambda: f"[{p()}, ..{self.maybe(self.name)}]",
            lambda: f"Thing {{ x: {p()}, .. }}",
            lambda: f"Some({p()})",
            lambda: f"E::A({p()}, {p()})",
            lambda: "1 | 2 | 3",
        )

    # --- Statements ---

    def block(self, depth: int) -> str:
        statements = self.some(lambda: self.statement(depth), 3, " ")
        return f"{{ {statements} {self.maybe(lambda: self.operand(depth))} }}"

    def statement(self, depth: int) -> str:

        def e() -> str:
            return self.expression(depth)

        def typed() -> str:
            return f": {self.type()}"

        return self.one_of(
            lambda: f"let {self.maybe(lambda: 'mut ')}{self.name()}{self.maybe(typed)} = {e()};",
            lambda: f"let {self.pattern(1)} = {e()};",
            lambda: f"{self.name()}.{self.name()} {self.random.choice(('=', '+=', '%='))} {e()};",
            lambda: f"{self.name()}[{e()}] = {e()};",
            lambda: f"{self.name()}({e()});",
            lambda: f"while {self.operand(depth)} {self.block(depth - 1)}",
            lambda: f"'l: for {self.pattern(1)} in {self.operand(depth)} {self.block(depth - 1)}",
            lambda: f"return{self.maybe(lambda: ' ' + e())};",
            lambda: self.random.choice(("break;", "continue;", "break 'l;", "break 'l 5;", "continue 'l;")),
            lambda: f"throw {e()};",
            lambda: f"// {self.name()}\n",
            lambda: f"/* {self.name()} */ {self.name()};",
            lambda: self.item(depth - 1) if depth > 1 else ";"[:0],
        )

    # --- Declarations ---

    def item(self, depth: int) -> str:
        return self.one_of(
            lambda: self.function(depth),
            lambda: f"struct {self.name()}{self.generics()} {{ {self.some(self.field)} }}",
            lambda: f"enum {self.name()} {{ A, B({self.type()}), C {{ x: {self.type()} }} }}",
            lambda: f"trait {self.name()} {{ fn f(self) -> {self.type()}; {self.function(depth)} }}",
            lambda: f"impl{self.generics()} Thing {{ {self.function(depth)} fn g(mut self) {{}} }}",
            lambda: f"impl Other for {self.type(1).replace(' | ', '')} {{}}".replace('"x""y"', "Int"),
            lambda: f"const {self.name()}: {self.type()} = {self.random.choice(_LITERALS)};",
            lambda: f"type {self.name()}<T> = {self.type()};",
            lambda: f"use {self.name()}::{{{self.name()}, {self.name()} as z, *}};",
        )

    def function(self, depth: int) -> str:
        parameters = self.some(lambda: f"{self.name()}: {self.type()}", 3)
        head = f"{self.maybe(lambda: 'async ')}fn {self.name()}{self.generics()}({parameters})"
        docs = self.maybe(lambda: "/// What it does.\n")
        return f"{docs}{head}{self.maybe(lambda: ' -> ' + self.type())} {self.block(depth)}"

    def generics(self) -> str:
        return self.maybe(lambda: "<T: A + B, U>")

    def field(self) -> str:
        return f"{self.maybe(lambda: 'pub ')}{self.name()}: {self.type()}{self.maybe(lambda: ' = 1')}"
