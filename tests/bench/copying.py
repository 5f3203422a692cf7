"""What values cost: copies that programs make, and time per element as they grow: `python -m
tests.bench.copying`.

Each program takes `n`. One that shares nothing must copy nothing; time per element stays about the same where
work is linear. `shared` is there to show that a copy which is needed is seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import process_time
from types import FrameType
from typing import Any

from concerto.compiler import compile_source
from concerto.deep_threads import start_deep
from concerto.vm.copying import copy_value
from tests.bench.execution import work_of

SIZES = (2_000, 8_000, 32_000)
ROUNDS = 5

PROGRAMS = {
    "append in a loop": """
fn work(n: Int) -> Int {
    let mut items: Array<Int> = [];
    for i in 0..n { items.push(i); }
    items.len()
}""",
    "append down a recursion": """
fn grow(items: Array<Int>, left: Int) -> Array<Int> {
    if left == 0 { return items; }
    let mut mine = items;
    mine.push(left);
    grow(mine, left - 1)
}
fn work(n: Int) -> Int { grow([], n).len() }""",
    "read down a recursion": """
fn total(items: Array<Int>, at: Int) -> Int {
    if at == items.len() { 0 } else { items[at] + total(items, at + 1) }
}
fn work(n: Int) -> Int {
    let mut items: Array<Int> = [];
    for i in 0..n { items.push(i); }
    total(items, 0)
}""",
    "fields of structs": """
struct Point { x: Int, y: Int }
struct Cloud { points: Array<Point>, sum: Int }
impl Cloud {
    fn add(mut self, p: Point) { self.sum += p.x * p.y; self.points.push(p); }
}
fn work(n: Int) -> Int {
    let mut cloud = Cloud { points: [], sum: 0 };
    for i in 0..n { cloud.add(Point { x: i, y: 2 }); }
    for i in 0..n { cloud.points[i].x += 1; }
    cloud.sum
}""",
    "list that is walked later": """
struct Item { value: Int, next: Option<Item> }
fn work(n: Int) -> Int {
    let mut list: Option<Item> = None;
    for i in 0..n { list = Some(Item { value: i, next: list }); }
    let mut at = list;
    let mut sum = 0;
    while let Some(item) = at { sum += item.value; at = item.next; }
    let mut last = Item { value: sum, next: None };
    last.value += if list.is_some() { 1 } else { 0 };
    last.value
}""",
    "tree changed by a function": """
enum Node { Leaf(Int), Tree(Map<String, Node>) }
fn set(node: Node, path: Array<String>, value: Int) -> Node {
    let mut children = match node { Node::Tree(found) => found, Node::Leaf(_) => ({}) };
    match path {
        [name] => { children[name] = Node::Leaf(value); }
        [name, ..rest] => {
            children[name] = set(children.get(name).unwrap_or(Node::Tree({})), rest, value);
        }
        [] => {}
    }
    Node::Tree(children)
}
fn work(n: Int) -> Int {
    let mut tree = Node::Tree({});
    for i in 0..n { tree = set(tree, ["a${i % 7}", "b${i % 5}", "c${i}"], i); }
    match tree { Node::Tree(children) => children.len(), Node::Leaf(_) => 0 }
}""",
    "maps of arrays": """
fn work(n: Int) -> Int {
    let mut groups: Map<Int, Array<Int>> = {};
    for i in 0..n {
        let key = i % 100;
        if !groups.has(key) { groups[key] = []; }
        groups[key].push(i);
    }
    groups.values().map(|group| group.len()).sum()
}""",
    "closures over arrays": """
fn work(n: Int) -> Int {
    let weights = [3, 1, 2];
    (0..n).map(|i| weights[i % 3] * i).filter(|x| x % 2 == 0).fold(0, |a, b| a + b)
}""",
    "the best so far": """
fn longest(rows: Array<Array<Any>>) -> Array<Any> {
    let mut best = rows[0];
    for row in rows { if row.len() > best.len() { best = row; } }
    best
}
fn work(n: Int) -> Int {
    let mut rows: Array<Array<Any>> = [];
    for i in 0..n { rows.push([i]); rows[i].push(i); }
    longest(rows).len()
}""",
    "taken out and replaced": """
struct Heap { rows: Array<Array<Any>> }
impl Heap {
    fn next(mut self) -> Array<Any> {
        let last = self.rows.pop().unwrap();
        let top = self.rows[0];
        self.rows[0] = last;
        top
    }
}
fn work(n: Int) -> Int {
    let mut heap = Heap { rows: [[0]] };
    let mut sum = 0;
    for i in 0..n { heap.rows.push([i]); sum += heap.next().len(); }
    sum
}""",
    "taken out around a search": """
fn work(n: Int) -> Int {
    let mut rows = {"a": [0], "b": [0]};
    for i in 0..n {
        let mut row = rows["a"];
        for x in row { if x <= i { break; } }
        row.push(i);
        rows["a"] = row;
    }
    rows["a"].len()
}""",
    "assigned before a closure": """
