"""Generated projects of many modules, for what changes when one of them does.

`project(modules)` gives files by name. Module `m7` uses a few earlier ones, by `use` and by plain paths, and
has something of everything that separate compilation has to look after: types and functions of other modules,
defaults and constants, traits and impls, functions as values, parameters that are kept or changed, tools.
"""

from __future__ import annotations

LIBRARY = """\
use m{first}::{{Item{first}, make{first}, keep{first}}};
use m{second}::{{self, State{second}, describe{second} as describe}};

const LIMIT{n}: Int = {n};

pub struct Item{n} {{
    pub name: String,
    pub parts: Array<Int>,
    pub inner: Option<Item{first}> = None,
}}

pub enum State{n} {{
    Open,
    Held(Int),
    Closed {{ reason: String }},
}}

pub trait Shown{n} {{
    fn show(self) -> String;

    fn twice(self) -> String {{
        self.show() + self.show()
    }}
}}

impl Shown{n} for Item{n} {{
    fn show(self) -> String {{
        "${{self.name}} ${{self.parts.len()}}"
    }}
}}

impl Item{n} {{
    pub fn add(mut self, part: Int) -> Int {{
        self.parts.push(part);
        self.parts.len()
    }}
}}

pub fn make{n}(name: String, count: Int = 3) -> Item{n} {{
    let mut parts: Array<Int> = [];
    for i in 0..count {{
        parts.push(i * {n});
    }}
    Item{n} {{ name, parts, inner: Some(make{first}(name)) }}
}}

// What a state says of itself.
pub fn describe{n}(state: State{n}) -> String {{
    match state {{
        State{n}::Open => "open",
        State{n}::Held(days) if days > LIMIT{n} => "held for long",
        State{n}::Held(days) => "held for ${{days}} days " + describe(State{second}::Open),
        State{n}::Closed {{ reason }} => reason,
    }}
}}

pub fn keep{n}(parts: Array<Int>) -> Array<Int> {{
    let mut kept = parts;
    kept.push({n});
    kept
}}

pub fn pass{n}(parts: Array<Int>) -> Array<Int> {{
    parts
}}

pub fn apply{n}(f: fn(Array<Int>) -> Array<Int>, parts: Array<Int>) -> Int {{
    f(parts).len() + 1.5.floor()
}}

pub fn work{n}(limit: Int) -> Result<Int, String> {{
    if limit < 0 {{
        return Err("negative");
    }}
    let mut item: Item{first} = make{first}("x", count: limit);
    let before = item;
    item.add(limit);
    let parts = keep{first}(before.parts);
    let applied = apply{n}(m{second}::pass{second}, parts);
    let doubled = parts.map(|each| each * 2).filter(|each| each > limit);
    Ok(applied + doubled.len() + before.parts.len())
}}
"""

START = """\
pub struct Item0 { pub name: String, pub parts: Array<Int> }

impl Item0 {
    pub fn add(mut self, part: Int) -> Int {
        self.parts.push(part);
        self.parts.len()
    }
}

pub enum State0 { Open, Held(Int) }

pub fn make0(name: String, count: Int = 2) -> Item0 {
    Item0 { name, parts: [count] }
}

pub fn describe0(state: State0) -> String {
    match state {
        State0::Open => "open",
        State0::Held(days) => "held ${days}",
    }
}

pub fn keep0(parts: Array<Int>) -> Array<Int> {
    parts
}

pub fn pass0(parts: Array<Int>) -> Array<Int> {
    parts
}
"""

MAIN = """\
use m{last}::{{Shown{last}, make{last}, work{last}}};

schema Answer {{ text: String, count: Int = 1 }}

tool Counter {{
    description: "Counts",
    seen: Array<Int> = [],

    @describe("Count one more")
    @param("value", "What was seen")
    pub fn count(mut self, value: Int) -> Int {{
        self.seen.push(value);
        self::m{middle}::keep{middle}(self.seen).len()
    }}
}}

fn main() -> Result<Nil, String> {{
    let item = make{last}("all");
    println(item.twice());
    println(work{last}(4)?);
    println(self::m{middle}::describe{middle}(self::m{middle}::State{middle}::Held(1)));
    println(Counter.count(3));
    Ok(nil)
}}
"""


def project(modules: int) -> dict[str, str]:
    """The texts of `main.conc` and `m0.conc` to `m<modules - 1>.conc`."""
    files = {"m0.conc": START}
    for number in range(1, modules):
        files[f"m{number}.conc"] = LIBRARY.format(n=number, first=number - 1, second=number // 2)
    files["main.conc"] = MAIN.format(last=modules - 1, middle=modules // 2)
    return files
