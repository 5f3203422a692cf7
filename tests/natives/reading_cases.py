"""Texts that models write, the types they are read as, and what is read: `reading_cases.jsonl`.

A row is a category, a type, a text and the value; without a value the text is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from concerto.compiler import compile_source
from concerto.json_data import Json
from concerto.natives.lenient import Unreadable
from concerto.natives.schema import read_text
from concerto.runtime.agents.structured import WRAPPED, output_schema
from concerto.vm.host import Host
from concerto.vm.json_values import to_json
from concerto.vm.machine import Machine
from concerto.vm.values import Raised

TYPES = """
@coerce schema CPerson { name: String, age: Int }
@coerce schema COrder { id: Int, price: Float, item: String, paid: Bool }
@coerce schema CRates { rates: Map<String, Float> }
@coerce schema CLists { ints: Array<Int>, names: Array<String> }
@coerce schema COpt { a?: Int, b?: Bool }

enum Mood { Happy, VeryHappy, Sad }
enum Kind { @alias("k1") Refund, @alias("bug report") BugReport, Other }
schema Person { name: String, age: Int }
schema Card { name: String, email?: String, tags: Array<String>, score?: Float }
schema Flag { ok: Bool, why?: String }
schema Order { id: Int, price: Float, item: String, paid: Bool }
schema Line { sku: String, count: Int }
schema Bill { lines: Array<Line>, total: Float, note?: String }
schema Tree { label: String, children: Array<Tree> }
schema Chain { value: Int, next?: Chain }
schema Feeling { mood: Mood, text: String }
schema Moods { moods: Array<Mood> }
schema Ticket { @alias("ticketKind") kind: Kind, @alias("why") reason?: String }
schema Circle { radius: Float }
schema Square { side: Float }
schema Text { text: String }
enum Shape { Circle(Circle), Square(Square) }
struct Holder { shape: Shape }
schema Hits { query: String }
schema Mail { to: String, body: String }
enum Call { Hits(Hits), Mail(Mail) }
schema Rates { rates: Map<String, Float> }
schema Choice { pick: "yes" | "no" | "maybe" }
schema Quote { quote: String }
schema Opt { a?: Int, b?: String }
schema Matrix { rows: Array<Array<Int>> }
enum IntOrText { Number(Int), Words(String) }
enum IntOrPerson { Number(Int), Person(Person) }
enum PersonOrList { One(Person), Many(Array<Person>) }
enum MoodOrPerson { Mood(Mood), Person(Person) }
"""
ROWS: list[list[Json]] = [
    json.loads(line) for line in Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
]
NAMES = list(dict.fromkeys(str(row[1]) for row in ROWS))
MACHINE = Machine(
    compile_source(
        TYPES + "fn main() {" + "".join(f'let _ = parse_schema<{name}>("");' for name in NAMES) + "}"
    ).module,
    cast(Host, None),
    tier="interpreter",
)
WRAPPERS = {each.type: WRAPPED * output_schema("", each.schema)[1] for each in MACHINE.module.schemas}
INDEX = {MACHINE.type_value(index).name: index for index in range(len(MACHINE.module.types))}


def read(wanted: str, text: str) -> list[Json]:
    """The value that is read, as JSON, alone in a list; none where the text is refused."""
    try:
        index = INDEX[wanted]
        return [to_json(read_text(MACHINE, index, text, WRAPPERS.get(index, ""))[0])]
    except (Unreadable, Raised):
        return []
