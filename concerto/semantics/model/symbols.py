"""Symbols and types: what names mean, and what values can be. A type with a name has a symbol, and most
symbols have types.

Symbols are one object for each declaration, compared by identity. The declaration pass makes them and fills
in their types; afterwards nobody changes them, except that `LocalSymbol`s are made while bodies are checked.

Types are a closed family: `Named` (every type with a name, built-in ones too), `TupleOf`, `FunctionOf`,
`Literals`, `Generic` (a parameter inside its declaration), `Unsolved` (an inference variable of one body) and
`ERROR`, which is assignable to and from everything, so that one mistake gives one message.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import ClassVar, Literal, TypeAlias

from concerto.records import field, frozen, record
from concerto.source import Source
from concerto.syntax import ast


class _Composed:
    """A type made of others, which may be shared: `let b = (a, a); let c = (b, b); …` has a type whose text
    doubles with every step. So what is asked of all parts is kept: `closed`, no variable and no error is
    among them; `plain`, no generic parameter either; and the hash. Equal types share their parts from the
    moment that they were found to be equal. `newest` is as in `Unsolved`, and `unknown` a variable among the
    parts, if one was found."""

    __slots__ = ("closed", "hashed", "newest", "plain", "unknown")

    closed: bool
    plain: bool
    hashed: int
    newest: int
    unknown: Unsolved | None

    def _note(self, parts: tuple[Type, ...]) -> None:
        self.closed = self.plain = True
        self.hashed = self.newest = 0
        self.unknown = None
        for part in parts:
            if not part.closed:
                self.closed = False
                if part.newest > self.newest:
                    self.newest = part.newest
            if not part.plain:
                self.plain = False


class Named(_Composed):
    """`Int`, `Array<T>`, `models::User`. Symbols compare by identity."""

    __slots__ = ("arguments", "symbol")
    __match_args__ = ("symbol", "arguments")

    def __init__(self, symbol: TypeSymbol, arguments: tuple[Type, ...] = ()) -> None:
        self.symbol = symbol
        self.arguments = arguments
        self._note(arguments)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not Named or self.symbol is not other.symbol:
            return False
        if self.arguments is other.arguments:
            return True
        if hash(self) != hash(other) or self.arguments != other.arguments:
            return False
        other.arguments = self.arguments
        return True

    def __hash__(self) -> int:
        if not self.hashed:
            self.hashed = hash((self.symbol, self.arguments))
        return self.hashed

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return Named, (self.symbol, self.arguments)

    def __repr__(self) -> str:
        return f"Named({self.symbol.name}, {self.arguments})"


class AliasUse(Named):
    """An alias with its arguments, where another alias with parameters is made of it: what it stands for is
    worked out when somebody uses that one."""

    __slots__ = ("alias",)

    def __init__(self, alias: AliasSymbol, arguments: tuple[Type, ...]) -> None:
        super().__init__(_UNEXPANDED, arguments)
        self.alias = alias
        self.closed = self.plain = False


class TupleOf(_Composed):
    __slots__ = ("items",)
    __match_args__ = ("items",)

    def __init__(self, items: tuple[Type, ...]) -> None:
        self.items = items
        self._note(items)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not TupleOf:
            return False
        if self.items is other.items:
            return True
        if hash(self) != hash(other) or self.items != other.items:
            return False
        other.items = self.items
        return True

    def __hash__(self) -> int:
        if not self.hashed:
            self.hashed = hash((TupleOf, self.items))
        return self.hashed

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return TupleOf, (self.items,)

    def __repr__(self) -> str:
        return f"TupleOf({self.items})"


class FunctionOf(_Composed):
    __slots__ = ("parameters", "result")
    __match_args__ = ("parameters", "result")

    def __init__(self, parameters: tuple[Type, ...], result: Type) -> None:
        self.parameters = parameters
        self.result = result
        self._note((*parameters, result))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is not FunctionOf or hash(self) != hash(other):
            return False
        if self.parameters != other.parameters or self.result != other.result:
            return False
        other.parameters, other.result = self.parameters, self.result
        return True

    def __hash__(self) -> int:
        if not self.hashed:
            self.hashed = hash((self.parameters, self.result))
        return self.hashed

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return FunctionOf, (self.parameters, self.result)

    def __repr__(self) -> str:
        return f"FunctionOf({self.parameters}, {self.result})"


LiteralValue: TypeAlias = str | int | bool | None


class Literals:
    """`"a" | "b"`: each value with its type name, so that `1` and `true` differ; `known` are they, too."""

    __slots__ = ("hashed", "known", "values")
    __match_args__ = ("values",)

    closed: ClassVar = True
    plain: ClassVar = True
    newest: ClassVar = 0

    def __init__(self, values: tuple[tuple[str, LiteralValue], ...]) -> None:
        self.values = values
        self.known = frozenset(values)
        self.hashed = hash(values)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return other.__class__ is Literals and self.hashed == other.hashed and self.values == other.values

    def __hash__(self) -> int:
        return self.hashed

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return Literals, (self.values,)

    def __repr__(self) -> str:
        return f"Literals({self.values})"


@frozen
class Generic:
    symbol: GenericSymbol

    closed: ClassVar = True
    plain: ClassVar = False
    newest: ClassVar = 0


@record(eq=False)
class Unsolved:
    """An inference variable; `solution` is set once by unification. `newest` is a number that rises from
    variable to variable; no variable in the solution has a higher one. `never`: a value that never comes was
    to be of this type, which is Never if nothing else says what it is. `unsaid`: it is solved as Any only
    because a value of this type became an Any."""

    solution: Type | None = None
    never: bool = False
    unsaid: bool = False
    newest: int = field(default_factory=count(1).__next__)

    closed: ClassVar = False
    plain: ClassVar = False


@frozen
class ErrorType:
    closed: ClassVar = False
    plain: ClassVar = False
    newest: ClassVar = 0


ERROR = ErrorType()

Type: TypeAlias = Named | TupleOf | FunctionOf | Literals | Generic | Unsolved | ErrorType


# --- Symbols ------------------------------------------------------------------------------------


@record(eq=False, kw_only=True)
class SymbolBase:
    """`node` is the declaration, None for what the compiler itself provides; `module` the path, "" for the
    root, `std::json` for a library module. `qualified` is unique in the program and names it in the IR."""

    name: str
    node: ast.Node | None = None
    module: str = ""
    source: Source | None = None
    public: bool = False
    docs: str | None = None

    @property
    def qualified(self) -> str:
        return self._in_module()

    def _in_module(self) -> str:
        if not self.module or self.module.startswith("std::"):
            return self.name
        return f"{self.module}::{self.name}"


@record(eq=False, kw_only=True)
class LocalSymbol(SymbolBase):
    """A variable of a body. `role`: let, parameter, self, pattern. `function` is the FnDecl, StageDecl or
    Closure that owns it."""

    type: Type
    mutable: bool
    role: Literal["let", "parameter", "self", "pattern"]
    function: ast.Node | None = None


@record(eq=False, kw_only=True)
class GenericSymbol(SymbolBase):
    """A generic parameter; `bounds` are traits (built-in ones too: Ord, Number, Hash) with their
    arguments; `is_key`: something declared with it holds maps that have such keys. That of a trait which is
    used as a type stands for the type that only a value tells: it `accepts` those that satisfy the trait."""

    bounds: list[TraitUse] = field(default_factory=list)
    is_key: bool = False
    accepts: Callable[[Type], bool] | None = None


@record(eq=False, kw_only=True)
class ParameterSymbol(SymbolBase):
    """A declared parameter. `default` is an expression of the declaring module's scope, where `Self` is
    `self_type`; `description` what `@param` says."""

    type: Type
    default: ast.Expr | None = None
    self_type: Type | None = None
    mutable: bool = False
    description: str = ""


@record(eq=False, kw_only=True)
class FunctionSymbol(SymbolBase):
    """A function, method or associated function. `parameters` are without self. `receiver` is "" without
    self, else "self" or "mut self". `owner` is what it belongs to; `self_type` the type of `self`/`Self`.
    `native` names the library body (then there is none in the source). `reified` natives get their last type
    argument, or what their array (or another type) is of, several as a tuple, as a value. `inout`: a
    `mut self` function whose self is not a struct or tool state, so that it gives (result, self).
    `description` is what `@describe` says."""

    generics: list[GenericSymbol] = field(default_factory=list)
    parameters: list[ParameterSymbol] = field(default_factory=list)
    result: Type
    receiver: Literal["", "self", "mut self"] = ""
    owner: ImplSymbol | TraitSymbol | ToolSymbol | McpSymbol | AgentSymbol | StructSymbol | None = None
    self_type: Type | None = None
    native: str | None = None
    reified: bool = False
    inout: bool = False
    is_test: bool = False
    is_async: bool = False
    description: str = ""

    @property
    def qualified(self) -> str:
        owner = self.owner
        if owner is None:
            return self._in_module()
        trait = f"::{owner.trait.trait.name}" if isinstance(owner, ImplSymbol) and owner.trait else ""
        return f"{owner.qualified}{trait}::{self.name}"

    @property
    def decl(self) -> ast.FnDecl | None:
        return self.node if isinstance(self.node, ast.FnDecl) else None


@record(eq=False, kw_only=True)
class FieldSymbol(SymbolBase):
    """A field of a struct, schema, variant or tool, `index` in declared order. `optional` is `name?: T`
    (its type is then Option<T>)."""

    type: Type
    index: int
    default: ast.Expr | None = None
    optional: bool = False
    decorators: list[ast.Decorator] = field(default_factory=list)


@record(eq=False, kw_only=True)
class BuiltinSymbol(SymbolBase):
    """A type of the compiler: Int, Array, Option, AgentRef, … `arity` is its number of type arguments."""

    arity: int = 0


@record(eq=False, kw_only=True)
class StructSymbol(SymbolBase):
    """A struct or schema; also the library's `@error` structs (`is_error`: an ErrorValue at run time).
    `by_name` has the fields by name, the first one of a name declared twice. The fields of a tuple struct,
    a `positional` one, are named "0", "1", …"""

    generics: list[GenericSymbol] = field(default_factory=list)
    fields: list[FieldSymbol] = field(default_factory=list)
    by_name: dict[str, FieldSymbol] = field(default_factory=dict)
    is_schema: bool = False
    is_error: bool = False
    positional: bool = False

    def has(self, fields: list[FieldSymbol]) -> None:
        """Give it its fields."""
        self.fields = fields
        self.by_name = {field.name: field for field in reversed(fields)}


@record(eq=False, kw_only=True)
class VariantSymbol(SymbolBase):
    """A variant; `named` for `C { x: Int }`. Positional fields are named "0", "1", …"""

    enum: EnumSymbol
    index: int
    fields: list[FieldSymbol] = field(default_factory=list)
    named: bool = False


@record(eq=False, kw_only=True)
class EnumSymbol(SymbolBase):
    """`by_name` has the variants by name, the first one of a name declared twice."""

    generics: list[GenericSymbol] = field(default_factory=list)
    variants: list[VariantSymbol] = field(default_factory=list)
    by_name: dict[str, VariantSymbol] = field(default_factory=dict)


_UNEXPANDED = BuiltinSymbol(name="type alias")

TypeSymbol: TypeAlias = BuiltinSymbol | StructSymbol | EnumSymbol


def field_types(symbol: TypeSymbol) -> list[Type]:
    """The types of a struct's fields, or of the parts of all variants."""
    match symbol:
        case StructSymbol():
            return [field.type for field in symbol.fields]
        case EnumSymbol():
            return [field.type for variant in symbol.variants for field in variant.fields]
        case _:
            return []


