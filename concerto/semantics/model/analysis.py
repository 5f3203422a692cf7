"""Semantic model: what the checker learnt, in side tables keyed by syntax node: the input of `emit`.

Everything in `types` and the call tables is solved: no `Unsolved` is left (one that nothing fixed is Any, as
in `println([])`; where the type matters at run time that was reported).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Literal, TypeAlias

from concerto.records import field, frozen, record
from concerto.semantics.model.file_records import BodyFacts, FileRecord, Loading
from concerto.semantics.model.symbols import (
    AgentSymbol,
    ConnectionSymbol,
    ConstSymbol,
    EnumSymbol,
    FieldSymbol,
    FunctionSymbol,
    GenericSymbol,
    HostSymbol,
    ImplSymbol,
    LocalSymbol,
    McpSymbol,
    ModuleSymbol,
    ParameterSymbol,
    PipelineSymbol,
    StateSymbol,
    StructSymbol,
    Symbol,
    ToolSymbol,
    TraitSymbol,
    Type,
    TypeSymbol,
    VariantSymbol,
)
from concerto.source import Source
from concerto.syntax import ast

# --- Calls --------------------------------------------------------------------------------------


@frozen
class Default:
    """An argument that was left out: the emitter evaluates the parameter's default at the call."""

    parameter: ParameterSymbol


Given: TypeAlias = ast.Expr | Default
"""Arguments are in the order of the parameters, and are evaluated so. For `x |> f(a)`, `x` is among them."""


@frozen
class FunctionCall:
    """A function with a body. A method's receiver is the first argument; with `mut self` it is a mutable
    place (or a fresh value), to be stored back if the function is `inout`."""

    function: FunctionSymbol
    arguments: list[Given]


@frozen
class NativeCall:
    """A library function; `type_argument` is set for a reified one. `mut self` natives change the receiver in
    place."""

    function: FunctionSymbol
    arguments: list[Given]
    type_argument: Type | None = None


@frozen
class ValueCall:
    """A function value."""

    callee: ast.Expr
    arguments: list[Given]


@frozen
class ConstructorCall:
    """`Shape::Circle(1.0)`, `Meters(3.5)`"""

    made: VariantSymbol | StructSymbol
    arguments: list[Given]


@frozen
class WrapCall:
    """`Some(x)`, `Ok(x)`, `Err(x)`"""

    name: Literal["Some", "Ok", "Err"]
    argument: Given


@frozen
class DynamicCall:
    """A method of an `Any`, found by the run-time type of the receiver (first argument). `mutable`: declared
    `mut self`. `lazy`: it may give an iterator, which goes through its arguments later."""

    name: str
    arguments: list[Given]
    mutable: bool = False
    lazy: bool = False


@frozen
class BoundCall:
    """A trait's function for a type that only the caller's caller may know: an item of the first of the
    call's `Analysis.witnesses`."""

    function: FunctionSymbol
    arguments: list[Given]


@frozen
class ToolMethodCall:
    tool: ToolSymbol
    method: FunctionSymbol
    arguments: list[Given]


@frozen
class McpFunctionCall:
    server: McpSymbol
    function: FunctionSymbol
    arguments: list[Given]


@frozen
class AgentCall:
    """execute, execute_with_schema, chat, stream on an agent or builder (first argument); declared in
    `stdlib/agent.conc`."""

    method: str
    arguments: list[Given]
    type_argument: Type | None = None


@frozen
class PipelineCall:
    pipeline: PipelineSymbol
    arguments: list[Given]


@frozen
class EmitCall:
    """`emit(channel, payload)`; `awaited` when it stands under `await`/`.await` (the Await then adds
    nothing). `answer` is what the answer must be, if that is known."""

    channel: ast.Expr
    payload: ast.Expr
    awaited: bool
    schema: Type | None = None
    answer: Type | None = None


@frozen
class PanicCall:
    message: Given


CallTarget: TypeAlias = (
    FunctionCall | NativeCall | ValueCall | ConstructorCall | WrapCall | DynamicCall | BoundCall
    | ToolMethodCall | McpFunctionCall | AgentCall | PipelineCall | EmitCall | PanicCall
)  # fmt: skip


# --- Witnesses ----------------------------------------------------------------------------------


@frozen
class GivenWitness:
    """What the function around was given for one of its bounds."""

    local: LocalSymbol


@frozen
class InnerWitness:
    """Of a bound on a parameter of a trait: it stands in the trait's witness, behind the methods."""

    outer: Witness
    index: int


@frozen
class WitnessOf:
    """That of an impl, made of those of the impl's own bounds; or that of a tool's trait."""

    owner: ImplSymbol | ToolSymbol
    parts: tuple[Witness, ...] = ()


