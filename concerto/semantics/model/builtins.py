"""The types and traits that the compiler itself provides, with ways to make and to recognise their uses.

`BUILTIN_TYPES` and `BUILTIN_TRAITS` are visible in every module. Everything else that needs no `use` is
declared in `std::prelude`.
"""

from __future__ import annotations

from typing import Final

from concerto.semantics.model.symbols import (
    BuiltinSymbol,
    FunctionSymbol,
    Generic,
    GenericSymbol,
    Named,
    ParameterSymbol,
    TraitSymbol,
    TraitUse,
    Type,
    TypeSymbol,
)

BUILTIN_TYPES: Final[dict[str, BuiltinSymbol]] = {}


def _declare(name: str, arity: int = 0) -> BuiltinSymbol:
    symbol = BuiltinSymbol(name=name, arity=arity, public=True)
    BUILTIN_TYPES[name] = symbol
    return symbol


PLAIN_TYPES: Final[dict[TypeSymbol, Named]] = {}
"""The one `Named` of each built-in type without arguments: these are compared by identity."""


def _plain(name: str) -> Named:
    symbol = _declare(name)
    PLAIN_TYPES[symbol] = Named(symbol)
    return PLAIN_TYPES[symbol]


INT: Final = _plain("Int")
FLOAT: Final = _plain("Float")
STRING: Final = _plain("String")
BOOL: Final = _plain("Bool")
NIL: Final = _plain("Nil")
ANY: Final = _plain("Any")
NEVER: Final = _plain("Never")
RANGE: Final = _plain("Range")
PROMPT: Final = _plain("Prompt")

ARRAY: Final = _declare("Array", 1)
MAP: Final = _declare("Map", 2)
OPTION: Final = _declare("Option", 1)
RESULT: Final = _declare("Result", 2)
WRAPPING: Final = ("Some", "Ok", "Err", "None")
"""The names of their values."""
SET: Final = _declare("Set", 1)
QUEUE: Final = _declare("Queue", 1)
STACK: Final = _declare("Stack", 1)
TASK: Final = _declare("Task", 1)
ITERATOR: Final = _declare("Iterator", 1)
PARTIAL: Final = _declare("Partial", 1)

HASH_MAP: Final = _declare("HashMap", 2)
LEDGER: Final = _plain("Ledger")
MEMORY: Final = _plain("Memory")
AGENT_REF: Final = _plain("AgentRef")
AGENT_BUILDER: Final = _plain("AgentBuilder")
TOOL_REF: Final = _plain("ToolRef")
MCP_REF: Final = _plain("McpRef")
TOOL_CONTEXT: Final = _plain("ToolContext")

HANDLES: Final = frozenset(
    {TASK, HASH_MAP, LEDGER.symbol, MEMORY.symbol, AGENT_REF.symbol, TOOL_REF.symbol, MCP_REF.symbol,
     TOOL_CONTEXT.symbol}
)  # fmt: skip
"""Types whose values are shared by nature."""

MAP_KEYS: Final = (INT, STRING, BOOL)


def array_of(item: Type) -> Named:
    return Named(ARRAY, (item,))


def map_of(key: Type, value: Type) -> Named:
    return Named(MAP, (key, value))


def option_of(item: Type) -> Named:
    return Named(OPTION, (item,))


def result_of(value: Type, error: Type) -> Named:
    return Named(RESULT, (value, error))


def set_of(item: Type) -> Named:
    return Named(SET, (item,))


def task_of(item: Type) -> Named:
    return Named(TASK, (item,))


def hash_map_of(key: Type, value: Type) -> Named:
    return Named(HASH_MAP, (key, value))


TOOL_CONTEXT_FIELDS: Final[dict[str, Type]] = {
    "context": hash_map_of(STRING, ANY),
    "data": hash_map_of(STRING, ANY),
    "agent": STRING,
    "call_id": STRING,
    "iteration": INT,
    "memory": option_of(MEMORY),
}
"""What can be read of a ToolContext; its methods are in `stdlib/agent.conc`."""


def array_item(type_: Type) -> Type | None:
    return _only_argument(type_, ARRAY)


def option_item(type_: Type) -> Type | None:
    return _only_argument(type_, OPTION)


def task_item(type_: Type) -> Type | None:
    return _only_argument(type_, TASK)


def map_parts(type_: Type) -> tuple[Type, Type] | None:
    return _both_arguments(type_, MAP)


def result_parts(type_: Type) -> tuple[Type, Type] | None:
    return _both_arguments(type_, RESULT)


def _only_argument(type_: Type, symbol: BuiltinSymbol) -> Type | None:
    if isinstance(type_, Named) and type_.symbol is symbol:
        return type_.arguments[0]
    return None


def _both_arguments(type_: Type, symbol: BuiltinSymbol) -> tuple[Type, Type] | None:
    if isinstance(type_, Named) and type_.symbol is symbol:
        return type_.arguments[0], type_.arguments[1]
    return None