@record(eq=False, kw_only=True)
class AliasSymbol(SymbolBase):
    """`type` is that of an alias without parameters; of another one the type as it is written, in which what
    other aliases with parameters stand for is still open."""

    generics: list[GenericSymbol] = field(default_factory=list)
    type: Type


@record(eq=False, kw_only=True)
class TraitSymbol(SymbolBase):
    """`methods` by name; one with a body is provided. `self_generic` stands for Self inside the trait,
    `value_generic` for the type of a value where the trait is used as a type."""

    generics: list[GenericSymbol] = field(default_factory=list)
    methods: dict[str, FunctionSymbol] = field(default_factory=dict)
    self_generic: GenericSymbol | None = None
    value_generic: GenericSymbol | None = None


@frozen
class TraitUse:
    trait: TraitSymbol
    arguments: tuple[Type, ...] = ()


@record(eq=False, kw_only=True)
class ImplSymbol(SymbolBase):
    """`impl<T> Target { }` or `impl Trait for Target { }`. `name` is the target's, without type
    arguments. `witness` stands for the function that makes the table of the trait's methods for this type:
    what a function with a bound is given."""

    generics: list[GenericSymbol] = field(default_factory=list)
    target: Type
    trait: TraitUse | None = None
    methods: dict[str, FunctionSymbol] = field(default_factory=dict)
    constants: dict[str, ConstSymbol] = field(default_factory=dict)
    witness: FunctionSymbol | None = None

    @property
    def qualified(self) -> str:
        """Methods are called by the path of their type, wherever their impl stands."""
        return self.target.symbol.qualified if isinstance(self.target, Named) else self._in_module()