@frozen
class ValueWitness:
    """That of a trait for itself as a type: each value tells whose methods are meant."""

    trait: TraitSymbol


@frozen
class OperatorWitness:
    """That of an operator's trait for a type that has the operator without an impl."""

    trait: TraitSymbol
    type: Type


Witness: TypeAlias = GivenWitness | InnerWitness | WitnessOf | ValueWitness | OperatorWitness
"""That a type meets a bound: where the methods of the trait for that type are to be found when the program
runs."""


# --- Coercions ----------------------------------------------------------------------------------


@frozen
class Coercion:
    """Applied to the value of an expression, in order. `check` (Any to a type) names its target; `convert` an
    error through `impl From` (user's function, with its witnesses), `native_convert` (built-in From) or
    `to_text` (an error by its message); all name their target. `iterate` makes an `Iterator<T>` of what `for`
    goes through."""

    kind: Literal[
        "int_to_float", "wrap_some", "iterate", "check", "convert", "native_convert", "to_text",
        "function_adapter",
    ]  # fmt: skip
    target: Type | None = None
    function: FunctionSymbol | None = None
    witnesses: tuple[Witness, ...] = ()


# --- Members and patterns -----------------------------------------------------------------------


@frozen
class SlotField:
    """A field of a struct, schema or tool state."""

    field: FieldSymbol


@frozen
class TupleItem:
    index: int


@frozen
class NamedMember:
    """By name at run time: errors, and Any."""

    name: str


FieldTarget: TypeAlias = SlotField | TupleItem | NamedMember


@frozen
class MatchVariant:
    variant: VariantSymbol


@frozen
class MatchBuiltin:
    """Some, None, Ok, Err."""

    name: Literal["Some", "None", "Ok", "Err"]


@frozen
class MatchConst:
    const: ConstSymbol


@frozen
class MatchStruct:
    struct: StructSymbol


@frozen
class MatchBinding:
    local: LocalSymbol


PatternTarget: TypeAlias = MatchVariant | MatchBuiltin | MatchConst | MatchStruct | MatchBinding


# --- The whole ----------------------------------------------------------------------------------


@frozen
class CheckedBody:
    """A body in which later passes have something to look at: its nodes that are a `match`, a block or an
    assignment, or bind by a pattern, and the locals declared without a value."""

    node: ast.Node
    source: Source
    nodes: list[ast.Node]
    deferred: set[LocalSymbol]


