from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Text:
    text: str


@dataclass(slots=True)
class Value:
    path: list[str]


@dataclass(slots=True)
class Each:
    name: list[str]
    body: "list[Node]"


@dataclass(slots=True)
class When:
    name: list[str]
    body: "list[Node]"
    other: "list[Node]"


Node = Text | Value | Each | When


class TemplateError(Exception):
    pass


def tokenize(template: str) -> list[str]:
    parts = []
    rest = template
    while (opening := rest.find("{{")) >= 0:
        if opening > 0:
            parts.append(rest[:opening])
        rest = rest[opening:]
        closing = rest.find("}}")
        if closing < 0:
            raise TemplateError(f"a tag is not closed: {rest}")
        parts.append(rest[: closing + 2])
        rest = rest[closing + 2 :]
    if rest:
        parts.append(rest)
    return parts


class Parser:
    def __init__(self, parts: list[str]) -> None:
        self.parts = parts
        self.at = 0

    def body(self, *ends: str) -> tuple[list[Node], str]:
        nodes: list[Node] = []
        while self.at < len(self.parts):
            part = self.parts[self.at]
            self.at += 1
            if not part.startswith("{{"):
                nodes.append(Text(part))
                continue
            tag = part[2:-2].strip()
            if tag in ends:
                return nodes, tag
            match tag.split(" "):
                case ["#each", name]:
                    body, _ = self.body("/each")
                    nodes.append(Each(name.split("."), body))
                case ["#if", name]:
                    body, end = self.body("else", "/if")
                    other: list[Node] = []
                    if end == "else":
                        other, _ = self.body("/if")
                    nodes.append(When(name.split("."), body, other))
                case [name] if not name.startswith("/"):
                    nodes.append(Value(name.split(".")))
                case _:
                    raise TemplateError(f"what is {tag}?")
        if ends:
            raise TemplateError(f"missing {' or '.join(ends)}")
        return nodes, ""


def look_up(scope: dict[str, Any], path: list[str]) -> Any:
    value: Any = scope
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def render(nodes: list[Node], scope: dict[str, Any]) -> str:
    out = []
    for node in nodes:
        match node:
            case Text(text):
                out.append(text)
            case Value(path):
                value = look_up(scope, path)
                out.append("nil" if value is None else str(value))
            case Each(name, body):
                for i, item in enumerate(look_up(scope, name)):
                    out.append(render(body, scope | {"item": item, "index": i}))
            case When(name, body, other):
                out.append(render(body if look_up(scope, name) else other, scope))
    return "".join(out)


def fill(template: str, values: dict[str, Any]) -> str:
    nodes, _ = Parser(tokenize(template)).body()
    return render(nodes, values)


TEMPLATE = """\
Dear {{ user.name }},
{{#if user.vip}}thank you for your loyalty.{{else}}welcome!{{/if}}
{{#each orders}}{{ index }}. {{ item.title }}: {{ item.count }}{{#if item.gift}} (a gift){{/if}}
{{/each}}You owe {{ total }} and {{ missing.thing }}."""


def work() -> int:
    total = 0
    for i in range(60):
        orders = [{"title": f"thing {n}", "count": n * i, "gift": n % 2 == 0} for n in range(i % 6 + 1)]
        values = {"user": {"name": f"User {i}", "vip": i % 3 == 0}, "orders": orders, "total": i * 10}
        total += len(fill(TEMPLATE, values)) * (i + 1)
        for broken in ["{{#each x}} no end", "{{ open", "{{#if a}}{{/each}}"]:
            try:
                fill(broken, {})
            except TemplateError as error:
                total += len(str(error))
    return total
