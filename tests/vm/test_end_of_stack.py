"""What is first asked for where no stack is left works as ever afterwards."""

from __future__ import annotations

from io import StringIO

from concerto import Runtime, compile_source

SOURCE = """
enum Chain { End, Link(Array<Chain>) }

fn without_base(n: Any) -> Int {
    try {
        1 + without_base((n as Int) + 1)
    } catch Chain(_) {
        0
    } catch Array<Chain>(chains) {
        chains.len()
    }
}

fn caught(thrown: Int) -> String {
    try {
        if thrown == 0 { throw Chain::End; }
        throw [Chain::Link([])];
    } catch Chain(chain) {
        "${chain}"
    } catch Array<Chain>(chains) {
        "${chains}"
    }
}

fn main() {
    println(try { "${without_base(0)}" } catch RuntimeError(e) { e.kind });
    println("${caught(0)} ${caught(1)}");
}
"""


def test_types_that_were_first_caught_there() -> None:
    out = StringIO()
    assert Runtime(compile_source(SOURCE), output=out).run().ok
    assert out.getvalue() == "CallDepth\nChain::End [Chain::Link([])]\n"


BRANCHES = """
fn spawned(n: Int) -> Int {
    1 + (spawn spawned(n + 1)).await
}

fn in_parallel(n: Int) -> Int {
    (parallel for i in [n, n], limit: 1 { in_parallel(i + 1) })[0]
}

fn deep(n: Int) -> Int {
    if n == 0 {
        return 0;
    }
    let (below, one) = await (deep(n - 1), 1);
    below + one
}

fn main() {
    println(try { "${spawned(0)}" } catch RuntimeError(e) { e.kind });
    println(try { "${in_parallel(0)}" } catch RuntimeError(e) { e.kind });
    println(deep(500));
}
"""


def test_branches_of_branches_come_to_an_end() -> None:
    """Each has a stack of its own, so that no depth of calls ends such a recursion."""
    out = StringIO()
    assert Runtime(compile_source(BRANCHES), output=out).run().ok
    assert out.getvalue() == "CallDepth\nCallDepth\n500\n"
