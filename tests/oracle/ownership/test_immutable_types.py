"""Types that hold themselves and are never changed in place: their values share what they are made of, and
whoever takes a part out of one, or has put one in, changes something else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from concerto.compiler import compile_file
from concerto.semantics.analyses import ownership
from concerto.semantics.analyses.ownership import immutable
from concerto.semantics.model.symbols import TypeSymbol
from tests.properties.running import agree, outcomes

TYPES = """
enum Tree { Leaf(Int), List(Array<Int>), Kids(Array<Tree>), Named { tags: Array<Int>, kid: Tree } }
struct Scope { tags: Array<Int>, names: Map<String, Tree>, outer: Option<Scope> }
struct Box<T> { value: T }
struct Bush { tags: Array<Int>, kids: Array<Bush> }
struct Hedge { tags: Array<Int>, kids: Array<Hedge> }
struct Fence { tags: Array<Int>, next: Option<Fence> }
struct Room { scope: Scope, trees: Array<Tree>, count: Int }
trait Tagged { fn all(self) -> Array<Int>; }
impl Tagged for Scope { fn all(self) -> Array<Int> { self.tags } }
impl<T> Box<T> { fn get(self) -> T { self.value } }
impl Tree {
    fn tags(self) -> Array<Int> {
        match self { Tree::List(xs) => xs, Tree::Named { tags, .. } => tags, _ => [] }
    }
}
impl Scope {
    fn own(self) -> Array<Int> { self.tags }
}
impl Hedge {
    fn grow(mut self) { self.tags.push(7); }
}
impl Fence {
    fn reset(mut self) { self = Fence { tags: [], next: None }; }
}
fn same<T>(x: T) -> T { x }
fn twice(t: Tree) -> Tree { Tree::Kids([t, t]) }
fn scopes(s: Scope) -> (Scope, Scope) { (s, s) }
fn bushes(b: Bush) -> Bush { Bush { tags: b.tags, kids: [b, b] } }
fn hedges(b: Hedge) -> Hedge { Hedge { tags: b.tags, kids: [b, b] } }
fn fences(f: Fence) -> Array<Fence> { [f, f] }
fn both(s: Scope) -> (Scope, Array<Int>) { (s, s.tags) }
fn boxed(s: Scope) -> Box<Array<Int>> { Box { value: s.tags } }
fn opened(Scope { tags, .. }: Scope) -> Array<Int> { tags }
fn shown(t: Tagged) -> Array<Int> { t.all() }
fn any_tags(a: Any) -> Array<Int> { a.tags }
fn tried(s: Scope) -> Result<Array<Int>, String> { let xs = Some(s.tags).ok_or("no")?; Ok(xs) }
fn listed(xs: Array<Int>) -> Tree { Tree::List(xs) }
fn scoped(tags: Array<Int>) -> Scope { Scope { tags, names: {"x": Tree::List(tags)}, outer: None } }
"""
OUT = (
    "s.tags",
    "s.own()",
    "s.all()",
    "same(s).tags",
    "same(s.tags)",
    "scopes(s).0.tags",
    "both(s).1",
    "boxed(s).value",
    "boxed(s).get()",
    "opened(s)",
    "shown(s)",
    "any_tags(s)",
    "tried(s).unwrap()",
    '(s.names.get("x") ?? Tree::Leaf(1)).tags()',
    'match s.names.get("x") { Some(Tree::List(xs)) => xs, _ => [] }',
    "match s { Scope { tags, .. } => tags }",
    "{ let a: Any = s; let xs: Array<Int> = a.tags; xs }",
    "{ let q = s; let z = q.tags; z }",
    "{ let Scope { tags: q, .. } = s; q }",
    "[s].map(|each| each.tags)[0]",
    "[s].map(|Scope { tags, .. }| tags)[0]",
    "[s].fold([0], |sum, Scope { tags, .. }| tags)",
    "[s].iter().map(|each| each.tags).collect()[0]",
    "[9].fold(s, |Scope { mut tags, names, outer }, n| { tags.push(n); Scope { tags, names, outer } }).tags",
    "Some(s).map(|each| each.tags) ?? []",
    "[scopes(s)].map(|(one, _)| one.tags)[0]",
    "{ let f = || s.tags; f() }",
    "twice(Tree::Named { tags: s.tags, kid: Tree::Leaf(1) }).tags().concat(s.tags)",
)
IN = (
    "Tree::List(xs)",
    "Tree::Named { tags: xs, kid: Tree::List(xs) }",
    "listed(xs)",
    "xs |> Tree::List",
    "[xs].map(|each| Tree::List(each))",
    "[xs].map(Tree::List)",
    "[xs].map(listed)",
    "[[xs]].flatten().map(|each| twice(Tree::List(each)))",
    "scoped(xs)",
    "Scope { tags: xs, ..scoped([0]) }",
    "Some(scoped(xs))",
    "scopes(scoped(xs))",
    "bushes(Bush { tags: xs, kids: [] })",
    "if xs.len() > 0 { Tree::List(xs) } else { Tree::Leaf(1) }",
    "{ let inner = xs; Tree::List(inner) }",
    "{ let f = || Tree::List(xs); f() }",
)


@pytest.fixture(autouse=True, params=(True, False))
def tried(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[TypeSymbol]]:
    """What was taken for immutable, be it for the better or not where the parameter says so."""
    if request.param:
        monkeypatch.setattr(ownership, "_is_better", lambda new, old, trees: True)
    found: list[TypeSymbol] = []
    inner = immutable.immutable_types

    def note(*given: object) -> tuple[frozenset[TypeSymbol], frozenset[TypeSymbol]]:
        given_up = inner(*given)  # type: ignore[arg-type]
        found.extend(given_up[0])
        return given_up

    monkeypatch.setattr(ownership, "immutable_types", note)
    yield found


def test_what_is_taken_out_is_ones_own(tried: list[TypeSymbol]) -> None:
    functions, calls = [], []
    for number, out in enumerate(OUT):
        functions.append(
            f"fn given{number}(s: Scope) -> Array<Int> {{ {out} }}"
            f"fn changed{number}(s: Scope) -> Array<Int> {{ let mut xs = {out}; xs.push(5); xs }}"
        )
        calls.append(
            f'{{ let s = start; let mut xs = {out}; xs.push(4); println("{number} ${{xs}} ${{s}}"); }}'
            f"{{ let s = scoped([8]); let kept = s; let mut xs = {out}; xs.push(4); println(kept); }}"
            f'{{ let mut xs = given{number}(start); xs.push(6); println("${{xs}} ${{start}}"); }}'
            f'{{ let xs = changed{number}(start); println("${{xs}} ${{start}}"); }}'
            f"{{ let f = |s: Scope| -> Array<Int> {{ {out} }};"
            f' let mut xs = f(start); xs.push(7); println("${{xs}} ${{start}}"); }}'
        )
    start = 'let start = Scope { tags: [1, 2], names: {"x": Tree::List([3])}, outer: None };'
    text = f"{TYPES}{' '.join(functions)}\nfn main() {{ {start} {' '.join(calls)} }}"
    assert agree(found := outcomes({"main.conc": text})), found
    assert {"Tree", "Scope"} <= {each.name for each in tried}


def test_a_copy_of_what_holds_them_shares_them(tried: list[TypeSymbol]) -> None:
    calls = [
        f"{{ let mut other = room; other.count += 1; let s = other.scope; let mut xs = {out}; xs.push(4);"
        f" let mut third = other; third.trees.push(Tree::List(xs)); xs.push(5); third.scope.outer = Some(s);"
        f" other.trees[0] = Tree::List(xs); xs.push(6);"
        f' println("{number} ${{room}} ${{other}} ${{third}}"); }}'
        for number, out in enumerate(OUT)
    ]
    room = (
        'let room = Room { scope: Scope { tags: [1], names: {"x": Tree::List([3])}, outer: None },'
        " trees: [Tree::List([2])], count: 0 };"
    )
    text = f"{TYPES}\nfn main() {{ {room} {' '.join(calls)} }}"
    assert agree(found := outcomes({"main.conc": text})), found
    assert {"Tree"} <= {each.name for each in tried}


def test_what_is_put_in_is_given_up(tried: list[TypeSymbol]) -> None:
    calls = []
    for number, put in enumerate(IN):
        calls.append(
            f"{{ let mut xs = [1]; let made = {put}; let other = made; xs.push(2);"
            f' println("{number} ${{other}} ${{xs}}"); }}'
            f"{{ let mut xs = [1]; let f = |xs: Array<Int>| {put}; let made = f(xs); xs.push(2);"
            f' println("${{made}} ${{xs}}"); }}'
            f"{{ let mut xs = [1]; let mut all = []; for n in 0..2 {{ all.push({put}); xs.push(n); }}"
            f' println("${{all}} ${{xs}}"); }}'
        )
    text = f"{TYPES}\nfn main() {{ {' '.join(calls)} }}"
    assert agree(found := outcomes({"main.conc": text})), found
    names = {each.name for each in tried}
    assert "Bush" in names and "Tree" not in names, (
        "its constructor is given away, where nobody sees the parts"
    )


def test_what_is_changed_in_place_is_not_immutable(tried: list[TypeSymbol]) -> None:
    text = f"""{TYPES}
