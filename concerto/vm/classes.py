"""Run-time classes of the program's structs, schemas, tool states and enums: slotted, one per name.

Each class has a constructor of its own, because CPython's inline caches live in the code object: two
classes that share one would slow each other down.
"""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from operator import attrgetter
from types import CodeType, FunctionType

from concerto.annotating import Any, Protocol, TypeAlias
from concerto.ir.module import FieldDef, Function, TypeDef
from concerto.json_data import Json
from concerto.vm.copying import Copies, code_of, copy_value
from concerto.vm.equality import Equalities, same_by_own
from concerto.vm.values import NONE, OWN_METHODS, OwnMethods, Struct, Value, Variant, failure


class Executing(Protocol):
    """What the classes need of a machine."""

    def give_methods(self) -> None:
        """Give the classes methods: its own functions if it is their owner, else what finds them when it is
        called."""


class ClassTable:
    """Makes each class when it is first asked for; of two threads that ask at once, both get one class.
    `functions` are all that can change values of these types, if somebody knows them."""

    def __init__(self, types: Sequence[TypeDef], functions: Sequence[Function] | None = None) -> None:
        self.types = types
        self.copies = Copies(types, functions)
        self._equalities = Equalities(types)
        self._by_name: dict[str, TypeDef] = {}
        for definition in types:
            if definition.declared:
                known = self._by_name.get(definition.name)
                if known is None or (known.items and not definition.items):
                    self._by_name[definition.name] = definition
        self.own_methods = [
            (definition.name, own)
            for definition in types
            if definition.methods
            and definition.declared
            and (own := {name: index for name, index in definition.methods.items() if name in OWN_METHODS})
        ]
        """The types with text, equality or order of their own, and the functions for these."""
        self.readers: dict[int, Callable[[Json], Value] | None] = {}
        """What `json_readers` made to read values of these types, by their numbers."""
        self.owner: Executing | None = None
        """The machine that runs, or did last, whose functions the classes have as their methods. If several
        run at once it is none of them, and the methods ask each for its own."""
        self._running = 0
        self._lock = RLock()
        self._structs: dict[str, type[Struct]] = {}
        self._variants: dict[tuple[str, int], Any] = {}
        self._others: dict[str, ClassTable] = {}

    def enter(self, machine: Executing) -> None:
        """A machine begins to run, which it does until it leaves."""
        with self._lock:
            alone = not self._running
            if self.owner is not machine and (alone or self.owner is not None):
                self.owner = machine if alone else None
                machine.give_methods()
            self._running += 1

    def leave(self) -> None:
        with self._lock:
            self._running -= 1

    def give_more(self, machine: Executing) -> None:
        """A machine has more methods than it gave the classes."""
        with self._lock:
            machine.give_methods()

    def inherit(self, earlier: ClassTable) -> None:
        """Before anything is made: let what is declared as it was before have the classes that it had. Values
        of a type that is declared otherwise are from now on of a type with another name."""
        for name, table in {**dict.fromkeys(earlier._by_name, earlier), **earlier._others}.items():
            mine, other = self._by_name.get(name), table._by_name[name]
            # Where values of a generic type are only used, a program may have no general form of it.
            filled = mine.items if mine is not None and not other.items else ()
            if mine is None or _same(mine, self.types, other, table.types, set(), filled):
                self._others[name] = table
            else:
                for made in table.of(name):
                    made.type_name = f"{name} (as it was)"  # type: ignore[attr-defined]

    def definition(self, name: str) -> TypeDef | None:
        """The general form of a struct, schema or enum."""
        return self._by_name.get(name)

    def struct(self, name: str) -> type[Struct]:
        """The class of a struct, schema or tool state."""
        made = self._structs.get(name)
        if made is None:
            definition = self._by_name.get(name)
            if definition is None or definition.kind == "enum":
                raise failure(f"the program has no struct `{name}`", "TypeError")
            if name in self._others:
                made = self._others[name].struct(name)
            else:
                made = _struct_class(self.copies, self._equalities, definition, self._reflexive)
            made = self._structs.setdefault(name, made)
        return made

    def variant(self, name: str, tag: int) -> Any:
        """The class of a variant with payload, or the one instance of a variant without."""
        made = self._variants.get((name, tag))
        if made is None and name in self._others:
            made = self._variants.setdefault((name, tag), self._others[name].variant(name, tag))
        elif made is None:
            definition = self._by_name[name]
            made = _variant_class(self.copies, self._equalities, definition, tag, self._reflexive)
            if not definition.variants[tag].fields:
                made = made()
            made = self._variants.setdefault((name, tag), made)
        return made

    def _reflexive(self, fields: Sequence[FieldDef]) -> Callable[[], bool]:
        """Whether what has these fields equals itself for sure: whether no part can be a Float, so a NaN, or
        have an `impl Eq`. Found out when it is first asked."""

        def answer() -> bool:
            own = {name for name, methods in self.own_methods if "<std>::Eq::equals" in methods}
            seen: set[int] = set()
            todo = [field.type for field in fields]
            while todo:
                index = todo.pop()
                of = self.types[index]
                if of.kind in _ANYTHING or of.name in _NOT_REFLEXIVE or of.name in own:
                    return False
                if index not in seen:
                    seen.add(index)
                    declared = [*of.fields, *[field for variant in of.variants for field in variant.fields]]
                    todo += [*of.items, *[field.type for field in declared]]
            return True

        return cache(answer)

    def of(self, name: str) -> list[type]:
        """All classes of a struct, schema or enum; none for anything else."""
        definition = self._by_name.get(name)
        if definition is None:
            return []
        if definition.kind != "enum":
            return [self.struct(name)]
        made = [self.variant(name, tag) for tag in range(len(definition.variants))]
        return [each if isinstance(each, type) else type(each) for each in made]


