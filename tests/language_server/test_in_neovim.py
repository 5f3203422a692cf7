"""What people see in an editor: every feature, asked by Neovim's own client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.language_server.neovim import edit, needs_neovim

pytestmark = needs_neovim

SHAPES = """\
/// A circle.
pub struct Circle {
    pub radius: Float,
}

impl Circle {
    /// Its area.
    pub fn area(self) -> Float {
        3.14 * self.radius * self.radius
    }
}
"""

MAIN = """\
use shapes::Circle;

tool Notes {
    description: "Keep short notes",

    @describe("Add a note")
    @param("text", "What to remember")
    pub fn add(text: String) -> Result<Int, ToolError> {
        Ok(text.len())
    }
}

agent Helper {
    provider: mock,
    tools: [Notes],
}

fn main() {
    let circle = Circle { radius: 2.0 };
    println("😀 ${circle.area()}");
    let noted = Notes.add("a").unwrap_or(0);
    println(noted);
}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "main.conc").write_text(MAIN)
    (folder / "shapes.conc").write_text(SHAPES)
    return folder


def text_of(hover: Any) -> str:
    return str(hover["contents"]["value"])


def test_diagnostics_of_text_that_is_not_saved_go_when_it_is_mended(project: Path) -> None:
    found = edit(
        project,
        """
        open("main.conc")
        local before = problems()
        replace("circle.area()", "circle.aria()")
        local broken = problems()
        replace("circle.aria()", "circle.area()")
        return { before, broken, problems() }
        """,
    )
    before, broken, mended = found
    assert not before
    assert not mended
    (problem,) = broken
    assert (problem["line"], problem["code"]) == (19, "E0204")
    assert problem["message"] == "`Circle` has no method `aria`\nhelp: did you mean `area`?"
    assert MAIN.splitlines()[19].encode()[problem["column"] :].startswith(b"area")


def test_a_change_of_another_file_that_is_not_saved_counts(project: Path) -> None:
    found = edit(
        project,
        """
        open("main.conc")
        local main = vim.api.nvim_get_current_buf()
        open("shapes.conc")
        replace("pub fn area", "pub fn surface")
        return problems(main)
        """,
    )
    assert [each["code"] for each in found] == ["E0204"]


def test_hover_shows_types_documentation_and_what_a_model_is_told(project: Path) -> None:
    found = edit(
        project,
        """
        open("main.conc")
        return {
          ask("textDocument/hover", "circle.ar"),
          ask("textDocument/hover", "let circ"),
          ask("textDocument/hover", "Notes.ad"),
          ask("textDocument/hover", "use shapes::Cir"),
        }
        """,
    )
    method, variable, tool, struct = map(text_of, found)
    assert "pub fn area(self) -> Float" in method
    assert "Its area." in method
    assert "circle: Circle" in variable
    assert '"method_name": "Notes::add"' in tool
    assert '"What to remember"' in tool
    assert "pub radius: Float" in struct
    assert "A circle." in struct


def test_definitions_are_found_across_files_and_in_the_library(project: Path) -> None:
    found = edit(
        project,
        """
        open("main.conc")
        return {
          ask("textDocument/definition", "circle.ar"),
          ask("textDocument/definition", "tools: [Not"),
          ask("textDocument/definition", "println(not"),
          ask("textDocument/definition", "unwrap_"),
        }
        """,
    )
    method, tool, variable, library = found
    assert method["uri"] == (project / "shapes.conc").as_uri()
    assert method["range"]["start"] == {"line": 7, "character": 11}
    assert tool["range"]["start"] == {"line": 2, "character": 5}
    assert variable["range"]["start"] == {"line": 20, "character": 8}
    assert Path(library["uri"]).name == "result.conc"
