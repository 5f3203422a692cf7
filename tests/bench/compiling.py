"""Lines per second from source to IR: `python -m tests.bench.compiling [LINES …]`.

The programs are generated and without errors; the library is parsed before the clock runs. The last column is
the time per line beside that of the smallest program: near 1 if the compiler is linear.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from concerto.compiler.disk import DiskProject
from concerto.compiler.pipeline import compile_module
from concerto.diagnostics import Problems
from concerto.source import Source

PART = """\
struct Item{n} {{
    name: String,
    price: Float,
    tags: Array<String>,
}}

enum State{n} {{
    Open,
    Held(Int),
    Closed {{ reason: String }},
}}

impl Item{n} {{
    pub fn total(self, count: Int) -> Float {{
        self.price * count.to_float()
    }}

    pub fn label(self) -> String {{
        let joined = self.tags.join(", ");
        "${{self.name}} (${{joined}})"
    }}
}}

// What a state says of itself.
fn describe{n}(state: State{n}) -> String {{
    match state {{
        State{n}::Open => "open",
        State{n}::Held(days) if days > 7 => "held for long",
        State{n}::Held(days) => "held for ${{days}} days",
        State{n}::Closed {{ reason }} => reason,
    }}
}}

fn count{n}(limit: Int) -> Result<Int, String> {{
    if limit < 0 {{
        return Err("negative");
    }}
    let mut total = 0;
    for i in 0..limit {{
        if i % 3 == 0 || i % 5 == 0 {{
            total += i;
        }}
    }}
    let doubled = [1, 2, 3].map(|each| each * 2).filter(|each| each > total);
    Ok(total + doubled.len())
}}

"""


def main(sizes: list[int]) -> None:
    seconds_of(program(1))
    smallest = 0.0
    for size in sizes:
        text = program(size)
        lines = text.count("\n")
        per_line = min(seconds_of(text) for _ in range(2)) / lines
        smallest = smallest or per_line
        print(f"{lines:6} lines: {1 / per_line:8,.0f} lines/s, {per_line / smallest:.2f} times per line")


def program(lines: int) -> str:
    """A program of about so many lines."""
    parts = max(1, lines // PART.count("\n"))
    return "".join([PART.format(n=number) for number in range(parts)]) + "fn main() {}\n"


def seconds_of(text: str) -> float:
    """CPU seconds of one compilation."""
    problems = Problems()
    project = DiskProject(Path(), None, problems)
    begun = time.process_time()
    module = compile_module(Source("generated.conc", text), project, problems)
    taken = time.process_time() - begun
    assert module is not None, [problem.message for problem in problems]
    return taken


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or [1_000, 10_000, 40_000])
