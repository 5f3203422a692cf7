from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Element:
    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: "list[Element | str]" = field(default_factory=list)

    def elements(self) -> "list[Element]":
        return [child for child in self.children if isinstance(child, Element)]

    def text(self) -> str:
        return " ".join(child if isinstance(child, str) else child.text() for child in self.children)

    def find_all(self, path: str) -> "list[Element]":
        found = [self]
        for step in path.split("/"):
            found = [child for element in found for child in element.elements() if step in ("*", child.name)]
        return found


class XmlError(Exception):
    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at = at
        self.reason = reason


class Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def looking_at(self, wanted: str) -> bool:
        return self.text.startswith(wanted, self.at)

    def expect(self, wanted: str) -> None:
        if not self.looking_at(wanted):
            raise XmlError(self.at, f"expected `{wanted}`")
        self.at += len(wanted)

    def skip_blanks(self) -> None:
        while self.peek().isspace():
            self.at += 1

    def until(self, stop: Callable[[str], bool]) -> str:
        start = self.at
        while self.at < len(self.text) and not stop(self.text[self.at]):
            self.at += 1
        return self.text[start : self.at]

    def name(self) -> str:
        name = self.until(lambda letter: not letter.isalnum() and letter != "-")
        if not name:
            raise XmlError(self.at, "expected a name")
        return name

    def element(self) -> Element:
        self.expect("<")
        element = Element(self.name())
        self.skip_blanks()
        while self.peek() not in (">", "/"):
            key = self.name()
            self.expect('="')
            value = self.until(lambda letter: letter == '"')
            self.expect('"')
            if key in element.attributes:
                raise XmlError(self.at, f"a second `{key}`")
            element.attributes[key] = unescaped(value)
            self.skip_blanks()
        if self.looking_at("/>"):
            self.at += 2
            return element
        self.expect(">")
        while not self.looking_at("</"):
            if self.at >= len(self.text):
                raise XmlError(self.at, f"`{element.name}` is not closed")
            if self.peek() == "<":
                element.children.append(self.element())
            else:
                text = self.until(lambda letter: letter == "<").strip()
                if text:
                    element.children.append(unescaped(text))
        self.expect(f"</{element.name}>")
        return element


def unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")


def parse(text: str) -> Element:
    reader = Reader(text.strip())
    root = reader.element()
    if reader.at < len(reader.text):
        raise XmlError(reader.at, "something follows")
    return root


def document(books: int) -> str:
    lines = ['<shop name="A &amp; B">']
    for i in range(books):
        lines.append(f'  <book id="b{i}" year="{1990 + i % 30}">')
        lines.append(f"    <title>Volume {i} of &lt;all&gt;</title>")
        for n in range(i % 3):
            lines.append(f"    <author><first>A{n}</first><last>B{i % 7}</last></author>")
        lines.append("    <stock/>\n  </book>")
    lines.append("</shop>\n")
    return "\n".join(lines)


def verdict(text: str) -> str:
    try:
        parse(text)
    except XmlError as error:
        return f"{error.at}: {error.reason}"
    return "fine"


def shown(values: dict[str, int] | dict[str, str]) -> str:
    return (
        "{"
        + ", ".join(
            f'"{key}": "{value}"' if isinstance(value, str) else f'"{key}": {value}'
            for key, value in values.items()
        )
        + "}"
    )


def work() -> str:
    shop = parse(document(45))
    per_author = Counter(author.text() for author in shop.find_all("book/author/last"))
    years = [int(book.attributes["year"]) for book in shop.find_all("book") if "year" in book.attributes]
    broken = map(verdict, ["<a><b></a>", '<a x="1" x="2"/>', "<a", "<a>text", "<a/><b/>", "<>"])
    first = shop.find_all("book/title")[0].text()
    return (
        f'{shown(shop.attributes)} {shown(per_author)} Some({max(years)}) Some("{first}") '
        f"{len(shop.find_all('*/*'))} {len(shop.text())}\n" + "\n".join(broken)
    )
