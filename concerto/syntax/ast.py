"""The abstract syntax tree: one class per construct, the parser's output and everyone's input.

Nodes are values: nobody changes one after the parser made it, but `concerto.language_server.splice`.
They compare by identity, so that passes can keep what they learn in side tables keyed by node. `start` and
`end` are offsets in the module's `Source`, exact to the token. Names are `Ident`s, so that a message can
point at the name alone.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from concerto.records import field, record
from concerto.source import Source


@record(eq=False)
class Node:
    start: int
    end: int


@record(eq=False)
class Ident(Node):
    text: str


# --- Types ------------------------------------------------------------------------------------


@record(eq=False)
class PathType(Node):
    """`Int`, `Array<T>`, `models::User`."""

    segments: list[Ident]
    arguments: list[TypeExpr]


@record(eq=False)
class TupleType(Node):
    items: list[TypeExpr]


@record(eq=False)
class FnType(Node):
    """`fn(A, B) -> R`; no `->` means Nil."""

    parameters: list[TypeExpr]
    result: TypeExpr | None


@record(eq=False)
class UnionType(Node):
    """Literal union: `"a" | "b"`; a single literal is a union of one."""

    literals: list[Expr]  # StringLit, IntLit (also Unary "-"), BoolLit, NilLit


TypeExpr: TypeAlias = PathType | TupleType | FnType | UnionType


@record(eq=False)
class GenericParam(Node):
    name: Ident
    bounds: list[PathType]


# --- Expressions ------------------------------------------------------------------------------


@record(eq=False)
class IntLit(Node):
    value: int


@record(eq=False)
class FloatLit(Node):
    value: float


@record(eq=False)
class StringLit(Node):
    """A string without interpolation, escapes already resolved."""

    value: str


@record(eq=False)
class BoolLit(Node):
    value: bool


@record(eq=False)
class NilLit(Node):
    pass


@record(eq=False)
class Interpolation(Node):
    """`"a ${x} b"`: text pieces and expressions in order, no two texts adjacent."""

    parts: list[str | Expr]


@record(eq=False)
class Formatted(Node):
    """`price:.2`, only as a part of an Interpolation."""

    value: Expr
    format: str


@record(eq=False)
class PathSegment(Node):
    name: Ident
    arguments: list[TypeExpr]


@record(eq=False)
class Path(Node):
    """A name in an expression: `x`, `Shape::Circle`, `parse_schema<User>`, `Box<Int>::new`, `self`."""

    segments: list[PathSegment]

    @property
    def name(self) -> str:
        """The path as text without type arguments."""
        return "::".join(segment.name.text for segment in self.segments)


UnaryOp: TypeAlias = Literal["-", "!"]
BinaryOp: TypeAlias = Literal[
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
    "??",
    "&",
    "|",
    "^",
    "<<",
    ">>",
]
AssignOp: TypeAlias = Literal["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="]


@record(eq=False)
class Unary(Node):
    op: UnaryOp
    operand: Expr


@record(eq=False)
class Binary(Node):
    """`op_start` is the offset of the operator, for messages. Chains lean left (`**` right)."""

    op: BinaryOp
    left: Expr
    right: Expr
    op_start: int


@record(eq=False)
class Pipe(Node):
    """`value |> target`. `target` is as written: a Path, a Call, a MethodCall, or one of these under
    `Try`/`Await`; the value becomes the first argument of the last call (section 26.6)."""

    value: Expr
    target: Expr


@record(eq=False)
class RangeExpr(Node):
    """`a..b`, `a..=b`; `low` or `high` is None only inside an index: `a[..n]`, `a[n..]`, `a[..]`."""

    low: Expr | None
    high: Expr | None
    inclusive: bool


@record(eq=False)
class Assign(Node):
    op: AssignOp
    target: Expr  # Path, Field, Index; anything else was reported by the parser
    value: Expr


@record(eq=False)
class Cast(Node):
    operand: Expr
    type: TypeExpr


@record(eq=False)
class Argument(Node):
    name: Ident | None
    value: Expr


@record(eq=False)
class Call(Node):
    """`f(a, b: 2)`, `Type::method(x)`, `(expr)(x)`. Type arguments stand in the callee's Path."""

    callee: Expr
    arguments: list[Argument]


@record(eq=False)
class MethodCall(Node):
    """`receiver.method<T>(a)`. `x.field(a)` is always this; semantics decides what it calls."""

    receiver: Expr
    method: Ident
    type_arguments: list[TypeExpr]
    arguments: list[Argument]


