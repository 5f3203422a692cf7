"""Declarations: modules and imports, names, signatures, constants, and the rules of each kind."""
