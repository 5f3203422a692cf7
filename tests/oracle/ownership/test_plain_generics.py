"""Type parameters that stand only for types whose values never change: their values are shared like numbers,
and those of all others are somebody's own, whatever way a type comes to stand for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.compiler import compile_file, compile_source
from tests.properties.running import agree, outcomes

TYPES = """
struct Pair<K, V> { key: K, value: V }
struct Cell<T> { pairs: Array<Pair<String, T>>, first: Option<T> }
enum List<T> { Nil, Cons(T, List<T>) }
struct Wrapped { inner: Pair<Int, Array<Int>> }
trait Twice { fn twice(self) -> Array<Self>; fn both(self) -> (Self, Self) { (self, self) } }
impl<K, V> Twice for Pair<K, V> { fn twice(self) -> Array<Pair<K, V>> { [self, self] } }
impl<K, V> Pair<K, V> {
    fn swap(self) -> Pair<V, K> { Pair { key: self.value, value: self.key } }
    fn values(self) -> Array<V> { [self.value, self.value] }
    fn with<W>(self, w: W) -> Pair<W, W> { Pair { key: w, value: w } }
}
impl<K, V> Add for Pair<K, V> {
    fn add(self, other: Pair<K, V>) -> Pair<K, V> { Pair { key: self.key, value: other.value } }
}
struct Again<T> { item: T, left: Int }
impl<T> Iterator<T> for Again<T> {
    fn next(mut self) -> Option<T> {
        self.left -= 1;
        if self.left >= 0 { Some(self.item) } else { None }
    }
}
trait Maker { fn make<T>(self, x: T) -> (T, T); }
struct Double { by: Int }
impl Maker for Double { fn make<T>(self, x: T) -> (T, T) { (x, x) } }
impl Double { fn pair<T>(self, x: T) -> Array<T> { [x, x] } }
fn made<M: Maker, T>(m: M, x: T) -> (T, T) { m.make(x) }
impl<T> Cell<T> {
    fn new(x: T) -> Cell<T> { Cell { pairs: [Pair { key: "a", value: x }], first: Some(x) } }
    fn put(mut self, x: T) { self.pairs.push(Pair { key: "b", value: x }); self.first = Some(x); }
    fn all(self) -> Array<T> { self.pairs.map(|p| p.value) }
}
fn twice<T>(x: T) -> (T, T) { (x, x) }
fn through<T>(x: T) -> (T, T) { twice(x) }
fn listed<T>(x: T) -> List<T> { List::Cons(x, List::Cons(x, List::Nil)) }
fn heads<T>(xs: List<T>) -> Array<T> {
    match xs { List::Nil => [], List::Cons(x, rest) => [x].concat(heads(rest)) }
}
fn applied<A, B>(x: A, f: fn(A) -> B) -> (A, B) { (x, f(x)) }
fn paired<T: Twice>(x: T) -> Array<T> { x.twice() }
fn open<T>(Pair { key, value }: Pair<T, T>) -> (T, T) { (key, value) }
"""
"""A generic function, type or method each, through which a type comes to stand for a parameter."""

WAYS = (
    "{ let (a, b) = twice(xs); [a, b] }",
    "{ let (a, b) = through(xs); [a, b] }",
    "{ let (a, b) = twice<Array<Int>>(xs); [a, b] }",
    "{ let f = twice<Array<Int>>; let (a, b) = f(xs); [a, b] }",
    "{ let (a, b) = xs |> twice; [a, b] }",
    "[xs].map(twice).map(|(a, b)| [a, b])[0]",
    "{ let (a, (b, c)) = applied(xs, twice); [a, b, c] }",
    "heads(listed(xs))",
    "heads(List::Cons(xs, List::Cons(xs, List::Nil)))",
    "{ let p = Pair { key: 1, value: xs }; [p.value, p.swap().key] }",
    "Pair { key: 1, value: xs }.values()",
    "{ let p = Pair { key: 1, value: 2 }.with(xs); [p.key, p.value] }",
    "paired(Pair { key: 1, value: xs }).map(|p| p.value)",
    "Pair { key: 1, value: xs }.twice().map(|p| p.value)",
    "{ let (a, b) = Pair { key: 1, value: xs }.both(); [a.value, b.value] }",
    "{ let mut c = Cell::new(xs); c.put(xs); c.all() }",
    "{ let c: Cell<Array<Int>> = Cell { pairs: [], first: Some(xs) }; [c.first ?? [], c.first ?? []] }",
    "{ let (a, b) = open(Pair { key: xs, value: xs }); [a, b] }",
    "{ let a: Any = Pair { key: 1, value: xs }; let ys: Array<Array<Int>> = a.values(); ys }",
    '{ let w: Wrapped = json::parse_as<Wrapped>("{\\"inner\\": {\\"key\\": 1, \\"value\\": [1]}}").unwrap();'
    " w.inner.values() }",
    "{ let ps: Array<Pair<Int, Array<Int>>> = [Pair { key: 1, value: xs }]; ps[0].values() }",
    "{ let f = |p: Pair<Int, Array<Int>>| p.values(); f(Pair { key: 1, value: xs }) }",
    "{ let p = Pair { key: 1, value: xs }; let q = p + p; [p.value, q.value] }",
    "{ let mut all = [xs]; for x in (Again { item: xs, left: 2 }) { all.push(x); } all }",
    "{ let (a, b) = Double { by: 2 }.make(xs); [a, b] }",
    "{ let (a, b) = made(Double { by: 2 }, xs); [a, b] }",
    "{ let d: Any = Double { by: 2 }; let all: Array<Array<Int>> = d.pair(xs); all }",
    "{ let (a, b) = twice(Some(xs)); [a ?? [], b ?? []] }",
    '{ let (a, b) = twice({"a": xs}); [a["a"], b["a"]] }',
    "{ let (a, b) = twice(listed(xs)); heads(a).concat(heads(b)) }",
    "{ let (a, b) = twice(Pair { key: 1, value: 2 }); [[a.key, b.value], xs, xs] }",
)
PLAIN = (
    'println("${twice(1)} ${heads(listed("a"))} ${Pair { key: 1, value: "b" }.values()} ${open(twiced)}");'
)


@pytest.mark.parametrize("way", WAYS)
def test_what_a_parameter_stands_for_is_ones_own(way: str) -> None:
    text = f"""use std::json;
{TYPES}
fn given(xs: Array<Int>) -> Array<Array<Int>> {{ {way} }}
fn main() {{
    let twiced = Pair {{ key: 2, value: 3 }};
    let mut xs = [1];
    let mut all = {{ {way} }};
    xs.push(2);
    all[0].push(3);
    println("${{xs}} ${{all}}");
    let ys = [4];
    let mut more = given(ys);
    more[0].push(5);
    println("${{ys}} ${{more}}");
    {PLAIN}
}}
"""
    assert agree(found := outcomes({"main.conc": text})), found


@pytest.mark.parametrize(
    "call",
    [
        "twice([1])",
        "through([1])",
        "Double { by: 2 }.make([1])",
        "made(Double { by: 2 }, [1])",
        "[[1]].map(twice)[0]",
        "open(Pair { key: [1], value: [2] } + Pair { key: [3], value: [4] })",
        "{ let a: Any = Double { by: 2 }; let t: (Array<Int>, Array<Int>) = a.make([1]); t }",
        "{ let a: Any = Double { by: 2 }; let t: Array<Array<Int>> = a.pair([1]); (t[0], t[1]) }",
        "{ let t = Double { by: 2 }.pair([1]); (t[0], t[1]) }",
        "{ let mut again = Again { item: [1], left: 2 }; (again.next().unwrap(), again.next().unwrap()) }",
    ],
)
def test_parts_of_a_result_are_not_one(call: str) -> None:
    text = f"""{TYPES}
