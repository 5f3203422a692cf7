"""Library functions that are written where they are called, as far as facts about the arguments allow it."""

from __future__ import annotations

import re
from typing import cast

import pytest

from concerto.compiler import compile_source
from concerto.vm.host import Host
from concerto.vm.machine import Machine
from concerto.vm.python_tier.codegen import module_texts
from concerto.vm.python_tier.names import Names
from concerto.vm.values import Raised
from tests.vm.hosts import Recorder

IN_PLACE = {
    "fn f(a: (Int, String), b: (Int, String)) -> Int { a.compare(b) }": r"\(v0 > v1\) - \(v0 < v1\)",
    "fn f(a: Array<Bool>, b: Array<Bool>) -> Bool { a.compare(b) <= 0 }": r"return v0 <= v1$",
    "fn f(a: Bool, b: Bool) -> Bool { !(compare(a, b) == 0) }": r"return v0 != v1$",
    "fn f(i: Int) { let mut a = [1]; a.swap(i - 1, i & 7) }": r"v1\[(t.)\], v1\[(t.)\] = v1\[\2\], v1\[\1\]$",
    "fn f(a: Result<Int, Int>) -> Int { a.ok() ?? 1 }": r"v0.value if type\(v0\) is Ok else MISSING\)",
    "fn f(a: Result<Int, Int>) -> Int { a.err() ?? 1 }": r"v0.value if type\(v0\) is Err else MISSING\)",
    "fn f(a: Iterator<Int>) -> Int { let mut b = a; b.next() ?? 1 }": r"next\(iter\(v\d\), MISSING\)",
    "fn f<T: Eq>(a: T, b: Option<T>) -> Bool { Some(a) != b }": r"\(v0 == t2 if .* else equal\(v0, t2\)\)",
    'fn f(a: String) -> String { a.replace("aa", "b") }': r"return v0.replace\(\S+, \S+\)$",
    'fn f(a: String) -> String { a.replace("aa", "") }': r"return v0.replace\(\S+, \S+\)$",
    'fn f(a: String) { for c in a.chars() { c.replace("&", "&amp;"); } }': r" v1.replace\(\S+, \S+\)$",
}


@pytest.mark.parametrize("source", IN_PLACE)
def test_library_functions_are_in_place(source: str) -> None:
    texts, _ = module_texts(compile_source(source).module, Names())
    assert re.search(IN_PLACE[source], texts[0], re.MULTILINE), texts[0]


def test_what_a_replacement_makes_longer_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("sizes", "python_tier.instructions.texts"):
        monkeypatch.setattr(f"concerto.vm.{module}.MAX_ELEMENTS", 10)
    monkeypatch.setattr("concerto.natives.limits.MAX_ELEMENTS", 10)
    source = """
        fn longer(text: String) -> String { text.replace("a", "bbb").replace("bb", "ccc") }
        fn main() {
            for text in ["xxxxxx", "a", "ax", "aaa"] { println(longer(text)); }
        }
    """
    recorder = Recorder()
    with pytest.raises(Raised) as caught:
        Machine(compile_source(source).module, cast(Host, recorder), tier="python").run_entry()
    assert caught.value.value.message == "the result would have 13 elements, more than 10"
    assert "".join([text for _, text in recorder.asked]) == "xxxxxx\ncccb\ncccbx\n"