@record(eq=False)
class FieldAccess(Node):
    """`value.name`; a tuple's `t.0` has the digits as name."""

    receiver: Expr
    name: Ident


@record(eq=False)
class Index(Node):
    """`a[i]`; `index` is a RangeExpr for a slice."""

    receiver: Expr
    index: Expr


@record(eq=False)
class Try(Node):
    """`e?`"""

    operand: Expr


@record(eq=False)
class Await(Node):
    """`await e` and `e.await`."""

    operand: Expr


@record(eq=False)
class AwaitAll(Node):
    """`await (a, b)`"""

    items: list[Expr]


@record(eq=False)
class Race(Node):
    """`race (a, b)`"""

    items: list[Expr]


@record(eq=False)
class Spawn(Node):
    operand: Expr


@record(eq=False)
class ParallelFor(Node):
    """`parallel for p in xs, limit: n { … }`"""

    pattern: Pattern
    iterable: Expr
    limit: Expr | None
    body: Block


@record(eq=False)
class ArrayLit(Node):
    items: list[Expr]


@record(eq=False)
class TupleLit(Node):
    items: list[Expr]


@record(eq=False)
class MapEntry(Node):
    key: Expr  # a bare name was turned into StringLit
    value: Expr


@record(eq=False)
class MapLit(Node):
    entries: list[MapEntry]


@record(eq=False)
class FieldInit(Node):
    """`x: e`, or `x` alone (then `value` is None and means the variable `x`)."""

    name: Ident
    value: Expr | None


@record(eq=False)
class StructLit(Node):
    path: Path
    fields: list[FieldInit]
    base: Expr | None


@record(eq=False)
class Block(Node):
    """`result` is the last expression without `;`."""

    statements: list[Stmt]
    result: Expr | None


@record(eq=False)
class If(Node):
    """`if c { } else { }`, `if let p = e { }` (then `pattern` is set and `condition` is `e`). A chain of
    conditions, `let` among them, is a Binary with `&&` and LetConditions."""

    pattern: Pattern | None
    condition: Expr
    then: Block
    otherwise: Expr | None  # Block or If


@record(eq=False)
class LetCondition(Node):
    """`let p = e` in a chain of conditions; its names are known in what follows."""

    pattern: Pattern
    value: Expr


@record(eq=False)
class MatchArm(Node):
    pattern: Pattern
    guard: Expr | None
    body: Expr


@record(eq=False)
class Match(Node):
    subject: Expr
    arms: list[MatchArm]


@record(eq=False)
class While(Node):
    """`while c { }` and `while let p = e { }`."""

    label: Ident | None
    pattern: Pattern | None
    condition: Expr
    body: Block


@record(eq=False)
class Loop(Node):
    label: Ident | None
    body: Block


@record(eq=False)
class For(Node):
    label: Ident | None
    pattern: Pattern
    iterable: Expr
    body: Block


@record(eq=False)
class Catch(Node):
    """`catch AgentError(e) { }`, `catch AgentError { }`, `catch { }`."""

    type: PathType | None
    pattern: Pattern | None
    body: Block


@record(eq=False)
class TryCatch(Node):
    body: Block
    catches: list[Catch]


@record(eq=False)
class Return(Node):
    value: Expr | None


@record(eq=False)
class Break(Node):
    label: Ident | None
    value: Expr | None


@record(eq=False)
class Continue(Node):
    label: Ident | None


@record(eq=False)
class Throw(Node):
    value: Expr


@record(eq=False)
class Closure(Node):
    parameters: list[Parameter]
    result: TypeExpr | None
    body: Expr


@record(eq=False)
class ListenArm(Node):
    """`"question" => |q: Q| { … }`; `key` is None for `_`."""

    key: str | None
    handler: Closure


@record(eq=False)
class Listen(Node):
    """`listen Host.execute(p) { … }`"""

    call: Expr
    arms: list[ListenArm]


@record(eq=False)
class ErrorExpr(Node):
    """What stands where the parser gave up; already reported, type ERROR."""


