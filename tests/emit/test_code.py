"""The shape of emitted code, where it matters to the tiers."""

from __future__ import annotations

from concerto.compiler.depth import on_large_stack
from tests.emit.compiling import emit, function, opcodes


def test_types_choose_the_instruction() -> None:
    module = emit(
        """
        fn ints(a: Int, b: Int) -> Bool { a + b < a * b }
        fn floats(a: Float, b: Int) -> Bool { a + b == 1 }
        fn texts(a: String, b: String) -> Bool { a + b != a }
        fn anything(a: Any, b: Any) -> Any { a + b }
        """
    )
    assert opcodes(module, "ints")[2:] == [
        "ADD_INT",
        "LOAD_LOCAL",
        "LOAD_LOCAL",
        "MUL_INT",
        "LT_INT",
        "RETURN",
    ]
    assert opcodes(module, "floats") == [
        "LOAD_LOCAL", "LOAD_LOCAL", "INT_TO_FLOAT", "ADD_FLOAT", "LOAD_CONST", "EQ_FLOAT", "RETURN",
    ]  # fmt: skip
    assert "CONCAT" in opcodes(module, "texts") and "NE_STRING" in opcodes(module, "texts")
    assert "ADD" in opcodes(module, "anything")


def test_generic_functions_are_written_once_more_for_ordered_types() -> None:
    module = emit(
        """
        fn below<T: Ord>(a: T, b: T) -> Bool { a < b }
        fn among<T: Ord>(all: Array<T>, one: T) -> Bool { all.any(|each| below(each, one)) }
        fn pairs(all: Array<(Int, String)>) -> Bool { among(all, (1, "a")) }
        fn floats(all: Array<Float>) -> Bool { among(all, 0.5) }
        fn passed<T: Ord>(one: T) -> Bool { below(one, one) }
        """
    )
    called = {name: function(module, name).code[-2] for name in ("pairs", "floats", "passed")}
    general = [each.name for each in module.functions].index("below")
    assert called["passed"] == ("CALL", general, 2)
    assert called["pairs"][1] != called["floats"][1] == general + 1
    written = [each.code for each in module.functions if each.name == "below"]
    assert [code[-2] for code in written] == [("LT",), ("LT_PLAIN",)]


def test_what_python_orders_is_compared_by_it() -> None:
    module = emit(
        """
        fn plain(a: (Int, Array<String>), b: (Int, Array<String>)) -> Int { a.compare(b) }
        fn floats(a: Array<Float>, b: Array<Float>) -> Int { compare(a, b) }
        """
    )
    called = [function(module, name).code[-2][1] for name in ("plain", "floats")]
    assert called == ["std::prelude::compare_plain", "std::prelude::compare"]


def test_a_literal_is_converted_when_it_is_compiled() -> None:
    module = emit("fn f() -> Float { 3 }")
    assert module.constants[function(module, "f").code[0][1]] == 3.0
    assert opcodes(module, "f") == ["LOAD_CONST", "RETURN"]


def test_a_dropped_value_leaves_nothing_behind() -> None:
    module = emit("fn f(n: Int) { if n > 1 { n + 1; } match n { 1 => 2, _ => 3 }; }")
    code = opcodes(module, "f")
    assert "RETURN" not in code
    assert [instr for instr in function(module, "f").code if instr[0] == "IF"] == [("IF", 0), ("IF", 0)]


def test_a_for_loop_has_a_block_only_for_break() -> None:
    module = emit(
        """
        fn plain(n: Int) { for i in 0..n { if i == 2 { continue; } println(i); } }
        fn broken(n: Int) { for i in 0..n { if i == 2 { break; } println(i); } }
        """
    )
    assert "BLOCK" not in opcodes(module, "plain")
    assert ("BR", 1) in function(module, "plain").code
    assert opcodes(module, "broken")[0] == "BLOCK"
    assert ("BR", 2) in function(module, "broken").code


def test_variants_and_literals_are_switched() -> None:
    module = emit(
        """
        enum E { A, B(Int), C, D }
        fn tags(e: E) -> Int { match e { E::A => 1, E::B(0) => 2, E::B(n) => n, E::C | E::D => 3 } }
        fn numbers(n: Int) -> String { match n { 1 => "a", 2 | 3 => "b", _ => "c" } }
        fn maybe(o: Option<Int>) -> Int { match o { Some(n) => n, None => 0 } }
        """
    )
    assert opcodes(module, "tags").count("CASE") == 2 and "DEFAULT" in opcodes(module, "tags")
    assert opcodes(module, "numbers").count("CASE") == 3
    assert opcodes(module, "maybe")[:3] == ["LOAD_LOCAL", "IS_SOME", "IF"]


def test_a_matched_tuple_is_not_built() -> None:
    module = emit(
        'fn f(a: Int, b: Int) -> String { match (a, b) { (0, 0) => "o", (0, _) => "y", _ => "x" } }'
    )
    assert "BUILD_TUPLE" not in opcodes(module, "f")


def test_the_question_mark_returns_the_result_it_was_given() -> None:
    module = emit("fn f(s: String) -> Result<Int, ParseError> { let n = s.parse_int()?; Ok(n) }")
    code = opcodes(module, "f")
    assert code[code.index("IF") + 1 : code.index("END")] == ["LOAD_LOCAL", "RETURN"]


def test_an_inout_function_gives_self_back_on_every_path() -> None:
    module = emit(
        """
        enum Light { On, Off }
        impl Light {
            fn set(mut self, on: Bool) -> Int { if on { self = Light::On; return 1; } self = Light::Off; 2 }
        }
        fn main() { let mut l = Light::On; println(l.set(false)); println(l); }
        """
    )
    assert function(module, "Light::set").inout
    assert opcodes(module, "Light::set").count("BUILD_TUPLE") == 2


def test_a_call_is_at_its_own_name() -> None:
    text = 'fn main() {\n    let n = "1"\n        .trim()\n        .parse_int();\n    println(n);\n}\n'
    positions = function(emit(text), "main").positions
    assert any(text[position.start : position.end] == "parse_int()" for position in positions)


def test_a_default_keeps_the_place_of_the_call() -> None:
    text = "fn f(a: Int = 1 + 2) -> Int { a }\nfn main() { println(f()); }\n"
    for position in function(emit(text), "main").positions:
        assert position.start >= text.index("fn main")


def test_long_chains_and_deep_nesting() -> None:
    chain = "fn f(a: Int) -> Int { a" + " + a" * 20_000 + " }"
    assert on_large_stack(lambda: len(function(emit(chain), "f").code)) == 40_002
    nested = "fn f(a: Int) -> Int { " + "(" * 200 + "a" + " + 1)" * 200 + " }"
    assert on_large_stack(lambda: len(function(emit(nested), "f").code)) == 402
