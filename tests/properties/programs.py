"""Random programs that are well typed: declarations, functions and methods, and a `main` that tells what they
give."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from tests.properties.kinds import (
    BOOL,
    INT,
    STRING,
    ArrayOf,
    Enum,
    Kind,
    MapOf,
    OptionOf,
    Pair,
    Struct,
    some_kinds,
)
from tests.properties.values import Callee, Values, Variable

PRELUDE = """\
fn same<T>(x: T) -> T { x }
fn either<T>(c: Bool, a: T, b: T) -> T { if c { a } else { b } }
fn pair<T>(x: T) -> (T, T) { (x, x) }
fn keep_array<T>(x: Array<T>) -> Array<T> { x }
fn keep_map<T>(x: Map<String, T>) -> Map<String, T> { x }
fn keep_option<T>(x: Option<T>) -> Option<T> { x }
fn cut(s: String) -> String { if s.len() > 30 { s[..30] } else { s } }
"""


def make_program(random: Random) -> str:
    return _Maker(random).program()


class _Maker:
    """Writes statements; `values` makes the expressions in them and knows the scopes."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.values = Values(random)
        self.lines: list[str] = []
        self.left = 0
        self.result: Kind | None = None
        self.in_loop = 0

    def program(self) -> str:
        self.lines.append(PRELUDE)
        self.values.kinds = some_kinds(self.random)
        for number in range(self.random.randint(1, 3)):
            self.declare_type(number)
        structs = [kind for kind in self.values.declared if isinstance(kind, Struct)]
        for number, struct in enumerate(structs):
            self.methods(number, struct)
        for number in range(self.random.randint(1, 3)):
            self.function(number)
        self.main()
        return "\n".join(self.lines) + "\n"

    # --- Declarations ---

    def declare_type(self, number: int) -> None:
        declared = self.values.declared
        kinds = [self.values.kind() for _ in range(self.random.randint(1, 3))]
        if self.random.random() < 0.6:
            struct = Struct(f"S{number}", tuple((f"f{index}", kind) for index, kind in enumerate(kinds)))
            fields = ", ".join(f"{name}: {kind}" for name, kind in struct.fields)
            self.lines.append(f"struct {struct.name} {{ {fields} }}")
            declared.append(struct)
        else:
            variants = (("A", ()), ("B", tuple(kinds)), ("C", (kinds[0],)))
            enum = Enum(f"E{number}", variants)
            written = [f"{name}({', '.join(map(str, parts))})" if parts else name for name, parts in variants]
            self.lines.append(f"enum {enum.name} {{ {', '.join(written)} }}")
            declared.append(enum)

    def methods(self, number: int, struct: Struct) -> None:
        self.lines.append(f"impl {struct.name} {{")
        for index in range(2):
            changing = index == 1
            parameter, result = self.values.kind(), self.values.kind()
            itself = Variable("self", struct, changing)
            name = f"m{number}_{index}"
            receiver = "mut self" if changing else "self"
            self.body(
                f"fn {name}({receiver}, a: {parameter}) -> {result}",
                [itself, Variable("a", parameter)],
                result,
            )
            self.values.callees.append(Callee(name, [parameter], result, struct, changing))
        self.lines.append("}")

    def function(self, number: int) -> None:
        parameters = [Variable(f"a{index}", self.values.kind()) for index in range(self.random.randint(1, 3))]
        result = self.values.kind()
        written = ", ".join(f"{parameter.name}: {parameter.kind}" for parameter in parameters)
        self.body(f"fn g{number}({written}) -> {result}", parameters, result)
        self.values.callees.append(Callee(f"g{number}", [parameter.kind for parameter in parameters], result))

    def body(self, head: str, parameters: list[Variable], result: Kind) -> None:
        self.lines.append(head + " {")
        self.values.scopes = [parameters, []]
        self.result, self.left = result, 9
        self.statements(3)
        self.lines.append(self.values.value(result, 2))
        self.lines.append("}")

    def main(self) -> None:
        """Calls of functions without parameters, each of which goes on after a failure of the one before."""
        number = self.random.randint(3, 6)
        for index in range(number):
            self.part(f"t{index}")
        self.lines.append("fn main() {")
        for index in range(number):
            self.lines.append(
                f'try {{ t{index}(); }} catch RuntimeError(e) {{ println("${{e.kind}} ${{e.message}}"); }}'
            )
        self.lines.append("}")

    def part(self, name: str) -> None:
        """Not all variables are told of at the end: the value of one that is not used again may be moved."""
        self.lines.append(f"fn {name}() {{")
        self.values.scopes = [[]]
        self.result, self.left = None, 12
        for _ in range(self.random.randint(1, 3)):
            self.let()
        for _ in range(self.random.randint(2, 4)):
            self.statements(2)
        for variable in self.values.visible():
            if self.random.random() < 0.4:
                self.lines.append(f"println({variable.name});")
        self.lines.append("}")

    # --- Statements ---

    def statements(self, depth: int) -> None:
        for _ in range(self.random.randint(1, 4)):
            if self.left <= 0:
                return
            self.left -= 1
            self.random.choice(self.forms(depth))()

    def forms(self, depth: int) -> list[Callable[[], None]]:
        forms = [
            self.let,
            self.let,
            self.destructure,
            self.assign,
            self.assign,
            self.change,
            self.change,
            self.show,
        ]
        if depth > 0:
            nested = (self.choice, self.loop, self.guarded, self.match, self.if_let, self.walk)
            forms += [partial(form, depth - 1) for form in nested]
        if self.in_loop:
            forms.append(self.jump)
        if self.result is not None:
            forms.append(self.leave)
        return forms

    def value(self, kind: Kind) -> str:
        return self.values.value(kind, self.random.choice((0, 0, 0, 1, 1, 2, 3)))

    def inside(self, work: Callable[[], None], names: list[Variable] | None = None) -> None:
        self.values.scopes.append(names or [])
        work()
        self.values.scopes.pop()

    def let(self) -> None:
        kind, mutable = self.values.kind(), self.random.random() < 0.6
        text = self.value(kind)
        name = self.values.fresh()
        # A name may be declared again: the new variable hides the old one.
        if self.random.random() < 0.1 and self.values.scopes[-1]:
            name = self.random.choice(self.values.scopes[-1]).name
        if name == "self":
            return
        self.lines.append(f"let {'mut ' if mutable else ''}{name}: {kind} = {text};")
        self.values.scopes[-1].append(Variable(name, kind, mutable))

    def destructure(self) -> None:
        kind = self.random.choice([Pair(self.values.kind(), self.values.kind()), *self.structs()])
        text = self.value(kind)
        if isinstance(kind, Pair):
            bound = [self.values.bound(kind.first), self.values.bound(kind.second)]
            pattern = f"({', '.join(map(self.values.written, bound))})"
        else:
            assert isinstance(kind, Struct)
            bound = [self.values.bound(part) for _, part in kind.fields]
            parts = zip(kind.fields, bound, strict=True)
            inside = ", ".join(f"{name}: {self.values.written(variable)}" for (name, _), variable in parts)
            pattern = f"{kind.name} {{ {inside} }}"
        self.lines.append(f"let {pattern} = {text};")
        self.values.scopes[-1] += bound

    def structs(self) -> list[Kind]:
        return [kind for kind in self.values.declared if isinstance(kind, Struct)]

    def places(self) -> list[tuple[str, Kind]]:
        """Variables that may change, their fields and elements, to some depth."""
        found: list[tuple[str, Kind]] = [(v.name, v.kind) for v in self.values.changeable()]
        for _ in range(2):
            for place, kind in found[:]:
                found += self.parts(place, kind)
        return [entry for entry in found if entry[0] != "self"]

    def parts(self, place: str, kind: Kind) -> list[tuple[str, Kind]]:
        match kind:
            case Struct(fields=fields):
                return [(f"{place}.{name}", part) for name, part in fields]
            case Pair(first=first, second=second):
                return [(f"{place}.0", first), (f"{place}.1", second)]
            case ArrayOf(item=item):
                return [(f"{place}[{self.random.choice('0001')}]", item)]
            case MapOf(value=value):
                return [(f'{place}["{self.random.choice("aaab")}"]', value)]
            case _:
                return []

    def assign(self) -> None:
        places = self.places()
        if not places:
            return self.show()
        place, kind = self.random.choice(places)
        operator = (
            self.random.choice(("+=", "-=", "*=")) if kind == INT and self.random.random() < 0.4 else "="
        )
        self.place_statement(f"{place} {operator} {self.value(kind)};", place)
        return None

    def place_statement(self, statement: str, place: str) -> None:
        """What may fail, because an element is not there, mostly does not end everything."""
        if "[" in place and self.random.random() < 0.8:
            statement = f'try {{ {statement} }} catch {{ println("failed"); }}'
        self.lines.append(statement)

    def change(self) -> None:
        """Call a method that changes a place."""
        places = [entry for entry in self.places() if isinstance(entry[1], ArrayOf | MapOf | Struct)]
        if not places:
            return self.assign()
        place, kind = self.random.choice(places)
        match kind:
            case ArrayOf(item=item):
                self.place_statement(self.array_change(place, kind, item), place)
            case MapOf(value=value):
                key = self.random.choice(('"a"', '"b"'))
                call = self.random.choice((f"set({key}, {self.value(value)})", f"remove({key})"))
                self.place_statement(f"{place}.{call};", place)
            case Struct():
                callees = [c for c in self.values.callees if c.receiver == kind and c.changes]
                if not callees or self.values.loops > 1:
                    return self.assign()
                arguments = ", ".join(self.value(parameter) for parameter in callees[0].parameters)
                self.place_statement(f"println({place}.{callees[0].name}({arguments}));", place)
            case _:
                raise AssertionError("only these have methods that change them")
        return None

    def array_change(self, place: str, kind: Kind, item: Kind) -> str:
        calls: list[Callable[[], str]] = [
            lambda: f"push({self.value(item)})",
            lambda: f"push({self.value(item)})",
            lambda: "pop()",
            lambda: f"insert(0, {self.value(item)})",
            lambda: f"extend({self.value(kind)}.take(3))",
            lambda: "truncate(1)",
            lambda: "clear()",
        ]
        return f"{place}.{self.random.choice(calls)()};"

    def show(self) -> None:
        self.lines.append(f"println({self.value(self.values.kind())});")

    def leave(self) -> None:
        assert self.result is not None
        self.lines.append(f"if {self.value(BOOL)} {{ return {self.value(self.result)}; }}")

    def jump(self) -> None:
        self.lines.append(f"if {self.value(BOOL)} {{ {self.random.choice(('break', 'continue'))}; }}")

    def choice(self, depth: int) -> None:
        self.lines.append(f"if {self.value(BOOL)} {{")
        self.inside(lambda: self.statements(depth))
        self.lines.append("} else {")
        self.inside(lambda: self.statements(depth))
        self.lines.append("}")

    def loop(self, depth: int) -> None:
        if self.values.loops >= 2:
            return self.show()
        fuel, kind = self.values.fresh("n"), self.random.choice(("for", "while"))
        if kind == "for":
            self.lines.append(f"for {fuel} in 0..{self.random.randint(0, 3)} {{")
        else:
            self.lines.append(f"let mut {fuel} = 3;")
            self.lines.append(f"while {fuel} > 0 {{ {fuel} -= 1;")
        self.repeated([Variable(fuel, INT)], depth)
        return None

    def repeated(self, names: list[Variable], depth: int) -> None:
        self.values.loops += 1
        self.in_loop += 1
        self.inside(lambda: self.statements(depth), names)
        self.in_loop -= 1
        self.values.loops -= 1
        self.lines.append("}")

    def walk(self, depth: int) -> None:
        """A loop over an array or map, best over one that the body can change."""
        if self.values.loops >= 2:
            return self.show()
        item = self.values.kind()
        known = [v for v in self.values.visible() if isinstance(v.kind, ArrayOf | MapOf)]
        subject = self.random.choice(known) if known else None
        kind = subject.kind if subject is not None else ArrayOf(item)
        text = subject.name if subject is not None else self.value(kind)
        limit = ".take(3)" if isinstance(kind, ArrayOf) and self.random.random() < 0.3 else ""
        if isinstance(kind, ArrayOf):
            bound = [self.values.bound(kind.item)]
            pattern = self.values.written(bound[0])
        else:
            assert isinstance(kind, MapOf)
            bound = [Variable(self.values.fresh("b"), STRING), self.values.bound(kind.value)]
            pattern = f"({bound[0].name}, {self.values.written(bound[1])})"
        self.lines.append(f"for {pattern} in {text}{limit} {{")
        self.repeated(bound, depth)
        return None

    def guarded(self, depth: int) -> None:
        self.lines.append("try {")
        self.inside(lambda: self.statements(depth))
        if self.random.random() < 0.4:
            self.lines.append(f"if {self.value(BOOL)} {{ throw {self.value(STRING)}; }}")
        self.lines.append("} catch String(s) { println(s);")
        self.inside(lambda: self.statements(depth), [Variable("s", STRING)])
        self.lines.append("} catch RuntimeError(e) { println(e.kind);")
        self.inside(lambda: self.statements(depth))
        self.lines.append("}")

    def match(self, depth: int) -> None:
        kinds: list[Kind] = [OptionOf(self.values.kind()), ArrayOf(self.values.kind())]
        kinds += [kind for kind in self.values.declared if isinstance(kind, Enum)]
        kinds += [v.kind for v in self.values.visible() if isinstance(v.kind, OptionOf | ArrayOf | Enum)]
        kind = self.random.choice(kinds)
        self.lines.append(f"match {self.value(kind)} {{")
        for pattern, names in self.values.patterns(kind):
            guard = ""
            if self.random.random() < 0.25:
                self.values.scopes.append(names)
                guard = f" if {self.value(BOOL)}"
                self.values.scopes.pop()
            self.lines.append(f"{pattern}{guard} => {{")
            self.inside(lambda: self.statements(depth), list(names))
            self.lines.append("}")
        self.lines.append("_ => {} }")

    def if_let(self, depth: int) -> None:
        item = self.values.kind()
        bound = self.values.bound(item)
        self.lines.append(f"if let Some({self.values.written(bound)}) = {self.value(OptionOf(item))} {{")
        self.inside(lambda: self.statements(depth), [bound])
        self.lines.append("} else {")
        self.inside(lambda: self.statements(depth))
        self.lines.append("}")