Expr: TypeAlias = (
    IntLit | FloatLit | StringLit | BoolLit | NilLit | Interpolation | Formatted | Path | Unary | Binary
    | Pipe | RangeExpr | Assign | Cast | Call | MethodCall | FieldAccess | Index | Try | Await | AwaitAll
    | Race | Spawn | ParallelFor | ArrayLit | TupleLit | MapLit | StructLit | Block | If | LetCondition
    | Match
    | While | Loop | For | TryCatch | Return | Break | Continue | Throw | Closure | Listen | ErrorExpr
)  # fmt: skip


# --- Statements -------------------------------------------------------------------------------


@record(eq=False)
class Let(Node):
    """`let p: T = e;`, and `let p = e else { … };`, where `otherwise` leaves if it does not match."""

    pattern: Pattern
    type: TypeExpr | None
    value: Expr | None
    otherwise: Block | None = None


@record(eq=False)
class ExprStmt(Node):
    """An expression for its effect; `semicolon` is False only after a block-like one."""

    expr: Expr
    semicolon: bool


@record(eq=False)
class ItemStmt(Node):
    """`fn struct enum impl trait const type use` inside a block."""

    item: Item


@record(eq=False)
class Mock(Node):
    """`mock Agent { response: … }`, `mock "channel" { reply: … }`."""

    target: Path | StringLit
    fields: list[FieldInit]


Stmt: TypeAlias = Let | ExprStmt | ItemStmt | Mock


# --- Patterns ---------------------------------------------------------------------------------


@record(eq=False)
class WildcardPattern(Node):
    pass


@record(eq=False)
class BindPattern(Node):
    """`n`, `mut n`, `n @ p`. A lone capitalised name that is a variant or const is settled by semantics."""

    name: Ident
    mutable: bool
    pattern: Pattern | None


@record(eq=False)
class LiteralPattern(Node):
    """IntLit, FloatLit, StringLit, BoolLit, NilLit or a negative number as Unary."""

    value: Expr


@record(eq=False)
class RangePattern(Node):
    low: Expr
    high: Expr
    inclusive: bool


@record(eq=False)
class TuplePattern(Node):
    items: list[Pattern]


@record(eq=False)
class RestPattern(Node):
    """`..` or `..name` inside an ArrayPattern."""

    name: Ident | None


@record(eq=False)
class ArrayPattern(Node):
    items: list[Pattern | RestPattern]  # at most one rest


@record(eq=False)
class FieldPattern(Node):
    """`x` (pattern None: binds `x`) or `x: p`."""

    name: Ident
    pattern: Pattern | None


@record(eq=False)
class StructPattern(Node):
    """`Point { x, y: p, .. }`, also a struct-like enum variant."""

    path: Path
    fields: list[FieldPattern]
    rest: bool


@record(eq=False)
class VariantPattern(Node):
    """`Some(p)`, `Shape::Circle(r)`; `Shape::Unit`, `None` or a const, then `arguments` is None."""

    path: Path
    arguments: list[Pattern] | None


@record(eq=False)
class OrPattern(Node):
    alternatives: list[Pattern]


Pattern: TypeAlias = (
    WildcardPattern | BindPattern | LiteralPattern | RangePattern | TuplePattern | ArrayPattern
    | StructPattern | VariantPattern | OrPattern
)  # fmt: skip


# --- Items ------------------------------------------------------------------------------------


@record(eq=False)
class Decorator(Node):
    """`@name` or `@name(args)`."""

    name: Ident
    arguments: list[Argument]


@record(eq=False)
class ItemBase(Node):
    docs: str | None = field(kw_only=True, default=None)
    decorators: list[Decorator] = field(kw_only=True, default_factory=list)
    public: bool = field(kw_only=True, default=False)


@record(eq=False)
class Parameter(Node):
    """A function's or closure's parameter. `self` and `mut self` have the name `self` and no type.
    One that is a pattern (`(x, y): (Int, Int)`) has its text as `name`, in closures none."""

    decorators: list[Decorator]
    name: Ident
    mutable: bool
    type: TypeExpr | None
    default: Expr | None
    pattern: Pattern | None = None


@record(eq=False)
class FnDecl(ItemBase):
    """A function or method; `body` is None where only a signature stands (`fn f() -> T;`)."""

    name: Ident
    generics: list[GenericParam]
    parameters: list[Parameter]
    result: TypeExpr | None
    body: Block | None
    is_async: bool


@record(eq=False)
class FieldDecl(ItemBase):
    """A field of a struct, schema, struct-like variant or tool state. `optional` is `name?: T`."""

    name: Ident
    type: TypeExpr
    default: Expr | None
    optional: bool