fn main() {{
    let mut b = bushes(Bush {{ tags: [1], kids: [] }});
    b.kids[0].tags.push(2);
    let mut h = hedges(Hedge {{ tags: [1], kids: [] }});
    h.kids[0].grow();
    let fence = Fence {{ tags: [1], next: None }};
    let mut f = fences(fence)[0];
    let g = f;
    f.reset();
    println("${{b}} ${{h}} ${{f}} ${{g}} ${{fence}}");
    println(twice(Tree::List([1])));
}}
"""
    assert agree(found := outcomes({"main.conc": text})), found
    assert {each.name for each in tried} <= {"Tree", "Scope"}


def test_an_any_that_is_changed_may_be_of_any_type(tried: list[TypeSymbol]) -> None:
    text = f"""{TYPES}
fn main() {{
    let b = bushes(Bush {{ tags: [1], kids: [] }});
    let mut a: Any = b;
    a.kids[0].tags.push(2);
    println("${{a}} ${{b}}");
}}
"""
    assert agree(found := outcomes({"main.conc": text})), found
    assert tried == []


@pytest.mark.parametrize("tried", [False], indirect=True)
def test_trees_are_not_copied(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(
        """
enum Tree { Leaf(Int), Kids(Array<Tree>) }
fn twice(t: Tree) -> Tree { Tree::Kids([t, t]) }
fn sorted(t: Tree) -> Tree {
    match t {
        Tree::Kids(kids) => Tree::Kids(kids.map(sorted)),
        other => other,
    }
}
fn main() { println(sorted(twice(Tree::Leaf(1)))); }
"""
    )
    code = [instr[0] for each in compile_file(tmp_path / "main.conc").module.functions for instr in each.code]
    assert not [name for name in code if name.startswith("COPY")]


@pytest.mark.parametrize("tried", [False], indirect=True)
def test_what_holds_trees_is_copied_without_them(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(
        """
