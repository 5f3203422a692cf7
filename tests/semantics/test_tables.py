"""What the checker leaves behind for the emitter: complete tables without open questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from concerto.semantics import Analysis
from concerto.semantics.model.analysis import (
    BoundCall,
    Coercion,
    Default,
    DynamicCall,
    FunctionCall,
    GivenWitness,
    NamedMember,
    NativeCall,
    SlotField,
)
from concerto.semantics.model.builtins import ANY, FLOAT, INT, NEVER, array_of, option_of
from concerto.semantics.typing.unify import is_solved, show
from concerto.syntax import ast
from concerto.syntax.walk import walk
from tests.semantics.checking import Files, check

PROGRAMS = sorted((Path(__file__).parent.parent / "programs").rglob("*.conc"))


def analyse(text: str) -> Analysis:
    analysis, problems = check(text)
    assert not [problem for problem in problems if problem.startswith("E")]
    return analysis


def expressions(analysis: Analysis, kind: type[ast.Node]) -> list[ast.Node]:
    bodies = [function.node for function in analysis.functions if function.node is not None]
    return [node for body in bodies for node in walk(body) if isinstance(node, kind)]


def good_programs() -> Iterator[tuple[str, Analysis]]:
    for path in PROGRAMS:
        text = path.read_text(errors="replace")
        analysis, problems = check(text)
        if not any(problem.startswith("E") for problem in problems):
            yield text, analysis


def test_tables_hold_no_open_types() -> None:
    for text, analysis in good_programs():
        for table in (analysis.types, analysis.pattern_types):
            for node, type_ in table.items():
                assert is_solved(type_), text[node.start : node.end]
        for coercions in analysis.coercions.values():
            assert all(c.target is None or is_solved(c.target) for c in coercions)
        for local in analysis.parameters.values():
            assert is_solved(local.type)


def test_every_call_has_a_target() -> None:
    for text, analysis in good_programs():
        mocked = {id(inner) for mock in expressions(analysis, ast.Mock) for inner in walk(mock)}
        for call in (*expressions(analysis, ast.Call), *expressions(analysis, ast.MethodCall)):
            called = getattr(call, "receiver" if isinstance(call, ast.MethodCall) else "callee")
            if id(call) not in mocked and analysis.types.get(called) != NEVER:
                assert call in analysis.calls, text[call.start : call.end]
                assert call in analysis.types


def test_defaults_stand_for_arguments_left_out() -> None:
    analysis = analyse("fn area(w: Int, h: Float = 2) -> Float { w * h }\nfn main() { println(area(3)); }")
    call = next(c for c in analysis.calls.values() if isinstance(c, FunctionCall))
    assert isinstance(call.arguments[1], Default)
    default = call.arguments[1].parameter.default
    assert default is not None
    assert analysis.types[default] is INT
    assert analysis.coercions[default] == (Coercion("int_to_float"),)


def test_named_arguments_take_the_place_of_their_parameter() -> None:
    analysis = analyse(
        "fn f(a: Int, b: Int = 0, c: Int = 0) -> Int { a + b + c }\nfn main() { println(f(1, c: 2)); }"
    )
    call = next(c for c in analysis.calls.values() if isinstance(c, FunctionCall))
    assert [type(given).__name__ for given in call.arguments] == ["IntLit", "Default", "IntLit"]


def test_conversions_are_noted_in_order() -> None:
    analysis = analyse("fn main() { let x: Option<Float> = 1; println(x); }")
    literal = expressions(analysis, ast.IntLit)[0]
    assert [coercion.kind for coercion in analysis.coercions[literal]] == ["int_to_float", "wrap_some"]


@pytest.mark.parametrize(
    ("expression", "type_"),
    [
        ("[1, 2.5]", "Array<Float>"),
        ("[]", "Array<Any>"),
        ("None", "Option<Any>"),
        ('{"a": [1]}', "Map<String, Array<Int>>"),
        ("(1, 'x')", "(Int, String)"),
        ("if true { 1 } else { 2.5 }", "Float"),
        ("[1].map(|x| x * 2.5)", "Array<Float>"),
        ("[1].first()", "Option<Int>"),
        ("|x: Int| x > 1", "fn(Int) -> Bool"),
        ("loop { break 1; }", "Int"),
        ("'5'.parse_int().map(|n| [n])", "Result<Array<Int>, ParseError>"),
        ("spawn 1", "Task<Int>"),
        ("await (1, 'x')", "(Int, String)"),
        ("0..3", "Range"),
        ("'abc'[0]", "String"),
        ("[1, 2][0..1]", "Array<Int>"),
        ("1 as Float", "Float"),
        ("Some(1) ?? 2", "Int"),
        ("match 1 { 1 => None, _ => Some('x') }", "Option<String>"),
    ],
)
def test_types_are_found(expression: str, type_: str) -> None:
    analysis = analyse(f"fn main() {{ let x = {expression}; println(typeof(x)); }}")
    let = expressions(analysis, ast.Let)[0]
    assert isinstance(let, ast.Let) and let.value is not None
    assert show(analysis.types[let.value]) == type_


def test_later_use_settles_an_empty_literal() -> None:
    analysis = analyse("fn main() { let mut xs = []; xs.push(1); println(xs); }")
    assert analysis.types[expressions(analysis, ast.ArrayLit)[0]] == array_of(INT)


def test_captures_in_order_of_use() -> None:
    analysis = analyse(
        "fn main() { let a = 1; let b = 2; let f = |x: Int| { || b + a + x }; println(f(1)()); }"
    )
    outer, inner = expressions(analysis, ast.Closure)
    assert [local.name for local in analysis.captures[outer]] == ["b", "a"]
    assert [local.name for local in analysis.captures[inner]] == ["b", "a", "x"]


def test_fields_of_structs_are_slots_and_those_of_errors_names() -> None:
    analysis = analyse(
        "struct P { x: Int }\n"
        "fn main() { let p = P { x: 1 }; println(p.x);\n"
        "match 'x'.parse_int() { Ok(_) => nil, Err(e) => println(e.message) } }"
    )
    targets = list(analysis.fields.values())
    assert isinstance(targets[0], SlotField) and targets[0].field.index == 0
    assert targets[1] == NamedMember("message")


def test_methods_of_any_and_of_bounds_are_found_at_run_time() -> None:
    analysis = analyse(
        "trait T { fn go(mut self); }\nfn f<A: T>(a: A) { let mut b = a; b.go(); }\n"
        "fn main() { let x: Any = 'a'; println(x.len()); }"
    )
    named = [call for call in analysis.calls.values() if isinstance(call, DynamicCall)]
    assert [(call.name, call.mutable) for call in named] == [("len", False)]
    (bound,) = [node for node, call in analysis.calls.items() if isinstance(call, BoundCall)]
    ((given,),) = analysis.given_witnesses.values()
    assert analysis.witnesses[bound] == [GivenWitness(given)]


def test_reified_calls_know_their_type() -> None:
    analysis = analyse(
        "schema P { name: String }\n"
        "fn main() { let r: Result<P, SchemaError> = parse_schema('{}'); println(r.is_ok()); }"
    )
    call = next(c for c in analysis.calls.values() if isinstance(c, NativeCall) and c.type_argument)
    assert call.type_argument is not None and show(call.type_argument) == "P"


def test_any_is_checked_where_a_type_is_asked_for() -> None:
    analysis = analyse("fn main() { let a: Any = 1; let b: Int = a; let c: Option<Float> = b; println(c); }")
    kinds = [[coercion.kind for coercion in found] for found in analysis.coercions.values()]
    assert kinds == [["check"], ["int_to_float", "wrap_some"]]
    assert analysis.types[expressions(analysis, ast.Path)[0]] is ANY
    assert option_of(FLOAT) == option_of(FLOAT)


def test_builders_know_what_the_manifest_declares() -> None:
    project = Files(mcp_servers=frozenset({"GitHub"}), python_tools=frozenset({"lookup"}))
    calls = (
        "A.with_tools([GitHub, lookup, GitHub::search]).execute('x')?;",
        "A.with_tools([GitHub]).with_tool_choice(GitHub::search).execute('x')?;",
        "A.with_allowed_tools([Unknown]).execute('x')?;",
    )
    text = (
        "agent A { provider: openai }\n"
        + f"fn main() -> Result<Nil, AgentError> {{ {' '.join(calls)} Ok(nil) }}"
    )
    assert check(text, project)[1] == ["E0201 unknown name `Unknown`"]
