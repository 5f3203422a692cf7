"""What is read of texts that models write: each row, and each text as every other type."""

from __future__ import annotations

from typing import cast

import pytest

from concerto.compiler import compile_source
from concerto.natives.schema import read_text
from concerto.vm.host import Host
from concerto.vm.machine import Machine
from concerto.vm.operations import to_text
from tests.natives.reading_cases import INDEX, MACHINE, NAMES, ROWS, read


@pytest.mark.parametrize("category", dict.fromkeys(str(row[0]) for row in ROWS))
def test_texts_are_read_as_their_types_say(category: str) -> None:
    rows = [row for row in ROWS if row[0] == category]
    found = [row[:3] + read(str(row[1]), str(row[2])) for row in rows]
    assert found == rows


def test_no_text_gives_a_value_of_another_type() -> None:
    for name in NAMES:
        for row in ROWS[::29]:
            for value in read(name, str(row[2])):
                MACHINE.from_json(value, INDEX[name])  # Raises for what is not of the type.


def test_what_a_schema_converts_is_no_repair() -> None:
    source = (
        'schema Count { @coerce @alias("how-many") n: Int }\nfn main() { let _ = parse_schema<Count>(""); }'
    )
    machine = Machine(compile_source(source).module, cast(Host, None), tier="interpreter")
    types = range(len(machine.module.types))
    index = next(index for index in types if machine.type_value(index).name == "Count")
    value, repairs = read_text(machine, index, '{"how-many": "12"}')
    assert (to_text(value), repairs) == ("Count { n: 12 }", ())
