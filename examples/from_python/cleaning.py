"""Cleaning a table without pandas: rows of the csv module go in, models and reasons come out."""

import csv
import io
from collections import Counter
from pathlib import Path

import concerto

contacts = concerto.load(Path(__file__).with_name("contacts.conc"))

TYPED = """name,mail,phone
 Ada , ADA@example.com,+49 30/123
,nobody@example.com,
Bob,bob at example,555
Ada,ada@example.com ,
"""

good: list[contacts.Contact] = []  # type: ignore[name-defined]
reasons: Counter[str] = Counter()
for number, row in enumerate(csv.DictReader(io.StringIO(TYPED)), start=2):
    try:
        good.append(contacts.clean(row))
    except concerto.RunError as error:
        reasons[error.kind] += 1
        print(f"line {number}: {error.value!r}")

for contact in contacts.distinct(good):
    print(contact.model_dump_json(exclude_none=True))
print(dict(reasons))
