"""Iterators that the Python tier never makes: what is gone through, each method on the way, and who asks for
the elements, in every pair, with closures that print and that fail."""

from __future__ import annotations

from itertools import product

import pytest

from concerto.compiler import compile_source
from concerto.vm.python_tier.codegen import module_texts
from concerto.vm.python_tier.names import Names
from tests.properties.running import agree, outcomes

SOURCES = (
    "xs.iter()",
    "[1, 2, say(3)].iter()",
    "(0..5).iter()",
    "(0..k).iter()",
    "made(k).iter()",
    "waiting.iter()",
    "members.iter()",
    '"a1b2".chars().iter().map(|c| c.len())',
    "entries.iter().map(|(a, b)| a + b)",
    "xs.map(|x| x + 1).iter()",
    "pair.0.iter()",
    "xs[1..].iter()",
    "boxes.iter().map(|b| b.held)",
    "(if k > 1 { xs } else { [7] }).iter()",
    "xs.enumerate().iter().map(|(i, x)| i * x)",
)
STEPS = (
    "",
    ".map(|x| x + 1)",
    ".map(|x| say(x))",
    ".map(|x| xs[x])",
    ".map(|x| { if x == 2 { return 5; } x * k })",
    ".map(|x| x * 9223372036854775807)",
    ".map(|x| match x { 1 => say(9), _ => x })",
    ".map(less)",
    ".filter(|x| x > 1)",
    ".filter(|x| say(x) > 1)",
    ".filter(|x| 10 / x > 2)",
    ".filter(|x| xs.iter().map(|y| y + x).filter(|y| y > 3).to_array().len() > 1)",
    ".filter_map(|x| if x > 1 { Some(x * 2) } else { None })",
    ".filter_map(|x| xs.get(x))",
    ".flat_map(|x| [x, say(x + 1)])",
    ".flat_map(|x| made(x).filter(|y| y != x))",
    ".flat_map(|x| (0..x).to_array())",
    ".take_while(|x| x < 3)",
    ".map(|x| say(x)).take_while(|x| 6 / (2 - x) > 0)",
    ".skip_while(|x| say(x) < 2)",
    ".skip_while(|x| x == 1).take_while(|x| x != less(5))",
    ".take(2)",
    ".take(k)",
    ".skip(1)",
    ".take(0)",
    ".skip(k - 3)",
    ".enumerate().map(|(i, x)| i * 3 - x)",
    ".enumerate().filter(|(i, x)| say(i) != x).map(|(i, x)| xs[i] + x)",
    ".zip(xs.iter()).map(|(a, b)| a * b)",
    ".zip(made(k).iter()).map(|(a, b)| say(a) - b)",
)
ENDS = (
    "println({}.to_array());",
    "println({}.collect());",
    "println({}.sum());",
    "println({}.count(|x| x > 1));",
    "println({}.any(|x| say(x) > 2));",
    "println({}.all(|x| x < 3));",
    "println({}.find(|x| x > 1));",
    "println({}.position(|x| x == 2));",
    "println({}.fold([0], |a, x| a.concat([x])));",
    "println({}.reduce(0, |a, x| { println(x); a + x }));",
    'println({}.map(|x| "${x}").join(word(",")));',
    "println({}.max());",
    "println({}.min());",
    "println({}.map(|x| x.to_float() / 2.0).max());",
    "println({}.min_by_key(|x| xs[x]));",
    "println({}.to_array().sort_by_key(|x| say(0 - x)));",
    "println({}.to_array().max_by_key(|x| k - x));",
    "println(own.iter().max_by_key(|x| {}.count(|y| x == y)));",
    "println({}.max_by_key(|x| say(x)));",
    "println({}.group_by(|x| x % 2));",
    "println({}.enumerate().to_array());",
    "println({}.zip(xs.iter()).to_array());",
    "println({}.to_array().map(|x| x + say(1)));",
    "println((say(1), {}.sum(), say(2)));",
    "let all = |z: Int| {}.map(|x| x + z).to_array(); println(all(1)); println(all(2));",
    "println([0, 1].map(|z| {}.map(|x| x + z).sum()));",
    "let sum = {}.fold(0, |a, x| a * 2 + x); println(sum);",
    "let sum = {}.fold(own.pop() ?? 0, |a, x| a + x); println(sum);",
    "let sum = own.iter().fold(own.pop() ?? 0, |a, x| a + x); println(sum + {}.sum());",
    "let sum = own.iter().zip({}).fold(own.pop() ?? 0, |a, p| a + p.0 * p.1); println(sum);",
    "for x in {} { println(x); if x > 2 { break; } }",
    "for (i, x) in {}.enumerate() { println(i * x); }",
    "for (x, y) in {}.zip(xs.iter()) { println(x - y); }",
    "let mut k = k; for x in {} { k += 1; println(x); if k > 5 { break; } } println(k);",
    "for (a, b) in {}.map(|x| (x, x * k)) { if a == 2 { continue; } println(a - b); }",
    "for (i, x) in {}.enumerate().filter(|p| p.0 > 0) { println(i - x); if x > 3 { return; } }",
    "for (x, y) in {}.zip(xs.iter()).filter(|(x, y)| x <= y) { own = [x, y]; println(own); }",
    "for x in {}.map(|x| Some(x)) { if let Some(y) = x { println(y); } }",
    "let mut z = 0; for x in {}.map(|x| own.len() + x + z) { own.push(x); z = x; } println(z);",
    "for x in {}.filter_map(|x| own.get(x)) { for y in {}.filter(|y| y > x) { println(y); break; } }",
    "for x in {} { own.push(x); if own.len() > 9 { break; } } println(own);",
    "for (i, x) in own.iter().enumerate() { own.push(i + x); } println(own); println({}.last());",
    "for x in own.iter() { own[0] += x; own.push(x); } println(own); println({}.to_set());",
)
HELPERS = """
struct Box { held: Int }
fn say(n: Int) -> Int { println("say ${n}"); n }
fn word(text: String) -> String { println(text); text }
fn made(k: Int) -> Array<Int> { println("made"); [k, 1, 2] }
"""
START = """
    let less = |x: Int| -> Int { x - k };
    let mut waiting: Queue<Int> = Queue::new();
    waiting.enqueue(4);
    let members = Set::from([3, 1]);
    let entries = {1: 2, 3: 4};
    let pair = ([1, 2], 3);
    let boxes = [Box { held: 1 }, Box { held: 4 }];
    let mut own = [1, 2, 3];
"""


