"""Hashmaps, ledgers and memories: declared, changed and asked. All of a program share what they hold."""

from __future__ import annotations

from tests.properties.generating import general
from tests.properties.generating.kinds import BOOL, INT, NIL, STRING, Kind, names_in, pair, unify
from tests.properties.generating.library import Method, handle_methods
from tests.properties.generating.maker import Maker, Variable

_ROLES = ("system", "user", "assistant", "tool", "other")


def declare(maker: Maker, name: str) -> str:
    kind = maker.random.choice((Kind("HashMap"), Kind("HashMap"), Kind("Ledger"), Kind("Memory")))
    made = f"{kind}::new({maker.random.choice(('', '2')) if kind.name == 'Memory' else ''})"
    if kind.name == "HashMap":
        kind = Kind(
            "HashMap", (maker.random.choice((STRING, STRING, INT, BOOL, pair(INT, STRING))), maker.kind())
        )
        made += '.scope("b")' if kind.arguments[0] == STRING and maker.chance(0.2) else ""
    maker.states.append(Variable(name, kind))
    return f"pub {kind.name.lower()} {name}: {kind} = {made};"


def asked(maker: Maker, kind: Kind, known: bool) -> str | None:
    """A method of one of the handles that gives the type."""
    if not maker.states:
        return None
    state = maker.random.choice(maker.states)
    fitting: list[tuple[Method, dict[str, Kind]]] = []
    for method in handle_methods(state.kind.name):
        given = _given(method, state)
        # A type of the program's own may have the name of one of the library's.
        own = names_in(method.result) & (maker.types.structs.keys() | maker.types.enums.keys())
        if not own and unify(method.result, kind, given, method.free):
            fitting.append((method, given))
    return _called(maker, state, *maker.random.choice(fitting)) if fitting else None


def change(maker: Maker) -> str | None:
    """Mostly a method that changes the handle; a listener tells what it hears."""
    if not maker.states:
        return None
    state = maker.random.choice(maker.states)
    if state.kind.name == "HashMap" and maker.weight == 1 and maker.chance(0.15):
        return f'{state.name}.on_any_change(|k, old, new| println("${{k}} ${{old}} ${{new}}"));'
    methods = handle_methods(state.kind.name)
    changing = [method for method in methods if method.result in (NIL, BOOL) and method.parameters]
    method = maker.random.choice(changing if maker.chance(0.7) else methods)
    text = _called(maker, state, method, _given(method, state))
    return None if text is None else f"{text};" if maker.chance(0.5) else f"println({text});"


def _given(method: Method, state: Variable) -> dict[str, Kind]:
    given: dict[str, Kind] = {}
    unify(method.owner, state.kind, given, method.free)
    return given


def _called(maker: Maker, state: Variable, method: Method, given: dict[str, Kind]) -> str | None:
    """Some entries are seen through a scope. What makes a new value of an entry asks no handle for others."""
    if method.name == "append":
        return f'{state.name}.append("{maker.random.choice(_ROLES)}", {maker.value(STRING)})'
    scoped = state.kind.name == "Ledger" or given.get("K") == STRING
    handle = f'{state.name}.scope("a")' if scoped and maker.chance(0.2) else state.name
    before = maker.states, maker.callees
    if method.name == "update":
        maker.states, maker.callees = [], []
    text = general.library_call(maker, method, given, handle)
    maker.states, maker.callees = before
    return text
