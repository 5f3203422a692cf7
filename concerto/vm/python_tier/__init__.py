"""The Python tier, a compiler to Python: every function of the IR as a Python function, compiled by CPython.

`compile_module` gives bytes to be cached; `PythonTier` makes a machine run them, and loads neither what
writes the code nor the interpreter unless they are needed. No text of the program becomes code: generated
names and numbers only, everything else is passed in (`names`).
"""

from __future__ import annotations

import gc
import marshal
import sys
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache, partial
from itertools import islice
from types import CodeType, FunctionType, TracebackType

from concerto.annotating import TYPE_CHECKING, Any, TypeAlias
from concerto.ir.module import ModuleIR
from concerto.vm.access import out_of_bounds
from concerto.vm.collections import Set
from concerto.vm.copying import Copies
from concerto.vm.dispatch import MethodTable, attribute_of
from concerto.vm.failures import EXPLAIN
from concerto.vm.operations import type_name
from concerto.vm.python_tier.names import MISSING, Names, link, opened, words_of_run
from concerto.vm.python_tier.polling import endless_ticks
from concerto.vm.python_tier.strings import with_strings
from concerto.vm.values import NEXT, Raised, Value, failure

if TYPE_CHECKING:
    from concerto.vm.executor import Executed
    from concerto.vm.interpreter import Interpreter
    from concerto.vm.python_tier.arguments import Arguments
    from concerto.vm.python_tier.codegen import Origin
    from concerto.vm.python_tier.unboxing import Openings

FILE = "<concerto>"
"""The file name of generated code."""

TIER = "tier"
"""The name under which generated code's namespace holds its PythonTier."""


def compile_module(module: ModuleIR) -> bytes:
    """All functions of a module, compiled; only for this version of Python."""
    return marshal.dumps((sys.hexversion, *_compile(module, Copies(module.types, module.functions))))


Facts: TypeAlias = dict[int, tuple[tuple[str, int, int], ...]]

Compiled: TypeAlias = tuple[CodeType, list[int], list[int], list[str], dict[str, tuple[Any, ...]], Facts]


Places: TypeAlias = tuple[tuple[int, int], ...]
"""A function and an instruction of it, and those of the closures in which that stands, if they are written
into it."""

PlaceTable: TypeAlias = dict[tuple[str, int, int, int], Places]
"""By the name of generated code, a line and columns in it."""


Tell: TypeAlias = Callable[..., Raised | None]
"""What says of the operands of an instruction why it failed."""


class _Traced:
    """What has been found out of where code of a module came from, for all runs of a program."""

    def __init__(self, module: ModuleIR) -> None:
        self.module = module
        self.origins: dict[str, Origin] = {}
        self.plans: tuple[Openings, Arguments] | None = None
        self.places: PlaceTable = {}
        self.operands: dict[tuple[CodeType, int], tuple[Tell, CodeType | None]] = {}

    @cached_property
    def written(self) -> ModuleIR:
        """The module as it is written, with its functions' copies for constant tables."""
        from concerto.vm.python_tier.specialising import specialise

        return specialise(self.module).module

    def wrong_call(self, function: Value, *_arguments: Value) -> Raised | None:
        if not callable(function):
            return failure(f"{type_name(function)} cannot be called", "TypeError")
        index = _function_index(getattr(function, "__code__", None))
        if index is None:
            return None
        name = self.written.functions[index].name
        return failure(f"`{name}` is called with a wrong number of arguments", "TypeError")


@lru_cache(maxsize=16)
def _loaded(code: bytes) -> tuple[Compiled, list[_Traced]] | None:
    """What `compile_module` compiled, and what was traced in it, once for all runs of a program."""
    version, *compiled = marshal.loads(code)
    return (tuple(compiled), []) if version == sys.hexversion else None


def places_of(code: bytes) -> PlaceTable:
    """What has been found out of where code that runs comes from; it may be given what others found."""
    loaded = _loaded(code)
    return loaded[1][0].places if loaded is not None and loaded[1] else {}


def _load(module: ModuleIR, copies: Copies, code: bytes | None) -> tuple[Compiled, _Traced]:
    loaded = None if code is None else _loaded(code)
    if loaded is None:
        return _compile(module, copies), _Traced(module)
    compiled, last = loaded
    traced = last[0] if last and last[0].module is module else _Traced(module)
    last[:] = [traced]
    return compiled, traced