@record(eq=False, kw_only=True)
class ConstSymbol(SymbolBase):
    """`value` is the constant as a Python value (int, float, str, bool, None, list, dict); `owner` is the
    type that it belongs to, if any."""

    type: Type
    value: object = None
    owner: TypeSymbol | None = None


@record(eq=False, kw_only=True)
class ToolSymbol(SymbolBase):
    """`state` is the struct of its fields (named like the tool); `trait` what it implements, `witness` as of
    an impl. `methods` has also the trait's provided ones. `library` marks std::tools."""

    description: str = ""
    state: StructSymbol
    methods: dict[str, FunctionSymbol] = field(default_factory=dict)
    trait: TraitUse | None = None
    witness: FunctionSymbol | None = None
    library: bool = False


@record(eq=False, kw_only=True)
class McpSymbol(SymbolBase):
    """`settings` are JSON values."""

    settings: dict[str, object] = field(default_factory=dict)
    methods: dict[str, FunctionSymbol] = field(default_factory=dict)


@record(eq=False, kw_only=True)
class ToolUseSymbol(SymbolBase):
    """One entry of a tools list: kind tool, mcp, method, hosted or agent; `name` (and `method`)."""

    kind: Literal["tool", "mcp", "method", "hosted", "agent"]
    method: str = ""


