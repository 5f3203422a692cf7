"""Compilation of patterns: whether a value matches one, and what its names are bound to."""