def build_variant(table: ClassTable, name: str, tag: int, payload: Sequence[Value]) -> Value:
    made = table.variant(name, tag)
    return made(*payload) if payload else made


def _same(
    one: TypeDef,
    types: Sequence[TypeDef],
    other: TypeDef,
    others: Sequence[TypeDef],
    seen: set[str],
    filled: Sequence[int],
) -> bool:
    """Whether two programs declare one type; `seen` are the names that are being compared already, `filled`
    the types that stand in the first for the parameters of the second."""
    if other.kind == "param" and one in [types[each] for each in filled]:
        return True
    if (one.kind, one.name, one.literals) != (other.kind, other.name, other.literals):
        return False
    pairs = [] if filled and other.declared and not other.items else [(one.items, other.items)]
    if one.name not in seen and (one.fields or one.variants or other.fields or other.variants):
        seen.add(one.name)
        groups = [(one.fields, other.fields)]
        if [(each.name, each.named) for each in one.variants] != [
            (each.name, each.named) for each in other.variants
        ]:
            return False
        groups += [(a.fields, b.fields) for a, b in zip(one.variants, other.variants, strict=True)]
        for mine, theirs in groups:
            if [each.name for each in mine] != [each.name for each in theirs]:
                return False
            pairs.append(([each.type for each in mine], [each.type for each in theirs]))
    return all(
        len(mine) == len(theirs)
        and all(
            _same(types[a], types, others[b], others, seen, filled) for a, b in zip(mine, theirs, strict=True)
        )
        for mine, theirs in pairs
    )


_ANYTHING = frozenset({"param", "error"})
_NOT_REFLEXIVE = frozenset({"Float", "Any"})

_Reflexive: TypeAlias = Callable[[Sequence[FieldDef]], Callable[[], bool]]


