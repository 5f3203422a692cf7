"""Random programs that are well typed, end, and always do the same.

Each expression is drawn among the forms of its type that fit where it stands, so that every construct meets
every place. `make_program` gives the files of a program."""

from tests.properties.generating.programs import make_program

__all__ = ["make_program"]
