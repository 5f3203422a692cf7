"""What is read of texts that models write, beside what BAML reads: `python -m tests.bench.reading PYTHON`.

`PYTHON` runs in an environment of its own with `baml-py` and `pydantic`. Types and texts are those of
`tests/natives/reading_cases.jsonl`; a difference is shown with both values, nothing where a text is refused.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import Any

from concerto.ir.module import TypeDef
from tests.natives.reading_cases import INDEX, MACHINE, NAMES, ROWS, read

_CLIENT = 'client<llm> C {\n provider openai\n options {\n model "m"\n api_key "k"\n }\n}\n'
_ASK = """
import enum, json, sys, types
from baml_py import BamlRuntime
from pydantic import BaseModel, ConfigDict

source, classes, enums, cases = json.load(sys.stdin)
class Base(BaseModel):
    model_config = ConfigDict(extra="allow")
made, chosen = types.ModuleType("made"), types.ModuleType("chosen")
made.__dict__.update((name, type(name, (Base,), {})) for name in classes)
chosen.__dict__.update((name, enum.Enum(name, dict(zip(own, own)), type=str)) for name, own in enums.items())
runtime = BamlRuntime.from_files("src", {"types.baml": source}, {})
context = runtime.create_context_manager()
found = []
for function, text in cases:
    try:
        value = runtime.parse_llm_response(
            function, text, chosen, made, made, False, context, None, None, {})
        found.append([value])
    except Exception:
        found.append([])
json.dump(found, sys.stdout, default=lambda value: value.model_extra)
"""


def main(python: str) -> None:
    """Print the differences, then by category how many rows are read alike."""
    alike: Counter[Any] = Counter()
    kinds: Counter[str] = Counter()
    for (category, name, text, *_), theirs in zip(ROWS, _asked(python), strict=True):
        ours = _bare(read(str(name), str(text)))
        if ours == _bare(theirs):
            alike[category] += 1
        else:
            kinds[
                "both read, other values" if ours and theirs else "only here" if ours else "only there"
            ] += 1
            print(f"{category}: {name} {text!r}\n    {json.dumps(ours)}\n    {json.dumps(theirs)}")
    for category, count in Counter(str(row[0]) for row in ROWS).items():
        print(f"{alike[category]:5} of {count:3}  {category}")
    print(f"{alike.total():5} of {len(ROWS):3}; read otherwise: {dict(kinds)}")


def _asked(python: str) -> list[Any]:
    """What BAML reads: a value alone in a list, or nothing."""
    anchor = Declarations()
    functions = {name: f"F{number}" for number, name in enumerate(NAMES)}
    for name, function in functions.items():
        anchor.add(
            f"function {function}(x: string) -> {anchor.spelled(INDEX[name])}",
            ["client C", 'prompt #"{{x}}"#'],
        )
    cases = [[functions[str(row[1])], row[2]] for row in ROWS]
    told = json.dumps([anchor.source, anchor.classes, anchor.enums, cases])
    done = subprocess.run(
        [python, "-c", _ASK], input=told, capture_output=True, text=True, check=True, timeout=300
    )
    return list(json.loads(done.stdout))


class Declarations:
    """The types of the cases in BAML's language."""

    def __init__(self) -> None:
        self.source = _CLIENT
        self.classes: list[str] = []
        self.enums: dict[str, list[str]] = {}

    def add(self, head: str, lines: list[str]) -> None:
        self.source += f"{head} {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"

    def spelled(self, index: int) -> str:
        """A type, declared where it has a name."""
        wanted = MACHINE.module.types[index]
        match wanted.kind:
            case "builtin":
                return wanted.name.lower()
            case "option":
                return f"({self.spelled(wanted.items[0])})?"
            case "array":
                return f"({self.spelled(wanted.items[0])})[]"
            case "map":
                return f"map<string, {self.spelled(wanted.items[1])}>"
            case "literals":
                return " | ".join(map(json.dumps, wanted.literals))
            case "enum" if any(variant.fields for variant in wanted.variants):
                return " | ".join(self.spelled(variant.fields[0].type) for variant in wanted.variants)
            case "enum" if wanted.name not in self.enums:
                names = self.enums[wanted.name] = [variant.name for variant in wanted.variants]
                self.add(f"enum {wanted.name}", [name + _alias(wanted, name) for name in names])
            case "struct" | "schema" if wanted.name not in self.classes:
                self.classes.append(wanted.name)
                fields = [
                    f"{each.name} {self.spelled(each.type)}{_alias(wanted, each.name)}"
                    for each in wanted.fields
                ]
                self.add(f"class {wanted.name}", fields)
        return wanted.name


def _alias(wanted: TypeDef, name: str) -> str:
    return f" @alias({json.dumps(wanted.aliases[name])})" if name in wanted.aliases else ""


def _bare(value: Any) -> Any:
    """A value without the variants that unions here have, and without what is absent."""
    match value:
        case {"variant": name, "data": data}:
            return name if data is None else _bare(data)
        case dict():
            return {key: _bare(each) for key, each in value.items() if each is not None}
        case list():
            return [_bare(each) for each in value]
        case _:
            return value


if __name__ == "__main__":
    main(sys.argv[1])