fn work(n: Int) -> Int {
    let mut rows: Array<Array<Int>> = [];
    let mut last = [0];
    for i in 0..n {
        rows = rows.take(3).concat([[i]]);
        last = [last[0] + rows[0][0]];
    }
    let later = || rows.len() + last.len();
    later()
}""",
    "closures that end with their call": """
struct Book { entries: Array<Int>, known: Map<Int, Bool> }
impl Book {
    fn post(mut self, numbers: Array<Int>) {
        if numbers.any(|number| self.known.has(number) || numbers.all(|each| self.known.has(each))) {
            return;
        }
        self.entries.push(numbers[0]);
    }
}
fn work(n: Int) -> Int {
    let mut book = Book { entries: [], known: {} };
    for i in 0..n { book.post([i]); }
    let mut seen = [0];
    for i in 0..n {
        let near = [i].filter(|each| seen.last() != Some(each));
        if near.len() > 0 { seen.push(i); }
    }
    seen.len() + book.entries.len()
}""",
    "given back in a tuple": """
fn step(start: Array<Int>) -> (Array<Int>, Int) {
    let mut rest = start;
    let last = rest.pop().unwrap();
    (rest, last)
}
fn fib(n: Int, memo: Map<Int, Int>) -> (Int, Map<Int, Int>) {
    if let Some(known) = memo.get(n) { return (known, memo); }
    if n < 2 { return (n, memo); }
    let (one, after_one) = fib(n - 1, memo);
    let (two, after_two) = fib(n - 2, after_one);
    let mut found = after_two;
    found[n] = (one + two) % 1000;
    (found[n], found)
}
fn work(n: Int) -> Int {
    let mut items = (0..n).to_array();
    let mut memo: Map<Int, Int> = {};
    let mut sum = 0;
    for i in 0..n {
        if i % 2 == 0 { continue; }
        let (rest, last) = step(items);
        for each in 0..3 { if each == 1 { break; } }
        items = rest;
        let (found, known) = fib(i, memo);
        memo = known;
        sum += last + found;
    }
    sum
}""",
    "collections that are folded into": """
fn add(all: Array<Int>, item: Int) -> Array<Int> {
    let mut own = all;
    own.push(item);
    own
}
fn work(n: Int) -> Int {
    let numbers = (0..n).to_array();
    let counts = numbers.fold({}, |all: Map<Int, Int>, item| {
        let mut own = all;
        own[item % 10] = (own.get(item % 10) ?? 0) + 1;
        own
    });
    let mut all = numbers.fold([], add);
    all = (0..n).reduce(all, add);
    let (found, _) = numbers.fold(([], 0), |(mut found, sum): (Array<Int>, Int), item| {
        if item > sum { found.push(item); }
        (found, sum + item)
    });
    counts.len() + add(all, 1).len() + found.len()
}""",
    "taken out and put back": """
fn work(n: Int) -> Int {
    let mut one = Some([0]);
    let mut other = Some([0]);
    for i in 0..n {
        if let Some(mut items) = one { items.push(i); one = Some(items); }
        match other {
            Some(items) => { let mut own = items; own.push(i); other = Some(own); }
            None => {}
        }
    }
    one.unwrap_or([]).len() + other.unwrap_or([]).len()
}""",
    "looked at before it changes": """
struct Row { n: Int, items: Array<Int> }
fn work(n: Int) -> Int {
    let mut rows = {"a": Row { n: 0, items: [] }};
    for i in 0..n {
        let row = rows["a"];
        if row.n + row.items.len() >= 0 { rows["a"].items.push(i); }
        if let Some(found) = rows.get("a") {
            let count = found.items.len() + found.n;
            rows["a"].n = count;
        }
    }
    rows["a"].items.len()
}""",
    "shared": """
fn work(n: Int) -> Int {
    let mut items: Array<Int> = [];
    for i in 0..n { items.push(i); }
    let before = items;
    items.push(1);
    items.len() - before.len()
}""",
}


def main() -> None:
    sizes = "".join(f"{f'ns/element at {size:,}':>24}" for size in SIZES)
    print(f"{'program':<26}{'copies':>8}{sizes}")
    for title, text in PROGRAMS.items():
        work = work_of(compile_source(text).module)
        times = "".join(f"{best(work, size) / size * 1e9:>24.0f}" for size in SIZES)
        print(f"{title:<26}{copies(work, SIZES[0]):>8}{times}")


def copies(work: Callable[[int], Any], size: int) -> int:
    """How many values are copied."""
    count = 0

    def watch(frame: FrameType, event: str, called: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_code is copy_value.__code__
        count += event == "c_call" and called.__name__ == "copy"

    sys.setprofile(watch)
    try:
        work(size)
    finally:
        sys.setprofile(None)
    return count


def best(work: Callable[[int], Any], size: int) -> float:
    """Seconds of CPU."""
    times = []
    for _ in range(ROUNDS):
        begun = process_time()
        work(size)
        times.append(process_time() - begun)
    return min(times)


if __name__ == "__main__":
    start_deep(main, "copying").join()
