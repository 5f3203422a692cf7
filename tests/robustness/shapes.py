# ruff: noqa: E501
"""Every construct of the language many times: nested in itself, beside itself, each made of the one before.

In a template `%` is where the next one stands (or, in a list of declarations, the number of the one before)
and `#` is its own number. Keys are the classes of the syntax tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

Make: TypeAlias = Callable[[int], str]

WORLD = {
    "P": "struct P { a: Int, b: Int }",
    "Q": "struct Q<T> { a: T }",
    "Both": "struct Both<A, B> { a: A, b: B }",
    "Show": "trait Show { fn show(self) -> Int; } impl Show for Int { fn show(self) -> Int { self } }",
    "Q: Show": "impl<T: Show> Show for Q<T> { fn show(self) -> Int { self.a.show() } }",
    "Both: Show": "impl<A: Show, B: Show> Show for Both<A, B> { fn show(self) -> Int { self.a.show() + self.b.show() } }",
    "id": "fn id(n: Int) -> Int { n }",
    "same": "fn same<T>(x: T) -> T { x }",
    "show": "fn show<T: Show>(x: T) -> Int { x.show() }",
    "ok": "fn ok(n: Int) -> Result<Int, String> { Ok(n) }",
    "local": 'connect local { provider: "mock", default_model: "small" }',
    "Ask": 'agent Ask { provider: local, model: "small" }',
    "H": "host H { connector: worker }",
}
"""What shapes use, by its names."""

MANIFEST = '[hosts.worker]\ncommand = "worker"\n'

FOLD = "[1].fold([0], |a#, y#| { let mut b# = a#; b#.push(y# + %); b# }).len()"

EXPRESSIONS = {
    "IntLit": "(1 + %)",
    "FloatLit": "((1.5 as Int) + %)",
    "StringLit": '("a#".len() + %)',
    "BoolLit": "(if true { % } else { 0 })",
    "NilLit": "{ let _n = nil; % }",
    "Interpolation": '"a ${%} b".len()',
    "Formatted": '"a ${%:>4} b".len()',
    "Path": "(x0 + %)",
    "Unary": "-(%)",
    "Binary": "(% * 2 - 1)",
    "Pipe": "(% |> id)",
    "RangeExpr": "(0..%).len()",
    "Assign": "{ let mut v = 1; v = %; v }",
    "Cast": "((%) as Float as Int)",
    "Call": "id(%)",
    "MethodCall": "(%).abs()",
    "FieldAccess": "(%, 1).0",
    "Index": "[1, %][0]",
    "Try": "ok(%)?",
    "Await": "(await id(%))",
    "AwaitAll": "(await (id(%), id(1))).0",
    "Race": "(race (id(%), id(1)))",
    "Spawn": "(spawn id(%)).await",
    "ParallelFor": "(parallel for p in [%] { p }).len()",
    "ArrayLit": "[%].len()",
    "TupleLit": "(%, 2).1",
    "MapLit": '({a: %})["a"]',
    "StructLit": "P { a: %, b: 1 }.a",
    "Block": "{ let y = %; y }",
    "If": "(if x0 == % { 1 } else if x0 == 2 { 3 } else { 4 })",
    "LetCondition": "(if let 1 = % && let y = x0 { y } else { 2 })",
    "Match": "(match % { 1 => 2, n => n })",
    "While": "{ let mut i = 0; while i < 1 { i += %; } i }",
    "Loop": "(loop { break %; })",
    "For": "{ let mut s = [1]; for i in 0..2 { s.push(i + %); } s.len() }",
    "TryCatch": "(try { % } catch String(e) { e.len() } catch { 2 })",
    "Return": "{ if x0 > 3 { return Ok(%); } 1 }",
    "Break": "{ for i in 0..1 { if i > % { break; } } 1 }",
    "Continue": "{ for i in 0..1 { if i > % { continue; } } 1 }",
    "Throw": '(if x0 > 9 { throw "a" } else { % })',
    "Closure": "(|y: Int| y + %)(1)",
    "Listen": '{ let _ = listen H.execute("${%}") { "q" => |q: Int| { q }, }; 1 }',
}
"""Each makes an Int of an Int."""

STATEMENTS = {
    "Let": "let n# = { % 1 }; let _ = n#;",
    "ExprStmt": "if x0 > # { % }",
    "ItemStmt": "fn f#() { let x0 = 1; print(x0); % } f#();",
    "Mock": 'mock Ask { response: "#" } %',
}

PATTERNS = {
    "WildcardPattern": ("(_, %)", "(1, %)"),
    "BindPattern": ("(n#, %)", "(1, %)"),
    "LiteralPattern": ("(#, %)", "(1, %)"),
    "RangePattern": ("(#..=99, %)", "(1, %)"),
    "TuplePattern": ("(%, #)", "(%, 1)"),
    "ArrayPattern": ("[%, ..]", "[%]"),
    "StructPattern": ("Q { a: %, .. }", "(Q { a: % })"),
    "VariantPattern": ("Some(%)", "Some(%)"),
    "OrPattern": ("(# | 1000, %)", "(1, %)"),
}
"""A pattern and a value of its type."""

TYPES = {
    "PathType": "Array<%>",
    "TupleType": "(%, Int)",
    "FnType": "fn(%) -> Int",
    "UnionType": '(%, "a#" | "b")',
}

ITEMS = {
    "FnDecl": "fn f#(n: Int, m: Int = 1) -> Int { n + m }",
    "StructDecl": "struct S# { a: Int, b: String }",
    "SchemaDecl": "schema S# { a: Int, b?: String }",
    "EnumDecl": "enum E# { A, B(Int), C { x: Int } }",
    "TraitDecl": "trait T# { fn t#(self) -> Int; fn u#(self) -> Int { self.t#() } }",
    "ImplDecl": "struct I# {} impl I# { fn m(self) -> Int { # } } impl Show for I# { fn show(self) -> Int { 1 } }",
    "ConstDecl": "const C#: Int = #;",
    "TypeAliasDecl": "type A#<T> = Array<T>;",
    "UseDecl": "use self::m#::f as g#; mod m# { pub fn f() {} }",
    "ModDecl": "mod m# { pub fn f() -> Int { # } }",
    "ToolDecl": 'tool T# { description: "t", n: Int = 1, @describe("d") @param("a", "b") pub fn f(self, a: Int) -> Int { a } }',
    "McpDecl": 'mcp M# { transport: "stdio", command: "c", @describe("d") fn f() -> Int; }',
    "AgentDecl": 'agent G# { provider: local, model: "small", temperature: 0.2 }',
    "ConnectDecl": 'connect c# { provider: "mock", default_model: "small" }',
    "PipelineDecl": "pipeline L#(a: Int) -> Int { stage b(a: Int) -> Int { a } stage c(a: Int) -> Int { a } }",
    "StateDecl": "hashmap h#: HashMap<String, Int> = HashMap::new();",
}  # fmt: skip

CHAINS = {
    "FnDecl": ("fn f0() -> Int { 1 }", "fn f#() -> Int { f%() + f%() }"),
    "FnDecl that changes": (
        "fn f0(a: Array<Int>) -> Array<Int> { a }",
        "fn f#(a: Array<Int>) -> Array<Int> { let mut b = f%(a); b.push(#); b }",
    ),
    "StructDecl": ("struct S0 {}", "struct S# { a: S%, b: Array<S%> }"),
    "StructDecl with parameters": ("struct S0<T> { a: T }", "struct S#<T> { a: S%<T>, b: S%<Array<T>> }"),
    "SchemaDecl": ("schema S0 { a: Int }", "schema S# { a: S%, b?: S% }"),
    "EnumDecl": ("enum E0 { A }", "enum E# { A(E%), B(E%) } fn f#(e: E#) -> Int { match e { E#::A(_) => 1, _ => 2 } }"),
    "ImplDecl": ("struct S0 {} impl From<Int> for S0 { fn from(n: Int) -> S0 { S0 {} } }",
                 "struct S# {} impl From<S%> for S# { fn from(n: S%) -> S# { S# {} } }"),
    "ConstDecl": ("const C0: Int = 1;", "const C#: Int = C% + C%;"),
    "TypeAliasDecl": ("type A0 = Int;", "type A# = (A%, A%);"),
    "TypeAliasDecl with parameters": ("type A0<T> = Array<T>;", "type A#<T> = (A%<T>, A%<T>);"),
    "TypeAliasDecl with parameters used": ("type A0<T> = Array<T>;", "type A#<T> = (A%<T>, Int, A%<T>); fn f#(a: A#<Int>) {}"),
    "TypeAliasDecl with arguments": ("type A0<T> = Array<T>;", "type A#<T> = A%<(T, T)>;"),
    "UseDecl": ("mod m0 { pub fn f() {} }", "mod m# { pub use super::m%::f; }"),
    "UseDecl of all": ("mod m0 { pub fn f() {} }", "mod m# { pub use super::m%::*; pub fn f#() {} }"),
}  # fmt: skip
"""Where a chain starts and its links."""

LISTS = {
    "arguments": ("fn f(", "a#: Int, ", ") {} fn g() { f(", "a#: #, ", "); }"),
    "fields": ("struct S { ", "a#: Int, ", "} fn f(s: S) { ", "print(s.a#); ", "}"),
    "fields given": ("struct S { ", "a#: Int, ", "} fn f() -> S { S { ", "a#: #, ", "} }"),
    "fields matched": ("struct S { ", "a#: Int, ", "} fn f(s: S) { let S { ", "a#: _, ", "} = s; }"),
    "fields assigned": ("struct S { ", "a#: Int, ", "} fn f(s: S) { let mut s = s; ", "s.a# = 1; ", "print(s.a0); }"),
    "variants matched": ("enum E { ", "V#(Int), ", "} fn f(e: E) -> Int { match e { ", "E::V#(n) => n, ", "} }"),
    "variants made": ("enum E { ", "V#(Int), ", "} fn f() { ", "E::V#(1); ", "}"),
    "methods": ("struct S {} impl S { ", "fn m#(self) -> Int { # } ", "} fn f(s: S) { ", "s.m#(); ", "}"),
    "trait": ("struct S {} trait T { ", "fn m#(self) -> Int; ", "} impl T for S { ", "fn m#(self) -> Int { # } ", "}"),
    "trait used": ("trait T { ", "fn m#(self) -> Int; ", "} fn f<X: T>(x: X) { ", "x.m#(); ", "}"),
    "From": ("struct S {} ", "struct A# {} impl From<A#> for S { fn from(a: A#) -> S { S {} } } ",
             "fn f() { ", "S::from(A# {}); ", "}"),
    "From of errors": ("struct S {} ", "struct A# {} impl From<A#> for S { fn from(a: A#) -> S { S {} } } ",
                       "fn f() -> Result<Int, S> { ", "Err(A# {})?; ", "Ok(1) }"),
    "one trait, by bound": ("", "struct A# {} impl Show for A# { fn show(self) -> Int { 1 } } ", "fn f() { ", "show(A# {}); ", "}"),
    "one trait with arguments": ("trait Be<T> { fn be(self, t: T) -> Int; } ", "struct A# {} impl Be<A#> for Int { fn be(self, t: A#) -> Int { 1 } } ",
                                 "fn f() { ", "1.be(A# {}); ", "}"),
    "traits of one type": ("struct S {} ", "trait T# { fn t(self) -> Int; } impl T# for S { fn t(self) -> Int { 1 } } ",
                           "fn f(s: S) { ", "T#::t(s); ", "}"),
    "impls by argument": ("", "struct A# {} impl Q<A#> { fn q(self) -> Int { 1 } } ", "fn f() { ", "Q { a: A# {} }.q(); ", "}"),
    "structs of each other": ("struct A0 { a: Array<A1>, b: Option<Int> } ", "struct A# { a: Array<A1>, b: Option<A%> } ", "fn f() { ", "A# { a: [], b: None }; ", "}"),
    "ranges matched": ("", "", "fn f(x: Int) -> Int { match x { ", "#0..=#8 => #, ", "_ => 0 } }"),
    "generics": ("fn f<", "T#, ", "X>(", "t#: T#, ", "x: X) {}"),
    "bounds": ("", "trait T# { fn t#(self) -> Int; } ", "fn f<T: Show", " + T#", ">(t: T) -> Int { t.show() }"),
    "map": ("fn f() { let m = {", '"k#": #, ', "}; ", 'm["k#"]; ', "}"),
    "tuple": ("fn f() { let t = (", "#, ", "0); ", "print(t.#); ", "}"),
    "pieces": ('fn f(x: Int) -> String { """', "${x} a ", '""" + """', "${x}", '""" }'),
    "parameters of a closure": ("fn f() { (|", "a#, ", "b: Int| b)(", "#, ", "1); }"),
    "at once": ("fn f() { await (", "id(#), ", "1); race (", "id(#), ", "id(1)); }"),
    "captured": ("fn f() { ", "let a# = [#]; ", "let g = || { ", "print(a#); ", "}; g(); }"),
    "literals of a type": ("type L = ", '"a#" | ', '"b"; fn f() { ', 'let x: L = "a#"; print(x); ', "}"),
    "literals matched": ("type L = ", '"a#" | ', '"b"; fn f(x: L) -> Int { match x { ', '"a#" => #, ', '"b" => 1 } }'),
    "guards among numbers": ("", "", "fn f(x: Int, y: Int) -> Int { match x { ", "# => #, _ if y > # => 1, ", "_ => 0 } }"),
    "guards among variants": ("enum E { ", "V#(Int), ", "} fn f(e: E, y: Int) -> Int { match e { ", "E::V#(_) => #, _ if y > # => 1, ", "} }"),
    "uses": ("mod m { ", "pub fn f#() {} ", "} use self::m::{", "f#, ", "};"),
    "members": ('tool T { description: "d", ', "state#: Int = 1, ", "", '@describe("d") pub fn f#(self) -> Int { 1 } ', "}"),
    "stages": ("pipeline L(a: Int) -> Int { ", "stage s#(a: Int) -> Int { a } ", "} fn f() { ", "print(#); ", "}"),
    "listening": ('fn f() { let _ = listen H.execute("a") { ', '"k#" => |q: Int| { q }, ', "}; ", "id(#); ", "}"),
    "catches": ("fn f() -> Int { try { ", "ok(#)?; ", "1 } ", "catch String(e#) { e#.len() } ", "catch { 2 } }"),
    "defaults": ("fn f(", "a#: Int = #, ", ") {} ", "fn g#(n: Int = #) {} fn h#() { g#(); }", " fn g() { f(); }"),
    "changes in a loop": ("fn f() { ", "let mut a# = [1]; ", "for i in 0..3 { ", "let b# = a#; a#.push(i); print(b#); ", "} }"),
    "not given a value": ("fn f(c: Bool) { ", "let x#: Int; ", "", "if c { x# = 1; } else { x# = 2; } print(x#); ", "}"),
}  # fmt: skip
"""Between three texts, two that stand many times each."""

VALUES = {
    "tuple": "(x%, x%)",
    "array": "[x%, x%]",
    "closure": "|y: Int| (x%, x%)",
    "given": "same((x%, x%))",
    "map": '{"a": x%, "b": x%}',
    "match": "match 1 { 1 => (x%, x%), _ => (x%, x%) }",
    "call of a closure": "(|y| (y, y))(x%)",
    "method": "[x%].map(|y| (y, y))",
}
"""Each is of a type that has that of the one before twice."""


def shapes() -> Iterator[tuple[str, Make]]:
    """All shapes: a name, which starts with a class of the syntax tree or a kind, and what makes a program of
    a size."""
    for name, one in EXPRESSIONS.items():
        yield f"{name} nested", around("let x = ", deep(one, "1"), "; print(x);")
        yield f"{name} beside", around("", many(f"print({one.replace('%', '#')});"), "")
        yield f"{name} chained", around("", many(f"let x# = {one.replace('%', 'x%')};"), "")
    for name, one in STATEMENTS.items():
        yield f"{name} nested", around("", deep(one, ""), "", test=True)
        yield f"{name} beside", around("", many(one.replace("%", "")), "", test=True)
    for name, (one, value) in PATTERNS.items():
        yield f"{name} nested", matching(deep(value, "1"), deep(one, "1"), " => {},")
        yield f"{name} beside", matching(deep(value, "1", 1), many(one.replace("%", "#") + " => {},"), "")
    for name, one in TYPES.items():
        yield f"{name} nested", parted("fn f(a: ", deep(one, "Int"), ") {}")
        yield f"{name} beside", parted("fn f(", many(f"a#: {one.replace('%', 'Int')},"), ") {}")
    for name, one in ITEMS.items():
        yield f"{name} beside", many(one)
    yield "Closure of a fold nested", around("let x = ", deep(FOLD, "1"), "; print(x);")
    yield "ModDecl nested", deep("pub mod m# { pub fn f() -> Int { 1 } % }", "")
    for name, (start, one) in CHAINS.items():
        yield f"{name} chained", parted(start, many(one), "")
    before_use = many("fn f%() -> Int { f#() + f#() }")
    yield "FnDecl before what it calls chained", lambda n: f"{before_use(n)} fn f{n - 1}() -> Int {{ 1 }}"
    for name, (before, first, between, second, after) in LISTS.items():
        yield f"list of {name}", parted(before, many(first), between, many(second), after)
    for name, one in VALUES.items():
        for start in ("1", "[]"):
            yield f"doubled {name} of {start}", around(f"let x0 = {start};", many(f"let x# = {one};"), "")
    witnesses = many("let x# = Both { a: x%, b: x% };")
    yield "doubled witness", around("let x0 = 1;", lambda n: f"{witnesses(n)} show(x{n - 1});", "")
    equal = many("let x# = (x%, x%); let y# = (y%, y%); if # > 5 { [x#, y#]; }")
    yield "doubled equal", around("let x0 = []; let y0 = [];", equal, "")
    wider = many("let x# = (x%, x%); let y#: (Y%, Y%) = x#; type Y# = (Y%, Y%);")
    yield "doubled wider", parted("type Y0 = Array<Any>;", around("let x0 = [1];", wider, ""))


def program(make: Make, size: int) -> str:
    """A program of a shape, with as much of the world as it uses."""
    text = make(size)
    used: list[str] = []
    for name, declaration in reversed(WORLD.items()):
        words = set(re.findall(r"\w+", " ".join([text, *used])))
        if words.issuperset(re.findall(r"\w+", name)):
            used.append(declaration)
    return "\n".join([*reversed(used), text, "fn main() {}\n"])


def many(one: str) -> Make:
    return lambda n: repeated(one, n)


def deep(one: str, innermost: str, levels: int = 0) -> Make:
    return lambda n: nested(one, levels or n, innermost)


def parted(*parts: str | Make) -> Make:
    return lambda n: "".join(part if isinstance(part, str) else part(n) for part in parts)


def around(before: str, statements: Make, after: str, *, test: bool = False) -> Make:
    return lambda n: function(before + statements(n) + after, "@test " if test else "")


def matching(value: Make, arms: Make, after: str) -> Make:
    return lambda n: function(f"match {value(n)} {{ {arms(n)}{after} _ => {{}} }}")


def function(statements: str, before: str = "") -> str:
    return f"{before}fn f() -> Result<Int, String> {{ let x0 = 1;\n{statements}\nOk(1) }}\n"


def repeated(one: str, count: int) -> str:
    """Numbered from 1 where they need one before, from 0 where they do not."""
    first = 1 if "%" in one else 0
    return "\n".join(one.replace("#", str(n)).replace("%", str(n - 1)) for n in range(first, count))


def nested(one: str, count: int, innermost: str) -> str:
    before, after = one.split("%")
    return (
        "".join(before.replace("#", str(n)) for n in range(count))
        + innermost
        + "".join(after.replace("#", str(n)) for n in reversed(range(count)))
    )
