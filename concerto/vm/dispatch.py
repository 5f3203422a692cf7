"""Dynamic dispatch: calls by name, decided by the receiver's run-time type: impl methods, library methods,
host handles."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from concerto.annotating import TYPE_CHECKING, Any, Protocol
from concerto.ir.module import ModuleIR
from concerto.records import record
from concerto.vm.equality import equal
from concerto.vm.native import find_native
from concerto.vm.native_arguments import looking_at_arguments
from concerto.vm.operations import compare, short_name, stable_hash, to_text, type_name
from concerto.vm.values import ErrorValue, Handle, Raised, Struct, Value, Variant, failure

if TYPE_CHECKING:
    from concerto.vm.host import Host

_OF_ALL: dict[str, Callable[..., Value]] = {
    "to_string": to_text,
    "compare": compare,
    "equals": equal,
    "hash": stable_hash,
}


class Surroundings(Protocol):
    """What dispatch needs of a machine."""

    module: ModuleIR
    host: Host

    def function(self, index: int) -> Callable[..., Value]: ...

    def native(self, name: str) -> Callable[..., Value] | None: ...


@record(frozen=True)
class Method:
    """`body` takes self first; an `inout` one gives (result, self)."""

    body: Callable[..., Value]
    inout: bool


class Methods:
    """Finds methods and remembers what it found."""

    def __init__(self, machine: Surroundings) -> None:
        self._machine = machine
        self._own: dict[str, dict[str, int]] = {}
        for definition in machine.module.types:
            if definition.methods:
                owner = owner_name(definition.kind, definition.name)
                self._own.setdefault(owner, {}).update(definition.methods)
        self._found: dict[tuple[Any, str], Method] = {}

    def call(self, name: str, receiver: Value, *arguments: Value) -> Value:
        """CALL_METHOD."""
        method = self.find(receiver, name)
        result = method.body(receiver, *arguments)
        return result[0] if method.inout else result

    def call_mut(self, name: str, receiver: Value, *arguments: Value) -> tuple[Value, Value]:
        """CALL_METHOD_MUT: the result and the changed receiver."""
        method = self.find(receiver, name)
        result = method.body(receiver, *arguments)
        return result if method.inout else (result, receiver)

    def find(self, receiver: Value, name: str) -> Method:
        """A method for the run-time type of the receiver; a TypeError if there is none."""
        key = (receiver.type_name if isinstance(receiver, ErrorValue) else type(receiver), name)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._look_up(receiver, name)
        return found

    def static(self, type_index: int, name: str) -> Callable[..., Value]:
        """CALL_STATIC: an associated function, or a method, of a type."""
        definition = self._machine.module.types[type_index]
        owner = owner_name(definition.kind, definition.name)
        index = self._own.get(owner, {}).get(name)
        if index is not None:
            return self._machine.function(index)
        body = self._machine.native(f"{owner}::{name}")
        if body is None:
            raise failure(f"`{owner}` has no function `{name}`", "TypeError")
        return body

    def own(self, type_name: str) -> dict[str, int]:
        """The program's methods for a type, name to function index."""
        return self._own.get(type_name, {})

    def _look_up(self, receiver: Value, name: str) -> Method:
        """One that fills in defaults, as `add/1`, is there for types that have a method with such ones."""
        owner = _receiver_type(receiver)
        if name not in self._own.get(owner, {}):
            name = name.partition("/")[0]
        # A method of the library comes before those of traits, as where the type is known.
        body = None if isinstance(receiver, Struct | Variant) else self._native(f"{owner}::{name}")
        if body is not None:
            return Method(body, False)
        index = self._own.get(owner, {}).get(name)
        if index is not None:
            return Method(self._machine.function(index), self._machine.module.functions[index].inout)
        if isinstance(receiver, Handle):
            host = self._machine.host
            return Method(lambda handle, *arguments: host.call_handle(handle, name, list(arguments)), False)
        if name in _OF_ALL:
            return Method(_OF_ALL[name], False)
        own = isinstance(receiver, Struct | Variant) and hasattr(receiver, "__iter__")
        body = self._native(f"Iterator::{name}") if own or owner in _COLLECTIONS else None
        if body is not None and name != "next":
            return Method(body, False)
        raise no_method(receiver, name)

    def _native(self, name: str) -> Callable[..., Value] | None:
        body = self._machine.native(name)
        found = find_native(name)
        return body if found is None or body is None else looking_at_arguments(found, body)


def no_method(receiver: Value, name: str) -> Raised:
    return failure(f"{type_name(receiver)} has no method `{short_name(name)}`", "TypeError")


_OWNERS = {
    "array": "Array", "map": "Map", "option": "Option", "result": "Result", "tuple": "Tuple", "set": "Set",
    "queue": "Queue", "stack": "Stack", "task": "Task", "range": "Range", "fn": "fn", "hashmap": "HashMap",
}  # fmt: skip


_COLLECTIONS = frozenset({"Array", "Map", "Set", "Queue", "Stack", "Range"})


def owner_name(kind: str, name: str) -> str:
    """The name under which a type has its methods."""
    return _OWNERS.get(kind, name)


def _receiver_type(receiver: Value) -> str:
    if isinstance(receiver, Struct | Variant | ErrorValue | Handle):
        return receiver.type_name
    return type_name(receiver)


def attribute_of(method: str, *, in_the_open: bool = False) -> str:
    """The attribute of classes under which a trait's method stands, as usual or as one that returns in the
    open."""
    return f"{'u' if in_the_open else 'a'}{method.encode().hex()}"


def missing_attribute(receiver: Value, attribute: str) -> Raised | None:
    """The failure of a call by attribute; None if it is another attribute."""
    try:
        method = bytes.fromhex(attribute[1:]).decode()
    except ValueError:
        return None
    return no_method(receiver, method)


def is_of_classes(module: ModuleIR, method: str) -> bool:
    """Whether a method is a trait's, and all types that have it are structs and enums."""
    owners = [definition for definition in module.types if method in definition.methods]
    return "::" in method and all(
        definition.kind in ("struct", "schema", "enum")
        and not module.functions[definition.methods[method]].inout
        for definition in owners
    )


class MethodTable(dict[type, Callable[..., Value]]):
    """What a method is for each class of receivers; fills itself. What is not there fails when it is called,
    which is after its arguments were computed. With `mut` the methods give the changed receiver too."""

    def __init__(self, methods: Methods, name: str, *, mut: bool = False) -> None:
        super().__init__()
        self._first_call = partial(_first_call, self, methods, name, mut)

    def __missing__(self, receiver_class: type) -> Callable[..., Value]:
        return self._first_call


def _first_call(
    table: dict[type, Callable[..., Value]],
    methods: Methods,
    name: str,
    mut: bool,
    receiver: Value,
    *arguments: Value,
) -> Value:
    any_call = partial(methods.call_mut if mut else methods.call, name)
    method = methods.find(receiver, name)
    if type(receiver) is not ErrorValue:
        if method.inout is mut:
            table[type(receiver)] = method.body
        else:
            table[type(receiver)] = _with_receiver(method.body) if mut else any_call
    return any_call(receiver, *arguments)


def _with_receiver(body: Callable[..., Value]) -> Callable[..., Value]:
    """A method that changes its receiver in place, which gives that too."""

    def call(receiver: Value, *arguments: Value) -> Value:
        return body(receiver, *arguments), receiver

    return call
