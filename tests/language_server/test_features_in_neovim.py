"""The features beyond hover and definition, asked and applied by Neovim's own client."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.language_server.neovim import edit, needs_neovim
from tests.language_server.session import run_it, write_an_agent
from tests.language_server.test_in_neovim import MAIN as ALONE
from tests.language_server.test_in_neovim import SHAPES

pytestmark = needs_neovim

MAIN = ALONE.replace("provider: mock", "provider: mine")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "Concerto.toml").write_text('[project]\nname = "p"\n\n[connections.mine]\nprovider = "mock"\n')
    (folder / "main.conc").write_text(MAIN)
    (folder / "shapes.conc").write_text(SHAPES)
    return folder


def test_completion_while_typing(folder: Path) -> None:
    found = edit(
        folder,
        """
        open("main.conc")
        write("println(noted);", "\\n    circle.")
        local members = completions("    circle.")
        replace("    circle.", "    let n = Not")
        local names = completions("let n = Not")
        choose("let n = Not", "Notes")
        write("let n = Notes", ".")
        local methods = completions("let n = Notes.")
        replace("provider: mine", "provider: ")
        local connections = completions("provider: ")
        replace("tools: [Notes]", "tools: [")
        local tools = completions("tools: [")
        return { members, names, methods, connections, tools }
        """,
    )
    members, names, methods, connections, tools = found
    assert {"radius", "area"} <= set(members)
    assert {"Notes", "circle", "noted"} <= set(names)
    assert methods == ["add"]
    assert connections == ["mine"]
    assert "Notes" in tools


def test_references_highlights_and_rename_across_files(folder: Path) -> None:
    found = edit(
        folder,
        """
        open("main.conc")
        local context = { context = { includeDeclaration = true } }
        local found = ask("textDocument/references", "circle.are", context)
        local places = vim.lsp.util.locations_to_items(found, "utf-16")
        local same = ask("textDocument/documentHighlight", "let circ")
        local changed = ask("textDocument/rename", "circle.are", { newName = "surface" })
        vim.lsp.util.apply_workspace_edit(changed, "utf-16")
        local main = lines()
        open("shapes.conc")
        return { #places, #same, main[20], lines()[8], problems() }
        """,
    )
    places, same, main, shapes, problems = found
    assert (places, same) == (2, 2)
    assert main == '    println("😀 ${circle.surface()}");'
    assert "pub fn surface(self)" in shapes
    assert not problems


def test_fixes_and_formatting_are_applied(folder: Path) -> None:
    found = edit(
        folder,
        """
        open("main.conc")
        replace("circle.area()", "circle.aria()")
        local titles = actions("Write `area`")
        if #problems() > 0 then titles = actions(titles[1]) end
        local mended = problems()
        replace("let noted =", "let noted   =")
        format()
        return { titles, mended, lines() }
        """,
    )
    titles, mended, lines = found
    assert titles
    assert not mended
    assert "\n".join(lines) + "\n" == MAIN


def test_what_is_shown_of_a_document(folder: Path) -> None:
    found = edit(
        folder,
        """
        open("main.conc")
        local symbols = {}
        for _, each in ipairs(request("textDocument/documentSymbol", { textDocument = document() })) do
          table.insert(symbols, each.name)
        end
        local all = { start = { line = 0, character = 0 }, ["end"] = { line = 99, character = 0 } }
        local inlay = request("textDocument/inlayHint", { textDocument = document(), range = all })
        local tokens = request("textDocument/semanticTokens/full", { textDocument = document() })
        local folds = request("textDocument/foldingRange", { textDocument = document() })
        local lenses = request("textDocument/codeLens", { textDocument = document() })
        local help = ask("textDocument/signatureHelp", "Notes.add(")
        local known = vim.lsp.util.symbols_to_items(request("workspace/symbol", { query = "Circ" }))
        return { symbols, inlay, #tokens.data, #folds, #lenses, help.signatures[1].label, #known }
        """,
    )
    symbols, inlay, tokens, folds, lenses, help_, known = found
    assert symbols == ["Notes", "Helper", "main"]
    assert [each["label"] for each in inlay] == [": Int"]
    assert tokens % 5 == 0
    assert tokens > 50
    assert folds >= 3
    assert lenses == 1
    assert "text: String" in help_
    assert known >= 1


def test_windows_line_ends_tabs_and_emoji(folder: Path) -> None:
    text = 'fn main() {\r\n\tlet 人 = 1;\r\n\tlet a = "😀😀"; println(b);\r\n}\r\n'
    (folder / "main.conc").write_bytes(text.encode())
    found = edit(
        folder,
        """
        open("main.conc")
        local before = problems()
        replace("println(b)", "println(a)")
        return { before, problems(), vim.bo.fileformat }
        """,
    )
    before, after, form = found
    unknown = next(each for each in before if each["code"] == "E0201")
    assert (unknown["line"], unknown["column"]) == (2, len('\tlet a = "😀😀"; println('.encode()))
    assert all(each["code"] != "E0201" for each in after)
    assert form == "dos"


def test_a_manifest_that_breaks_and_heals(folder: Path) -> None:
    found = edit(
        folder,
        """
        local main = open("main.conc")
        local fine = problems(main)
        open("Concerto.toml")
        replace("[connections.mine]", "[connections.mine")
        local broken = problems()
        replace("[connections.mine", "[connections.other]")
        local gone = problems(main)
        replace("[connections.other]", "[connections.mine]")
        return { fine, broken, gone, problems(main) }
        """,
    )
    fine, broken, gone, healed = found
    assert not fine
    assert broken
    assert [each["code"] for each in gone] == ["E0411"]
    assert not healed


def test_a_person_writes_an_agent(folder: Path) -> None:
    steps = write_an_agent(folder)
    assert steps[-1].strip() == "0"
    assert "Clerk.execute" in (folder / "main.conc").read_text()
    assert run_it(folder).strip()
    assert "error" not in run_it(folder)


def test_hover_and_fixes_in_the_manifest(folder: Path) -> None:
    found = edit(
        folder,
        """
        open("Concerto.toml")
        local key = ask("textDocument/hover", 'provid')
        local table = ask("textDocument/hover", "[conn")
        replace('provider = "mock"', 'provider = "mock"\\ndefualt_model = "m"')
        local broken = problems()
        local titles = actions("change to `default_model`")
        return { key.contents.value, table and table.contents.value, #broken, titles, problems(), lines()[6] }
        """,
    )
    key, _, broken, titles, mended, line = found
    assert key.startswith("`connections.mine.provider`: ")
    assert broken == 1
    assert titles == ["change to `default_model`"]
    assert not mended
    assert line == 'default_model = "m"'
