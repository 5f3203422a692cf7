"""Bodies: the type of every expression, statement and pattern."""
