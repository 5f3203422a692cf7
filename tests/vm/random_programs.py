"""Random well-formed programs that use every kind of region and leave no order of evaluation untested.

A program is one function over typed locals. Expressions may hold whole regions, with values of unfinished
expressions below them on the stack; `Test::note` tells in which order things happen; fuel ends every loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from concerto.ir.module import FieldDef, Function, Instr, ModuleIR, TypeDef, VariantDef

INTS, BOOLS, STRINGS, FLOATS = range(4), range(4, 6), range(6, 8), range(8, 10)
ARRAY, STRUCT, FUEL, ITEM, CAUGHT = 10, 11, 12, 13, 18
SETS = range(56, 59)
LOCALS = 60
SET_TYPE = 3

_EDGES = (0, 1, -1, 2, 3, 7, 10, 2**31, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1)


@dataclass
class _Open:
    """A region around the code being made. A loop is entered again by a branch to it."""

    loop: bool
    result: str = ""


@dataclass
class ProgramMaker:
    random: Random
    module: ModuleIR = field(init=False)
    code: list[Instr] = field(default_factory=list)
    regions: list[_Open] = field(default_factory=list)
    budget: int = 60
    catching: int = 0

    def __post_init__(self) -> None:
        types = [
            TypeDef("builtin", "Int"),
            TypeDef("struct", "Pair", fields=[FieldDef("a", 0), FieldDef("b", 0)]),
            TypeDef(
                "enum",
                "Choice",
                variants=[VariantDef("None"), VariantDef("One", [FieldDef("0", 0)]), VariantDef("Two")],
            ),
            TypeDef("set", "Set", items=[0]),
        ]
        self.module = ModuleIR("random", "random.conc", types=types)

    def make(self) -> ModuleIR:
        """`main(a, b)` that returns the text of all it knows, and a function that calls may go to."""
        self.module.functions += [self._helper(), self._set_helper()]
        for slot in INTS:
            if slot > 1:
                self._int_constant()
                self._do("STORE_LOCAL", slot)
        for slot in BOOLS:
            self._do(self.random.choice(("LOAD_TRUE", "LOAD_FALSE")))
            self._do("STORE_LOCAL", slot)
        for slot in STRINGS:
            self._constant(self.random.choice(("", "a", 'x"y', "é{}")))
            self._do("STORE_LOCAL", slot)
        for slot in FLOATS:
            self._constant(self.random.choice((0.0, 1.5, -2.0, 1e300)))
            self._do("STORE_LOCAL", slot)
        for slot in SETS:
            self._new_set()
            self._do("STORE_LOCAL", slot)
        for number in (5, 6, 7):
            self._constant(number)
        self._do("BUILD_ARRAY", 3)
        self._do("STORE_LOCAL", ARRAY)
        self._constant(1)
        self._constant(2)
        self._do("BUILD_STRUCT", 1, 2)
        self._do("STORE_LOCAL", STRUCT)
        self._constant(20)
        self._do("STORE_LOCAL", FUEL)
        self.statements(4)
        for slot in (*INTS, *BOOLS, *STRINGS, *FLOATS, ARRAY, STRUCT):
            self._do("LOAD_LOCAL", slot)
        for slot in SETS:
            self._do("LOAD_LOCAL", slot)
            if slot != SETS[0]:
                # Nobody but the natives looks at these, so that they may be kept as items.
                self._do("CALL_NATIVE", "Set::to_array", 1)
        self._do("FORMAT", 12 + len(SETS), "?" * (12 + len(SETS)))
        self._do("RETURN")
        self.module.functions.append(Function("main", ["a", "b"], 0, LOCALS, self.code, 0, []))
        self.module.entry = None
        return self.module

    def _helper(self) -> Function:
        code: list[Instr] = [
            ("LOAD_LOCAL", 0),
            ("CALL_NATIVE", "Test::note", 1),
            ("LOAD_CONST", self._index(3)),
            ("SUB_INT",),
            ("RETURN",),
        ]
        return Function("helper", ["n"], 0, 1, code, 0, [])

    def _set_helper(self) -> Function:
        """A set and a number: the set with the number, or, if it is there, a new one."""
        code: list[Instr] = [
            ("LOAD_LOCAL", 0),
            ("LOAD_LOCAL", 1),
            ("CALL_NATIVE", "Set::insert_plain", 2),
            ("IF", 0),
            ("LOAD_LOCAL", 0),
            ("RETURN",),
            ("END",),
            ("CALL_NATIVE", "Set::new", 0),
            ("STORE_LOCAL", 2),
            ("LOAD_LOCAL", 2),
            ("RETURN",),
        ]
        return Function("set_helper", ["s", "n"], 0, 3, code, 0, [])

    def _new_set(self) -> None:
        for _ in range(2):
            self._int_constant()
        self._do("BUILD_ARRAY", 2)
        self._do("CALL_NATIVE", "Set::from", 1)

    def _index(self, value: int | float | str) -> int:
        for index, constant in enumerate(self.module.constants):
            if type(constant) is type(value) and repr(constant) == repr(value):
                return index
        self.module.constants.append(value)
        return len(self.module.constants) - 1

    def _do(self, *instr: int | str) -> None:
        self.code.append(instr)

    def _constant(self, value: int | float | str) -> None:
        self._do("LOAD_CONST", self._index(value))

    def _int_constant(self) -> None:
        self._constant(
            self.random.choice(_EDGES) if self.random.random() < 0.3 else self.random.randint(-5, 12)
        )

    # Statements

    def statements(self, depth: int) -> None:
        for _ in range(self.random.randint(1, 4)):
            if not self.statement(depth):
                return

    def statement(self, depth: int) -> bool:
        """One statement; false if nothing can follow it."""
        self.budget -= 1
        choices = ["store", "store", "store", "element", "field", "drop", "set", "set"]
        if self.regions:
            choices += ["leave_if", "leave_if", "leave"]
        if depth > 0 and self.budget > 0:
            choices += ["if", "if", "block", "loop", "for", "switch", "try", "return_if"]
        match self.random.choice(choices):
            case "store":
                self._store(depth)
            case "element":
                self._do("LOAD_LOCAL", ARRAY)
                self.expression("int", depth - 1)
                self.expression("int", depth - 1)
                self._do("SET_INDEX_ARRAY")
            case "field":
                self._do("LOAD_LOCAL", STRUCT)
                self.expression("int", depth - 1)
                self._do("SET_FIELD", self.random.randint(0, 1))
            case "set":
                self.expression("set", depth - 1)
                self._change_set(depth)
                self._do("POP")
            case "drop":
                self.expression(self.random.choice(("int", "string")), depth - 1)
                self._do("POP")
            case "leave_if":
                self._leave_if(depth)
            case "leave":
                return self._leave(depth)
            case "if":
                self.expression("bool", depth - 1)
                self._region("IF", 0, depth, [None, ("ELSE",)] if self.random.random() < 0.5 else [None])
            case "block":
                self._region("BLOCK", 0, depth, [None])
            case "loop":
                self._loop(depth)
            case "for":
                self._for(depth)
            case "switch":
                self._switch("", depth)
            case "try":
                self._try("", depth)
            case _:
                self.expression("bool", depth - 1)
                self._do("IF", 0)
                self.regions.append(_Open(False))
                self.expression("string", depth - 1)
                self._do("RETURN")
                self.regions.pop()
                self._do("END")
        return True

    def _store(self, depth: int) -> None:
        kind, slots = self.random.choice(
            (
                ("int", INTS),
                ("int", INTS),
                ("bool", BOOLS),
                ("string", STRINGS),
                ("float", FLOATS),
                ("set", SETS),
            )
        )
        self.expression(kind, depth)
        self._do("STORE_LOCAL", self.random.choice(slots))

    def _leave_if(self, depth: int) -> None:
        levels = [level for level, region in enumerate(reversed(self.regions)) if not region.result]
        if levels:
            self.expression("bool", depth - 1)
            self._do("BR_IF", self.random.choice(levels))

    def _leave(self, depth: int) -> bool:
        what = self.random.random()
        if what < 0.15:
            self.expression("string", depth - 1)
            self._do("THROW")
        elif what < 0.25:
            self.expression("string", depth - 1)
            self._do("RETURN")
        else:
            level = self.random.randrange(len(self.regions))
            region = self.regions[-1 - level]
            if region.result:
                self.expression(region.result, depth - 1)
            self._do("BR", level)
        return False

    def _change_set(self, depth: int) -> None:
        """From a set to whether it was changed."""
        self.expression("int", depth - 1)
        self._do("CALL_NATIVE", self.random.choice(("Set::insert_plain", "Set::remove_plain")), 2)

    # Regions

    def _region(self, kind: str, result: int, depth: int, parts: list[Instr | None], gives: str = "") -> None:
        self._do(kind, result)
        self.regions.append(_Open(False, gives))
        for part in parts:
            if part is not None:
                self.code.append(part)
            self._arm(gives, depth)
        self.regions.pop()
        self._do("END")

    def _arm(self, gives: str, depth: int) -> None:
        for _ in range(self.random.randint(0, 2)):
            if not self.statement(depth - 1):
                return
        if gives:
            self.expression(gives, depth - 1)

    def _loop(self, depth: int) -> None:
        self._do("BLOCK", 0)
        self.regions.append(_Open(False))
        self._do("LOOP")
        self.regions.append(_Open(True))
        self._do("LOAD_LOCAL", FUEL)
        self._constant(0)
        self._do("LE_INT")
        self._do("BR_IF", 1)
        self._do("LOAD_LOCAL", FUEL)
        self._constant(1)
        self._do("SUB_INT")
        self._do("STORE_LOCAL", FUEL)
        self._arm("", depth)
        self.regions.pop()
        self._do("END")
        self.regions.pop()
        self._do("END")

    def _for(self, depth: int) -> None:
        item = ITEM + self.random.randint(0, 4)
        if self.random.random() < 0.2:
            self.expression("set", depth - 1)
            self._do("COPY_OF", SET_TYPE)
        elif self.random.random() < 0.5:
            self._constant(self.random.randint(-3, 3))
            self._constant(self.random.randint(0, 5))
            self._do("BUILD_RANGE", self.random.randint(0, 1))
        else:
            self._do("LOAD_LOCAL", ARRAY)
            self._do("COPY")
        self._do("FOR", item)
        self.regions.append(_Open(True))
        self._do("LOAD_LOCAL", item)
        self._do("STORE_LOCAL", self.random.choice(INTS))
        self._arm("", depth)
        self.regions.pop()
        self._do("END")

    def _switch(self, gives: str, depth: int) -> None:
        strings = self.random.random() < 0.3
        self.expression("string" if strings else "int", depth - 1)
        self._do("SWITCH", int(bool(gives)))
        self.regions.append(_Open(False, gives))
        labels: list[int | str] = ["", "a", "b", 'x"y'] if strings else [-1, 0, 1, 2, 3, 4]
        self.random.shuffle(labels)
        for _ in range(self.random.randint(0, 3)):
            self._do("CASE", self._index(labels.pop()))
            if self.random.random() < 0.3:
                continue
            self._arm(gives, depth) if gives else self._visible_arm(depth)
        if gives or self.random.random() < 0.5:
            self._do("DEFAULT")
            self._arm(gives, depth) if gives else self._visible_arm(depth)
        elif self.code[-1][0] == "CASE":
            self._visible_arm(depth)
        self.regions.pop()
        self._do("END")

    def _visible_arm(self, depth: int) -> None:
        """An arm that is not empty: an empty CASE shares the next one's."""
        self._int_constant()
        self._do("POP")
        self._arm("", depth)

    def _try(self, gives: str, depth: int) -> None:
        self._do("TRY", int(bool(gives)))
        self.regions.append(_Open(False, gives))
        self._arm(gives, depth)
        caught = CAUGHT + self.catching
        self.catching += 1
        self._do("CATCH", caught)
        if self.random.random() < 0.2:
            self.expression("bool", depth - 1)
            self._do("IF", 0)
            self._do("RETHROW", caught)
            self._do("END")
        if self.random.random() < 0.5:
            self._do("LOAD_LOCAL", caught)
            self._do("TO_STRING")
            self._do("STORE_LOCAL", self.random.choice(STRINGS))
        self._arm(gives, depth)
        self.catching -= 1
        self.regions.pop()
        self._do("END")

    # Expressions

    def expression(self, kind: str, depth: int) -> None:
        self.budget -= 1
        if depth <= 0 or self.budget <= 0:
            self._leaf(kind)
            return
        if self.random.random() < 0.25:
            self._region_expression(kind, depth)
            return
        {
            "int": self._int, "bool": self._bool, "string": self._string,
            "float": self._float, "set": self._set,
        }[kind](depth)  # fmt: skip

    def _region_expression(self, kind: str, depth: int) -> None:
        match self.random.choice(("if", "if", "block", "switch", "try")):
            case "if":
                self.expression("bool", depth - 1)
                self._region("IF", 1, depth, [None, ("ELSE",)], kind)
            case "block":
                self._region("BLOCK", 1, depth, [None], kind)
            case "switch":
                self._switch(kind, depth)
            case _:
                self._try(kind, depth)

    def _leaf(self, kind: str) -> None:
        match kind:
            case "int" if self.random.random() < 0.4:
                self._int_constant()
            case "set" if self.random.random() < 0.3:
                self._new_set()
            case "bool" if self.random.random() < 0.3:
                self._do(self.random.choice(("LOAD_TRUE", "LOAD_FALSE")))
            case _:
                slots = {"int": INTS, "bool": BOOLS, "string": STRINGS, "float": FLOATS, "set": SETS}[kind]
                self._do("LOAD_LOCAL", self.random.choice(slots))

    def _int(self, depth: int) -> None:
        what = self.random.random()
        if what < 0.45:
            self.expression("int", depth - 1)
            self.expression("int", depth - 1)
            names = ("ADD_INT", "SUB_INT", "MUL_INT", "DIV_INT", "REM_INT", "POW_INT", "ADD", "REM")
            self._do(self.random.choice(names))
        elif what < 0.55:
            self.expression("int", depth - 1)
            self._do("CALL_NATIVE", "Test::note", 1)
        elif what < 0.62:
            self.expression("int", depth - 1)
            self._do("CALL", 0, 1)
        elif what < 0.7:
            self._do("LOAD_LOCAL", ARRAY)
            self.expression("int", depth - 1)
            self._do("INDEX_ARRAY")
        elif what < 0.76:
            self._do("LOAD_LOCAL", STRUCT)
            self._do("GET_FIELD", self.random.randint(0, 1))
        elif what < 0.82:
            self.expression("int", depth - 1)
            self.expression("int", depth - 1)
            self._do("CALL_NATIVE", "Test::two", 2)
        elif what < 0.88:
            self.expression("int", depth - 1)
            self._do("NEG_INT")
        elif what < 0.94:
            self._do("LOAD_LOCAL", ARRAY)
            self._do("LENGTH")
        else:
            self.expression("float", depth - 1)
            self._do("FLOAT_TO_INT")

    def _bool(self, depth: int) -> None:
        what = self.random.random()
        if what < 0.5:
            self.expression("int", depth - 1)
            self.expression("int", depth - 1)
            name = self.random.choice(("LT", "LE", "GT", "GE", "EQ", "NE"))
            self._do(name + self.random.choice(("_INT", "_INT", "")))
        elif what < 0.6:
            self.expression("string", depth - 1)
            self.expression("string", depth - 1)
            self._do(self.random.choice(("LT_STRING", "EQ_STRING", "NE")))
        elif what < 0.7:
            self.expression("float", depth - 1)
            self.expression("float", depth - 1)
            self._do(self.random.choice(("LT_FLOAT", "GE_FLOAT", "EQ_FLOAT", "LE")))
            if self.random.random() < 0.5:
                self._do("NOT")
        elif what < 0.85:
            self.expression("bool", depth - 1)
            self._do("IF", 1)
            self.regions.append(_Open(False, "bool"))
            shape = self.random.random()
            self._do("LOAD_TRUE") if shape < 0.5 else self.expression("bool", depth - 1)
            self._do("ELSE")
            self._do("LOAD_FALSE") if shape >= 0.5 else self.expression("bool", depth - 1)
            self.regions.pop()
            self._do("END")
        elif what < 0.9:
            self.expression("set", depth - 1)
            self._change_set(depth)
        elif what < 0.95:
            self.expression("set", depth - 1)
            self.expression("int", depth - 1)
            self._do("CALL_NATIVE", "Set::contains_plain", 2)
        else:
            self.expression("bool", depth - 1)
            self._do("NOT")

    def _string(self, depth: int) -> None:
        if self.random.random() < 0.4:
            self.expression("string", depth - 1)
            self.expression("string", depth - 1)
            self._do("CONCAT")
        elif self.random.random() < 0.1:
            self.expression("set", depth - 1)
            self._do("TO_STRING")
        else:
            kinds = self.random.choices(("int", "bool", "string", "float"), k=self.random.randint(1, 3))
            for kind in kinds:
                self.expression(kind, depth - 1)
            letters = [self.random.choice(("?", {"bool": "?"}.get(kind, kind[0]))) for kind in kinds]
            self._do("FORMAT", len(kinds), "".join(letters))

    def _float(self, depth: int) -> None:
        if self.random.random() < 0.3:
            self.expression("int", depth - 1)
            self._do("INT_TO_FLOAT")
        else:
            self.expression("float", depth - 1)
            self.expression("float", depth - 1)
            names = ("ADD_FLOAT", "SUB_FLOAT", "MUL_FLOAT", "DIV_FLOAT", "REM_FLOAT", "POW_FLOAT")
            self._do(self.random.choice(names))

    def _set(self, depth: int) -> None:
        what = self.random.random()
        self.expression("set", depth - 1)
        if what < 0.3:
            self._do("COPY_OF", SET_TYPE)
        elif what < 0.5:
            self.expression("int", depth - 1)
            self._do("CALL", 1, 2)
        else:
            self.expression("set", depth - 1)
            names = ("union_plain", "union_plain_owned", "intersection_plain", "difference_plain")
            self._do("CALL_NATIVE", f"Set::{self.random.choice(names)}", 2)