fn main() {{
    let mut both = {call};
    both.0.push(3);
    println(both);
    let twiced = Pair {{ key: 2, value: 3 }};
    {PLAIN}
}}
"""
    assert agree(found := outcomes({"main.conc": text})), found


def test_methods_of_an_any_may_be_called_with_anything() -> None:
    text = f"""{TYPES}
fn main() {{
    let d: Any = Double {{ by: 2 }};
    let mut both = d.pair([1]);
    both[0].push(3);
    println("${{both}} ${{Double {{ by: 2 }}.pair(1)}}");
}}
"""
    assert agree(found := outcomes({"main.conc": text})), found


def test_plain_values_are_not_copied(tmp_path: Path) -> None:
    types = TYPES.replace("struct Wrapped { inner: Pair<Int, Array<Int>> }", "")
    (tmp_path / "main.conc").write_text(
        f"{types}\nfn main() {{ let twiced = Pair {{ key: 2, value: 3 }}; {PLAIN} }}"
    )
    functions = compile_file(tmp_path / "main.conc").module.functions
    code = {each.name: [instr[0] for instr in each.code] for each in functions}
    for name in ("heads", "listed", "twice", "Pair::values", "open"):
        assert not [instr for instr in code[name] if instr.startswith("COPY")], name


@pytest.mark.parametrize(
    "text",
    [
        "pub fn twice<T>(x: T) -> (T, T) { (x, x) }",
        "fn twice<T>(x: T) -> (T, T) { (x, x) } fn main() { let a: Any = [1]; println(twice(a)); }",
        "trait Two { fn two(self) -> Array<Self> { [self, self] } } impl Two for Array<Int> {}"
        " fn main() { println([1].two()); }",
    ],
)
def test_of_what_others_call_nothing_is_known(text: str) -> None:
    codes = [instr[0] for each in compile_source(text).module.functions for instr in each.code]
    assert [name for name in codes if name.startswith("COPY")]