@record(eq=False)
class StructDecl(ItemBase):
    """A struct. The fields of a `positional` one, a tuple struct, are named "0", "1", …"""

    name: Ident
    generics: list[GenericParam]
    fields: list[FieldDecl]
    positional: bool = False


@record(eq=False)
class SchemaDecl(ItemBase):
    name: Ident
    generics: list[GenericParam]
    fields: list[FieldDecl]


@record(eq=False)
class VariantDecl(ItemBase):
    """`A` (both None), `B(Int)` (`types`), `C { x: Int }` (`fields`)."""

    name: Ident
    types: list[TypeExpr] | None
    fields: list[FieldDecl] | None


@record(eq=False)
class EnumDecl(ItemBase):
    name: Ident
    generics: list[GenericParam]
    variants: list[VariantDecl]


@record(eq=False)
class TraitDecl(ItemBase):
    name: Ident
    generics: list[GenericParam]
    methods: list[FnDecl]


@record(eq=False)
class ImplDecl(ItemBase):
    """`impl<T> S<T> { }` (`trait` None) or `impl Tr for S { }`. `target` may name an agent."""

    generics: list[GenericParam]
    trait: PathType | None
    target: TypeExpr
    methods: list[FnDecl]
    constants: list[ConstDecl]


@record(eq=False)
class ConstDecl(ItemBase):
    name: Ident
    type: TypeExpr | None
    value: Expr


@record(eq=False)
class TypeAliasDecl(ItemBase):
    name: Ident
    generics: list[GenericParam]
    type: TypeExpr


@record(eq=False)
class UseTree(Node):
    """One leaf of a `use`: the whole path, its alias, or a glob (`a::*`)."""

    path: list[Ident]
    alias: Ident | None
    glob: bool


@record(eq=False)
class UseDecl(ItemBase):
    """`use a::{B, c as d, e::*};` flattened to leaves."""

    trees: list[UseTree]


@record(eq=False)
class ModDecl(ItemBase):
    """`mod m;` (`items` None) or `mod m { … }`."""

    name: Ident
    items: list[Item] | None


@record(eq=False)
class Setting(Node):
    """`name: value` of an agent, host, mcp, connect or tool `description`."""

    name: Ident
    value: Expr


@record(eq=False)
class ToolDecl(ItemBase):
    """`settings` holds `description` (and anything else with a value and no type); `fields` the state."""

    name: Ident
    trait: PathType | None
    settings: list[Setting]
    fields: list[FieldDecl]
    methods: list[FnDecl]


@record(eq=False)
class McpDecl(ItemBase):
    name: Ident
    settings: list[Setting]
    functions: list[FnDecl]


@record(eq=False)
class AgentDecl(ItemBase):
    """`agent X { … }`, `model X { … }` (keyword "model") and `host X { … }` (keyword "host")."""

    keyword: Literal["agent", "model", "host"]
    name: Ident
    settings: list[Setting]


@record(eq=False)
class ConnectDecl(ItemBase):
    name: Ident
    settings: list[Setting]


@record(eq=False)
class StageDecl(ItemBase):
    name: Ident
    parameters: list[Parameter]
    result: TypeExpr | None
    body: Block


@record(eq=False)
class PipelineDecl(ItemBase):
    """`parameters` is None where the signature is left out."""

    name: Ident
    parameters: list[Parameter] | None
    result: TypeExpr | None
    stages: list[StageDecl]


@record(eq=False)
class StateDecl(ItemBase):
    """`hashmap h: HashMap<K, V> = …;`, `ledger …`, `memory …`."""

    keyword: Literal["hashmap", "ledger", "memory"]
    name: Ident
    type: TypeExpr | None
    value: Expr | None


@record(eq=False)
class ErrorItem(ItemBase):
    """What stands where the parser gave up inside an item; already reported."""


Item: TypeAlias = (
    FnDecl | StructDecl | SchemaDecl | EnumDecl | TraitDecl | ImplDecl | ConstDecl | TypeAliasDecl
    | UseDecl | ModDecl | ToolDecl | McpDecl | AgentDecl | ConnectDecl | PipelineDecl | StateDecl
    | ErrorItem
)  # fmt: skip


@record(eq=False)
class Comment(Node):
    """`//` or `/* */` (docs are on the items); kept for the formatter."""

    text: str


@record(eq=False)
class Module(Node):
    source: Source
    items: list[Item]
    comments: list[Comment]
