"""`python -m concerto.cli`: the command `concerto` without an installed script."""

from concerto.cli.entry import concerto

concerto()