def program(bodies: list[str]) -> str:
    functions = [
        f"fn t{number}(xs: Array<Int>, k: Int) {{ {START} {body}\n"
        "println((less(1), waiting.len(), members, entries, pair, boxes.len(), own)); }"
        for number, body in enumerate(bodies)
    ]
    calls = [
        f"try {{ t{number}([1, 2, 3], 2); }} catch RuntimeError(error) {{ println(error.message); }}"
        for number in range(len(bodies))
    ]
    return "\n".join([HELPERS, *functions, "fn main() {", *calls, "}"])


@pytest.mark.parametrize("source", SOURCES)
def test_each_way_through(source: str) -> None:
    bodies = []
    for number, (first, second) in enumerate(product(STEPS, ("", ".map(|x| x - 1)", ".filter(|x| x != 1)"))):
        # Neighbouring ends for neighbouring steps, each source beginning at another one.
        end = ENDS[(number * 7 + SOURCES.index(source)) % len(ENDS)]
        bodies.append(end.replace("{}", source + first + second))
    assert agree(outcomes({"main.conc": program(bodies)}))


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_all_is_python() -> None:
    """What does not compile runs on the other tier, which no result tells."""
    for end in ENDS:
        module = compile_source(program([end.replace("{}", "xs.iter()" + step) for step in STEPS])).module
        for text in module_texts(module, Names())[0].values():
            compile(text, "python tier", "exec")


@pytest.mark.parametrize("end", ENDS)
def test_each_end(end: str) -> None:
    """A third of all pairs of steps: each pair has a third of the ends."""
    pairs = list(product(STEPS, STEPS[1::3]))[ENDS.index(end) % 3 :: 3]
    bodies = [end.replace("{}", "xs.iter()" + first + second) for first, second in pairs]
    assert agree(outcomes({"main.conc": program(bodies)}))