def _compile(module: ModuleIR, copies: Copies) -> Compiled:
    """The code that defines the functions, the functions of which it defines more than one (see
    `specialising`), those that it leaves to the interpreter, the names it uses, and the kinds and bounds that
    it takes for granted of arguments."""
    import warnings

    from concerto.vm.python_tier.codegen import module_texts
    from concerto.vm.python_tier.specialising import specialise

    names = Names()
    special = specialise(module)
    texts, arguments = module_texts(special.module, names, copies)
    skipped = [index for index in range(len(special.module.functions)) if index not in texts]
    with warnings.catch_warnings():
        # Of what can only fail, which IR from elsewhere may hold.
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            code = compile("\n".join(texts.values()), FILE, "exec", dont_inherit=True)
        except (SyntaxError, RecursionError, MemoryError):
            code, refused = _compile_one_by_one(texts)
            skipped += refused
    granted = {
        index: tuple([(fact.kind, fact.low, fact.high) for fact in facts])
        for index, facts in arguments.items()
    }
    used = names.used | words_of_run(code)
    return with_strings(code, module.constants), special.originals, skipped, names.texts, used, granted


def _compile_one_by_one(texts: dict[int, str]) -> tuple[CodeType, list[int]]:
    """The code of those functions that CPython's compiler has room for, and the others."""
    accepted, refused = [], []
    for index, text in texts.items():
        try:
            compile(text, FILE, "exec", dont_inherit=True)
        except (SyntaxError, RecursionError, MemoryError):
            refused.append(index)
        else:
            accepted.append(text)
    return compile("\n".join(accepted), FILE, "exec", dont_inherit=True), refused


