"""The rules of each kind of declaration: one table of fields and one file of checks for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concerto.semantics.declare import Declared
    from concerto.semantics.world import World


def fill_declaration(world: World, one: Declared) -> None:
    pass


def check_declaration(world: World, one: Declared) -> None:
    pass
