"""Values of a running program, and its ways to fail. What every value can do (text, equality, copies) is in
`operations`.

Int, Float, String, Bool, nil, Array, Map and tuple are Python's int, float, str, bool, None, list, dict and
tuple (a Map keeps insertion order; its keys have one type, so `True == 1` cannot meet).
Everything else is a slotted class here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter

from concerto.annotating import Any, ClassVar, Final, TypeAlias

Value: TypeAlias = Any
OptionValue: TypeAlias = Any
ResultValue: TypeAlias = Any


class Range:
    """`low..high` or, if `inclusive`, `low..=high`, as it was written; equal if the numbers are the same."""

    __slots__ = ("inclusive", "numbers")

    def __init__(self, numbers: range, inclusive: bool) -> None:
        self.numbers = numbers
        self.inclusive = inclusive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and self.numbers == other.numbers

    def __hash__(self) -> int:
        return hash(self.numbers)

    @property
    def high(self) -> int:
        """The end as it was written."""
        return self.numbers.stop - self.inclusive


class Some:
    """`Some(x)`, which may be a key of a map."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Some) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash((Some, self.value))


class NoneOption:
    """The type of `NONE`, the Option without a value."""

    __slots__ = ()


NONE: Final = NoneOption()


class Ok:
    """`Ok(x)`"""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class Err:
    """`Err(e)`"""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


NEXT: Final = "<std>::Iterator::next"

OWN_METHODS: Final = frozenset(
    {
        "<std>::Display::to_string", "<std>::Ord::compare", "<std>::Eq::equals", "<std>::Hash::hash",
        NEXT,
    }
)  # fmt: skip
"""Names that no trait of a program's can have, whatever it is called."""


class OwnMethods:
    """What a type has of its own in place of what every value can do: its `impl Display`, `Ord`, `Eq`,
    `Hash` and `Iterator`. `poll` lets the machine look after the run while one is gone through."""

    __slots__ = ("compare", "equals", "hash", "next", "poll", "to_string")

    def __init__(self, methods: dict[str, Callable[..., Value]], poll: Callable[[], None]) -> None:
        self.poll = poll
        self.to_string = methods.get("<std>::Display::to_string")
        self.compare = methods.get("<std>::Ord::compare")
        self.equals = methods.get("<std>::Eq::equals")
        self.hash = methods.get("<std>::Hash::hash")
        self.next = methods.get(NEXT)


class Struct:
    """Base of the classes made for structs, schemas and tool states: slots `f0`, `f1`, … as declared."""

    __slots__ = ()
    type_name: ClassVar[str]
    field_names: ClassVar[tuple[str, ...]]
    positional: ClassVar[bool]
    own: ClassVar[OwnMethods | None] = None
    copied: ClassVar[Callable[..., Value] | None] = None
    reflexive: ClassVar[Callable[[], bool]]
    same: ClassVar[Callable[..., bool]]


class Variant:
    """Base of the classes made for enum variants: slots `tag` (the variant's number), `f0`, `f1`, …; a
    variant without payload has one instance."""

    __slots__ = ()
    type_name: ClassVar[str]
    variant_name: ClassVar[str]
    tag: int
    field_names: ClassVar[tuple[str, ...]]
    named: ClassVar[bool]
    own: ClassVar[OwnMethods | None] = None
    copied: ClassVar[Callable[..., Value] | None] = None
    reflexive: ClassVar[Callable[[], bool]]
    same: ClassVar[Callable[..., bool]]


def parts_of(value: Struct | Variant) -> list[Value]:
    """The fields of a struct or the payload of a variant, in declared order."""
    return [*parts_getter(len(value.field_names))(value)]


@cache
def parts_getter(count: int) -> Callable[[Any], tuple[Value, ...]]:
    """What reads the parts of values that have so many."""
    if count < 2:
        return (lambda value: (value.f0,)) if count else (lambda _: ())
    return attrgetter(*[f"f{slot}" for slot in range(count)])