enum Tree { Leaf(Int), Kids(Array<Tree>) }
struct Scope { names: Map<String, Tree>, depth: Int }
fn deeper(s: Scope) -> Scope {
    let mut inner = s;
    inner.depth += 1;
    inner.names["y"] = Tree::Leaf(2);
    inner
}
fn main() {
    let s = Scope { names: {"x": Tree::Kids([])}, depth: 0 };
    println("${deeper(s)} ${deeper(s)}");
}
"""
    )
    types = compile_file(tmp_path / "main.conc").module.types
    assert {each.name for each in types if each.immutable} == {"Tree"}


@pytest.mark.parametrize("tried", [False], indirect=True)
def test_what_is_only_added_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(
        """
struct Entry { at: Int, tags: Array<Int> }
struct Book { entries: Array<Entry>, total: Int }
impl Book {
    fn add(mut self, entry: Entry) -> Bool {
        let saved = self;
        self.entries.push(entry);
        self.total += entry.at;
        if self.total > 3 { self = saved; return false; }
        true
    }
}
fn main() {
    let mut book = Book { entries: [], total: 0 };
    println("${book.add(Entry { at: 2, tags: [1] })} ${book.add(Entry { at: 2, tags: [] })} ${book}");
}
"""
    )
    types = compile_file(tmp_path / "main.conc").module.types
    assert {each.name for each in types if each.immutable} == {"Entry"}


@pytest.mark.parametrize("tried", [False], indirect=True)
def test_a_collection_is_copied_rather_than_trees(tmp_path: Path) -> None:
    """One function takes the map out of a tree and changes it: it copies the map, nobody else anything."""
    (tmp_path / "main.conc").write_text(
        """
enum Json { Null, Object(Map<String, Json>) }
fn merge(base: Json, over: Json) -> Json {
    match (base, over) {
        (Json::Object(left), Json::Object(right)) => {
            let mut merged = left;
            for (key, value) in right {
                match left.get(key) {
                    Some(known) => { merged[key] = merge(known, value); }
                    None => { merged[key] = value; }
                }
            }
            Json::Object(merged)
        }
        (left, Json::Null) => left,
        (_, right) => right,
    }
}
fn with(json: Json, key: String, value: Json) -> Json {
    let mut fields: Map<String, Json> = match json { Json::Object(fields) => fields, _ => {} };
    fields[key] = value;
    Json::Object(fields)
}
fn main() {
    let one = with(Json::Null, "a", Json::Object({"b": Json::Null}));
    let two = with(one, "c", one);
    println("${merge(one, two)} ${merge(two, one)} ${one} ${two}");
}
"""
    )
    functions = compile_file(tmp_path / "main.conc").module.functions
    copies = [(each.name, instr[0]) for each in functions for instr in each.code if "COPY" in instr[0]]
    assert copies == [("merge", "COPY_ARRAY"), ("with", "COPY_ARRAY")]
    files = {"main.conc": (tmp_path / "main.conc").read_text()}
    assert agree(found := outcomes(files)), found