# --- Traits -------------------------------------------------------------------------------------


def _declare_from() -> TraitSymbol:
    """`trait From<T> { fn from(value: T) -> Self; }`"""
    source, itself = GenericSymbol(name="T"), GenericSymbol(name="Self")
    trait = TraitSymbol(name="From", public=True, generics=[source], self_generic=itself)
    trait.methods["from"] = FunctionSymbol(
        name="from",
        parameters=[ParameterSymbol(name="value", type=Generic(source))],
        result=Generic(itself),
        owner=trait,
        self_type=Generic(itself),
        public=True,
    )
    itself.bounds.append(TraitUse(trait, (Generic(source),)))
    return trait


def _asked_by_values(name: str) -> TraitSymbol:
    return TraitSymbol(name=name, public=True, self_generic=GenericSymbol(name="Self"))


ORD: Final = _asked_by_values("Ord")
NUMBER: Final = TraitSymbol(name="Number", public=True)
HASH: Final = _asked_by_values("Hash")
EQ: Final = _asked_by_values("Eq")
DISPLAY: Final = _asked_by_values("Display")
DISPLAY.value_generic = GenericSymbol(name="Display", bounds=[TraitUse(DISPLAY)], accepts=lambda found: True)
FROM: Final = _declare_from()


def _method(trait: TraitSymbol, name: str, other: Type | None, result: Type) -> FunctionSymbol:
    assert trait.self_generic is not None
    itself = Generic(trait.self_generic)
    parameters = [] if other is None else [ParameterSymbol(name="other", type=other)]
    return FunctionSymbol(
        name=name, parameters=parameters, result=result, receiver="self", owner=trait, self_type=itself,
        public=True,
    )  # fmt: skip


def _of_values(trait: TraitSymbol, name: str, result: Type, *, two: bool) -> FunctionSymbol:
    assert trait.self_generic is not None
    return _method(trait, name, Generic(trait.self_generic) if two else None, result)


VALUE_METHODS: Final = {
    DISPLAY: _of_values(DISPLAY, "to_string", STRING, two=False),
    ORD: _of_values(ORD, "compare", INT, two=True),
    EQ: _of_values(EQ, "equals", BOOL, two=True),
    HASH: _of_values(HASH, "hash", INT, two=False),
}
"""What an impl of these has for a struct or enum. All values are shown, and most are compared, without one;
where there is one, the machine calls it. So a bound by such a trait needs no witness, and the traits have no
methods of their own."""


def _declare_operator(name: str, method: str, *, two: bool) -> TraitSymbol:
    """`trait Add<Other = Self, Output = Self> { fn add(self, other: Other) -> Output; }`"""
    other, output, itself = (GenericSymbol(name=word) for word in ("Other", "Output", "Self"))
    trait = TraitSymbol(name=name, public=True, self_generic=itself)
    trait.generics = [other, output] if two else [output]
    trait.methods[method] = _method(trait, method, Generic(other) if two else None, Generic(output))
    itself.bounds.append(TraitUse(trait, tuple(map(Generic, trait.generics))))
    return trait


OPERATORS: Final[dict[str, TraitSymbol]] = {
    "+": _declare_operator("Add", "add", two=True),
    "-": _declare_operator("Sub", "sub", two=True),
    "*": _declare_operator("Mul", "mul", two=True),
    "/": _declare_operator("Div", "div", two=True),
    "%": _declare_operator("Rem", "rem", two=True),
}
NEG: Final = _declare_operator("Neg", "neg", two=False)
OPERATOR_TRAITS: Final = (*OPERATORS.values(), NEG)
"""Traits whose parameters are `Self` where they are left out."""


def _declare_iterator() -> TraitSymbol:
    """`trait Iterator<T> { fn next(mut self) -> Option<T>; }`"""
    item, itself = GenericSymbol(name="T"), GenericSymbol(name="Self")
    trait = TraitSymbol(name="Iterator", public=True, generics=[item], self_generic=itself)
    trait.methods["next"] = FunctionSymbol(
        name="next", parameters=[], result=option_of(Generic(item)), receiver="mut self", owner=trait,
        self_type=Generic(itself), public=True,
    )  # fmt: skip
    itself.bounds.append(TraitUse(trait, (Generic(item),)))
    return trait


ITERATOR_TRAIT: Final = _declare_iterator()
"""Meant where a trait is asked for by the name of the type `Iterator<T>`, whose values are all that has its
methods."""

ASKED_OF_VALUES: Final = frozenset({*VALUE_METHODS, ITERATOR_TRAIT})
"""Traits of structs and enums whose methods the machine calls."""

BUILTIN_TRAITS: Final[dict[str, TraitSymbol]] = {
    trait.name: trait for trait in (ORD, NUMBER, HASH, EQ, DISPLAY, FROM, *OPERATOR_TRAITS)
}
