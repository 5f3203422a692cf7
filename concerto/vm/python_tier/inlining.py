"""Closures written where they are called: a method of an array, a range, an Option or a Result that calls a
closure once for each content has the closure's text in it, if that is made on the spot and is one expression.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from concerto.vm.python_tier.bodies import after, body_of
from concerto.vm.python_tier.expression import (
    ACT,
    ARRAY,
    CHARACTER,
    FEW,
    KINDS,
    LENGTH,
    PURE,
    UNKNOWN,
    Expr,
    Fact,
    compound,
    name,
)
from concerto.vm.python_tier.instructions.natives import SPECIAL, write_with
from concerto.vm.python_tier.unboxing import OPTION, RESULT
from concerto.vm.python_tier.unpacking import parts_taken
from concerto.vm.python_tier.writer import FunctionWriter, unmarked
from concerto.vm.sizes import MAX_ELEMENTS

_CALLED = re.compile(r"\b([A-Za-z_]\w*)\(")

_NAMED = re.compile(r"[\w.]+")
"""A name, or a field of one."""

_HARMLESS = re.compile(
    r"len|float|str|int|list|range|type|checked|bit_length|startswith|endswith|strip|lstrip|rstrip|upper|lower"
    r"|get|divide_int|remainder_int|divide_float|copy_value|C[\d_]+"
)
"""What runs no code of the program."""


def _body(
    writer: FunctionWriter, closure: Expr, arguments: Sequence[Expr], *, in_steps: bool = False
) -> Expr | None:
    """What a closure gives, over its arguments (names); None if it has to be called. `in_steps`: it is
    computed by an iterator that a library function asks, where no code of the program may run, because it
    would take up the C stack."""
    if closure.closure is None:
        return None
    index, captures = closure.closure
    if not all(part.cheap for part in captures):
        return None
    body = body_of(writer, index, [*captures, *arguments])
    if body is None:
        return None
    made = body.alone()
    if in_steps and not all(map(_HARMLESS.fullmatch, _CALLED.findall(unmarked(made.text)))):
        return None
    return made


def _through(writer: FunctionWriter, native: str, items: Expr) -> tuple[Expr, str] | None:
    """What is gone through, and how a comprehension writes that."""
    if items.pairs is not None and not items.text:
        return items, ""
    if items.numbers:
        small = items.fact.high - items.fact.low < MAX_ELEMENTS
        text = f"sized({items.numbers})" if native == "Range::map" and not small else items.numbers
        return (items, text) if ":=" not in text and (small or native.startswith("Range::")) else None
    items = writer.only_read(items.characters or items)
    return items, items.text


def _looked_after(items: Expr, text: str, body: str) -> str:
    """What a comprehension goes through: see `loops`."""
    if items.numbers or not items.cheap or " for " in body:
        return f"each({text})"
    return f"({text} if len({text}) < {FEW} else each({text}))"


@dataclass
class Traversal:
    """What the rounds of a comprehension go through, and what comes out of each that passes the `tests`: the
    element. `clauses` and `lines` say the same in a comprehension and in a loop, unless only one of them can,
    and `bodies` are the texts of the closures. `first` is a name for what is gone through."""

    through: Expr
    text: str
    item: str
    element: Expr
    of_any_type: bool
    clauses: str = ""
    lines: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    first: list[tuple[str, Expr]] = field(default_factory=list)
    is_nested: bool = False
    """Whether a loop would have to be left twice."""
    is_loop: bool = False
    """Whether no comprehension can say it."""

    def test(self, text: str) -> None:
        self.clauses += f" if {text}"
        self.lines.append(f"if not {text}: continue")

    def give(self, made: str, text: str) -> None:
        """A name for what is computed in a round."""
        self.clauses += f" if ({made} := {text}) is not MISSING"
        self.lines.append(f"{made} = {text}")

    def leave_unless(self, text: str) -> None:
        self.lines.append(f"if not {text}: break")
        self.is_loop = True

    def skip_while(self, skips: str, text: str) -> None:
        """`skips` is a name that is true until an element fails the test."""
        self.before.append(f"{skips} = True")
        self.lines += [f"if {skips} and {text}: continue", f"{skips} = False"]
        self.is_loop = True

    def go_through(self, made: str, text: str) -> None:
        self.clauses += f" for {made} in {text}"
        self.is_nested = True

    def begin(self, writer: FunctionWriter, head: str) -> None:
        """The head of a loop, and what its rounds begin with."""
        for line in self.before:
            writer.line(line)
        writer.line(head)
        writer.indent += 1
        for line in self.lines:
            writer.line(writer.mark(line))

    @property
    def whole(self) -> str:
        return f"{self.head}{self.clauses}"

    @property
    def head(self) -> str:
        return f"for {self.item} in {self.source}"

    @property
    def source(self) -> str:
        """What is gone through, looked after."""
        if self.through.pairs is not None:
            together, (first, *others) = self.through.pairs
            items = unmarked(first).removesuffix("[:]")
            few = f"({first} if len({items}) < {FEW} else each({first}))"
            looked_after = few if _NAMED.fullmatch(items) else f"each({first})"
            return f"{together}({', '.join([looked_after, *others])})"
        if self.of_any_type:
            return f"each({self.text})"
        return _looked_after(self.through, self.text, " ".join(self.bodies))

    def name_source(self, writer: FunctionWriter) -> None:
        """Compute what is gone through before."""
        if writer.inside_expression:
            made = writer.temporary()
            self.first = [(made, self.through)]
            self.through = name(made, self.through.fact)
        else:
            (self.through,) = writer.cheap(self.through)
        self.text = self.through.text

    def finished(self, text: str, parts: tuple[Expr, ...], fact: Fact = UNKNOWN) -> Expr:
        """What comes out of the rounds."""
        return after(self.first, compound(text, parts, fact, ACT, atom=True))

    def take_apart(self, writer: FunctionWriter, closure: Expr) -> None:
        """Let Python take each item apart as the closure does that gets it first."""
        if closure.closure is None:
            return
        index = closure.closure[0]
        nodes = writer.openings.trees[index].arms[0].nodes
        width = parts_taken(writer.module.functions[index], nodes)
        if width:
            items = tuple([name(f"{self.item}_{place}") for place in range(width)])
            self.item = f"({', '.join([item.text for item in items])}{',' * (width == 1)})"
            self.element = replace(name(self.item, Fact("tuple", width, width)), items=items)

    def name_element(self, writer: FunctionWriter) -> Expr:
        """A name for the element, or names of its parts."""
        if not self.element.cheap:
            made = writer.temporary()
            self.give(made, self.element.text)
            self.element = name(made, self.element.fact)
        return self.element

    def add(
        self,
        writer: FunctionWriter,
        closure: Expr,
        *,
        before: str = "",
        in_steps: bool = False,
    ) -> Expr | None:
        """What a closure gives of the element, and of a name `before` it."""
        arguments = [*([name(before)] if before else []), self.name_element(writer)]
        body = _body(writer, closure, arguments, in_steps=in_steps)
        if body is not None:
            self.bodies.append(body.text)
        return body


def _rounds(
    writer: FunctionWriter, native: str, items: Expr, *, in_steps: bool = False, in_loop: bool = False
) -> Traversal | None:
    """The rounds of a method before its own closure."""
    owner = native.partition("::")[0]
    if (items.walk is None) if owner == "Iterator" else (owner == "Range" and not items.numbers):
        return None
    source, steps = items.walk or (items, ())
    if items.walk is not None and not in_loop and not _is_whole(source):
        return None
    source = source.copied or source
    of_any_type = owner == "Iterator" and source.fact.kind not in ("array", "str")
    item = f"x{writer.temporary()[1:]}"
    rounds = Traversal(source, "", item, name(item, _element(source)), of_any_type)
    return rounds if _take(writer, rounds, steps, in_steps=in_steps) else None


def _is_whole(source: Expr) -> bool:
    """Whether what an iterator goes through is there: what computes its elements may run the program."""
    return source.copied is not None or bool(source.numbers) or source.fact.kind in ("array", "str", "map")


def _element(source: Expr) -> Fact:
    if source.numbers:
        return Fact("int", source.fact.low, source.fact.high)
    if source.width:
        return Fact("tuple", source.width, source.width)
    return UNKNOWN if source.characters is None else CHARACTER


def _take(
    writer: FunctionWriter, rounds: Traversal, steps: Sequence[tuple[str, Expr]], *, in_steps: bool = False
) -> bool:
    """Let each element take the methods on the way; false if the closure of one has to be called."""
    for method, closure in steps:
        body = rounds.add(writer, closure, in_steps=in_steps)
        if body is None:
            return False
        if method == "map":
            rounds.element = body
        elif method == "filter":
            rounds.test(body.wrapped)
        elif method == "filter_map":
            made = writer.temporary()
            rounds.test(f"({made} := {writer.opened(OPTION, body)}) is not MISSING")
            rounds.element = name(made)
        elif method == "take_while":
            rounds.leave_unless(body.wrapped)
        elif method == "skip_while":
            rounds.skip_while(writer.temporary(), body.wrapped)
        else:
            inner = f"x{writer.temporary()[1:]}"
            rounds.element = body
            items = rounds.name_element(writer).text
            is_array = body.fact.kind == "array"
            through = _looked_after(rounds.element, items, body.text) if is_array else f"each({items})"
            rounds.go_through(inner, through)
            rounds.element = name(inner)
    return True


def traversal_of_loop(writer: FunctionWriter, subject: Expr, item: str, stores: set[int]) -> Traversal | None:
    """What a loop goes through that gets each element in `item`, where methods on the way are in its rounds.
    Closures keep what they have of the locals that it `stores`."""
    if subject.walk is None or not subject.walk[1]:
        return None
    source, steps = subject.walk
    closures = [closure.closure for _, closure in steps if closure.closure is not None]
    if len(closures) < len(steps):
        return None
    stored = sum([1 << number for number in stores])
    kept = []
    for (method, closure), (index, captures) in zip(steps, closures, strict=True):
        own = tuple([_as_now(writer, part) if part.reads & stored else part for part in captures])
        kept.append((method, replace(closure, closure=(index, own))))
    rounds = Traversal(source, source.text, item, name(item, _element(source)), of_any_type=False)
    return rounds if _take(writer, rounds, kept) and not rounds.is_nested else None


def _as_now(writer: FunctionWriter, part: Expr) -> Expr:
    made = writer.temporary()
    writer.line(f"{made} = {part.text}")
    return name(made, part.fact)


def comprehension(
    writer: FunctionWriter, native: str, items: Expr, closure: Expr | None, *, in_steps: bool = False
) -> tuple[Traversal, Expr] | None:
    """The rounds of a method, and what its closure gives of each element (the element if it has none)."""
    explained = writer.explained
    rounds = _rounds(writer, native, items, in_steps=in_steps)
    if rounds is None or rounds.is_loop:
        return None
    if closure is not None and rounds.element.text == rounds.item:
        rounds.take_apart(writer, closure)
    given = rounds.element if closure is None else rounds.add(writer, closure, in_steps=in_steps)
    through = None if given is None else _through(writer, native, rounds.through)
    # From 3.12 on nobody can ask for the item when a comprehension has failed.
    forgets = not in_steps and sys.version_info >= (3, 12) and writer.explained > explained
    if given is None or through is None or forgets:
        return None
    rounds.through, rounds.text = through
    if ":=" in rounds.text:
        # Which Python does not allow there.
        rounds.name_source(writer)
    return rounds, given


def _written(native: str, template: str, fact: Fact = UNKNOWN, *, opens: str = "") -> None:
    in_steps = not template.startswith(("[", "len(["))

    def written(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
        items, closure = parts
        found = comprehension(writer, native, items, closure, in_steps=in_steps)
        if found is None:
            return _found_in_loop(writer, native, items, closure)
        rounds, body = found
        whole = template.format(
            item=rounds.element.text,
            clauses=rounds.whole,
            body=body.text,
            test=body.wrapped,
            opened=writer.opened(opens or OPTION, body) if "{opened}" in template else "",
            made=writer.temporary(),
        )
        made = rounds.finished(writer.mark(whole), parts, fact)
        made.fresh = fact.kind == "array"
        if body.opened is not None and template == _MAPPED:
            kind, item = body.opened
            made.of_open = kind, rounds.finished(writer.mark(f"[{item} {rounds.whole}]"), parts, ARRAY)
        return writer.closed(opens, made) if opens else made

    write_with(native, 2, written)


_MAPPED = "[{body} {clauses}]"

for _owner in ("Array", "Range"):
    _written(f"{_owner}::map", _MAPPED, ARRAY)
    _written(f"{_owner}::filter", "[{item} {clauses} if {test}]", ARRAY)
_written("Array::filter_map", "[{made} {clauses} if ({made} := {opened}) is not MISSING]", ARRAY)
for _owner in ("Array", "Iterator"):
    _written(f"{_owner}::count", "len([None {clauses} if {test}])", LENGTH)
    _written(f"{_owner}::any", "any({test} {clauses})", KINDS["bool"])
    _written(f"{_owner}::all", "all({test} {clauses})", KINDS["bool"])
    _written(f"{_owner}::find", "next(({item} {clauses} if {test}), MISSING)", opens=OPTION)


def _position(native: str) -> None:
    """Of all elements: none may be left out on the way."""

    def found_at(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
        items, closure = parts
        steps = items.walk[1] if items.walk is not None else ()
        found = comprehension(writer, native, items, closure, in_steps=True)
        if found is None or found[0].through.pairs is not None or any(method != "map" for method, _ in steps):
            return None
        rounds, body = found
        made = writer.temporary()
        head = f"for {made}, {rounds.item} in enumerate({rounds.source})"
        whole = f"next(({made} {head}{rounds.clauses} if {body.wrapped}), MISSING)"
        return writer.closed(OPTION, rounds.finished(writer.mark(whole), parts))

    write_with(native, 2, found_at)


_position("Array::position")
_position("Iterator::position")


def _keyed(native: str, fact: Fact) -> None:
    """With the keys of all elements."""

    def written(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
        items, closure = parts
        first, again = writer.named(items)
        found = comprehension(writer, "Array::map", name(again, items.fact), closure)
        if found is None:
            return None
        rounds, key = found
        with_keys = writer.names.native(native.replace("_by_key", "_by_keys"))
        text = f"{with_keys}({first}, [{key.text} {rounds.whole}])"
        return compound(writer.mark(text), (items, closure), fact, ACT, atom=True)

    write_with(native, 2, written)


for _plain in ("", "_plain"):
    _keyed(f"Array::sort_by_key{_plain}", ARRAY)
    _keyed(f"Array::min_by_key{_plain}", UNKNOWN)
    _keyed(f"Array::max_by_key{_plain}", UNKNOWN)


def _write_loop(writer: FunctionWriter, rounds: Traversal, result: str, start: Expr, each: str) -> None:
    """A result that each round of a loop goes on with."""
    if rounds.through.pairs is None:
        through = writer.only_read(rounds.through.characters or rounds.through)
        rounds.through, start = writer.cheap(through, start)
        rounds.text = rounds.through.text
    else:
        (start,) = writer.cheap(start)
    writer.act(f"{result} = {start.text}")
    rounds.begin(writer, writer.mark(f"{rounds.head}:"))
    for line in each.splitlines():
        writer.line(writer.mark(line))
    writer.indent -= 1


_SEARCHES = {
    "any": ("False", "if {test}: {result} = True; break"),
    "all": ("True", "if not {test}: {result} = False; break"),
    "find": ("MISSING", "if {test}: {result} = {item}; break"),
}
"""What methods begin with, and what is done in a round."""


def _found_in_loop(writer: FunctionWriter, native: str, items: Expr, closure: Expr) -> Expr | None:
    """What a method that may leave before the end finds, where no generator can say it."""
    search = _SEARCHES.get(native.partition("::")[2])
    if search is None:
        return None
    rounds = _rounds(writer, native, items, in_loop=True)
    body = None if rounds is None else rounds.add(writer, closure)
    if rounds is None or body is None or rounds.is_nested or not writer.takes_statements():
        return None
    start, each = search
    result = writer.temporary()
    each = each.format(result=result, test=body.wrapped, item=rounds.element.text)
    _write_loop(writer, rounds, result, name(start), each)
    return writer.closed(OPTION, name(result)) if start == "MISSING" else name(result, KINDS["bool"])


def _tried(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
    """As a loop that the first error leaves."""
    items, closure = parts
    rounds = _rounds(writer, "Array::try_map", items)
    body = None if rounds is None else rounds.add(writer, closure)
    if rounds is None or body is None or rounds.is_nested or not writer.takes_statements():
        return None
    result, made = writer.temporary(), writer.temporary()
    failed = f"if type({made} := {writer.opened(RESULT, body)}) is Fail: {result} = {made}; break"
    _write_loop(writer, rounds, result, name("[]"), f"{failed}\n{result}.append({made})")
    return writer.closed(RESULT, name(result))


write_with("Array::try_map", 2, _tried)


def gathered_in_loop(writer: FunctionWriter, items: Expr) -> Expr | None:
    """All elements of an iterator that no comprehension can give."""
    rounds = _rounds(writer, "Iterator::to_array", items)
    if rounds is None or not rounds.is_loop or rounds.is_nested or not writer.takes_statements():
        return None
    result = writer.temporary()
    _write_loop(writer, rounds, result, name("[]"), f"{result}.append({rounds.element.text})")
    made = name(result, ARRAY)
    made.fresh = True
    return made


def _folds(native: str) -> None:
    """As a loop."""

    def folded(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
        items, start, closure = parts
        # What gives the start may change what an iterator was made of.
        if items.walk is not None and start.level != PURE:
            return None
        result = writer.temporary()
        rounds = _rounds(writer, native, items)
        body = None if rounds is None else rounds.add(writer, closure, before=result)
        if rounds is None or body is None or rounds.is_nested or not writer.takes_statements():
            return None
        _write_loop(writer, rounds, result, start, f"{result} = {body.text}")
        return name(result, start.fact if start.fact.kind == body.fact.kind == "float" else UNKNOWN)

    write_with(native, 3, folded)


for _owner in ("Array", "Iterator"):
    _folds(f"{_owner}::fold")
    _folds(f"{_owner}::reduce")


def _applied(writer: FunctionWriter, closure: Expr, content: str) -> Expr | None:
    """What a closure makes of a content; nobody notices that it is made late."""
    arguments = [name(content)] if content else []
    body = _body(writer, closure, arguments)
    if body is None and closure.level == PURE:
        body = compound(f"{closure.wrapped}({content})", (closure,), level=ACT, atom=True)
    return body


def _looks(native: str, kind: str, template: str, *, gives: str = "", content: str = "{made}") -> None:
    """How a method of an Option or a Result is written: `test` says whether it has a content; `body` is what
    the closure gives, and `opened` the same in the open. `gives` is the kind of the result."""
    test = (
        "({made} := {subject}) is not MISSING" if kind == OPTION else "type({made} := {subject}) is not Fail"
    )

    def written(writer: FunctionWriter, parts: tuple[Expr, ...]) -> Expr | None:
        subject, closure = parts
        made = writer.temporary()
        body = _applied(writer, closure, content.format(made=made))
        if body is None:
            return None
        text = template.format(
            made=made,
            test=test.format(made=made, subject=writer.opened(kind, subject)),
            body=body.wrapped,
            opened=writer.opened(gives, body) if "{opened}" in template else "",
        )
        result = compound(writer.mark(text), (subject, closure), level=ACT, atom=True)
        return writer.closed(gives, result) if gives else result

    SPECIAL[native] = written


_looks("Option::map", OPTION, "({body} if {test} else MISSING)", gives=OPTION)
_looks("Option::and_then", OPTION, "({opened} if {test} else MISSING)", gives=OPTION)
_looks("Option::or_else", OPTION, "({made} if {test} else {opened})", gives=OPTION, content="")
_looks("Option::unwrap_or_else", OPTION, "({made} if {test} else {body})", content="")
_looks("Result::map", RESULT, "({body} if {test} else {made})", gives=RESULT)
_looks("Result::and_then", RESULT, "({opened} if {test} else {made})", gives=RESULT)
_looks(
    "Result::map_err", RESULT, "({made} if {test} else Fail({body}))", gives=RESULT, content="{made}.value"
)
_looks("Result::or_else", RESULT, "({made} if {test} else {opened})", gives=RESULT, content="{made}.value")
_looks("Result::unwrap_or_else", RESULT, "({made} if {test} else {body})", content="{made}.value")