class PythonTier:
    """The executor `python` of a machine."""

    def __init__(self, machine: Executed, code: bytes | None = None) -> None:
        self.machine = machine
        (compiled, self._originals, skipped, self._texts, used, granted), self._traced = _load(
            machine.module, machine.classes.copies, code
        )
        self._granted = {index: facts for index, facts in granted.items() if index not in skipped}
        self._interpreter = _interpreter(machine) if skipped else None
        self._cancelled: list[tuple[FunctionType, CodeType]] = []
        self._own = dict.fromkeys(self._own_methods(used))
        self._namespace = link(machine, self._texts, used)
        self._namespace[TIER] = self
        self._namespace[EXPLAIN] = self.explain
        exec(compiled, self._namespace)
        for index in skipped:
            self._leave_to_interpreter(index)
        self._make_tables(used)
        self._open_iterators()

    def _open_iterators(self) -> None:
        """What goes through an iterator of the program asks for its elements in the open."""
        for definition in self.machine.module.types:
            index = definition.methods.get(NEXT)
            usual = self._namespace.get(f"f{index}")
            if type(usual) is FunctionType and f"u{index}" in self._namespace:
                usual.items_of = partial(_items_of, self._namespace[f"u{index}"])  # type: ignore[attr-defined]

    def _make_tables(self, used: dict[str, tuple[Any, ...]]) -> None:
        for name, what in used.items():
            if what[0] == "table" and name not in self._namespace:
                self._namespace[name] = self._namespace[f"f{what[1]}"]()

    def _own_methods(self, used: dict[str, tuple[Any, ...]]) -> Iterator[tuple[str, bool]]:
        """The methods of traits that code calls as attributes, and whether for what they give in the open."""
        for what in used.values():
            if what[0] in ("own", "open"):
                yield self._texts[what[1]], what[0] == "open"

    def give_methods(self, *, alone: bool) -> None:
        for method, in_the_open in self._own:
            usual, classes = attribute_of(method), self.machine.classes
            name = attribute_of(method, in_the_open=in_the_open)
            for definition in self.machine.module.types:
                if method in definition.methods:
                    index = self.machine.methods.own(definition.name)[method]
                    function = self._namespace[f"u{index}"] if in_the_open else self.function(index)
                    if type(function) is not FunctionType or not alone:
                        function = _of_the_caller(usual, in_the_open=in_the_open)
                    for made in classes.of(definition.name):
                        setattr(made, name, function)

    def _leave_to_interpreter(self, index: int) -> None:
        from concerto.vm.interpreter import InterpretedFunction

        interpreter = self._interpreter
        assert interpreter is not None
        own = len(self.machine.module.functions)
        original = index if index < own else self._originals[index - own]

        def closure(*captures: Value) -> Value:
            return InterpretedFunction(interpreter, original, captures)

        function = self._namespace[f"f{index}"] = InterpretedFunction(interpreter, original, ())
        self._namespace[f"g{index}"] = closure

        def in_the_open(*arguments: Value) -> Value:
            openings, _ = self._plan()
            taken = openings.takes_items(index, len(arguments))
            given = [Set(part) if number in taken else part for number, part in enumerate(arguments)]
            result = function(*given)
            return opened(result) if index in openings.functions else result

        self._namespace[f"u{index}"] = in_the_open

    def function(self, index: int) -> Callable[..., Value]:
        captures = self.machine.module.functions[index].captures
        if not captures:
            plain: Callable[..., Value]
            if index in self._granted:
                plain = self._general(index)
            else:
                plain = self._namespace[f"f{index}"]
            return plain
        make = self._namespace[f"g{index}"]
        return lambda *arguments: make(*arguments[:captures])(*arguments[captures:])

    def _general(self, index: int) -> Callable[..., Value]:
        """A function for callers from outside, who may pass anything: made when it is asked for."""
        if f"F{index}" not in self._namespace:
            self._define_general(index)
        general: Callable[..., Value] = self._namespace[f"F{index}"]
        return general

    def _define_general(self, index: int) -> None:
        from concerto.vm.python_tier.codegen import general_text

        module = self.module
        names = Names(self._texts)
        openings, arguments = self._plan()
        texts: dict[int, str] = {}
        wanted = {index}
        while wanted:
            called = wanted.pop()
            texts[called], more = general_text(module, called, names, openings, arguments)
            wanted |= {other for other in more if other not in texts and f"F{other}" not in self._namespace}
        code = compile("\n".join(texts.values()), FILE, "exec", dont_inherit=True)
        for name, value in link(self.machine, names.texts, names.used | words_of_run(code)).items():
            self._namespace.setdefault(name, value)
        exec(with_strings(code, module.constants), self._namespace)
        self._make_tables(names.used)
        own = dict.fromkeys([*self._own, *self._own_methods(names.used)])
        if len(own) > len(self._own):
            self._own = own
            self.machine.classes.give_more(self.machine)

    def _plan(self) -> tuple[Openings, Arguments]:
        """What the code was written by."""
        if self._traced.plans is None:
            from concerto.vm.python_tier.expression import Fact
            from concerto.vm.python_tier.unboxing import find_openings

            arguments = {
                index: tuple([Fact(*fact) for fact in facts]) for index, facts in self._granted.items()
            }
            self._traced.plans = find_openings(self.module, self.machine.classes.copies), arguments
        return self._traced.plans

    @property
    def module(self) -> ModuleIR:
        """What the numbers of functions in generated code are those of."""
        return self._traced.written

    def cancel(self) -> None:
        """Give every function a body that stops the run. Loops come to `poll` by themselves."""
        if self._interpreter is not None:
            self._interpreter.cancel()
        mine = self._namespace
        for found in gc.get_objects():
            if (
                type(found) is FunctionType
                and found.__globals__ is mine
                and found.__code__.co_filename == FILE
            ):
                self._cancelled.append((found, found.__code__))
                found.__code__ = _stopper(len(found.__code__.co_freevars))

    def revive(self) -> None:
        if self._interpreter is not None:
            self._interpreter.revive()
        # Of a function that was cancelled twice, the first is its own code.
        for function, code in reversed(self._cancelled):
            function.__code__ = code
        self._cancelled.clear()

    def places(self, code: CodeType, at: int, outer: CodeType | None) -> Places:
        """Where generated code is at an offset of its bytecode, from its function on; none in what belongs to
        no function. Of a comprehension, `outer` is the code of the function."""
        owner = code if is_function(code) else outer if code.co_name[0] == "<" else None
        if owner is None or code.co_filename != FILE:
            return ()
        line, last_line, start, end = next(islice(code.co_positions(), at // 2, None))
        if last_line != line:
            start = end = -1  # All of a loop, for who asks for its next element.
        key = (owner.co_name, line or code.co_firstlineno, start or 0, end or 0)
        if key not in self._traced.places:
            self._traced.places[key] = self._origin(owner).find(key[1] - owner.co_firstlineno, start, end)
        return self._traced.places[key]

    def explain(self, trace: TracebackType, outer: CodeType | None) -> Raised | None:
        """The precise failure behind an exception of Python's in generated code: its operands are computed
        again, which only reads locals and parts of values."""
        frame = trace.tb_frame
        key = (frame.f_code, trace.tb_lasti)
        known = self._traced.operands.get(key)
        if known is None:
            known = self._traced.operands[key] = self._operands_of(*key, outer)
        tell, code = known
        return None if code is None else tell(*eval(code, frame.f_globals, dict(frame.f_locals)))

    def _operands_of(self, code: CodeType, at: int, outer: CodeType | None) -> tuple[Tell, CodeType | None]:
        """What tells why an instruction failed, and code that computes the tuple of its operands."""
        places = self.places(code, at, outer)
        owner = code if is_function(code) else outer
        texts = self._origin(owner).operands.get(places) if places and owner is not None else None
        if texts is not None:
            index, pc = places[-1]
            module = self.module
            match module.functions[index].code[pc]:
                case ("INDEX_ARRAY" | "INDEX_STRING" | "SET_INDEX_ARRAY", *_):
                    tell: Tell = _wrong_index
                case ("CALL_NATIVE", "Array::swap", _):
                    tell = _wrong_swap
                case ("CALL_VALUE", *_):
                    tell = self._traced.wrong_call
                case _:
                    return _nothing, None
            operands = compile(f"({', '.join(texts)},)", FILE, "eval")
            return tell, with_strings(operands, module.constants)
        return _nothing, None

    def _origin(self, code: CodeType) -> Origin:
        """Where the text of a function came from, general or not."""
        name = code.co_name
        origin = self._traced.origins.get(name)
        if origin is None:
            from concerto.vm.python_tier.codegen import trace_origin

            openings, arguments = self._plan()
            origin = self._traced.origins[name] = trace_origin(
                self.module,
                int(name[1:]),
                Names(self._texts),
                openings,
                arguments,
                general=name[0].isupper(),
            )
        return origin


def _wrong_index(items: Value, position: Value, *_: Value) -> Raised | None:
    if isinstance(items, (list, str)) and isinstance(position, int):
        return out_of_bounds(position, items)
    return None


def _wrong_swap(items: list[Value], *positions: int) -> Raised | None:
    outside = [position for position in positions if position >= len(items)]
    return out_of_bounds(outside[0], items) if outside else None


def _nothing(*_: Value) -> None:
    return None


def _items_of(following: Callable[[Value], Value], value: Value, poll: Callable[[], None]) -> Iterator[Value]:
    for _ in endless_ticks(poll):
        found = following(value)
        if found is MISSING:
            return
        yield found


def _of_the_caller(name: str, *, in_the_open: bool) -> Callable[..., Value]:
    """A trait's method as the machine has it whose generated code calls it."""

    def method(receiver: Value, *arguments: Value) -> Value:
        table: MethodTable = sys._getframe(1).f_globals[name]
        result = table[type(receiver)](receiver, *arguments)
        return opened(result) if in_the_open else result

    return method


def _interpreter(machine: Executed) -> Interpreter:
    from concerto.vm.handlers import interpreter_of

    return interpreter_of(machine)


def is_function(code: CodeType) -> bool:
    """Whether generated code is that of a function, and not of a comprehension in it."""
    return _function_index(code) is not None


def _function_index(code: CodeType | None) -> int | None:
    if code is None or code.co_filename != FILE or not code.co_name[1:].isdecimal():
        return None
    return int(code.co_name[1:])


_STOPPERS: dict[int, CodeType] = {}


def _stopper(free_variables: int) -> CodeType:
    """A body that stops the run, for a function with that many captures."""
    code = _STOPPERS.get(free_variables)
    if code is None:
        names = [f"v{number}" for number in range(free_variables)]
        listed = ", ".join(names)
        text = f"def make({listed}):\n def stop(*_):\n  stopped()\n  ({listed})\n return stop"
        namespace: dict[str, Any] = {}
        exec(compile(text, FILE, "exec"), namespace)
        code = _STOPPERS[free_variables] = namespace["make"](*[None] * free_variables).__code__
    return code