class TypeValue:
    """A type as a value (LOAD_TYPE): `index` into `Module.types`, `name` as text."""

    __slots__ = ("index", "name")

    def __init__(self, index: int, name: str) -> None:
        self.index = index
        self.name = name


class Handle:
    """Base of everything shared by nature (agents, builders, tools, hashmaps, tasks, …): compared by
    identity, never copied. `type_name` is the language's word (`AgentRef`), which CHECK and `typeof` go by.
    """

    __slots__ = ()
    type_name: ClassVar[str] = "Handle"

    def to_text(self) -> str:
        """What `to_string()` and `${}` show."""
        return self.type_name

    def member(self, name: str) -> Value:
        """`handle.name`, for handles that have members."""
        raise failure(f"{self.type_name} has no member `{name}`", "TypeError")


class HandleType:
    """The type of a handle that has parts: its text, those of its parts, and what requires each of a
    value."""

    __slots__ = ("looks", "parts", "text")

    def __init__(self, text: str, parts: list[str], looks: list[Callable[[Value], Value]]) -> None:
        self.text = text
        self.parts = parts
        self.looks = looks

    def serves_as(self, wanted: HandleType) -> bool:
        """Whether handles of this type give nothing that the other does not have. They refuse themselves to
        take it."""
        pairs = zip(self.parts, wanted.parts, strict=True)
        return all(other in (own, "Any") for own, other in pairs)


class TypedHandle(Handle):
    """A handle whose type has parts. It knows them from the moment when code that does not may hold it, and
    then looks at what is put into it."""

    __slots__ = ()

    @property
    def known(self) -> HandleType | None:
        raise NotImplementedError

    @known.setter
    def known(self, known: HandleType | None) -> None:
        raise NotImplementedError


class ErrorValue:
    """An error of a built-in type (`AgentError`, `ToolError`, `RuntimeError`, …). `fields` holds its own
    members."""

    __slots__ = ("fields", "kind", "message", "type_name")

    def __init__(self, type_name: str, message: str, kind: str = "", **fields: Value) -> None:
        self.type_name = type_name
        self.message = message
        self.kind = kind or type_name
        self.fields: dict[str, Value] = fields


OWN_FIELDS: Final[Mapping[str, dict[str, Value]]] = {
    "AgentError": {"agent": "", "provider": "", "status": NONE, "retry_after_ms": NONE, "messages": []},
    "BudgetError": {},
    "ConnectionError": {},
    "EmitError": {},
    "EnvError": {"name": ""},
    "FsError": {"path": ""},
    "ParseError": {},
    "RuntimeError": {},
    "SchemaError": {"raw": "", "path": ""},
    "TimeoutError": {"seconds": 0.0},
    "ToolError": {"tool": "", "method": ""},
}
"""What an error of each type carries beside message and kind, as it is before anybody fills it in."""


class Raised(Exception):
    """A language error on its way to a `catch`: `value` is what was thrown, an ErrorValue for run-time
    failures."""

    def __init__(self, value: Value) -> None:
        # `args` were set when the exception was made; calling what is above would only take time.
        self.value = value


class Panic(BaseException):
    """`panic(message)`: ends the run, no `catch` sees it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class OutOfMemory(BaseException):
    """The system has no more memory for the run: it ends, no `catch` sees it."""


class Cancelled(BaseException):
    """The run, or the branch, was told to stop."""


def message_of_program(message: Value) -> str:
    """The message of an error that a program makes; IR from elsewhere may give anything."""
    if type(message) is not str:
        raise failure("the message of an error is a String", "TypeError")
    return message


def failure(message: str, kind: str = "RuntimeError") -> Raised:
    """A run-time failure to raise: `raise failure("index 3 is out of bounds for length 2", "IndexError")`."""
    return Raised(ErrorValue("RuntimeError", message, kind))
