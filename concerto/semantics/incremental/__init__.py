"""Incremental checking: what is kept of a checked file, so that it need not be checked again."""
