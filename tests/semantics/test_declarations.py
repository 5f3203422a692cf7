"""Questions asked of the world: methods, bounds, conversions, order of declarations."""

from __future__ import annotations

import pytest

from concerto.semantics.model.builtins import (
    ANY,
    FLOAT,
    HASH,
    INT,
    NUMBER,
    ORD,
    STRING,
    array_of,
    map_of,
    option_of,
    set_of,
)
from concerto.semantics.model.symbols import (
    FunctionOf,
    ImplSymbol,
    Literals,
    TraitSymbol,
    TraitUse,
    TupleOf,
    Type,
)
from concerto.semantics.typing.members import find_method, why_not
from concerto.semantics.typing.traits import conversion, satisfies
from concerto.semantics.typing.unify import fresh, resolve, show, substitute
from tests.semantics.checking import Files, check, declare

_SHAPES = """
trait Named { fn name(self) -> String; fn shout(self) -> String { self.name() } }
trait Into<T> { fn into(self) -> T; }
struct Box<T> { item: T }
impl<T> Box<T> { fn get(self) -> T { self.item } fn kind(self) -> String { "any" } }
impl Box<Int> { fn kind(self) -> String { "ints" } fn sum(self) -> Int { self.item } }
impl<T: Named> Named for Box<T> { fn name(self) -> String { "box of ${self.item.name()}" } }
impl Named for Int { fn name(self) -> String { "int" } }
impl Into<String> for Int { fn into(self) -> String { "" } }
struct A { message: String }
struct B { message: String }
impl From<A> for B { fn from(a: A) -> B { B { message: a.message } } }
type IntBox = Box<Int>;
fn box_of() -> Box<Int> { Box { item: 1 } }
fn box_of_text() -> Box<String> { Box { item: "" } }
"""


def _result(text: str, function: str) -> Type:
    symbol = declare(text).root.members[function]
    assert hasattr(symbol, "result")
    found: Type = symbol.result
    return found


def test_the_more_special_impl_comes_first() -> None:
    declarations = declare(_SHAPES)
    ints, texts = (declarations.root.members[name].result for name in ("box_of", "box_of_text"))  # type: ignore[union-attr]
    found = find_method(declarations, ints, "kind")
    assert found is not None
    assert isinstance(found.function.owner, ImplSymbol)
    assert show(found.function.owner.target) == "Box<Int>"
    found = find_method(declarations, texts, "kind")
    assert found is not None
    assert isinstance(found.function.owner, ImplSymbol)
    assert show(found.function.owner.target) == "Box<T>"
    assert find_method(declarations, texts, "sum") is None
    assert why_not(declarations, texts, "sum") == ("`sum` needs `Box<Int>`, found `Box<String>`", "")


def test_an_open_receiver_is_solved_by_the_only_impl() -> None:
    declarations = declare("fn main() {}")
    item = fresh()
    found = find_method(declarations, array_of(item), "join")
    assert found is not None
    assert resolve(item) == STRING


def test_provided_methods_speak_of_the_receiver() -> None:
    declarations = declare(_SHAPES)
    found = find_method(declarations, INT, "shout")
    assert found is not None
    assert not found.dynamic
    assert substitute(found.function.self_type or ANY, found.substitution) == INT


def test_unmet_bounds_hide_a_method() -> None:
    declarations = declare(_SHAPES)
    function = FunctionOf((), INT)
    assert find_method(declarations, array_of(function), "sort") is None
    reason, help_ = why_not(declarations, array_of(function), "sort") or ("", "")
    assert reason == "`sort` needs `T: Ord`, and `fn() -> Int` is not"
    assert help_.endswith("have an order; else use `sort_by_key(|item| …)`")
    texts = declarations.root.members["box_of_text"].result  # type: ignore[union-attr]
    assert find_method(declarations, texts, "shout") is None
    reason, help_ = why_not(declarations, texts, "shout") or ("", "")
    assert reason == "`shout` needs `T: Named`, and `String` is not"
    assert help_ == "write `impl Named for String { … }`"


@pytest.mark.parametrize(
    ("type_", "trait", "met"),
    [
        (INT, ORD, True),
        (array_of(TupleOf((INT, STRING))), ORD, True),
        (map_of(STRING, INT), ORD, False),
        (ANY, ORD, False),
        (FLOAT, NUMBER, True),
        (STRING, NUMBER, False),
        (Literals((("String", "a"), ("String", "b"))), ORD, True),
        (Literals((("String", "a"), ("Int", 1))), ORD, False),
        (set_of(option_of(STRING)), HASH, True),
        (FunctionOf((), INT), HASH, False),
    ],
)
def test_built_in_bounds(type_: Type, trait: TraitSymbol, met: bool) -> None:
    assert satisfies(declare("fn main() {}"), type_, TraitUse(trait)) is met


def test_traits_with_arguments_are_told_apart() -> None:
    declarations = declare(_SHAPES)
    into = declarations.root.members["Into"]
    assert isinstance(into, TraitSymbol)
    assert satisfies(declarations, INT, TraitUse(into, (STRING,)))
    assert not satisfies(declarations, INT, TraitUse(into, (FLOAT,)))


def test_conversions() -> None:
    declarations = declare(_SHAPES)
    a, b = (declarations.plain_type(declarations.root.members[name]) for name in ("A", "B"))  # type: ignore[arg-type]
    found = conversion(declarations, a, b)
    assert found is not None and found[0].name == "from"
    assert conversion(declarations, b, a) is None
    tool, agent, emit = (declarations.error_type(name) for name in ("ToolError", "AgentError", "EmitError"))
    assert tool and agent and emit
    assert conversion(declarations, emit, tool) is not None
    assert conversion(declarations, STRING, tool) is not None
    assert conversion(declarations, tool, agent) is not None
    assert conversion(declarations, STRING, agent) is None
    assert conversion(declarations, tool, emit) is None


def test_an_alias_is_its_type() -> None:
    assert show(_result(_SHAPES + "fn f() -> IntBox { box_of() }", "f")) == "Box<Int>"


def test_functions_are_in_source_order() -> None:
    project = Files({"a": "pub fn in_a() {}"})
    analysis, problems = check(
        "use a::in_a; fn z() {} struct S {} impl S { fn m(self) {} } fn b() { in_a(); } "
        "trait T { fn p(self) {} } fn main() { z(); b(); }",
        project,
    )
    assert problems == []
    assert [f.name for f in analysis.functions] == ["z", "m", "b", "p", "main", "in_a"]
    assert project.loaded == ["a"]


def test_names_in_the_ir_are_unique() -> None:
    project = Files({"a": 'pub struct S {} impl S { pub fn f() {} } pub tool T { description: "x" }'})
    analysis, problems = check(
        "use a::T; struct S {} trait N { fn f(self); } impl N for S { fn f(self) {} } impl S { fn f() {} }"
        " fn main() { S::f(); { fn main() {} main(); } }",
        project,
    )
    names = [f.qualified for f in analysis.functions]
    assert sorted(names) == sorted(set(names))
    assert {"S::N::f", "S::f", "a::S::f", "main"} <= set(names)
    assert [tool.qualified for tool in analysis.tools] == ["a::T"]
    assert problems == ["W0002 import `T` is never used"]


def test_what_could_not_be_read_is_not_called_unknown() -> None:
    project = Files({"a": "pub fn good() {} pub fn bad( { } struct"})
    _, problems = check("use a::{good, bad, Shape}; fn main() { good(); bad(); }", project)
    assert not [problem for problem in problems if "`bad`" in problem and problem.startswith("E02")]