def _struct_class(
    copies: Copies, equalities: Equalities, definition: TypeDef, reflexive: _Reflexive
) -> type[Struct]:
    fields = [field.type for field in definition.fields]
    slots = tuple(f"f{slot}" for slot in range(len(definition.fields)))
    body = {
        "__slots__": slots,
        "__init__": FunctionType(_constructor(len(slots), None).replace(), {}),
        "copied": staticmethod(copies.of(definition, fields)),
        "same": staticmethod(equalities.of(fields)),
        "reflexive": staticmethod(reflexive(definition.fields)),
        "type_name": definition.name,
        "field_names": tuple(field.name for field in definition.fields),
        "positional": definition.positional,
        "__eq__": FunctionType(_equality(len(slots)).replace(), {}),
        "__hash__": FunctionType(_hash(slots).replace(), {}),
        "parts": staticmethod(attrgetter("type_name", *slots)),
    }
    return type("Record", (Struct,), body)


def _variant_class(
    copies: Copies, equalities: Equalities, definition: TypeDef, tag: int, reflexive: _Reflexive
) -> type[Variant]:
    variant = definition.variants[tag]
    fields = [field.type for field in variant.fields]
    count = len(variant.fields)
    slots = ("tag", *(f"f{slot}" for slot in range(count)))
    body = {
        "__slots__": slots,
        "__init__": FunctionType(_constructor(count, tag).replace(), {}),
        "copied": staticmethod(copies.of(definition, fields)),
        "same": staticmethod(equalities.of(fields)),
        "reflexive": staticmethod(reflexive(variant.fields)),
        "type_name": definition.name,
        "variant_name": variant.name,
        "field_names": tuple(field.name for field in variant.fields),
        "named": variant.named,
    }
    if count:
        body |= {
            "__eq__": FunctionType(_equality(count).replace(), {}),
            "__hash__": FunctionType(_hash(slots).replace(), {}),
            "parts": staticmethod(attrgetter(*slots)),
        }
    return type("Record", (Variant,), body)


def give_own_methods(made: Any, own: OwnMethods) -> None:
    """Let the values of a class have text, order, equality (as keys of maps too) and elements as their type
    says."""
    made.own = own
    if own.equals is not None:
        made.same = staticmethod(same_by_own)
        made.__eq__ = _own_equals
        made.__hash__ = _own_hash
    if own.next is not None:
        made.__iter__ = _own_items


def _own_equals(value: Any, other: Any) -> bool:
    return value is other or same_by_own(value, other, 0, [])


def _own_hash(value: Any) -> int:
    return hash(value.own.hash(value)) if value.own.hash is not None else 0


def _own_items(value: Any) -> Iterator[Value]:
    """What `next` of an own copy gives; of an enum it gives the changed value with it."""
    following = value.own.next
    items_of = getattr(following, "items_of", None)
    if items_of is not None:
        return items_of(copy_value(value), value.own.poll)  # type: ignore[no-any-return]
    return _items_of(copy_value(value), following, value.own.poll)


def _items_of(value: Value, following: Callable[[Value], Value], poll: Callable[[], None]) -> Iterator[Value]:
    is_struct = isinstance(value, Struct)
    while True:
        poll()
        found = following(value)
        if not is_struct:
            found, value = found
        if found is NONE:
            return
        yield found.value


@lru_cache(maxsize=256)
def _equality(count: int) -> CodeType:
    """`__eq__` for that many slots, as tuples of them compare: whether two keys of a map are the same, or two
    values of a plain type."""
    same = [f"(self.f{slot} is other.f{slot} or self.f{slot} == other.f{slot})" for slot in range(count)]
    text = " and ".join(["self.__class__ is other.__class__", *same])
    return code_of("__eq__(self, other)", f" return {text}")


@lru_cache(maxsize=256)
def _hash(slots: Sequence[str]) -> CodeType:
    """`__hash__` of what equals by these slots."""
    return code_of("__hash__(self)", f" return hash(({''.join([f'self.{slot}, ' for slot in slots])}))")


@lru_cache(maxsize=256)
def _constructor(count: int, tag: int | None) -> CodeType:
    """`__init__` for that many slots; `replace()` of the result gives a copy with caches of its own."""
    slots = [f"f{slot}" for slot in range(count)]
    lines = [f" self.tag = {int(tag)}"] if tag is not None else []
    lines += [f" self.{slot} = {slot}" for slot in slots]
    return code_of(f"__init__({', '.join(['self', *slots])})", *lines or [" pass"])