@record(eq=False)
class Analysis:
    """`types`: type of every expression before its `coercions`; `pattern_types`: type of the value a pattern
    meets. A short field of a struct literal (`P { x }`) is a key of `uses`, `types` and `coercions` like an
    expression.

    In `x |> f(a)` the Call, MethodCall or (for a bare `x |> f`) the Path is the key of the call, with `x`
    among its arguments (a ValueCall has a Path of its own as callee); `types` has the Pipe, the Path and what
    stands around it, all with the type of the result. `propagations`: how a `?` converts or checks the error
    that it passes on (absent: not at all); its `coercions` are for the value. `thrown_by_loops`: the For
    loops over streams that leave by `throw` where the stream breaks off; `propagations` may say how.
    `raised_by_none`: the `?` of an Any from where None cannot be returned.

    `uses`: what a Path means where it stands for a value; for the path of a StructLit its struct or variant.
    `patterns`: what a BindPattern (binding, unit variant, const), VariantPattern, StructPattern, RestPattern
    or short FieldPattern means. `jumps`: the loop of a Break or Continue (None: there is none, which was
    reported). `captures`: locals a Closure takes in, in order; also of the bodies of `spawn`, `await (…)`,
    `race` (the item expressions) and `parallel for` (the node). `catches`: the error type of a Catch (None:
    all); `uncaught`: what leaves the function because no `catch` of a TryCatch takes it.

    `witnesses`: for a call, or a Path that is a function value, what the function gets for the bounds of its
    generics; `given_witnesses` the locals of a function with its own, `impl_witnesses` those that an
    impl's witness holds besides methods, and the locals for those that it is made of.

    `copies`: expressions (also BindPatterns and short FieldPatterns) whose value must be copied before it
    is kept, the `shallow` ones without its elements, as values of `immutable` types hold nothing that can
    change, nor do those that `plain_generics` stand for; `instantiations` say what the generics of a
    function stand for where it is called; `copied_captures`: (node of the capturing body, local) to copy at
    capture; `grown`: calls that may change their receiver in place of making something new; `put_back`:
    assignments of what is there. `late_places`: assignments and calls whose place is looked up after their
    other parts and its own indices, which may put a new value there. `from_any`: functions that make values
    of type parameters of an `Any`, themselves or by what they call; they do not know these types, so that
    who calls them looks at the values."""

    root: ModuleSymbol
    modules: list[ModuleSymbol] = field(default_factory=list)
    types: dict[ast.Node, Type] = field(default_factory=dict)
    coercions: dict[ast.Node, tuple[Coercion, ...]] = field(default_factory=dict)
    uses: dict[ast.Path | ast.FieldInit, Symbol] = field(default_factory=dict)
    propagations: dict[ast.Expr, Coercion] = field(default_factory=dict)
    thrown_by_loops: set[ast.For] = field(default_factory=set)
    raised_by_none: set[ast.Try] = field(default_factory=set)
    calls: dict[ast.Expr, CallTarget] = field(default_factory=dict)
    fields: dict[ast.Expr, FieldTarget] = field(default_factory=dict)
    patterns: dict[ast.Node, PatternTarget] = field(default_factory=dict)
    pattern_types: dict[ast.Node, Type] = field(default_factory=dict)
    pattern_fields: dict[ast.FieldPattern, FieldSymbol] = field(default_factory=dict)
    jumps: dict[ast.Expr, ast.Expr | None] = field(default_factory=dict)
    captures: dict[ast.Node, list[LocalSymbol]] = field(default_factory=dict)
    catches: dict[ast.Catch, Type | None] = field(default_factory=dict)
    uncaught: dict[ast.TryCatch, list[Type]] = field(default_factory=dict)
    parameters: dict[ast.Parameter, LocalSymbol] = field(default_factory=dict)
    witnesses: dict[ast.Expr | ast.FieldInit, list[Witness]] = field(default_factory=dict)
    given_witnesses: dict[ast.FnDecl, list[LocalSymbol]] = field(default_factory=dict)
    impl_witnesses: dict[ImplSymbol, tuple[list[LocalSymbol], list[Witness]]] = field(default_factory=dict)
    decorators: dict[ast.Decorator, dict[str, object]] = field(default_factory=dict)
    """Arguments of every decorator as JSON values by name, positional ones named; not `@tools` and
    `@validate`."""
    copies: set[ast.Node] = field(default_factory=set)
    shallow: set[ast.Node] = field(default_factory=set)
    immutable: Set[TypeSymbol] = frozenset()
    plain_generics: Set[GenericSymbol] = frozenset()
    instantiations: list[Mapping[GenericSymbol, Type]] = field(default_factory=list)
    copied_captures: set[tuple[ast.Node, LocalSymbol]] = field(default_factory=set)
    put_back: set[ast.Node] = field(default_factory=set)
    grown: set[ast.Expr] = field(default_factory=set)
    late_places: set[ast.Expr] = field(default_factory=set)
    from_any: set[FunctionSymbol] = field(default_factory=set)

    bodies: list[CheckedBody] = field(default_factory=list)
    functions: list[FunctionSymbol] = field(default_factory=list)
    """Every function, method and provided trait method with a body, in source order, without the
    library's."""
    structs: list[StructSymbol] = field(default_factory=list)
    enums: list[EnumSymbol] = field(default_factory=list)
    traits: list[TraitSymbol] = field(default_factory=list)
    impls: list[ImplSymbol] = field(default_factory=list)
    tools: list[ToolSymbol] = field(default_factory=list)
    mcps: list[McpSymbol] = field(default_factory=list)
    agents: list[AgentSymbol] = field(default_factory=list)
    hosts: list[HostSymbol] = field(default_factory=list)
    connections: list[ConnectionSymbol] = field(default_factory=list)
    states: list[StateSymbol] = field(default_factory=list)
    pipelines: list[PipelineSymbol] = field(default_factory=list)
    tests: list[FunctionSymbol] = field(default_factory=list)
    served: list[FunctionSymbol] = field(default_factory=list)
    test_titles: dict[str, set[str]] = field(default_factory=dict)
    entry: FunctionSymbol | None = None

    names: dict[ast.Ident, tuple[Symbol, Source]] | None = None
    """What each name in a path, type, member, argument or pattern stands for, and its file. For editors: None
    where nobody asked for it."""
    files: dict[Source, FileRecord] = field(default_factory=dict)
    outdated: set[Source] = field(default_factory=set)
    """Files that were checked before, by what no longer holds."""


# --- Files that were checked before ----------------------------------------------------------------


@frozen
class ReusedFile:
    """A file whose bodies were checked by an earlier compilation; its tree has empty ones. `facts` can be
    asked for when all declarations are known."""

    loadings: tuple[Loading, ...]
    facts: Callable[[Analysis], BodyFacts]