@record(eq=False, kw_only=True)
class AgentSymbol(SymbolBase):
    """`settings` are JSON values with `model` also for `base:`; tools, allowed_tools and memory are
    resolved. `methods` come from its impls."""

    settings: dict[str, object] = field(default_factory=dict)
    input: StructSymbol | None = None
    tools: list[ToolUseSymbol] = field(default_factory=list)
    allowed_tools: list[ToolUseSymbol] | None = None
    memory: str | None = None
    methods: dict[str, FunctionSymbol] = field(default_factory=dict)


@record(eq=False, kw_only=True)
class HostSymbol(SymbolBase):
    settings: dict[str, object] = field(default_factory=dict)


@record(eq=False, kw_only=True)
class ConnectionSymbol(SymbolBase):
    settings: dict[str, object] = field(default_factory=dict)


@record(eq=False, kw_only=True)
class StateSymbol(SymbolBase):
    """hashmap, ledger or memory; `settings`: capacity, persistence, scope."""

    keyword: Literal["hashmap", "ledger", "memory"]
    type: Type
    settings: dict[str, object] = field(default_factory=dict)


@record(eq=False, kw_only=True)
class StageSymbol(SymbolBase):
    parameters: list[ParameterSymbol] = field(default_factory=list)
    result: Type
    tools: list[ToolUseSymbol] = field(default_factory=list)


@record(eq=False, kw_only=True)
class PipelineSymbol(SymbolBase):
    """`result` is the last stage's (or the signature's) with Result unwrapped; `P.run` gives Result of
    it."""

    parameters: list[ParameterSymbol] = field(default_factory=list)
    result: Type
    stages: list[StageSymbol] = field(default_factory=list)
    tools: list[ToolUseSymbol] = field(default_factory=list)


@record(eq=False, kw_only=True)
class ModuleSymbol(SymbolBase):
    """A module: `members` are its own declarations, `imports` the names its `use` declarations bring in
    (resolved), `exported` those of them that are `pub use`, `used` those that something refers to. `parent`
    is the module around it. The declarations of a block form a module with `block` set, whose names hide
    those of its parent; `variables` are those of the block, which its functions do not see. `broken` are
    names whose declaration was reported, so that nobody complains about them again."""

    path: str = ""
    parent: ModuleSymbol | None = None
    block: bool = False
    variables: frozenset[str] = frozenset()
    exported: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    members: dict[str, Symbol] = field(default_factory=dict)
    imports: dict[str, Symbol] = field(default_factory=dict)
    tree: ast.Module | ast.ModDecl | None = None


Symbol: TypeAlias = (
    LocalSymbol | GenericSymbol | ParameterSymbol | FunctionSymbol | FieldSymbol | BuiltinSymbol
    | StructSymbol | VariantSymbol | EnumSymbol | AliasSymbol | TraitSymbol | ConstSymbol | ToolSymbol
    | McpSymbol | AgentSymbol | HostSymbol | ConnectionSymbol | StateSymbol | PipelineSymbol | ModuleSymbol
)  # fmt: skip
